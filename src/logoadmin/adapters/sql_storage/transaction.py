"""The statements of one unit of work, all on the same connection, and the ids that it gives."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

from sqlalchemy import ClauseElement, Dialect, PoolProxiedConnection, select, update

from logoadmin.adapters.sql_storage.tables import COUNTED, state
from logoadmin.domain.errors import Conflict, DuplicateEntry
from logoadmin.domain.limits import MAX_ID

_READ = select(*(state.c[name] for name in COUNTED))
HOLD = _READ.with_for_update()
_KEEP = update(state)

Row = Sequence[Any]


class Statements:
    """Writes statements in the SQL of one database, each of them once.

    They run on the driver's own cursor: SQLAlchemy's way there takes as long as SQLite takes to answer.
    """

    __slots__ = ("_dialect", "_written", "refused", "together")

    def __init__(self, dialect: Dialect, *, together: bool) -> None:
        """Write for a database, and with its driver's way of naming values.

        Args:
            dialect: of the database.
            together: whether several statements can be sent at once, and are, to save round trips.
        """
        self._dialect = dialect
        self.together = together
        self._written: dict[tuple[ClauseElement, tuple[str, ...]], tuple[str, Callable[[Any], Row]]] = {}
        self.refused: type[Exception] = dialect.loaded_dbapi.IntegrityError

    def written(self, statement: ClauseElement, names: tuple[str, ...]) -> tuple[str, Callable[[Any], Row]]:
        """Return the SQL of a statement that gets values of these names, and what puts the values in its order."""
        known = self._written.get((statement, names))
        if known is None:
            known = self._written[statement, names] = self._write(statement, names)
        return known

    def _write(self, statement: ClauseElement, names: tuple[str, ...]) -> tuple[str, Callable[[Any], Row]]:
        compiled: Any = statement.compile(dialect=self._dialect, column_keys=list(names))
        order: tuple[str, ...] = tuple(compiled.positiontup or ())
        fixed = {name: value for name, value in compiled.params.items() if name not in names}
        if len(order) > 1 and not fixed:
            return str(compiled), itemgetter(*order)
        return str(compiled), lambda values: tuple({**fixed, **values}[name] for name in order)


class Transaction:
    """Runs statements for the repositories of one unit of work.

    Attributes:
        counters: what is counted.
    """

    __slots__ = ("_cursor", "_last", "_statements", "counters")

    def __init__(self, connection: PoolProxiedConnection, statements: Statements) -> None:
        """Work on a connection on which the transaction, if there is to be one, has begun."""
        self._cursor = connection.cursor()
        self._statements = statements
        self._last: list[tuple[str, Row]] = []
        self.counters = Counters(self)

    def begin(self, statements: Sequence[str]) -> None:
        """Begin a write: it waits for the one before it and keeps the next one waiting."""
        hold, _ = self._statements.written(HOLD, ())
        self.counters.held(self._send([*((statement, ()) for statement in statements), (hold, ())])[0])

    def run(self, statements: Sequence[str]) -> None:
        """Run statements that have no values and no rows."""
        self._send([(statement, ()) for statement in statements])

    def at_last(self, statement: ClauseElement, values: Mapping[str, Any]) -> None:
        """Make a change that the rest of the work hardly looks at: at the end, or before it runs another statement."""
        sql, ordered = self._statements.written(statement, tuple(values))
        self._last.append((sql, ordered(values)))

    def finish(self) -> None:
        """Run what was put off, so that nothing is left but the commit."""
        changed = self.counters.changed()
        if changed:
            self.at_last(_KEEP, changed)
        self._catch_up()

    def commit(self) -> None:
        """Keep everything. Alone: only of a commit is it unknown, when the connection is lost, whether it was done."""
        self._cursor.execute("COMMIT")

    def _send(self, statements: Sequence[tuple[str, Row]]) -> Sequence[Row]:
        """Run statements, in one round trip where that is possible; return the rows of the last one that has some."""
        if not self._statements.together:
            for sql, values in statements:
                self._cursor.execute(sql, values)
            return self._fetched()
        self._cursor.execute(
            "; ".join(sql for sql, _ in statements), tuple(chain(*(values for _, values in statements)))
        )
        rows = self._fetched()
        while self._cursor.nextset():
            rows = self._fetched()
        return rows

    def _fetched(self) -> Sequence[Row]:
        rows: Sequence[Row] = self._cursor.fetchall() if self._cursor.description else ()
        return rows

    def row(self, statement: ClauseElement, values: Mapping[str, Any]) -> Row | None:
        """Return the first row that a query finds, or None."""
        rows = self.rows(statement, values)
        return rows[0] if rows else None

    def rows(self, statement: ClauseElement, values: Mapping[str, Any]) -> Sequence[Row]:
        """Return the rows that a query finds."""
        self._execute(statement, values)
        rows: Sequence[Row] = self._cursor.fetchall()
        return rows

    def change(self, statement: ClauseElement, values: Mapping[str, Any]) -> int:
        """Return how many rows a change met; those that had the new values before count too."""
        self._execute(statement, values)
        return self._cursor.rowcount

    def change_each(self, statement: ClauseElement, values: Sequence[Mapping[str, Any]]) -> None:
        """Make a change with one set of values after the other, all of which have the same names."""
        self._catch_up()
        sql, ordered = self._statements.written(statement, tuple(values[0]))
        self._cursor.executemany(sql, [ordered(each) for each in values])

    def claim(
        self, statement: ClauseElement, values: Mapping[str, Any], explain: Callable[[], DuplicateEntry | None]
    ) -> None:
        """Make a change that a unique key may refuse; ``explain`` then looks for the value that is taken.

        It looks after the fact, so that the many changes that meet no duplicate pay nothing for the few that do.
        Both databases undo no more than the statement, so the transaction goes on. The error is made from the
        request; the driver's text knows other spellings of it.
        """
        try:
            self._execute(statement, values)
        except self._statements.refused:
            duplicate = explain()
            if duplicate is None:
                raise
        else:
            return
        # Out here, so that the driver's text is not in tow.
        raise duplicate

    def _catch_up(self) -> None:
        if self._last:
            put_off, self._last = self._last, []
            self._send(put_off)

    def _execute(self, statement: ClauseElement, values: Mapping[str, Any]) -> None:
        self._catch_up()
        sql, ordered = self._statements.written(statement, tuple(values))
        self._cursor.execute(sql, ordered(values))


class Counters:
    """The last ids that were given and the last changes of each kind, which all stand in one row.

    The database's own numbers would not do as ids: they stay used when the work is undone, and each database counts
    on differently. Whoever writes takes the row first and keeps it from others to the end, so there is one write at a
    time: changes are kept in the order of their ids, and no other row needs a lock.
    """

    __slots__ = ("_found", "_held", "_now", "_transaction")

    def __init__(self, transaction: Transaction) -> None:
        """Count in a transaction."""
        self._transaction = transaction
        self._found: dict[str, int] = {}
        self._now: dict[str, int] = {}
        self._held = False

    def held(self, row: Row) -> None:
        """Take note of the row, which is ours until the end."""
        self._found = dict(zip(COUNTED, row, strict=True))
        self._now = dict(self._found)
        self._held = True

    def next(self, name: str) -> int:
        """Return the next id, named as its field is.

        Raises:
            Conflict: there is none left (contract A2).
        """
        id_ = self.last(name) + 1
        if id_ > MAX_ID:
            raise Conflict(f"No {name} is left")
        self._now[name] = id_
        return id_

    def last(self, name: str) -> int:
        """Return the highest id that was ever given, or the last change of a kind."""
        if not self._now:
            row = self._transaction.row(_READ, {})
            if row is None:
                raise LookupError("the table of counters has lost its row")
            self._now = dict(zip(COUNTED, row, strict=True))
        return self._now[name]

    def never_given(self, name: str, id_: int) -> bool:
        """Tell whether an id is known, without asking the database, to be of no record at all."""
        return self._held and id_ > self._now[name]

    def used(self, name: str, number: int) -> None:
        """Take note of an id that was not given here, or of a change of a kind."""
        if number > self.last(name):
            self._now[name] = number

    def changed(self) -> dict[str, int]:
        """Return what was counted since it was held."""
        return {name: number for name, number in self._now.items() if self._held and number != self._found[name]}
