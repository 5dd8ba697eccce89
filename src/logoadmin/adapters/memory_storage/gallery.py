"""The pictures and the withdrawals."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from heapq import nlargest
from operator import attrgetter
from typing import Any

from logoadmin.adapters.memory_storage.tables import PictureRow, Repository
from logoadmin.domain.kernel.limits import Ground
from logoadmin.domain.kernel.records import Kind
from logoadmin.ports.gallery_storage import PictureName, Standing, StoredPicture, Withdrawal


class MemoryPictures(Repository):
    """Implements :class:`~logoadmin.ports.gallery_storage.Pictures`."""

    def get(self, picture: str) -> StoredPicture | None:
        row = self._tables.pictures.get(picture)
        return None if row is None else row.stored

    def sent_as(self, sha256: str) -> StoredPicture | None:
        stored = (row.stored for row in self._tables.pictures.values())
        return next((each for each in stored if each.sent == sha256), None)

    def content(self, picture: str, *, thumbnail: bool) -> bytes | None:
        row = self._tables.pictures.get(picture)
        return None if row is None or row.files is None else row.files[thumbnail]

    def add(self, stored: StoredPicture, content: bytes, thumbnail: bytes) -> None:
        self._tables.pictures[stored.picture] = PictureRow(stored, (content, thumbnail))

    def keep(self, pictures: Collection[str], until: int) -> None:
        for row in self._rows(pictures):
            self._tables.pictures[row.stored.picture] = row._replace(kept_until=max(row.kept_until, until))

    def remove(self, picture: str) -> None:
        for row in self._rows([picture]):
            self._change(row._replace(files=None), is_removed=True)

    def note_in_history(self, pictures: Collection[str]) -> None:
        for row in self._rows(pictures):
            self._change(row, in_history=True)

    def forget_sender(self, user_id: int) -> None:
        for row in [row for row in self._tables.pictures.values() if row.stored.sender_id == user_id]:
            self._change(row, sender_id=None)

    def forget_unnamed(self, now: int, most: int) -> int:
        found = self._unnamed(now)[:most]
        for picture in found:
            del self._tables.pictures[picture]
        return len(found)

    def has_unnamed(self, now: int) -> bool:
        return bool(self._unnamed(now))

    def count(self) -> int:
        return sum(row.files is not None for row in self._tables.pictures.values())

    def space(self) -> int:
        return sum(row.bytes for row in self._tables.pictures.values())

    def space_of(self, sender_id: int) -> int:
        rows = self._tables.pictures.values()
        return sum(row.bytes for row in rows if row.stored.sender_id == sender_id and not row.stored.in_history)

    def shapes(self) -> Mapping[str, tuple[int, int, Ground]]:
        rows = [row.stored for row in self._tables.pictures.values() if row.files]
        return {stored.picture: (stored.width, stored.height, stored.ground) for stored in rows}

    def page(self, after: str, limit: int) -> tuple[StoredPicture, ...]:
        rows = self._tables.pictures
        found = sorted(picture for picture, row in rows.items() if picture > after and row.files)
        return tuple(rows[picture].stored for picture in found[:limit])

    def put_names(self, names: Iterable[PictureName]) -> None:
        for name in names:
            self._tables.picture_names[name.kind, name.id, name.picture] = name

    def drop_names(self, kind: str, *ids: int) -> None:
        dropped = set(ids)
        for key in [key for key in self._tables.picture_names if key[0] == kind and key[1] in dropped]:
            del self._tables.picture_names[key]

    def named_by(self, kind: str, id_: int) -> tuple[str, ...]:
        return tuple(sorted(name.picture for name in self._tables.picture_names.where(kind=kind, id=id_)))

    def names(self, picture: str, most: int) -> tuple[PictureName, ...]:
        found = self._tables.picture_names.where(picture=picture)
        return tuple(sorted(found, key=lambda name: -name.standing)[:most])

    def published(self) -> int:
        named = {name.picture for name in self._tables.picture_names.where(standing=Standing.PUBLISHED)}
        return sum(row.files is not None for row in self._rows(named))

    def taken_down(self) -> frozenset[str]:
        blocked = {name.picture for name in self._tables.picture_names.where(standing=Standing.BLOCKED)}
        return frozenset(filter(self.is_taken_down, blocked))

    def is_taken_down(self, picture: str) -> bool:
        standings = (name.standing for name in self._tables.picture_names.where(picture=picture))
        return max(standings, default=Standing.OTHER) is Standing.BLOCKED

    def _unnamed(self, now: int) -> list[str]:
        named = {name.picture for name in self._tables.picture_names.values()}
        return [
            picture
            for picture, row in self._tables.pictures.items()
            if row.files and not row.stored.in_history and row.kept_until < now and picture not in named
        ]

    def _rows(self, pictures: Iterable[str]) -> list[PictureRow]:
        return [self._tables.pictures[picture] for picture in pictures if picture in self._tables.pictures]

    def _change(self, row: PictureRow, **values: Any) -> None:
        self._tables.pictures[row.stored.picture] = row._replace(stored=replace(row.stored, **values))


_age = attrgetter("at", "kind", "id")


class MemoryWithdrawals(Repository):
    """Implements :class:`~logoadmin.ports.gallery_storage.Withdrawals`."""

    def get_many(self, kind: Kind, ids: Sequence[int]) -> tuple[Withdrawal, ...]:
        found = (self._tables.withdrawals.get((kind, id_)) for id_ in sorted(set(ids)))
        return tuple(each for each in found if each is not None)

    def put(self, *withdrawals: Withdrawal) -> None:
        for each in withdrawals:
            self._tables.withdrawals[each.kind, each.id] = each

    def drop(self, kind: Kind, *ids: int) -> None:
        for id_ in ids:
            self._tables.withdrawals.discard((kind, id_))

    def newest(self, since: int, limit: int) -> tuple[Withdrawal, ...]:
        return tuple(nlargest(limit, (each for each in self._tables.withdrawals.values() if each.at >= since), _age))

    def blocked(self, limit: int) -> tuple[Withdrawal, ...]:
        blocked = (each for each in self._tables.withdrawals.values() if each.reason is not None)
        return tuple(nlargest(limit, blocked, _age))
