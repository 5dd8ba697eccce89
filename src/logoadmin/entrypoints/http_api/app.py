"""The ASGI application: a route for each path of the operations (contract A19 to A21, H6)."""

import asyncio
import functools
import json
import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketClose

from logoadmin.domain.access import Policy
from logoadmin.domain.errors import LogoAdminError, StorageUnavailable
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.api_docs import docs_routes
from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.http_api.openapi import openapi_document
from logoadmin.entrypoints.http_api.requests import caller_of, command_of, request_id_of
from logoadmin.entrypoints.http_api.responses import Bodies, Renderer
from logoadmin.entrypoints.http_api.sharing import Sharing
from logoadmin.entrypoints.operations import OPERATIONS, Operation

Answer = TypeVar("Answer")

log = logging.getLogger("logoadmin.http")

# Hashing has threads of its own, so that a rush of sign-ins does not keep the readers waiting.
_HASHING_THREADS: Final = 2
# Storage answers or gives up within this (contract A20: 2 s); it is seldom needed, because storage has limits too.
_DEADLINE: Final = 1.9  # seconds


class Calls:
    """Makes the calls of the core: in threads of its own where storage waits, else right here.

    Few threads: more of them only fight over the interpreter lock. Those who read do not wait for those who write.
    """

    def __init__(self, gallery: LogoAdmin) -> None:
        """Serve one gallery. Threads start when they are needed."""
        self._gallery = gallery
        self._readers = ThreadPoolExecutor(gallery.at_once, thread_name_prefix="logoadmin-reading")
        self._writers = ThreadPoolExecutor(1, thread_name_prefix="logoadmin-writing")
        self._hashing = ThreadPoolExecutor(_HASHING_THREADS, thread_name_prefix="logoadmin-hashing")

    async def reading(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call that reads.

        Raises:
            StorageUnavailable: it took longer than storage may; what it does goes on.
        """
        return await self._in_time(self._readers, call)

    async def writing(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call that changes something.

        Raises:
            StorageUnavailable: it took longer than storage may; what it does goes on, and its outcome is unknown.
        """
        return await self._in_time(self._writers, call)

    async def hashing(self, call: Callable[[], Answer]) -> Answer:
        """Return the answer of a call that hashes a password.

        Raises:
            StorageUnavailable: it took longer than storage may; what it does goes on, and its outcome is unknown.
        """
        return await self._in_time(self._hashing, call, always=True)

    async def _in_time(
        self, threads: ThreadPoolExecutor, call: Callable[[], Answer], *, always: bool = False
    ) -> Answer:
        if not self._gallery.waits and not always:
            return call()
        future = asyncio.get_running_loop().run_in_executor(threads, call)
        try:
            return await asyncio.wait_for(future, _DEADLINE)
        except TimeoutError:
            raise StorageUnavailable(self._gallery.server) from None


class Endpoint:
    """One path: judges a request in the order of contract A19 and lets the core do what it asks for."""

    def __init__(
        self,
        gallery: LogoAdmin,
        calls: Calls,
        operations: Iterable[Operation],
        sharing: Sharing,
        renderer: Callable[[Operation], Renderer],
    ) -> None:
        """Serve the operations of a path, of which each has another method."""
        self._gallery = gallery
        self._calls = calls
        self._sharing = sharing
        self._operations = {operation.method: (operation, renderer(operation)) for operation in operations}
        if "GET" in self._operations:
            self._operations["HEAD"] = self._operations["GET"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever it is."""
        request = Request(scope, receive)
        request_id = request_id_of(request)
        try:
            response = await self._answer(request, request_id)
        except ClientDisconnect:
            return
        except (LogoAdminError, HttpError) as error:
            response = error_response(error)
        except Exception:
            log.exception("Unexpected fault in %s %r, request %s", scope["method"], scope["path"], request_id)
            response = error_response(HttpError(500))
        response.headers["x-request-id"] = request_id
        operation, _ = self._operations.get(request.method, (None, None))
        self._sharing.share(response, request, operation)
        await _sendable(response, scope)(scope, receive, send)

    async def _answer(self, request: Request, request_id: str) -> Response:
        try:
            operation, renderer = self._operations[request.method]
        except KeyError:
            permitted = {method: operation for method, (operation, _) in self._operations.items()}
            return self._sharing.preflight(request, permitted) or self._not_allowed()
        caller = caller_of(request, self._gallery, operation, request_id)
        command = await command_of(request, operation)
        if command.hashes:
            run = self._calls.hashing
        else:
            run = self._calls.reading if operation.method == "GET" else self._calls.writing

        def respond() -> Response:
            return renderer.response(
                command, lambda asked: operation.perform(self._gallery, asked, caller), request, self._calls.reading
            )

        return await run(respond)

    def _not_allowed(self) -> Response:
        return error_response(HttpError(405, headers={"allow": ", ".join(sorted(self._operations))}))


def http_application(
    gallery: LogoAdmin, *, origins: Collection[str] = (), cache_seconds: int = 60, bodies: Bodies | None = None
) -> Router:
    """Return the ASGI application of a gallery; it can be served, or mounted under a prefix in another one.

    Args:
        gallery: what is served.
        origins: the origins whose pages may use all of it, such as ``https://admin.example``; those of others may
            only read what is public (contract F2).
        cache_seconds: how long public reads may be kept without asking again.
        bodies: where lists are remembered, if not in a place of its own.
    """
    calls, sharing = Calls(gallery), Sharing(frozenset(origins))
    remembered = Bodies() if bodies is None else bodies

    def renderer(operation: Operation) -> Renderer:
        return Renderer(operation, cache_seconds, remembered)

    paths: dict[str, list[Operation]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, []).append(operation)
    routes = [
        Route(path, Endpoint(gallery, calls, operations, sharing, renderer)) for path, operations in paths.items()
    ]
    routes.append(Route("/openapi.json", Document(_openapi(gallery.access))))
    # Others may keep the keys for so long that a new one, which is published before it signs, is known in time.
    keys = Document(lambda _: _public_keys(gallery), {"cache-control": "public, max-age=300"})
    routes.append(Route("/.well-known/jwks.json", keys))
    routes += docs_routes()
    for route in routes:
        # Starlette's `$` lets a newline follow, and so a path that no proxy takes for this one.
        route.path_regex = re.compile(route.path_regex.pattern.removesuffix("$") + r"\Z")
    return Router(routes, redirect_slashes=False, default=_not_found)


class Document:
    """A path outside the table of operations: JSON that everybody may read."""

    def __init__(self, text: Callable[[str], bytes], headers: Mapping[str, str] | None = None) -> None:
        """Answer with the text that is right under a prefix, and with more headers."""
        self._text = text
        self._headers = {"cache-control": "no-store", **(headers or {})}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] not in ("GET", "HEAD"):
            response = error_response(HttpError(405, headers={"allow": "GET, HEAD"}))
        else:
            response = Response(self._text(scope.get("root_path", "")), 200, self._headers, "application/json")
        await _sendable(response, scope)(scope, receive, send)


def _openapi(access: Policy) -> Callable[[str], bytes]:
    """Return what makes the OpenAPI document under an access policy, when it is first asked for."""
    return functools.lru_cache(1)(lambda root_path: json.dumps(openapi_document(access, root_path)).encode())


def _public_keys(gallery: LogoAdmin) -> bytes:
    """Return the keys that verify access tokens, as a JWK Set (RFC 7517 §5, contract C2)."""
    return json.dumps({"keys": [dict(key) for key in gallery.sessions.public_keys()]}).encode()


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await _sendable(error_response(HttpError(404)), scope)(scope, receive, send)
    else:  # a WebSocket, refused before it begins
        await WebSocketClose()(scope, receive, send)


def _sendable(response: Response, scope: Scope) -> Response:
    """Return what may be sent: to a HEAD request the same answer without its body."""
    if scope["method"] != "HEAD":
        return response
    head = Response(status_code=response.status_code)
    head.raw_headers = response.raw_headers
    return head
