"""The real time."""

import time


class SystemClock:
    """A :class:`~logoadmin.ports.clock.Clock` that asks the operating system."""

    def now(self) -> int:
        """Return Unix time in whole seconds."""
        return int(time.time())
