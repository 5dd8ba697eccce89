"""Signatures with Ed25519 (RFC 8032), by the cryptography library (contract L7)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from logoadmin.domain.kernel.errors import SettingsError
from logoadmin.jwk import base64url, base64url_decoded

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


@dataclass(frozen=True, slots=True)
class Ed25519Key:
    """A :class:`~logoadmin.ports.signing.SigningKey` of the cryptography library."""

    jwk: Mapping[str, str]
    private: "Ed25519PrivateKey" = field(repr=False)

    def sign(self, content: bytes) -> bytes:
        return self.private.sign(content)


class Ed25519Signing:
    """The :class:`~logoadmin.ports.signing.Signing` of the cryptography library."""

    def generate(self) -> str:
        """Return the seed of a new key in base64url, the member ``d`` of a JWK (RFC 8037 §2)."""
        # Imported here, because it is slow and few programs sign.
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return base64url(Ed25519PrivateKey.generate().private_bytes_raw())

    def key(self, private: str) -> Ed25519Key:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return _key(Ed25519PrivateKey.from_private_bytes(base64url_decoded(private)))


def keys_of_file(path: str) -> tuple[Ed25519Key, ...]:
    """Return the private keys in a PEM file (PKCS #8), in order, or raise SettingsError without the content."""
    try:
        pem = Path(path).read_bytes()
    except OSError as error:
        why = f"cannot be read ({error.strerror})"
        raise _unusable(path, why, "check gallery_key_file and who may read it") from None
    return tuple(_key(_private_key(path, block)) for block in _blocks(pem))


def _blocks(pem: bytes) -> list[bytes]:
    begin = b"-----BEGIN "
    return [begin + block for block in pem.split(begin)[1:]] or [pem]


def _private_key(path: str, pem: bytes) -> "Ed25519PrivateKey":
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        private = load_pem_private_key(pem, None)
    except TypeError:
        cure = "take that off with: openssl pkey -in FILE -out FILE"
        raise _unusable(path, "is protected by a password", cure) from None
    except (ValueError, UnsupportedAlgorithm):
        raise _unusable(path, "holds no private key in PEM") from None
    if not isinstance(private, Ed25519PrivateKey):
        raise _unusable(path, "holds a key that is not Ed25519")
    return private


def _key(private: "Ed25519PrivateKey") -> Ed25519Key:
    return Ed25519Key(
        {"crv": "Ed25519", "kty": "OKP", "x": base64url(private.public_key().public_bytes_raw())}, private
    )


def _unusable(
    path: str, why: str, cure: str = "make one with: openssl genpkey -algorithm ed25519 -out FILE"
) -> SettingsError:
    return SettingsError(f"The gallery key file {path} {why}", cure)
