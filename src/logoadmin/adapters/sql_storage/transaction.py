"""The statements of one unit of work, all on the same connection."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, Final, NamedTuple

from sqlalchemy import ClauseElement, PoolProxiedConnection, Select, Table, Text, literal_column, select, update

from logoadmin.adapters.sql_storage.counters import NO_COUNTERS, Counters
from logoadmin.adapters.sql_storage.failures import Classification, Failure, FailureKind
from logoadmin.adapters.sql_storage.statements import CompiledStatement, StatementCompiler
from logoadmin.adapters.sql_storage.tables import COUNTED, MOVED_TO, STATE_ID, metadata, secrets, state
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.lists import truncated_page

Row = Sequence[Any]

# A write locks the row of counters first and holds it to the end, so writes run one at a time: changes are stored in
# the order of their ids, and records need no locks.
_COUNTED: Final = select(*(state.c[name] for name in COUNTED)).where(state.c.state_id == STATE_ID)
_LOCK: Final = _COUNTED.with_for_update()
_LOCK_AT_ONCE: Final = _COUNTED.with_for_update(nowait=True)
# A database that was moved has no such row (contract K9).
_MOVED: Final = select(secrets.c.name).where(secrets.c.name == literal_column(f"'{MOVED_TO}'"))
# Each write changes it, even without new ids, so that a cluster detects conflicts with other writes (contract H5).
_STORE_COUNTED: Final = update(state).where(state.c.state_id == STATE_ID).values(writes=state.c.writes + 1)

# Referenced tables first.
_TABLE_ORDER: Final = {table: at for at, table in enumerate(metadata.sorted_tables)}
# The places of the columns of each table whose texts may be long.
_LONG_TEXTS: Final = {
    table: [at for at, column in enumerate(table.c) if isinstance(column.type, Text)]
    for table in metadata.tables.values()
}
# The maximum number of rows of a table that are held back, and of the characters in their long texts.
_HELD_BACK: Final = 256
_HELD_BACK_TEXT: Final = 2**18


class Savepoint(NamedTuple):
    """The name of a savepoint, and the counters when it was set."""

    name: str
    counters: dict[str, int]


class Start(NamedTuple):
    """Where a part of the work began that may be forgotten, see :meth:`Transaction.forget`."""

    counters: dict[str, int]
    held_back: dict[Table, int]


class Transaction:
    """Runs the statements of the repositories of one unit of work.

    A write begins with :meth:`take_write_lock` and ends with :meth:`finish` and :meth:`commit`, or :meth:`undo`.
    Otherwise each statement is its own transaction.

    Attributes:
        counters: those of a write; a transaction that only reads has :data:`NO_COUNTERS`.
    """

    def __init__(self, connection: PoolProxiedConnection, statements: StatementCompiler) -> None:
        self.connection = connection
        self.refused = statements.refused
        self._cursor: Any = connection.cursor()
        self._statements = statements
        self._begun = False
        self._has_changed = False
        self.counters = NO_COUNTERS
        self._last: Mapping[str, int] = {}
        self._held_back: dict[Table, list[Row]] = {}
        self._held_text = 0
        self._has_lost_rows = False
        self._start = Start({}, {})
        self._has_changed_since_start = False
        self._rights: dict[tuple[Any, ...], Row | None] = {}
        self._depth = 0

    def begin(self, statement: str) -> None:
        """Begin with a statement without values and rows."""
        self._begun = True
        self._cursor.execute(statement)

    def take_write_lock(self, statement: str | None, *, wait: bool = True) -> None:
        """Begin a write, unless it has begun: take the lock, or fail if another holds it and ``wait`` is false."""
        if statement is not None:
            self.begin(statement)
        self.counters = Counters(self._stored_counters(_LOCK if wait else _LOCK_AT_ONCE))

    def finish(self) -> None:
        """Store pending changes and counters, so that only the commit is left.

        Raises RuntimeError if rows could not be stored, which other work than theirs may have met.
        """
        self.store_held_back()
        if self._has_lost_rows:
            raise RuntimeError("rows that were held back could not be stored")
        raised = self.counters.raised()
        if raised or self._has_changed:
            self.execute(self._statements.compiled(_STORE_COUNTED, tuple(raised)), raised)

    def commit(self) -> None:
        """Commit. This is separate, since only the outcome of a commit is unknown if the connection is lost."""
        self._cursor.execute("COMMIT")

    def undo(self) -> None:
        """Roll back, if it has begun."""
        if self._begun:
            try:
                self._cursor.execute("ROLLBACK")
            except Exception:
                # If this fails, the server rolls back when the connection ends.
                self.connection.invalidate()

    def start_part(self) -> None:
        """Begin a part of the work that :meth:`forget` can undo as long as it has changed nothing."""
        self._start = Start(dict(self.counters.values), {table: len(rows) for table, rows in self._held_back.items()})
        self._has_changed_since_start = False

    def forget(self) -> bool:
        """Undo the part of the work that began last, unless it has changed rows in the database."""
        if self._has_changed_since_start:
            return False
        self.counters.restore(self._start.counters)
        for table, rows in self._held_back.items():
            del rows[self._start.held_back.get(table, 0) :]
        return True

    def savepoint(self) -> Savepoint:
        """Begin a part of the work that can be undone separately."""
        self.store_held_back()
        self._depth += 1
        savepoint = Savepoint(f"part_{self._depth}", dict(self.counters.values))
        self._cursor.execute(f"SAVEPOINT {savepoint.name}")
        return savepoint

    def release(self, savepoint: Savepoint) -> None:
        """End a part of the work."""
        self._depth -= 1
        self._cursor.execute(f"RELEASE SAVEPOINT {savepoint.name}")

    def roll_back(self, savepoint: Savepoint) -> None:
        """Undo a part of the work."""
        self.counters.restore(savepoint.counters)
        self._held_back.clear()
        self._held_text = 0
        self._rights.clear()
        self._cursor.execute(f"ROLLBACK TO SAVEPOINT {savepoint.name}")
        self.release(savepoint)

    def hold_back(self, table: Table, rows: Sequence[Row]) -> None:
        """Hold back whole rows, to insert them with others before a statement that names their table, or at the end.

        No key can refuse them: their ids are new or random, or they replace others.
        """
        held = self._held_back.setdefault(table, [])
        held += rows
        self._held_text += sum([len(row[at] or "") for at in _LONG_TEXTS[table] for row in rows])
        if len(held) >= _HELD_BACK or self._held_text >= _HELD_BACK_TEXT:
            self.store_held_back()

    def store_held_back(self) -> None:
        """Insert the rows that are held back."""
        held, self._held_back, self._held_text = self._held_back, {}, 0
        try:
            for table in sorted(filter(held.get, held), key=_TABLE_ORDER.__getitem__):
                # The driver combines them into as few statements as possible, or prepares one for all.
                self._cursor.executemany(self._statements.insert(table), held[table])
                self._has_changed = True
                self._has_changed_since_start |= len(held[table]) > self._start.held_back.get(table, 0)
        except BaseException:
            self._has_lost_rows = True
            raise
        self._start.held_back.clear()

    def row(self, statement: ClauseElement, values: Mapping[str, Any]) -> Row | None:
        """Return the first row that a query finds, or None."""
        self.execute(self._statements.compiled(statement, tuple(values)), values)
        rows = self._cursor.fetchall()  # all, so that the statement ends
        return rows[0] if rows else None

    def rows(self, statement: ClauseElement, values: Mapping[str, Any]) -> Sequence[Row]:
        """Return the rows that a query finds."""
        self.execute(self._statements.compiled(statement, tuple(values)), values)
        rows: Sequence[Row] = self._cursor.fetchall()
        return rows

    def page(self, statement: ClauseElement, values: Mapping[str, Any]) -> Sequence[Row]:
        """Return the rows that a query finds, bounded by the size of a page."""
        # Closed, since a database may keep the query and its snapshot until the last row is released.
        with closing(self._statements.page_cursor(self.connection)) as cursor:
            self.execute(self._statements.compiled(statement, tuple(values)), values, cursor)
            return truncated_page(cursor, text_length_of_row)

    def rows_in_time(self, statement: ClauseElement, values: Mapping[str, Any]) -> Sequence[Row]:
        """Return the rows that a query finds, however many, unless it takes longer than a search may."""
        with closing(self._statements.page_cursor(self.connection)) as cursor:
            self.execute(self._statements.compiled(statement, tuple(values)), values, cursor)
            rows: Sequence[Row] = cursor.fetchall()
            return rows

    def rights(self, statement: ClauseElement, values: Mapping[str, Any]) -> Row | None:
        """Return the row with the rights of a user, or with a secret.

        The writes of a transaction read it once, and again after one of them has changed rights or secrets.
        """
        of = (statement, *values.values())
        if of in self._rights:
            return self._rights[of]
        found = self.row(statement, values)
        if self.counters is not NO_COUNTERS:
            self._rights[of] = found
        return found

    def change(self, statement: ClauseElement, values: Mapping[str, Any]) -> int:
        """Return the number of rows that a change matched, including those that already had the new values."""
        compiled = self._statements.compiled(statement, tuple(values))
        if compiled.changes_rights:
            self._rights.clear()
        self.execute(compiled, values)
        met: int = self._cursor.rowcount
        if met > 0:
            self._has_changed = self._has_changed_since_start = True
        return met

    @property
    def last(self) -> Mapping[str, int]:
        """The highest id ever issued to a record, by the name of its field, and the last change of each kind."""
        if self.counters is not NO_COUNTERS:
            return self.counters.values
        self._last = self._last or self._stored_counters(_COUNTED)
        return self._last

    def _stored_counters(self, statement: Select[Any]) -> dict[str, int]:
        row = self.row(statement, {})
        if row is None:
            cause = Cause.CORRUPT if self.row(_MOVED, {}) is None else Cause.MOVED
            raise Failure(Classification(FailureKind.BUSY, cause, "no counters"), LookupError())
        return dict(zip(COUNTED, row, strict=True))

    def execute(self, compiled: CompiledStatement, values: Mapping[str, Any], cursor: Any = None) -> None:
        """Run a statement, after inserting rows that are held back for a table that it names."""
        if self._held_back and not compiled.names.isdisjoint([table.name for table in self._held_back]):
            self.store_held_back()
        if compiled.order is None:
            given = tuple(values.values())
        else:
            given = tuple(map({**compiled.fixed, **values}.__getitem__, compiled.order))
        (cursor or self._cursor).execute(compiled.sql, given)


def text_length_of_row(row: Row) -> int:
    """Return the approximate number of characters in a row."""
    return sum([len(value) if type(value) is str else 8 for value in row])
