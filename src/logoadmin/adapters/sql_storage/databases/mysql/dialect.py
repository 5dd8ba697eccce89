"""MariaDB and MySQL, as the one place that knows how they differ."""

import logging
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NoReturn

from sqlalchemy import URL, Connection, Engine, PoolProxiedConnection, create_engine, event
from sqlalchemy.exc import DisconnectionError, SQLAlchemyError

from logoadmin.adapters.sql_storage.databases import parsed_url
from logoadmin.adapters.sql_storage.databases.dialect import pool_options
from logoadmin.adapters.sql_storage.databases.mysql import backups
from logoadmin.adapters.sql_storage.databases.mysql import checks as mysql_checks
from logoadmin.adapters.sql_storage.databases.mysql.connections import Connector, answering_within
from logoadmin.adapters.sql_storage.databases.mysql.error_codes import classify
from logoadmin.adapters.sql_storage.databases.mysql.leases import Lease
from logoadmin.adapters.sql_storage.driver_errors import Classification
from logoadmin.domain.model.checks import Result
from logoadmin.domain.model.errors import SettingsError

# The worst case adds up a wait for the pool, a ping, and a new connection that does not answer; it stays below the
# two seconds of contract A20. So do a wait for the pool and a statement, which must outlast the server's shortest wait
# for a lock, or else a lock would look like a dead server.
_POOL_WAIT: Final = 0.5
_PING_WAIT: Final = 0.4
_LOCK_WAIT: Final = 1
_ANSWER_WAIT: Final = _LOCK_WAIT + 0.2
# A cluster keeps a commit waiting while it finds out that one of its servers is gone: as long as anybody waits for it.
_COMMIT_WAIT: Final = 1.8
# A server that says itself that a search takes too long is there; one that says nothing is taken to be gone.
_STATEMENT_WAIT: Final = _LOCK_WAIT + 0.1
_LONG_WAIT: Final = 60
# A connection that was used a moment ago is not pinged: that would cost a third of a read.
_IDLE: Final = 1.0

# MariaDB's own comment, and one of MySQL's that MariaDB passes over: each server reads the limit that it knows.
_LIMITED: Final = (
    f"/*M!100101 , SESSION max_statement_time = {_STATEMENT_WAIT} */"
    f" /*!50708 , SESSION max_execution_time = {round(_STATEMENT_WAIT * 1000)} */"
)
_STRICT: Final = "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'"
# All queries of a transaction see one moment, that of the first one which locks nothing. So a write, whose first query
# waits for its lock, sees what those before it left; and nothing is to be said that a proxy has to remember.
_ISOLATION: Final = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"
# What was committed through another server of a cluster is waited for by whoever reads or begins a transaction.
_FRESH: Final = "SET SESSION wsrep_sync_wait = 1"
_UNKNOWN_VARIABLE: Final = 1193
_POOL_NAME: Final = "logoadmin"


class Mysql:
    """The :class:`~logoadmin.adapters.sql_storage.databases.dialect.Dialect` of a server."""

    embedded = False
    files: frozenset[Path] = frozenset()
    # The driver is written in Python: while one thread waits for the server, two others keep the processor busy.
    concurrent_reads = 3
    product = "MariaDB or MySQL"
    begin_write = ("START TRANSACTION",)
    begin_snapshot = ("START TRANSACTION",)

    def __init__(self, url: URL, driver: str) -> None:
        """Use a database of a server.

        Raises:
            SettingsError: the URL cannot be used, or the driver is not installed.
        """
        if not url.database:
            raise SettingsError("The database URL must end with the name of a database, like mysql://user@host/name")
        self._url = url.set(drivername=f"mysql+{driver}", host=url.host or "localhost", port=url.port or 3306)
        try:
            self._cursors = import_module(f"{'pymysql' if driver == 'pymysql' else 'MySQLdb'}.cursors")
        except ImportError:
            raise SettingsError(f"The driver of mysql+{driver}:// is not installed") from None
        self._may_be_cluster = True
        self._connector = Connector(self._url) if driver == "pymysql" else None
        host = str(self._url.host)
        self.server = f"[{host}]:{self._url.port}" if ":" in host else f"{host}:{self._url.port}"

    def engine(self, connections: int, timeout: float | None) -> Engine:
        """Return an engine that finds out in time whether its server is gone."""
        engine = create_engine(
            self._url,
            **self._connecting(timeout),
            **pool_options(connections, _POOL_WAIT),
            paramstyle="format",
            pool_logging_name=_POOL_NAME,
        )
        # Only this pool's: it would log a traceback for each connection that cannot be closed in good order.
        logging.getLogger(f"sqlalchemy.pool.impl.QueuePool.{_POOL_NAME}").setLevel(logging.CRITICAL)
        self._watch(engine, interactive=timeout is not None)
        return engine

    def page_cursor(self, connection: PoolProxiedConnection) -> Any:
        """Return a cursor that does not read an answer to its end at once, as the usual one does."""
        return connection.cursor(self._cursors.SSCursor)

    def classify(self, error: BaseException) -> Classification | None:
        """Return how an error is to be taken."""
        return classify(error)

    def committing(self, connection: PoolProxiedConnection) -> AbstractContextManager[None]:
        """Let a connection wait longer for an answer."""
        return answering_within(connection.dbapi_connection, _COMMIT_WAIT)

    def without_waiting(self, connection: PoolProxiedConnection) -> AbstractContextManager[None]:  # noqa: ARG002 (a file's)
        """Return nothing to do: the one lock is asked for without a wait."""
        return nullcontext()

    def data_version(self) -> None:
        """Return nothing: a server would have to be asked."""

    def close(self) -> None:
        """Do nothing: there is nothing that looks."""

    def exists(self) -> bool:
        """Return True: whether there is a database, its server will say."""
        return True

    def create(self) -> None:
        """Do nothing: a database on a server is made by whoever runs the server."""

    def back_up(self, target: Path) -> NoReturn:
        """Refuse, with the command: a server is backed up by its own program."""
        backups.refuse_to_back_up(self._url, target)

    def restore(self, source: Path, fit: "Callable[[Mysql], None]") -> NoReturn:
        """Refuse, with the command."""
        del fit
        backups.refuse_to_restore(self._url, source)

    def look_outside(self) -> Iterable[Result]:
        """Return nothing: a server's files are its own."""
        return ()

    def looks_inside(self, connections: int) -> Mapping[str, Callable[[Connection], Iterable[Result]]]:
        """Return looks at the server."""
        return mysql_checks.looks_inside(str(self._url.host), connections, self._collation)

    def _collation(self, connection: Connection) -> str:
        """Return the one by which tables compare names exactly."""
        return str(self.table_options(connection)["mysql_collate"])

    @contextmanager
    def migration_lock(self, connection: Connection) -> Iterator[tuple[str, ...]]:
        """Hold a lease. Tables are made for good one by one, so migrations must bear to be repeated."""
        lease = Lease("migrations", self.server, self.table_options(connection))
        with lease.held(connection, wait=_LONG_WAIT):
            try:
                yield self.begin_write
                connection.exec_driver_sql("COMMIT")
            except BaseException:
                with suppress(SQLAlchemyError):
                    connection.exec_driver_sql("ROLLBACK")
                raise

    def table_options(self, connection: Connection) -> Mapping[str, Any]:
        """Return the one collation that tells all names apart; the usual ones ignore case, accents or last spaces."""
        exact = "utf8mb4_nopad_bin" if getattr(connection.dialect, "is_mariadb", False) else "utf8mb4_0900_bin"
        return {"mysql_engine": "InnoDB", "mysql_charset": "utf8mb4", "mysql_collate": exact}

    def _stay_fresh(self, cursor: Any, errors: type[Exception]) -> None:
        """Have a connection see what was committed through other servers, if its server can be one of several."""
        if not self._may_be_cluster:
            return
        try:
            cursor.execute(_FRESH)
        except errors as error:
            if error.args[0] != _UNKNOWN_VARIABLE:
                raise
            self._may_be_cluster = False

    def _connecting(self, timeout: float | None) -> dict[str, Any]:
        if self._connector is not None:
            connector = self._connector
            return {"creator": lambda: connector.connect(timeout, None if timeout is None else _ANSWER_WAIT)}
        # The other driver, for those who have it, takes whole seconds.
        wait = 10 if timeout is None else math.ceil(timeout)
        limits = {} if timeout is None else {"read_timeout": wait, "write_timeout": wait}
        return {"connect_args": {"charset": "utf8mb4", "connect_timeout": wait, **limits}}

    def _watch(self, engine: Engine, *, interactive: bool) -> None:
        lock_wait, limited = (_LOCK_WAIT, _LIMITED) if interactive else (_LONG_WAIT, "")

        def begin(connection: Any, record: Any) -> None:
            cursor = connection.cursor()
            cursor.execute(f"{_STRICT}, SESSION innodb_lock_wait_timeout = {lock_wait} {limited}")
            cursor.execute(_ISOLATION)
            self._stay_fresh(cursor, engine.dialect.loaded_dbapi.Error)
            cursor.close()
            record.info["used"] = time.monotonic()
            record.info["process"] = os.getpid()

        def rest(_connection: object, record: Any) -> None:
            record.info["used"] = time.monotonic()

        def wake(connection: Any, record: Any, proxy: Any) -> None:
            if record.info["process"] != os.getpid():
                # Of before a fork, and not to be closed: that would tell the server that the other process is done.
                record.dbapi_connection = proxy.dbapi_connection = None
                raise DisconnectionError
            if time.monotonic() - record.info["used"] < _IDLE:
                return
            try:
                with answering_within(connection, _PING_WAIT):
                    engine.dialect.do_ping(connection)
            except engine.dialect.loaded_dbapi.Error:
                raise DisconnectionError from None

        event.listen(engine, "connect", begin)
        event.listen(engine, "checkin", rest)
        event.listen(engine, "checkout", wake)


def open_dialect(url: URL, driver: str, text: str) -> Mysql:
    """Return the dialect of a server."""
    _refuse_spare_at(text, url)
    return Mysql(url, driver)


def _refuse_spare_at(text: str, url: URL) -> None:
    """Refuse a URL of which more than the server follows the last @: errors would name part of a password as one."""
    _, at, rest = text.rpartition("@")
    if not at:
        return
    server = parsed_url(f"mysql://{rest}")
    if (server.host, server.port, server.database) != (url.host, url.port, url.database):
        raise SettingsError("The database URL has an @ too many: write @ in a password as %40, and so elsewhere")
