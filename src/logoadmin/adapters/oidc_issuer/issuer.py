"""An OpenID Connect issuer: metadata, keys, and the exchange of codes (contract O7).

PyJWT's own client for keys asks through urllib, which knows no guard; so the keys are fetched here.
"""

import base64
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import quote_plus, urlsplit

from pydantic_core import from_json

from logoadmin.adapters.oidc_issuer.cached import Cached
from logoadmin.adapters.oidc_issuer.id_tokens import (
    Jwk,
    UnknownKey,
    check_access_token,
    check_claims,
    identity_of,
    verified,
)
from logoadmin.adapters.oidc_issuer.metadata import Metadata, Unusable, metadata_of
from logoadmin.domain.kernel.errors import IssuerRefused, IssuerUnavailable, OutgoingError
from logoadmin.ports.identity.issuer import Authorization, IssuedIdentity, Redemption
from logoadmin.ports.kernel.outgoing import ConfidentialOutgoing, Fetched

log = logging.getLogger("logoadmin.issuer")

_MOST: Final = 256 * 1024  # bytes of a response
_SECONDS: Final = 5.0  # for each request
# How long no newer keys are fetched for an unknown one.
_KEYS_REST: Final = 60.0  # seconds
_MAX_KEYS: Final = 100
# The cures of failed requests, by the reasons of the port.
_REACH: Final = "check that the issuer is running, and that firewalls and IPAddressDeny= let this machine reach it"
_CURES: Final = {
    "cannot be resolved": "correct the host in oidc_issuer, or the name resolution of this machine (DNS, /etc/hosts)",
    "has a certificate that cannot be verified": (
        "renew it with all intermediate certificates; if it is your own, name its authority in SSL_CERT_FILE"
    ),
    "does not speak TLS as expected": "check the port in oidc_issuer, and the TLS settings of the issuer",
}
_WELL_KNOWN: Final = "/.well-known/openid-configuration"
_ERROR_CODE: Final = re.compile(r"[a-z_]{1,40}", re.ASCII)
_ACCESS_TOKEN: Final = re.compile(r"[!-~]{1,65536}", re.ASCII)


class OidcIssuer:
    """The :class:`~logoadmin.ports.identity.issuer.Issuer` at a URL."""

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
        """Prepare requests; the first one is sent when something is asked.

        Args:
            url: the identifier of the issuer, exactly as it is in its metadata and tokens.
            client_id: the id of this service there.
            client_secret: its secret.
            return_url: where browsers come back.
            outgoing: asks the hosts of the issuer.
            monotonic: the clock by which documents are kept.
        """
        self.url, self.client_id, self.return_url = url, client_id, return_url
        self.host = urlsplit(url).hostname or ""
        self._secret = client_secret
        self._outgoing = outgoing
        self._metadata = Cached(self._read_metadata, monotonic)
        self._keys = Cached(self._read_keys, monotonic)

    def authorization(self) -> Authorization:
        """Return where browsers go."""
        metadata = self._metadata.get()
        return Authorization(metadata.authorization_endpoint, metadata.scope, metadata.iss_in_response)

    def redeem(self, redemption: Redemption, now: int) -> IssuedIdentity:
        """Exchange a code and return the person in the verified ID token."""
        metadata = self._metadata.get()
        try:
            answer = self._exchanged(redemption, metadata)
            claims, algorithm = self._verified(answer.get("id_token"))
            check_claims(claims, self.url, self.client_id, redemption.nonce, now)
            access_token = answer.get("access_token")
            check_access_token(claims, algorithm, access_token)
            if "groups" not in claims and metadata.userinfo_endpoint is not None:
                more = self._userinfo(metadata.userinfo_endpoint, access_token, claims)
                claims = {**more, **claims, "auth_time": claims.get("auth_time")}  # only a verified time counts
            return identity_of(claims)
        except Unusable as wrong:
            log.warning("A sign-in at the issuer %s is refused: %s", self.host, wrong)
        raise IssuerRefused

    def _exchanged(self, redemption: Redemption, metadata: Metadata) -> Mapping[str, Any]:
        """Return the content of the response of the token endpoint to a code that it accepts."""
        received = self._token_response(redemption, metadata)
        if received.status != 200:
            raise Unusable(f"its token endpoint refuses the code{_reason(received)}")
        answer = _json_object(received, "token response")
        if str(answer.get("token_type")).lower() != "bearer":
            raise Unusable("its token response is not one for bearer tokens")
        return answer

    def _token_response(self, redemption: Redemption, metadata: Metadata) -> Fetched:
        """Return the response of the token endpoint (RFC 6749 §4.1.3)."""
        form = {
            "grant_type": "authorization_code",
            "code": redemption.code,
            "redirect_uri": redemption.redirect_uri,
            "code_verifier": redemption.code_verifier,
        }
        authorization = ""
        if metadata.takes_basic:
            pair = f"{quote_plus(self.client_id)}:{quote_plus(self._secret)}"
            authorization = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": self.client_id, "client_secret": self._secret}
        return self._asked(metadata.token_endpoint, form=form, authorization=authorization)

    def _verified(self, token: object) -> tuple[Mapping[str, Any], str]:
        if not isinstance(token, str):
            raise Unusable("its token response has no ID token")
        try:
            return verified(token, self._keys.get())
        except UnknownKey:
            return verified(token, self._keys.get(oldest=_KEYS_REST))

    def _userinfo(self, endpoint: str, access_token: object, claims: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the claims that the ID token has not (OpenID Connect Core 1.0 §5.3)."""
        if not isinstance(access_token, str) or not _ACCESS_TOKEN.fullmatch(access_token):
            raise Unusable("its token response has no usable access token")
        received = self._asked(endpoint, authorization=f"Bearer {access_token}")
        if received.status != 200:
            raise Unusable(f"its userinfo endpoint responds with status {received.status}")
        answer = _json_object(received, "userinfo response")
        if answer.get("sub") != claims.get("sub"):  # of somebody else's token (§5.3.4)
            raise Unusable("its userinfo response is about somebody else")
        return answer

    def _read_metadata(self) -> Metadata:
        received = self._document(self.url.rstrip("/") + _WELL_KNOWN)
        with self._explained():
            return metadata_of(_json_object(received, "metadata"), self.url)

    def _read_keys(self) -> tuple[Jwk, ...]:
        received = self._document(self._metadata.get().jwks_uri)
        with self._explained():
            keys = _json_object(received, "keys").get("keys")
            if not isinstance(keys, list) or not 0 < len(keys) <= _MAX_KEYS:
                raise Unusable(f"it publishes no keys, or more than {_MAX_KEYS}")
            return tuple(key for key in keys if isinstance(key, dict))

    def _document(self, url: str) -> Fetched:
        """Return what the issuer publishes, from where it belongs: a redirect may lead anywhere."""
        received = self._asked(url)
        if received.status != 200:
            raise self._unavailable(f"responds with status {received.status}")
        return received

    def _asked(self, url: str, *, form: Mapping[str, str] | None = None, authorization: str = "") -> Fetched:
        try:
            received = self._outgoing.send(url, form=form, authorization=authorization, most=_MOST, seconds=_SECONDS)
        except OutgoingError as error:
            raise self._unavailable(str(error), _CURES.get(error.reason, _REACH)) from None
        if received.status >= 500 or received.status == 429:
            raise self._unavailable(f"responds with status {received.status}", "check the log of the issuer")
        return received

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise that the issuer cannot be used, for whatever is wrong with what it publishes."""
        try:
            yield
        except Unusable as wrong:
            raise self._unavailable(str(wrong)) from None

    def _unavailable(self, reason: str, *cure: str) -> IssuerUnavailable:
        log.warning("The issuer %s cannot be used: %s", self.host, reason)
        return IssuerUnavailable(self.host, reason, *cure)


def _json_object(received: Fetched, name: str) -> dict[str, Any]:
    try:
        found = from_json(received.body, allow_inf_nan=False)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Unusable(f"its {name} cannot be read as a JSON object")
    return found


def _reason(received: Fetched) -> str:
    code = _error_code(received)
    return f", with status {received.status}" if code is None else f": {code}"


def _error_code(received: Fetched) -> str | None:
    """Return the error code of a refusal, which tells a wrong secret from a wrong code (RFC 6749 §5.2)."""
    try:
        code = _json_object(received, "refusal").get("error")
    except Unusable:
        return None
    return code if isinstance(code, str) and _ERROR_CODE.fullmatch(code) else None
