"""Making connections with PyMySQL: in time, and with TLS that does not cost a quarter of the processor."""

import ipaddress
import ssl
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Final

from sqlalchemy import URL

from logoadmin.domain.errors import SettingsError

_OPTIONS: Final = {"unix_socket", "charset", "ssl", "ssl_ca", "ssl_cert", "ssl_key", "ssl_check_hostname"}
_UNHURRIED: Final = 10.0
_HANDSHAKE_ERROR: Final = 2012
_LOST: Final = 2013
# How many kinds of answer are remembered; the service has some dozens.
_DESCRIPTIONS: Final = 500
_INSIDES: Final = (
    "decoders",
    "_read_query_result",
    "_read_bytes",
    "_force_close",
    "_next_seq_id",
    "_result",
    "server_status",
)
# The protocol of MySQL: the first byte of a packet or of a value, and how many bytes then say how long it is.
_NULL: Final = 0xFB
_WIDTHS: Final = {0xFC: 2, 0xFD: 3, 0xFE: 8}
_END: Final = 0xFE
_ERROR: Final = 0xFF
_LONG: Final = 9


class Connector:
    """Connects to the server of a URL.

    TLS: ``?ssl=true`` demands it, with a certificate for that host from a known authority, ``ssl_ca`` names another
    authority, ``ssl_cert`` and ``ssl_key`` show one's own; ``?ssl=false`` goes without. With neither, a server on this
    machine is spoken to without TLS, any other with TLS if it offers that, unverified, as PyMySQL does by itself. A
    context is made once: PyMySQL makes one for each connection and takes 19 ms for it.
    """

    def __init__(self, url: URL) -> None:
        """Read the URL.

        Raises:
            SettingsError: it has options that cannot be used.
        """
        options = {name: value if isinstance(value, str) else value[-1] for name, value in url.query.items()}
        unknown = ", ".join(sorted(options.keys() - _OPTIONS))
        if unknown:
            raise SettingsError(f"The database URL has options that are not known: {unknown}")
        pymysql = import_module("pymysql")
        self._pymysql = pymysql
        self._demanded, self._offered = _tls(str(url.host), options)
        self._arguments: dict[str, Any] = {
            "host": url.host,
            "port": url.port,
            "user": url.username,
            # Bytes: of a text, the driver can take Latin-1 alone, and shows it in the error if it is more.
            "password": (url.password or "").encode(),
            "database": url.database,
            "unix_socket": options.get("unix_socket"),
            "charset": "utf8mb4",
            "autocommit": True,
            # Rows that an update met, not only those that it changed; and several statements at once.
            "client_flag": pymysql.constants.CLIENT.FOUND_ROWS | pymysql.constants.CLIENT.MULTI_STATEMENTS,
            "defer_connect": True,
        }
        if self._demanded is None:
            self._arguments["ssl_disabled"] = True
        else:
            self._arguments["ssl"] = self._demanded

    def connect(self, patience: float | None, answer_wait: float | None) -> Any:
        """Return a new connection.

        Args:
            patience: how many seconds each step of connecting may take; None for ten.
            answer_wait: how many seconds each answer may take afterwards; None for ever.
        """
        connection = self._pymysql.connect(
            **self._arguments,
            connect_timeout=patience or _UNHURRIED,
            read_timeout=patience or _UNHURRIED,
            write_timeout=patience or _UNHURRIED,
        )
        if self._offered is not None:
            connection.ssl, connection.ctx = True, self._offered
        try:
            connection.connect()
        except (LookupError, ValueError, struct.error):
            error = self._pymysql.err.OperationalError(_HANDSHAKE_ERROR, "What answers there is not a MySQL server")
        else:
            # The same for both ways, or else the driver would set the socket twice for each statement.
            connection._read_timeout = connection._write_timeout = answer_wait
            _read_quickly(connection)
            return connection
        raise error


def _read_quickly(connection: Any) -> None:
    """Let a connection read answers in a third of the time; a version of PyMySQL with other insides stays as it is."""
    kind = _quick_results()
    if kind is None or not all(hasattr(connection, inside) for inside in _INSIDES):
        return

    def read(unbuffered: bool = False) -> Any:
        result = kind(connection)
        connection._result = None
        if unbuffered:
            result.init_unbuffered_query()
        else:
            result.read()
        connection._result = result
        if result.server_status is not None:
            connection.server_status = result.server_status
        return result.affected_rows

    connection._read_query_result = read


@lru_cache(1)
def _quick_results() -> Any:
    """Return PyMySQL's class of results with a loop of our own where it spends its time, None where it is another."""
    connections, protocol = import_module("pymysql.connections"), import_module("pymysql.protocol")
    usual = getattr(connections, "MySQLResult", None)
    if not all(hasattr(usual, inside) for inside in ("_read_result_packet", "_get_descriptions")):
        return None
    described: dict[bytes, tuple[Any, Any, Any]] = {}

    class Quick(usual):  # type: ignore[misc, valid-type]  # the driver has no types
        """The rows of one answer."""

        connection: Any

        def _read_result_packet(self, first_packet: Any) -> None:
            self.field_count = first_packet.read_length_encoded_integer()
            # The server describes the columns anew with every answer, in the same bytes; they are parsed once.
            packets = [self._packet() for _ in range(self.field_count + 1)]
            key = b"".join(packets)
            known = described.get(key)
            if known is None:
                known = self._described(iter(packets))
                if len(described) < _DESCRIPTIONS:
                    described[key] = known
            self.fields, self.converters, self.description = known
            self._read_rows()

        def _described(self, packets: Iterator[bytes]) -> tuple[Any, Any, Any]:
            connection = self.connection

            def read(kind: Any = protocol.MysqlPacket) -> Any:
                return kind(next(packets), connection.encoding)

            self.connection = SimpleNamespace(
                _read_packet=read,
                use_unicode=connection.use_unicode,
                encoding=connection.encoding,
                decoders=connection.decoders,
            )
            try:
                self._get_descriptions()
            finally:
                self.connection = connection
            return self.fields, self.converters, self.description

        def _read_rows(self) -> None:
            rows, converters, packet = [], self.converters, self._packet
            while not ((data := packet())[0] == _END and len(data) < _LONG):
                row: list[Any] = []
                position = 0
                for encoding, converter in converters:
                    length = data[position]
                    position += 1
                    if length == _NULL:
                        row.append(None)
                        continue
                    if length > _NULL:
                        width = _WIDTHS[length]
                        length = int.from_bytes(data[position : position + width], "little")
                        position += width
                    value: Any = data[position : position + length]
                    position += length
                    if encoding is not None:
                        value = value.decode(encoding)
                    row.append(value if converter is None else converter(value))
                rows.append(tuple(row))
            self._check_packet_is_eof(protocol.MysqlPacket(data, "utf8mb4"))
            self.connection = None
            self.affected_rows = len(rows)
            self.rows = tuple(rows)

        def _packet(self) -> bytes:
            connection = self.connection
            whole = b""
            while True:
                header = connection._read_bytes(4)
                size = int.from_bytes(header[:3], "little")
                if header[3] != connection._next_seq_id:
                    connection._force_close()
                    raise connections.err.OperationalError(_LOST, "The connection was lost in the middle of an answer")
                connection._next_seq_id = (header[3] + 1) % 256
                part: bytes = connection._read_bytes(size)
                whole = whole + part if whole else part
                if size < protocol_limit:
                    break
            if whole[0] == _ERROR:
                connections.err.raise_mysql_exception(whole)
            return whole

    protocol_limit = connections.MAX_PACKET_LEN
    return Quick


@contextmanager
def hurried(connection: Any, wait: float) -> Iterator[None]:
    """Let a connection wait no longer than this for answers, where the driver is one that can be told."""
    before = getattr(connection, "_read_timeout", None)
    if before is not None:
        connection._read_timeout = wait
    try:
        yield
    finally:
        if before is not None:
            connection._read_timeout = before


def _tls(host: str, options: dict[str, str]) -> tuple[ssl.SSLContext | None, ssl.SSLContext | None]:
    """Return the context of TLS that is demanded, and of TLS that is taken where it is offered."""
    named = {name for name in ("ssl_ca", "ssl_cert", "ssl_key") if name in options}
    wanted = _flag(options, "ssl", default=True if named else None)
    if wanted is False or (wanted is None and (options.get("unix_socket") or _is_loopback(host))):
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
    # A certificate that MySQL or MariaDB made for itself does not pass the strict check of Python 3.13.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context, None


def _flag(options: dict[str, str], name: str, *, default: bool | None) -> bool | None:
    if name not in options:
        return default
    value = options[name].lower()
    if value not in {"true", "false", "1", "0"}:
        raise SettingsError(f"The option {name} of the database URL must be true or false")
    return value in {"true", "1"}


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
