"""The types of settings: lists, hosts and URLs, as text in the environment or as arrays in a file."""

import re
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, SecretStr

from logoadmin.domain.kernel.limits import MAX_PASSWORD, PICTURE_HOST
from logoadmin.domain.public_url import PREFIX, canonical_host, public_url

_MAX_NOTIFY_URL = 2_048
_MIN_FACTOR_KEY = 32
_NOTIFY_URL = re.compile(r"https?://(?![^/?#]*@)[^\s/?#\\]+([/?][^\s#\\]*)?", re.I)


def split(value: Any) -> Any:
    """Split a text at commas; return anything else unchanged."""
    return [entry.strip() for entry in value.split(",") if entry.strip()] if isinstance(value, str) else value


def urls_in(setting: SecretStr | None) -> tuple[str, ...]:
    """Return the URLs in ``notify_urls``, each once."""
    return () if setting is None else tuple(dict.fromkeys(split(setting.get_secret_value())))


def keys_in(secret: SecretStr | None) -> tuple[str, ...]:
    """Return the keys in a secret, separated by commas; empty without a secret."""
    return () if secret is None else tuple(key.strip() for key in secret.get_secret_value().split(","))


def _matching(pattern: str, text: str) -> AfterValidator:
    """Require that a whole text matches a pattern."""
    compiled = re.compile(pattern, re.ASCII)

    def check(value: str) -> str:
        if compiled.fullmatch(value) is None:
            raise ValueError(f"should {text}")
        return value

    return AfterValidator(check)


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _network(value: Any) -> Any:
    """Return a network or a single address; ``ip_network`` would also accept numbers."""
    if isinstance(value, IPv4Network | IPv6Network):
        return value
    try:
        return ip_network(value if isinstance(value, str) else "")
    except ValueError:
        text = "should be IP addresses and networks, separated by commas, such as 127.0.0.1,10.0.0.0/8,fd00::/8"
        raise ValueError(text) from None


def _outgoing_host(value: str) -> str:
    host = canonical_host(value)
    if host is None:
        raise ValueError(
            "should be names or addresses without ports, separated by commas, such as styles.internal,10.0.0.5"
        )
    return host


def _files(value: Any) -> Any:
    return split(value) or None


def _joined(value: Any) -> Any:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else value


def _notify_urls(value: SecretStr) -> SecretStr:
    if any(len(url) > _MAX_NOTIFY_URL or _NOTIFY_URL.fullmatch(url) is None for url in urls_in(value)):
        raise ValueError("should be URLs that begin with https://, or with http:// for a host in outgoing_hosts")
    return value


def _first_password(value: SecretStr) -> SecretStr:
    if not value:
        raise ValueError("must not be empty; without it, a password is generated")
    if len(value) > MAX_PASSWORD:
        raise ValueError(f"must not be longer than {MAX_PASSWORD} characters")
    return value


def _factor_key(value: SecretStr) -> SecretStr:
    if any(len(key) < _MIN_FACTOR_KEY for key in keys_in(value)):
        raise ValueError(f"should have at least {_MIN_FACTOR_KEY} characters")
    return value


def _base(value: str) -> str:
    return public_url(value).base


CaseInsensitive = BeforeValidator(_lower)
Level = Annotated[Literal["debug", "info", "warning", "error"], CaseInsensitive]
LogFormat = Annotated[Literal["text", "json"], CaseInsensitive]
Address = Annotated[str, _matching(r"[^\[\]/]+", "be a name or an address alone, such as 127.0.0.1 or ::1")]
Prefix = Annotated[
    str,
    _matching(
        PREFIX.pattern,
        "begin with / and not end with it, such as /gallery; "
        "between them are letters, digits and the characters - . _ ~",
    ),
]
PublicUrlText = Annotated[str, AfterValidator(_base)]
Networks = Annotated[
    tuple[Annotated[IPv4Network | IPv6Network, BeforeValidator(_network)], ...], BeforeValidator(split)
]
# A colon belongs to an IPv6 address: ports are not compared (contract A22).
_Host = Annotated[
    str,
    _matching(
        r"\*|[A-Za-z0-9._-]+|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*|\[[0-9A-Fa-f:.]+\]",
        "be names or addresses without ports, separated by commas, such as gallery.example, or * for any",
    ),
]
Hosts = Annotated[tuple[_Host, ...], BeforeValidator(split)]
_Origin = Annotated[
    str,
    _matching(
        r"https?://[a-z0-9.:\[\]-]+",
        "be origins as browsers write them, separated by commas, such as https://admin.example",
    ),
]
Origins = Annotated[tuple[_Origin, ...], BeforeValidator(split)]
_PictureHost = Annotated[
    str, _matching(PICTURE_HOST, "be names of hosts, separated by commas, such as i.example or *.example")
]
PictureHosts = Annotated[tuple[_PictureHost, ...], BeforeValidator(split)]
OutgoingHosts = Annotated[tuple[Annotated[str, AfterValidator(_outgoing_host)], ...], BeforeValidator(split)]
Files = Annotated[tuple[str, ...] | None, BeforeValidator(_files)]
NotifyUrls = Annotated[SecretStr, BeforeValidator(_joined), AfterValidator(_notify_urls)]
FirstPassword = Annotated[SecretStr, AfterValidator(_first_password)]
FactorKey = Annotated[SecretStr, AfterValidator(_factor_key)]
