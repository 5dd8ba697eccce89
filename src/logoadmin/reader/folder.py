"""Stores for the files of a reader: a folder, or memory (contract L6)."""

import os
import re
import tempfile
from pathlib import Path
from typing import Final, Protocol

_NAME: Final = re.compile(r"[0-9a-z.]+")


class Store(Protocol):
    """Bytes by name. Errors are harmless: bytes that cannot be read or written are downloaded again."""

    def get(self, name: str) -> bytes | None:
        """Return the bytes stored under a name, or None."""

    def set(self, name: str, content: bytes) -> None:
        """Replace the bytes stored under a name, atomically."""


class MemoryStore(dict[str, bytes]):
    """A store that lasts as long as the process."""

    set = dict.__setitem__


class FolderStore:
    """A store with one file for each name, which is complete at any time. The folder is created when needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, name: str) -> bytes | None:
        """Return the content of a file; None if it cannot be read."""
        try:
            return self._file(name).read_bytes()
        except OSError:
            return None

    def set(self, name: str, content: bytes) -> None:
        """Write a file, unless that fails."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            _replace(self._file(name), content)
        except OSError:
            return

    def _file(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError(f"not the name of a file: {name!r}")
        return self._folder / name


def _replace(file: Path, content: bytes) -> None:
    """Write a file under a temporary name, and rename it when the content is on the disk.

    The reader imports nothing from the rest of logoadmin, so that it can be installed alone.
    """
    handle, part = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, file)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
