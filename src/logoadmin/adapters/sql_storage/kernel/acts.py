"""The acts of the history: their queries, and the conversion of their rows."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic_core import to_json
from sqlalchemy import Column, Select, bindparam, func, literal_column, select, union_all

from logoadmin.adapters.sql_storage.kernel.changes import SqlChanges
from logoadmin.adapters.sql_storage.keyset_pages import KeysetPages
from logoadmin.adapters.sql_storage.repository import Repository
from logoadmin.adapters.sql_storage.statements import KEYS, Row, in_portions
from logoadmin.adapters.sql_storage.tables.gallery_tables import LINK_TABLES
from logoadmin.adapters.sql_storage.tables.identity_tables import users
from logoadmin.adapters.sql_storage.tables.kernel_tables import acts, changes
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS
from logoadmin.domain.kernel.lists import EVERY_CHANGE, ChangeFilter, Order, TruncatedPage, page_of
from logoadmin.domain.kernel.records import Kind
from logoadmin.ports.history_storage import Obstacle, StoredAct

# The acts of up to this many changes that match a filter are on a page.
_MATCHES: Final = 1_000
# Of up to this many changes of an act, the records are looked up for whether it can be undone.
_MOST_JUDGED: Final = 1_000
_ACT: Final = select(acts)
_PAGES: Final = KeysetPages(_ACT, acts.c.act_id, {}, [])
_THESE: Final[Any] = [bindparam(key) for key in KEYS]
_MANY: Final = _ACT.where(acts.c.act_id.in_(_THESE))
_OF_CHANGE: Final = _ACT.join(changes, changes.c.act_id == acts.c.act_id).where(
    changes.c.change_id == bindparam("of_change")
)
_AUTHORS: Final = tuple(f"author{number}" for number in range(len(KEYS)))
_ROLES: Final = tuple(f"role{number}" for number in range(len(KEYS)))


def _changed_since() -> Select[Any]:
    """Return the query for records of acts that others changed later, and left otherwise than the act had."""
    own, later, left, now = (changes.alias(name) for name in ("own", "later", "kept", "newest"))
    of_act = (own.c.act_id == acts.c.act_id) & own.c.change_id.between(acts.c.act_id, acts.c.last_id)
    record = (acts.c.act_id, own.c.kind, own.c.record_id)
    first_last = (func.min(own.c.change_id).label("first_id"), func.max(own.c.change_id).label("last_id"))
    mine = (
        select(*record, *first_last)
        .select_from(acts.join(own, of_act))
        .where(acts.c.act_id.in_(_THESE), own.c.change_id < acts.c.act_id + _MOST_JUDGED)
        .group_by(*record)
        .cte("mine")
    )
    same = (later.c.kind == mine.c.kind) & (later.c.record_id == mine.c.record_id)
    by_others = (later.c.change_id > mine.c.first_id) & (func.coalesce(later.c.act_id, 0) != mine.c.act_id)
    since = (
        select(*mine.c, func.max(later.c.change_id).label("since_id"))
        .select_from(mine.join(later, same & by_others))
        .group_by(*mine.c)
        .cte("since")
    )
    both = since.join(left, left.c.change_id == since.c.last_id).join(now, now.c.change_id == since.c.since_id)
    return (
        select(since.c.act_id, since.c.kind, since.c.record_id, since.c.since_id)
        .select_from(both)
        .where(left.c.after.is_distinct_from(now.c.after))
        .order_by(since.c.act_id, since.c.first_id)
    )


def _referring(kind: Kind, ids: Sequence[str], by: Kind, to: Column[Any], id_: Column[Any]) -> Select[Any]:
    """Return the query for records that refer to one that an act created, unless the act created them as well."""
    made, born = changes.alias("made"), changes.alias("born")
    by_act = (born.c.kind == literal_column(f"'{by}'")) & (born.c.record_id == id_) & (born.c.act_id == made.c.act_id)
    created = born.c.action == literal_column(f"'{by}.created'")
    found = made.join(to.table, to == made.c.record_id).outerjoin(born, by_act & created)
    return (
        select(made.c.act_id, literal_column(f"'{kind}'"), made.c.record_id, literal_column(f"'{by}'"), func.min(id_))
        .select_from(found)
        .where(
            made.c.kind == literal_column(f"'{kind}'"),
            made.c.record_id.in_(map(bindparam, ids)),
            made.c.action == literal_column(f"'{kind}.created'"),
            made.c.act_id.in_(_THESE),
            born.c.change_id.is_(None),
        )
        .group_by(made.c.act_id, made.c.record_id)
    )


_CHANGED_SINCE: Final = _changed_since()
_REFERRING: Final = union_all(
    *(
        _referring(Kind.AUTHOR, _AUTHORS, kind.kind, links.c.author_id, links.c[kind.id_field])
        for kind in ARTWORK_KINDS
        for links in [LINK_TABLES[kind.kind]]
    ),
    _referring(Kind.ROLE, _ROLES, Kind.USER, users.c.role_id, users.c.user_id),
)


class SqlActs(Repository):
    """The acts, as :class:`~logoadmin.ports.history_storage.Acts` says."""

    def get(self, act_id: int) -> StoredAct | None:
        row = self._find(*acts.c, act_id=act_id)
        return None if row is None else _act(row)

    def of_request(self, request_id: str) -> StoredAct | None:
        row = self._find(*acts.c, request_id=request_id)
        return None if row is None else _act(row)

    def of_change(self, change_id: int) -> StoredAct | None:
        row = self._transaction.row(_OF_CHANGE, {"of_change": change_id})
        return None if row is None else _act(row)

    def add(self, act: StoredAct) -> None:
        self._transaction.hold_back(acts, [_row(act)])

    def update(self, act: StoredAct) -> None:
        self._update(acts, {"act_id": act.act_id}, dict(zip(acts.c.keys()[1:], _row(act)[1:], strict=True)))

    def page(self, after: int, limit: int, where: ChangeFilter, order: Order) -> tuple[StoredAct, ...]:
        if where == EVERY_CHANGE:
            return page_of(_PAGES.rows(self._transaction, after, limit, {}, order), _act)
        begun = self.get(after) if order == "asc" else None
        start = begun.last_id if begun is not None and begun.is_whole else after
        matches = SqlChanges(self._transaction).act_ids(start, _MATCHES, where, order)
        found = {act_id for _, act_id in matches if (act_id > after if order == "asc" else act_id < after)}
        ids = sorted(found, reverse=order == "desc")[: min(limit, len(KEYS))]
        if not ids:
            return ()
        (these,) = in_portions(KEYS, ids)
        by_id = {row[0]: _act(row) for row in self._transaction.rows(_MANY, these)}
        page = tuple(by_id[act_id] for act_id in ids)
        return TruncatedPage(page) if len(matches) == _MATCHES and len(ids) < limit else page

    def obstacles(self, acts: Sequence[StoredAct]) -> Mapping[int, Obstacle]:
        if not acts:
            return {}
        (these,) = in_portions(KEYS, [act.act_id for act in acts])
        found: dict[int, Obstacle] = {}
        for act_id, kind, id_, change_id in self._transaction.rows(_CHANGED_SINCE, these):
            found.setdefault(act_id, Obstacle(Kind(kind), id_, change_id))
        authors, roles = (
            [id_ for act in acts for id_ in act.summary["created"].get(kind, ())][: len(KEYS)]
            for kind in (Kind.AUTHOR, Kind.ROLE)
        )
        if authors or roles:
            (some_authors,), (some_roles,) = in_portions(_AUTHORS, authors or [-1]), in_portions(_ROLES, roles or [-1])
            for act_id, kind, id_, by, by_id in self._transaction.rows(
                _REFERRING, {**these, **some_authors, **some_roles}
            ):
                found.setdefault(act_id, Obstacle(Kind(kind), id_, by=(Kind(by), by_id)))
        return found


def _act(row: Row) -> StoredAct:
    act_id, last_id, request_id, undoes, undone_by, summary = row
    return StoredAct(act_id, last_id, request_id, undoes, undone_by, json.loads(summary))


def _row(act: StoredAct) -> Row:
    ids = (act.act_id, act.last_id, act.request_id, act.undoes, act.undone_by)
    return (*ids, to_json(act.summary).decode())
