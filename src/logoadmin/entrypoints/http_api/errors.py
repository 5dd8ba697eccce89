"""Error responses, and the log of unexpected errors (spec §Errors, contract A5, A7 to A9, A19 to A21, K3)."""

import logging
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final

from pydantic import TypeAdapter

from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.access import RECENT_SECONDS
from logoadmin.domain.kernel.causes import Cause
from logoadmin.entrypoints.http_api.http_error import HttpError
from logoadmin.entrypoints.http_api.operation import JSON, Operation
from logoadmin.entrypoints.http_api.request import Request
from logoadmin.entrypoints.http_api.response import Response, fields_of

log = logging.getLogger("logoadmin.http")

# The status of each error class; subclasses inherit it.
STATUSES: Final[Mapping[type[errors.LogoAdminError], int]] = {
    errors.DuplicateUpdate: 400,
    errors.InvalidToken: 401,
    errors.RecentSignInRequired: 401,
    errors.SecondFactorRequired: 401,
    errors.SignInRefused: 401,
    errors.IncorrectPassword: 403,
    errors.NotAuthenticated: 403,
    errors.NotPermitted: 403,
    errors.SignInForbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.PictureGone: 410,
    errors.Outdated: 412,
    errors.TooLargeToStore: 413,
    errors.TooManyChanges: 413,
    errors.DuplicateEntry: 409,
    errors.InvalidInput: 422,
    errors.InvalidLines: 422,
    errors.TooManyRequests: 429,
    errors.IssuerUnavailable: 503,
    errors.StorageUnavailable: 503,
}

# The header of the idempotency key, the only command option that may be invalid.
KEY_HEADER: Final = ("header", "Idempotency-Key")
NOTE_HEADER: Final = ("header", "X-Change-Note")

# The places of problems, in reporting order.
PLACES: Final = ("path", "query", "header", "body")

# Seconds after which a client may retry if the database was unavailable.
RETRY_AFTER: Final = 1
# The same for the issuer, whose failures are cached for this long.
ISSUER_RETRY_AFTER: Final = 10

# A fault may affect only some requests, so it is over once it has not occurred for this long.
QUIET: Final = 60.0  # seconds
_MAX_FAULTS: Final = 16  # current faults that are distinguished

_Body = TypeAdapter(dict[str, str | tuple[errors.Problem, ...] | Any])


def note_cause(request: Request, error: Exception) -> None:
    """Add the cause to the access log if the database made a request fail (contract K3)."""
    cause: Cause | None = getattr(error, "cause", None)
    if cause is not None:
        request.causes.append(cause.code)


def error_response(error: errors.LogoAdminError | HttpError) -> Response:
    """Return the response to an error: its status, and JSON with its ``detail``."""
    if isinstance(error, HttpError):
        return detail_response(error.status, error.detail, error.headers)
    status = next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), 500)
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        return detail_response(status, HTTPStatus.INTERNAL_SERVER_ERROR.phrase)
    return detail_response(status, _detail(error), _headers(error), _more(error))


def _more(error: errors.LogoAdminError) -> Mapping[str, Any]:
    """Return the members of the body besides ``detail``, which the second step of a sign-in needs (contract O2)."""
    if not isinstance(error, errors.SecondFactorRequired):
        return {}
    passkey = {} if error.passkey is None else {"passkey": error.passkey}
    return {"challenge": error.challenge, "factors": error.factors, **passkey}


def _detail(error: errors.LogoAdminError) -> str | tuple[errors.Problem, ...]:
    if isinstance(error, errors.InvalidLines):
        return tuple(
            replace(problem, loc=("line", line.number, *problem.loc))
            for line in error.lines
            for problem in line.problems
        )
    return tuple(map(_placed, error.problems)) if isinstance(error, errors.InvalidInput) else str(error)


def _placed(problem: errors.Problem) -> errors.Problem:
    """Return a problem with its place in the request: the body, for problems from use cases, except with options."""
    placed = option_placed(problem)
    return placed if placed.loc[0] in PLACES else replace(placed, loc=("body", *placed.loc))


def option_placed(problem: errors.Problem) -> errors.Problem:
    """Return a problem, placed in a request header if it is about a command option."""
    return replace(problem, loc=KEY_HEADER) if problem.loc == ("idempotency_key",) else problem


def detail_response(
    status: int,
    detail: str | tuple[errors.Problem, ...],
    headers: Mapping[str, str] | None = None,
    more: Mapping[str, Any] | None = None,
) -> Response:
    """Return a JSON response with ``detail`` and the members of ``more``."""
    body = _Body.dump_json({"detail": detail, **(more or {})})
    fields = fields_of({"cache-control": "no-store", "content-type": JSON, **(headers or {})}, body)
    return Response(status, fields, body)


def _headers(error: errors.LogoAdminError) -> dict[str, str]:
    match error:
        case errors.RecentSignInRequired():
            step_up = f'Bearer error="insufficient_user_authentication", max_age={RECENT_SECONDS}'
            return {"www-authenticate": step_up}  # RFC 9470 §3
        case errors.InvalidToken() | errors.SignInRefused() | errors.SecondFactorRequired():
            return {"www-authenticate": "Bearer"}  # RFC 6750 §3, RFC 9110 §15.5.2
        case errors.TooManyRequests(retry_after=seconds):
            return {"retry-after": str(seconds)}
        case errors.IssuerUnavailable():
            return {"retry-after": str(ISSUER_RETRY_AFTER)}
        case errors.StorageUnavailable():
            return {"retry-after": str(RETRY_AFTER)}
        case _:
            return {}


@dataclass(slots=True)
class _Fault:
    """A current fault, and the number of requests that failed."""

    began: float
    latest: float
    count: int = 0


class Faults:
    """The current faults of operations; logs a traceback when a fault begins, and a line when it is over.

    The access log has its code for all other affected requests. Only for use in the event loop.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lasting: dict[tuple[Operation, str], _Fault] = {}

    def met(self, operation: Operation, error: Exception, request_id: str) -> str:
        """Record an unexpected error; return its code, which depends on its class and location."""
        code, now = _code(error), self._clock()
        fault = self._lasting.get((operation, code))
        if fault is None:
            if len(self._lasting) >= _MAX_FAULTS:
                return code
            fault = self._lasting[operation, code] = _Fault(now, now)
            log.error("%s: %s begins, with request %s", operation.route, code, request_id, exc_info=error)
        fault.latest = now
        fault.count += 1
        return code

    def succeeded(self, operation: Operation) -> None:
        """Record a successful request."""
        now = self._clock() if self._lasting else 0
        for (of, code), fault in [*self._lasting.items()]:
            if of is operation and now - fault.latest >= QUIET:
                del self._lasting[of, code]
                values = operation.route, code, now - fault.began, fault.count
                log.warning("%s: %s is over, after %.0f s and %d requests", *values)


def _code(error: Exception) -> str:
    """Return a code for the class of an error and the line that raised it."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = (place.tb_frame.f_globals.get("__name__"), place.tb_lineno) if place is not None else ()
    return f"fault-{zlib.crc32(repr((type(error).__qualname__, *where)).encode()):08x}"
