"""The ASGI application: a route for each path of the operations (contract A19 to A21, H6)."""

import asyncio
import re
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

from starlette.routing import Match, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.background import REGULAR_WORK, Background, BackgroundWork, background_publisher
from logoadmin.entrypoints.http_api.documents import Readiness, document_routes, health_routes, picture_route, redirect
from logoadmin.entrypoints.http_api.endpoints import AppContext, Endpoint
from logoadmin.entrypoints.http_api.errors import error_response
from logoadmin.entrypoints.http_api.gallery import FOLDER, PublishedFolder, PublishedGallery
from logoadmin.entrypoints.http_api.http_error import HttpError
from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from logoadmin.entrypoints.http_api.origins import Hosts, misdirected
from logoadmin.entrypoints.http_api.renderer import MAX_LIST
from logoadmin.entrypoints.http_api.request import CountedRequests, request_of
from logoadmin.ports.gallery_files import GalleryFiles

# Hints for paths that clients of other services try first.
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
    published: GalleryFiles | None = None,
    from_sockets: bool = False,
    max_list: int = MAX_LIST,
    work: Mapping[BackgroundWork, float] = REGULAR_WORK,
) -> ASGIApp:
    """Return the ASGI application of a gallery; it can be served, or mounted under a prefix in another one.

    Args:
        origins: the origins whose pages may call every operation, such as ``https://admin.example``; pages of other
            origins may only make public reads (contract F2).
        cache_seconds: how long clients may reuse a public read without revalidating it.
        hosts: the host names to accept besides those of loopback and of the public URL; None for any (contract A22).
        pages, home: routes to serve besides the interface, and the path to which ``/`` redirects.
        published: the files to publish into and to serve at ``/gallery/``; None for neither (contract L1).
        from_sockets: whether all requests come from sockets, and none from this process itself.
        max_list: the maximum bytes of a list without ``limit``, before compression.
        work: the background work, with the seconds after which each kind begins.
    """
    context = AppContext(gallery, origins, cache_seconds, from_sockets=from_sockets, max_list=max_list)
    operations = [Route(path, Endpoint(context, operations)) for path, operations in _operations_by_path().items()]
    others = [*health_routes(Readiness(gallery, context.dispatch)), *document_routes(gallery), picture_route(context)]
    others += [Route("/", redirect(home)), *pages]
    folder: PublishedGallery | None = None
    if published is not None:
        publisher = background_publisher(gallery, published, context.dispatch)
        folder = PublishedGallery(PublishedFolder(published), publisher, gallery.metrics)
    app = Paths(context, operations, others, Background(gallery, context.dispatch, work), folder)
    if hosts is None:
        return app
    return Hosts(app, {*hosts, gallery.public_url.host}, CountedRequests(misdirected, gallery.metrics))


def _operations_by_path() -> dict[str, list[Operation]]:
    paths: dict[str, list[Operation]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, []).append(operation)
    # Literal paths precede templates that would also match them.
    return dict(sorted(paths.items(), key=lambda path: path[0].count("{")))


class Paths(Router):
    """The application: Starlette's router without redirects, but with hints for nearly correct paths.

    Public reads are served from the response cache if possible, and published files without a route.
    """

    def __init__(
        self,
        context: AppContext,
        operations: Sequence[Route],
        others: Sequence[Route],
        background: Background,
        published: PublishedGallery | None,
    ) -> None:
        """Serve the routes of operations, whose endpoints count responses themselves, and others."""
        metrics = context.gallery.metrics
        self._background, self._published = background, published
        self._response_cache = context.response_cache
        for route in others:
            route.app = CountedRequests(route.app, metrics)
        default = CountedRequests(self._not_found, metrics)
        super().__init__([*operations, *others], redirect_slashes=False, default=default, lifespan=self._living)
        for route in (*operations, *others):
            # Starlette's `$` also matches before a trailing newline, so a proxy may see another path.
            route.path_regex = re.compile(route.path_regex.pattern.removesuffix("$") + r"\Z")
        alike: dict[str, list[Route]] = {}
        for route in operations:
            alike.setdefault("/".join(route.path.split("/", 3)[:3]), []).append(route)
        self._alike = {path: Router(routes, redirect_slashes=False, default=default) for path, routes in alike.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the application for its path."""
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        if self._background.loop is not asyncio.get_running_loop():
            self._background.begin()
        serve: ASGIApp
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        if self._published is not None and path.startswith(FOLDER):
            serve = self._published
        elif _has_escaped_slash(scope):
            serve = self.default
        elif scope["method"] in ("GET", "HEAD") and await self._response_cache.serves(request_of(scope), send):
            return
        else:
            # Trying all routes takes a fifth of a read's time. The first two segments of a path, such as
            # ``/api/logos``, are never fields of an operation.
            serve = self._alike.get("/".join(path.split("/", 3)[:3]), super().__call__)
        await serve(scope, receive, send)

    @asynccontextmanager
    async def _living(self, _: object) -> AsyncIterator[None]:
        """Run the background work for as long as the application runs."""
        self._background.begin()
        if self._published is not None:
            self._published.start()
        try:
            yield
        finally:
            if self._published is not None:
                await self._published.close()
            await self._background.end()

    async def _not_found(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await error_response(HttpError(404, self._hint(scope)))(scope, receive, send)
        else:  # a WebSocket, refused before it begins
            await WebSocketClose()(scope, receive, send)

    def _hint(self, scope: Scope) -> str | None:
        """Return a hint for a nearly correct path; a redirect would lose the body."""
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        if path.startswith("/api/") and path.endswith("/") and not _has_escaped_slash(scope):
            without = {**scope, "path": scope["path"][:-1]}
            if any(route.matches(without)[0] is Match.FULL for route in self.routes):
                return "Not Found; this path exists without the slash at its end"
        return _HINTS.get(path)


def _has_escaped_slash(scope: Scope) -> bool:
    """Return whether a path has an escaped slash, which is not a separator (RFC 3986 §2.2), except for routes."""
    sent = scope.get("raw_path") or b""
    return b"%" in sent and b"%2f" in sent.lower()
