"""The ASGI application: a route for each path of the operations (contract A19 to A21, H6)."""

import functools
import json
import re
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any, Final

from starlette.responses import Response
from starlette.routing import Match, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.access import Policy
from logoadmin.entrypoints.http_api.api_docs import ReadOnlyEndpoint, Redirect, docs_routes
from logoadmin.entrypoints.http_api.compression import SHORT, accepts_gzip, in_gzip
from logoadmin.entrypoints.http_api.doctor_endpoint import doctor_route
from logoadmin.entrypoints.http_api.endpoints import AppContext, Endpoint
from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.http_api.health import health_routes
from logoadmin.entrypoints.http_api.hosts import Hosts, misdirected
from logoadmin.entrypoints.http_api.limits import ClientLimits
from logoadmin.entrypoints.http_api.openapi import openapi_document
from logoadmin.entrypoints.http_api.operation import JSON, Operation
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from logoadmin.entrypoints.http_api.request import request_of
from logoadmin.entrypoints.http_api.response_cache import ResponseCache
from logoadmin.entrypoints.http_api.responses import sendable

# Paths where clients of other services look first, with hints.
_HINTS: Final = {
    "/metrics": "Not Found; metrics have a listener of their own, see the setting metrics_port",
    **dict.fromkeys(("/health", "/healthz"), "Not Found; health checks are at /livez and /readyz"),
}


def http_application(
    gallery: LogoAdmin,
    *,
    origins: Collection[str] = (),
    cache_seconds: int = 60,
    hosts: Collection[str] | None = None,
    pages: Sequence[Route] = (),
    home: str = "docs",
) -> ASGIApp:
    """Return the ASGI application of a gallery; it can be served, or mounted under a prefix in another one.

    Args:
        gallery: the gallery.
        origins: the origins whose pages may call every operation, such as ``https://admin.example``; pages of other
            origins may only make public reads (contract F2).
        cache_seconds: how long clients may use a cached public read without revalidating it.
        hosts: the host names to accept besides those of loopback; None for any (contract A22).
        pages: routes to serve besides the interface.
        home: the path to which ``/`` redirects.
    """
    context = AppContext(gallery, origins, cache_seconds)
    routes = [Route(path, Endpoint(context, operations)) for path, operations in _operations_by_path().items()]
    routes += [*health_routes(gallery, context.dispatch), *_documents(gallery), *docs_routes(), doctor_route(gallery)]
    router = Paths([*routes, Route("/", Redirect(home)), *pages])
    # The response cache counts what it serves: a cached response is short, and passes through no other layer.
    cached = ResponseCache(ClientLimits(router, gallery.metrics), context.data_version, gallery.metrics)
    return cached if hosts is None else Hosts(cached, hosts, ClientLimits(misdirected, gallery.metrics))


class Paths(Router):
    """Starlette's router, with paths unchanged, and hints for paths that are nearly right."""

    def __init__(self, routes: list[Route]) -> None:
        super().__init__(routes, redirect_slashes=False, default=self._not_found)
        for route in routes:
            # Starlette's `$` also matches before a trailing newline, so a proxy may see another path.
            route.path_regex = re.compile(route.path_regex.pattern.removesuffix("$") + r"\Z")

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Coroutine[Any, Any, None]:
        """Pass a request on to the route of its path."""
        # An escaped slash is not a separator (RFC 3986 §2.2), but routes match the decoded path.
        has_escaped_slash = b"%2f" in (scope.get("raw_path") or b"").lower()
        return (_not_found if has_escaped_slash else super().__call__)(scope, receive, send)

    async def _not_found(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _not_found(scope, receive, send, self._hint(scope))

    def _hint(self, scope: Scope) -> str | None:
        """Return a hint for a path that is nearly right; a redirect would lose the body."""
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        if path.startswith("/api/") and path.endswith("/") and self._has({**scope, "path": scope["path"][:-1]}):
            return "Not Found; this path exists without the slash at its end"
        return _HINTS.get(path)

    def _has(self, scope: Scope) -> bool:
        return any(route.matches(scope)[0] is Match.FULL for route in self.routes)


async def _not_found(scope: Scope, receive: Receive, send: Send, hint: str | None = None) -> None:
    if scope["type"] == "http":
        await sendable(error_response(HttpError(404, hint)), scope)(scope, receive, send)
    else:  # a WebSocket, refused before it begins
        await WebSocketClose()(scope, receive, send)


def _documents(gallery: LogoAdmin) -> list[Route]:
    # Clients may cache the keys: a new key is published long enough before it signs.
    keys = JsonDocument(lambda _: _public_keys(gallery), {"cache-control": "public, max-age=300"})
    return [Route("/openapi.json", JsonDocument(_openapi(gallery.access))), Route("/.well-known/jwks.json", keys)]


def _operations_by_path() -> dict[str, list[Operation]]:
    paths: dict[str, list[Operation]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, []).append(operation)
    # Literal paths come before templates that would also match them.
    return dict(sorted(paths.items(), key=lambda path: path[0].count("{")))


class JsonDocument(ReadOnlyEndpoint):
    """A public JSON document outside the table of operations."""

    def __init__(self, text: Callable[[str], bytes], headers: Mapping[str, str] | None = None) -> None:
        """Serve the text for the prefix of each request, with additional headers."""
        self._text = text
        self._in_gzip = functools.lru_cache(1)(in_gzip)
        self._headers = {"cache-control": "no-store", "vary": "Accept-Encoding", **(headers or {})}

    def response(self, scope: Scope) -> Response:
        """Return the text for the prefix of the request, in gzip if accepted and worthwhile."""
        text, headers = self._text(scope.get("root_path", "")), self._headers
        if len(text) > SHORT and accepts_gzip(request_of(scope)):
            text, headers = self._in_gzip(text), {**headers, "content-encoding": "gzip"}
        return Response(text, 200, headers, JSON)


def _openapi(access: Policy) -> Callable[[str], bytes]:
    """Return a function that renders the OpenAPI document when it is first requested."""
    return functools.lru_cache(1)(lambda root_path: json.dumps(openapi_document(access, root_path)).encode())


def _public_keys(gallery: LogoAdmin) -> bytes:
    """Return the keys that verify access tokens, as a JWK Set (RFC 7517 §5, contract C2)."""
    return json.dumps({"keys": [dict(key) for key in gallery.sessions.public_keys()]}).encode()
