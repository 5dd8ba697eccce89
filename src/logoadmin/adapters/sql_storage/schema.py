"""Making the tables and telling whether they fit this program."""

from pathlib import Path
from typing import Final, NoReturn

from sqlalchemy import Connection, inspect, text

from logoadmin.adapters.sql_storage.dialects import Dialect
from logoadmin.adapters.sql_storage.tables import VERSION_TABLE, metadata
from logoadmin.domain.model.errors import SchemaMismatch, StartError, TablesMissing

# The newest migration, said here so that a start needs not read all of them, which takes longer than everything else.
NEWEST: Final = "0005"
_MIGRATIONS: Final = Path(__file__).parent / "migrations"
_VERSION: Final = text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608 (a constant)


class Schema:
    """The tables of one database, as a whole."""

    def __init__(self, dialect: Dialect) -> None:
        """Look at the tables of a database with its dialect."""
        self._dialect = dialect

    def is_empty(self, connection: Connection) -> bool:
        """Tell whether the tables are still to be made, or were not finished."""
        return self._version(connection) is None

    def check(self, connection: Connection) -> None:
        """Make sure that the tables are those of this program.

        Raises:
            SchemaMismatch: they are not.
        """
        version = self._version(connection)
        if version is None:
            raise TablesMissing
        if version < NEWEST:
            raise SchemaMismatch("The database is older than this program; run logoadmin init for the same database")
        if version > NEWEST:
            self._newer()

    def prepare(self, connection: Connection) -> None:
        """Run the migrations that are missing, while nobody else changes tables.

        Raises:
            SchemaMismatch: a newer program made the tables.
            StartError: another program made tables of these names.
        """
        version = self._version(connection)
        if version is not None and version > NEWEST:
            self._newer()
        if version is None:
            self._refuse_strangers(connection)
        if version != NEWEST:
            self._migrate(connection)

    def _version(self, connection: Connection) -> str | None:
        if not inspect(connection).has_table(VERSION_TABLE):
            return None
        version: str | None = connection.execute(_VERSION).scalar()
        return version

    def _refuse_strangers(self, connection: Connection) -> None:
        # With a table of versions they are ours: MySQL keeps the first tables when a migration breaks off.
        there = inspect(connection)
        if there.has_table(VERSION_TABLE):
            return
        strangers = sorted(metadata.tables.keys() & set(there.get_table_names()))
        if strangers:
            raise StartError(
                f"The database has a table {strangers[0]} that is not logoadmin's; give logoadmin a database of its own"
            )

    def _migrate(self, connection: Connection) -> None:
        # Imported here because it takes longer than answering the first request.
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
        config.attributes["connection"] = connection
        config.attributes["table_options"] = self._dialect.table_options(connection)
        command.upgrade(config, "head")

    def _newer(self) -> NoReturn:
        raise SchemaMismatch("The database was made by a newer logoadmin; install that version or a newer one")
