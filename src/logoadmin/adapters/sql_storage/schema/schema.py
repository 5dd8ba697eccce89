"""Creates the tables and checks that they fit this program."""

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect, select, text

from logoadmin.adapters.sql_storage.databases.dialect import Dialect
from logoadmin.adapters.sql_storage.schema.migrations.numbers import RELEASED, check_numbers, numbers
from logoadmin.adapters.sql_storage.tables.all_tables import VERSION_TABLE, metadata
from logoadmin.adapters.sql_storage.tables.kernel_tables import MOVED_TO, secrets
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import SchemaMismatch, StartError, TablesMissing

_NEWER: Final = "The database was made by a newer logoadmin; install that version or a newer one"
_MIGRATIONS: Final = Path(__file__).parent / "migrations"
# The newest migration, from the file names: loading all of them would take most of the time of a start.
NEWEST: Final = numbers(_MIGRATIONS / "versions")[-1]
_VERSION: Final = text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 (a constant)
# The newest migration that made the tables unusable for programs without it.
_USABLE_FROM: Final = text(f"SELECT usable_from FROM {VERSION_TABLE}")  # noqa: S608 (a constant)
_MOVED_TO: Final = select(secrets.c.value).where(secrets.c.name == MOVED_TO)


class Schema:
    """The tables of one database, as a whole."""

    def __init__(self, dialect: Dialect) -> None:
        """Manage the tables of a database.

        Raises:
            StartError: a migration of this program has another number than its file name.
        """
        check_numbers(_MIGRATIONS / "versions")
        self._dialect = dialect

    def is_empty(self, connection: Connection) -> bool:
        """Return whether the tables are missing or unfinished."""
        return self.version(connection) is None

    def check(self, connection: Connection) -> None:
        """Make sure that the tables are those of this program, or wider ones (contract K7).

        Raises:
            SchemaMismatch: they are not.
        """
        version = self.version(connection)
        if version is None:
            raise TablesMissing
        self.refuse_prerelease(connection)
        if version < NEWEST:
            text = "The database is older than this program; run logoadmin init for the same database"
            raise SchemaMismatch(text, Cause.OLDER_TABLES)
        self._refuse_newer(connection)
        self._refuse_moved(connection)

    def check_exactly(self, connection: Connection) -> None:
        """Make sure that the tables are those of this program, which a copy of all of them requires (contract K9).

        Raises:
            SchemaMismatch: they are not, or have more than this program knows.
        """
        self.check(connection)
        if self.version(connection) != NEWEST:
            raise SchemaMismatch(_NEWER, Cause.NEWER_TABLES)

    def load_migrations(self, connection: Connection) -> None:
        """Load slow imports of :meth:`prepare` while others can still write."""
        version = self.version(connection)
        if version is None or version < NEWEST:
            import alembic.command  # noqa: F401 (only imported to load it)

    def prepare(self, connection: Connection) -> None:
        """Run the missing migrations, under the lock of the tables.

        Raises:
            SchemaMismatch: a newer program made the tables, and this one cannot use them.
            StartError: another program made tables of these names.
        """
        version = self.version(connection)
        if version is None:
            self.refuse_strangers(connection)
        self.refuse_prerelease(connection)
        if version is not None:
            self._refuse_moved(connection)
        if version is None or version < NEWEST:
            self._migrate(connection)
        else:
            self._refuse_newer(connection)

    def refuse_prerelease(self, connection: Connection) -> None:
        """Refuse tables from before the first release, which no migration leads from.

        Raises:
            SchemaMismatch: the tables are too old; the text explains how to move the records.
        """
        version = self.version(connection)
        if version is not None and not version.startswith(RELEASED):
            text = (
                "The database was made by a version before 0.1.0; run logoadmin export with that version, "
                "and logoadmin import with this one on a new database"
            )
            raise SchemaMismatch(text, Cause.PRERELEASE_TABLES)

    def version(self, connection: Connection) -> str | None:
        """Return the newest applied migration, None if none was completed."""
        if not inspect(connection).has_table(VERSION_TABLE):
            return None
        version: str | None = connection.execute(_VERSION).scalar()
        return version

    def refuse_strangers(self, connection: Connection) -> None:
        """Refuse tables of these names that another program made.

        Raises:
            StartError: there are some; the text names one.
        """
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

    def _migrate(self, connection: Connection) -> None:
        # Imported here, since it takes longer than the first request.
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
        config.attributes["connection"] = connection
        config.attributes["table_options"] = self._dialect.table_options(connection)
        command.upgrade(config, "head")

    def _refuse_newer(self, connection: Connection) -> None:
        """Refuse tables that are not only wider; this program's own migrations, or newer ones, must have run."""
        if str(connection.execute(_USABLE_FROM).scalar()) > NEWEST:
            raise SchemaMismatch(_NEWER, Cause.NEWER_TABLES)

    def _refuse_moved(self, connection: Connection) -> None:
        """Refuse a database whose gallery was moved to another one (contract K9)."""
        address = connection.execute(_MOVED_TO).scalar()
        if address is not None:
            text = f"The gallery was moved from this database to {address}; set database to the URL of that one"
            raise SchemaMismatch(text, Cause.MOVED)
