"""The repository of withdrawals."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, delete, select

from logoadmin.adapters.sql_storage.repository import Repository
from logoadmin.adapters.sql_storage.statements import KEYS, Row, in_portions
from logoadmin.adapters.sql_storage.tables.publication_tables import withdrawals
from logoadmin.domain.kernel.kinds import KINDS
from logoadmin.domain.kernel.records import Kind
from logoadmin.ports.gallery_storage import Withdrawal

_LIMIT: Any = bindparam("limit")
_SOME = (withdrawals.c.kind == bindparam("of_kind"), withdrawals.c.record_id.in_([bindparam(key) for key in KEYS]))
_OF_SOME = select(withdrawals).where(*_SOME).order_by(withdrawals.c.record_id)
_DROP_SOME = delete(withdrawals).where(*_SOME)
_NEWEST_FIRST = (withdrawals.c.at.desc(), withdrawals.c.kind.desc(), withdrawals.c.record_id.desc())
_WITHDRAWALS = select(withdrawals).order_by(*_NEWEST_FIRST).limit(_LIMIT)
_SINCE = _WITHDRAWALS.where(withdrawals.c.at >= bindparam("since"))
# Every reason is above the empty text. SQLite would use no index for "is not null", and might use that of the order.
_BLOCKED = _WITHDRAWALS.where(withdrawals.c.reason > "").with_hint(withdrawals, "ix_withdrawals_reason")


def _withdrawal(row: Row) -> Withdrawal:
    kind, *values = row
    return Withdrawal(Kind(kind), *values)


class SqlWithdrawals(Repository):
    """Implements :class:`~logoadmin.ports.gallery_storage.Withdrawals`."""

    def get(self, kind: Kind, id_: int) -> Withdrawal | None:
        row = self._find(*withdrawals.c, kind=kind.value, record_id=id_)
        return None if row is None else _withdrawal(row)

    def get_many(self, kind: Kind, ids: Sequence[int]) -> tuple[Withdrawal, ...]:
        wanted = [id_ for id_ in ids if not self._transaction.is_above_all(KINDS[kind].id_field, id_)]
        if not wanted:
            return ()
        (some,) = in_portions(KEYS, wanted)
        return tuple(map(_withdrawal, self._transaction.rows(_OF_SOME, {"of_kind": kind.value, **some})))

    def put(self, *stored: Withdrawal) -> None:
        if stored:
            rows = [(each.kind.value, each.id, each.at, each.reason) for each in stored]
            self._transaction.hold_back(withdrawals, rows)

    def drop(self, kind: Kind, *ids: int) -> None:
        for some in in_portions(KEYS, ids):
            self._transaction.change(_DROP_SOME, {"of_kind": kind.value, **some})

    def newest(self, since: int, limit: int) -> tuple[Withdrawal, ...]:
        return tuple(map(_withdrawal, self._transaction.rows(_SINCE, {"since": since, "limit": limit})))

    def blocked(self, limit: int) -> tuple[Withdrawal, ...]:
        return tuple(map(_withdrawal, self._transaction.rows(_BLOCKED, {"limit": limit})))
