"""Connections to MariaDB and MySQL: connecting, the meaning of error codes (contract K3), and leases.

With a lease, one process at a time has a right, across all servers of a cluster. A named lock only exists on one
server, but a row exists in the whole cluster. The process that inserted the row holds the lease until the time in it,
by the database's clock. In case that clock is set back, a lease that is not renewed for long enough also expires.
"""

import secrets
import socket
import ssl
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

import pymysql  # type: ignore[import-untyped]  # the driver has no types
from sqlalchemy import URL, BigInteger, Column, Connection, MetaData, String, Table, exc, func, select
from sqlalchemy.schema import CreateTable

from logoadmin.adapters.sql_storage.failures import Classification, CodeTable, FailureKind, classified
from logoadmin.domain.kernel.access import is_loopback
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import SettingsError, StorageUnavailable

TOO_LARGE: Final = 1153
MYSQL: Final[CodeTable] = (
    # Lost or unreachable.
    (FailureKind.GONE, Cause.OUT_OF_REACH, {0, 1042, 1043, 1053, 1152, 1158, 1159, 1160, 1161, 1927, 2002, 2003}),
    (FailureKind.GONE, Cause.OUT_OF_REACH, {2006, 2012, 2013, 2014, 2045, 2055, 4031}),
    (FailureKind.GONE, Cause.UNKNOWN_HOST, {2005}),
    # Reachable, but refused.
    (FailureKind.GONE, Cause.ACCESS_DENIED, {1045, 1129, 1130, 1698, 1862, 2059, 2061}),
    (FailureKind.GONE, Cause.NO_RIGHTS, {1044}),
    (FailureKind.GONE, Cause.UNKNOWN_DATABASE, {1049}),
    (FailureKind.GONE, Cause.TLS_REFUSED, {2026, 3159}),
    # On a working connection; another one may reach a healthier server.
    (FailureKind.USELESS, Cause.CUT_OFF, {1047}),
    (FailureKind.USELESS, Cause.READ_ONLY, {1290, 1836}),
    (FailureKind.BUSY, Cause.NO_RIGHTS, {1142, 1143, 1227, 1370}),
    (FailureKind.BUSY, Cause.SESSION, {1193, 1229, 1231, 1232, 1238, 1286}),
    (FailureKind.BUSY, Cause.DISK_FULL, {1021, 1114}),
    (FailureKind.BUSY, Cause.CORRUPT, {1034, 1035, 1194, 1195, 1712}),
    (FailureKind.BUSY, Cause.TOO_LARGE, {TOO_LARGE, 2020}),
    (FailureKind.BUSY, Cause.IO_ERROR, {1180}),
    (FailureKind.BUSY, Cause.TOO_BUSY, {1040, 1041, 1203, 1205, 1206, 1226, 1317, 1969, 3024, 3572}),
    # The last two are caused by concurrent changes of tables.
    (FailureKind.CONFLICT, Cause.TOO_BUSY, {1020, 1213, 1412, 1684}),
)
# Exceptions below the driver that are more specific than its code.
_BELOW: Final[dict[type[Exception], Cause]] = {
    ssl.SSLError: Cause.TLS_REFUSED,
    socket.gaierror: Cause.UNKNOWN_HOST,
    TimeoutError: Cause.NO_ANSWER,
}
# Messages of cluster nodes without a specific code; only the text shows how to proceed.
_UNKNOWN_ERROR: Final = 1105
_WRITE_SET_TOO_LARGE: Final = "writeset size"


def code_of(error: BaseException | None) -> int | None:
    """Return the driver's number for an error, None if it has none."""
    code = error.args[0] if error and error.args else None
    return code if isinstance(code, int) else None


def classify(error: BaseException) -> Classification | None:
    """Return the classification of an error of a MariaDB or MySQL driver; None for a fault of this program."""
    code = code_of(error)
    if code == _UNKNOWN_ERROR:
        too_large = _WRITE_SET_TOO_LARGE in str(error)
        kind, cause = (FailureKind.BUSY, Cause.TOO_LARGE) if too_large else (FailureKind.USELESS, Cause.OUT_OF_REACH)
        return Classification(kind, cause, code)
    if code is not None:
        found = classified(MYSQL, code, code)
        if found and found.cause is Cause.SESSION:
            return found._replace(code=error.args[1])  # the server names the variable
        below = getattr(error, "original_exception", None) or error.__context__
        # The driver uses one code for all system errors of a connection.
        of_system = next((cause for kind, cause in _BELOW.items() if isinstance(below, kind)), None)
        return found._replace(cause=of_system) if of_system and found and found.cause is Cause.OUT_OF_REACH else found
    if type(error).__name__ in {"InternalError", "InterfaceError"}:
        # Errors of the driver itself have a text and no code: it could not parse the server's protocol.
        return Classification(FailureKind.USELESS, Cause.OUT_OF_REACH, "protocol")
    return None


_OPTIONS: Final = {"unix_socket", "charset", "ssl", "ssl_ca", "ssl_cert", "ssl_key", "ssl_check_hostname"}
# Seconds to reach a server while no request waits.
_REACHED_WITHIN: Final = 10.0
_UNKNOWN_HOST: Final = 2005
_HANDSHAKE_ERROR: Final = 2012
# Bytes of a statement that any server accepts.
_SMALL: Final = 64 * 1024


class _Connection(pymysql.connections.Connection):  # type: ignore[misc]  # the driver has no types
    """Refuses statements that the server would not accept: it would hang up, which looks like a server that is gone."""

    def query(self, sql: str | bytes, unbuffered: bool = False) -> int:
        if len(sql) > _SMALL:
            sql = sql.encode(self.encoding, "surrogateescape") if isinstance(sql, str) else sql
            with self.cursor() as cursor:
                cursor.execute("SELECT @@max_allowed_packet")
                ((most,),) = cursor.fetchall()
            if len(sql) >= most:
                raise pymysql.err.OperationalError(TOO_LARGE, "The statement is larger than max_allowed_packet")
        return int(super().query(sql, unbuffered))


class Connector:
    """Connects to the server of a URL.

    TLS: ``?ssl=true`` requires it, with a certificate for the host from a known authority; ``ssl_ca`` names another
        authority, ``ssl_cert`` and ``ssl_key`` a client certificate; ``?ssl=false`` disables it. With neither,
        connections to this machine do not use TLS, others use it unverified if the server offers it, as in PyMySQL. The
        context is created once: PyMySQL creates one for each connection, which takes 19 ms.
    """

    def __init__(self, url: URL) -> None:
        """Read the URL; raise SettingsError if it has options that cannot be used."""
        options = {name: value if isinstance(value, str) else value[-1] for name, value in url.query.items()}
        unknown = ", ".join(sorted(options.keys() - _OPTIONS))
        if unknown:
            raise SettingsError(f"The database URL has options that are not known: {unknown}")
        self._demanded, self._offered = _tls(str(url.host), options)
        self._arguments: dict[str, Any] = {
            "host": url.host,
            "port": url.port,
            "user": url.username,
            # As bytes: the driver only accepts Latin-1 text, and its error would show other text.
            "password": (url.password or "").encode(),
            "database": url.database,
            "unix_socket": options.get("unix_socket"),
            "charset": "utf8mb4",
            "autocommit": True,
            # Count the rows that an update matched, not only those that it changed.
            "client_flag": pymysql.constants.CLIENT.FOUND_ROWS,
            "defer_connect": True,
        }
        if self._demanded is None:
            self._arguments["ssl_disabled"] = True
        else:
            self._arguments["ssl"] = self._demanded

    def connect(self, timeout: float | None, answer_wait: float) -> Any:
        """Return a new connection. Reaching the server takes at most ``timeout`` seconds, ten by default."""
        if timeout is None and answer_wait > _REACHED_WITHIN:
            # The driver has one limit for a connection: a server that hangs is found before the long one applies.
            self.connect(timeout, _REACHED_WITHIN).close()
        # The same for reading and writing: otherwise the driver sets the socket twice for each statement.
        connection = _Connection(
            **self._arguments,
            connect_timeout=timeout or _REACHED_WITHIN,
            read_timeout=answer_wait,
            write_timeout=answer_wait,
        )
        if self._offered is not None:
            connection.ssl, connection.ctx = True, self._offered
        try:
            connection.connect()
        except (LookupError, ValueError, struct.error) as refused:
            if isinstance(refused, UnicodeError) and not isinstance(refused, UnicodeDecodeError):
                # The name is not a valid host name, such as one with a label of more than 63 characters.
                error = pymysql.err.OperationalError(_UNKNOWN_HOST, "That is not a valid host name")
            else:
                error = pymysql.err.OperationalError(_HANDSHAKE_ERROR, "What answers there is not a MySQL server")
        else:
            return connection
        raise error


def _tls(host: str, options: dict[str, str]) -> tuple[ssl.SSLContext | None, ssl.SSLContext | None]:
    """Return the contexts of required TLS and of opportunistic TLS."""
    named = {name for name in ("ssl_ca", "ssl_cert", "ssl_key") if name in options}
    wanted = _flag(options, "ssl", default=True if named else None)
    if wanted is False or (wanted is None and (options.get("unix_socket") or is_loopback(host))):
        return None, None
    if wanted is None:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return None, context
    try:
        context = ssl.create_default_context(cafile=options.get("ssl_ca"))
        context.check_hostname = _flag(options, "ssl_check_hostname", default=True) is not False
        if "ssl_cert" in options:
            context.load_cert_chain(options["ssl_cert"], options.get("ssl_key"))
    except (OSError, ssl.SSLError):
        raise SettingsError("The certificates that the database URL names cannot be read") from None
    # The certificates that MySQL and MariaDB generate do not pass the strict check of Python 3.13.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context, None


def _flag(options: dict[str, str], name: str, *, default: bool | None) -> bool | None:
    if name not in options:
        return default
    value = options[name].lower()
    if value not in {"true", "false", "1", "0"}:
        raise SettingsError(f"The option {name} of the database URL must be true or false")
    return value in {"true", "1"}


# It exists before all other tables, so no migration creates it.
LEASE_TABLE: Final = "logoadmin_leases"
# The lease of a dead process expires after this time; a live process renews it three times as often.
DURATION: Final = 30  # seconds
_POLL: Final = 0.2
_NO_TABLE: Final = 1146
# Another process holds or takes the lease, or creates the table: 1050 is from MySQL, the others from a cluster.
_TAKEN: Final = frozenset({1020, 1050, 1062, 1205, 1213, 1412, 1684})

_NOW: Final = func.unix_timestamp()


class Lease:
    """An exclusive right that at most one process holds at a time."""

    def __init__(self, name: str, server: str, table_options: Mapping[str, Any]) -> None:
        """``server`` is for messages, ``table_options`` are those of its table."""
        self._name = name
        self._server = server
        self._holder = secrets.token_hex(16)
        self._leases = Table(
            LEASE_TABLE,
            MetaData(),
            Column("name", String(64), primary_key=True),
            Column("holder", String(64), nullable=False),
            Column("until", BigInteger, nullable=False),
            **table_options,
        )
        self._seen: object = None  # the row of another holder, unchanged since this time of our own clock
        self._since = 0.0
        self._ours = (self._leases.c.name == name, self._leases.c.holder == self._holder)

    @contextmanager
    def held(self, connection: Connection, *, wait: float) -> Iterator[None]:
        """Hold the lease, renewed on another connection of the same engine.

        Raises StorageUnavailable if another process held it for the whole wait, or took it over before the end.
        """
        deadline = time.monotonic() + wait + DURATION
        while not self._take(connection):
            if time.monotonic() > deadline:
                raise StorageUnavailable(self._server, Cause.TOO_BUSY)
            time.sleep(_POLL)
        done = threading.Event()
        renewing = threading.Thread(target=self._renew, args=(connection, done), name="lease", daemon=True)
        renewing.start()
        try:
            yield
        except BaseException:
            # If the connection was lost, the lease expires.
            with suppress(exc.SQLAlchemyError):
                self._give_back(connection)
            raise
        else:
            if not self._give_back(connection):
                raise StorageUnavailable(self._server, Cause.TOO_BUSY)
        finally:
            done.set()
            renewing.join()

    def _take(self, connection: Connection) -> bool:
        lease = {"name": self._name, "holder": self._holder, "until": _NOW + DURATION}
        try:
            self._drop_expired(connection)
            self._drop_abandoned(connection)
            connection.execute(self._leases.insert().values(lease))
        except exc.DBAPIError as error:
            if code_of(error.orig) not in _TAKEN:
                raise
            return False
        return True

    def _drop_expired(self, connection: Connection) -> None:
        of_name = self._leases.c.name == self._name
        try:
            connection.execute(self._leases.delete().where(of_name, self._leases.c.until < _NOW))
        except exc.DBAPIError as error:
            if code_of(error.orig) != _NO_TABLE:
                raise
            connection.execute(CreateTable(self._leases, if_not_exists=True))

    def _drop_abandoned(self, connection: Connection) -> None:
        """Drop a lease that was not renewed for twice its duration, whatever its time (contract K7)."""
        columns = self._leases.c
        row = connection.execute(select(columns.holder, columns.until).where(columns.name == self._name)).first()
        if row != self._seen:
            self._seen, self._since = row, time.monotonic()
        elif row is not None and time.monotonic() - self._since > 2 * DURATION:
            same = (columns.name == self._name, columns.holder == row.holder, columns.until == row.until)
            connection.execute(self._leases.delete().where(*same))

    def _renew(self, connection: Connection, done: threading.Event) -> None:
        pause = DURATION / 3
        while not done.wait(pause):
            began = time.monotonic()
            # A failed renewal is retried; if all fail, the lease is lost, which is detected at the end.
            with suppress(exc.SQLAlchemyError), connection.engine.connect() as another:
                another.execute(self._leases.update().where(*self._ours).values(until=_NOW + DURATION))
            # A change of a large table also blocks this statement.
            pause = max(0.0, DURATION / 3 - (time.monotonic() - began))

    def _give_back(self, connection: Connection) -> bool:
        return connection.execute(self._leases.delete().where(*self._ours)).rowcount == 1
