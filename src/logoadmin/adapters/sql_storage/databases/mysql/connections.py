"""Making connections with PyMySQL: in time, and with TLS that does not cost a quarter of the processor."""

import ssl
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pymysql  # type: ignore[import-untyped]  # the driver has no types
from sqlalchemy import URL

from logoadmin.domain.model.access import is_loopback
from logoadmin.domain.model.errors import SettingsError

_OPTIONS: Final = {"unix_socket", "charset", "ssl", "ssl_ca", "ssl_cert", "ssl_key", "ssl_check_hostname"}
_LONG_WAIT: Final = 10.0
_UNKNOWN_HOST: Final = 2005
_HANDSHAKE_ERROR: Final = 2012


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
            # Rows that an update met, not only those that it changed.
            "client_flag": pymysql.constants.CLIENT.FOUND_ROWS,
            "defer_connect": True,
        }
        if self._demanded is None:
            self._arguments["ssl_disabled"] = True
        else:
            self._arguments["ssl"] = self._demanded

    def connect(self, timeout: float | None, answer_wait: float | None) -> Any:
        """Return a new connection.

        Args:
            timeout: how many seconds each step of connecting may take; None for ten.
            answer_wait: how many seconds each answer may take afterwards; None for ever.
        """
        connection = pymysql.connect(
            **self._arguments,
            connect_timeout=timeout or _LONG_WAIT,
            read_timeout=timeout or _LONG_WAIT,
            write_timeout=timeout or _LONG_WAIT,
        )
        if self._offered is not None:
            connection.ssl, connection.ctx = True, self._offered
        try:
            connection.connect()
        except (LookupError, ValueError, struct.error) as refused:
            if isinstance(refused, UnicodeError) and not isinstance(refused, UnicodeDecodeError):
                # No name of a machine may look so, such as one with a part of more than 63 characters.
                error = pymysql.err.OperationalError(_UNKNOWN_HOST, "That is no name of a machine")
            else:
                error = pymysql.err.OperationalError(_HANDSHAKE_ERROR, "What answers there is not a MySQL server")
        else:
            # The same for both ways, or else the driver would set the socket twice for each statement.
            connection._read_timeout = connection._write_timeout = answer_wait
            return connection
        raise error


@contextmanager
def answering_within(connection: Any, wait: float) -> Iterator[None]:
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
