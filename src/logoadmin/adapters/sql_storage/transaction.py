"""The statements of one unit of work, all on the same connection, and the ids that it gives."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import ClauseElement, Dialect, PoolProxiedConnection, bindparam, select, update

from logoadmin.adapters.sql_storage.tables import counters
from logoadmin.domain.errors import Conflict, DuplicateEntry
from logoadmin.domain.limits import MAX_ID

_LAST_ID = select(counters.c.last_id).where(counters.c.name == bindparam("id_name")).with_for_update()
_KEEP_LAST_ID = update(counters).where(counters.c.name == bindparam("id_name"))

Row = Sequence[Any]


class Statements:
    """Writes statements in the SQL of one database, each of them once.

    They run on the driver's own cursor: SQLAlchemy's way there takes as long as SQLite takes to answer.
    """

    __slots__ = ("_dialect", "_written", "refused")

    def __init__(self, dialect: Dialect) -> None:
        """Write for a database, and with its driver's way of naming values."""
        self._dialect = dialect
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
        writing: whether what is read is to be kept from others until the end.
        ids: the ids given in it.
        held: the pieces that nobody else can change before its end, by the name of their link ids and their id, with
            whether they may have links.
    """

    __slots__ = ("_cursor", "_statements", "held", "ids", "writing")

    def __init__(self, connection: PoolProxiedConnection, statements: Statements, *, writing: bool) -> None:
        """Work on a connection on which the transaction, if there is to be one, has begun."""
        self._cursor = connection.cursor()
        self._statements = statements
        self.writing = writing
        self.ids = Ids(self)
        self.held: dict[tuple[str, int], bool] = {}

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

    def _execute(self, statement: ClauseElement, values: Mapping[str, Any]) -> None:
        sql, ordered = self._statements.written(statement, tuple(values))
        self._cursor.execute(sql, ordered(values))


class Ids:
    """Gives ids without gaps: one more than the last that anybody was given and kept.

    The database's own numbers would not do: they stay used when the work is undone, and each database counts on
    differently. A counter is locked at its first use and written back at the end of the unit of work.
    """

    __slots__ = ("_found", "_last", "_transaction")

    def __init__(self, transaction: Transaction) -> None:
        """Give ids in a transaction."""
        self._transaction = transaction
        self._found: dict[str, int] = {}
        self._last: dict[str, int] = {}

    def next(self, id_name: str) -> int:
        """Return the next id, named as its field is.

        Raises:
            Conflict: there is none left (contract A2).
        """
        id_ = self.last(id_name) + 1
        if id_ > MAX_ID:
            raise Conflict(f"No {id_name} is left")
        self._last[id_name] = id_
        return id_

    def last(self, id_name: str) -> int:
        """Return the highest id that was ever given, and keep others from giving ids meanwhile."""
        if id_name not in self._last:
            row = self._transaction.row(_LAST_ID, {"id_name": id_name})
            if row is None:
                raise LookupError(f"the table of counters has lost {id_name}")
            self._found[id_name] = self._last[id_name] = row[0]
        return self._last[id_name]

    def never_given(self, id_name: str, id_: int) -> bool:
        """Tell whether an id is known, without asking the database, to be of no record at all."""
        return id_ > self._last.get(id_name, MAX_ID)

    def used(self, id_name: str, id_: int) -> None:
        """Take note of an id that was not given here."""
        if id_ > self.last(id_name):
            self._last[id_name] = id_

    def keep(self) -> None:
        """Write back what was given."""
        for id_name, last_id in self._last.items():
            if last_id != self._found[id_name]:
                self._transaction.change(_KEEP_LAST_ID, {"id_name": id_name, "last_id": last_id})
