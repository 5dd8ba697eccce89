"""The files of the published gallery in a folder, for any static host (contract L1)."""

import errno
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from math import inf
from pathlib import Path
from typing import Final

from logoadmin.atomic_files import atomic_file
from logoadmin.domain.kernel.errors import StartError
from logoadmin.domain.publication.files.file_names import LEASE

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]  # not on Windows

# The sub-folders.
_FOLDERS: Final = frozenset(("authors", "checks", "css", "logos", "pictures", "themes"))
# The sub-folders with a folder for each page.
_OF_PAGES: Final = frozenset(("authors", "logos", "themes"))
# Readable by web servers, which often run as another user.
_PUBLIC_FILE: Final = 0o644
_PUBLIC_FOLDER: Final = 0o755
# The first of many files are synced one by one; syncing everything once may also write other programs' data.
_SYNCED_ALONE: Final = 32
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)


class FolderGalleryFiles:
    """Implements :class:`~logoadmin.ports.gallery_files.GalleryFiles`; the parent of the folder must exist."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __str__(self) -> str:
        return str(self._folder)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder itself, so that a killed program leaves no lock."""
        _make(self._folder)
        handle = os.open(self._folder, os.O_RDONLY)
        try:
            if not _locks(handle):
                text = f"Another logoadmin publish is writing into {self._folder}"
                raise StartError(text, "wait until it ends")
            yield
        finally:
            os.close(handle)

    def lease(self) -> AbstractContextManager[object] | None:
        """Lock a file in the folder, until the process ends."""
        _make(self._folder)
        file = os.fdopen(os.open(self._folder / LEASE, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600), "rb")
        if _locks(file.fileno()):
            return file
        file.close()
        return None

    def names(self) -> Collection[str]:
        """Return the names of everything here, and of files in the sub-folders; only real files look like ours."""
        return [*_names_in(self._folder, "")]

    def read(self, name: str) -> bytes | None:
        """Links are not followed."""
        path = self._folder / name
        try:
            return None if path.is_symlink() else path.read_bytes()
        except FileNotFoundError:
            return None

    def stamp(self, name: str) -> tuple[int, int, int] | None:
        """Inode, time and size differ after a rename."""
        try:
            found = os.stat(self._folder / name, follow_symlinks=False)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def write(self, name: str, content: bytes) -> None:
        """Write a file under another name, sync it to the disk and rename it.

        Raises:
            StartError: its name or its folder is a link, which may point anywhere.
        """
        self._write(name, content, durable=True)

    def write_many(self, contents: Iterable[tuple[str, bytes]]) -> None:
        """Sync many files together."""
        count = 0
        for name, content in contents:
            self._write(name, content, durable=count < _SYNCED_ALONE or not hasattr(os, "sync"))
            count += 1
        if count > _SYNCED_ALONE and hasattr(os, "sync"):
            os.sync()

    def _write(self, name: str, content: bytes, *, durable: bool) -> None:
        path = self._folder / name
        parents = [each for each in reversed(path.parents) if self._folder in each.parents]
        for place in (*parents, path):
            if place.is_symlink():
                raise StartError(f"{place} is a link, which is not followed", "remove it")
        for parent in parents:
            _make(parent)
        try:
            with atomic_file(path, durable=durable) as part:
                part.write_bytes(content)
                part.chmod(_PUBLIC_FILE)
                _date_later(part, path)
        except OSError as error:  # a full disk names no file
            raise OSError(error.errno, error.strerror, str(path)) from None

    def oldest_first(self, names: Iterable[str], before: float = inf) -> list[str]:
        found: list[tuple[float, str]] = []
        for name in names:
            with suppress(FileNotFoundError):
                found.append((os.stat(self._folder / name, follow_symlinks=False).st_mtime, name))
        return [name for changed_at, name in sorted(found) if changed_at < before]

    def touch(self, names: Iterable[str], at: int) -> None:
        for name in names:
            with suppress(FileNotFoundError):
                os.utime(self._folder / name, (at, at), follow_symlinks=False)

    def remove(self, name: str) -> None:
        """Remove also the folder of a page that this empties."""
        path = self._folder / name
        path.unlink(missing_ok=True)
        if path.parent.parent != self._folder.parent and path.parent.parent != self._folder:
            with suppress(OSError):  # it has other files
                path.parent.rmdir()


def _names_in(folder: Path | str, name: str) -> Iterator[str]:
    """Yield the names of everything in a folder, which begin with the name of the folder itself."""
    for entry in os.scandir(folder):
        found = f"{name}{entry.name}"
        is_ours = found in _FOLDERS or name.rstrip("/") in _OF_PAGES
        if is_ours and entry.is_dir(follow_symlinks=False):
            yield from _names_in(entry.path, f"{found}/")
        else:
            yield found if entry.is_file(follow_symlinks=False) else f"{found}/"


def _locks(handle: int) -> bool:
    """Lock a file until it is closed; return False if another process has locked it."""
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # Some file systems, such as NFS, cannot lock folders.
        return error.errno not in {errno.EWOULDBLOCK, errno.EACCES}
    return True


def _make(folder: Path) -> None:
    if not folder.is_dir():
        folder.mkdir()
        folder.chmod(_PUBLIC_FOLDER)


def _date_later(part: Path, replaced: Path) -> None:
    """Date a file at least a second after its predecessor.

    Web servers such as nginx derive entity tags from the time in seconds and the size, so readers would never see the
    later of two pointers within a second.
    """
    with suppress(FileNotFoundError):
        after = int(replaced.stat().st_mtime) + 1
        if part.stat().st_mtime < after:
            os.utime(part, (after, after))
