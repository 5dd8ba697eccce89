"""Copies of a whole gallery: backups, restoring them (contract K4), and moves into another database (contract K9).

The source of a move is locked until it is marked as moved, so no write is lost in between. A move that breaks off
before the mark leaves the source as it was; if the target was already complete, running it again only compares the two
and adds the mark.
"""

import re
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import chain, zip_longest
from pathlib import Path
from secrets import randbelow
from typing import Any, Final, Literal

from sqlalchemy import Connection, Row, Table, delete, insert, inspect, literal, select, update

from logoadmin.adapters.sql_storage import schema
from logoadmin.adapters.sql_storage.databases import Dialect, dialect_of, parsed_url
from logoadmin.adapters.sql_storage.pool import ConnectionPool
from logoadmin.adapters.sql_storage.storage import SqlStorage
from logoadmin.adapters.sql_storage.tables import COUNTED, MOVED_TO, metadata, secrets, state
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.adapters.sql_storage.unit_of_work import SqlUnitOfWork
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import SettingsError, StartError, StorageUnavailable, TablesMissing
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.files.gallery_keys import raise_epoch
from logoadmin.ports.metrics import Metrics

# A restore skips at least this many ids, and a random number of up to as many more: a backup may be restored twice, and
# the second restore cannot know which ids were issued after the first.
_PASSED_OVER: Final = 2**20
_AT_RANDOM: Final = 2**24
_VERSIONS: Final = {f"{kind}_version" for kind in Kind}
# Names of copies in a directory, with the time in UTC, so that they sort by age.
DATED: Final = "{stem}-{now:%Y-%m-%dT%H%M%SZ}"
_DATE: Final = r"\d{4}-\d\d-\d\dT\d{6}Z"


def back_up(url: str, target: Path) -> None:
    """Write a consistent copy of a gallery to a file, which must not exist, while others use it.

    Raises:
        SettingsError: the URL cannot be used.
        TablesMissing: there is no gallery.
        StartError: it cannot be made, the file exists, or another program makes it, which the text names.
        OSError: the file cannot be written.
    """
    dialect = dialect_of(url)
    if not dialect.exists():
        raise TablesMissing(dialect.server)
    if dialect.embedded:
        _refuse_empty(dialect, dialect.server)
    dialect.back_up(target)


def back_up_into(url: str, directory: Path, keep: int | None = None) -> Path:
    """Back up into a new file named after the database and the time, and return it; files with other names stay.

    Once it is complete, the oldest backups beyond ``keep`` are removed; None keeps all.

    Raises:
        OSError: the file cannot be written, or an old one cannot be removed; otherwise as :func:`back_up`.
    """
    dialect = dialect_of(url)
    stem, suffix = (Path(dialect.server).stem, ".db") if dialect.embedded else ("gallery", ".sql")
    target = directory / (DATED.format(stem=stem, now=datetime.now(UTC)) + suffix)
    back_up(url, target)
    if keep is not None:
        _remove_old(target, stem, keep)
    return target


def _remove_old(target: Path, stem: str, keep: int) -> None:
    """Remove all copies except the new one, whatever the clock was, and the latest others, up to ``keep``."""
    dated = re.compile(rf"{re.escape(stem)}-{_DATE}\.db")
    names = {path.name for path in target.parent.iterdir()} - {target.name}
    copies = sorted(name for name in names if dated.fullmatch(name))
    old = copies[: max(0, len(copies) - (keep - 1))]
    # A backup that was killed left a hidden file with a longer name.
    broken_off = [
        name for name in names if name[0] == "." and dated.match(name[1:]) and name[1:] < max(old, default="")
    ]
    for name in (*old, *broken_off):
        (target.parent / name).unlink(missing_ok=True)


def restore(url: str, source: Path) -> None:
    """Restore a backup as a new database, with the tables of this program; ids are never reused.

    Readers of the published gallery follow it to lower versions, since its epoch rises (contract L7).

    Raises:
        SettingsError: the URL cannot be used.
        StartError: the database exists or cannot be made; the file is not a gallery, is damaged, or is of a newer
            program; or another program restores it, which the text names.
        OSError: the file is missing, or the database cannot be written.
    """
    dialect_of(url).restore(source, lambda copy: _fit(copy, source.name))


def restore_loaded(url: str) -> None:
    """Finish a restore as :func:`restore` does, after another program loaded the copy, as a dump into a server.

    Raises:
        SettingsError: the URL cannot be used.
        TablesMissing: there is no gallery; SchemaMismatch: it is of a newer program; StartError: it is incomplete.
        StorageUnavailable: the database is unavailable.
    """
    dialect = dialect_of(url)
    if not dialect.exists():
        raise TablesMissing(dialect.server)
    _refuse_empty(dialect, dialect.server)
    with closing(_pool_of(dialect)) as pool:
        pool.call(pool.on_connection(_refuse_parts))
    _make_current(dialect)


def _refuse_parts(connection: Connection) -> None:
    """Refuse an incomplete load, which nothing else would notice before a query of a missing table."""
    schema.refuse_unknown(connection)
    missing = sorted(metadata.tables.keys() - set(inspect(connection).get_table_names()))
    if missing:
        raise StartError(f"The copy is not whole, it has no table {missing[0]}; load one into an empty database")


def _storage_of(dialect: Dialect) -> SqlStorage:
    return SqlStorage(dialect, connections=None, timeout=None, metrics=Metrics())


def _pool_of(dialect: Dialect) -> ConnectionPool:
    return ConnectionPool(dialect, 1, None, Metrics())


def _refuse_empty(dialect: Dialect, name: str) -> None:
    with _damage_explained(name), closing(_storage_of(dialect)) as storage:
        if storage.is_empty():
            raise TablesMissing


def _fit(dialect: Dialect, name: str) -> None:
    try:
        _refuse_empty(dialect, name)
    except TablesMissing:
        raise StartError(f"{name} is not the backup of a gallery; name another file") from None
    with _damage_explained(name):
        _make_current(dialect)


@contextmanager
def _damage_explained(name: str) -> Iterator[None]:
    """Name the file of a backup in the error, not its copy."""
    try:
        yield
    except StorageUnavailable as error:
        if error.cause is not Cause.CORRUPT:
            raise
        raise StartError(f"{name}: {error.cause.text}; {error.cause.cure}") from None


def _make_current(dialect: Dialect) -> None:
    def work(connection: Connection, transaction: Transaction) -> None:
        _pass_over_ids(connection)
        raise_epoch(SqlUnitOfWork(transaction), int(time.time()))

    with closing(_storage_of(dialect)) as storage:
        storage.prepare_and(work)


def _pass_over_ids(connection: Connection) -> None:
    """Skip the ids that may have been issued since the backup (contract K4, decision 0002)."""
    some = _PASSED_OVER + randbelow(_AT_RANDOM)
    ids = [state.c[name] for name in COUNTED if name not in _VERSIONS]
    row = connection.execute(select(*ids)).mappings().one()
    # At most half of the remaining ids, so that some are always left.
    passed = {name: given + min(some, (MAX_ID - given) // 2) for name, given in row.items()}
    connection.execute(update(state).values({**passed, "writes": state.c.writes + 1}))


# Called once a table was copied or compared, with the number of its rows.
Progress = Callable[[Literal["copied", "compared"], str, int], None]
Rows = Sequence[Row[Any]]

# Referenced tables first.
_TABLES: Final = metadata.sorted_tables
# The number of rows in memory, each of which may have some megabytes.
_FETCHED: Final = 64


def move(url: str, target_url: str, progress: Progress) -> str:
    """Copy all tables into an empty database, compare them row by row, and mark the source as moved.

    Return the address of the target, without user and password.

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
    with closing(_pool_of(source)) as pool, closing(_storage_of(target)) as storage:
        pool.call(pool.on_connection(schema.check))  # before the target is touched

        def work(transaction: Transaction) -> None:
            transaction.take_write_lock(source.begin_write)
            connection = pool.on_connection(lambda connection: connection)(transaction)
            schema.check(connection)
            copy = TableCopy(pool, connection, source.server, progress)
            storage.prepare_and(lambda connection, _: copy.make(connection))
            _mark(connection, address)
            transaction.commit()

        pool.call(work, writing=True)


def _mark(connection: Connection, address: str) -> None:
    """Mark the source; without the row of the lock, services that still run cannot write."""
    connection.execute(insert(secrets).values(name=MOVED_TO, value=address))
    connection.execute(update(state).values(state_id=-state.c.state_id))


class TableCopy:
    """The copy of all tables of a database, in a transaction of each of the two."""

    def __init__(self, pool: ConnectionPool, source: Connection, server: str, progress: Progress) -> None:
        self._pool, self._source, self._server, self._progress = pool, source, server, progress

    def make(self, target: Connection) -> None:
        """Copy all tables, unless an earlier run has, and compare them."""
        schema.check(target)
        any_row = select(literal(1)).limit(1)
        others = (table for table in _TABLES if table is not state)
        is_empty = all(target.execute(any_row.select_from(table)).first() is None for table in others)
        if is_empty:
            self.copy_to(target)
        for table in _TABLES:
            if not self._is_equal(target, table):
                raise StartError(
                    f"Table {table.name} differs from its copy; nothing was moved"
                    if is_empty
                    else "The other database has records; name an empty one"
                )

    def copy_to(self, target: Connection) -> None:
        """Copy all tables to empty ones."""
        target.execute(delete(state))
        for table in _TABLES:
            count = 0
            with closing(self._parts(table)) as parts:
                for rows in parts:
                    target.execute(insert(table), [row._asdict() for row in rows])
                    count += len(rows)
            self._progress("copied", table.name, count)

    def _is_equal(self, target: Connection, table: Table) -> bool:
        count = 0
        with closing(self._parts(table)) as given, closing(_parts(target, table)) as copied:
            for row, copy in zip_longest(chain.from_iterable(given), chain.from_iterable(copied)):
                if row != copy:
                    return False
                count += 1
        self._progress("compared", table.name, count)
        return True

    def _parts(self, table: Table) -> Generator[Rows, None, None]:
        """Yield the rows of a table of the source, whose errors differ from those of the target."""
        try:
            yield from _parts(self._source, table)
        except Exception as error:
            failure = self._pool.driver_errors.failure(error)
            if failure is None:
                raise
            raise StorageUnavailable(self._server, failure.cause) from None


def _parts(connection: Connection, table: Table) -> Generator[Rows, None, None]:
    query = select(table).order_by(*table.primary_key).execution_options(yield_per=_FETCHED)
    with connection.execute(query) as result:
        yield from result.partitions()


def _address(url: str, dialect: Dialect) -> str:
    """Return the address of a database for people: never a user or a password."""
    return dialect.server if dialect.embedded else f"{dialect.server}/{parsed_url(url).database}"
