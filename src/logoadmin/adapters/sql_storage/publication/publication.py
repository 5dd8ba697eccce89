"""The repositories of the published gallery: withdrawals and pins."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from hashlib import sha256 as hash_of
from operator import attrgetter
from typing import Any

from sqlalchemy import bindparam, delete, func, select

from logoadmin.adapters.sql_storage.repository import Repository
from logoadmin.adapters.sql_storage.statements import KEY, KEYS, Row, in_portions
from logoadmin.adapters.sql_storage.tables.publication_tables import pins, sheets, withdrawals
from logoadmin.domain.kernel.kinds import KINDS
from logoadmin.domain.kernel.records import Kind
from logoadmin.ports.publication.publication_storage import Pin, Withdrawal

_LIMIT: Any = bindparam("limit")
_SOME = (withdrawals.c.kind == bindparam("of_kind"), withdrawals.c.record_id.in_([bindparam(key) for key in KEYS]))
_OF_SOME = select(withdrawals).where(*_SOME).order_by(withdrawals.c.record_id)
_DROP_SOME = delete(withdrawals).where(*_SOME)
_NEWEST_FIRST = (withdrawals.c.at.desc(), withdrawals.c.kind.desc(), withdrawals.c.record_id.desc())
_WITHDRAWALS = select(withdrawals).order_by(*_NEWEST_FIRST).limit(_LIMIT)
_SINCE = _WITHDRAWALS.where(withdrawals.c.at >= bindparam("since"))
# Every reason is above the empty text. SQLite would use no index for "is not null", and might use that of the order.
_BLOCKED = _WITHDRAWALS.where(withdrawals.c.reason > "").with_hint(withdrawals, "ix_withdrawals_reason")

_PIN_COLUMNS = [column for column in pins.c if column is not pins.c.url_hash]
_PINS = select(*_PIN_COLUMNS)
_PINS_OF = _PINS.where(pins.c.kind == bindparam("of_kind"), pins.c.record_id == KEY)
_PINS_OF_KIND = _PINS.where(pins.c.kind == KEY)
_PINNED = select(func.count()).select_from(pins).where(pins.c.sheet > "")
_PINS_OFFERED = _PINS.where(pins.c.offered > "")
# SQLite and MariaDB would sort texts of megabytes.
_place = attrgetter("kind", "id", "url")

_SHEET_HASHES = select(sheets.c.sha256)


def _withdrawal(row: Row) -> Withdrawal:
    kind, *values = row
    return Withdrawal(Kind(kind), *values)


class SqlWithdrawals(Repository):
    """Implements :class:`~logoadmin.ports.publication.publication_storage.Withdrawals`."""

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


class SqlPins(Repository):
    """Implements :class:`~logoadmin.ports.publication.publication_storage.Pins`."""

    def of(self, kind: Kind, id_: int) -> tuple[Pin, ...]:
        return _pins(self._transaction.rows(_PINS_OF, {"of_kind": kind.value, "key": id_}))

    def of_kind(self, kind: Kind) -> tuple[Pin, ...]:
        return _pins(self._transaction.rows(_PINS_OF_KIND, {"key": kind.value}))

    def pinned(self) -> int:
        ((count,),) = self._transaction.rows(_PINNED, {})
        return int(count)

    def offered(self) -> tuple[Pin, ...]:
        return _pins(self._transaction.rows(_PINS_OFFERED, {}))

    def put(self, pin: Pin) -> None:
        values = asdict(pin)
        url_hash = hash_of(pin.url.encode()).hexdigest()
        by = {"kind": values.pop("kind").value, "record_id": values.pop("id"), "url_hash": url_hash}
        self._put(pins, by, values)

    def sheet(self, sha256: str) -> str | None:
        row = self._find(sheets.c.css, sha256=sha256)
        return None if row is None else str(row[0])

    def add_sheet(self, sha256: str, css: str) -> None:
        by = {"sha256": sha256}
        # The update changes nothing and finds what others stored in the meantime, which a query might not.
        if not self._update(sheets, by, by):
            self._add(sheets, {**by, "css": css})

    def keep_sheets(self, used: Collection[str]) -> int:
        stored = [sha256 for (sha256,) in self._transaction.rows(_SHEET_HASHES, {})]
        return sum(self._remove(sheets, sha256=sha256) for sha256 in stored if sha256 not in used)


def _pins(rows: Iterable[Row]) -> tuple[Pin, ...]:
    return tuple(sorted((Pin(Kind(kind), *values) for kind, *values in rows), key=_place))
