"""The dialect of MariaDB and MySQL."""

import logging
import math
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NoReturn

from sqlalchemy import URL, Connection, Engine, PoolProxiedConnection, create_engine, event
from sqlalchemy.dialects.mysql.base import MySQLCompiler
from sqlalchemy.exc import DisconnectionError, SQLAlchemyError
from sqlalchemy.ext.compiler import compiles

from logoadmin.adapters.sql_storage.databases import Checks, Dialect, mysql_checks, parsed_url, pool_options
from logoadmin.adapters.sql_storage.databases.mysql_connections import Connector, Lease, classify
from logoadmin.adapters.sql_storage.failures import Classification
from logoadmin.adapters.sql_storage.record_tables import LongBinary, LongText
from logoadmin.checks import Result
from logoadmin.domain.kernel.errors import SettingsError, StartError

# A response, of a new connection or to a statement, must outlast the server's shortest lock wait, or a lock would look
# like a dead server. Together with a wait for the pool, it stays below the two seconds of contract A20.
_LOCK_WAIT: Final = 1
_ANSWER_WAIT: Final = _LOCK_WAIT + 0.2
# A server that reports a timeout of a search is alive; one that does not respond is considered gone.
_STATEMENT_WAIT: Final = _LOCK_WAIT + 0.1
LONG_WAIT: Final = 60
# For work that no user waits for, such as a change of a large table.
_LONG_ANSWER_WAIT: Final = 600.0

# Everything that statements here rely on, whatever a session begins with. DEFAULT would mean the server's own choice.
_RELIED_ON: Final = (
    "sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
    "autocommit = 1",
    "completion_type = 0",
    "foreign_key_checks = 1",
    "unique_checks = 1",
    "sql_auto_is_null = 0",
    "sql_big_selects = 1",
    "sql_quote_show_create = 1",
    "sql_safe_updates = 0",
    f"sql_select_limit = {2**64 - 1}",
    "max_sort_length = 2048",
    "default_storage_engine = InnoDB",
)
# All queries of a transaction see the snapshot of its first query without a lock. A write, whose first query waits for
# its lock, therefore sees all earlier writes, without session state that a proxy would have to keep.
_ISOLATION: Final = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE"
# Reads and new transactions wait for commits that were made through other servers of a cluster.
FRESH: Final = "SET SESSION wsrep_sync_wait = 1"
_UNKNOWN_VARIABLE: Final = 1193
_POOL_NAME: Final = "logoadmin"


class Mysql(Dialect):
    """The dialect of a server."""

    # The driver is written in Python: while one thread waits for the server, two others use the processor.
    concurrent_reads = 3
    product = "MariaDB or MySQL"
    begin_write = "START TRANSACTION"
    begin_snapshot = "START TRANSACTION"

    def __init__(self, url: URL) -> None:
        """Use a database of a server; raise SettingsError for an unusable URL or a driver that is not installed."""
        if not url.database:
            raise SettingsError("The database URL must end with the name of a database, like mysql://user@host/name")
        # The default driver is in Python; mysqlclient, in C, is chosen by the scheme of the URL.
        is_default = not url.drivername.endswith("+mysqldb")
        driver = "mysql+pymysql" if is_default else "mysql+mysqldb"
        self._url = url.set(drivername=driver, host=url.host or "localhost", port=url.port or 3306)
        try:
            self._cursors = import_module("pymysql.cursors" if is_default else "MySQLdb.cursors")
        except ImportError:
            raise SettingsError(f"The driver of {driver}:// is not installed") from None
        self._may_be_cluster = True
        self._connector = Connector(self._url) if is_default else None
        host = str(self._url.host)
        self.server = f"[{host}]:{self._url.port}" if ":" in host else f"{host}:{self._url.port}"

    def engine(self, connections: int, timeout: float | None) -> Engine:
        """The engine detects in time that its server is gone."""
        engine = create_engine(
            self._url,
            **self._connecting(timeout),
            **pool_options(connections),
            paramstyle="format",
            pool_logging_name=_POOL_NAME,
        )
        engine.dialect.statement_compiler = _Compiler
        # Only for this pool, which would log a traceback for each connection that cannot be closed properly.
        logging.getLogger(f"sqlalchemy.pool.impl.QueuePool.{_POOL_NAME}").setLevel(logging.CRITICAL)
        self._watch(engine, interactive=timeout is not None)
        return engine

    def page_cursor(self, connection: PoolProxiedConnection) -> Any:
        """An unbuffered cursor does not read the whole result at once."""
        return connection.cursor(self._cursors.SSCursor)

    def classify(self, error: BaseException) -> Classification | None:
        return classify(error)

    def back_up(self, target: Path) -> NoReturn:
        """Refuse, with the command that makes a backup."""
        dump = f"mariadb-dump --single-transaction --skip-add-locks --result-file={shlex.quote(str(target))}"
        raise StartError(f"Back up a server with its own program: (umask 077; {_command(self._url, dump)})")

    def restore(self, source: Path, fit: Callable[[Dialect], None]) -> NoReturn:
        """Refuse, with the command that loads a backup."""
        del fit
        raise StartError(
            "Load a copy into an empty database with the server's own program: "
            f"{_command(self._url, 'mariadb')} < {shlex.quote(str(source))}; then run logoadmin restore --loaded"
        )

    def looks_inside(self, connections: int) -> Checks:
        return {
            "product": mysql_checks.check_product,
            "packets": mysql_checks.check_packets,
            "connections": partial(mysql_checks.check_connections, connections),
            "durability": mysql_checks.check_durability,
            "collation": self._check_collation,
        }

    @contextmanager
    def migration_lock(self, connection: Connection) -> Iterator[str | None]:
        """Hold a lease. Each change of a table commits at once, so migrations must be idempotent."""
        lease = Lease("migrations", self.server, self.table_options(connection))
        with lease.held(connection, wait=LONG_WAIT):
            try:
                yield self.begin_write
                connection.exec_driver_sql("COMMIT")
            except BaseException:
                with suppress(SQLAlchemyError):
                    connection.exec_driver_sql("ROLLBACK")
                raise

    def table_options(self, connection: Connection) -> Mapping[str, Any]:
        """Other collations ignore case, accents or trailing spaces."""
        exact = "utf8mb4_nopad_bin" if getattr(connection.dialect, "is_mariadb", False) else "utf8mb4_0900_bin"
        return {"mysql_engine": "InnoDB", "mysql_charset": "utf8mb4", "mysql_collate": exact}

    def _check_collation(self, connection: Connection) -> Result:
        return mysql_checks.check_collation(connection, self.table_options(connection)["mysql_collate"])

    def _connecting(self, timeout: float | None) -> dict[str, Any]:
        if self._connector is not None:
            connect, answer_wait = self._connector.connect, _LONG_ANSWER_WAIT if timeout is None else _ANSWER_WAIT
            return {"creator": lambda: connect(timeout, answer_wait)}
        # mysqlclient only accepts whole seconds.
        wait = 10 if timeout is None else math.ceil(timeout)
        limits = {} if timeout is None else {"read_timeout": wait, "write_timeout": wait}
        return {"connect_args": {"charset": "utf8mb4", "connect_timeout": wait, **limits}}

    def _stay_fresh(self, connection: Any, _record: object) -> None:
        """Make a connection see commits through other servers, if its server may be in a cluster."""
        if not self._may_be_cluster:
            return
        try:
            with closing(connection.cursor()) as cursor:
                cursor.execute(FRESH)
        except Exception as error:
            if error.args[:1] != (_UNKNOWN_VARIABLE,):
                raise
            self._may_be_cluster = False

    def _watch(self, engine: Engine, *, interactive: bool) -> None:
        lock_wait, statement_wait = (_LOCK_WAIT, _STATEMENT_WAIT) if interactive else (LONG_WAIT, 0)
        relied_on = ", SESSION ".join((*_RELIED_ON, f"innodb_lock_wait_timeout = {lock_wait}"))

        def begin(connection: Any, record: Any) -> None:
            cursor = connection.cursor()
            cursor.execute(f"SET SESSION {relied_on} {_limit(statement_wait)}")
            cursor.execute(_ISOLATION)
            cursor.close()
            record.info["process"] = os.getpid()

        def compare_process(_connection: object, record: Any, proxy: Any) -> None:
            if record.info["process"] != os.getpid():
                # A connection from before a fork is not closed, since that would end the session of the other process.
                record.dbapi_connection = proxy.dbapi_connection = None
                raise DisconnectionError

        # Before SQLAlchemy's own first queries, which find out how the session quotes names.
        event.listen(engine, "connect", begin, insert=True)
        # After those, which read no table: a server that is cut off reports that their wait for the others is too long.
        event.listen(engine, "connect", self._stay_fresh)
        event.listen(engine, "checkout", compare_process)


class _Compiler(MySQLCompiler):
    """Renders index hints."""

    def get_from_hint_text(self, table: Any, text: str | None) -> str:  # noqa: ARG002 (SQLAlchemy's)
        return f"FORCE INDEX ({text})"


@compiles(LongText, "mysql")
def _long_text(*_: object, **__: object) -> str:
    return "MEDIUMTEXT"  # TEXT holds 65,535 bytes, too few for characters of up to four bytes


@compiles(LongBinary, "mysql")
def _long_binary(*_: object, **__: object) -> str:
    return "LONGBLOB"  # BLOB holds 65,535 bytes


def _limit(seconds: float) -> str:
    """Return the limit on statements: a comment for MariaDB, and one for MySQL that MariaDB ignores."""
    return (
        f"/*M!100101 , SESSION max_statement_time = {seconds} */"
        f" /*!50708 , SESSION max_execution_time = {round(seconds * 1000)} */"
    )


def open_dialect(url: URL, text: str) -> Mysql:
    """Return the dialect of a server; with a stray @ in the password, errors would show part of it as the host."""
    _, at, rest = text.rpartition("@")
    server = parsed_url(f"mysql://{rest}") if at else url
    if (server.host, server.port, server.database) != (url.host, url.port, url.database):
        raise SettingsError("The database URL has an @ too many: write @ in a password as %40, and so elsewhere")
    return Mysql(url)


def _command(url: URL, program: str) -> str:
    """Return the command line of a program, which prompts for the password, since others can read arguments."""
    socket = url.query.get("unix_socket")
    where = {"socket": socket} if socket else {"host": url.host, "port": url.port}
    given = {**where, "user": url.username, "default-character-set": "utf8mb4"}
    options = " ".join(f"--{name}={shlex.quote(str(value))}" for name, value in given.items() if value)
    return f"{program} {options} --password {shlex.quote(str(url.database))}"
