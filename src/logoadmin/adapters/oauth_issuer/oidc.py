"""An OpenID Connect issuer: its metadata, its keys, the exchange of codes, and ID tokens (contract O7).

Follows OpenID Connect Discovery 1.0, RFC 8414, OpenID Connect Core 1.0 §3.1.3.7 and RFC 8725. PyJWT's own client for
keys uses urllib, which bypasses the guard, so the keys are fetched here.
"""

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote_plus, urlsplit

import jwt
from pydantic_core import from_json

from logoadmin.adapters.oauth_issuer import asking
from logoadmin.jwk import base64url
from logoadmin.ports.issuer import Authorization, IssuedIdentity
from logoadmin.ports.outgoing import ConfidentialOutgoing, Fetched

# The minimum time between fetches of newer keys for an unknown one.
_KEYS_REST: Final = 60.0  # seconds
_MAX_KEYS: Final = 100
_WELL_KNOWN: Final = "/.well-known/openid-configuration"
# Where browsers and this service are sent. Fragments and credentials have no use, and other schemes run scripts.
_URL: Final = re.compile(
    r"(https?)://[a-z0-9._~:\[\]-]+(/[!$-;=?-Z_a-z~]*|\?[!$-;=?-Z_a-z~]*)?", re.ASCII | re.IGNORECASE
)
_MAX_URL: Final = 2_048
_SCOPES: Final = ("openid", "profile", "email")
# Public-key algorithms only, so that nobody can sign with a key that everybody may read; with the type and curve of
# their keys, and the hash for at_hash.
_ALGORITHMS: Final[Mapping[str, tuple[str, str | None, str]]] = {
    "RS256": ("RSA", None, "sha256"),
    "PS256": ("RSA", None, "sha256"),
    "ES256": ("EC", "P-256", "sha256"),
    "EdDSA": ("OKP", "Ed25519", "sha512"),
}
_SHORTEST_RSA: Final = 2_048  # bits
_LEEWAY: Final = 60  # seconds
# The token has just come from the token endpoint; clocks may differ.
_OLDEST: Final = 600  # seconds
_MAX_TEXT: Final = 255
_MAX_GROUPS: Final = 1_000
_NAMES: Final = ("preferred_username", "name", "email", "sub")

Jwk = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of an issuer that are used.

    Attributes:
        userinfo_endpoint: the source of claims that the ID token lacks; None without one.
        takes_basic: whether the token endpoint accepts the client's secret in a header, rather than in the form.
        scope: the scopes to ask for.
        iss_in_response: whether responses have ``iss`` (RFC 9207).
    """

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None
    takes_basic: bool
    scope: str
    iss_in_response: bool


class OidcIssuer:
    """The :class:`~logoadmin.ports.issuer.Issuer` at a URL."""

    def __init__(
        self,
        url: str,
        client_id: str,
        client_secret: str,
        return_url: str,
        outgoing: ConfidentialOutgoing,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Use a client of the issuer whose metadata and tokens have exactly this ``url``."""
        self.url, self.client_id, self.return_url = url, client_id, return_url
        self.name = urlsplit(url).hostname or ""
        self._secret = client_secret
        self._requests = asking.IssuerRequests(self.name, outgoing)
        metadata_url = url.rstrip("/") + _WELL_KNOWN
        self._metadata = asking.Cached(
            lambda: self._document(metadata_url, "metadata", lambda document: metadata_of(document, url)), monotonic
        )
        self._keys = asking.Cached(lambda: self._document(self._metadata.get().jwks_uri, "keys", keys_of), monotonic)

    def authorization(self) -> Authorization:
        metadata = self._metadata.get()
        return Authorization(metadata.authorization_endpoint, metadata.scope, self.url, metadata.iss_in_response)

    def redeem(self, code: str, code_verifier: str, nonce: str, now: int) -> IssuedIdentity:
        metadata = self._metadata.get()
        try:
            answer = asking.token_response(
                self._exchange(asking.code_form(code, code_verifier, self.return_url), metadata)
            )
            claims, algorithm = self._verified(answer.get("id_token"))
            check_claims(claims, self.url, self.client_id, nonce, now)
            access_token = answer.get("access_token")
            check_access_token(claims, algorithm, access_token)
            if "groups" not in claims and metadata.userinfo_endpoint is not None:
                more = self._userinfo(metadata.userinfo_endpoint, access_token, claims)
                claims = {**more, **claims, "auth_time": claims.get("auth_time")}  # only a verified time counts
            return identity_of(claims)
        except asking.Unusable as wrong:
            raise self._requests.refused(wrong) from None

    def _exchange(self, form: dict[str, str], metadata: Metadata) -> Fetched:
        """Return the response of the token endpoint (RFC 6749 §4.1.3)."""
        headers = {}
        if metadata.takes_basic:
            pair = f"{quote_plus(self.client_id)}:{quote_plus(self._secret)}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": self.client_id, "client_secret": self._secret}
        return self._requests.ask(metadata.token_endpoint, form=form, headers=headers)

    def _verified(self, token: object) -> tuple[Mapping[str, Any], str]:
        if not isinstance(token, str):
            raise asking.Unusable("its token response has no ID token")
        try:
            return verified(token, self._keys.get())
        except UnknownKey:
            return verified(token, self._keys.get(oldest=_KEYS_REST))

    def _userinfo(self, endpoint: str, access_token: object, claims: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the claims that the ID token lacks (OpenID Connect Core 1.0 §5.3)."""
        received = self._requests.ask(endpoint, headers={"Authorization": asking.bearer(access_token)})
        if received.status != 200:
            raise asking.Unusable(f"its userinfo endpoint responds with status {received.status}")
        answer = asking.json_object(received, "userinfo response")
        if answer.get("sub") != claims.get("sub"):  # from another person's token (§5.3.4)
            raise asking.Unusable("its userinfo response is about somebody else")
        return answer

    def _document(self, url: str, name: str, read: Callable[[Mapping[str, Any]], asking.Document]) -> asking.Document:
        """Return a document that the issuer publishes, without following redirects, which may lead anywhere."""
        received = self._requests.ask(url)
        if received.status != 200:
            raise self._requests.unavailable(f"responds with status {received.status}")
        try:
            return read(asking.json_object(received, name))
        except asking.Unusable as wrong:
            raise self._requests.unavailable(str(wrong)) from None


def metadata_of(document: Mapping[str, Any], issuer: str) -> Metadata:
    """Return the metadata of an issuer; raise Unusable if they belong to another, or something is missing or unsafe."""
    if document.get("issuer") != issuer:
        raise asking.Unusable("its metadata are those of another issuer than oidc_issuer")
    methods = _texts(document, "token_endpoint_auth_methods_supported") or ("client_secret_basic",)
    if not {"client_secret_basic", "client_secret_post"} & {*methods}:
        raise asking.Unusable("its token endpoint supports neither client_secret_basic nor client_secret_post")
    scopes = (*_SCOPES, *(["groups"] if "groups" in _texts(document, "scopes_supported") else []))
    return Metadata(
        _endpoint(document, "authorization_endpoint", issuer),
        _endpoint(document, "token_endpoint", issuer),
        _endpoint(document, "jwks_uri", issuer),
        _endpoint(document, "userinfo_endpoint", issuer) if document.get("userinfo_endpoint") is not None else None,
        "client_secret_basic" in methods,
        " ".join(scopes),
        document.get("authorization_response_iss_parameter_supported") is True,
    )


def keys_of(document: Mapping[str, Any]) -> tuple[Jwk, ...]:
    """Return the keys in a JWK set; raise Unusable if there are none, or too many."""
    keys = document.get("keys")
    if not isinstance(keys, list) or not 0 < len(keys) <= _MAX_KEYS:
        raise asking.Unusable(f"it publishes no keys, or more than {_MAX_KEYS}")
    return tuple(key for key in keys if isinstance(key, dict))


def _endpoint(document: Mapping[str, Any], name: str, issuer: str) -> str:
    url = document.get(name)
    if not isinstance(url, str) or len(url) > _MAX_URL or not (found := _URL.fullmatch(url)):
        raise asking.Unusable(f"its metadata have no usable {name}")
    if found[1].lower() == "http" and not issuer.startswith("http:"):
        raise asking.Unusable(f"its {name} is not encrypted")
    return url


def _texts(document: Mapping[str, Any], name: str) -> tuple[str, ...]:
    listed = document.get(name)
    return tuple(text for text in listed if isinstance(text, str)) if isinstance(listed, list) else ()


class UnknownKey(asking.Unusable):
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
            raise asking.Unusable("the ID token has an algorithm that is not accepted")
        candidates = [key for key in keys if _fits(key, kid, algorithm)]
        if not candidates:
            raise UnknownKey("the ID token is signed with a key that the issuer does not publish")
        for key in candidates:
            claims = _claims(token, key, algorithm)
            if claims is not None:
                return claims, algorithm
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        raise asking.Unusable("the ID token is malformed") from None
    raise asking.Unusable("the signature of the ID token is wrong")


def _fits(key: Jwk, kid: object, algorithm: str) -> bool:
    """Return whether a key may verify a token: the key determines its use, and the token only names it."""
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
        raise asking.Unusable("the ID token is malformed")
    return claims


def check_claims(claims: Mapping[str, Any], issuer: str, client_id: str, nonce: str, now: int) -> None:
    """Raise Unusable unless an ID token is from the issuer, for this service, for this sign-in, and fresh."""
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
            raise asking.Unusable(f"the ID token has a wrong {name}")


def check_access_token(claims: Mapping[str, Any], algorithm: str, access_token: object) -> None:
    """Raise Unusable if an ID token names an access token, and it is another one."""
    if "at_hash" not in claims:
        return
    sent = claims["at_hash"]
    digest = hashlib.new(_ALGORITHMS[algorithm][2], str(access_token).encode()).digest()
    if not isinstance(sent, str) or not isinstance(access_token, str) or sent != base64url(digest[: len(digest) // 2]):
        raise asking.Unusable("the ID token has a wrong at_hash")


def identity_of(claims: Mapping[str, Any]) -> IssuedIdentity:
    """Return the person in claims; raise Unusable without a usable id, or for groups that cannot be read."""
    subject = claims.get("sub")
    if not isinstance(subject, str) or not _is_usable(subject):
        raise asking.Unusable("the sub is missing or unusable")
    names = tuple(claims[name] for name in _NAMES if isinstance(claims.get(name), str))
    authenticated_at = _time(claims, "auth_time")
    seconds = None if authenticated_at is None else int(authenticated_at)
    return IssuedIdentity(subject, tuple(dict.fromkeys(_groups(claims.get("groups")))), names, seconds)


def _groups(claim: object) -> Iterator[str]:
    """Yield the groups: a list, a single text or nothing, as issuers send them."""
    listed = claim if isinstance(claim, list) else [] if claim is None else [claim]
    if len(listed) > _MAX_GROUPS:
        raise asking.Unusable(f"there are more than {_MAX_GROUPS:,} groups")
    for group in listed:
        if not isinstance(group, str):
            raise asking.Unusable("the groups are neither texts nor a text")
        if _is_usable(group):  # no setting can name the others
            yield group


def _is_usable(text: str) -> bool:
    return 0 < len(text) <= _MAX_TEXT and text.isprintable()


def _time(claims: Mapping[str, Any], name: str) -> int | float | None:
    """Return a time; a bool is an int, and would be 1970."""
    value = claims.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
