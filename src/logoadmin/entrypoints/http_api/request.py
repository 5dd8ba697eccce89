"""The request object that all layers share, up to the access log of the server (contract A21, G4, K3)."""

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from logoadmin.domain.kernel.access import PLAIN_REQUEST_ID, Caller, SentRequestId
from logoadmin.domain.kernel.errors import InvalidToken
from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.ports.metrics import Metrics

HEALTH_CHECKS: Final = ("/livez", "/readyz")
_IN_SCOPE: Final = "logoadmin.request"
_NOT_SENT: Final = ("",)
OTHER: Final = "other"


@dataclass(slots=True)
class Request:
    """The head of a request, and the data that its layers share.

    Attributes:
        prefix: the path at which this application is mounted, if any.
        path, raw_path: the path, decoded and, if the server passes it, undecoded.
        query: the undecoded query.
        client: the address of the client, empty if unknown.
        media_type: the type of the body, in lower case and without parameters.
        id: its id in the log and the history: the client's, unless the history has it already, or a random one;
            its text is the current id.
        began: when it was first seen, by ``time.perf_counter``.
        deadline: when its response is due, by the event loop's clock.
        version: the version of all records, read before the records, see
            :class:`~logoadmin.entrypoints.http_api.response_cache.DataVersion`.
        causes: codes of failures, for the log.
        response_fields: header fields that the use case adds to the response.
    """

    method: str
    prefix: str
    path: str
    raw_path: bytes | None
    query: bytes
    client: str
    headers: Mapping[bytes, Sequence[str]]
    media_type: str
    id: SentRequestId
    began: float
    path_params: Mapping[str, str] = field(default_factory=dict)
    deadline: float | None = None
    operation: Operation | None = None
    caller: Caller | None = None
    version: object | None = None
    causes: list[str] = field(default_factory=list)
    response_fields: set[tuple[bytes, bytes]] = field(default_factory=set)

    def mark_replayed(self) -> None:
        """Mark the response as one that was stored (contract F3)."""
        self.response_fields.add((b"idempotency-replayed", b"true"))

    def header(self, name: bytes) -> str:
        """Return the first value of a header; empty if it was not sent."""
        return self.headers.get(name, _NOT_SENT)[0]

    def bearer_token(self) -> str:
        """Return the token in ``Authorization``; empty if there is none, or another scheme.

        Raises:
            InvalidToken: the header was sent more than once.
        """
        sent = self.headers.get(b"authorization", _NOT_SENT)
        if len(sent) > 1:
            raise InvalidToken
        scheme, _, token = sent[0].partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""


def request_of(scope: Scope) -> Request:
    """Return the request of a scope; the first call stores it there."""
    known: Request | None = scope.get(_IN_SCOPE)
    if known is not None:
        return known
    headers: dict[bytes, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name, []).append(value.strip().decode("latin-1"))
    # Ids are not secret; reading the system's randomness would release the interpreter lock.
    own = f"{random.getrandbits(64):016x}"
    sent = headers.get(b"x-request-id", _NOT_SENT)[0]
    client = scope.get("client")
    request = scope[_IN_SCOPE] = Request(
        scope["method"],
        scope.get("root_path", ""),
        scope["path"],
        scope.get("raw_path"),
        scope["query_string"],
        client[0] if client else "",
        headers,
        headers.get(b"content-type", _NOT_SENT)[0].partition(";")[0].strip().lower(),
        SentRequestId(sent if PLAIN_REQUEST_ID.fullmatch(sent) else own, own),
        time.perf_counter(),
    )
    return request


def count_response(metrics: Metrics, request: Request, status: int, size: int, *, from_cache: bool = False) -> None:
    """Count the response to a request and the bytes of its body, under labels from fixed sets."""
    name = OTHER if request.operation is None else request.operation.name
    seconds = time.perf_counter() - request.began
    # There is no status if the client disconnected before the response.
    metrics.response(name, str(status or OTHER), size, seconds, from_cache=from_cache)


class CountedRequests:
    """Counts the requests of an application; operations count their own."""

    def __init__(self, app: ASGIApp, metrics: Metrics | None = None) -> None:
        self._app = app
        self._metrics = metrics or Metrics()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count it when it ends."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        metrics, request, status, size = self._metrics, request_of(scope), 0, 0

        async def send_counted(message: Message) -> None:
            nonlocal status, size
            size += len(message.get("body", b""))
            status = status or message["status"]
            await send(message)

        metrics.request_started()
        try:
            await self._app(scope, receive, send_counted)
        except Exception:
            status = status or 500
            raise
        finally:
            metrics.request_ended()
            count_response(metrics, request, status, size)


def is_health_check(scope: Scope) -> bool:
    """Return whether a request is a health check."""
    return scope["path"].removeprefix(scope.get("root_path", "")) in HEALTH_CHECKS
