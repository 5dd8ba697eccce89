"""The databases that storage can use: one row and one folder for each."""

from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from logoadmin.adapters.sql_storage.databases.dialect import Dialect
from logoadmin.domain.model.errors import SettingsError


class Database(NamedTuple):
    """A row of the registry.

    Attributes:
        folder: the package beside this module, with ``open_dialect`` (from the parsed URL and its text).
        drivers: how its URLs begin, and the driver that each of them means.
    """

    folder: str
    drivers: dict[str, str]


DATABASES: Final = (
    Database("sqlite", {"sqlite": "sqlite3"}),
    Database(
        "mysql",
        {
            "mysql": "pymysql",
            "mariadb": "pymysql",
            "mysql+pymysql": "pymysql",
            "mariadb+pymysql": "pymysql",
            "mysql+mysqldb": "mysqldb",
            "mariadb+mysqldb": "mysqldb",
        },
    ),
)


def dialect_of(url: str) -> Dialect:
    """Return the dialect of a database's URL (contract H2).

    Raises:
        SettingsError: the URL cannot be used; the text never repeats it, there may be a password inside.
    """
    parsed = parsed_url(url)
    for database in DATABASES:
        if parsed.drivername in database.drivers:
            # Imported here so that nobody pays for a driver that is not used.
            folder = import_module(f"{__name__}.{database.folder}.dialect")
            dialect: Dialect = folder.open_dialect(parsed, database.drivers[parsed.drivername], url)
            return dialect
    raise SettingsError("The database URL must begin with sqlite:///, mysql+pymysql://, mysql:// or mariadb://")


def connections_of(dialect: Dialect) -> int:
    """Return how many connections the callers of one process take at most.

    Those that read and as many that search; eight that write records, of which one does so for all as long as nothing
    holds it up; one that writes sessions, two that hash passwords in between; and for long calls one that writes, one
    that exports, and two that render lists.
    """
    return 2 * dialect.concurrent_reads + 15


def files_of(url: str) -> frozenset[Path]:
    """Return the files of a database, see :attr:`Dialect.files`.

    Raises:
        SettingsError: the URL cannot be used.
    """
    return dialect_of(url).files


def parsed_url(url: str) -> URL:
    """Return a URL in its parts.

    Raises:
        SettingsError: it is not a URL.
    """
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        pass
    raise SettingsError("The database URL is not a URL; it should look like sqlite:///file or mysql://user@host/name")
