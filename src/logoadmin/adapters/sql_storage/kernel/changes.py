"""The history and the stored responses: their queries, and the conversion of their rows."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from operator import itemgetter
from typing import Any

from pydantic_core import to_json
from sqlalchemy import Select, bindparam, func, select

from logoadmin.adapters.sql_storage.keyset_pages import IndexPath, KeysetPages
from logoadmin.adapters.sql_storage.repository import Repository
from logoadmin.adapters.sql_storage.statements import KEYS, Row, in_portions
from logoadmin.adapters.sql_storage.tables.kernel_tables import changes, stored_responses
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.kernel.limits import MAX_ID, Origin, Source
from logoadmin.domain.kernel.lists import EVERY_CHANGE, ChangeFilter, Order, page_of
from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.ports.history_storage import StoredResponse, created_by

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
_TIMES = select(changes.c.change_id, changes.c.at).where(changes.c.change_id.in_(map(bindparam, KEYS)))
_LAST_OF = select(func.max(changes.c.change_id)).where(
    changes.c.kind == bindparam("of_kind"), changes.c.record_id == bindparam("id_")
)
_RESTORED = changes.c.action == bindparam("restored")
_BIRTHS = (
    select(changes.c.record_id, changes.c.change_id, _RESTORED, changes.c.undoes)
    .where(changes.c.kind == bindparam("of_kind"), changes.c.record_id.in_(map(bindparam, KEYS)))
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
    .limit(bindparam("limit"))
)


def _change(row: Row) -> Change:
    change_id, at, user_id, action, kind, id_, before, after, request_id, origin, undoes, submitter_id, source, note = (
        row
    )
    return Change(
        change_id,
        at,
        user_id,
        action,
        Kind(kind),
        id_,
        None if before is None else json.loads(before),
        None if after is None else json.loads(after),
        request_id,
        None if origin is None else Origin(origin),
        undoes,
        submitter_id,
        None if source is None else Source(source),
        note,
    )


def _row(change: Change, act_id: int | None) -> Row:
    return (
        *(change.change_id, change.at, change.user_id, change.action, change.kind.value, change.id),
        None if change.before is None else to_json(change.before).decode(),
        None if change.after is None else to_json(change.after).decode(),
        *(change.request_id, change.origin, change.undoes, change.submitter_id, change.source, change.note),
        act_id,
    )


class SqlChanges(Repository):
    """The history, as :class:`~logoadmin.ports.history_storage.Changes` says."""

    def __init__(self, transaction: Transaction) -> None:
        super().__init__(transaction)
        # Several parts of a request ask for the same user.
        self._creations: dict[tuple[Kind, int], int | None] = {}

    def last_id(self) -> int:
        return self._transaction.last("change_id")

    def last_of_kinds(self) -> Mapping[Kind, int]:
        return {kind: self._transaction.last(f"{kind}_version") for kind in Kind}

    def add(self, changes: Sequence[Change], act_id: int | None = None) -> None:
        self._creations.clear()
        for change in changes:
            self._transaction.count("change_id", change.change_id)
            self._transaction.count(f"{change.kind}_version", change.change_id)
        self._transaction.hold_back(_TABLE, [_row(change, act_id) for change in changes])

    def get(self, change_id: int) -> Change | None:
        row = self._find(*_FIELDS, change_id=change_id)
        return None if row is None else _change(row)

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


class SqlStoredResponses(Repository):
    """The stored responses, as :class:`~logoadmin.ports.history_storage.StoredResponses` says."""

    def get(self, key_hash: str) -> StoredResponse | None:
        row = self._find(*stored_responses.c, key_hash=key_hash)
        return None if row is None else StoredResponse(*row)

    def add(self, response: StoredResponse) -> None:
        self._add(stored_responses, asdict(response))

    def forget(self, key_hash: str) -> None:
        self._remove(stored_responses, key_hash=key_hash)

    def forget_expired(self, now: int, most: int) -> int:
        return self._remove_ended(stored_responses.c.expires_at, now, most)

    def expire_by(self, latest: int, most: int) -> int:
        return self._end_by(stored_responses.c.expires_at, latest, most)
