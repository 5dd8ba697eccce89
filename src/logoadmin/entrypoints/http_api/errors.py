"""Error responses (spec §Errors, contract A5, A7 to A9, A19 to A21)."""

from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Final

from pydantic import TypeAdapter
from starlette.responses import Response

from logoadmin.domain.model.causes import Cause
from logoadmin.domain.model.errors import (
    Conflict,
    DuplicateEntry,
    DuplicateUpdate,
    InvalidInput,
    InvalidLines,
    InvalidToken,
    LogoAdminError,
    NotAuthenticated,
    NotFound,
    NotPermitted,
    Outdated,
    Problem,
    SignInRefused,
    StorageUnavailable,
    TooManySignIns,
)
from logoadmin.entrypoints.http_api.operation import JSON
from logoadmin.entrypoints.http_api.request import Request

# The status of each error class; subclasses inherit it.
STATUSES: Final[Mapping[type[LogoAdminError], int]] = {
    DuplicateUpdate: 400,
    InvalidToken: 401,
    SignInRefused: 401,
    NotAuthenticated: 403,
    NotPermitted: 403,
    NotFound: 404,
    Conflict: 409,
    Outdated: 412,
    DuplicateEntry: 409,
    InvalidInput: 422,
    InvalidLines: 422,
    TooManySignIns: 429,
    StorageUnavailable: 503,
}

# The header of the idempotency key, the only option of commands that may be invalid.
KEY_HEADER: Final = ("header", "Idempotency-Key")

# Seconds after which a client may retry when the database was unavailable.
RETRY_AFTER: Final = 1

_Detail = TypeAdapter(dict[str, str | tuple[Problem, ...]])


class HttpError(Exception):
    """A request that is refused for its HTTP form, before it becomes a command (contract A21).

    Attributes:
        cause: the cause for the log, if the request is not at fault.
    """

    def __init__(
        self,
        status: int,
        detail: str | None = None,
        headers: Mapping[str, str] | None = None,
        cause: Cause | None = None,
    ) -> None:
        self.status = status
        self.cause = cause
        self.detail = detail or HTTPStatus(status).phrase
        self.headers = dict(headers or {})
        super().__init__(self.detail)


def too_busy(what: str) -> HttpError:
    """Return the refusal of a request for lack of capacity, such as too many concurrent sign-ins."""
    return HttpError(503, f"Too many concurrent {what}; try again later", {"retry-after": "1"}, Cause.TOO_BUSY)


def note_cause(request: Request, error: Exception) -> None:
    """Add the cause to the access log if a request failed because of the database (contract K3)."""
    cause: Cause | None = getattr(error, "cause", None)
    if cause is not None:
        request.causes.append(cause.code)


def error_response(error: LogoAdminError | HttpError) -> Response:
    """Return the response to an error: its status, and JSON with its ``detail``."""
    if isinstance(error, HttpError):
        return detail_response(error.status, error.detail, error.headers)
    status = next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), 500)
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        return detail_response(status, HTTPStatus.INTERNAL_SERVER_ERROR.phrase)
    return detail_response(status, _detail(error), _headers(error))


def _detail(error: LogoAdminError) -> str | tuple[Problem, ...]:
    if isinstance(error, InvalidLines):
        return tuple(
            replace(problem, loc=("line", line.number, *problem.loc))
            for line in error.lines
            for problem in line.problems
        )
    return tuple(map(option_placed, error.problems)) if isinstance(error, InvalidInput) else str(error)


def option_placed(problem: Problem) -> Problem:
    """Return a problem with its place in the request, whose headers carry the options of commands."""
    return replace(problem, loc=KEY_HEADER) if problem.loc == ("idempotency_key",) else problem


def detail_response(
    status: int, detail: str | tuple[Problem, ...], headers: Mapping[str, str] | None = None
) -> Response:
    """Return a JSON response with only ``detail``."""
    body = _Detail.dump_json({"detail": detail})
    return Response(body, status, {"cache-control": "no-store", **(headers or {})}, JSON)


def _headers(error: LogoAdminError) -> dict[str, str]:
    match error:
        case InvalidToken() | SignInRefused():
            return {"www-authenticate": "Bearer"}  # RFC 6750 §3, RFC 9110 §15.5.2
        case TooManySignIns(retry_after=seconds):
            return {"retry-after": str(seconds)}
        case StorageUnavailable():
            return {"retry-after": str(RETRY_AFTER)}
        case _:
            return {}
