"""All that differs between databases, as answers to questions; nothing else asks for a database's name."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    FromClause,
    Insert,
    PoolProxiedConnection,
    Select,
    Text,
    make_url,
)
from sqlalchemy.dialects.mysql import MEDIUMTEXT
from sqlalchemy.exc import ArgumentError
from sqlalchemy.types import TypeEngine

from logoadmin.adapters.sql_storage.faults import Judgement
from logoadmin.domain.model.errors import SettingsError

_MYSQL_DRIVERS = {
    "mysql": "pymysql",
    "mariadb": "pymysql",
    "mysql+pymysql": "pymysql",
    "mariadb+pymysql": "pymysql",
    "mysql+mysqldb": "mysqldb",
    "mariadb+mysqldb": "mysqldb",
}


_SERVERS = ("mysql", "mariadb")

# A server's usual text ends at 65,535 bytes, a quarter of what may be four bytes a character.
LONG_TEXT: TypeEngine[str] = Text().with_variant(MEDIUMTEXT(), *_SERVERS)


def unless_there(insertion: Insert) -> Insert:
    """Let an insertion pass by rows that are there already."""
    return insertion.prefix_with("OR IGNORE", dialect="sqlite").prefix_with("IGNORE", dialect="mysql")


def in_this_order(query: Select[Any], tables: FromClause) -> Select[Any]:
    """Have a query look at tables in the order in which they are joined."""
    return query.prefix_with("STRAIGHT_JOIN", dialect="mysql").select_from(tables)


def then(tables: FromClause, key: ColumnElement[int], another: FromClause, its: ColumnElement[int]) -> FromClause:
    """Join another table that is looked at after the others."""
    # No index has the sum, so SQLite, too, cannot go the other way.
    return tables.join(another, its == key + 0)


def through_index(query: Select[Any], table: FromClause, index: str) -> Select[Any]:
    """Have a query go along an index: MySQL may else look for a value alone, and pass by its ids from the first on."""
    return query.with_hint(table, f"FORCE INDEX ({index})", "mysql")


class Dialect(Protocol):
    """What a storage must know about its database."""

    @property
    def server(self) -> str:
        """Where the records are, see :attr:`logoadmin.ports.storage.Storage.server`."""

    @property
    def embedded(self) -> bool:
        """Whether the database is a file of this service's own, to be made when it is missing."""

    @property
    def at_once(self) -> int:
        """How many reads are best made at the same time, see :attr:`logoadmin.ports.storage.Storage.at_once`."""

    @property
    def begin_write(self) -> tuple[str, ...]:
        """The statements that begin a transaction which sees what others committed and cannot fail by waiting late."""

    @property
    def begin_snapshot(self) -> tuple[str, ...]:
        """The statements that begin a transaction whose queries all see the same moment."""

    def engine(self, connections: int, timeout: float | None) -> Engine:
        """Return an engine of autocommit connections that are never reset.

        Args:
            connections: how many there may be at once.
            timeout: how many seconds a connection or an answer may take; None for as long as it takes.
        """

    def holding_little(self, cursor: Any) -> AbstractContextManager[None]:
        """Let a cursor read no more rows meanwhile than it takes to find that a page is heavy, if it reads ahead."""

    def judge(self, error: BaseException) -> Judgement | None:
        """Return how a driver's error is to be taken, None for a mistake of ours."""

    def without_waiting(self, connection: PoolProxiedConnection) -> AbstractContextManager[None]:
        """Have a connection wait for no lock meanwhile, beside those that are asked for without a wait."""

    def write_queue(self) -> AbstractContextManager[None]:
        """Let those who write wait for each other here, where the database would have them poll for its lock."""

    def data_version(self) -> int | None:
        """Return what :meth:`logoadmin.ports.storage.Storage.data_version` asks for."""

    def close(self) -> None:
        """Let go of what :meth:`data_version` looks with."""

    def exists(self) -> bool:
        """Tell whether there is a database to connect to; a server's is always taken to be there.

        Raises:
            StartError: what is there is no database.
        """

    def create(self) -> None:
        """Make the database where :attr:`embedded` says so and it is missing.

        Raises:
            StartError: it cannot be made, or what is there is no database.
        """

    def migration_lock(self, connection: Connection) -> AbstractContextManager[tuple[str, ...]]:
        """Keep everybody else from changing tables meanwhile, and commit at the end.

        On an error everything is undone, save tables where the database cannot do that.

        Yields:
            The statements that begin a write meanwhile.
        """

    def table_options(self, connection: Connection) -> Mapping[str, Any]:
        """Return what makes a new table compare text exactly, code point by code point (contract A6)."""


def dialect_of(url: str) -> Dialect:
    """Return the dialect of a database's URL (contract H2).

    Raises:
        SettingsError: the URL cannot be used; the text never repeats it, there may be a password inside.
    """
    parsed = _parsed(url)
    if parsed.drivername == "sqlite":
        from logoadmin.adapters.sql_storage.sqlite import Sqlite

        return Sqlite(_file_of(parsed))
    if parsed.drivername in _MYSQL_DRIVERS:
        # Imported here so that nobody pays for a driver they do not use.
        from logoadmin.adapters.sql_storage.mysql import Mysql

        return Mysql(parsed, _MYSQL_DRIVERS[parsed.drivername])
    raise SettingsError("The database URL must begin with sqlite:///, mysql+pymysql://, mysql:// or mariadb://")


def _parsed(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        pass
    raise SettingsError("The database URL is not a URL; it should look like sqlite:///file or mysql://user@host/name")


def _file_of(url: URL) -> str:
    if url.host or url.username or url.query or not url.database or url.database == ":memory:" or "\0" in url.database:
        raise SettingsError(
            "The database URL of SQLite must name a file, like sqlite:///logoadmin.db, and nothing else"
        )
    return url.database
