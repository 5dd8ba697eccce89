"""Signatures of the published gallery (contract L7)."""

from collections.abc import Mapping
from typing import Protocol


class SigningKey(Protocol):
    """An Ed25519 key. Safe to use from several threads."""

    @property
    def jwk(self) -> Mapping[str, str]:
        """The public key as the required members of a JWK (RFC 8037 §2), without its thumbprint."""

    def sign(self, content: bytes) -> bytes:
        """Return the signature of the content, which is always the same (RFC 8032 §5.1)."""


class Signing(Protocol):
    """Generates keys, and reads those that are stored."""

    def generate(self) -> str:
        """Return a new private key as text, for storage."""

    def key(self, private: str) -> SigningKey:
        """Return the key of a text that :meth:`generate` returned."""
