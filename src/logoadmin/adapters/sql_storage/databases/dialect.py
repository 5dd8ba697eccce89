"""What differs between databases: the members of :class:`Dialect`, which each folder beside this module implements."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, Self

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    FromClause,
    PoolProxiedConnection,
    QueuePool,
    Select,
    Text,
)
from sqlalchemy.dialects.mysql import MEDIUMTEXT
from sqlalchemy.types import TypeEngine

from logoadmin.adapters.sql_storage.driver_errors import Classification
from logoadmin.domain.model.checks import Result

_SERVERS = ("mysql", "mariadb")

# A server's usual text ends at 65,535 bytes, a quarter of what may be four bytes a character.
LONG_TEXT: TypeEngine[str] = Text().with_variant(MEDIUMTEXT(), *_SERVERS)


def pool_options(connections: int, wait: float) -> dict[str, Any]:
    """Return what all engines have in common: so many connections and never more, which say BEGIN when they are told.

    Args:
        connections: how many.
        wait: for how many seconds somebody may wait for one of them.
    """
    return {
        "poolclass": QueuePool,
        "pool_size": connections,
        "max_overflow": 0,
        "pool_timeout": wait,
        "pool_use_lifo": True,
        "pool_reset_on_return": None,
        "isolation_level": "AUTOCOMMIT",
        "skip_autocommit_rollback": True,
        "hide_parameters": True,
    }


def straight_join(query: Select[Any], tables: FromClause) -> Select[Any]:
    """Have a query look at tables in the order in which they are joined."""
    return query.prefix_with("STRAIGHT_JOIN", dialect="mysql").select_from(tables)


def join_last(tables: FromClause, key: ColumnElement[int], another: FromClause, its: ColumnElement[int]) -> FromClause:
    """Join another table that is looked at after the others."""
    # No index has the sum, so SQLite, too, cannot go the other way.
    return tables.join(another, its == key + 0)


def force_index(query: Select[Any], table: FromClause, index: str) -> Select[Any]:
    """Have a query use an index: the statistics of databases do not say where in the order of ids something is."""
    return query.with_hint(table, f"FORCE INDEX ({index})", "mysql").with_hint(table, f"INDEXED BY {index}", "sqlite")


class Dialect(Protocol):
    """What a storage must know about its database."""

    @property
    def server(self) -> str:
        """Where the records are, see :attr:`logoadmin.ports.storage.Storage.server`."""

    @property
    def product(self) -> str:
        """What people call it, see :attr:`logoadmin.ports.storage.Storage.product`."""

    @property
    def embedded(self) -> bool:
        """Whether the database is a file of this service's own, to be made when it is missing."""

    @property
    def files(self) -> frozenset[Path]:
        """The files that are the database's own, which nothing else may replace; a server's are not ours."""

    @property
    def concurrent_reads(self) -> int:
        """See :attr:`logoadmin.ports.storage.Storage.concurrent_reads`."""

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

    def page_cursor(self, connection: PoolProxiedConnection) -> Any:
        """Return a cursor that holds one row at a time, and when it is closed lets go of those not asked for."""

    def classify(self, error: BaseException) -> Classification | None:
        """Return how a driver's error is to be taken, None for a mistake of ours."""

    def without_waiting(self, connection: PoolProxiedConnection) -> AbstractContextManager[None]:
        """Have a connection wait for no lock meanwhile, beside those that are asked for without a wait."""

    def committing(self, connection: PoolProxiedConnection) -> AbstractContextManager[None]:
        """Let a commit take longer meanwhile than other statements, where that may happen to one that is well."""

    def data_version(self) -> int | None:
        """Return what :meth:`logoadmin.ports.storage.Storage.data_version` asks for."""

    def close(self) -> None:
        """Close the connection of :meth:`data_version`."""

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

    def back_up(self, target: Path) -> None:
        """Make a file that is a whole copy of one moment, verified, readable for its owner alone (contract K4).

        Raises:
            StartError: it cannot be made, or there is a file of that name; or it is not made here, and the text says
                by which command.
            OSError: there can be no file.
        """

    def restore(self, source: Path, fit: Callable[[Self], None]) -> None:
        """Make the database of such a file, where there is none.

        Args:
            source: the file.
            fit: what is to be done to the database before anybody else can see it.

        Raises:
            StartError: as of :meth:`back_up`, or the file is damaged.
            OSError: there can be no database.
        """

    def look_outside(self) -> Iterable[Result]:
        """Look at what can be seen without the database: the file, its directory, its disk (contract K4)."""

    def looks_inside(self, connections: int) -> Mapping[str, Callable[[Connection], Iterable[Result]]]:
        """Return looks at the database itself, by their names, as one that is to give so many connections."""

    def migration_lock(self, connection: Connection) -> AbstractContextManager[tuple[str, ...]]:
        """Keep everybody else from changing tables meanwhile, and commit at the end.

        On an error everything is undone, save tables where the database cannot do that.

        Yields:
            The statements that begin a write meanwhile.
        """

    def table_options(self, connection: Connection) -> Mapping[str, Any]:
        """Return what makes a new table compare text exactly, code point by code point (contract A6)."""
