"""The statements of one unit of work, all on the same connection."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from types import TracebackType
from typing import Any, Final, NamedTuple

from sqlalchemy import ClauseElement, Insert, PoolProxiedConnection, bindparam, func, insert, literal, select, update

from logoadmin.adapters.sql_storage.statements import Row, StatementCompiler
from logoadmin.adapters.sql_storage.tables import CHANGE_BLOCKS, COUNTED, change_times, changes, state
from logoadmin.domain.model.errors import Conflict
from logoadmin.domain.model.limits import MAX_ID
from logoadmin.domain.model.lists import truncated_page

# What is counted stands in one row. Whoever writes locks it first and holds it to the end, so there is one write at a
# time: changes are stored in the order of their ids, and no other row needs a lock. The database's own numbers would
# not do as ids: they stay used when the work is undone, and each database counts on differently.
_COUNTED: Final = select(*(state.c[name] for name in COUNTED))
_LOCK: Final = _COUNTED.with_for_update()
_LOCK_AT_ONCE: Final = _COUNTED.with_for_update(nowait=True)
# Whatever was counted: this write, too, so that it meets all others in the certification of a cluster (contract H5).
_STORE_COUNTED: Final = update(state).values(writes=state.c.writes + 1)

_ADD_CHANGES: Final = insert(changes).inline()
_CHANGE: Final = tuple(column.name for column in changes.c)


def _add_times(size: int) -> Insert:
    """Make the statement that stores when the changes of each block were made, of blocks of a size."""
    block = changes.c.change_id // size
    of_each = select(literal(size), block, func.min(changes.c.at), func.max(changes.c.at)).group_by(block)
    some = of_each.where(changes.c.change_id >= bindparam("first"), changes.c.change_id < bindparam("end"))
    return insert(change_times).from_select(["size", "block", "earliest", "latest"], some)


ADD_TIMES: Final = {size: _add_times(size) for size in CHANGE_BLOCKS}
# So many changes are held back at most: one may have a megabyte.
_HELD_BACK: Final = 32


class Savepoint(NamedTuple):
    """A place in a transaction to which one can go back."""

    name: str
    counted: dict[str, int]
    history: list[Row]


class Transaction:
    """Runs statements for the repositories of one unit of work, each when it is told to.

    A write begins with :meth:`take_write_lock` and ends with :meth:`finish` and :meth:`commit`; leaving it by an error
    undoes it. Without a beginning, each statement is a transaction of its own.

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
        self._changed = False
        self._counted: dict[str, int] = {}
        self._locked: dict[str, int] | None = None
        self._history: list[Row] = []
        self._rights: dict[Row, Row | None] = {}
        self._depth = 0

    def begin(self, statements: Iterable[str]) -> None:
        """Begin with statements that have no values and no rows."""
        self._begun = True
        for statement in statements:
            self._cursor.execute(statement)

    def take_write_lock(self, statements: Iterable[str], *, wait: bool = True) -> None:
        """Begin a write: wait for the one before it, or else fail if there is one, and keep the next one waiting."""
        self.begin(statements)
        self._locked = self._look_at_counted(_LOCK if wait else _LOCK_AT_ONCE)
        self._counted = dict(self._locked)

    def finish(self) -> None:
        """Store what was recorded and counted, so that nothing is left but the commit."""
        self.store_history()
        if self._locked is not None:
            changed = {name: number for name, number in self._counted.items() if number != self._locked[name]}
            if changed or self._changed:
                self._execute(_STORE_COUNTED, changed)

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
        if len(self._history) >= _HELD_BACK:
            self.store_history()
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
        self._counted, self._history = savepoint.counted, savepoint.history
        self._rights.clear()
        self._cursor.execute(f"ROLLBACK TO SAVEPOINT {savepoint.name}")
        self.release(savepoint)

    def record(self, changes: Iterable[Row]) -> None:
        """Have entries of the history stored at the end, with one statement, if they are not too many to be held."""
        self._history += changes
        if len(self._history) >= _HELD_BACK:
            self.store_history()

    def store_history(self) -> None:
        """Store the entries of the history, before somebody looks at them and before the commit."""
        if self._history:
            self.insert(_ADD_CHANGES, _CHANGE, self._history)
            first, last = self._history[0][0], self._history[-1][0]
            self._history = []
            self._store_times(first, last)

    def _store_times(self, first: int, last: int) -> None:
        """Store when the changes were made of each block that ends with one of these."""
        for size, add in ADD_TIMES.items():
            begin, end = first // size * size, (last + 1) // size * size
            if begin < end:
                self._execute(add, {"first": begin, "end": end})

    def row(self, statement: ClauseElement, values: Mapping[str, Any]) -> Row | None:
        """Return the first row that a query finds, or None."""
        rows = self.rows(statement, values)
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

        Nobody else can change that while this transaction writes, so it is found once, and again after a change here.
        """
        of = tuple(values.values())
        if of in self._rights:
            return self._rights[of]
        found = self.row(statement, values)
        if self._locked is not None:
            self._rights[of] = found
        return found

    def change(self, statement: ClauseElement, values: Mapping[str, Any]) -> int:
        """Return how many rows a change met; those that had the new values before count too."""
        self._execute(statement, values)
        met: int = self._cursor.rowcount
        self._changed = self._changed or met > 0
        return met

    def insert(self, statement: ClauseElement, names: tuple[str, ...], rows: Sequence[Row]) -> None:
        """Insert rows, which have the values of these columns in the order of the table.

        The driver makes as few statements of them as its database takes, or prepares one for all.
        """
        self._changed = True
        self._cursor.executemany(self._statements.compiled(statement, names).sql, rows)

    def next_id(self, name: str) -> int:
        """Return the next id, named as its field is, in a write.

        Raises:
            Conflict: there is none left (contract A2).
        """
        id_ = self._counted[name] + 1
        if id_ > MAX_ID:
            raise Conflict(f"No {name} is left")
        self._counted[name] = id_
        return id_

    def last(self, name: str) -> int:
        """Return the highest id that was ever given, or the last change of a kind."""
        if not self._counted:
            self._counted = self._look_at_counted(_COUNTED)
        return self._counted[name]

    def count(self, name: str, number: int) -> None:
        """Take note, in a write, of an id that was not given here, or of a change of a kind."""
        if number > self._counted[name]:
            self._counted[name] = number

    def _look_at_counted(self, statement: ClauseElement) -> dict[str, int]:
        row = self.row(statement, {})
        if row is None:
            raise LookupError("the table of counters has lost its row")
        return dict(zip(COUNTED, row, strict=True))

    def _execute(self, statement: ClauseElement, values: Mapping[str, Any], cursor: Any = None) -> None:
        cursor = self._cursor if cursor is None else cursor
        sql, order, fixed, changes_rights = self._statements.compiled(statement, tuple(values))
        if changes_rights:
            self._rights.clear()
        if order is None:
            cursor.execute(sql, tuple(values.values()))
        else:
            known = {**fixed, **values}
            cursor.execute(sql, tuple([known[name] for name in order]))


class Repository:
    """What the repositories of one unit of work have in common."""

    __slots__ = ("_transaction",)

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction


def text_length_of_row(row: Row) -> int:
    """Return about how many characters there are in a row."""
    return sum([len(value) if isinstance(value, str) else 8 for value in row])
