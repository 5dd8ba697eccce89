"""ID tokens: their signature and claims (OpenID Connect Core 1.0 §3.1.3.7, RFC 8725, contract O7)."""

import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import jwt
from pydantic_core import from_json

from logoadmin.adapters.oauth_issuer.asking import Unusable
from logoadmin.jwk import base64url
from logoadmin.ports.issuer import IssuedIdentity

# Public keys only, so that nobody can sign with what everybody may read; with the type and curve of their keys, and the
# hash of at_hash.
_ALGORITHMS: Final[Mapping[str, tuple[str, str | None, str]]] = {
    "RS256": ("RSA", None, "sha256"),
    "PS256": ("RSA", None, "sha256"),
    "ES256": ("EC", "P-256", "sha256"),
    "EdDSA": ("OKP", "Ed25519", "sha512"),
}
_SHORTEST_RSA: Final = 2_048  # bits
_LEEWAY: Final = 60  # seconds
# The token comes from the token endpoint just now; clocks may differ.
_OLDEST: Final = 600  # seconds
_MAX_TEXT: Final = 255
_MAX_GROUPS: Final = 1_000
_NAMES: Final = ("preferred_username", "name", "email", "sub")

Jwk = Mapping[str, Any]


class UnknownKey(Unusable):
    """No key of the issuer can have signed the token; it may have a newer one."""


def verified(token: str, keys: Sequence[Jwk]) -> tuple[dict[str, Any], str]:
    """Return the claims of an ID token with a genuine signature, and its algorithm.

    Raises:
        UnknownKey: the issuer has no such key.
        Unusable: the token is malformed, its algorithm is not accepted, or the signature is wrong.
    """
    try:
        header = jwt.get_unverified_header(token)
        algorithm, kid = str(header.get("alg")), header.get("kid")
        if algorithm not in _ALGORITHMS:
            raise Unusable("the ID token has an algorithm that is not accepted")
        candidates = [key for key in keys if _fits(key, kid, algorithm)]
        if not candidates:
            raise UnknownKey("the ID token is signed with a key that the issuer does not publish")
        for key in candidates:
            claims = _claims(token, key, algorithm)
            if claims is not None:
                return claims, algorithm
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        raise Unusable("the ID token is malformed") from None
    raise Unusable("the signature of the ID token is wrong")


def _fits(key: Jwk, kid: object, algorithm: str) -> bool:
    """Return whether a key may verify a token: the key decides what it is for, and the token only names it."""
    kty, curve, _ = _ALGORITHMS[algorithm]
    operations = key.get("key_ops", ["verify"])
    is_named = kid is None or key.get("kid") == kid
    is_meant = key.get("use", "sig") == "sig" and isinstance(operations, list) and "verify" in operations
    is_of_kind = key.get("alg", algorithm) == algorithm and (key.get("kty"), key.get("crv")) == (kty, curve)
    return is_named and is_meant and is_of_kind


def _claims(token: str, key: Jwk, algorithm: str) -> dict[str, Any] | None:
    """Return the claims if the key signed the token; None if it did not, or cannot be used."""
    try:
        public = jwt.PyJWK(dict(key), algorithm)
        if key["kty"] == "RSA" and public.key.key_size < _SHORTEST_RSA:
            return None
        claims = from_json(jwt.PyJWS().decode(token, public, [algorithm]), allow_inf_nan=False)
    except (jwt.PyJWKError, jwt.InvalidKeyError, jwt.InvalidSignatureError):
        return None
    if not isinstance(claims, dict):
        raise Unusable("the ID token is malformed")
    return claims


def check_claims(claims: Mapping[str, Any], issuer: str, client_id: str, nonce: str, now: int) -> None:
    """Require that an ID token is from the issuer, for this service, for this sign-in, and fresh.

    Raises:
        Unusable: it is not.
    """
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    party = claims.get("azp", client_id if len(audiences) == 1 else None)
    issued_at, expires_at, not_before, signed_in_at = (
        _time(claims, name) for name in ("iat", "exp", "nbf", "auth_time")
    )
    sent = claims.get("nonce")
    wrong = {
        "iss": claims.get("iss") != issuer,
        "aud": client_id not in audiences,
        "azp": party != client_id,
        "iat": issued_at is None or not now - _OLDEST <= issued_at <= now + _LEEWAY,
        "exp": expires_at is None or expires_at + _LEEWAY <= now,
        "nbf": "nbf" in claims and (not_before is None or not_before > now + _LEEWAY),
        # Otherwise it would count as recent.
        "auth_time": signed_in_at is not None and not signed_in_at <= now + _LEEWAY,
        "nonce": not isinstance(sent, str) or not hmac.compare_digest(sent.encode(), nonce.encode()),
    }
    for name, is_wrong in wrong.items():
        if is_wrong:
            raise Unusable(f"the ID token has a wrong {name}")


def check_access_token(claims: Mapping[str, Any], algorithm: str, access_token: object) -> None:
    """Require that an access token belongs to the ID token, if that names one.

    Raises:
        Unusable: it does not.
    """
    if "at_hash" not in claims:
        return
    sent = claims["at_hash"]
    digest = hashlib.new(_ALGORITHMS[algorithm][2], str(access_token).encode()).digest()
    if not isinstance(sent, str) or not isinstance(access_token, str) or sent != base64url(digest[: len(digest) // 2]):
        raise Unusable("the ID token has a wrong at_hash")


def identity_of(claims: Mapping[str, Any]) -> IssuedIdentity:
    """Return the person in claims.

    Raises:
        Unusable: they have no usable id, or groups that cannot be read.
    """
    subject = claims.get("sub")
    if not isinstance(subject, str) or not _is_usable(subject):
        raise Unusable("the sub is missing or unusable")
    names = tuple(claims[name] for name in _NAMES if isinstance(claims.get(name), str))
    authenticated_at = _time(claims, "auth_time")
    seconds = None if authenticated_at is None else int(authenticated_at)
    return IssuedIdentity(subject, tuple(dict.fromkeys(_groups(claims.get("groups")))), names, seconds)


def _groups(told: object) -> Iterator[str]:
    """Yield the groups: a list, a single text or nothing, as issuers have it."""
    listed = told if isinstance(told, list) else [] if told is None else [told]
    if len(listed) > _MAX_GROUPS:
        raise Unusable(f"there are more than {_MAX_GROUPS:,} groups")
    for group in listed:
        if not isinstance(group, str):
            raise Unusable("the groups are neither texts nor a text")
        if _is_usable(group):  # no setting can name the others
            yield group


def _is_usable(text: str) -> bool:
    return 0 < len(text) <= _MAX_TEXT and text.isprintable()


def _time(claims: Mapping[str, Any], name: str) -> int | float | None:
    """Return a time; a bool is an int, and would be 1970."""
    value = claims.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
