"""The repository of pictures."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from sqlalchemy import bindparam, func, select

from logoadmin.adapters.sql_storage.repository import Repository
from logoadmin.adapters.sql_storage.statements import KEY
from logoadmin.adapters.sql_storage.tables.all_tables import TABLES
from logoadmin.adapters.sql_storage.tables.gallery_tables import pictures
from logoadmin.domain.kernel.kinds import KINDS, PICTURE_FIELDS, PICTURE_FOLDER
from logoadmin.domain.kernel.pictures import picture_of
from logoadmin.domain.kernel.records import Kind
from logoadmin.ports.gallery.picture_storage import StoredPicture

_LIMIT: Any = bindparam("limit")
_IS_STORED = pictures.c.stored_bytes > 0
# In the order of the fields of a StoredPicture.
_COLUMNS: Final = (
    *(pictures.c.picture, pictures.c.sent_sha256, pictures.c.sent_at, pictures.c.width, pictures.c.height),
    *(pictures.c.frames, pictures.c.size, pictures.c.removed),
)
_UNNAMED = (
    select(pictures.c.picture)
    .where(pictures.c.named == bindparam("named"), pictures.c.sent_at < bindparam("sent_before"), _IS_STORED)
    .limit(_LIMIT)
)
_NAMED = select(func.count()).select_from(pictures).where(pictures.c.named == KEY, _IS_STORED)
_SPACE = select(func.sum(pictures.c.stored_bytes))
_SIZES = select(pictures.c.picture, pictures.c.width, pictures.c.height).where(_IS_STORED)
_ABOVE = select(pictures.c.picture).where(pictures.c.picture > KEY, _IS_STORED)
_PAGE = _ABOVE.order_by(pictures.c.picture).limit(_LIMIT)
_NAMING: Final = {
    kind: select(TABLES[kind].c[KINDS[kind].id_field], TABLES[kind].c[field]).where(TABLES[kind].c[field].like(KEY))
    for kind, field in PICTURE_FIELDS.items()
}


class SqlPictures(Repository):
    """Implements :class:`~logoadmin.ports.gallery.picture_storage.Pictures`."""

    def get(self, picture: str) -> StoredPicture | None:
        return self._stored(picture=picture)

    def sent_as(self, sha256: str) -> StoredPicture | None:
        return self._stored(sent_sha256=sha256)

    def content(self, picture: str, *, thumbnail: bool) -> bytes | None:
        row = self._find(pictures.c.thumbnail if thumbnail else pictures.c.content, picture=picture)
        return None if row is None or row[0] is None else bytes(row[0])

    def add(self, stored: StoredPicture, content: bytes, thumbnail: bytes) -> None:
        values = {
            "sent_sha256": stored.sent,
            "sent_at": stored.sent_at,
            "width": stored.width,
            "height": stored.height,
            "frames": stored.frames,
            "size": stored.size,
            "stored_bytes": len(content) + len(thumbnail),
            "content": content,
            "thumbnail": thumbnail,
        }
        if not self._update(pictures, {"picture": stored.picture}, values):
            self._add(pictures, {"picture": stored.picture, "named": False, "removed": False, **values})

    def touch(self, picture: str, sent_at: int) -> None:
        self._update(pictures, {"picture": picture}, {"sent_at": sent_at})

    def remove(self, picture: str) -> None:
        values = {"removed": True, "stored_bytes": 0, "content": None, "thumbnail": None}
        self._update(pictures, {"picture": picture}, values)

    def name(self, named: Collection[str]) -> None:
        for picture in named:
            if not self._update(pictures, {"picture": picture}, {"named": True}):
                empty = dict.fromkeys(("sent_at", "width", "height", "frames", "size", "stored_bytes"), 0)
                self._add(pictures, {"picture": picture, "named": True, "removed": False, **empty})

    def forget_unnamed(self, sent_before: int, most: int) -> int:
        found = self._unnamed(sent_before, most)
        return sum(self._remove(pictures, picture=picture) for picture in found)

    def has_unnamed(self, sent_before: int) -> bool:
        return bool(self._unnamed(sent_before, 1))

    def named(self) -> int:
        ((count,),) = self._transaction.rows(_NAMED, {"key": True})
        return int(count)

    def space(self) -> int:
        ((total,),) = self._transaction.rows(_SPACE, {})
        return int(total or 0)

    def sizes(self) -> Mapping[str, tuple[int, int]]:
        return {picture: (width, height) for picture, width, height in self._transaction.rows(_SIZES, {})}

    def page(self, after: str, limit: int) -> tuple[str, ...]:
        return tuple(picture for (picture,) in self._transaction.rows(_PAGE, {"key": after, "limit": limit}))

    def namings(self) -> Iterable[tuple[str, Kind, int]]:
        return [
            (picture, kind, id_)
            for kind, statement in _NAMING.items()
            for id_, url in self._transaction.rows(statement, {"key": f"%{PICTURE_FOLDER}%"})
            if (picture := picture_of(url))
        ]

    def _unnamed(self, sent_before: int, most: int) -> list[str]:
        given = {"named": False, "sent_before": sent_before, "limit": most}
        return [picture for (picture,) in self._transaction.rows(_UNNAMED, given)]

    def _stored(self, **by: str) -> StoredPicture | None:
        row = self._find(*_COLUMNS, **by)
        if row is None or row[1] is None:  # only named
            return None
        return StoredPicture(*row)
