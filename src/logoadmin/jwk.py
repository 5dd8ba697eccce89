"""Public keys as JWKs (RFC 7517), and their thumbprints."""

import base64
import hashlib
import json
from collections.abc import Mapping


def base64url(content: bytes) -> str:
    """Return bytes as base64url without padding (RFC 7515 §2)."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def base64url_decoded(text: str) -> bytes:
    """Return the bytes of base64url without padding; ValueError for any other text."""
    decoded = base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4))
    if base64url(decoded) != text:  # decoders ignore some characters and the last bits
        raise ValueError("not base64url")
    return decoded


def thumbprint(members: Mapping[str, str]) -> str:
    """Return the thumbprint of a JWK's required members (RFC 7638 §3)."""
    text = json.dumps(members, sort_keys=True, separators=(",", ":"))
    return base64url(hashlib.sha256(text.encode()).digest())
