"""The types of settings: lists, hosts and URLs, as text in the environment or as arrays in a file."""

import re
from collections.abc import Callable, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from logoadmin.domain.kernel.limits import GALLERY_HOME, MAX_GALLERY_TITLE, MAX_PASSWORD, PICTURE_HOST
from logoadmin.domain.public_url import PREFIX, canonical_host, public_url

_MAX_URL: Final = 2_048
_MIN_FACTOR_KEY: Final = 32
_NOTIFY_URL: Final = re.compile(r"https?://(?![^/?#]*@)[^\s/?#\\]+([/?][^\s#\\]*)?", re.I)
_MAIL: Final = re.compile(r"(?i:mailto:)[^\s@?\x00-\x1f\x7f]+@[^\s@?\x00-\x1f\x7f]+(?:\?[^\s\x00-\x1f\x7f]*)?")
# It is compared with the metadata and tokens of the issuer, character by character.
_ISSUER: Final = re.compile(r"https?://[^/?#@\\\s]+(/[!$-.0-;=A-Z_a-z~/%]*)?", re.ASCII)
# Not an OpenID Connect issuer, so it has a separate adapter.
GITHUB: Final = "https://github.com"
_MAX_TEXT: Final = 255
_MAX_ROLES: Final = 1_000


def split(value: Any) -> Any:
    """Split a text at commas; return anything else unchanged."""
    return [entry.strip() for entry in value.split(",") if entry.strip()] if isinstance(value, str) else value


def urls_in(setting: SecretStr | None) -> tuple[str, ...]:
    """Return the URLs in ``notify_urls``, each once."""
    return () if setting is None else tuple(dict.fromkeys(split(setting.get_secret_value())))


def keys_in(secret: SecretStr | None) -> tuple[str, ...]:
    """Return the keys in a secret, separated by commas; empty without a secret."""
    return () if secret is None else tuple(key.strip() for key in secret.get_secret_value().split(","))


def host_of(url: str) -> str | None:
    """Return the host of a URL in its canonical form; None if it has no usable one."""
    try:
        parts = urlsplit(url)
        return canonical_host(parts.hostname or "") if parts.port != 0 else None
    except ValueError:
        return None


def group_and_role(assignment: str) -> tuple[str, str]:
    """Return group and role of an assignment; a group such as ``cn=editors`` may contain an equals sign."""
    group, _, role = assignment.rpartition("=")
    return group.strip(), role.strip()


def _checked(is_valid: Callable[[Any], object], text: str) -> AfterValidator:
    """Require that a value is valid."""

    def check(value: Any) -> Any:
        if not is_valid(value):
            raise ValueError(f"should {text}")
        return value

    return AfterValidator(check)


def _matching(pattern: str, text: str) -> AfterValidator:
    """Require that a whole text matches a pattern."""
    return _checked(re.compile(pattern, re.ASCII).fullmatch, text)


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


def _joined(value: Any) -> Any:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else value


def _is_notify_url(url: str) -> bool:
    return len(url) <= _MAX_URL and _NOTIFY_URL.fullmatch(url) is not None


def _first_password(value: SecretStr) -> SecretStr:
    if not value:
        raise ValueError("must not be empty; without it, a password is generated")
    if len(value) > MAX_PASSWORD:
        raise ValueError(f"must not be longer than {MAX_PASSWORD} characters")
    return value


def _issuer(value: str) -> str:
    if len(value) > _MAX_URL or not _ISSUER.fullmatch(value) or host_of(value) is None:
        raise ValueError(
            "should be the URL of the issuer as in its metadata, without a query and without credentials, such as "
            "https://login.example/realms/gallery",
        )
    return GITHUB if value.lower().rstrip("/") == GITHUB else value


def _is_sent(value: str) -> bool:
    return 0 < len(value) <= _MAX_URL and value.isprintable()


def _assignments(value: Any) -> Any:
    listed = split(value)
    if isinstance(listed, Mapping):
        # In TOML, an id is a number; a bool is an int.
        listed = [f"{group}={role}" if type(role) in (str, int) else "" for group, role in listed.items()]
    if not isinstance(listed, list | tuple) or len(listed) > _MAX_ROLES or not all(map(_is_assignment, listed)):
        raise ValueError("should be groups with their roles, separated by commas, such as editors=editor,staff=2")
    return tuple("=".join(group_and_role(entry)) for entry in listed)


def _is_assignment(entry: object) -> bool:
    if not isinstance(entry, str):
        return False
    return all(0 < len(part) <= _MAX_TEXT and part.isprintable() for part in group_and_role(entry))


def _role(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _line(value: str) -> str:
    if not value.isprintable() or not value.strip():
        raise ValueError("should be a line of printable characters")
    return value.strip()


def _is_url(value: str) -> bool:
    """Return whether a value is an http or https URL without credentials, or empty."""
    return len(value) <= _MAX_URL and value.isprintable() and re.fullmatch(GALLERY_HOME, value) is not None


def _is_way_to_submit(value: bool | str) -> bool:
    return isinstance(value, bool) or (bool(value) and _is_url(value))


def _is_way_to_report(value: str) -> bool:
    return _is_url(value) or (len(value) <= _MAX_URL and _MAIL.fullmatch(value) is not None)


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
Files = Annotated[tuple[str, ...], BeforeValidator(split)]
NotifyUrls = Annotated[
    SecretStr,
    BeforeValidator(_joined),
    _checked(
        lambda value: all(map(_is_notify_url, urls_in(value))),
        "be URLs that begin with https://, or with http:// for a host in outgoing_hosts",
    ),
]
FirstPassword = Annotated[SecretStr, AfterValidator(_first_password)]
FactorKey = Annotated[
    SecretStr,
    _checked(
        lambda value: all(len(key) >= _MIN_FACTOR_KEY for key in keys_in(value)),
        f"have at least {_MIN_FACTOR_KEY} characters",
    ),
]
_OF_CLIENT: Final = "be a text of printable characters, as the issuer has it"
IssuerUrl = Annotated[str, AfterValidator(_issuer)]
ClientId = Annotated[str, _checked(_is_sent, _OF_CLIENT)]
ClientSecret = Annotated[SecretStr, _checked(lambda value: _is_sent(value.get_secret_value()), _OF_CLIENT)]
RolesOfGroups = Annotated[tuple[str, ...], BeforeValidator(_assignments)]
RoleOfAll = Annotated[str, BeforeValidator(_role)]
Title = Annotated[str, Field(max_length=MAX_GALLERY_TITLE), AfterValidator(_line)]
Home = Annotated[str, _checked(_is_url, "be an http or https URL without credentials, or empty")]
WayToSubmit = Annotated[
    bool | str,
    Field(union_mode="left_to_right"),
    _checked(_is_way_to_submit, "be true, false, or an http or https URL without credentials"),
]
WayToReport = Annotated[
    str,
    _checked(_is_way_to_report, "be an http or https URL without credentials, a mailto: address, or empty"),
]
