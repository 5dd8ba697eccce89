"""URLs as browsers read them (WHATWG URL Standard): which host a URL contacts, and how relative URLs resolve.

A URL that browsers may read in several ways contacts all of them: a host too many is listed rather than one too few.
"""

import ipaddress
import unicodedata
from dataclasses import dataclass
from string import ascii_lowercase, digits
from typing import Final
from urllib.parse import unquote_to_bytes

# Schemes whose URLs have a host, and the ports that are not written.
_PORTS: Final = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "file": None}
_SCHEME: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.")
_CONTROLS: Final = "".join(map(chr, range(0x21)))
_REMOVED: Final = dict.fromkeys(map(ord, "\t\n\r"))
_FORBIDDEN: Final = frozenset("#/<>?@[\\]^|%:\x7f").union(_CONTROLS)
# Characters that some version of UTS 46 ignores: Default_Ignorable_Code_Point without the joiners.
_IGNORED: Final = dict.fromkeys(
    (
        *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x200B, 0x200E, 0x200F),
        *(*range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0),
        *(*range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000)),
    )
)
# Of letters beyond ASCII; DNS cannot ask for more, and encoding them takes the square of the time.
_MAX_DOMAIN: Final = 254
# Letters and digits that Python's tables may not have yet (Unicode 16 and 17).
_OUTLINED: Final = {0x1CCD6 + place: character for place, character in enumerate(ascii_lowercase + digits)} | {
    0xA7F1: "s"
}
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


def trimmed(url: str) -> str:
    """Return a URL without the characters that browsers skip: controls around it, tabs and line breaks inside it."""
    return url.strip(_CONTROLS).translate(_REMOVED)


def _parts(url: str) -> _Parts:
    url = trimmed(url)
    scheme, colon, rest = url.partition(":")
    if not colon or not scheme[:1].isalpha() or not _SCHEME.issuperset(scheme):
        scheme, rest = "", url
    scheme = scheme.lower()
    after = rest.lstrip("/\\") if scheme in _PORTS or not scheme else rest
    return _Parts(scheme, len(rest) - len(after), after)


def hosts_of(url: str) -> tuple[str, ...]:
    """Return the host that a browser contacts for a URL, with a port that is not the scheme's.

    Returns:
        The host in lower case and in ASCII; two if it depends on the scheme of the page whether the port is written;
        none for a URL without a host, such as a relative one, or ``data:``.
    """
    parts = _parts(url)
    if parts.scheme not in _PORTS and parts.scheme:
        return ()
    if parts.slashes < 2 and (not parts.scheme or parts.scheme == "file"):
        return ()
    authority = _until(parts.rest, "/\\?#")[0].rpartition("@")[2]
    name, port = _split_port(authority)
    host = _host(name)
    if not host or port is None:
        return ()
    schemes = (parts.scheme,) if parts.scheme else ("http", "https")
    return tuple({host if port in ("", str(_PORTS[scheme])) else f"{host}:{port}": None for scheme in schemes})


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


def _host(name: str) -> str | None:
    """Return a domain in ASCII, or an address as browsers write it; None if no browser accepts it."""
    if "%" in name:
        name = unquote_to_bytes(name).decode("utf-8", "replace")
    name = name.translate(_IGNORED)
    if name.startswith("[") and name.endswith("]"):
        return _ipv6(name[1:-1])
    # Chromium asks for names with spaces, which others refuse.
    name = _mapped(name.replace(" ", "%20"))
    if (len(name) > _MAX_DOMAIN and not name.isascii()) or "\ufffd" in name:
        return None
    labels = name.split(".")
    domain = ".".join(label if label.isascii() else f"xn--{_punycode(label)}" for label in labels)
    if not domain or not _FORBIDDEN.isdisjoint(domain.replace("%20", "").replace(" ", "")):
        return None
    last = labels[-1] or (labels[-2] if len(labels) > 1 else "")
    if last.isascii() and (last.isdecimal() or _number(last) is not None):
        return _ipv4(labels)
    return domain.replace(" ", "%20")


def _mapped(name: str) -> str:
    """Return a domain with its characters mapped as UTS 46 does, for names that are registered today."""
    if name.isascii():
        return name.lower()
    name = name.translate(_OUTLINED)
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
    parts, written = _parts(url), trimmed(url)
    if written[:1] in ("", "#") or parts.scheme == "file" or (parts.scheme and parts.scheme not in _PORTS):
        return url
    base_scheme = base.partition(":")[0].lower()
    if parts.scheme and parts.slashes >= 2:
        return url
    if parts.slashes >= 2 or (parts.scheme and parts.scheme != base_scheme):
        return f"{parts.scheme or base_scheme}://{parts.rest}"
    relative = written.partition(":")[2] if parts.scheme else written
    sheet = _until(base, "?#")[0]
    if not _until(relative, "?#")[0]:
        return (sheet if relative[:1] == "?" else _until(base, "#")[0]) + relative
    root = sheet.find("/", sheet.index("://") + 3)
    if root == -1:
        root, sheet = len(sheet), f"{sheet}/"
    # Browsers resolve dots themselves, and read backslashes as slashes.
    return (sheet[:root] if relative[0] in "/\\" else sheet[: sheet.rindex("/") + 1]) + relative


def _until(text: str, marks: str) -> tuple[str, str]:
    """Return a text until the first of these characters, and the rest."""
    end = next((i for i, character in enumerate(text) if character in marks), len(text))
    return text[:end], text[end:]
