"""Access tokens as JWTs by RFC 9068, checked as RFC 8725 advises, and their keys (contract C2).

A key is a shared one for HS256, or a pair from a PEM file for EdDSA or RS256.
"""

import hashlib
import hmac
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from logoadmin.domain.kernel.access import CLOCK_SKEW, SignedIn
from logoadmin.domain.kernel.errors import InvalidToken, SettingsError
from logoadmin.domain.kernel.limits import MAX_ID, MAX_NAME, MAX_SCOPES
from logoadmin.jwk import base64url, thumbprint
from logoadmin.ports.tokens import Grant

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

_SHORTEST_SHARED: Final = 32  # bytes, RFC 7518 §3.2
_SHORTEST_RSA: Final = 2048  # bits, RFC 7518 §3.3
_MAKE_ONE: Final = "make one with: openssl genpkey -algorithm ed25519 -out FILE"
_TYPE: Final = "at+jwt"
_CACHED: Final = 1024  # tokens
# The largest grant, and the number of characters by which tokens of other keys may exceed our token for it.
_LONGEST_GRANT: Final = Grant(MAX_ID, "x" * 64, 2**53, 2**53, ("x" * MAX_NAME,) * MAX_SCOPES)
_SPARE: Final = 4096
_DIGITS: Final = re.compile("[0-9]{1,10}")
_CLAIMS: Final = ("iss", "aud", "sub", "sid", "iat", "exp", "jti")


@dataclass(frozen=True, slots=True)
class Key:
    """A key that verifies tokens and, if it has the private part, signs them.

    Attributes:
        kid: its name in the header of tokens.
        verifying: the shared or the public key.
        signing: the shared or the private key; None if only the public one is known.
        public: the public key as the required members of a JWK (RFC 7517); None for a shared key.
        trusted_since: the Unix time from which its tokens are accepted for one token lifetime; None for always.
    """

    kid: str
    algorithm: Literal["HS256", "EdDSA", "RS256"]
    verifying: "str | Ed25519PublicKey | RSAPublicKey" = field(repr=False)
    signing: "str | Ed25519PrivateKey | RSAPrivateKey | None" = field(repr=False)
    public: dict[str, str] | None = None
    trusted_since: int | None = None


def keys_of(paths: Sequence[str], text: str | None) -> list[Key]:
    """Return the keys in PEM files, the first of which signs, and the shared keys in a text, between white space."""
    shared = [] if text is None else text.split() or [text]
    files = [key_from_file(path, signs=number == 0) for number, path in enumerate(paths)]
    return [*files, *map(hs256_key, shared)]


def derived_keys(keys: Sequence[Key], purpose: str) -> tuple[bytes, ...]:
    """Return a secret for another purpose from each key with a private part; it reveals nothing of the key."""
    return tuple(hmac.digest(_secret_of(key.signing), purpose.encode(), "sha256") for key in keys if key.signing)


def _secret_of(signing: "str | Ed25519PrivateKey | RSAPrivateKey") -> bytes:
    if isinstance(signing, str):
        return signing.encode()
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return signing.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


def hs256_key(secret: str) -> Key:
    """Return a key that all verifiers must share; raise SettingsError if it has less than 32 bytes."""
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
    """Return the key in a PEM file: private or, unless it ``signs``, public; Ed25519 or RSA.

    Raises SettingsError if it cannot be read or used; the message names the file and has nothing of its content.
    """
    # Imported here, because only key files need it.
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

    try:
        pem = Path(path).read_bytes()
        private = load_pem_private_key(pem, None) if b"PRIVATE KEY-----" in pem else None
        key = _pair(path, load_pem_public_key(pem) if private is None else private.public_key(), private)
    except OSError as error:
        why, cure = f"cannot be read ({error.strerror})", "check token_key_files and who may read it"
        raise _unusable(path, why, cure) from None
    except TypeError:
        why, cure = "is protected by a password", "take that off with: openssl pkey -in FILE -out FILE"
        raise _unusable(path, why, cure) from None
    except (ValueError, UnsupportedAlgorithm):
        raise _unusable(path, "holds no key in PEM", _MAKE_ONE) from None
    if signs and key.signing is None:
        why = "holds a public key only, and the first of token_key_files signs"
        raise _unusable(path, why, "put a private key first")
    return key


def _pair(path: str, public: object, private: Any) -> Key:
    """Return a key from its two parts, the private one of which may be missing."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

    if isinstance(public, Ed25519PublicKey):
        members = {"crv": "Ed25519", "kty": "OKP", "x": base64url(public.public_bytes_raw())}
        return Key(thumbprint(members), "EdDSA", public, private, members)
    if not isinstance(public, RSAPublicKey):
        raise _unusable(path, "holds a key that is neither Ed25519 nor RSA", _MAKE_ONE)
    if public.key_size < _SHORTEST_RSA:
        raise _unusable(path, f"holds an RSA key of {public.key_size} bits", f"make one of at least {_SHORTEST_RSA}")
    numbers = public.public_numbers()
    members = {"e": _number(numbers.e), "kty": "RSA", "n": _number(numbers.n)}
    return Key(thumbprint(members), "RS256", public, private, members)


def _number(number: int) -> str:
    return base64url(number.to_bytes((number.bit_length() + 7) // 8))


def _unusable(path: str, why: str, cure: str) -> SettingsError:
    return SettingsError(f"The token key file {path} {why}", cure)


class JwtTokens:
    """The :class:`~logoadmin.ports.tokens.AccessTokens` of the service."""

    def __init__(self, keys: Sequence[Key], issuer: str, audience: str, lifetime: int = 86_400) -> None:
        """Sign with the first key and verify with all of them; from ``iat`` to ``exp`` at most ``lifetime`` seconds."""
        self._signer = keys[0]
        if self._signer.signing is None:
            raise ValueError("the first key has no private part")
        self._signing = self._signer.signing
        self._keys: dict[str, Key] = {}
        for key in keys:
            self._keys.setdefault(key.kid, key)
        self._public = tuple(
            {**key.public, "kid": key.kid, "use": "sig", "alg": key.algorithm}
            for key in self._keys.values()
            if key.public is not None
        )
        self._issuer = issuer
        self._audience = audience
        self._lifetime = lifetime
        self._distrusted: set[str] = set()
        # Checking a signature takes as long as a write, and clients send the same token many times.
        self._verified = lru_cache(_CACHED)(self._genuine)

    @cached_property
    def _longest(self) -> int:
        """The maximum length of tokens that are checked, because none longer was issued here."""
        return len(self.sign(_LONGEST_GRANT)) + _SPARE

    def sign(self, grant: Grant) -> str:
        import jwt  # here, because it is slow and many programs need no token

        claims = {
            "iss": self._issuer,
            "aud": self._audience,
            "sub": str(grant.user_id),
            "sid": grant.session_id,
            "iat": grant.issued_at,
            "exp": grant.expires_at,
            "jti": uuid.uuid4().hex,
            "scope": " ".join(grant.scope),
        }
        headers = {"typ": _TYPE, "kid": self._signer.kid}
        return jwt.encode(claims, self._signing, algorithm=self._signer.algorithm, headers=headers)

    def verify(self, token: str, now: int) -> SignedIn:
        begins, ends, caller, key = self._verified(token)
        if not begins - CLOCK_SKEW <= now < ends:
            raise InvalidToken
        if key.trusted_since is not None and not self._is_trusted(key, key.trusted_since, now):
            raise InvalidToken
        return caller

    def public_keys(self) -> Sequence[Mapping[str, str]]:
        return self._public

    def _is_trusted(self, key: Key, since: int, now: int) -> bool:
        """Return whether an earlier key is still trusted; once it is not, a clock that is set back changes nothing."""
        if not -CLOCK_SKEW <= now - since < self._lifetime:
            self._distrusted.add(key.kid)
        return key.kid not in self._distrusted

    def _genuine(self, token: str) -> tuple[int, int, SignedIn, Key]:
        """Return when a token of ours becomes valid and expires, its user and session, and its key."""
        import jwt

        if len(token) > self._longest or token.endswith("="):  # PyJWT accepts padding, which RFC 7515 §2 forbids
            raise InvalidToken
        try:
            decoded, key = self._decoded(token)
        except (jwt.InvalidTokenError, ValueError):  # ValueError: text that is not even base64 or UTF-8
            raise InvalidToken from None
        claims: dict[str, Any] = decoded["payload"]
        issued_at, expires_at, user_id, session_id = (claims[name] for name in ("iat", "exp", "sub", "sid"))
        not_before = claims.get("nbf", issued_at)
        # A bool is an int, and PyJWT accepts text as a time.
        are_times = all(type(time) is int for time in (issued_at, expires_at, not_before))
        is_user = _DIGITS.fullmatch(user_id) is not None and int(user_id) <= MAX_ID and isinstance(session_id, str)
        if decoded["header"].get("typ") != _TYPE or not are_times or not is_user:
            raise InvalidToken
        if expires_at - issued_at > self._lifetime:
            raise InvalidToken
        return max(issued_at, not_before), expires_at, SignedIn(int(user_id), session_id), key

    def _decoded(self, token: str) -> tuple[dict[str, Any], Key]:
        import jwt

        # Only the header, which is not trusted: it merely selects one of our keys.
        key = self._keys.get(jwt.get_unverified_header(f"{token.partition('.')[0]}..").get("kid", ""))
        if key is None:
            raise InvalidToken
        decoded = jwt.decode_complete(
            token,
            key.verifying,
            # The algorithm of the key, whatever the header says: a public key is never a shared one.
            algorithms=[key.algorithm],
            issuer=self._issuer,
            audience=self._audience,
            # The times are compared above, with the clock of the service.
            options={"require": list(_CLAIMS), "verify_exp": False, "verify_iat": False, "verify_nbf": False},
        )
        return decoded, key
