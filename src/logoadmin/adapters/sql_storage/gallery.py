"""The repositories of links between artworks and authors, of pictures, and of withdrawals."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Final

from sqlalchemy import Select, bindparam, delete, exists, func, select, update

from logoadmin.adapters.sql_storage.record_tables import LINK_TABLES, picture_names, pictures, withdrawals
from logoadmin.adapters.sql_storage.repository import RecordReader, Repository
from logoadmin.adapters.sql_storage.statements import ANY_KEY, KEY, KEYS, LIMIT, in_portions
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, KINDS, AnyArtworkKind
from logoadmin.domain.kernel.limits import Ground
from logoadmin.domain.kernel.records import Kind, Link
from logoadmin.ports.gallery_storage import PictureName, Standing, StoredPicture, Withdrawal


class LinkStatements:
    """The table of the links of one kind of artwork, and the queries for several links, in link order."""

    def __init__(self, kind: AnyArtworkKind) -> None:
        self.table = LINK_TABLES[kind.kind]
        self.id_field, self.artwork_field = kind.link_id_field, kind.id_field
        links, artwork_id = select(self.table).order_by(self.table.c[self.id_field]), self.table.c[kind.id_field]
        self.of_artwork = links.where(artwork_id == KEY)
        self.of_artworks = links.where(artwork_id.in_(ANY_KEY))
        self.of_author = links.where(self.table.c.author_id == KEY)


@dataclass(slots=True, eq=False)
class SqlLinks(Repository):
    """The links of one kind of artwork; implements :class:`~logoadmin.ports.gallery_storage.Links`."""

    _statements: LinkStatements

    def next_id(self) -> int:
        return self._transaction.counters.next_id(self._statements.id_field)

    def of_artwork(self, artwork_id: int) -> tuple[Link, ...]:
        return self._links(self._statements.of_artwork, {"key": artwork_id})

    def of_artworks(self, artwork_ids: Sequence[int]) -> tuple[Link, ...]:
        if not artwork_ids:
            return ()
        (some,) = in_portions(KEYS, artwork_ids)
        return self._links(self._statements.of_artworks, some)

    def of_author(self, author_id: int) -> tuple[Link, ...]:
        return self._links(self._statements.of_author, {"key": author_id})

    def add(self, links: Sequence[Link]) -> None:
        if links:
            rows = [(link.link_id, link.artwork_id, link.author_id) for link in links]
            self._transaction.hold_back(self._statements.table, rows)

    def remove(self, artwork_id: int, author_id: int) -> bool:
        return self._remove(
            self._statements.table, **{self._statements.artwork_field: artwork_id, "author_id": author_id}
        )

    def _links(self, query: Select[Any], of: Mapping[str, Any]) -> tuple[Link, ...]:
        return tuple([Link(*row) for row in self._transaction.rows(query, of)])


LINKS: Final[Mapping[Kind, LinkStatements]] = {kind.kind: LinkStatements(kind) for kind in ARTWORK_KINDS}


_IS_STORED = pictures.c.stored_bytes > 0
_PICTURE: Final = (
    *("picture", "sent_sha256", "sent_at", "width", "height", "frames", "size", "ground"),
    *("removed", "sender_id", "named"),
)
_picture: Final = RecordReader(StoredPicture, map(pictures.c.__getitem__, _PICTURE))
_name: Final = RecordReader(PictureName, picture_names.c, standing=Standing)
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
    .limit(LIMIT)
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
_PAGE = select(*_picture.columns).where(pictures.c.picture > KEY, _IS_STORED).order_by(pictures.c.picture).limit(LIMIT)

_TAKEN_DOWN = select(picture_names.c.picture).where(picture_names.c.standing == int(Standing.BLOCKED)).distinct()
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
    picture_names.c.kind == bindparam("of_kind"), picture_names.c.record_id.in_(ANY_KEY)
)
_NAMES = (
    select(picture_names).where(picture_names.c.picture == KEY).order_by(picture_names.c.standing.desc()).limit(LIMIT)
)


class SqlPictures(Repository):
    """Implements :class:`~logoadmin.ports.gallery_storage.Pictures`."""

    def get(self, picture: str) -> StoredPicture | None:
        return self._get(_picture, picture=picture)

    def sent_as(self, sha256: str) -> StoredPicture | None:
        return self._get(_picture, sent_sha256=sha256)

    def content(self, picture: str, *, thumbnail: bool) -> bytes | None:
        row = self._find(pictures.c.thumbnail if thumbnail else pictures.c.content, picture=picture)
        return None if row is None or row[0] is None else bytes(row[0])

    def add(self, stored: StoredPicture, content: bytes, thumbnail: bytes) -> None:
        values = dict(zip(_PICTURE, astuple(stored), strict=True))
        files = {"content": content, "thumbnail": thumbnail, "stored_bytes": len(content) + len(thumbnail)}
        self._add(pictures, {**values, **files, "kept_until": 0})

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
        return self._number(_COUNT)

    def space(self) -> int:
        return self._number(_SPACE)

    def space_of(self, sender_id: int) -> int:
        return self._number(_SPACE_OF, key=sender_id, named=False)

    def shapes(self) -> Mapping[str, tuple[int, int, Ground]]:
        return {
            picture: (width, height, ground) for picture, width, height, ground in self._transaction.rows(_SHAPES, {})
        }

    def page(self, after: str, limit: int) -> tuple[StoredPicture, ...]:
        return self._all(_picture, _PAGE, {"key": after, "limit": limit})

    def put_names(self, names: Iterable[PictureName]) -> None:
        self._transaction.hold_back(picture_names, [*names])

    def drop_names(self, kind: str, *ids: int) -> None:
        for some in in_portions(KEYS, ids):
            self._transaction.change(_DROP_NAMES, {"of_kind": kind, **some})

    def named_by(self, kind: str, id_: int) -> tuple[str, ...]:
        return tuple(picture for (picture,) in self._transaction.rows(_NAMED_BY, {"of_kind": kind, "key": id_}))

    def names(self, picture: str, most: int) -> tuple[PictureName, ...]:
        return self._all(_name, _NAMES, {"key": picture, "limit": most})

    def published(self) -> int:
        return self._number(_PUBLISHED)

    def taken_down(self) -> frozenset[str]:
        # One by one: a database would read every name of each, of which there may be many.
        return frozenset(
            filter(self.is_taken_down, [picture for (picture,) in self._transaction.rows(_TAKEN_DOWN, {})])
        )

    def is_taken_down(self, picture: str) -> bool:
        return self._number(_HIGHEST, key=picture) == Standing.BLOCKED

    def _unnamed(self, now: int, most: int) -> list[str]:
        given = {"named": False, "now": now, "limit": most}
        return [picture for (picture,) in self._transaction.rows(_UNNAMED, given)]


_OF_RECORDS = (
    withdrawals.c.kind == bindparam("of_kind"),
    withdrawals.c.record_id.in_(ANY_KEY),
)
_OF_SOME = select(withdrawals).where(*_OF_RECORDS).order_by(withdrawals.c.record_id)
_DROP_SOME = delete(withdrawals).where(*_OF_RECORDS)
_NEWEST_FIRST = (withdrawals.c.at.desc(), withdrawals.c.kind.desc(), withdrawals.c.record_id.desc())
_WITHDRAWALS = select(withdrawals).order_by(*_NEWEST_FIRST).limit(LIMIT)
_SINCE = _WITHDRAWALS.where(withdrawals.c.at >= bindparam("since"))
# Every reason is above the empty text. SQLite would use no index for "is not null", and might use that of the order.
_BLOCKED = _WITHDRAWALS.where(withdrawals.c.reason > "").with_hint(withdrawals, "ix_withdrawals_reason")


_withdrawal: Final = RecordReader(Withdrawal, withdrawals.c, kind=Kind)


class SqlWithdrawals(Repository):
    """Implements :class:`~logoadmin.ports.gallery_storage.Withdrawals`."""

    def get_many(self, kind: Kind, ids: Sequence[int]) -> tuple[Withdrawal, ...]:
        wanted = [id_ for id_ in ids if not self._transaction.counters.is_above_all(KINDS[kind].id_field, id_)]
        if not wanted:
            return ()
        (some,) = in_portions(KEYS, wanted)
        return self._all(_withdrawal, _OF_SOME, {"of_kind": kind.value, **some})

    def put(self, *stored: Withdrawal) -> None:
        if stored:
            rows = [(each.kind.value, each.id, each.at, each.reason) for each in stored]
            self._transaction.hold_back(withdrawals, rows)

    def drop(self, kind: Kind, *ids: int) -> None:
        for some in in_portions(KEYS, ids):
            self._transaction.change(_DROP_SOME, {"of_kind": kind.value, **some})

    def newest(self, since: int, limit: int) -> tuple[Withdrawal, ...]:
        return self._all(_withdrawal, _SINCE, {"since": since, "limit": limit})

    def blocked(self, limit: int) -> tuple[Withdrawal, ...]:
        return self._all(_withdrawal, _BLOCKED, {"limit": limit})
