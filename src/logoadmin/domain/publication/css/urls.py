"""URLs as browsers read them: by the WHATWG URL Standard, as Ada implements it, and where browsers deviate from it.

If browsers may read a URL in several ways, all hosts are listed: one too many is better than one too few.
"""

import re
from collections.abc import Iterator
from string import ascii_lowercase, digits
from typing import Final
from unicodedata import normalize
from urllib.parse import unquote_to_bytes, urlsplit

import can_ada

from logoadmin.domain.kernel.errors import OutgoingError

# Pages of both schemes; their own host is not listed.
_OWN: Final = "relative.invalid"
_PAGES: Final = (f"http://{_OWN}/", f"https://{_OWN}/")
# Schemes whose URLs have a host.
_SCHEMES: Final = frozenset(("http:", "https:", "ws:", "wss:", "ftp:", "file:"))
_CONTROLS: Final = "".join(map(chr, range(0x21)))
_REMOVED: Final = dict.fromkeys(map(ord, "\t\n\r"))
_AUTHORITY: Final = re.compile(r"((?:[a-z][a-z0-9+.-]*:)?[/\\]*(?:[^/\\?#]*@)?)([^/\\?#]*)", re.IGNORECASE)
_SCHEMELESS: Final = re.compile(r"[/\\]{2}")
_ENDS: Final = re.compile(r"[/\\?#@]")
# Characters that some version of UTS 46 ignores: Default_Ignorable_Code_Point without the joiners.
_IGNORED: Final = (
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x200B, 0x200E, 0x200F, 0x3164),
    *(*range(0x202A, 0x202F), *range(0x2060, 0x2070), *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0, *range(0xFFF0, 0xFFF9)),
    *(*range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000)),
)
# Also characters that Ada's tables lack: letters and digits of Unicode 16 and 17, and the capital sharp s.
_MAPPED: Final[dict[int, str | None]] = {
    **dict.fromkeys(_IGNORED),
    **{0x1CCD6 + place: character for place, character in enumerate(ascii_lowercase + digits)},
    0xA7F1: "s",
    0x1E9E: "\xdf",
}
_REFUSED: Final = re.compile(r"[\0-\x1f\x7f#/<>?@\[\\\]^|:\ufffd]|%(?!20)")
_FOLDED: Final = str.maketrans("\u3002\u0345", ".\u03b9")
# For non-ASCII names: DNS cannot look up longer ones, and the time to encode them is quadratic.
_MAX_DOMAIN: Final = 254
# People cannot tell longer addresses apart.
_MAX_URL: Final = 2048


def trimmed(url: str) -> str:
    """Return a URL without the characters that browsers skip: controls around it, tabs and line breaks inside it."""
    return url.strip(_CONTROLS).translate(_REMOVED)


def hosts_of(url: str) -> tuple[str, ...]:
    """Return the host that a browser contacts for a URL, in lower case and in ASCII, with a port that is not usual.

    Several if browsers differ, or if the scheme of the page decides whether the port is written; none for a URL without
    a host, such as a relative one, or ``data:``.
    """
    hosts: dict[str, None] = {}
    for reading, name in _readings(url):
        if name and hosts:
            break
        for found in filter(None, (_read(page, reading) for page in _PAGES)):
            if found.protocol in _SCHEMES and found.host not in ("", _OWN):
                hosts[found.host.replace(found.hostname, name or found.hostname)] = None
    return tuple(hosts)


def _read(page: str, url: str) -> can_ada.URL | None:
    try:
        # Parsed each time: library objects that a module keeps are reported as leaks when the program ends.
        return can_ada.parse(page) + url
    except ValueError:
        return None


def _readings(url: str) -> Iterator[tuple[str, str]]:
    """Yield a URL up to its host, as written and as other browsers read it; with the name if Ada may reject it."""
    found = _AUTHORITY.match(_without_surrogates(trimmed(url)))
    if found is None:
        return
    decoded = unquote_to_bytes(found[2]).decode("utf-8", "replace").translate(_MAPPED)
    is_long = len(decoded) > _MAX_DOMAIN
    if is_long and not decoded.isascii():
        return
    yield f"{found[0]}/", ""
    if _ENDS.search(decoded) is None:
        yield f"{found[1]}{decoded}/", ""
        folded = normalize("NFKC", decoded.replace(" ", "%20")).lower().translate(_FOLDED)
        name, colon, port = folded.partition(":")
        # Chromium looks up names with spaces, and knows the letters of a newer Unicode version.
        if not is_long and re.search(r"[^\0-\x7f]| |%20", name) and _REFUSED.search(name) is None:
            yield f"{found[1]}a{colon}{port}/", ".".join(map(_encoded, name.split("."))).replace(" ", "%20")


def _encoded(label: str) -> str:
    return label if label.isascii() else f"xn--{label.encode('punycode').decode()}"


def absolute(url: str, base: str) -> str:
    """Resolve a URL against a base; return it unchanged if it is absolute, empty, a fragment or invalid."""
    text, bare = _without_surrogates(url), trimmed(url)
    found = _read(base, text)
    if bare[:1] in ("", "#"):
        return url
    if found is None:  # Chromium may read it
        return f"{can_ada.parse(base).protocol}{bare}" if _SCHEMELESS.match(bare) else url
    readings = {each.href for each in (found, *(_read(each, text) for each in _PAGES)) if each}
    return url if len(readings) == 1 else found.href


def address_of(url: str, base: str | None) -> str:
    """Return the absolute address of an import, without its fragment; ``base`` is None for a text without an address.

    Raises:
        OutgoingError: it cannot be fetched.
    """
    found = _read(base or _PAGES[1], _without_surrogates(url))
    if found is None:
        raise OutgoingError("", "an import has an address that cannot be read")
    address = found.href.partition("#")[0]
    if found.protocol not in ("http:", "https:"):
        raise OutgoingError("", "only sheets with an http or https address can be copied")
    if found.hostname == _OWN:
        raise OutgoingError("", "an import has a relative address")
    if found.username or found.password:
        raise OutgoingError(found.hostname, "an import has a username or a password in its address")
    if len(address) > _MAX_URL:
        raise OutgoingError(found.hostname, f"an import has an address of more than {_MAX_URL:,} characters")
    return address


def host_of(url: str) -> str:
    """Return the host of an absolute address, for messages."""
    return (urlsplit(url).hostname or "").lower()


def _without_surrogates(url: str) -> str:
    return url.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
