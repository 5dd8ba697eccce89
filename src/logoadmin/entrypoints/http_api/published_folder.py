"""The files of a published folder, as this process serves them: compressed once (contract L1, L2)."""

import asyncio
import logging
import time
from collections.abc import Hashable
from contextlib import suppress
from math import inf
from typing import Final

from cachetools import LRUCache

from logoadmin.domain.kernel.kinds import PICTURE_FOLDER
from logoadmin.domain.publication.files.file_names import CHANGING_NAME, IMMUTABLE_NAME
from logoadmin.domain.publication.files.pointer import parsed
from logoadmin.domain.publication.publication_records import POINTER, READER
from logoadmin.entrypoints.http_api.dispatch import SingleFlight
from logoadmin.entrypoints.http_api.errors import HttpError
from logoadmin.entrypoints.http_api.gallery_files import PublishedFile, pointer_file
from logoadmin.ports.gallery_files import GalleryFiles

log = logging.getLogger("logoadmin.http")

# Files besides the pointer, its index and the reader, in all codings.
_OTHER_BYTES: Final = 67_108_864


class PublishedFolder:
    """Looks up the files of a folder into which some process publishes. Only for use in the event loop."""

    def __init__(self, files: GalleryFiles, *, interval: float = 1.0) -> None:
        """Serve a folder, which is read on demand; its pointer is compared with the last one every few seconds."""
        self._folder, self._interval = files, interval
        self._flight = SingleFlight()
        self._files: dict[str, PublishedFile] = {}
        self._others: LRUCache[str, PublishedFile] = LRUCache(_OTHER_BYTES, lambda file: file.size)
        self._index = ""
        self._stamp: Hashable | None = None
        self._is_current = False
        self._next_look = -inf

    def at_hand(self, name: str) -> PublishedFile | None:
        """Return a file without waiting; None if it must be read first, or does not exist."""
        if time.monotonic() >= self._next_look:
            self.look_now()
        return None if name == POINTER and not self._is_current else self._current(name)

    def look_now(self) -> None:
        """Notice another pointer up to this moment."""
        stamp = self._folder.stamp(POINTER)
        self._next_look = time.monotonic() + self._interval
        if stamp != self._stamp:
            self._stamp, self._is_current = stamp, False

    async def file(self, name: str) -> PublishedFile | None:
        """Return a file by its name relative to ``/gallery/``, or None.

        Raises:
            HttpError: nothing has been published yet.
        """
        if name != POINTER and not any(pattern.fullmatch(name) for pattern in (IMMUTABLE_NAME, CHANGING_NAME)):
            return None
        if time.monotonic() >= self._next_look:
            self.look_now()
        if not self._is_current:
            await self._flight.run(POINTER, self._read_pointer)
        found = self._current(name)
        if found is None and name != POINTER:
            found = await self._flight.run(name, self._read, name)
        if POINTER not in self._files:
            raise HttpError(503, "The gallery is not published yet; try again in a few seconds", {"retry-after": "1"})
        return found

    def _current(self, name: str) -> PublishedFile | None:
        """Return a file that was read already, unless another one has replaced it."""
        file = self._files.get(name) or self._others.get(name)
        is_changed = file is not None and file.stamp is not None and file.stamp != self._folder.stamp(name)
        return None if is_changed else file

    async def _read_pointer(self) -> None:
        """Read the pointer, and forget the files that are no longer there."""
        stamp = self._stamp
        try:
            content, names = await asyncio.to_thread(self._pointer_and_names)
            if content is None:
                self._files.pop(POINTER, None)
            else:
                self._files[POINTER], self._index = pointer_file(content), str(parsed(content).index["path"])
        except (OSError, ValueError) as error:  # the last pointer is still served
            log.error("The published gallery cannot be read: %s", error)
            return
        self._is_current = stamp == self._stamp
        for name in self._files.keys() - {POINTER, self._index, READER}:
            self._keep(name, self._files.pop(name))
        for name in [*self._files, *self._others]:
            if name not in names:
                self._files.pop(name, None)
                self._others.pop(name, None)

    def _pointer_and_names(self) -> tuple[bytes | None, frozenset[str]]:
        content = self._folder.read(POINTER)
        names = frozenset() if content is None else frozenset(self._folder.names())
        return content, names

    async def _read(self, name: str) -> PublishedFile | None:
        file = await asyncio.to_thread(self._prepared, name)
        if file is None:
            self._files.pop(name, None)
            self._others.pop(name, None)
        else:
            self._keep(name, file)
        return file

    def _prepared(self, name: str) -> PublishedFile | None:
        """Return a file, which is compressed with gzip here."""
        try:
            # Before the content: a file that is replaced in between is read again the next time.
            stamp = self._folder.stamp(name) if _is_checked(name) else None
            content = self._folder.read(name)
        except OSError as error:
            log.error("The published gallery cannot be read: %s", error)
            return None
        return None if content is None else PublishedFile(name, content, stamp=stamp)

    def _keep(self, name: str, file: PublishedFile) -> None:
        if name in {self._index, READER}:
            self._files[name] = file
        else:
            with suppress(ValueError):  # it is too large
                self._others[name] = file


def _is_checked(name: str) -> bool:
    """Return whether a file may change, or leave the folder before the pointer does: a picture that was taken down."""
    return name.startswith(PICTURE_FOLDER) or CHANGING_NAME.fullmatch(name) is not None
