"""Errors of HTTP requests that are rejected before they become commands (contract A21)."""

from collections.abc import Mapping
from http import HTTPStatus

from logoadmin.domain.kernel.causes import Cause


class HttpError(Exception):
    """A rejected request.

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
    """Return the error for a lack of capacity, such as too many concurrent exports."""
    return _retry_later(f"Too many concurrent {what}")


def too_slow() -> HttpError:
    """Return the error for a request that is late for any reason, such as a sign-in."""
    return _retry_later("The request took too long")


def _retry_later(why: str) -> HttpError:
    return HttpError(503, f"{why}; try again later", {"retry-after": "1"}, Cause.TOO_BUSY)
