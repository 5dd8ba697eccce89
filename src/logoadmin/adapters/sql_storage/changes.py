"""The history, and the first answers to commands that may come again: each query beside what its rows become."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import to_json
from sqlalchemy import bindparam, delete, func, insert, select, update

from logoadmin.adapters.sql_storage.statements import Row
from logoadmin.adapters.sql_storage.tables import changes, stored_responses
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.model.lists import page_of
from logoadmin.domain.model.records import Change, Kind
from logoadmin.ports.storage import StoredResponse

_CHANGE = select(
    *(
        changes.c[name]
        for name in ("change_id", "at", "user_id", "action", "kind", "record_id", "before", "after", "request_id")
    )
)
_GET = _CHANGE.where(changes.c.change_id == bindparam("key"))
_PAGE = (
    _CHANGE.where(changes.c.change_id > bindparam("after_id")).order_by(changes.c.change_id).limit(bindparam("limit"))
)
_LAST_OF = select(func.max(changes.c.change_id)).where(
    changes.c.kind == bindparam("of_kind"), changes.c.record_id == bindparam("id_")
)
_ADD = insert(changes).inline()


def _json(said: Mapping[str, Any] | None) -> str | None:
    return None if said is None else to_json(said).decode()


def _change(row: Row) -> Change:
    change_id, at, user_id, action, kind, id_, before, after, request_id = row
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
    )


def _values(change: Change) -> dict[str, Any]:
    return {
        "change_id": change.change_id,
        "at": change.at,
        "user_id": change.user_id,
        "action": change.action,
        "kind": change.kind.value,
        "record_id": change.id,
        "request_id": change.request_id,
        "before": _json(change.before),
        "after": _json(change.after),
    }


class ChangeRepository:
    """The history, as :class:`~logoadmin.ports.storage.Changes` says."""

    def __init__(self, transaction: Transaction) -> None:
        """Work in a transaction."""
        self._transaction = transaction

    def last_id(self) -> int:
        """Return the id of the newest change."""
        return self._transaction.counters.last("change_id")

    def last_of_kinds(self) -> Mapping[Kind, int]:
        """Return the id of the newest change of each kind."""
        return {kind: self._transaction.counters.last(f"{kind}_version") for kind in Kind}

    def add(self, changes: Sequence[Change]) -> None:
        """Keep changes."""
        self._transaction.at_last(_ADD, list(map(_values, changes)))
        for change in changes:
            self._transaction.counters.used("change_id", change.change_id)
            self._transaction.counters.used(f"{change.kind}_version", change.change_id)

    def get(self, change_id: int) -> Change | None:
        """Return a change."""
        self._transaction.settle()
        row = self._transaction.row(_GET, {"key": change_id})
        return None if row is None else _change(row)

    def last_of(self, kind: Kind, id_: int) -> int:
        """Return the id of the newest change of a record."""
        self._transaction.settle()
        row = self._transaction.row(_LAST_OF, {"of_kind": kind.value, "id_": id_})
        return 0 if row is None or row[0] is None else int(row[0])

    def page(self, after: int, limit: int) -> tuple[Change, ...]:
        """Return some changes, by id."""
        self._transaction.settle()
        return page_of(self._transaction.page(_PAGE, {"after_id": after, "limit": limit}), _change)


_ANSWER = select(stored_responses.c.key_hash, stored_responses.c.sealed, stored_responses.c.expires_at).where(
    stored_responses.c.key_hash == bindparam("hash_")
)
_ADD_ANSWER = insert(stored_responses).inline()
_EXPIRED = (
    select(stored_responses.c.key_hash)
    .where(stored_responses.c.expires_at <= bindparam("now"))
    .limit(bindparam("most"))
)
_LATE = (
    select(stored_responses.c.key_hash)
    .where(stored_responses.c.expires_at > bindparam("latest"))
    .limit(bindparam("most"))
)
_EXPIRE = update(stored_responses).where(stored_responses.c.key_hash == bindparam("hash_"))
_FORGET = delete(stored_responses).where(stored_responses.c.key_hash == bindparam("hash_"))


class StoredResponseRepository:
    """The first answers, as :class:`~logoadmin.ports.storage.StoredResponses` says."""

    def __init__(self, transaction: Transaction) -> None:
        """Work in a transaction."""
        self._transaction = transaction

    def get(self, key_hash: str) -> StoredResponse | None:
        """Return an answer."""
        row = self._transaction.row(_ANSWER, {"hash_": key_hash})
        return None if row is None else StoredResponse(*row)

    def add(self, answer: StoredResponse) -> None:
        """Keep an answer."""
        values = {"key_hash": answer.key_hash, "sealed": answer.encrypted, "expires_at": answer.expires_at}
        self._transaction.change(_ADD_ANSWER, values)

    def forget_expired(self, now: int, most: int) -> None:
        """Forget answers that are no longer good."""
        for (key_hash,) in self._transaction.rows(_EXPIRED, {"now": now, "most": most}):
            self._transaction.change(_FORGET, {"hash_": key_hash})

    def expire_by(self, latest: int, most: int) -> None:
        """Let some answers be good for less long."""
        for (key_hash,) in self._transaction.rows(_LATE, {"latest": latest, "most": most}):
            self._transaction.change(_EXPIRE, {"hash_": key_hash, "expires_at": latest})
