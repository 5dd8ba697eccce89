"""Paths outside the table of operations: documents, health checks and pictures (contract K1, P2, P5).

/docs is Swagger UI with its files, for reading the OpenAPI document and trying the operations. Health checks are
public, accept any host name (contract A22), and return nothing secret.
"""

import asyncio
import functools
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from logoadmin.domain.gallery.picture_commands import GetPicture
from logoadmin.domain.kernel.access import Anonymous, Caller
from logoadmin.domain.kernel.errors import LogoAdminError, SchemaMismatch, StorageUnavailable, TablesMissing
from logoadmin.domain.kernel.kinds import PICTURE
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.conditions import StaticFile, conditional
from logoadmin.entrypoints.http_api.dispatch import Dispatch, Work
from logoadmin.entrypoints.http_api.endpoints import AppContext
from logoadmin.entrypoints.http_api.errors import RETRY_AFTER, detail_response, error_response, note_cause
from logoadmin.entrypoints.http_api.gallery import PICTURE_FIELDS
from logoadmin.entrypoints.http_api.http_error import HttpError
from logoadmin.entrypoints.http_api.openapi import openapi_document
from logoadmin.entrypoints.http_api.operation import JSON
from logoadmin.entrypoints.http_api.request import HEALTH_CHECKS, request_of
from logoadmin.entrypoints.http_api.response import Response, fields_of

_DIRECTORY: Final = Path(__file__).with_name("swagger_ui")
# The page loads 2 MB of static files, which contract F2 does not cover. Clients cache and revalidate them: the ETag
# makes that cheap, and a page never gets files of another version.
_REVALIDATED: Final = "no-cache"
# Other files in the directory are not served.
_FILES: Final[Mapping[str, tuple[str, str, str]]] = {
    "/docs": ("index.html", "text/html; charset=utf-8", "no-store"),
    "/docs/initializer.js": ("initializer.js", "text/javascript; charset=utf-8", _REVALIDATED),
    "/docs/swagger-ui-bundle.js": ("swagger-ui-bundle.js", "text/javascript; charset=utf-8", _REVALIDATED),
    "/docs/swagger-ui.css": ("swagger-ui.css", "text/css; charset=utf-8", _REVALIDATED),
}
_FIELDS: Final = [
    # The style sheet of Swagger UI embeds its images as data URLs.
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        b"img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]


class ReadOnlyEndpoint:
    """A path outside the table of operations; a function returns its response to GET, at once or awaited."""

    def __init__(self, respond: Callable[[Scope], Response | StaticFile | Awaitable[Response]]) -> None:
        self._respond = respond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve GET and HEAD; reject other methods with 405."""
        try:
            if scope["method"] not in ("GET", "HEAD"):
                raise HttpError(405, headers={"allow": "GET, HEAD"})
            found = self._respond(scope)
            if isinstance(found, StaticFile):
                found = found.response(request_of(scope))
            response = found if isinstance(found, Response) else await found
        except ClientDisconnect:
            return
        except (LogoAdminError, HttpError) as error:
            note_cause(request_of(scope), error)
            response = error_response(error)
        await response(scope, receive, send)


def redirect(to: str) -> ReadOnlyEndpoint:
    """Redirect to a relative path, which works under any prefix. Not cached, since another version may differ."""
    response = Response(307, fields_of({"location": to, "cache-control": "no-store"}, b""))
    return ReadOnlyEndpoint(lambda _: response)


def document_routes(gallery: LogoAdmin) -> list[Route]:
    """Return the routes of the OpenAPI document, of the page that shows it, and of the public keys."""

    @functools.lru_cache(1)
    def openapi(prefix: str) -> StaticFile:
        return _json_file(openapi_document(gallery.access, prefix), b"no-store")

    return [
        Route("/openapi.json", ReadOnlyEndpoint(lambda scope: openapi(scope.get("root_path", "")))),
        Route("/.well-known/jwks.json", ReadOnlyEndpoint(lambda _: _public_keys(gallery))),
        *(Route(path, _docs_endpoint(path)) for path in _FILES),
        Route("/docs/", redirect("../docs")),
    ]


def _json_file(content: object, cache_control: bytes) -> StaticFile:
    fields = [(b"cache-control", cache_control), (b"content-type", JSON.encode())]
    return StaticFile(json.dumps(content).encode(), fields)


def _public_keys(gallery: LogoAdmin) -> StaticFile:
    """Return the keys that verify access tokens, as a JWK Set (RFC 7517 §5, contract C2)."""
    keys = {"keys": [dict(key) for key in gallery.sessions.public_keys()]}
    # Clients may cache the keys, since a new key is published long enough before it signs.
    return _json_file(keys, b"public, max-age=300")


def _docs_endpoint(path: str) -> ReadOnlyEndpoint:
    return ReadOnlyEndpoint(lambda _: _docs_file(path))


@functools.lru_cache(len(_FILES))
def _docs_file(path: str) -> StaticFile:
    name, media_type, cache_control = _FILES[path]
    fields = [*_FIELDS, (b"cache-control", cache_control.encode()), (b"content-type", media_type.encode())]
    return StaticFile((_DIRECTORY / name).read_bytes(), fields)


log = logging.getLogger("logoadmin.http")

# The key in the request state by which a stopping server makes balancers send requests elsewhere (contract K5).
STOPPING: Final = "logoadmin.stopping"


def health_routes(readiness: "Readiness") -> list[Route]:
    """Return the routes of both checks; a process that responds is alive."""
    live, ready = HEALTH_CHECKS
    return [Route(live, ReadOnlyEndpoint(lambda _: _well())), Route(ready, ReadOnlyEndpoint(readiness.response))]


class Readiness:
    """Succeeds while the database responds, its tables fit, and the service is not stopping."""

    def __init__(self, gallery: LogoAdmin, dispatch: Dispatch, *, timeout: float = 0.9, valid: float = 1.0) -> None:
        """Check for at most ``timeout`` seconds, fewer than ``readyz`` has to respond (contract K1).

        A result is valid for ``valid`` seconds.
        """
        self._gallery, self._dispatch = gallery, dispatch
        self._timeout, self._valid = timeout, valid
        self._fault: StorageUnavailable | SchemaMismatch | None = None
        self._fresh_until = 0.0

    async def response(self, scope: Scope) -> Response:
        """Return 200, or 503 with the remedy and a code if the last check failed or the service is stopping."""
        if scope.get("state", {}).get(STOPPING):
            return detail_response(503, "The service is stopping")
        await self._look()
        if self._fault is None:
            return _well()
        note_cause(request_of(scope), self._fault)
        headers = {"retry-after": str(RETRY_AFTER)}
        return detail_response(503, self._fault.explained, headers, {"code": self._fault.cause.code})

    async def _look(self) -> None:
        loop = asyncio.get_running_loop()
        if loop.time() < self._fresh_until:
            return
        fault: StorageUnavailable | SchemaMismatch | None = None
        try:
            await self._dispatch.reading_once(self, self._gallery.check, loop.time() + self._timeout)
        except TablesMissing as error:  # this process had opened the tables
            fault = TablesMissing(error.file, existed=True)
        except (StorageUnavailable, SchemaMismatch) as error:
            fault = error
        self._found(fault)
        self._fresh_until = loop.time() + self._valid

    def _found(self, fault: StorageUnavailable | SchemaMismatch | None) -> None:
        """Record the result of a check; storage itself logs why it is unavailable."""
        before, self._fault = self._fault, fault
        if isinstance(fault, SchemaMismatch) and not isinstance(before, SchemaMismatch):
            log.error("%s (%s)", fault, fault.cause.code)
        elif fault is None and isinstance(before, SchemaMismatch):
            log.warning("The tables fit this program again: %s is over", before.cause.code)


def _well() -> Response:
    body = b'{"status": "ok"}'
    return Response(200, fields_of({"cache-control": "no-store", "content-type": JSON}, body), body)


_NAME: Final = re.compile(rf"({PICTURE})(-320)?\.webp", re.ASCII)


def picture_route(context: AppContext) -> Route:
    """Return the route of a gallery's pictures; those that were taken down are for callers that may read users."""
    return Route("/pictures/{name}", ReadOnlyEndpoint(functools.partial(_picture, context)))


async def _picture(context: AppContext, scope: Scope) -> Response:
    request, name = request_of(scope), scope["path_params"]["name"]
    found = _NAME.fullmatch(name)
    if found is None:
        raise HttpError(404)
    caller: Caller = Anonymous(request.client, request.id)
    if token := request.bearer_token():
        caller = context.gallery.sessions.caller(token, request.id, request.client, "")
    command = GetPicture(picture=found[1], thumbnail=bool(found[2]))
    content, is_hidden = await context.dispatch.run(Work.READING, context.gallery.pictures.get, command, caller)
    tag = f'"{name.removesuffix(".webp")}"'.encode()
    cached = b"no-store" if is_hidden else b"public, max-age=31536000, immutable"
    fields = [*PICTURE_FIELDS, (b"cache-control", cached), (b"etag", tag)]
    fields += [(b"content-type", b"image/webp"), (b"content-length", b"%d" % len(content))]
    return Response(*conditional(request, tag, fields, content))
