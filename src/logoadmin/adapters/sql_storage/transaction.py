"""The statements of one unit of work, all on the same connection."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, NamedTuple

from sqlalchemy import ClauseElement, PoolProxiedConnection, Select, insert, select, update

from logoadmin.adapters.sql_storage.statements import KEY, Row, StatementCompiler
from logoadmin.adapters.sql_storage.tables import (
    COUNTED,
    SESSION_TABLES,
    WRITE_LOCKS,
    changes,
    metadata,
    state,
    stored_responses,
)
from logoadmin.domain.model.errors import Conflict
from logoadmin.domain.model.limits import MAX_ID
from logoadmin.domain.model.lists import truncated_page
from logoadmin.ports.storage import WriteLock

# What is counted stands in one row for each write lock. A write locks its row first and holds it to the end, so there
# is one write at a time under each lock: changes are stored in the order of their ids, and no record needs a lock. The
# database's own numbers would not do as ids: they stay used when the work is undone, and databases count differently.
_COUNTED: Final[Mapping[WriteLock, Select[Any]]] = {
    lock: select(*(state.c[name] for name in names)).where(state.c.state_id == WRITE_LOCKS[lock])
    for lock, names in COUNTED.items()
}
_LOCK: Final = {lock: counted.with_for_update() for lock, counted in _COUNTED.items()}
_LOCK_AT_ONCE: Final = {lock: counted.with_for_update(nowait=True) for lock, counted in _COUNTED.items()}
# Whatever was counted: each write changes its row, so that it meets all others in the certification of a cluster
# (contract H5).
_STORE_COUNTED: Final = update(state).where(state.c.state_id == KEY).values(writes=state.c.writes + 1)

_ADD_CHANGES: Final = insert(changes).inline()
_CHANGE: Final = tuple(column.name for column in changes.c)
# Rows are held back up to this many of a table, with texts up to about this many characters.
_HELD_BACK: Final = 256
_HELD_BACK_TEXT: Final = 2**18


class Savepoint(NamedTuple):
    """A place in a transaction to which one can go back."""

    name: str
    counted: dict[str, int]
    history: list[Row]


class Transaction:
    """Runs statements for the repositories of one unit of work, each when it is told to.

    A write begins with :meth:`take_write_lock` and ends with :meth:`finish` and :meth:`commit`; leaving it by an error
    undoes it. Without a beginning, each statement is a transaction of its own. A write of records that changes sessions
    as well takes their lock at the first of these changes, so locks are always taken in the same order.

    Attributes:
        connection: where they run.
        refused: what the driver raises if a key refuses a record.
    """

    __slots__ = (
        "_begun",
        "_changed",
        "_counted",
        "_cursor",
        "_depth",
        "_held_back",
        "_held_text",
        "_history",
        "_locked",
        "_rights",
        "_statements",
        "connection",
        "refused",
    )

    def __init__(self, connection: PoolProxiedConnection, statements: StatementCompiler) -> None:
        self.connection = connection
        self.refused = statements.refused
        self._cursor: Any = connection.cursor()
        self._statements = statements
        self._begun = False
        self._changed: set[WriteLock] = set()
        self._counted: dict[str, int] = {}
        self._locked: dict[WriteLock, dict[str, int]] = {}
        self._history: list[Row] = []
        self._held_text = 0
        self._held_back: dict[ClauseElement, tuple[tuple[str, ...], list[Row]]] = {}
        self._rights: dict[Row, Row | None] = {}
        self._depth = 0

    def begin(self, statements: Iterable[str]) -> None:
        """Begin with statements that have no values and no rows."""
        self._begun = True
        for statement in statements:
            self._cursor.execute(statement)

    def take_write_lock(self, statements: Iterable[str], lock: WriteLock = "records", *, wait: bool = True) -> None:
        """Begin a write: wait for the one before it, or fail if there is one, and keep the next one waiting."""
        self.begin(statements)
        self._take(lock, _LOCK if wait else _LOCK_AT_ONCE)

    def require_lock(self, lock: WriteLock) -> None:
        """Take a lock before something that is written under it, if this write does not hold it."""
        if lock in self._locked or not self._begun:
            return
        if lock == "records":
            raise LookupError("a write of sessions changes no records")
        self._take(lock, _LOCK)

    def finish(self) -> None:
        """Store what was recorded and counted, so that nothing is left but the commit."""
        if self._held_back:
            self.store_held_back()
        self.store_history()
        for lock, locked in self._locked.items():
            changed = {name: self._counted[name] for name, number in locked.items() if self._counted[name] != number}
            if changed or lock in self._changed:
                self._execute(_STORE_COUNTED, {**changed, "key": WRITE_LOCKS[lock]})

    def commit(self) -> None:
        """Commit. Alone: only of a commit is it unknown, when the connection is lost, whether it was done."""
        self._cursor.execute("COMMIT")

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: TracebackType | None) -> None:
        if error is not None and self._begun:
            try:
                self._cursor.execute("ROLLBACK")
            except Exception:
                # Whatever is wrong with it: the server undoes the transaction when the connection ends.
                self.connection.invalidate()

    def savepoint(self) -> Savepoint:
        """Begin a part of the work, which may be undone alone."""
        self.store_held_back()
        self._depth += 1
        savepoint = Savepoint(f"part_{self._depth}", dict(self._counted), list(self._history))
        self._cursor.execute(f"SAVEPOINT {savepoint.name}")
        return savepoint

    def release(self, savepoint: Savepoint) -> None:
        """End a part of the work."""
        self._depth -= 1
        self._cursor.execute(f"RELEASE SAVEPOINT {savepoint.name}")

    def roll_back(self, savepoint: Savepoint) -> None:
        """Undo a part of the work; what was recorded before it and stored in it is to be stored again."""
        # A lock that was taken since is still held.
        self._counted = {name: number for locked in self._locked.values() for name, number in locked.items()}
        self._counted.update(savepoint.counted)
        self._history = savepoint.history
        self._held_back.clear()
        self._held_text = sum(map(text_length_of_row, self._history))
        self._rights.clear()
        self._cursor.execute(f"ROLLBACK TO SAVEPOINT {savepoint.name}")
        self.release(savepoint)

    def record(self, changes: Iterable[Row]) -> None:
        """Have entries of the history stored at the end, with one statement, unless they are too many to be held."""
        for change in changes:
            self._history.append(change)
            self._held_text += text_length_of_row(change)
        if len(self._history) >= _HELD_BACK or self._held_text >= _HELD_BACK_TEXT:
            self.store_history()

    def hold_back(self, statement: ClauseElement, names: tuple[str, ...], rows: Iterable[Row]) -> None:
        """Have rows that no key can refuse inserted with others, before any other statement."""
        held = self._held_back.setdefault(statement, (names, []))[1]
        for row in rows:
            held.append(row)
            self._held_text += text_length_of_row(row)
        if len(held) >= _HELD_BACK or self._held_text >= _HELD_BACK_TEXT:
            self.store_held_back()

    def store_held_back(self) -> None:
        """Insert the rows that are held back, those of tables that others refer to first."""
        held, self._held_back = self._held_back, {}
        for statement in sorted(held, key=_table_order):
            self.insert(statement, *held[statement])

    def store_history(self) -> None:
        """Store the entries of the history, before somebody looks at them and before the commit."""
        if self._history:
            history, self._history, self._held_text = self._history, [], 0
            self.insert(_ADD_CHANGES, _CHANGE, history)

    def row(self, statement: ClauseElement, values: Mapping[str, Any]) -> Row | None:
        """Return the first row that a query finds, or None."""
        self._execute(statement, values)
        rows: Sequence[Row] = self._cursor.fetchall()
        return rows[0] if rows else None

    def rows(self, statement: ClauseElement, values: Mapping[str, Any]) -> Sequence[Row]:
        """Return the rows that a query finds."""
        self._execute(statement, values)
        rows: Sequence[Row] = self._cursor.fetchall()
        return rows

    def page(self, statement: ClauseElement, values: Mapping[str, Any]) -> Sequence[Row]:
        """Return the rows that a query finds, as many as are light enough for a page."""
        # Closed, since a database may keep the query, and the moment that it sees, until its last row is let go of.
        with closing(self._statements.page_cursor(self.connection)) as cursor:
            self._execute(statement, values, cursor)
            return truncated_page(cursor, text_length_of_row)

    def rights(self, statement: ClauseElement, values: Mapping[str, Any]) -> Row | None:
        """Return the row that says what somebody may do.

        A write finds it once, and again after a change of its own: it counts from the beginning of the write.
        """
        of = tuple(values.values())
        if of in self._rights:
            return self._rights[of]
        found = self.row(statement, values)
        if self._locked:
            self._rights[of] = found
        return found

    def change(self, statement: ClauseElement, values: Mapping[str, Any], lock: WriteLock | None = None) -> int:
        """Return how many rows a change met; those that had the new values before count as well.

        Args:
            statement: the change.
            values: its values.
            lock: the lock under which it is made, if that is not the one of its table.
        """
        lock = lock or self._lock_of(statement)
        self.require_lock(lock)
        self._execute(statement, values)
        met: int = self._cursor.rowcount
        if met > 0:
            self._changed.add(lock)
        return met

    def insert(self, statement: ClauseElement, names: tuple[str, ...], rows: Sequence[Row]) -> None:
        """Insert rows, which have the values of these columns in the order of the table.

        The driver makes as few statements of them as its database takes, or prepares one for all.
        """
        if self._held_back:
            self.store_held_back()
        lock = self._lock_of(statement)
        self.require_lock(lock)
        self._changed.add(lock)
        self._cursor.executemany(self._statements.compiled(statement, names).sql, rows)

    def next_id(self, name: str) -> int:
        """Return the next id, named as its field is, in a write.

        Raises:
            Conflict: there is none left (contract A2).
        """
        self.require_lock("sessions" if name in COUNTED["sessions"] else "records")
        id_ = self._counted[name] + 1
        if id_ > MAX_ID:
            raise Conflict(f"No {name} is left")
        self._counted[name] = id_
        return id_

    def last(self, name: str) -> int:
        """Return the highest id that was ever given to a record, or the last change of a kind."""
        if name not in self._counted:
            self._counted.update(self._look_at_counted("records", _COUNTED))
        return self._counted[name]

    def is_above_all(self, name: str, id_: int) -> bool:
        """Return whether a write knows an id to be free because it is higher than any that was ever given."""
        return "records" in self._locked and id_ > self._counted[name]

    def count(self, name: str, number: int) -> None:
        """Take note, in a write, of an id that was not given here, or of a change of a kind."""
        if number > self._counted[name]:
            self._counted[name] = number

    def _take(self, lock: WriteLock, statements: Mapping[WriteLock, Select[Any]]) -> None:
        self._locked[lock] = self._look_at_counted(lock, statements)
        self._counted.update(self._locked[lock])

    def _look_at_counted(self, lock: WriteLock, statements: Mapping[WriteLock, Select[Any]]) -> dict[str, int]:
        row = self.row(statements[lock], {})
        if row is None:
            raise LookupError("the table of counters has lost a row")
        return dict(zip(COUNTED[lock], row, strict=True))

    def _lock_of(self, statement: Any) -> WriteLock:
        """Return the lock under which a statement changes its table."""
        if statement.table in SESSION_TABLES:
            return "sessions"
        # A stored response belongs to the write that stores it.
        return next(iter(self._locked), "records") if statement.table is stored_responses else "records"

    def _execute(self, statement: ClauseElement, values: Mapping[str, Any], cursor: Any = None) -> None:
        if self._held_back:
            self.store_held_back()
        cursor = self._cursor if cursor is None else cursor
        sql, order, fixed, changes_rights = self._statements.compiled(statement, tuple(values))
        if changes_rights:
            self._rights.clear()
        if order is None:
            cursor.execute(sql, tuple(values.values()))
        else:
            known = {**fixed, **values}
            cursor.execute(sql, tuple(map(known.__getitem__, order)))


def _table_order(statement: Any) -> int:
    return metadata.sorted_tables.index(statement.table)


@dataclass(slots=True, eq=False)
class Repository:
    """What the repositories of one unit of work have in common."""

    _transaction: Transaction


def text_length_of_row(row: Row) -> int:
    """Return about how many characters there are in a row."""
    length = 0
    for value in row:
        length += len(value) if isinstance(value, str) else 8
    return length
