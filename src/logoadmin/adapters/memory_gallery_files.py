"""The files of the published gallery in memory: for a database in memory, and as the reference for other adapters."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from math import inf
from time import time

from logoadmin.domain.kernel.errors import StartError


@dataclass(slots=True)
class MemoryGalleryFiles:
    """The :class:`~logoadmin.ports.gallery_files.GalleryFiles` of a dictionary."""

    files: dict[str, bytes] = field(default_factory=dict)
    changed_at: dict[str, float] = field(default_factory=dict)
    is_locked: bool = False

    def __str__(self) -> str:
        return "memory"

    @contextmanager
    def locked(self) -> Iterator[None]:
        if self.is_locked:
            raise StartError("Another logoadmin publish is writing into memory")
        self.is_locked = True
        try:
            yield
        finally:
            self.is_locked = False

    def lease(self) -> AbstractContextManager[object]:
        """No other process knows the dictionary."""
        return nullcontext()

    def names(self) -> Collection[str]:
        return tuple(self.files.copy())

    def read(self, name: str) -> bytes | None:
        return self.files.get(name)

    def stamp(self, name: str) -> bytes | None:
        return self.files.get(name)

    def write(self, name: str, content: bytes) -> None:
        self.files[name] = content
        self.changed_at[name] = time()

    def write_many(self, contents: Iterable[tuple[str, bytes]]) -> None:
        for name, content in contents:
            self.write(name, content)

    def oldest_first(self, names: Iterable[str], before: float = inf) -> list[str]:
        found = sorted((self.changed_at.get(name, 0), name) for name in names if name in self.files)
        return [name for changed_at, name in found if changed_at < before]

    def touch(self, names: Iterable[str], at: int) -> None:
        self.changed_at.update((name, at) for name in names if name in self.files)

    def remove(self, name: str) -> None:
        self.files.pop(name, None)
        self.changed_at.pop(name, None)
