"""Connects with PyMySQL, with time limits and a shared TLS context."""

import ssl
import struct
from typing import Any, Final

import pymysql  # type: ignore[import-untyped]  # the driver has no types
from sqlalchemy import URL

from logoadmin.adapters.sql_storage.databases.mysql.error_codes import TOO_LARGE
from logoadmin.domain.kernel.access import is_loopback
from logoadmin.domain.kernel.errors import SettingsError

_OPTIONS: Final = {"unix_socket", "charset", "ssl", "ssl_ca", "ssl_cert", "ssl_key", "ssl_check_hostname"}
_LONG_WAIT: Final = 10.0
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
        """Read the URL.

        Raises:
            SettingsError: it has options that cannot be used.
        """
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
        """Return a new connection.

        Args:
            timeout: the limit in seconds of reaching the server; None for ten.
            answer_wait: the limit in seconds of each response.
        """
        if timeout is None and answer_wait > _LONG_WAIT:
            # The driver has one limit for a connection: a server that hangs is found before the long one applies.
            self.connect(timeout, _LONG_WAIT).close()
        # The same for reading and writing: otherwise the driver sets the socket twice for each statement.
        connection = _Connection(
            **self._arguments,
            connect_timeout=timeout or _LONG_WAIT,
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
