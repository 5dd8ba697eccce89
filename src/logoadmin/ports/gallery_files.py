"""Where the files of the published gallery go (contract L1)."""

from collections.abc import Collection, Hashable, Iterable
from contextlib import AbstractContextManager
from math import inf
from typing import Protocol


class GalleryFiles(Protocol):
    """The files below ``/gallery/`` by their names, such as ``css/ab.css``. Used by one thread.

    Every method may raise OSError. As a text, they are the place where they are.
    """

    def locked(self) -> AbstractContextManager[None]:
        """Let nobody else publish here until the end of the context.

        Raises:
            StartError: somebody else does.
        """

    def lease(self) -> AbstractContextManager[object] | None:
        """Return a context in which this process alone publishes here in the background; None if another one does.

        It ends with the process at the latest, and keeps nobody from :meth:`locked`.
        """

    def names(self) -> Collection[str]:
        """Return the names of all files, hidden ones included, and of unknown directories."""

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, None if it does not exist."""

    def stamp(self, name: str) -> Hashable | None:
        """Return a value that is another one once the file was replaced, None if it does not exist; this is quick."""

    def write(self, name: str, content: bytes) -> None:
        """Store a file, in place of an earlier one: whole or not at all. On return it is durable."""

    def write_many(self, contents: Iterable[tuple[str, bytes]]) -> None:
        """Store files by name, each as :meth:`write` does; many take less time than one by one."""

    def oldest_first(self, names: Iterable[str], before: float = inf) -> list[str]:
        """Return the names of existing files that were last changed before a Unix time, the oldest first."""

    def touch(self, names: Iterable[str], at: int) -> None:
        """Date existing files, as if they had been changed at a Unix time."""

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
