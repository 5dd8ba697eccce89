"""The time, for everything that is dated or expires."""

from typing import Protocol


class Clock(Protocol):
    """Tells the time; it may be set, and then go back."""

    def now(self) -> int:
        """Return the seconds since 1970-01-01T00:00:00Z, whole (contract A10)."""
