"""Encryption with Fernet: AES in CBC mode with an HMAC (contract F3)."""

import base64
import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


class FernetEncryption:
    """The :class:`~logoadmin.ports.encryption.Encryption` of the cryptography library."""

    def encrypt(self, text: str, key: str) -> str:
        return _fernet(key).encrypt(text.encode()).decode()

    def decrypt(self, encrypted: str, key: str) -> str:
        from cryptography.fernet import InvalidToken

        try:
            return _fernet(key).decrypt(encrypted).decode()
        except (InvalidToken, ValueError):
            raise ValueError("This was not encrypted with this key") from None


def _fernet(key: str) -> "Fernet":
    # Imported here, because it is slow and few requests have a key.
    from cryptography.fernet import Fernet

    # Never change this prefix: stored responses could no longer be decrypted.
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(b"logoadmin first answer" + key.encode()).digest()))
