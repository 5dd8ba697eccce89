"""The current time, and random texts for session ids, refresh tokens and keys."""

from typing import Protocol


class Clock(Protocol):
    """Returns the time, which may go back when the clock is set."""

    def now(self) -> int:
        """Return the seconds since 1970-01-01T00:00:00Z, whole (contract A10)."""

    def elapsed(self) -> float:
        """Return the seconds since some start; this never goes back."""

    def worked(self) -> float:
        """Return the seconds of processor time that the calling thread has used."""


class Randomness(Protocol):
    """Generates secrets: from the operating system, or fixed in tests."""

    def text(self) -> str:
        """Return a new text of at least 32 characters and 192 random bits, safe in URLs."""
