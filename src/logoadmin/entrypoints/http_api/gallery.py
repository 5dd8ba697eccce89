"""The published gallery at ``/gallery/``: signed files for readers, without the database (contract L1, L2)."""

import asyncio
import html
import logging
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import replace
from typing import Final
from weakref import WeakValueDictionary

from cachetools import LRUCache
from starlette.types import Receive, Scope, Send

from logoadmin.domain.publication.files.file_names import CHANGING_NAME, IMMUTABLE_NAME
from logoadmin.domain.publication.files.pointer import parsed
from logoadmin.domain.publication.publication_records import FEED, PAGE, POINTER, READER
from logoadmin.entrypoints.http_api.conditions import StaticFile
from logoadmin.entrypoints.http_api.errors import error_response, note_cause
from logoadmin.entrypoints.http_api.http_error import HttpError
from logoadmin.entrypoints.http_api.operation import JSON
from logoadmin.entrypoints.http_api.request import CountedRequests, Request, request_of
from logoadmin.entrypoints.http_api.response import Fields, Response, fields_of
from logoadmin.entrypoints.publisher import Publisher
from logoadmin.ports.gallery_files import GalleryFiles
from logoadmin.ports.gallery_page import POLICY
from logoadmin.ports.metrics import Metrics

log = logging.getLogger("logoadmin.http")

# How long browsers and proxies may cache a file; readers must learn of a takedown within a minute.
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
# A page cannot forbid framing in its own policy, only in a header.
PAGE_POLICY: Final = f"{POLICY}; frame-ancestors 'none'"
PAGE_FIELDS: Final = [(b"content-security-policy", PAGE_POLICY.encode()), (b"referrer-policy", b"no-referrer")]
# Pages of any origin may read a gallery.
CORS: Final = [(b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", b"ETag, Retry-After")]
# Pages of any site may show a picture; opened directly, it runs nothing.
PICTURE_FIELDS: Final = [
    *CORS,
    (b"content-security-policy", b"default-src 'none'; sandbox"),
    (b"cross-origin-resource-policy", b"cross-origin"),
    (b"x-content-type-options", b"nosniff"),
]


class PublishedFile(StaticFile):
    """A file of the published gallery, with the stamp by which a change is detected."""

    def __init__(self, name: str, content: bytes, stamp: Hashable | None = None) -> None:
        super().__init__(content, _fields(name), is_compressed=name.endswith(".webp"))
        self.stamp = stamp


def _fields(name: str) -> Fields:
    media_type = "application/atom+xml" if name == FEED else _MEDIA_TYPES[name.rpartition(".")[2]]
    cached = _CACHE_CONTROL.get(name) or (_BRIEFLY if CHANGING_NAME.fullmatch(name) else _FOREVER)
    return [
        *(PICTURE_FIELDS if name.endswith(".webp") else [*CORS, (b"x-content-type-options", b"nosniff")]),
        (b"cache-control", cached.encode()),
        (b"content-type", media_type.encode()),
        *(PAGE_FIELDS if name.endswith(".html") else ()),
    ]


# The memory for files, in all codings.
_MOST_BYTES: Final = 67_108_864


class PublishedFolder:
    """The files of a folder into which some process publishes, compressed once and kept in memory.

    Only for use in the event loop.
    """

    def __init__(self, files: GalleryFiles) -> None:
        self._folder = files
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._files: LRUCache[str, PublishedFile] = LRUCache(_MOST_BYTES, lambda file: file.size)
        # The last failure of each file that cannot be read, so that it is logged once.
        self._failures: dict[str, tuple[Hashable, str]] = {}

    async def file(self, name: str) -> PublishedFile | None:
        """Return a file by its name relative to ``/gallery/``, or None."""
        if name != POINTER and not any(pattern.fullmatch(name) for pattern in (IMMUTABLE_NAME, CHANGING_NAME)):
            return None
        stamp = self._folder.stamp(name)
        if stamp is not None:
            # Simultaneous requests read a file once.
            async with self._locks.setdefault(name, asyncio.Lock()):
                known = self._files.get(name)
                return known if known and known.stamp == stamp else await self._read(name, stamp)
        if self._folder.stamp(POINTER) is None:
            raise HttpError(503, "The gallery is not published yet; try again in a few seconds", {"retry-after": "1"})
        return None

    async def _read(self, name: str, stamp: Hashable) -> PublishedFile | None:
        """Read and compress a file; its stamp is older than its content, so a file that is replaced is read again."""
        try:
            file = await asyncio.to_thread(self._prepared, name, stamp)
        except (OSError, ValueError) as error:  # unreadable, or a damaged pointer
            failure = stamp, str(error)
            if self._failures.get(name) != failure:
                log.error("The published gallery cannot be read: %s", error)
                self._failures[name] = failure
            if name in self._files:
                return self._files[name]
            # Not a 404, after which browsers forget a page that they keep for offline use.
            text = "The published gallery cannot be read; try again in a few seconds"
            raise HttpError(503, text, {"retry-after": "1"}) from None
        self._failures.pop(name, None)
        self._files.pop(name, None)
        if file is not None:
            with suppress(ValueError):  # too large to keep
                self._files[name] = file
        return file

    def _prepared(self, name: str, stamp: Hashable) -> PublishedFile | None:
        content = self._folder.read(name)
        if name == POINTER and content is not None:
            parsed(content)  # raises ValueError if it is not the pointer of a gallery
        return None if content is None else PublishedFile(name, content, stamp)


FOLDER: Final = "/gallery/"
_PREFLIGHT: Final = {
    "access-control-allow-methods": "GET, HEAD",
    "access-control-allow-headers": "If-None-Match",
    "access-control-max-age": "600",
    "cache-control": "no-store",
}


# For browsers that open an address without a page, or before the first publication.
_ERROR_PAGE: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>{detail}</title>
<p>{detail}</p>
<p><a href="{home}">Go to the gallery</a></p>
</html>
"""


class PublishedGallery:
    """Serves the paths that begin with ``/gallery/``."""

    def __init__(self, folder: PublishedFolder, publisher: Publisher, metrics: Metrics) -> None:
        """Serve a folder, into which ``publisher`` publishes from :meth:`start` or the first request onwards."""
        self._folder, self._publisher = folder, publisher
        self._is_started = False
        self._files = CountedRequests(self._serve, metrics)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request for a file."""
        self.start()
        await self._files(scope, receive, send)

    def start(self) -> None:
        """Start publishing, unless it has started."""
        if not self._is_started:
            self._is_started = True
            self._publisher.start()

    async def close(self) -> None:
        """Stop publishing."""
        await asyncio.to_thread(self._publisher.close)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = request_of(scope)
        try:
            found = await self._found(request)
        except HttpError as error:
            note_cause(request, error)
            found = _error_page(request, error) if _wants_page(request) else error_response(error)
        if CORS[0] not in found.fields:  # files have it
            found = replace(found, fields=[*found.fields, *CORS])
        await found(scope, receive, send)

    async def _found(self, request: Request) -> Response:
        """Return the requested file, or the response to a preflight request."""
        if request.method == "OPTIONS" and request.header(b"access-control-request-method"):
            return Response(204, fields_of(_PREFLIGHT))
        if request.method not in ("GET", "HEAD"):
            raise HttpError(405, headers={"allow": "GET, HEAD"})
        # An escaped slash is part of a name that no file has (RFC 3986 §2.2).
        if b"%2f" in (request.raw_path or b"").lower():
            raise HttpError(404)
        name = request.path.removeprefix(request.prefix).removeprefix(FOLDER)
        name += PAGE if name.endswith("/") or not name else ""
        file = await self._folder.file(name)
        if file is None and await self._folder.file(f"{name}/{PAGE}") is not None:
            headers = {"location": f"{name.rpartition('/')[2]}/", "cache-control": "no-store"}
            return Response(307, fields_of(headers, b""))
        if file is None:
            raise HttpError(404)
        return file.response(request)


def _wants_page(request: Request) -> bool:
    """Return whether a browser requests a page to show; its other requests do not accept HTML."""
    return "text/html" in request.header(b"accept")


def _error_page(request: Request, error: HttpError) -> Response:
    """Return an error as a page, which reloads automatically if a retry may help."""
    detail = "There is no such page" if error.status == 404 else error.detail
    page = _ERROR_PAGE.format(detail=html.escape(detail), home=html.escape(request.prefix + FOLDER)).encode()
    headers = {"cache-control": "no-store", "content-type": _MEDIA_TYPES["html"], **error.headers}
    if "retry-after" in headers:
        headers["refresh"] = headers["retry-after"]
    return Response(error.status, [*fields_of(headers, page), *PAGE_FIELDS], page)
