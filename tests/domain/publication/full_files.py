"""Files on a full disk."""

import errno

from logoadmin.adapters.memory_gallery_files import MemoryGalleryFiles
from logoadmin.domain.publication.publication_records import POINTER


class FullFiles(MemoryGalleryFiles):
    """Files of which only the pointer can be written."""

    def write(self, name: str, content: bytes) -> None:
        if name != POINTER:
            raise OSError(errno.ENOSPC, "No space left on device")
        super().write(name, content)
