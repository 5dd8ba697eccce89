"""Requests are counted, and all that is counted becomes text for Prometheus (contract K2)."""

import threading
import time
from bisect import bisect_left
from collections.abc import Awaitable, Iterable, Iterator
from importlib.metadata import version
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.errors import LogoAdminError
from logoadmin.domain.model.metrics import BUCKETS, CORE_SERIES, Counters, Series
from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.entrypoints.http_api.operations import OPERATIONS

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

# Where in the scope of a request the operation is that it asks for, and when it began if that was before it came here.
OPERATION: Final = "logoadmin.operation"
BEGAN: Final = "logoadmin.began"

_OTHER: Final = "other"
# What is answered; anything else, as to a client that went away, is other.
_ANSWERED: Final = (
    *(200, 201, 204, 206, 304, 307, 400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 416, 421, 422, 428, 429, 431),
    *(500, 503),
)
_STATUSES: Final = {status: str(status) for status in _ANSWERED}

REQUESTS: Final = Series(
    "logoadmin_http_requests_total",
    "counter",
    "Requests that were answered, by what they asked for and the status.",
    (
        ("operation", (*(operation.name for operation in OPERATIONS), _OTHER)),
        ("status", (*_STATUSES.values(), _OTHER)),
    ),
)
REQUEST_SECONDS: Final = Series(
    "logoadmin_http_request_seconds", "histogram", "Time from the head of a request to the end of its answer."
)
IN_FLIGHT: Final = Series("logoadmin_http_requests_in_flight", "gauge", "Requests that are being answered.")
RECEIVED: Final = Series("logoadmin_http_request_bytes_total", "counter", "Bytes of bodies that were received.")
SENT: Final = Series("logoadmin_http_response_bytes_total", "counter", "Bytes of bodies that were sent.")
RESPONSE_CACHE: Final = Series(
    "logoadmin_response_cache_total",
    "counter",
    "Public answers: given again from the response cache (hit), or made and put there (miss).",
    (("outcome", ("hit", "miss")),),
)
_HIT: Final = RESPONSE_CACHE.combinations.index(("hit",))
# What each process counts.
COUNTED: Final = (*CORE_SERIES, REQUESTS, REQUEST_SECONDS, IN_FLIGHT, RECEIVED, SENT, RESPONSE_CACHE)

# What is found out when somebody asks.
_LAST_CHANGE: Final = Series("logoadmin_last_change_id", "gauge", "The last change; none where storage does not say.")
_RESTARTS: Final = Series(
    "logoadmin_worker_restarts_total", "counter", "Workers that died or did not answer, and were started anew."
)
_BUILD: Final = Series(
    "logoadmin_build_info", "gauge", "1, with the version of the program and the kind of database.",
    (("version", ()), ("database", ())),
)  # fmt: skip
SERIES: Final = (*COUNTED, _LAST_CHANGE, _RESTARTS, _BUILD)


class RequestCounter:
    """Counts requests in the slots of their series. Safe to use from several threads."""

    def __init__(self, counters: Counters) -> None:
        requests = counters.of(REQUESTS)
        self._requests, self._index = requests.slots, requests.index
        self._seconds = counters.of(REQUEST_SECONDS).slots
        self._in_flight = counters.of(IN_FLIGHT).slots
        self._sent = counters.of(SENT).slots
        self._from_cache = counters.of(RESPONSE_CACHE).slots
        # One for all that is counted of a request: five would take longer than many an answer.
        self._lock = threading.Lock()

    def begun(self) -> None:
        """Count a request that is being answered."""
        with self._lock:
            self._in_flight[0] += 1

    def ended(self) -> None:
        """Count it no longer."""
        with self._lock:
            self._in_flight[0] -= 1

    def answered(
        self, operation: Operation | None, status: int, sent: int, seconds: float, *, from_cache: bool = False
    ) -> None:
        """Count an answer, with the bytes of its body and the time that it took."""
        bucket = bisect_left(BUCKETS, seconds)
        number = self._index[_OTHER if operation is None else operation.name, _STATUSES.get(status, _OTHER)]
        with self._lock:
            self._requests[number] += 1
            self._seconds[bucket] += 1
            self._seconds[-1] += seconds
            self._sent[0] += sent
            self._from_cache[_HIT] += from_cache


class Measured:
    """Counts the requests to an application, each once its answer has ended."""

    def __init__(self, app: ASGIApp, counters: Counters) -> None:
        """Stand in front of an application that says in the scope which operation is asked for."""
        self._app = app
        self._counter = RequestCounter(counters)
        self._received = counters.of(RECEIVED)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count it with its status and its time when it is answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = sent = 0

        # No coroutines of their own: these are called for every part of every request.
        def counted(message: Message) -> Awaitable[None]:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                sent += len(message.get("body", b""))
            return send(message)

        if scope["method"] not in ("GET", "HEAD"):
            receive = self._counting(receive)
        self._counter.begun()
        began = scope.get(BEGAN) or time.perf_counter()
        try:
            await self._app(scope, receive, counted)
        except Exception:
            status = status or 500
            raise
        finally:
            self._counter.ended()
            self._counter.answered(scope.get(OPERATION), status, sent, time.perf_counter() - began)

    def _counting(self, receive: Receive) -> Receive:
        async def counted() -> Message:
            message = await receive()
            self._received.add(amount=len(message.get("body", b"")))
            return message

        return counted


def metrics(gallery: LogoAdmin, workers: Iterable[Counters] = (), restarts: int = 0) -> str:
    """Return all that is counted, in the text format of Prometheus (contract K2).

    Args:
        gallery: whose storage is asked for the last change, and what this process counts.
        workers: what other processes count.
        restarts: how many of these were started anew.
    """
    everybody = [gallery.counters, *workers]
    lines = [line for series in COUNTED for line in _lines(series, _sum(series, everybody))]
    lines += [*_head(_LAST_CHANGE), *_last_change(gallery)]
    lines += [*_head(_RESTARTS), _sample(_RESTARTS.name, (), restarts)]
    about = (("version", version("logoadmin")), ("database", gallery.product))
    lines += [*_head(_BUILD), _sample(_BUILD.name, about, 1)]
    return "\n".join([*lines, ""])


def _last_change(gallery: LogoAdmin) -> list[str]:
    try:
        return [_sample(_LAST_CHANGE.name, (), gallery.changes.version())]
    except LogoAdminError:  # what is the matter is counted, and in the log
        return []


def _sum(series: Series, everybody: Iterable[Counters]) -> list[float]:
    return [sum(values) for values in zip(*(counters.of(series).slots for counters in everybody), strict=True)]


def _lines(series: Series, values: list[float]) -> Iterator[str]:
    yield from _head(series)
    if series.type == "histogram":
        yield from _histogram(series.name, values)
        return
    names = [name for name, _ in series.labels]
    for labels, value in zip(series.combinations, values, strict=True):
        # Of two labels, most combinations never happen.
        if value or len(names) < 2:
            yield _sample(series.name, zip(names, labels, strict=True), value)


def _histogram(name: str, values: list[float]) -> Iterator[str]:
    count = 0.0
    for end, value in zip([*map(str, BUCKETS), "+Inf"], values[:-1], strict=True):
        count += value
        yield _sample(f"{name}_bucket", [("le", end)], count)
    yield _sample(f"{name}_sum", (), values[-1])
    yield _sample(f"{name}_count", (), count)


def _head(series: Series) -> tuple[str, str]:
    return f"# HELP {series.name} {series.text}", f"# TYPE {series.name} {series.type}"


def _sample(name: str, labels: Iterable[tuple[str, str]], value: float) -> str:
    written = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels)
    number = str(int(value)) if value == int(value) else repr(value)
    return f"{name}{{{written}}} {number}" if written else f"{name} {number}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
