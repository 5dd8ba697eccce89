"""Galleries in memory, and the files into which they publish."""

import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from logoadmin import LogoAdmin
from logoadmin.adapters.memory_gallery_files import MemoryGalleryFiles
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.publication.files.pointer import Pointer, parsed
from logoadmin.domain.publication.publication_records import POINTER
from logoadmin.settings import settings_of


@contextmanager
def opened(**given: Any) -> Iterator[LogoAdmin]:
    with open_gallery(settings_of(database="memory:", access="open", **given)) as gallery:
        yield gallery


class RecordedFiles(MemoryGalleryFiles):
    """Files that record the names of those written, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[str] = []

    def write(self, name: str, content: bytes) -> None:
        self.written.append(name)
        super().write(name, content)

    def written_by(self, gallery: LogoAdmin, ending: str) -> set[str]:
        """Publish, and return the names with an ending that were written."""
        self.written.clear()
        gallery.publication.publish(self)
        return {name for name in self.written if name.endswith(ending)}

    def ending_in(self, ending: str) -> dict[str, bytes]:
        return {name: content for name, content in self.files.items() if name.endswith(ending)}

    def text(self, name: str) -> str:
        return self.files.get(name, b"").decode()

    @property
    def pointer(self) -> Pointer:
        return parsed(self.files[POINTER])

    @property
    def index(self) -> Any:
        return json.loads(self.files[self.pointer.index["path"]])


class FullFiles(MemoryGalleryFiles):
    """Files of which only the pointer can be written, because the disk is full."""

    def write(self, name: str, content: bytes) -> None:
        if name != POINTER:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().write(name, content)
