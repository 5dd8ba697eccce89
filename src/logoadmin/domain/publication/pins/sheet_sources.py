"""The address of an imported style sheet, and its text as a browser would decode it (contract L5)."""

from typing import Final
from urllib.parse import SplitResult, urlsplit, urlunsplit

from tinycss2.bytes import decode_stylesheet_bytes
from webencodings import Encoding

from logoadmin.domain.kernel.errors import OutgoingError
from logoadmin.domain.publication.css.urls import absolute, trimmed
from logoadmin.ports.kernel.outgoing import Fetched

# Browsers allow more; a longer address cannot be told apart by the people who accept its sheet.
MAX_URL: Final = 2048

_CSS: Final = "text/css"
_CHARSET: Final = '@charset "'
_LONGEST_LABEL: Final = 100
# Where the relative addresses in the CSS of a record would lead: it has no address of its own.
_NOWHERE: Final = "https://relative.invalid/"


def address_of(url: str, base: str | None) -> str:
    """Return the absolute address of an import, without its fragment.

    Args:
        url: the address as it is written.
        base: the address of the sheet that imports it; None for the CSS of a record.

    Raises:
        OutgoingError: it cannot be fetched from there.
    """
    if trimmed(url)[:1] in ("", "#"):
        raise OutgoingError("", "an import has an empty address")
    try:
        parts = _parts(absolute(url, base or _NOWHERE))
        host, joined = (parts.hostname or "").lower(), urlunsplit(parts)
    except ValueError:
        raise OutgoingError("", "an import has an address that cannot be read") from None
    if joined.startswith(_NOWHERE):
        raise OutgoingError("", "an import has a relative address, and the CSS of a record has none")
    if reason := _refused(joined, parts):
        raise OutgoingError(host, reason)
    return joined


def _parts(url: str) -> SplitResult:
    """Return the parts of an absolute address, written in one way only, so that the same sheet is known again."""
    address, mark, query = trimmed(url).partition("#")[0].partition("?")
    parts = urlsplit(address.replace("\\", "/") + mark + query)
    return parts._replace(netloc=parts.netloc.lower(), path=_without_dots(parts.path), fragment="")


def _without_dots(path: str) -> str:
    """Return a path without the segments ``.`` and ``..`` (WHATWG URL, path state)."""
    found: list[str] = []
    segments = path[1:].split("/")
    for place, segment in enumerate(segments):
        dots = segment.lower().replace("%2e", ".")
        if dots == "..":
            del found[-1:]
        if dots not in (".", ".."):
            found.append(segment)
        elif place == len(segments) - 1:
            found.append("")
    return f"/{'/'.join(found)}"


def _refused(url: str, parts: SplitResult) -> str | None:
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "only imports by http and https can be pinned"
    if "@" in parts.netloc:
        return "an import has a username or a password in its address"
    return f"an import has an address of more than {MAX_URL:,} characters" if len(url) > MAX_URL else None


def host_of(url: str) -> str:
    """Return the host of an absolute address, for messages."""
    return (urlsplit(url).hostname or "").lower()


def decoded(fetched: Fetched, environment: Encoding | None) -> tuple[str, Encoding]:
    """Return the text of a sheet and its encoding (CSS Syntax §3.2), ready to be stored in UTF-8.

    Args:
        fetched: the response.
        environment: the encoding of the sheet that imports it, which counts where the response and the sheet name none.

    Raises:
        OutgoingError: it is not a style sheet.
    """
    # Browsers accept a sheet without a media type.
    if fetched.media_type not in ("", _CSS):
        raise OutgoingError(host_of(fetched.url), f"the media type of the response is not {_CSS}")
    text, encoding = decode_stylesheet_bytes(fetched.body, fetched.charset or None, environment)
    return _in_utf8(text.replace("\0", "\N{REPLACEMENT CHARACTER}")), encoding


def _in_utf8(text: str) -> str:
    """Return a sheet that names UTF-8 as its encoding, if it needs to name any.

    A static host may send no charset, and the page may have another one.
    """
    if text.startswith(_CHARSET):
        _, label, *rest = text.split('"', 2)
        if len(label) < _LONGEST_LABEL and rest and rest[0].startswith(";"):
            text = rest[0][1:]
    return text if text.isascii() else f'{_CHARSET}utf-8";{text}'
