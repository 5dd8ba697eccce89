"""The metadata of an issuer (OpenID Connect Discovery 1.0, RFC 8414, contract O7)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from logoadmin.adapters.oauth_issuer.asking import Unusable

# Where browsers and this service are sent. A fragment or credentials have no use, and other schemes run scripts.
_URL: Final = re.compile(
    r"(https?)://[a-z0-9._~:\[\]-]+(/[!$-;=?-Z_a-z~]*|\?[!$-;=?-Z_a-z~]*)?", re.ASCII | re.IGNORECASE
)
_MAX_URL: Final = 2_048
_SCOPES: Final = ("openid", "profile", "email")


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of an issuer, as far as they are used.

    Attributes:
        authorization_endpoint: where browsers go.
        token_endpoint: where codes are exchanged.
        jwks_uri: where the keys are.
        userinfo_endpoint: where claims are that the ID token has not; None if it has none.
        takes_basic: whether the token endpoint takes the client's secret as a header, and not in the form.
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


def metadata_of(told: Mapping[str, Any], issuer: str) -> Metadata:
    """Return the metadata of an issuer.

    Raises:
        Unusable: they are not those of this issuer, or something is missing or unsafe.
    """
    if told.get("issuer") != issuer:
        raise Unusable("its metadata are those of another issuer than oidc_issuer")
    methods = _texts(told, "token_endpoint_auth_methods_supported") or ("client_secret_basic",)
    if not {"client_secret_basic", "client_secret_post"} & {*methods}:
        raise Unusable("its token endpoint supports neither client_secret_basic nor client_secret_post")
    scopes = (*_SCOPES, *(["groups"] if "groups" in _texts(told, "scopes_supported") else []))
    return Metadata(
        _endpoint(told, "authorization_endpoint", issuer),
        _endpoint(told, "token_endpoint", issuer),
        _endpoint(told, "jwks_uri", issuer),
        _endpoint(told, "userinfo_endpoint", issuer) if told.get("userinfo_endpoint") is not None else None,
        "client_secret_basic" in methods,
        " ".join(scopes),
        told.get("authorization_response_iss_parameter_supported") is True,
    )


def _endpoint(told: Mapping[str, Any], name: str, issuer: str) -> str:
    url = told.get(name)
    if not isinstance(url, str) or len(url) > _MAX_URL or not (found := _URL.fullmatch(url)):
        raise Unusable(f"its metadata have no usable {name}")
    if found[1].lower() == "http" and not issuer.startswith("http:"):
        raise Unusable(f"its {name} is not encrypted")
    return url


def _texts(told: Mapping[str, Any], name: str) -> tuple[str, ...]:
    listed = told.get(name)
    return tuple(text for text in listed if isinstance(text, str)) if isinstance(listed, list) else ()
