"""The current time."""

from typing import Protocol


class Clock(Protocol):
    """Returns the time; a clock that is set may go back."""

    def now(self) -> int:
        """Return the seconds since 1970-01-01T00:00:00Z, whole (contract A10)."""
