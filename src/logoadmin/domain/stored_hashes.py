"""The hashes by which secrets are stored and looked up (contract C3, C5, F3)."""

import base64
import hashlib
from typing import Literal

_Label = Literal["refresh token", "service key", "idempotency key"]


def stored_hash(label: _Label, secret: str) -> str:
    """Return the hash to store of a secret, which is random enough that a fast hash cannot be reversed.

    The label keeps the hashes of different kinds of secrets apart. The plain SHA-256 of a secret cannot be derived from
    the stored hash either, because clients use that, for example as an ``Idempotency-Key``.
    """
    plain = hashlib.sha256(secret.encode()).hexdigest()
    digest = hashlib.sha256(f"logoadmin {label} {plain}".encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
