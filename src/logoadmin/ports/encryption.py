"""Keeping a text so that only those who have its key can read it."""

from typing import Protocol


class Encryption(Protocol):
    """Seals texts. Safe to use from several threads."""

    def seal(self, text: str, key: str) -> str:
        """Return a text that tells nothing to those who do not have the key."""

    def open(self, sealed: str, key: str) -> str:
        """Return what was sealed under the key.

        Raises:
            ValueError: it was sealed under another key, or is not what was sealed.
        """
