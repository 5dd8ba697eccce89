"""The files of the published gallery in a folder, for any static host (contract L1)."""

import errno
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from logoadmin.atomic_files import atomic_file
from logoadmin.domain.kernel.errors import StartError

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]  # not on Windows

# The one folder in the folder.
_STYLES: Final = "css"
# What web servers, which often run as another user, must be able to read.
_PUBLIC_FILE: Final = 0o644
_PUBLIC_FOLDER: Final = 0o755


class FolderGalleryFiles:
    """Implements :class:`~logoadmin.ports.publication.gallery_files.GalleryFiles`; the folder is created if needed."""

    def __init__(self, folder: Path) -> None:
        """Use a folder, whose parent must exist."""
        self._folder = folder

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder itself, so that a killed program leaves no lock.

        Raises:
            StartError: another program publishes here.
            OSError: there can be no such folder.
        """
        _make(self._folder)
        handle = os.open(self._folder, os.O_RDONLY)
        try:
            if fcntl is not None:
                self._lock(handle)
            yield
        finally:
            os.close(handle)

    def _lock(self, handle: int) -> None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # Some file systems have no such locks, as NFS of folders.
            if error.errno in {errno.EWOULDBLOCK, errno.EACCES}:
                text = f"Another logoadmin publish is writing into {self._folder}"
                raise StartError(text, "wait until it ends") from None

    def names(self) -> Collection[str]:
        """Return the names of everything in the folder, and of files in ``css``; only real files look like ours."""
        found = []
        for entry in os.scandir(self._folder):
            if entry.name == _STYLES and entry.is_dir(follow_symlinks=False):
                found += [f"{_STYLES}/{_shown(inner)}" for inner in os.scandir(entry.path)]
            else:
                found.append(_shown(entry))
        return found

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or None; links are not followed."""
        path = self._folder / name
        try:
            return None if path.is_symlink() else path.read_bytes()
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """Write a file under another name, sync it to the disk and rename it.

        Raises:
            StartError: its name or its folder is a link, which may lead anywhere.
            OSError: it cannot be written.
        """
        path = self._folder / name
        for place in {path, path.parent} - {self._folder}:
            if place.is_symlink():
                raise StartError(f"{place} is a link, which is not followed", "remove it")
        _make(path.parent)
        try:
            with atomic_file(path) as part:
                part.write_bytes(content)
                part.chmod(_PUBLIC_FILE)
                _date_later(part, path)
        except OSError as error:  # a full disk names no file
            raise OSError(error.errno, error.strerror, str(path)) from None

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        (self._folder / name).unlink(missing_ok=True)


def _make(folder: Path) -> None:
    if not folder.is_dir():
        folder.mkdir()
        folder.chmod(_PUBLIC_FOLDER)


def _date_later(part: Path, replaced: Path) -> None:
    """Date a file at least a second later than its predecessor.

    Web servers such as nginx make entity tags from the second and the size, so that of two pointers of one second,
    readers would never see the later one.
    """
    with suppress(FileNotFoundError):
        after = int(replaced.stat().st_mtime) + 1
        if part.stat().st_mtime < after:
            os.utime(part, (after, after))


def _shown(entry: "os.DirEntry[str]") -> str:
    """Return the name of a file; that of anything else, such as a link, is never the name of a file of ours."""
    return entry.name if entry.is_file(follow_symlinks=False) else f"{entry.name}/"
