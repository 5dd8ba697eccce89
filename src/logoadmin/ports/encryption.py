"""Encryption of texts, so that only the holders of a key can read them."""

from typing import Protocol


class Encryption(Protocol):
    """Encrypts texts. Safe to use from several threads."""

    def encrypt(self, text: str, key: str) -> str:
        """Return a text that reveals nothing without the key."""

    def decrypt(self, encrypted: str, key: str) -> str:
        """Return the text that was encrypted with the key.

        Raises:
            ValueError: it was encrypted with another key, or altered.
        """
