"""The storage of the files of the published gallery (contract L1)."""

from collections.abc import Collection, Hashable, Iterable
from contextlib import AbstractContextManager
from math import inf
from typing import Protocol, runtime_checkable


@runtime_checkable
class GalleryFiles(Protocol):
    """The files below ``/gallery/`` by their names, such as ``css/ab.css``. Used by one thread.

    Every method may raise OSError. ``str()`` returns the location.
    """

    def locked(self) -> AbstractContextManager[None]:
        """Prevent others from publishing here until the end of the context.

        Raises:
            StartError: another process is publishing here.
        """

    def lease(self) -> AbstractContextManager[object] | None:
        """Return a context in which only this process publishes here in the background; None if another one does.

        It ends with the process at the latest, and does not prevent :meth:`locked`.
        """

    def names(self) -> Collection[str]:
        """Return the names of all files, hidden ones included, and of unknown directories."""

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, None if it does not exist."""

    def stamp(self, name: str) -> Hashable | None:
        """Return a value that changes when the file is replaced, None if it does not exist; this is quick."""

    def write(self, name: str, content: bytes) -> None:
        """Store a file, replacing an earlier one: whole or not at all. On return it is durable."""

    def write_many(self, contents: Iterable[tuple[str, bytes]]) -> None:
        """Store files by name, each as by :meth:`write`; this is faster than one by one."""

    def oldest_first(self, names: Iterable[str], before: float = inf) -> list[str]:
        """Return the names of existing files that were last changed before a Unix time, the oldest first."""

    def touch(self, names: Iterable[str], at: int) -> None:
        """Set the modification times of existing files, as Unix time."""

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
