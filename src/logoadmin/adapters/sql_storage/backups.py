"""Backups of a database, and databases made of them (contract K4)."""

import re
import secrets
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect, select, update

from logoadmin.adapters.sql_storage.databases import dialect_of
from logoadmin.adapters.sql_storage.databases.dialect import Dialect
from logoadmin.adapters.sql_storage.resilience.pool import ConnectionPool
from logoadmin.adapters.sql_storage.schema.schema import Schema
from logoadmin.adapters.sql_storage.storage import SqlStorage
from logoadmin.adapters.sql_storage.tables import COUNTED, WRITE_LOCKS, metadata, state
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.model.causes import Cause
from logoadmin.domain.model.errors import StartError, StorageUnavailable, TablesMissing
from logoadmin.domain.model.limits import MAX_ID
from logoadmin.domain.model.records import Kind
from logoadmin.ports.metrics import NoMetrics

# So many ids are passed over at least after a restore, and up to so many more, at random: a backup may be restored
# twice, and what happened after the first time is not known at the second.
_PASSED_OVER: Final = 2**20
_AT_RANDOM: Final = 2**24
_VERSIONS: Final = {f"{kind}_version" for kind in Kind}
# How the copies in a directory are named, so that the order of their names is that of their making, in UTC.
_DATED: Final = "{stem}-{now:%Y-%m-%dT%H%M%SZ}"
_DATE: Final = r"\d{4}-\d\d-\d\dT\d{6}Z"


def back_up(url: str, target: Path) -> None:
    """Make a file that is a whole copy of a gallery at one moment, while others use it.

    Args:
        url: of the database.
        target: the file, which is not there yet.

    Raises:
        SettingsError: the URL cannot be used.
        TablesMissing: there is no gallery.
        StartError: it cannot be made, or there is a file of that name; or it is not made here, and the text says how.
        OSError: there can be no file.
    """
    dialect = dialect_of(url)
    if not dialect.exists():
        raise TablesMissing(dialect.server)
    if dialect.embedded:
        _refuse_empty(dialect, dialect.server)
    dialect.back_up(target)


def back_up_into(url: str, directory: Path, keep: int | None = None) -> Path:
    """Make such a file in a directory, named after the database and the time, and remove the oldest of its kind.

    Args:
        url: of the database.
        directory: where; files in it that are named otherwise are left alone.
        keep: how many are kept, this one among them; None for all. They are removed once this one is whole.

    Returns:
        the file.

    Raises:
        OSError: there can be no file, or an old one cannot be removed; otherwise as :func:`back_up`.
    """
    dialect = dialect_of(url)
    stem, suffix = (Path(dialect.server).stem, ".db") if dialect.embedded else ("gallery", ".sql")
    target = directory / (_DATED.format(stem=stem, now=datetime.now(UTC)) + suffix)
    back_up(url, target)
    if keep is not None:
        _remove_old(target, stem, keep)
    return target


def _remove_old(target: Path, stem: str, keep: int) -> None:
    """Remove all copies but so many: the one that was just made, whatever its clock said, and the last ones besides."""
    dated = re.compile(rf"{re.escape(stem)}-{_DATE}\.db")
    names = {path.name for path in target.parent.iterdir()} - {target.name}
    copies = sorted(name for name in names if dated.fullmatch(name))
    old = copies[: max(0, len(copies) - (keep - 1))]
    # One that was killed left a hidden file, whose name goes on.
    broken_off = [
        name for name in names if name[0] == "." and dated.match(name[1:]) and name[1:] < max(old, default="")
    ]
    for name in (*old, *broken_off):
        (target.parent / name).unlink(missing_ok=True)


def restore(url: str, source: Path) -> None:
    """Make a database of such a file, with the tables of this program, in which no id is given a second time.

    Args:
        url: of the database, which is not there yet.
        source: the file.

    Raises:
        SettingsError: the URL cannot be used.
        StartError: it cannot be made, or there is one already; the file is no gallery, is damaged, or is of a newer
            program; or it is not made here, and the text says how.
        OSError: there is no file, or there can be no database.
    """
    dialect_of(url).restore(source, lambda copy: _fit(copy, source.name))


def restore_loaded(url: str) -> None:
    """Do to a database what :func:`restore` does, once a copy was loaded into it otherwise, as a dump into a server.

    Args:
        url: of the database.

    Raises:
        SettingsError: the URL cannot be used.
        TablesMissing: there is no gallery; SchemaMismatch: it is of a newer program; StartError: it is not whole.
        StorageUnavailable: the database is out of reach.
    """
    dialect = dialect_of(url)
    if not dialect.exists():
        raise TablesMissing(dialect.server)
    _refuse_empty(dialect, dialect.server)
    with closing(_pool_of(dialect)) as pool:
        pool.call(lambda transaction, look: look(pool.connection_of(transaction)), partial(_refuse_parts, dialect))
    _make_current(dialect)


def _refuse_parts(dialect: Dialect, connection: Connection) -> None:
    """Refuse what was not loaded to its end: nothing else finds out before the missing table is asked for."""
    Schema(dialect).refuse_prerelease(connection)
    missing = sorted(metadata.tables.keys() - set(inspect(connection).get_table_names()))
    if missing:
        raise StartError(f"The copy is not whole, it has no table {missing[0]}; load one into an empty database")


def _storage_of(dialect: Dialect) -> SqlStorage:
    return SqlStorage(dialect, connections=None, timeout=None, metrics=NoMetrics())


def _pool_of(dialect: Dialect) -> ConnectionPool:
    return ConnectionPool(dialect, 1, None, NoMetrics())


def _refuse_empty(dialect: Dialect, name: str) -> None:
    try:
        with closing(_storage_of(dialect)) as storage:
            if storage.is_empty():
                raise TablesMissing
    except StorageUnavailable as error:
        if error.cause is not Cause.CORRUPT:
            raise
        raise StartError(f"{name}: {error.cause.text}; {error.cause.cure}") from None


def _fit(dialect: Dialect, name: str) -> None:
    try:
        _refuse_empty(dialect, name)
    except TablesMissing:
        raise StartError(f"{name} is not the backup of a gallery; name another file") from None
    _make_current(dialect)


def _make_current(dialect: Dialect) -> None:
    with closing(_storage_of(dialect)) as storage:
        storage.prepare()
    with closing(_pool_of(dialect)) as pool:

        def write(transaction: Transaction, work: Callable[[Connection], None]) -> None:
            with transaction:
                transaction.take_write_lock(dialect.begin_write)
                work(pool.connection_of(transaction))
                transaction.commit()

        pool.call(write, _pass_over_ids, writing=True)


def _pass_over_ids(connection: Connection) -> None:
    """Leave out the ids that may have been given since the backup was made (contract K4, decision 0031)."""
    some = _PASSED_OVER + secrets.randbelow(_AT_RANDOM)
    for lock, names in COUNTED.items():
        ids = [state.c[name] for name in names if name not in _VERSIONS]
        of_lock = state.c.state_id == WRITE_LOCKS[lock]
        row = connection.execute(select(*ids).where(of_lock)).mappings().one()
        # Half of those that are left at most: there are always some.
        passed = {name: given + min(some, (MAX_ID - given) // 2) for name, given in row.items()}
        connection.execute(update(state).where(of_lock).values({**passed, "writes": state.c.writes + 1}))
