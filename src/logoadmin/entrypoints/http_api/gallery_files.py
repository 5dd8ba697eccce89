"""The files of a published gallery as they are sent: with header fields, and compressed once (contract L2)."""

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from starlette.types import Message

from logoadmin.domain.publication.files.file_names import CHANGING_NAME
from logoadmin.domain.publication.files.pointer import parsed
from logoadmin.domain.publication.publication_records import FEED, POINTER, READER
from logoadmin.entrypoints.http_api.compression import SHORT, SUFFIX, accepts_gzip, in_best_gzip
from logoadmin.entrypoints.http_api.conditions import Fields, conditional, unmodified
from logoadmin.entrypoints.http_api.operation import JSON
from logoadmin.entrypoints.http_api.request import Request
from logoadmin.ports.gallery_page import POLICY

# How long browsers and proxies may cache a file: readers must learn of a takedown within a minute.
_CACHE_CONTROL: Final = {
    POINTER: "public, max-age=60, stale-if-error=604800",
    READER: "public, max-age=86400",
}
_BRIEFLY: Final = "public, max-age=300"
_FOREVER: Final = "public, max-age=31536000, immutable"
_MEDIA_TYPES: Final = {
    "json": JSON,
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "xml": "application/xml",
    "webp": "image/webp",
    "woff2": "font/woff2",
}
# Pages cannot say themselves that nobody may frame them.
PAGE_POLICY: Final = f"{POLICY}; frame-ancestors 'none'"
_OF_PAGE: Final = [(b"content-security-policy", PAGE_POLICY.encode()), (b"referrer-policy", b"no-referrer")]
# Pages of any origin may read a gallery.
CORS: Final = [(b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", b"ETag, Retry-After")]
# Pages of any site may show a picture; opened as a page, it runs nothing.
PICTURE_FIELDS: Final = [
    *CORS,
    (b"content-security-policy", b"default-src 'none'; sandbox"),
    (b"cross-origin-resource-policy", b"cross-origin"),
    (b"x-content-type-options", b"nosniff"),
]
_ATOM: Final = "application/atom+xml"
_PLAIN: Final = ""
_GZIP: Final = "gzip"
_SUFFIXES: Final = {_PLAIN: "", _GZIP: SUFFIX}


@dataclass(frozen=True, slots=True)
class _Variant:
    """A file in one coding."""

    etag: bytes
    fields: Fields
    body: bytes = field(repr=False)
    # Those of most polls.
    fields_if_unmodified: Fields


class PublishedFile:
    """A file with its header fields; longer ones also in gzip."""

    __slots__ = ("_name", "_tag", "_variants", "stamp")

    def __init__(self, name: str, content: bytes, tag: str = "", stamp: Hashable | None = None) -> None:
        """Compress a file in gzip, which takes a moment for a long one.

        Args:
            name: its name relative to ``/gallery/``.
            content: its content.
            tag: its entity tag, by default made from the content.
            stamp: that of the file, by which a changed one is recognised.
        """
        self._name, self.stamp = name, stamp
        self._tag = tag or hashlib.sha256(content).hexdigest()[:32]
        self._variants: dict[str, _Variant] = {}
        self._add(_PLAIN, content)
        if len(content) > SHORT and not name.endswith(".webp"):
            self._add(_GZIP, in_best_gzip(content))

    @property
    def tag(self) -> str:
        """The entity tag of the content as it is, without quotes."""
        return self._tag

    @property
    def fields(self) -> Fields:
        """The header fields of the content as it is."""
        return self._variants[_PLAIN].fields

    @property
    def size(self) -> int:
        """The bytes of all codings together."""
        return sum(len(variant.body) for variant in self._variants.values())

    def messages(self, request: Request) -> tuple[Message, Message]:
        """Return the messages to send: without the body for HEAD, or if the client has it cached."""
        variant = self._variant(request)
        status, fields, body = conditional(
            request, variant.etag, variant.fields, variant.body, variant.fields_if_unmodified
        )
        return (
            {"type": "http.response.start", "status": status, "headers": fields},
            {"type": "http.response.body", "body": body},
        )

    def _variant(self, request: Request) -> _Variant:
        variants = self._variants
        return variants[_GZIP if _GZIP in variants and accepts_gzip(request) else _PLAIN]

    def _add(self, coding: str, body: bytes) -> None:
        etag = f'"{self._tag}{_SUFFIXES[coding]}"'.encode()
        is_picture = self._name.endswith(".webp")
        fields = [
            *(PICTURE_FIELDS if is_picture else [*CORS, (b"x-content-type-options", b"nosniff")]),
            (b"cache-control", _cache_control(self._name).encode()),
            (b"content-length", b"%d" % len(body)),
            (b"content-type", _media_type(self._name).encode()),
            (b"etag", etag),
            (b"vary", b"Accept-Encoding"),
            *(_OF_PAGE if self._name.endswith(".html") else ()),
        ]
        if coding:
            fields.append((b"content-encoding", coding.encode()))
        self._variants[coding] = _Variant(etag, fields, body, unmodified(fields, etag))


def _media_type(name: str) -> str:
    return _ATOM if name == FEED else _MEDIA_TYPES[name.rpartition(".")[2]]


def _cache_control(name: str) -> str:
    return _CACHE_CONTROL.get(name) or (_BRIEFLY if CHANGING_NAME.fullmatch(name) else _FOREVER)


def pointer_file(content: bytes) -> PublishedFile:
    """Return the pointer, by whose entity tag a process recognises one that is newer than its own.

    Raises:
        ValueError: it is not the pointer of a gallery.
    """
    pointer, digest = parsed(content), hashlib.sha256(content).hexdigest()[:24]
    return PublishedFile(POINTER, content, f"{pointer.version}-{pointer.issued}-{digest}")
