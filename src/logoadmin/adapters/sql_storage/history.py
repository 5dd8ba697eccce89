"""The history, its acts and the stored responses: their queries, and the conversion of their rows."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from pydantic_core import to_json
from sqlalchemy import Column, Select, bindparam, func, literal_column, select, union_all

from logoadmin.adapters.sql_storage.record_tables import LINK_TABLES
from logoadmin.adapters.sql_storage.repository import IndexPath, KeysetPages, RecordReader, Repository, optional
from logoadmin.adapters.sql_storage.statements import ANY_KEY, KEYS, LIMIT, in_portions
from logoadmin.adapters.sql_storage.tables import acts, changes, stored_responses, users
from logoadmin.adapters.sql_storage.transaction import Row
from logoadmin.domain.kernel.access import Source
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS
from logoadmin.domain.kernel.limits import MAX_ID, Origin
from logoadmin.domain.kernel.lists import EVERY_CHANGE, ChangeFilter, Order, TruncatedPage, page_of
from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.ports.history_storage import Obstacle, StoredAct, StoredResponse, created_by

_TABLE = changes
# The fields of a Change; the history has the act of each besides.
_FIELDS = tuple(column for column in changes.c if column is not changes.c.act_id)
_CHANGE = select(*_FIELDS)
# The most selective first: with several filters, the index of one finds the changes, and the others filter them.
_INDEXES = {
    ("request_id",): "request_id",
    ("kind", "id"): "kind_record_id_change_id",
    ("user_id",): "user_id",
    ("action",): "action",
    ("kind",): "kind",
}
_CONDITIONS = {
    **{name: changes.c[name] == bindparam(name) for name in ("kind", "user_id", "action", "request_id")},
    "id": changes.c.record_id == bindparam("id"),
    # A sum cannot use an index: the range of ids limits the search.
    "since": changes.c.at + 0 >= bindparam("since"),
    "until": changes.c.at + 0 <= bindparam("until"),
    "first": changes.c.change_id >= bindparam("first"),
    "last": changes.c.change_id <= bindparam("last"),
}
_PATHS = [IndexPath(frozenset(names), changes.c.change_id, f"ix_changes_{index}") for names, index in _INDEXES.items()]
_PAGES = KeysetPages(_CHANGE, changes.c.change_id, _CONDITIONS, _PATHS)
_ACT_IDS = KeysetPages(select(changes.c.change_id, changes.c.act_id), changes.c.change_id, _CONDITIONS, _PATHS)
_SINCE = select(changes.c.change_id).where(changes.c.at >= bindparam("since"))
_FIRST_SINCE = _SINCE.order_by(changes.c.at, changes.c.change_id).limit(1)
_UNTIL = select(changes.c.change_id).where(changes.c.at <= bindparam("until"))
_LAST_UNTIL = _UNTIL.order_by(changes.c.at.desc(), changes.c.change_id.desc()).limit(1)
_TIMES = select(changes.c.change_id, changes.c.at).where(changes.c.change_id.in_(ANY_KEY))
_LAST_OF = select(func.max(changes.c.change_id)).where(
    changes.c.kind == bindparam("of_kind"), changes.c.record_id == bindparam("id_")
)
_RESTORED = changes.c.action == bindparam("restored")
_BIRTHS = (
    select(changes.c.record_id, changes.c.change_id, _RESTORED, changes.c.undoes)
    .where(changes.c.kind == bindparam("of_kind"), changes.c.record_id.in_(ANY_KEY))
    .where((changes.c.action == bindparam("created")) | _RESTORED)
    .order_by(changes.c.record_id, changes.c.change_id)
)
_LAST_BESIDES = _LAST_OF.where(func.coalesce(changes.c.request_id, "") != bindparam("besides"))
_UNDONE = changes.alias("undone")
# Those of the same record, by their index.
_UNDOER = (
    select(changes.c.change_id, changes.c.request_id)
    .select_from(_UNDONE)
    .join(changes, (changes.c.kind == _UNDONE.c.kind) & (changes.c.record_id == _UNDONE.c.record_id))
    .where(_UNDONE.c.change_id == bindparam("undone_id"), changes.c.undoes == _UNDONE.c.change_id)
    .order_by(changes.c.change_id.desc())
    .limit(1)
)
_OF_REQUEST = (
    _CHANGE.where(changes.c.request_id == bindparam("of_request"), changes.c.change_id < bindparam("below"))
    .order_by(changes.c.change_id.desc())
    .limit(LIMIT)
)


_json: Final = optional(json.loads)
_change: Final = RecordReader(
    Change, _FIELDS, kind=Kind, before=_json, after=_json, origin=optional(Origin), source=optional(Source)
)


def _row(change: Change, act_id: int | None) -> Row:
    return (
        *(change.change_id, change.at, change.user_id, change.action, change.kind.value, change.id),
        None if change.before is None else to_json(change.before).decode(),
        None if change.after is None else to_json(change.after).decode(),
        *(change.request_id, change.origin, change.undoes, change.submitter_id, change.source, change.note),
        act_id,
    )


@dataclass(slots=True, eq=False)
class SqlChanges(Repository):
    """The history, as :class:`~logoadmin.ports.history_storage.Changes` says."""

    # Several parts of a request ask for the same user.
    _creations: dict[tuple[Kind, int], int | None] = field(default_factory=dict)

    def last_id(self) -> int:
        return self._transaction.last["change_id"]

    def last_of_kinds(self) -> Mapping[Kind, int]:
        last = self._transaction.last
        return {kind: last[f"{kind}_version"] for kind in Kind}

    def add(self, changes: Sequence[Change], act_id: int | None = None) -> None:
        self._creations.clear()
        for change in changes:
            self._transaction.counters.count(change.change_id, "change_id", f"{change.kind}_version")
        self._transaction.hold_back(_TABLE, [_row(change, act_id) for change in changes])

    def get(self, change_id: int) -> Change | None:
        return self._get(_change, change_id=change_id)

    def times(self, change_ids: Sequence[int]) -> Mapping[int, int]:
        portions = in_portions(KEYS, sorted({*change_ids}))
        return {id_: at for some in portions for id_, at in self._transaction.rows(_TIMES, some)}

    def last_of(self, kind: Kind, id_: int, besides: str | None = None) -> int:
        of = {"of_kind": kind.value, "id_": id_}
        statement, asked = (_LAST_OF, of) if besides is None else (_LAST_BESIDES, {**of, "besides": besides})
        row = self._transaction.row(statement, asked)
        return 0 if row is None or row[0] is None else int(row[0])

    def creations(self, kind: Kind, ids: Collection[int]) -> Mapping[int, int]:
        known = self._creations
        if unknown := [id_ for id_ in ids if (kind, id_) not in known]:
            known.update({(kind, id_): None for id_ in unknown})
            of = {"of_kind": kind.value, "created": f"{kind}.created", "restored": f"{kind}.restored"}
            rows = (
                row for some in in_portions(KEYS, unknown) for row in self._transaction.rows(_BIRTHS, {**some, **of})
            )
            for id_, of_id in groupby(rows, itemgetter(0)):
                known[kind, id_] = created_by((row[1], row[2], row[3]) for row in of_id)
        return {id_: created for id_ in ids if (created := known[kind, id_]) is not None}

    def of_request(self, request_id: str, below: int, limit: int) -> tuple[Change, ...]:
        asked = {"of_request": request_id, "below": below, "limit": limit}
        return page_of(self._transaction.page(_OF_REQUEST, asked), _change)

    def undoer_of(self, change_id: int) -> tuple[int, str | None] | None:
        row = self._transaction.row(_UNDOER, {"undone_id": change_id})
        return None if row is None else (row[0], row[1])

    def page(
        self, after: int, limit: int, where: ChangeFilter = EVERY_CHANGE, order: Order = "asc"
    ) -> tuple[Change, ...]:
        return page_of(self._rows(_PAGES, after, limit, where, order), _change)

    def act_ids(self, after: int, limit: int, where: ChangeFilter, order: Order) -> Sequence[Row]:
        """Return the ids of the changes that :meth:`page` returns, each with that of its act."""
        return self._rows(_ACT_IDS, after, limit, where, order)

    def _rows(self, pages: KeysetPages, after: int, limit: int, where: ChangeFilter, order: Order) -> Sequence[Row]:
        given = where.given
        # Times increase with ids unless the clock was wrong: the index on time narrows the range of ids.
        first = self._bound(_FIRST_SINCE, "since", given)
        last = self._bound(_LAST_UNTIL, "until", given)
        if first is None or last is None:
            return ()
        if order == "asc":
            after, given["last"] = max(after, first - 1), last
        else:
            after, given["first"] = min(after, last + 1), first
        return pages.rows(self._transaction, after, limit, given, order)

    def _bound(self, statement: Select[Any], name: str, given: Mapping[str, Any]) -> int | None:
        """Return the id of the first or last change of a period, None if no such change exists."""
        if name not in given:
            return 0 if name == "since" else MAX_ID
        row = self._transaction.row(statement, {name: given[name]})
        return None if row is None else int(row[0])


_response: Final = RecordReader(StoredResponse, stored_responses.c)


class SqlStoredResponses(Repository):
    """The stored responses, as :class:`~logoadmin.ports.history_storage.StoredResponses` says."""

    def get(self, key_hash: str) -> StoredResponse | None:
        return self._get(_response, key_hash=key_hash)

    def add(self, response: StoredResponse) -> None:
        self._add(stored_responses, asdict(response))

    def forget(self, key_hash: str) -> None:
        self._remove(stored_responses, key_hash=key_hash)

    def forget_expired(self, now: int, most: int) -> int:
        return self._remove_ended(stored_responses.c.expires_at, now, most)

    def expire_by(self, latest: int, most: int) -> int:
        return self._end_by(stored_responses.c.expires_at, latest, most)


# The acts of up to this many changes that match a filter are on a page.
_MATCHES: Final = 1_000
# Of up to this many changes of an act, the records are looked up for whether it can be undone.
_MOST_JUDGED: Final = 1_000
_ACT: Final = select(acts)
_act: Final = RecordReader(StoredAct, acts.c, summary=json.loads)
_ACT_PAGES: Final = KeysetPages(_ACT, acts.c.act_id, {}, [])
_MANY: Final = _ACT.where(acts.c.act_id.in_(ANY_KEY))
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
        .where(acts.c.act_id.in_(ANY_KEY), own.c.change_id < acts.c.act_id + _MOST_JUDGED)
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
            made.c.act_id.in_(ANY_KEY),
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
        return self._get(_act, act_id=act_id)

    def of_request(self, request_id: str) -> StoredAct | None:
        return self._get(_act, request_id=request_id)

    def of_change(self, change_id: int) -> StoredAct | None:
        return next(iter(self._all(_act, _OF_CHANGE, {"of_change": change_id})), None)

    def add(self, act: StoredAct) -> None:
        self._transaction.hold_back(acts, [_act_row(act)])

    def update(self, act: StoredAct) -> None:
        self._update(acts, {"act_id": act.act_id}, dict(zip(acts.c.keys()[1:], _act_row(act)[1:], strict=True)))

    def page(self, after: int, limit: int, where: ChangeFilter, order: Order) -> tuple[StoredAct, ...]:
        if where == EVERY_CHANGE:
            return page_of(_ACT_PAGES.rows(self._transaction, after, limit, {}, order), _act)
        begun = self.get(after) if order == "asc" else None
        start = begun.last_id if begun is not None and begun.is_whole else after
        matches = SqlChanges(self._transaction).act_ids(start, _MATCHES, where, order)
        found = {act_id for _, act_id in matches if (act_id > after if order == "asc" else act_id < after)}
        ids = sorted(found, reverse=order == "desc")[: min(limit, len(KEYS))]
        if not ids:
            return ()
        (these,) = in_portions(KEYS, ids)
        by_id = {act.act_id: act for act in self._all(_act, _MANY, these)}
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


def _act_row(act: StoredAct) -> Row:
    ids = (act.act_id, act.last_id, act.request_id, act.undoes, act.undone_by)
    return (*ids, to_json(act.summary).decode())
