"""The time and the randomness of the operating system."""

import secrets
import time


class SystemClock:
    """A :class:`~logoadmin.ports.environment.Clock` of the operating system."""

    def now(self) -> int:
        """Return Unix time in whole seconds."""
        return int(time.time())

    def elapsed(self) -> float:
        """Return the seconds since the start of the system or earlier."""
        return time.monotonic()

    def worked(self) -> float:
        """Return the seconds of processor time of this thread."""
        return time.thread_time()


class SystemRandomness:
    """A :class:`~logoadmin.ports.environment.Randomness` of the operating system."""

    def text(self) -> str:
        """Return 256 random bits in 43 characters of URL-safe base64."""
        return secrets.token_urlsafe(32)
