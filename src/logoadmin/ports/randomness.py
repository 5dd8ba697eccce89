"""Random texts for session ids, refresh tokens and keys."""

from typing import Protocol


class Randomness(Protocol):
    """Generates secrets: from the operating system, or fixed in tests."""

    def text(self) -> str:
        """Return a new text of at least 32 characters and 192 random bits, safe in URLs."""
