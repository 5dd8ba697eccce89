"""The time and the randomness of the operating system."""

import secrets
import time


class SystemClock:
    """A :class:`~logoadmin.ports.environment.Clock` of the operating system."""

    def now(self) -> int:
        return int(time.time())

    def elapsed(self) -> float:
        return time.monotonic()

    def worked(self) -> float:
        return time.thread_time()


class SystemRandomness:
    """A :class:`~logoadmin.ports.environment.Randomness` of the operating system."""

    def text(self) -> str:
        return secrets.token_urlsafe(32)
