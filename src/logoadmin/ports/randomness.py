"""What nobody can guess: session ids, refresh tokens, keys."""

from typing import Protocol


class Randomness(Protocol):
    """Makes random text."""

    def text(self) -> str:
        """Return a new text of at least 32 characters and 192 random bits, safe in URLs."""
