"""An OpenID Connect issuer: metadata, keys, and the exchange of codes (contract O7).

PyJWT's own client for keys asks through urllib, which knows no guard; so the keys are fetched here.
"""

import base64
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import quote_plus, urlsplit

from logoadmin.adapters.oauth_issuer.asking import (
    IssuerRequests,
    Unusable,
    bearer,
    code_form,
    json_object,
    token_response,
)
from logoadmin.adapters.oauth_issuer.cached import Cached
from logoadmin.adapters.oauth_issuer.id_tokens import (
    Jwk,
    UnknownKey,
    check_access_token,
    check_claims,
    identity_of,
    verified,
)
from logoadmin.adapters.oauth_issuer.metadata import Metadata, metadata_of
from logoadmin.domain.kernel.errors import IssuerRefused
from logoadmin.ports.issuer import Authorization, IssuedIdentity, Redemption
from logoadmin.ports.outgoing import ConfidentialOutgoing, Fetched

# How long no newer keys are fetched for an unknown one.
_KEYS_REST: Final = 60.0  # seconds
_MAX_KEYS: Final = 100
_WELL_KNOWN: Final = "/.well-known/openid-configuration"


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
        self.name = urlsplit(url).hostname or ""
        self._secret = client_secret
        self._requests = IssuerRequests(self.name, outgoing)
        self._metadata = Cached(self._read_metadata, monotonic)
        self._keys = Cached(self._read_keys, monotonic)

    def authorization(self) -> Authorization:
        """Return where browsers go."""
        metadata = self._metadata.get()
        return Authorization(metadata.authorization_endpoint, metadata.scope, self.url, metadata.iss_in_response)

    def redeem(self, redemption: Redemption, now: int) -> IssuedIdentity:
        """Exchange a code and return the person in the verified ID token."""
        metadata = self._metadata.get()
        try:
            answer = token_response(self._exchanged(redemption, metadata))
            claims, algorithm = self._verified(answer.get("id_token"))
            check_claims(claims, self.url, self.client_id, redemption.nonce, now)
            access_token = answer.get("access_token")
            check_access_token(claims, algorithm, access_token)
            if "groups" not in claims and metadata.userinfo_endpoint is not None:
                more = self._userinfo(metadata.userinfo_endpoint, access_token, claims)
                claims = {**more, **claims, "auth_time": claims.get("auth_time")}  # only a verified time counts
            return identity_of(claims)
        except Unusable as wrong:
            self._requests.refused(wrong)
        raise IssuerRefused

    def _exchanged(self, redemption: Redemption, metadata: Metadata) -> Fetched:
        """Return the response of the token endpoint (RFC 6749 §4.1.3)."""
        form, headers = code_form(redemption), {}
        if metadata.takes_basic:
            pair = f"{quote_plus(self.client_id)}:{quote_plus(self._secret)}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": self.client_id, "client_secret": self._secret}
        return self._requests.ask(metadata.token_endpoint, form=form, headers=headers)

    def _verified(self, token: object) -> tuple[Mapping[str, Any], str]:
        if not isinstance(token, str):
            raise Unusable("its token response has no ID token")
        try:
            return verified(token, self._keys.get())
        except UnknownKey:
            return verified(token, self._keys.get(oldest=_KEYS_REST))

    def _userinfo(self, endpoint: str, access_token: object, claims: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the claims that the ID token has not (OpenID Connect Core 1.0 §5.3)."""
        received = self._requests.ask(endpoint, headers={"Authorization": bearer(access_token)})
        if received.status != 200:
            raise Unusable(f"its userinfo endpoint responds with status {received.status}")
        answer = json_object(received, "userinfo response")
        if answer.get("sub") != claims.get("sub"):  # of somebody else's token (§5.3.4)
            raise Unusable("its userinfo response is about somebody else")
        return answer

    def _read_metadata(self) -> Metadata:
        received = self._document(self.url.rstrip("/") + _WELL_KNOWN)
        with self._explained():
            return metadata_of(json_object(received, "metadata"), self.url)

    def _read_keys(self) -> tuple[Jwk, ...]:
        received = self._document(self._metadata.get().jwks_uri)
        with self._explained():
            keys = json_object(received, "keys").get("keys")
            if not isinstance(keys, list) or not 0 < len(keys) <= _MAX_KEYS:
                raise Unusable(f"it publishes no keys, or more than {_MAX_KEYS}")
            return tuple(key for key in keys if isinstance(key, dict))

    def _document(self, url: str) -> Fetched:
        """Return what the issuer publishes, from where it belongs: a redirect may lead anywhere."""
        received = self._requests.ask(url)
        if received.status != 200:
            raise self._requests.unavailable(f"responds with status {received.status}")
        return received

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise that the issuer cannot be used, for whatever is wrong with what it publishes."""
        try:
            yield
        except Unusable as wrong:
            raise self._requests.unavailable(str(wrong)) from None
