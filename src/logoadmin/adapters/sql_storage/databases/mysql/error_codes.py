"""Error codes of MariaDB and MySQL: what each means for a transaction, and for the operator (contract K3)."""

import socket
import ssl
from typing import Final

from logoadmin.adapters.sql_storage.driver_errors import Classification, CodeTable, FailureKind, classified
from logoadmin.domain.kernel.causes import Cause

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
