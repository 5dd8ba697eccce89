"""How secrets are stored that are only compared (contract C3, C5, F3)."""

import base64
import hashlib
from typing import Literal

SecretLabel = Literal[
    "refresh token",
    "service key",
    "idempotency key",
    "challenge",
    "recovery code",
    "sign-in code",
    "sign-in link",
    "receiver",
]


def stored_hash(label: SecretLabel, secret: str) -> str:
    """Return the hash to store of a secret, which is random enough that a fast hash cannot be reversed.

    The label keeps the hashes of different kinds of secrets apart. The plain SHA-256 of a secret cannot be derived from
    the stored hash either, because clients use that, for example as the key of a command that they send again.
    """
    plain = hashlib.sha256(secret.encode()).hexdigest()
    digest = hashlib.sha256(f"logoadmin {label} {plain}".encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
