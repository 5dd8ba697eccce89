"""The files of the published folder, compressed once and kept in memory (contract L1, L2)."""

import asyncio
import logging
import time
from collections.abc import Hashable
from contextlib import suppress
from math import inf
from typing import Final
from weakref import WeakValueDictionary

from cachetools import LRUCache

from logoadmin.domain.kernel.kinds import PICTURE_FOLDER
from logoadmin.domain.publication.files.file_names import CHANGING_NAME, IMMUTABLE_NAME
from logoadmin.domain.publication.files.pointer import parsed
from logoadmin.domain.publication.publication_records import FEED, POINTER, READER
from logoadmin.entrypoints.http_api.conditions import Fields, StaticFile
from logoadmin.entrypoints.http_api.errors import HttpError
from logoadmin.entrypoints.http_api.operation import JSON
from logoadmin.ports.gallery_files import GalleryFiles
from logoadmin.ports.gallery_page import POLICY

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


log = logging.getLogger("logoadmin.http")

# The memory for files besides the pointer, in all codings.
_MOST_BYTES: Final = 67_108_864


class PublishedFolder:
    """The files of a folder into which some process publishes. Only for use in the event loop."""

    def __init__(self, files: GalleryFiles, *, interval: float = 1.0) -> None:
        """Read a folder on demand, and check its pointer for changes every ``interval`` seconds."""
        self._folder, self._interval = files, interval
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._pointer: PublishedFile | None = None
        self._files: LRUCache[str, PublishedFile] = LRUCache(_MOST_BYTES, lambda file: file.size)
        self._stamp: Hashable | None = None
        self._is_current = False
        self._next_look = -inf

    def look_now(self) -> None:
        """Check for a changed pointer now."""
        stamp = self._folder.stamp(POINTER)
        self._next_look = time.monotonic() + self._interval
        if stamp != self._stamp:
            self._stamp, self._is_current = stamp, False

    async def file(self, name: str) -> PublishedFile | None:
        """Return a file by its name relative to ``/gallery/``, or None."""
        if name != POINTER and not any(pattern.fullmatch(name) for pattern in (IMMUTABLE_NAME, CHANGING_NAME)):
            return None
        if time.monotonic() >= self._next_look:
            self.look_now()
        if not self._is_current:
            async with self._lock(POINTER):
                if not self._is_current:
                    await self._read_pointer()
        found = self._current(name)
        if found is None and name != POINTER:
            async with self._lock(name):
                found = self._current(name) or await self._read(name)
        if self._pointer is None:
            raise HttpError(503, "The gallery is not published yet; try again in a few seconds", {"retry-after": "1"})
        return found

    def _lock(self, name: str) -> asyncio.Lock:
        """Return a lock, so that simultaneous requests read a file once."""
        return self._locks.setdefault(name, asyncio.Lock())

    def _current(self, name: str) -> PublishedFile | None:
        """Return a file that was read before, unless it has been replaced."""
        file = self._pointer if name == POINTER else self._files.get(name)
        is_changed = file is not None and file.stamp is not None and file.stamp != self._folder.stamp(name)
        return None if is_changed else file

    async def _read_pointer(self) -> None:
        """Read the pointer, and drop files that no longer exist."""
        stamp = self._stamp
        try:
            content, names = await asyncio.to_thread(self._pointer_and_names)
            if content is not None:
                parsed(content)  # fails if it is not the pointer of a gallery
            self._pointer = None if content is None else PublishedFile(POINTER, content)
        except (OSError, ValueError) as error:  # the last pointer is still served
            log.error("The published gallery cannot be read: %s", error)
            return
        self._is_current = stamp == self._stamp
        for name in self._files.keys() - names:
            del self._files[name]

    def _pointer_and_names(self) -> tuple[bytes | None, frozenset[str]]:
        content = self._folder.read(POINTER)
        names = frozenset() if content is None else frozenset(self._folder.names())
        return content, names

    async def _read(self, name: str) -> PublishedFile | None:
        file = await asyncio.to_thread(self._prepared, name)
        self._files.pop(name, None)
        if file is not None:
            with suppress(ValueError):  # too large to keep
                self._files[name] = file
        return file

    def _prepared(self, name: str) -> PublishedFile | None:
        """Read a file, and compress it."""
        try:
            # Before the content, so that a file replaced in between is read again the next time.
            stamp = self._folder.stamp(name) if _is_checked(name) else None
            content = self._folder.read(name)
        except OSError as error:
            log.error("The published gallery cannot be read: %s", error)
            return None
        return None if content is None else PublishedFile(name, content, stamp)


def _is_checked(name: str) -> bool:
    """Return whether a file may change or, like a picture that is taken down, be removed before the pointer changes."""
    return name.startswith(PICTURE_FOLDER) or CHANGING_NAME.fullmatch(name) is not None
