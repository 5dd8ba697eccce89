"""Style sheets and documents in ``data:`` URLs, which browsers load like others (WHATWG Fetch §6)."""

import html
from base64 import b64decode
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote_to_bytes

from tinycss2.bytes import decode_stylesheet_bytes

from logoadmin.domain.publication.css.urls import hosts_of, trimmed

# Raster images and fonts name nothing else. The types of fonts are those that were in use before ``font/``.
_RASTER: Final = frozenset(
    f"image/{name}"
    for name in ("apng", "avif", "bmp", "gif", "jpeg", "jpg", "jxl", "png", "vnd.microsoft.icon", "webp")
) | {"image/x-icon"}
_FONTS: Final = ("font/", "application/font-", "application/x-font-", "application/vnd.ms-fontobject")
# Namespaces are names, and nobody contacts them.
_NAMESPACES: Final = ("http://www.w3.org/", "https://www.w3.org/")
_STARTS: Final = ("//", "http:", "https:", "ws:", "wss:", "ftp:")
_END_OF_URL: Final = frozenset("\"'<>")
_END_OF_HOST: Final = _END_OF_URL | frozenset(" \f()/?#,;|")
# Documents in ``data:`` URLs that are read, one inside the other.
_MAX_LEVELS: Final = 3


def is_data_url(url: str) -> bool:
    """Return whether browsers take a URL for a ``data:`` URL."""
    return trimmed(url)[:5].lower() == "data:"


def sheets_in(url: str) -> tuple[str, ...]:
    """Return the style sheet in a ``data:`` URL: in UTF-8, and in the encoding that it claims to have.

    Returns:
        Up to two texts; none for any other URL.
    """
    if not is_data_url(url):
        return ()
    parameters, content = _parts(url)
    if content is None:
        return ()
    charset = next((each[8:].strip("\"' ") for each in parameters if each.startswith("charset=")), None)
    declared, _ = decode_stylesheet_bytes(content, protocol_encoding=charset)
    return tuple({content.decode("utf-8", "replace"): None, declared: None})


def is_document(url: str) -> bool:
    """Return whether a ``data:`` URL may have a document, which names other files.

    Firefox loads those of SVG and XHTML, also out of properties such as ``filter`` and ``mask``.
    """
    if not is_data_url(url):
        return False
    media_type = _parts(url)[0][0]
    return media_type not in _RASTER and not media_type.startswith(_FONTS)


def hosts_in_document(url: str, levels: int = _MAX_LEVELS) -> Iterator[str]:
    """Yield the hosts that the document in a ``data:`` URL names, as far as they can be read in its text.

    What could be read in several ways is read in all of them: a host too many is listed rather than one too few.

    Args:
        url: the URL.
        levels: how many documents inside documents are read.
    """
    for text in _readings(_parts(url)[1] or b""):
        for host in _hosts_in(text.replace("\\", "/").lower()):
            yield from hosts_of(f"https://{host}")
        if levels > 1:
            for inner in {_until(each, _END_OF_URL) for each in text.split("data:")[1:]}:
                yield from hosts_in_document(f"data:{inner}", levels - 1)


def _readings(content: bytes) -> Iterator[str]:
    """Yield the texts that a document may be, as it is and with its references replaced."""
    for encoding in ("utf-8", "utf-16-le", "utf-16-be") if b"\0" in content else ("utf-8",):
        text = trimmed(content.decode(encoding, "replace"))
        yield text
        while "&" in text and (replaced := trimmed(html.unescape(text))) != text:
            yield (text := replaced)


def _hosts_in(text: str) -> set[str]:
    for namespace in _NAMESPACES:
        text = text.replace(namespace, "")
    parts = (part for start in _STARTS for part in text.split(start)[1:])
    return {host for part in parts if (host := _until(part.lstrip("/"), _END_OF_HOST))}


def _until(text: str, ends: frozenset[str]) -> str:
    return text[: next((place for place, character in enumerate(text) if character in ends), len(text))]


def _parts(url: str) -> tuple[list[str], bytes | None]:
    """Return the media type and the parameters of a ``data:`` URL, in lower case, and its content.

    The content is None if its encoding is broken.
    """
    head, _, body = trimmed(url)[5:].partition("#")[0].partition(",")
    content = unquote_to_bytes(body)
    parameters = [each.strip().lower() for each in head.split(";")]
    if len(parameters) > 1 and parameters[-1] == "base64":
        try:
            content = b64decode(content + b"==")
        except ValueError:
            return parameters, None
    return parameters, content
