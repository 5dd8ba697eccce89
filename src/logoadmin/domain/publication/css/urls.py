"""URLs as browsers read them: Ada's reading of the WHATWG URL Standard."""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote, urlsplit

import can_ada

from logoadmin.domain.kernel.errors import OutgoingError

# Pages of both schemes; their own host is not listed.
_OWN: Final = "relative.invalid"
_PAGES: Final = (f"http://{_OWN}/", f"https://{_OWN}/")
# Schemes whose URLs have a host.
_SCHEMES: Final = frozenset(("http:", "https:", "ws:", "wss:", "ftp:", "file:"))
_CONTROLS: Final = "".join(map(chr, range(0x21)))
_REMOVED: Final = dict.fromkeys(map(ord, "\t\n\r"))
_AUTHORITY: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?[/\\]*(?:[^/\\?#]*@)?([^/\\?#]*)", re.IGNORECASE)
_REFUSED: Final = re.compile(r"[\0-\x1f\x7f#/<>?@\[\\\]^|\ufffd]")
# Characters that some version of UTS 46 ignores: Default_Ignorable_Code_Point without the joiners. Ada misreads some.
_IGNORED: Final = dict.fromkeys(
    (
        *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x200B, 0x200E, 0x200F, 0x3164),
        *(*range(0x202A, 0x202F), *range(0x2060, 0x2070), *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0),
        *(*range(0xFFF0, 0xFFF9), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000)),
    )
)
# Of letters beyond ASCII; DNS cannot ask for more, and encoding them takes the square of the time.
_MAX_DOMAIN: Final = 254
# Longer addresses cannot be told apart by people.
_MAX_URL: Final = 2048


def trimmed(url: str) -> str:
    """Return a URL without the characters that browsers skip: controls around it, tabs and line breaks inside it."""
    return url.strip(_CONTROLS).translate(_REMOVED)


def hosts_of(url: str) -> tuple[str, ...]:
    """Return the host that a browser contacts for a URL, with a port that is not the scheme's.

    Returns:
        The host in lower case and in ASCII; two if it depends on the scheme of the page whether the port is written;
        as it is written if it has characters that browsers with newer tables than Ada's may know; none for a URL
        without a host, such as a relative one, or ``data:``.
    """
    found = _AUTHORITY.match(_without_surrogates(trimmed(url)))
    if found is None or (len(found[1]) > _MAX_DOMAIN and not found[1].isascii()):
        return ()
    written = unquote(found[1]).translate(_IGNORED)
    url = found[0] if _REFUSED.search(written) else found[0].removesuffix(found[1]) + written
    return tuple(dict.fromkeys(_hosts(f"{url}/", written)))


def _hosts(url: str, written: str) -> Iterator[str]:
    for page in _PAGES:
        found = _read(page, url)
        if found is None and not _REFUSED.search(written) and (" " in written or not written.isascii()):
            yield written.lower().replace(" ", "%20")
        elif found is not None and found.protocol in _SCHEMES and found.host not in ("", _OWN):
            yield found.host


def _read(page: str, url: str) -> can_ada.URL | None:
    try:
        # Parsed each time: what a module keeps of the library is reported as a leak when the program ends.
        return can_ada.parse(page) + url
    except ValueError:
        return None


def absolute(url: str, base: str) -> str:
    """Return a URL as seen from a base; one that is absolute, empty or a fragment, or no URL, stays as it is.

    Args:
        url: as written in a style sheet.
        base: the absolute http or https URL of that sheet.
    """
    text = _without_surrogates(url)
    found = _read(base, text)
    if trimmed(url)[:1] in ("", "#"):
        return url
    if found is None:  # Chromium may read it
        is_schemeless = trimmed(url)[:2] in ("//", "\\\\", "/\\", "\\/")
        return f"{can_ada.parse(base).protocol}{trimmed(url)}" if is_schemeless else url
    readings = {each.href for each in (found, *(_read(page, text) for page in _PAGES)) if each}
    return url if len(readings) == 1 else found.href


def address_of(url: str, base: str | None) -> str:
    """Return the absolute address of an import, without its fragment.

    Args:
        url: the address as it is written.
        base: the address of the sheet that imports it; None for a text without an address.

    Raises:
        OutgoingError: it cannot be fetched from there.
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
