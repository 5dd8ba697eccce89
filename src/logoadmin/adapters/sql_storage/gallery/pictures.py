"""The repository of pictures."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import bindparam, delete, exists, func, select, update

from logoadmin.adapters.sql_storage.repository import Repository
from logoadmin.adapters.sql_storage.statements import KEY, KEYS, Row, in_portions
from logoadmin.adapters.sql_storage.tables.gallery_tables import picture_names, pictures
from logoadmin.domain.kernel.limits import Ground
from logoadmin.ports.gallery_storage import PictureName, Standing, StoredPicture

_LIMIT: Any = bindparam("limit")
_IS_STORED = pictures.c.stored_bytes > 0
# In the order of the fields of a StoredPicture.
_COLUMNS: Final = (
    *(pictures.c.picture, pictures.c.sent_sha256, pictures.c.sent_at, pictures.c.width, pictures.c.height),
    *(
        pictures.c.frames,
        pictures.c.size,
        pictures.c.ground,
        pictures.c.removed,
        pictures.c.sender_id,
        pictures.c.named,
    ),
)
# A join: with "not exists", MariaDB would first read all names.
_UNNAMED = (
    select(pictures.c.picture)
    .outerjoin(picture_names, picture_names.c.picture == pictures.c.picture)
    .where(
        pictures.c.named == bindparam("named"),
        pictures.c.kept_until < bindparam("now"),
        _IS_STORED,
        picture_names.c.picture.is_(None),
    )
    .limit(_LIMIT)
)
_KEEP = (
    update(pictures)
    .where(pictures.c.picture == KEY, pictures.c.kept_until < bindparam("until"))
    .values(kept_until=bindparam("until"))
)
_COUNT = select(func.count()).where(_IS_STORED)
_SPACE = select(func.sum(pictures.c.stored_bytes))
_SPACE_OF = _SPACE.where(pictures.c.sender_id == KEY, pictures.c.named == bindparam("named"))
_SHAPES = select(pictures.c.picture, pictures.c.width, pictures.c.height, pictures.c.ground).where(_IS_STORED)
_PAGE = select(*_COLUMNS).where(pictures.c.picture > KEY, _IS_STORED).order_by(pictures.c.picture).limit(_LIMIT)

_BLOCKED = select(picture_names.c.picture).where(picture_names.c.standing == int(Standing.BLOCKED)).distinct()
_HIGHEST = select(func.max(picture_names.c.standing)).where(picture_names.c.picture == KEY)
_PUBLISHED = select(func.count(picture_names.c.picture.distinct())).where(
    picture_names.c.standing == int(Standing.PUBLISHED),
    exists().where(pictures.c.picture == picture_names.c.picture, _IS_STORED),
)
_NAMED_BY = (
    select(picture_names.c.picture)
    .where(picture_names.c.kind == bindparam("of_kind"), picture_names.c.record_id == KEY)
    .order_by(picture_names.c.picture)
)
_DROP_NAMES = delete(picture_names).where(
    picture_names.c.kind == bindparam("of_kind"), picture_names.c.record_id.in_([bindparam(key) for key in KEYS])
)
_NAMES = (
    select(picture_names).where(picture_names.c.picture == KEY).order_by(picture_names.c.standing.desc()).limit(_LIMIT)
)


class SqlPictures(Repository):
    """Implements :class:`~logoadmin.ports.gallery_storage.Pictures`."""

    def get(self, picture: str) -> StoredPicture | None:
        return self._stored(picture=picture)

    def sent_as(self, sha256: str) -> StoredPicture | None:
        return self._stored(sent_sha256=sha256)

    def content(self, picture: str, *, thumbnail: bool) -> bytes | None:
        row = self._find(pictures.c.thumbnail if thumbnail else pictures.c.content, picture=picture)
        return None if row is None or row[0] is None else bytes(row[0])

    def add(self, stored: StoredPicture, content: bytes, thumbnail: bytes) -> None:
        values = {
            "picture": stored.picture,
            "sent_sha256": stored.sent,
            "sent_at": stored.sent_at,
            "width": stored.width,
            "height": stored.height,
            "frames": stored.frames,
            "size": stored.size,
            "ground": stored.ground,
            "stored_bytes": len(content) + len(thumbnail),
            "named": stored.in_history,
            "removed": stored.is_removed,
            "content": content,
            "thumbnail": thumbnail,
            "sender_id": stored.sender_id,
            "kept_until": 0,
        }
        self._add(pictures, values)

    def keep(self, pictures: Collection[str], until: int) -> None:
        for picture in pictures:
            self._transaction.change(_KEEP, {"key": picture, "until": until})

    def remove(self, picture: str) -> None:
        values = {"removed": True, "stored_bytes": 0, "content": None, "thumbnail": None}
        self._update(pictures, {"picture": picture}, values)

    def note_in_history(self, named: Collection[str]) -> None:
        for picture in named:
            self._update(pictures, {"picture": picture}, {"named": True})

    def forget_sender(self, user_id: int) -> None:
        self._update(pictures, {"sender_id": user_id}, {"sender_id": None})

    def forget_unnamed(self, now: int, most: int) -> int:
        return sum(self._remove(pictures, picture=picture) for picture in self._unnamed(now, most))

    def has_unnamed(self, now: int) -> bool:
        return bool(self._unnamed(now, 1))

    def count(self) -> int:
        ((count,),) = self._transaction.rows(_COUNT, {})
        return int(count)

    def space(self) -> int:
        ((total,),) = self._transaction.rows(_SPACE, {})
        return int(total or 0)

    def space_of(self, sender_id: int) -> int:
        ((total,),) = self._transaction.rows(_SPACE_OF, {"key": sender_id, "named": False})
        return int(total or 0)

    def shapes(self) -> Mapping[str, tuple[int, int, Ground]]:
        return {
            picture: (width, height, ground) for picture, width, height, ground in self._transaction.rows(_SHAPES, {})
        }

    def page(self, after: str, limit: int) -> tuple[StoredPicture, ...]:
        return tuple(map(_picture, self._transaction.rows(_PAGE, {"key": after, "limit": limit})))

    def put_names(self, names: Iterable[PictureName]) -> None:
        self._transaction.hold_back(picture_names, names)

    def drop_names(self, kind: str, *ids: int) -> None:
        for some in in_portions(KEYS, ids):
            self._transaction.change(_DROP_NAMES, {"of_kind": kind, **some})

    def named_by(self, kind: str, id_: int) -> tuple[str, ...]:
        return tuple(picture for (picture,) in self._transaction.rows(_NAMED_BY, {"of_kind": kind, "key": id_}))

    def names(self, picture: str, most: int) -> tuple[PictureName, ...]:
        rows = self._transaction.rows(_NAMES, {"key": picture, "limit": most})
        return tuple(PictureName(kind, id_, picture, Standing(standing)) for kind, id_, _, standing in rows)

    def published(self) -> int:
        ((count,),) = self._transaction.rows(_PUBLISHED, {})
        return int(count)

    def taken_down(self) -> frozenset[str]:
        # One by one: a database would read every name of each, of which there may be many.
        return frozenset(filter(self.is_taken_down, [picture for (picture,) in self._transaction.rows(_BLOCKED, {})]))

    def is_taken_down(self, picture: str) -> bool:
        ((highest,),) = self._transaction.rows(_HIGHEST, {"key": picture})
        return bool(highest == Standing.BLOCKED)

    def _unnamed(self, now: int, most: int) -> list[str]:
        given = {"named": False, "now": now, "limit": most}
        return [picture for (picture,) in self._transaction.rows(_UNNAMED, given)]

    def _stored(self, **by: str) -> StoredPicture | None:
        row = self._find(*_COLUMNS, **by)
        return None if row is None else _picture(row)


def _picture(row: Row) -> StoredPicture:
    # SQLite returns numbers for booleans.
    *_, is_removed, _, in_history = row
    return replace(StoredPicture(*row), is_removed=bool(is_removed), in_history=bool(in_history))
