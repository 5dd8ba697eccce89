"""The registry of databases: one row and one folder for each."""

from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from logoadmin.adapters.sql_storage.databases.dialect import Dialect
from logoadmin.domain.kernel.errors import SettingsError


class Database(NamedTuple):
    """A row of the registry.

    Attributes:
        folder: the package beside this module, whose ``open_dialect`` takes the parsed URL and its text.
        drivers: the schemes of its URLs, with the driver of each.
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
        SettingsError: the URL cannot be used; the text never repeats it, since it may contain a password.
    """
    parsed = parsed_url(url)
    for database in DATABASES:
        if parsed.drivername in database.drivers:
            # Imported here, so that unused drivers are not loaded.
            folder = import_module(f"{__name__}.{database.folder}.dialect")
            dialect: Dialect = folder.open_dialect(parsed, database.drivers[parsed.drivername], url)
            return dialect
    raise SettingsError("The database URL must begin with sqlite:///, mysql+pymysql://, mysql:// or mariadb://")


def connections_of(dialect: Dialect) -> int:
    """Return the maximum number of connections that the callers of one process use.

    They are the reads and as many searches; eight writes of records, of which one usually commits for all; one write of
    sessions, and two sign-ins that hash passwords in between; and for long calls one write, one export, and two lists.
    """
    return 2 * dialect.concurrent_reads + 15


def files_of(url: str) -> frozenset[Path]:
    """Return the files of a database, see :attr:`Dialect.files`.

    Raises:
        SettingsError: the URL cannot be used.
    """
    return dialect_of(url).files


def path_of(url: str) -> Path:
    """Return the path of the file of a database; for a server, that of its name in the working directory.

    Raises:
        SettingsError: the URL cannot be used.
    """
    files = files_of(url)
    return min(files, key=lambda file: len(file.name)) if files else Path(parsed_url(url).database or "logoadmin")


def parsed_url(url: str) -> URL:
    """Return the parsed URL.

    Raises:
        SettingsError: it is not a URL.
    """
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        pass
    raise SettingsError("The database URL is not a URL; it should look like sqlite:///file or mysql://user@host/name")
