"""The URL of the service as browsers see it (contract O8)."""

import re
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final

from logoadmin.domain.kernel.access import MAX_PORT, is_loopback

# Only characters that need no escapes; clients would resolve `.` and `..`.
PREFIX: Final = re.compile(r"(/(?!\.\.?(/|\Z))[A-Za-z0-9._~-]+)*")
_URL: Final = re.compile(r"(https?)://(\[[0-9a-f:.]+\]|[^\[\]/:?#@\\]+)(?::([0-9]{1,5}))?(/.*)?", re.ASCII | re.I)
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class PublicUrl:
    """The URL of the service as browsers see it. It comes from the settings alone, never from a request.

    Attributes:
        origin: scheme, host and, unless it is the default, port, as browsers write them: ``https://gallery.example``.
        host: the host in lower case, an IPv6 address without brackets. It is the RP ID of passkeys.
        path: the prefix of all paths, such as ``/gallery``, or an empty string.
    """

    origin: str
    host: str
    path: str = ""

    @property
    def base(self) -> str:
        """The whole URL, without a slash at its end."""
        return f"{self.origin}{self.path}"

    @property
    def is_address(self) -> bool:
        """Whether the host is an IP address, for which browsers offer no passkeys."""
        with suppress(ValueError):
            ip_address(self.host)
            return True
        return False


def local_public_url(port: int, path: str = "") -> PublicUrl:
    """Return the URL for browsers on this machine; by this name, unlike an address, they offer passkeys."""
    return PublicUrl(_origin("http", "localhost", port), "localhost", path)


LOCAL: Final = PublicUrl("http://localhost:8000", "localhost")


def public_url(text: str) -> PublicUrl:
    """Return the URL in its canonical form.

    Raises:
        ValueError: it cannot be the URL of a service; the text says why and does not repeat it.
    """
    parts = _URL.fullmatch(text)
    scheme, host, port, path = parts.groups() if parts else ("", "", None, None)
    found = canonical_host(host)
    in_brackets = host.startswith("[")
    number = int(port or _DEFAULT_PORTS.get(scheme.lower(), 0))
    prefix = (path or "").removesuffix("/")
    is_url = found is not None and in_brackets == (":" in found) and 0 < number <= MAX_PORT
    if found is None or not is_url or PREFIX.fullmatch(prefix) is None:
        raise ValueError(
            "should be the URL that browsers open, without a query and without credentials, such as "
            "https://gallery.example or https://www.example/gallery"
        )
    if scheme.lower() == "http" and not is_loopback(found) and not found.endswith(".localhost"):
        raise ValueError("should begin with https://; only localhost may do without TLS")
    return PublicUrl(_origin(scheme.lower(), found, number), found, prefix)


def _origin(scheme: str, host: str, port: int) -> str:
    written = f"[{IPv6Address(host)}]" if ":" in host else host
    return f"{scheme}://{written}" + ("" if port == _DEFAULT_PORTS[scheme] else f":{port}")


_NAME: Final = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*", re.ASCII)
# Systems read such names as addresses, each in its own way: 0x7f.1, 017700000001, 127.1.
_NUMBER: Final = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)", re.ASCII)


def canonical_host(text: str) -> str | None:
    """Return a name in lower case without a trailing dot, or an address without brackets; None for anything else."""
    host = text.lower().removesuffix(".")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if "%" not in bare:  # the scope of an address
        with suppress(ValueError):
            return str(ip_address(bare))
    return host if _NAME.fullmatch(host) and not _NUMBER.fullmatch(host) else None
