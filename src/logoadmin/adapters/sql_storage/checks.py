"""Read-only checks of a database: everything that stops a service from working, or will (contract K4)."""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, literal, select, update
from sqlalchemy.exc import SQLAlchemyError

from logoadmin.adapters.sql_storage import schema
from logoadmin.adapters.sql_storage.databases import Dialect, connections_of, dialect_of
from logoadmin.adapters.sql_storage.failures import Failure
from logoadmin.adapters.sql_storage.pool import STEP_TIMEOUT, ConnectionPool
from logoadmin.adapters.sql_storage.tables import metadata, sign_in_attempts, state
from logoadmin.checks import Result, Verdict, ok, warning, wrong
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import SchemaMismatch, StartError
from logoadmin.ports.metrics import Metrics

Check = Callable[[Connection], Result]

_NOWHERE: Final = literal(1) == literal(0)
# Statements that need each right and change no row.
_WRITES: Final = (
    update(state).values(writes=state.c.writes).where(_NOWHERE),
    insert(sign_in_attempts).from_select(sign_in_attempts.c.keys(), select(sign_in_attempts).where(_NOWHERE)),
    delete(sign_in_attempts).where(_NOWHERE),
)


def check_database(url: str, processes: int, *, may_create: bool = True) -> Iterator[Result]:
    """Check a database for use by this many processes, and yield each result at once.

    Without ``may_create``, a missing gallery is wrong (contract K9). Raises SettingsError if the URL cannot be used.
    """
    dialect = dialect_of(url)
    for result in dialect.look_outside():
        yield result
        if result.check == "directory" and result.verdict is Verdict.WRONG:
            return  # opening the file would find nothing else
    try:
        exists = dialect.exists()
    except StartError as error:
        yield wrong("database", error.text, error.cure)
        return
    if not exists and not may_create:
        yield wrong("database", f"{dialect.server} does not exist, but should", Cause.GALLERY_GONE.cure)
    if exists:
        with closing(ConnectionPool(dialect, 1, STEP_TIMEOUT, Metrics())) as pool:
            yield from _check_inside(dialect, pool, processes, may_create=may_create)


def _check_inside(dialect: Dialect, pool: ConnectionPool, processes: int, *, may_create: bool) -> Iterator[Result]:
    def begins(connection: Connection) -> Result:
        # A server that is cut off from its cluster accepts connections, but no transaction.
        for statement in (dialect.begin_snapshot, "ROLLBACK"):
            connection.exec_driver_sql(statement)
        return ok("database", f"{dialect.product} at {dialect.server} responds")

    reached = _guarded(pool, "database", begins, f"{dialect.server}: ")
    yield reached
    if reached.cure:
        return
    tables = _guarded(pool, "tables", lambda connection: _tables(connection, may_create=may_create))
    yield tables
    checks = dict(dialect.looks_inside(processes * connections_of(dialect)))
    if not tables.cure:
        checks |= {"schema": _schema, "writing": _writing}
    for name, check in checks.items():
        yield _guarded(pool, name, check)


def _guarded(pool: ConnectionPool, name: str, check: Check, where: str = "") -> Result:
    """Return the result of a check, or the failure of the database."""
    try:
        return pool.once(pool.on_connection(check))
    except Failure as failure:
        cause = failure.cause
        # A long write may hold a lock for a while, but a failure to connect is a finding.
        found = warning if cause is Cause.TOO_BUSY and name != "database" else wrong
        return found(name, where + cause.text, cause.cure)
    except (SQLAlchemyError, pool.engine.dialect.loaded_dbapi.Error) as error:
        return warning(name, f"it could not be looked at ({type(error).__name__})", "look at it by hand")


def _tables(connection: Connection, *, may_create: bool) -> Result:
    """Check that the tables are those of this program."""
    try:
        schema.refuse_strangers(connection)
        schema.check(connection)
    except SchemaMismatch as error:
        cause = Cause.GALLERY_GONE if error.cause is Cause.NO_TABLES and not may_create else error.cause
        return wrong("tables", cause.text, cause.cure)
    except StartError as error:
        return wrong("tables", error.text, error.cure)
    return ok("tables", f"version {schema.NEWEST} matches this program")


def _schema(connection: Connection) -> Result:
    """Check that no table, column, index or row of counters is missing or changed; additions do no harm."""
    # Imported here, since it takes longer than the other checks.
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    differences = compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata)
    found = {name for each in differences for name in _names(*(each[0] if isinstance(each, list) else each))}
    if state.name not in found and connection.execute(select(state.c.state_id)).first() is None:
        found.add("the row in state")
    if found:
        cure = "restore the database from a backup"
        return wrong("schema", f"missing or changed: {', '.join(sorted(found))}", cure)
    return ok("schema", "all tables, columns and indexes are those of this program")


def _names(difference: str, *of: Any) -> Iterator[str]:
    """Yield the name of a missing or changed part of the schema, by a difference that Alembic found."""
    if difference == "add_column":
        yield f"{of[1]}.{of[2].name}"
    elif difference in ("modify_type", "modify_nullable"):  # not a comment
        yield f"{of[1]}.{of[2]}"
    elif difference.startswith("add_"):
        yield of[0].name


def _writing(connection: Connection) -> Result:
    """Check that the database accepts changes; no row is changed."""
    for statement in _WRITES:
        connection.execute(statement)
    return ok("writing", "the database accepts changes")
