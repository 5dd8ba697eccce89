"""MariaDB and MySQL, as the one place that knows how they differ."""

import logging
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, PoolProxiedConnection, QueuePool, create_engine, event
from sqlalchemy.exc import DisconnectionError

from logoadmin.adapters.sql_storage.faults import Judgement, judge_mysql
from logoadmin.adapters.sql_storage.pymysql_connections import Connector, answering_within
from logoadmin.domain.model.causes import Cause
from logoadmin.domain.model.errors import SettingsError, StorageUnavailable
from logoadmin.domain.model.lists import PAGE_TEXT

# The worst case adds up a wait for the pool, a ping, and a new connection that does not answer; it stays below the
# two seconds of contract A20. So do a wait for the pool and a statement, which must outlast the server's shortest wait
# for a lock, or else a lock would look like a dead server.
_POOL_WAIT: Final = 0.5
_PING_WAIT: Final = 0.4
_LOCK_WAIT: Final = 1
_ANSWER_WAIT: Final = _LOCK_WAIT + 0.2
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
# A unit of work that waited for the locks of others must see what they left, not what was there when it began.
_ISOLATION: Final = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"
# Characters have up to four bytes.
_MOST_BYTES: Final = 4 * PAGE_TEXT
_POOL_NAME: Final = "logoadmin"
# Two databases on the same server may be prepared at once; the name of a lock may have 64 characters.
_MIGRATION_LOCK: Final = "CONCAT('logoadmin.', MD5(DATABASE()))"


class Mysql:
    """The :class:`~logoadmin.adapters.sql_storage.dialects.Dialect` of a server."""

    embedded = False
    # The driver is written in Python: while one thread waits for the server, two others keep the processor busy.
    at_once = 3
    begin_write = ("START TRANSACTION",)
    begin_snapshot = (
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
    )

    def __init__(self, url: URL, driver: str) -> None:
        """Use a database of a server.

        Raises:
            SettingsError: the URL cannot be used, or the driver is not installed.
        """
        if not url.database:
            raise SettingsError("The database URL must end with the name of a database, like mysql://user@host/name")
        self._url = url.set(drivername=f"mysql+{driver}", host=url.host or "localhost", port=url.port or 3306)
        try:
            import_module("pymysql" if driver == "pymysql" else "MySQLdb")
        except ImportError:
            raise SettingsError(f"The driver of mysql+{driver}:// is not installed") from None
        self._connector = Connector(self._url) if driver == "pymysql" else None
        host = str(self._url.host)
        self.server = f"[{host}]:{self._url.port}" if ":" in host else f"{host}:{self._url.port}"

    def engine(self, connections: int, timeout: float | None) -> Engine:
        """Return an engine that finds out in time whether its server is gone."""
        engine = create_engine(
            self._url,
            **self._connecting(timeout),
            poolclass=QueuePool,
            pool_size=connections,
            max_overflow=0,
            pool_timeout=_POOL_WAIT,
            pool_use_lifo=True,
            pool_reset_on_return=None,
            isolation_level="AUTOCOMMIT",
            skip_autocommit_rollback=True,
            hide_parameters=True,
            paramstyle="format",
            pool_logging_name=_POOL_NAME,
        )
        # Only this pool's: it would log a traceback for each connection that cannot be closed in good order.
        logging.getLogger(f"sqlalchemy.pool.impl.QueuePool.{_POOL_NAME}").setLevel(logging.CRITICAL)
        self._watch(engine, interactive=timeout is not None)
        return engine

    @contextmanager
    def holding_little(self, cursor: Any) -> Iterator[None]:
        """Throw away what follows on the rows of a heavy page: the driver reads an answer to its end."""
        connection = cursor.connection
        connection.most_bytes = _MOST_BYTES
        try:
            yield
        finally:
            connection.most_bytes = math.inf

    def judge(self, error: BaseException) -> Judgement | None:
        """Return how an error is to be taken."""
        return judge_mysql(error)

    def write_queue(self) -> AbstractContextManager[None]:
        """Do nothing: a server hands its locks on by itself."""
        return nullcontext()

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

    @contextmanager
    def migration_lock(self, connection: Connection) -> Iterator[tuple[str, ...]]:
        """Hold a lock by name. Tables are made for good one by one, so migrations must bear to be repeated."""
        if connection.exec_driver_sql(f"SELECT GET_LOCK({_MIGRATION_LOCK}, {_LONG_WAIT})").scalar() != 1:
            raise StorageUnavailable(self.server, Cause.TOO_BUSY)
        try:
            yield self.begin_write
            connection.exec_driver_sql("COMMIT")
        finally:
            if not connection.invalidated:
                connection.exec_driver_sql(f"SELECT RELEASE_LOCK({_MIGRATION_LOCK})")

    def table_options(self, connection: Connection) -> Mapping[str, Any]:
        """Return the one collation that tells all names apart; the usual ones ignore case, accents or last spaces."""
        exact = "utf8mb4_nopad_bin" if getattr(connection.dialect, "is_mariadb", False) else "utf8mb4_0900_bin"
        return {"mysql_engine": "InnoDB", "mysql_charset": "utf8mb4", "mysql_collate": exact}

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
            cursor.close()
            record.info["used"] = time.monotonic()

        def rest(_connection: object, record: Any) -> None:
            record.info["used"] = time.monotonic()

        def wake(connection: Any, record: Any, _proxy: object) -> None:
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
