"""Encrypting a text so that only those who have its key can read it."""

from typing import Protocol


class Encryption(Protocol):
    """Encrypts texts. Safe to use from several threads."""

    def encrypt(self, text: str, key: str) -> str:
        """Return a text that tells nothing to those who do not have the key."""

    def decrypt(self, encrypted: str, key: str) -> str:
        """Return what was encrypted with the key.

        Raises:
            ValueError: it was encrypted with another key, or is not what was encrypted.
        """
