"""`data:` URLs (WHATWG Fetch §6), and the references of the documents in them (contract L4).

Browsers load a document in a `data:` URL like any other, and some also load its references: Firefox follows the links
of an SVG document that a filter or a mask uses. A document is harmless if it refers to nothing outside itself.
"""

import re
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote_to_bytes
from xml.parsers import expat

from tinycss2.bytes import decode_stylesheet_bytes

from logoadmin.domain.publication.css.addresses import Use, addresses
from logoadmin.domain.publication.css.tokens import has_too_many_blocks, other_readings, tokenize
from logoadmin.domain.publication.css.urls import hosts_of, trimmed

# Raster images and fonts have no references. The other types of fonts were in use before ``font/``.
_RASTER: Final = frozenset(
    f"image/{name}"
    for name in ("apng", "avif", "bmp", "gif", "jpeg", "jpg", "jxl", "png", "vnd.microsoft.icon", "webp", "x-icon")
)
_FONTS: Final = ("font/", "application/font-", "application/x-font-", "application/vnd.ms-fontobject")
# Their first bytes; no document begins with them.
_BINARY: Final = (
    *(b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"RIFF", b"wOFF", b"wOF2", b"OTTO", b"\x00\x01\x00\x00", b"true"),
    *(b"\x00\x00\x01\x00",),
)
_ASCII_BASED: Final = frozenset(("", "utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin1", "windows-1252"))
# Levels of nested documents that are read.
_MAX_LEVELS: Final = 3
# Elements in these namespaces are metadata for editors.
_METADATA: Final = re.compile(
    r"https?://(?:www\.w3\.org/1999/02/22-rdf-syntax-ns#|purl\.org/dc/|creativecommons\.org/ns#|web\.resource\.org/cc/|"
    r"www\.inkscape\.org/|sodipodi\.|ns\.adobe\.com/|www\.bohemiancoding\.com/)"
)
# Elements in other namespaces may load something through other attributes.
_SVG: Final = ("", "http://www.w3.org/2000/svg")
_EMBEDDING: Final = frozenset(
    ("script", "handler", "foreignobject", "iframe", "object", "embed", "link", "audio", "video", "canvas")
)
_ANIMATED: Final = ("from", "to", "by", "values")


@dataclass(frozen=True, slots=True)
class DataUrl:
    """A `data:` URL."""

    media_type: str  # in lower case, without parameters
    charset: str  # in lower case; empty if missing
    content: bytes | None  # None if the URL has invalid base64


def is_data_url(url: str) -> bool:
    """Return whether browsers read a URL as a `data:` URL."""
    return trimmed(url)[:5].lower() == "data:"


def data_url(url: str) -> DataUrl | None:
    """Parse a `data:` URL; return None for any other URL."""
    if not is_data_url(url):
        return None
    head, _, body = trimmed(url)[5:].partition("#")[0].partition(",")
    parameters = [each.strip().lower() for each in head.split(";")]
    content: bytes | None = unquote_to_bytes(body)
    if len(parameters) > 1 and parameters[-1] == "base64":
        content = _from_base64(content or b"")
    charset = next((each[8:].strip("\"' ") for each in parameters[1:] if each.startswith("charset=")), "")
    return DataUrl(parameters[0] or "text/plain", charset, content)


def _from_base64(content: bytes) -> bytes | None:
    digits = b"".join(content.split()).rstrip(b"=")
    try:
        return b64decode(digits + b"=" * (-len(digits) % 4), validate=True)
    except ValueError:
        return None


def sheets_in(url: str) -> tuple[str, ...]:
    """Return the one or two readings of the style sheet in a `data:` URL, as UTF-8 and in its declared encoding."""
    found = data_url(url)
    if found is None or found.content is None:
        return ()
    declared, _ = decode_stylesheet_bytes(found.content, found.charset or None)
    return tuple({found.content.decode("utf-8", "replace"): None, declared: None})


class _Unreadable(Exception):
    """The document is a risk, so the rest need not be read."""


def references_in(url: str, levels: int = _MAX_LEVELS) -> "References":
    """Return the references of the document in a `data:` URL; empty for other URLs, raster images and fonts."""
    found, references = data_url(url), References(levels - 1)
    if found is None or found.media_type in _RASTER or found.media_type.startswith(_FONTS):
        return references
    if found.content is None or not levels or found.media_type == "text/html":
        references.is_risk = True
    elif found.content.strip() and not found.content.startswith(_BINARY):
        references.read(found.content, found.charset)
    return references


class References:
    """References of an XML document, such as SVG, to anything outside itself, as far as they can be read.

    Attributes:
        urls: their URLs.
        is_risk: whether there are any, or the document has a script or the like, or cannot be read.
    """

    def __init__(self, levels: int) -> None:
        """Documents in it are read up to this many levels."""
        self.urls: list[str] = []
        self.is_risk = False
        self._levels = levels
        self._style: list[str] | None = None

    def read(self, content: bytes, charset: str) -> None:
        """Add the references of the document."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.XmlDeclHandler = self._declaration
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._text
        # Style sheets, and entities from other files.
        parser.ProcessingInstructionHandler = parser.SkippedEntityHandler = self._refuse
        try:
            if charset not in _ASCII_BASED:
                raise _Unreadable
            parser.Parse(content.decode("utf-8-sig"), True)
        except (_Unreadable, UnicodeDecodeError, expat.ExpatError):
            self.is_risk = True

    def _refuse(self, *_: object) -> None:
        raise _Unreadable

    def _declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if (encoding or "").lower() not in _ASCII_BASED:
            raise _Unreadable

    def _doctype(self, _name: str, _system: str | None, _public: str | None, has_subset: int) -> None:
        # Browsers do not load the file that a document type names.
        if has_subset:
            raise _Unreadable

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        namespace, _, local = name.rpartition(" ")
        if _METADATA.match(namespace):
            return
        if namespace not in _SVG or local.lower() in _EMBEDDING:
            self.is_risk = True
        if local.lower() == "style":
            self._style = []
        is_link = attributes.get("attributeName", "").rpartition(":")[2].lower() == "href"
        for key, value in attributes.items():
            attribute = key.rpartition(" ")[2].lower()
            if attribute.startswith("on") or attribute == "base":
                self.is_risk = True
            elif attribute in ("href", "src"):
                self._add(value)
            elif is_link and attribute in _ANIMATED:
                for each in value.split(";"):
                    self._add(each)
            elif "(" in value:
                self._add_css(value)

    def _end(self, name: str) -> None:
        if name.rpartition(" ")[2].lower() == "style" and self._style is not None:
            self._add_css("".join(self._style))
            self._style = None

    def _text(self, text: str) -> None:
        if self._style is not None:
            self._style.append(text)

    def _add_css(self, css: str) -> None:
        if has_too_many_blocks(css):
            raise _Unreadable
        for text in (css, *other_readings(css)):
            tokens = tokenize(text)
            for address in addresses(tokens, tokens.nodes, Use.PERHAPS):
                if address.use is Use.IMPORT:
                    self.is_risk = True
                if address.use is not Use.PERHAPS or hosts_of(address.url):
                    self._add(address.url)

    def _add(self, url: str) -> None:
        """Add a URL unless it is a fragment; for a `data:` URL, add the references in it."""
        if trimmed(url)[:1] in ("", "#"):
            return
        if is_data_url(url):
            inner = references_in(url, self._levels)
            self.urls += inner.urls
            self.is_risk |= inner.is_risk
        else:
            self.urls.append(url)
            self.is_risk = True
