"""Creates the tables and checks that they fit this program."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, inspect, select, text

from logoadmin.adapters.sql_storage.tables import MOVED_TO, VERSION_TABLE, metadata, secrets
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import SchemaMismatch, StartError, TablesMissing

MIGRATIONS: Final = Path(__file__).parent / "migrations"
# The newest migration, written out: to find it among all of them would take most of the time of a start.
NEWEST: Final = "x0001"
# The first letter of the numbers since 0.1.0; databases of development versions have another one, or none.
_RELEASED: Final = NEWEST[0]
_VERSION: Final = text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 (a constant)
_MOVED_TO: Final = select(secrets.c.value).where(secrets.c.name == MOVED_TO)


def is_empty(connection: Connection) -> bool:
    """Return whether the tables are missing or unfinished."""
    return _applied(connection) is None


def check(connection: Connection) -> None:
    """Raise SchemaMismatch unless the tables are those of this program (contract K7)."""
    applied = _applied(connection)
    if applied is None:
        raise TablesMissing
    refuse_unknown(connection)
    if applied < NEWEST:
        text = "The database is older than this program; run logoadmin init for the same database"
        raise SchemaMismatch(text, Cause.OLDER_TABLES)
    _refuse_moved(connection)


def load_migrations(connection: Connection) -> None:
    """Load slow imports of :func:`prepare` while others can still write."""
    applied = _applied(connection)
    if applied is None or applied < NEWEST:
        import alembic.command  # noqa: F401 (only imported to load it)


def prepare(connection: Connection, table_options: Mapping[str, Any]) -> None:
    """Run the missing migrations, under the lock of the tables; new tables get these options."""
    applied = _applied(connection)
    if applied is None:
        refuse_strangers(connection)
    else:
        refuse_unknown(connection)
        _refuse_moved(connection)
    if applied is None or applied < NEWEST:
        _migrate(connection, table_options)


def refuse_unknown(connection: Connection) -> None:
    """Raise SchemaMismatch for tables of development versions and of newer programs."""
    applied = _applied(connection)
    if applied is None:
        return
    if not applied.startswith(_RELEASED):
        text = (
            "The database was made by a version before 0.1.0; run logoadmin export with that version, "
            "and logoadmin import with this one on a new database"
        )
        raise SchemaMismatch(text, Cause.PRERELEASE_TABLES)
    if applied > NEWEST:
        text = "The database was made by a newer logoadmin; install that version or a newer one"
        raise SchemaMismatch(text, Cause.NEWER_TABLES)


def _applied(connection: Connection) -> str | None:
    """Return the newest applied migration, None if none was completed."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    applied: str | None = connection.execute(_VERSION).scalar()
    return applied


def refuse_strangers(connection: Connection) -> None:
    """Raise StartError if another program made tables of these names; the text names one."""
    # With a version table they are ours: MySQL keeps the first tables of an aborted migration.
    there = inspect(connection)
    if there.has_table(VERSION_TABLE):
        return
    strangers = sorted(metadata.tables.keys() & set(there.get_table_names()))
    if strangers:
        raise StartError(
            f"The database has a table {strangers[0]} that is not logoadmin's",
            "give logoadmin a database of its own",
        )


def _migrate(connection: Connection, table_options: Mapping[str, Any]) -> None:
    # Imported here, since it takes longer than the first request.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes["table_options"] = table_options
    command.upgrade(config, "head")


def _refuse_moved(connection: Connection) -> None:
    """Raise SchemaMismatch if the gallery was moved to another database (contract K9)."""
    address = connection.execute(_MOVED_TO).scalar()
    if address is not None:
        text = f"The gallery was moved from this database to {address}; set database to the URL of the new one"
        raise SchemaMismatch(text, Cause.MOVED)
