"""The pictures."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from logoadmin.adapters.memory_storage.tables import PictureRow, Repository
from logoadmin.domain.kernel.kinds import KINDS, PICTURE_FIELDS
from logoadmin.domain.kernel.pictures import picture_of
from logoadmin.domain.kernel.records import Kind
from logoadmin.ports.gallery.picture_storage import StoredPicture

_NAMED = PictureRow()


class MemoryPictures(Repository):
    """The pictures, as :class:`~logoadmin.ports.gallery.picture_storage.Pictures` says."""

    def get(self, picture: str) -> StoredPicture | None:
        return self._tables.pictures.get(picture, _NAMED).stored

    def sent_as(self, sha256: str) -> StoredPicture | None:
        stored = (row.stored for row in self._tables.pictures.values())
        return next((each for each in stored if each is not None and each.sent == sha256), None)

    def content(self, picture: str, *, thumbnail: bool) -> bytes | None:
        files = self._tables.pictures.get(picture, _NAMED).files
        return None if files is None else files[thumbnail]

    def add(self, stored: StoredPicture, content: bytes, thumbnail: bytes) -> None:
        row = self._tables.pictures.get(stored.picture, _NAMED)
        self._set(stored.picture, replace(row, stored=stored, files=(content, thumbnail)))

    def touch(self, picture: str, sent_at: int) -> None:
        row = self._tables.pictures[picture]
        if row.stored is not None:
            self._set(picture, replace(row, stored=replace(row.stored, sent_at=sent_at)))

    def remove(self, picture: str) -> None:
        row = self._tables.pictures[picture]
        if row.stored is not None:
            self._set(picture, replace(row, stored=replace(row.stored, is_removed=True), files=None))

    def name(self, named: Collection[str]) -> None:
        for picture in named:
            row = self._tables.pictures.get(picture, _NAMED)
            if not row.is_named:
                self._set(picture, replace(row, is_named=True))

    def forget_unnamed(self, sent_before: int, most: int) -> int:
        found = self._unnamed(sent_before)[:most]
        for picture in found:
            self._journal.delete(self._tables.pictures, picture)
        return len(found)

    def has_unnamed(self, sent_before: int) -> bool:
        return bool(self._unnamed(sent_before))

    def named(self) -> int:
        return sum(row.is_named and row.files is not None for row in self._tables.pictures.values())

    def space(self) -> int:
        return sum(len(file) for row in self._tables.pictures.values() for file in row.files or ())

    def sizes(self) -> Mapping[str, tuple[int, int]]:
        rows = self._tables.pictures.items()
        return {key: (row.stored.width, row.stored.height) for key, row in rows if row.stored and row.files}

    def page(self, after: str, limit: int) -> tuple[str, ...]:
        rows = self._tables.pictures.items()
        return tuple(sorted(picture for picture, row in rows if picture > after and row.files)[:limit])

    def namings(self) -> Iterable[tuple[str, Kind, int]]:
        return [
            (picture, kind, KINDS[kind].id_of(record))
            for kind, field in PICTURE_FIELDS.items()
            for record in self._tables.records[kind].values()
            if (picture := picture_of(getattr(record, field)))
        ]

    def _unnamed(self, sent_before: int) -> list[str]:
        return [
            picture
            for picture, row in self._tables.pictures.items()
            if row.stored and row.files and not row.is_named and row.stored.sent_at < sent_before
        ]

    def _set(self, picture: str, row: PictureRow) -> None:
        self._journal.set(self._tables.pictures, picture, row)
