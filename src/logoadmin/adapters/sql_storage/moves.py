"""Moves a gallery whole into another database (contract K9).

The source is locked until it is marked as moved, so no write is lost in between. A move that breaks off before the mark
leaves the source as it was; if the target was already complete, running it again only compares the two and adds the
mark.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from itertools import chain, zip_longest
from typing import Any, Final, Literal

from sqlalchemy import Connection, Row, Table, delete, insert, literal, select, update

from logoadmin.adapters.sql_storage.databases import dialect_of, parsed_url
from logoadmin.adapters.sql_storage.databases.dialect import Dialect
from logoadmin.adapters.sql_storage.resilience.pool import ConnectionPool
from logoadmin.adapters.sql_storage.schema.schema import Schema
from logoadmin.adapters.sql_storage.storage import SqlStorage
from logoadmin.adapters.sql_storage.tables.all_tables import metadata, state
from logoadmin.adapters.sql_storage.tables.kernel_tables import MOVED_TO, secrets
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.kernel.errors import SettingsError, StartError, StorageUnavailable, TablesMissing
from logoadmin.ports.metrics import NoMetrics

# Called once a table was copied or compared, with the number of its rows.
Progress = Callable[[Literal["copied", "compared"], str, int], None]
Rows = Sequence[Row[Any]]

# Referenced tables first.
_TABLES: Final = metadata.sorted_tables
# The number of rows in memory, each of which may have some megabytes.
_FETCHED: Final = 64


def move(url: str, target_url: str, progress: Progress) -> str:
    """Copy all tables into an empty database, compare them row by row, and mark the source as moved.

    Args:
        url: of the source, with the tables of this program.
        target_url: of the target, which must have no records.
        progress: called after each step.

    Returns:
        The address of the target, without user and password.

    Raises:
        SettingsError: a URL cannot be used, or both are of one database.
        SchemaMismatch: the source has no gallery, or not one of this version, or was moved before.
        StartError: the target has records or cannot be made, or the copy differs.
        StorageUnavailable: a database is out of reach.
    """
    source, target = dialect_of(url), dialect_of(target_url)
    address = _address(target_url, target)
    if source.files & target.files or (not source.files and _address(url, source) == address):
        raise SettingsError(f"{address} is the database to move; name another one")
    if not source.exists():
        raise TablesMissing(source.server)
    _move(source, target, address, progress)
    return address


def _move(source: Dialect, target: Dialect, address: str, progress: Progress) -> None:
    with (
        closing(ConnectionPool(source, 1, None, NoMetrics())) as pool,
        closing(SqlStorage(target, connections=None, timeout=None, metrics=NoMetrics())) as storage,
    ):
        schema = Schema(source)
        pool.call(pool.on_connection(schema.check))  # before the target is touched

        def work(transaction: Transaction) -> None:
            transaction.take_write_lock(source.begin_write)
            connection = pool.on_connection(lambda connection: connection)(transaction)
            schema.check(connection)
            copy = _Copy(_Source(pool, source.server, connection), Schema(target), progress)
            storage.prepare_and(lambda connection, _: copy.make(connection))
            _mark(connection, address)
            transaction.commit()

        pool.call(work, writing=True)


def _mark(connection: Connection, address: str) -> None:
    """Mark the source; without the row of the lock, services that still run cannot write."""
    connection.execute(insert(secrets).values(name=MOVED_TO, value=address))
    connection.execute(update(state).values(state_id=-state.c.state_id))


class _Source:
    """The database to move, whose errors differ from those of the target."""

    def __init__(self, pool: ConnectionPool, server: str, connection: Connection) -> None:
        self._pool = pool
        self._server = server
        self._connection = connection

    def parts(self, table: Table) -> Generator[Rows, None, None]:
        """Yield the rows of a table, some at a time.

        Raises:
            StorageUnavailable: the database failed.
        """
        try:
            yield from _parts(self._connection, table)
        except Exception as error:
            failure = self._pool.driver_errors.failure(error)
            if failure is None:
                raise
            raise StorageUnavailable(self._server, failure.cause) from None


class _Copy:
    """The copy of all tables, in the transaction of the target."""

    def __init__(self, source: _Source, schema: Schema, progress: Progress) -> None:
        self._source = source
        self._schema = schema
        self._progress = progress

    def make(self, target: Connection) -> None:
        """Copy all tables, unless an earlier run has, and compare them.

        Raises:
            StartError: the target has other records, or other rows than were copied.
        """
        self._schema.check(target)
        is_empty = not any(_has_rows(target, table) for table in _TABLES if table is not state)
        if is_empty:
            self._copy(target)
        for table in _TABLES:
            if not self._is_equal(target, table):
                raise StartError(
                    f"Table {table.name} differs from its copy; nothing was moved"
                    if is_empty
                    else "The other database has records; name an empty one"
                )

    def _copy(self, target: Connection) -> None:
        target.execute(delete(state))
        for table in _TABLES:
            count = 0
            with closing(self._source.parts(table)) as parts:
                for rows in parts:
                    target.execute(insert(table), [row._asdict() for row in rows])
                    count += len(rows)
            self._progress("copied", table.name, count)

    def _is_equal(self, target: Connection, table: Table) -> bool:
        count = 0
        with closing(self._source.parts(table)) as given, closing(_parts(target, table)) as copied:
            for row, copy in zip_longest(chain.from_iterable(given), chain.from_iterable(copied)):
                if row != copy:
                    return False
                count += 1
        self._progress("compared", table.name, count)
        return True


def _parts(connection: Connection, table: Table) -> Generator[Rows, None, None]:
    query = select(table).order_by(*table.primary_key).execution_options(yield_per=_FETCHED)
    with connection.execute(query) as result:
        yield from result.partitions()


def _has_rows(connection: Connection, table: Table) -> bool:
    return connection.execute(select(literal(1)).select_from(table).limit(1)).first() is not None


def _address(url: str, dialect: Dialect) -> str:
    """Return the address of a database for people: never a user or a password."""
    return dialect.server if dialect.embedded else f"{dialect.server}/{parsed_url(url).database}"
