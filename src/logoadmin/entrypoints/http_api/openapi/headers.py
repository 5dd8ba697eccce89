"""The request and response headers in the document."""

from http import HTTPStatus
from typing import Any, Final

from logoadmin.domain.model.limits import MAX_IDEMPOTENCY_KEY
from logoadmin.entrypoints.http_api.operation import Operation


def _header(description: str, schema: dict[str, Any], example: object) -> dict[str, Any]:
    return {"description": description, "schema": schema, "example": example}


_TEXT: Final[dict[str, Any]] = {"type": "string"}
_SECONDS: Final[dict[str, Any]] = {"type": "integer", "minimum": 0}
RESPONSE_HEADERS: Final = {
    "ETag": _header("The version of the record or the list; send it as `If-Match` or `If-None-Match`.", _TEXT, '"57"'),
    "Link": _header("The next page, if any.", _TEXT, '</api/users?after=7>; rel="next"'),
    "Cache-Control": _header("Whether browsers and proxies may cache the response.", _TEXT, "no-store"),
    "Idempotency-Replayed": _header(
        "Sent if the response was stored for an earlier request with the same `Idempotency-Key`.",
        {"type": "string", "const": "true"},
        "true",
    ),
    "X-Request-Id": _header("The id of the request in the history and in the log.", _TEXT, "8e03978e40d5"),
    "WWW-Authenticate": _header("How to send a token.", _TEXT, "Bearer"),
    "Retry-After": _header("Seconds to wait before retrying.", _SECONDS, 1),
}
_ALWAYS: Final = ("Cache-Control", "X-Request-Id")
_OF_STATUS: Final = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",)}

_CONDITIONS: Final = {
    "If-None-Match": "The `ETag` of your cached copy: if it is still current, the response is 304.",
    "If-Match": "The `ETag` that you read: if the record has changed since, the response is 412.",
}
_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A unique text, such as a UUID: a request that is repeated with the same key within a day gets "
    "the stored response, and has no second effect. A response with tokens is stored for 60 seconds, and returned "
    "only while the tokens are unused.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_IDEMPOTENCY_KEY,
        "examples": ["8e03978e-40d5-43dd-bc93-6894a57f9324"],
    },
}


def request_headers(operation: Operation) -> list[dict[str, Any]]:
    """Return the request headers of an operation, as parameters."""
    found: list[dict[str, Any]] = []
    for name, counts in (
        ("If-None-Match", operation.method == "GET" and operation.is_versioned),
        ("If-Match", operation.is_conditional),
    ):
        if counts:
            header = {"name": name, "in": "header", "required": False, "description": _CONDITIONS[name]}
            found.append({**header, "schema": {**_TEXT, "examples": ['"57"']}})
    if operation.method == "POST":
        found.append({**_KEY, "required": False})
    return found


def response_headers(operation: Operation, status: int) -> dict[str, Any]:
    """Return the headers of a response, each by reference to :data:`RESPONSE_HEADERS`."""
    names = [*_ALWAYS, *_OF_STATUS.get(status, ())]
    if operation.is_versioned and status in (operation.success, HTTPStatus.NOT_MODIFIED):
        names.append("ETag")
    if operation.method == "POST" and status == operation.success:
        names.append("Idempotency-Replayed")
    if operation.streams and operation.query_fields and status == operation.success:
        names.append("Link")
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
