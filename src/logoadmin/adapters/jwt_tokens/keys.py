"""Keys for access tokens: a shared one for HS256, or a pair from a PEM file for EdDSA or RS256 (contract C2)."""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from logoadmin.domain.kernel.errors import SettingsError
from logoadmin.jwk import base64url, thumbprint

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

_SHORTEST_SHARED: Final = 32  # bytes, RFC 7518 §3.2
_SHORTEST_RSA: Final = 2048  # bits, RFC 7518 §3.3
_MAKE_ONE: Final = "make one with: openssl genpkey -algorithm ed25519 -out FILE"


@dataclass(frozen=True, slots=True)
class Key:
    """A key that verifies tokens and, if it has the private part, signs them.

    Attributes:
        kid: its name in the header of tokens.
        algorithm: the only one that it is ever used with.
        verifying: the shared or the public key.
        signing: the shared or the private key; None where only the public one is known.
        public: the public key as the required members of a JWK (RFC 7517); None of a shared key, which has none.
        trusted_since: from when its tokens are accepted for the lifetime of one, as Unix time; None for always.
    """

    kid: str
    algorithm: Literal["HS256", "EdDSA", "RS256"]
    verifying: "str | Ed25519PublicKey | RSAPublicKey" = field(repr=False)
    signing: "str | Ed25519PrivateKey | RSAPrivateKey | None" = field(repr=False)
    public: dict[str, str] | None = None
    trusted_since: int | None = None


def keys_of(paths: Sequence[str], text: str) -> list[Key]:
    """Return the keys in PEM files, of which the first signs, and the shared keys in a text with white space between.

    Raises:
        SettingsError: one of them cannot be used.
    """
    shared = text.split() or ([text] if text else [])
    files = [key_from_file(path, signs=number == 0) for number, path in enumerate(paths)]
    return [*files, *map(hs256_key, shared)]


def derived_keys(keys: Sequence[Key], purpose: str) -> tuple[bytes, ...]:
    """Return a secret for another purpose from each key with a private part; nothing of the key follows from it."""
    return tuple(hmac.digest(_secret_of(key.signing), purpose.encode(), "sha256") for key in keys if key.signing)


def _secret_of(signing: "str | Ed25519PrivateKey | RSAPrivateKey") -> bytes:
    if isinstance(signing, str):
        return signing.encode()
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return signing.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


def hs256_key(secret: str) -> Key:
    """Return a key that everybody who verifies must share.

    Raises:
        SettingsError: it has less than 32 bytes.
    """
    if len(secret.encode()) < _SHORTEST_SHARED:
        raise SettingsError(
            f"A token key is too short: each key in LOGOADMIN_TOKEN_KEY needs at least {_SHORTEST_SHARED} bytes, "
            "without white space, which separates keys",
            "for example from: openssl rand -base64 32",
        )
    # Derived with the secret, like every signature: the kid reveals no more of it than any token does.
    digest = hmac.digest(secret.encode(), b"kid", hashlib.sha256)
    return Key(base64url(digest[:12]), "HS256", secret, secret)


def key_from_file(path: str, *, signs: bool) -> Key:
    """Return the key in a PEM file: private or public, Ed25519 or RSA.

    Args:
        path: the file.
        signs: whether it must be a private key.

    Raises:
        SettingsError: it cannot be read or used; the text names the file and repeats nothing of what is in it.
    """
    try:
        pem = Path(path).read_bytes()
    except OSError as error:
        raise _unusable(
            path, f"cannot be read ({error.strerror})", "check token_key_files and who may read it"
        ) from None
    key = _private_key(path, pem) if b"PRIVATE KEY-----" in pem else _public_key(path, pem)
    if signs and key.signing is None:
        raise _unusable(
            path, "holds a public key only, and the first of token_key_files signs", "put a private key first"
        )
    return key


def _private_key(path: str, pem: bytes) -> Key:
    # Imported here, because only key files need it.
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        private = load_pem_private_key(pem, None)
    except TypeError:
        raise _unusable(
            path, "is protected by a password", "take that off with: openssl pkey -in FILE -out FILE"
        ) from None
    except (ValueError, UnsupportedAlgorithm):
        raise _no_key(path) from None
    if not isinstance(private, Ed25519PrivateKey | RSAPrivateKey):
        raise _wrong_kind(path)
    return _pair(path, private.public_key(), private)


def _public_key(path: str, pem: bytes) -> Key:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        public = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        raise _no_key(path) from None
    if not isinstance(public, Ed25519PublicKey | RSAPublicKey):
        raise _wrong_kind(path)
    return _pair(path, public, None)


def _pair(
    path: str,
    public: "Ed25519PublicKey | RSAPublicKey",
    private: "Ed25519PrivateKey | RSAPrivateKey | None",
) -> Key:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    if not isinstance(public, RSAPublicKey):
        members = {"crv": "Ed25519", "kty": "OKP", "x": base64url(public.public_bytes_raw())}
        return Key(thumbprint(members), "EdDSA", public, private, members)
    if public.key_size < _SHORTEST_RSA:
        raise _unusable(path, f"holds an RSA key of {public.key_size} bits", f"make one of at least {_SHORTEST_RSA}")
    numbers = public.public_numbers()
    members = {"e": _number(numbers.e), "kty": "RSA", "n": _number(numbers.n)}
    return Key(thumbprint(members), "RS256", public, private, members)


def _number(number: int) -> str:
    return base64url(number.to_bytes((number.bit_length() + 7) // 8))


def _unusable(path: str, why: str, cure: str) -> SettingsError:
    return SettingsError(f"The token key file {path} {why}", cure)


def _no_key(path: str) -> SettingsError:
    return _unusable(path, "holds no key in PEM", _MAKE_ONE)


def _wrong_kind(path: str) -> SettingsError:
    return _unusable(path, "holds a key that is neither Ed25519 nor RSA", _MAKE_ONE)
