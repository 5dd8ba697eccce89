"""The ASGI application: a route for each path of the operations (contract A19 to A21, H6)."""

import functools
import json
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.access import Caller, Policy
from logoadmin.domain.model.command import Command
from logoadmin.domain.model.errors import LogoAdminError
from logoadmin.entrypoints.http_api.api_docs import ReadOnly, docs_routes
from logoadmin.entrypoints.http_api.cors import Cors
from logoadmin.entrypoints.http_api.dispatch import Dispatch
from logoadmin.entrypoints.http_api.errors import HttpError, error_response, note_cause
from logoadmin.entrypoints.http_api.hosts import Hosts
from logoadmin.entrypoints.http_api.openapi import openapi_document
from logoadmin.entrypoints.http_api.operations import OPERATIONS, Operation
from logoadmin.entrypoints.http_api.parts import Parts, Within
from logoadmin.entrypoints.http_api.requests import caller_of, command_of, request_id_of
from logoadmin.entrypoints.http_api.response_cache import ResponseCache, key_of
from logoadmin.entrypoints.http_api.responses import Renderer, sendable

log = logging.getLogger("logoadmin.http")


class Endpoint:
    """One path: judges a request in the order of contract A19 and lets the core do what it asks for."""

    def __init__(
        self,
        gallery: LogoAdmin,
        calls: Dispatch,
        operations: Iterable[Operation],
        cors: Cors,
        response_cache: ResponseCache,
        parts: Parts,
        cache_seconds: int,
    ) -> None:
        """Serve the operations of a path, of which each has another method."""
        self._gallery = gallery
        self._dispatch = calls
        self._cors = cors
        self._response_cache = response_cache
        self._parts = parts
        self._renderers = {operation.method: Renderer(operation, cache_seconds) for operation in operations}
        if "GET" in self._renderers:
            self._renderers["HEAD"] = self._renderers["GET"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever it is."""
        request = Request(scope, receive)
        request_id = request_id_of(request)
        renderer = self._renderers.get(request.method)
        try:
            if renderer is None:
                response = self._not_served(request)
            elif renderer.operation.is_public_read:
                response = await self._public(request, request_id, renderer)
            else:
                response = await self._any(request, request_id, renderer)
        except ClientDisconnect:
            return
        except (LogoAdminError, HttpError) as error:
            note_cause(scope, error)
            response = error_response(error)
        except Exception:
            log.exception("Unexpected fault in %s %r, request %s", scope["method"], scope["path"], request_id)
            response = error_response(HttpError(500))
        self._cors.share(response, request, renderer.operation if renderer else None)
        response.raw_headers.append((b"x-request-id", request_id.encode()))
        await sendable(response, scope)(scope, receive, send)

    async def _public(self, request: Request, request_id: str, renderer: Renderer) -> Response:
        """Answer what everybody may read: as it was answered before, if nothing of all that has changed."""
        is_known = self._response_cache.knows(request)
        # Of what is known, the form was right; for anything else, storage is not asked before it is.
        command = None if is_known else await command_of(request, renderer.operation, self._dispatch.parsing)
        deadline = self._dispatch.deadline()
        # First the version: an answer that is newer than its version is made again, one that is older is not.
        version = await self._dispatch.version(deadline)
        response = self._response_cache.response(request, version) if is_known else None
        if response is None:
            if command is None:
                command = await command_of(request, renderer.operation, self._dispatch.parsing)
            caller = caller_of(request, self._gallery, renderer.operation, request_id)
            within = Within(self._parts, self._dispatch, self._reading(command), key_of(request), version)
            respond = self._responding(request, renderer, command, caller, within)
            response = await within.run(lambda: self._once(request, version, respond), deadline)
        return response

    def _once(self, request: Request, version: int, respond: Callable[[], Response]) -> Response:
        """Of many who ask at once for what is not known yet, let the first make the response, in its thread."""
        response = self._response_cache.response(request, version)
        if response is None:
            response = respond()
            self._response_cache.remember(request, response, version)
        return response

    async def _any(self, request: Request, request_id: str, renderer: Renderer) -> Response:
        caller = caller_of(request, self._gallery, renderer.operation, request_id)
        command = await command_of(request, renderer.operation, self._dispatch.parsing)
        within = Within(self._parts, self._dispatch, self._reading(command), object())
        respond = self._responding(request, renderer, command, caller, within)
        if command.hashes:
            return await self._dispatch.hashing(respond)
        return await (within.run if renderer.operation.method == "GET" else self._dispatch.writing)(respond)

    def _reading(self, command: Command) -> Callable[..., Awaitable[Any]]:
        """Return what makes a call that reads for a command, beside the quick ones or among them."""
        return self._dispatch.searching if command.searches else self._dispatch.reading

    def _responding(
        self, request: Request, renderer: Renderer, command: Command, caller: Caller, within: Within
    ) -> Callable[[], Response]:
        """Return what makes the response, in a thread that may wait for storage."""
        operation = renderer.operation

        def respond() -> Response:
            return renderer.response(
                command, lambda asked: operation.perform(self._gallery, asked, caller), request, within
            )

        return respond

    def _not_served(self, request: Request) -> Response:
        operations = {method: renderer.operation for method, renderer in self._renderers.items()}
        refusal = error_response(HttpError(405, headers={"allow": ", ".join(sorted(operations))}))
        return self._cors.preflight(request, operations) or refusal


def http_application(
    gallery: LogoAdmin,
    *,
    origins: Collection[str] = (),
    cache_seconds: int = 60,
    hosts: Collection[str] | None = None,
    response_cache: ResponseCache | None = None,
) -> ASGIApp:
    """Return the ASGI application of a gallery; it can be served, or mounted under a prefix in another one.

    Args:
        gallery: what is served.
        origins: the origins whose pages may use all of it, such as ``https://admin.example``; those of others may
            only read what is public (contract F2).
        cache_seconds: how long public reads may be kept without asking again.
        hosts: the names that are answered to, beside those of loopback; None for any (contract A22).
        response_cache: the answers that are response_cache, if not those of this application alone.
    """
    calls, cors = Dispatch(gallery), Cors(frozenset(origins))
    known, parts = ResponseCache() if response_cache is None else response_cache, Parts()
    routes = [
        Route(path, Endpoint(gallery, calls, operations, cors, known, parts, cache_seconds))
        for path, operations in _operations_by_path()
    ]
    routes.append(Route("/openapi.json", Document(_openapi(gallery.access))))
    # Others may keep the keys for so long that a new one, which is published before it signs, is known in time.
    keys = Document(lambda _: _public_keys(gallery), {"cache-control": "public, max-age=300"})
    routes.append(Route("/.well-known/jwks.json", keys))
    routes += docs_routes()
    for route in routes:
        # Starlette's `$` lets a newline follow, and so a path that no proxy takes for this one.
        route.path_regex = re.compile(route.path_regex.pattern.removesuffix("$") + r"\Z")
    router = _Router(routes, redirect_slashes=False, default=_not_found)
    return router if hosts is None else Hosts(router, hosts)


class _Router(Router):
    """Routes by the paths as they were sent: a slash that is escaped separates nothing (RFC 3986 §2.2)."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        is_ours = b"%2f" not in (scope.get("raw_path") or b"").lower()
        await (super().__call__ if is_ours else _not_found)(scope, receive, send)


def _operations_by_path() -> list[tuple[str, list[Operation]]]:
    paths: dict[str, list[Operation]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, []).append(operation)
    # The router tries one path after the other: one that is said in full comes before those with a field, which would
    # take it for theirs; then what is asked for most.
    return sorted(
        paths.items(),
        key=lambda entry: ("{" in entry[0], not any(operation.is_public_read for operation in entry[1])),
    )


class Document(ReadOnly):
    """A path outside the table of operations: JSON that everybody may read."""

    def __init__(self, text: Callable[[str], bytes], headers: Mapping[str, str] | None = None) -> None:
        """Answer with the text that is right under a prefix, and with more headers."""
        self._text = text
        self._headers = {"cache-control": "no-store", **(headers or {})}

    def response(self, scope: Scope) -> Response:
        """Return the text."""
        return Response(self._text(scope.get("root_path", "")), 200, self._headers, "application/json")


def _openapi(access: Policy) -> Callable[[str], bytes]:
    """Return what makes the OpenAPI document under an access policy, when it is first asked for."""
    return functools.lru_cache(1)(lambda root_path: json.dumps(openapi_document(access, root_path)).encode())


def _public_keys(gallery: LogoAdmin) -> bytes:
    """Return the keys that verify access tokens, as a JWK Set (RFC 7517 §5, contract C2)."""
    return json.dumps({"keys": [dict(key) for key in gallery.sessions.public_keys()]}).encode()


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await sendable(error_response(HttpError(404)), scope)(scope, receive, send)
    else:  # a WebSocket, refused before it begins
        await WebSocketClose()(scope, receive, send)
