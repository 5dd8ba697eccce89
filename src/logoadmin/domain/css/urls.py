"""URLs as browsers read them (WHATWG URL Standard): whom one contacts, and what a relative one means.

A URL that browsers may read in several ways contacts all of them: a host too many is listed rather than one too few.
"""

import ipaddress
import unicodedata
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote_to_bytes, urljoin

# Schemes whose URLs have a host, and the ports that are not written.
_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "file": None}
_SCHEME: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.")
_CONTROLS: Final = "".join(map(chr, range(0x21)))
_REMOVED: Final = dict.fromkeys(map(ord, "\t\n\r"))
_FORBIDDEN: Final = frozenset("#/<>?@[\\]^|%:\x7f").union(_CONTROLS)
_IGNORED: Final = dict.fromkeys(
    (0xAD, 0x34F, 0x180B, 0x180C, 0x180D, 0x180F, 0x200B, 0x2060, 0x2064, 0xFEFF, *range(0xFE00, 0xFE10))
)
# What DNS can ask for, with a dot at the end.
_MAX_DOMAIN: Final = 254
_DOTS: Final = str.maketrans("\u3002\uff0e\uff61", "...")
# Characters that UTS 46 keeps, and case folding does not.
_DEVIATIONS: Final = {"\u00df": "\ue000", "\u1e9e": "\ue000", "\u03c2": "\ue001"}


@dataclass(frozen=True, slots=True)
class _Parts:
    """A URL that has been read as far as its host.

    Attributes:
        scheme: in lower case; empty for that of the page.
        slashes: the number of slashes and backslashes after it.
        rest: what follows them.
    """

    scheme: str
    slashes: int
    rest: str


def _parts(url: str) -> _Parts:
    url = url.strip(_CONTROLS).translate(_REMOVED)
    scheme, colon, rest = url.partition(":")
    if not colon or not scheme[:1].isalpha() or not _SCHEME.issuperset(scheme):
        scheme, rest = "", url
    scheme = scheme.lower()
    after = rest.lstrip("/\\") if scheme in _PORTS or not scheme else rest
    return _Parts(scheme, len(rest) - len(after), after)


def host_of(url: str) -> str | None:
    """Return the host that a browser contacts for a URL, with a port that is not the scheme's.

    Returns:
        The host in lower case and in ASCII; None for a URL without a host, such as a relative one, or ``data:``.
    """
    parts = _parts(url)
    if parts.scheme not in _PORTS and parts.scheme:
        return None
    if parts.slashes < 2 and (not parts.scheme or parts.scheme == "file"):
        return None
    end = next((i for i, character in enumerate(parts.rest) if character in "/\\?#"), len(parts.rest))
    authority = parts.rest[:end].rpartition("@")[2]
    name, port = _split_port(authority)
    host = _ipv6(name[1:-1]) if name.startswith("[") and name.endswith("]") else _domain(name)
    if not host or port is None:
        return None
    return host if port in ("", str(_PORTS[parts.scheme or "https"])) else f"{host}:{port}"


def _split_port(authority: str) -> tuple[str, str | None]:
    """Return a host and its port, without leading zeros; None for a port that no browser accepts."""
    name, colon, port = authority.rpartition(":")
    if not colon or "]" in port:
        return authority, ""
    if port and (not port.isascii() or not port.isdecimal() or len(port.lstrip("0")) > 5 or int(port[-5:]) > 0xFFFF):
        return name, None
    return name, port and str(int(port[-5:]))


def _ipv6(address: str) -> str | None:
    """Return an IPv6 address in brackets, shortened as browsers do; None if it is not valid."""
    try:
        number = int(ipaddress.IPv6Address(address.partition("%")[0]))
    except ValueError:
        return None
    groups = [f"{number >> shift & 0xFFFF:x}" for shift in range(112, -1, -16)]
    start, length = 0, 1
    for first in range(8):
        run = next((i for i, group in enumerate(groups[first:]) if group != "0"), 8 - first)
        if run > length:
            start, length = first, run
    if length > 1:
        return f"[{':'.join(groups[:start])}::{':'.join(groups[start + length :])}]"
    return f"[{':'.join(groups)}]"


def _domain(name: str) -> str | None:
    """Return a domain in ASCII, or an IPv4 address as four numbers; None if no browser accepts it."""
    if "%" in name:
        name = unquote_to_bytes(name).decode("utf-8", "replace")
    name = _mapped(name)
    if len(name) > _MAX_DOMAIN or "\ufffd" in name:
        return None
    labels = name.split(".")
    domain = ".".join(label if label.isascii() else f"xn--{_punycode(label)}" for label in labels)
    if not domain or not _FORBIDDEN.isdisjoint(domain):
        return None
    last = labels[-1] or (labels[-2] if len(labels) > 1 else "")
    if last.isascii() and (last.isdecimal() or _number(last) is not None):
        return _ipv4(labels)
    return domain


def _mapped(name: str) -> str:
    """Return a domain with its characters mapped as UTS 46 does, for names that are registered today."""
    if name.isascii():
        return name.lower()
    name = name.translate(_IGNORED)
    for kept, placeholder in _DEVIATIONS.items():
        name = name.replace(kept, placeholder)
    name = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return name.replace("\ue000", "\u00df").replace("\ue001", "\u03c2").translate(_DOTS)


def _punycode(label: str) -> str:
    return label.encode("punycode", "replace").decode()


def _number(text: str) -> int | None:
    """Return a part of an IPv4 address, which may be hexadecimal or octal; None if it is not a number."""
    try:
        if text[:2] in ("0x", "0X"):
            return int(text[2:] or "0", 16) if "_" not in text and text[2:3] not in ("+", "-") else None
        return int(text, 8 if len(text) > 1 and text[0] == "0" else 10) if text.isdecimal() else None
    except ValueError:
        return None


def _ipv4(labels: list[str]) -> str | None:
    """Return an IPv4 address as four numbers; None if it is not valid."""
    if len(labels) > 1 and not labels[-1]:
        labels = labels[:-1]
    numbers = [number for label in labels if (number := _number(label)) is not None]
    if len(numbers) != len(labels) or len(numbers) > 4 or max((0, *numbers[:-1])) > 255:
        return None
    last = 256 ** (5 - len(numbers))
    if numbers[-1] >= last:
        return None
    address = numbers[-1] + sum(number << 8 * (3 - place) for place, number in enumerate(numbers[:-1]))
    return str(ipaddress.IPv4Address(address))


def absolute(url: str, base: str) -> str:
    """Return a URL as seen from a base; one that is absolute, empty or a fragment stays as it is.

    Args:
        url: as written in a style sheet.
        base: the absolute http or https URL of that sheet.
    """
    parts = _parts(url)
    written = url.strip(_CONTROLS).translate(_REMOVED)
    if not written or written.startswith("#") or (parts.scheme and parts.scheme not in _PORTS):
        return url
    scheme = parts.scheme or base.partition(":")[0].lower()
    if parts.slashes >= 2 or (parts.scheme and scheme != base.partition(":")[0].lower()):
        return url if parts.scheme and parts.slashes >= 2 else f"{scheme}://{parts.rest}"
    path, mark, rest = _until(written.partition(":")[2] if parts.scheme else written, "?#")
    path = path.replace("\\", "/")
    if ":" in path.partition("/")[0]:
        path = f"./{path}"
    return urljoin(base, path + mark + rest)


def _until(text: str, marks: str) -> tuple[str, str, str]:
    """Return a text until one of these characters, the character, and the rest."""
    end = next((i for i, character in enumerate(text) if character in marks), len(text))
    return text[:end], text[end : end + 1], text[end + 1 :]
