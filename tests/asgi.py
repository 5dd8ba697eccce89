"""Requests to an ASGI application in this thread, raw or from an HTTP client."""

import asyncio
import atexit
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_to_bytes

import httpx2
from starlette.types import ASGIApp, Message, Scope

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.app import http_application


@dataclass(frozen=True)
class AppResponse:
    """The response of an application; ``complete`` is true if it sent the end of the body."""

    status_code: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    complete: bool
    error: Exception | None

    def header(self, name: str) -> str | None:
        found = [value.decode("latin-1") for key, value in self.headers if key == name.lower().encode()]
        assert len(found) < 2
        return found[0] if found else None

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    app: ASGIApp,
    method: str,
    path: str | bytes,
    *,
    headers: Iterable[tuple[str | bytes, str | bytes]] = (),
    body: bytes | Sequence[bytes] = b"",
) -> AppResponse:
    """Send one arbitrary request; each part of the body is a message, and no headers are added."""
    parts = [body] if isinstance(body, bytes) else list(body)
    scope = scope_of(method, path, headers)
    return _LOOP.run_until_complete(asyncio.wait_for(answer_of(app, scope, parts), 10))


class AppClient(httpx2.Client):
    """A client of an application that runs its event loop in this thread.

    Starlette's client runs it in another thread: passing messages takes several times as long as most responses.
    """

    def __init__(
        self, app: ASGIApp, base_url: str = "http://testserver", *, root_path: str = "", raises: bool = True
    ) -> None:
        """Create a client of an application under a prefix; with ``raises``, its errors are raised here."""
        super().__init__(transport=_InThisThread(app, root_path, raises), base_url=base_url)
        self.app = app


@asynccontextmanager
async def clients_of(*galleries: LogoAdmin) -> AsyncIterator[tuple[httpx2.AsyncClient, ...]]:
    """Yield a client of an application for each gallery."""
    async with AsyncExitStack() as stack:
        transports = [httpx2.ASGITransport(http_application(gallery)) for gallery in galleries]
        clients = [httpx2.AsyncClient(transport=each, base_url="http://127.0.0.1:8000") for each in transports]
        yield tuple([await stack.enter_async_context(client) for client in clients])


class _InThisThread(httpx2.BaseTransport):
    def __init__(self, app: ASGIApp, root_path: str, raises: bool) -> None:
        self._app = app
        self._root_path = root_path
        self._raises = raises

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        target, _, query = request.url.raw_path.partition(b"?")
        headers = [(name.lower(), value) for name, value in request.headers.raw]
        scope = _scope(request.method, target, query, headers, self._root_path)
        response = _LOOP.run_until_complete(answer_of(self._app, scope, [request.read()]))
        if response.error is not None and (self._raises or not response.status_code):
            raise response.error
        stream = httpx2.ByteStream(response.body)
        return httpx2.Response(response.status_code, headers=response.headers, stream=stream)


_RUNNER: Final = asyncio.Runner(loop_factory=asyncio.new_event_loop)
_LOOP: Final = _RUNNER.get_loop()


@atexit.register
def _close() -> None:
    """Start the due tasks of all applications, then cancel all tasks."""
    _LOOP.run_until_complete(asyncio.sleep(0))
    _RUNNER.close()


def scope_of(method: str, path: str | bytes, headers: Iterable[tuple[str | bytes, str | bytes]] = ()) -> Scope:
    """Return the scope of a request, as created by a server."""
    raw_path = path.encode() if isinstance(path, str) else path
    target, _, query = raw_path.partition(b"?")
    return _scope(method, target, query, [(_bytes(name).lower(), _bytes(value)) for name, value in headers])


async def nothing_more() -> Message:
    """Receive nothing from a client that stays connected."""
    await asyncio.Event().wait()
    raise AssertionError


def _scope(method: str, target: bytes, query: bytes, headers: list[tuple[bytes, bytes]], root_path: str = "") -> Scope:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "scheme": "http",
        "method": method,
        "path": unquote_to_bytes(target).decode("utf-8", "replace"),
        "raw_path": target,
        "query_string": query,
        "root_path": root_path,
        "headers": headers,
        "client": ("192.0.2.1", 50000),
        "server": ("127.0.0.1", 8000),
    }


async def answer_of(app: ASGIApp, scope: Scope, parts: Sequence[bytes] = (b"",)) -> AppResponse:
    """Return the response of an application to one request, whose body arrives in parts."""
    pending: list[Message] = [
        {"type": "http.request", "body": part, "more_body": number < len(parts)}
        for number, part in enumerate(parts, start=1)
    ]
    sent: list[Message] = []
    error: Exception | None = None

    async def receive() -> Message:
        if pending:
            return pending.pop(0)
        return await nothing_more()

    async def send(message: Message) -> None:
        sent.append(message)

    try:
        await app(scope, receive, send)
    except Exception as raised:
        error = raised
    start = next((message for message in sent if message["type"] == "http.response.start"), None)
    bodies = [message for message in sent if message["type"] == "http.response.body"]
    return AppResponse(
        start["status"] if start else 0,
        tuple(start.get("headers", ())) if start else (),
        b"".join(message.get("body", b"") for message in bodies),
        bool(bodies) and not bodies[-1].get("more_body", False),
        error,
    )


def _bytes(text: str | bytes) -> bytes:
    return text.encode("latin-1") if isinstance(text, str) else text
