"""What is served beside the table of operations: documents, health checks and pictures (contract K1, P2, P5).

On the page /docs, which is Swagger UI with its files, people read the OpenAPI document and try the operations. Health
checks are public, accept any host name (contract A22), and return nothing secret.
"""

import asyncio
import functools
import hashlib
import json
import logging
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from logoadmin.domain.gallery.pictures import GetPicture
from logoadmin.domain.kernel.access import Anonymous, Caller, Policy
from logoadmin.domain.kernel.errors import LogoAdminError, SchemaMismatch, StorageUnavailable, TablesMissing
from logoadmin.domain.kernel.kinds import PICTURE
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.conditions import SHORT, SUFFIX, accepts_gzip, conditional, in_gzip, known_tag
from logoadmin.entrypoints.http_api.dispatch import Dispatch, Work
from logoadmin.entrypoints.http_api.endpoints import AppContext
from logoadmin.entrypoints.http_api.errors import RETRY_AFTER, HttpError, detail_response, error_response, note_cause
from logoadmin.entrypoints.http_api.openapi import openapi_document
from logoadmin.entrypoints.http_api.operation import JSON
from logoadmin.entrypoints.http_api.published_files import PICTURE_FIELDS
from logoadmin.entrypoints.http_api.request import HEALTH_CHECKS, Request, request_of
from logoadmin.entrypoints.http_api.responses import sendable

_DIRECTORY: Final = Path(__file__).with_name("swagger_ui")
# The page loads 2 MB of static files, which contract F2 does not cover. Clients store and revalidate them: the ETag
# makes that cheap, and a page never gets the files of another version.
_KEPT: Final = "no-cache"
# Other files in the directory are not served.
_FILES: Final[Mapping[str, tuple[str, str, str]]] = {
    "/docs": ("index.html", "text/html", "no-store"),
    "/docs/initializer.js": ("initializer.js", "text/javascript", _KEPT),
    "/docs/swagger-ui-bundle.js": ("swagger-ui-bundle.js", "text/javascript", _KEPT),
    "/docs/swagger-ui.css": ("swagger-ui.css", "text/css", _KEPT),
}
_HEADERS: Final = {
    # The style sheet of Swagger UI embeds its images as data URLs.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


class ReadOnlyEndpoint:
    """A public path outside the table of operations."""

    def response(self, scope: Scope) -> Response:
        """Return the response to a GET request."""
        raise NotImplementedError

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve GET and HEAD; reject other methods with 405."""
        if scope["method"] in ("GET", "HEAD"):
            response = self.response(scope)
        else:
            response = error_response(HttpError(405, headers={"allow": "GET, HEAD"}))
        await sendable(response, scope)(scope, receive, send)


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


class DocsFile(ReadOnlyEndpoint):
    """A file of the page, in memory."""

    def __init__(self, name: str, media_type: str, cache_control: str) -> None:
        """Serve a file of the package."""
        self._body = (_DIRECTORY / name).read_bytes()
        self._media_type = media_type
        self._etag = hashlib.sha256(self._body).hexdigest()[:32]
        self._headers = {**_HEADERS, "cache-control": cache_control, "vary": "Accept-Encoding"}

    def response(self, scope: Scope) -> Response:
        """Return the file, or 304 if the client has it."""
        request = request_of(scope)
        compressed = accepts_gzip(request)
        etag = f'"{self._etag}{SUFFIX if compressed else ""}"'
        known = known_tag(request, etag.encode())
        if known is not None:
            return Response(status_code=304, headers={**self._headers, "etag": known.decode()})
        headers = {**self._headers, "etag": etag, **({"content-encoding": "gzip"} if compressed else {})}
        return Response(self._compressed if compressed else self._body, 200, headers, self._media_type)

    @functools.cached_property
    def _compressed(self) -> bytes:
        return in_gzip(self._body)


class Redirect(ReadOnlyEndpoint):
    """A redirect to another path."""

    def __init__(self, to: str) -> None:
        """Redirect to a relative path, which is right under any prefix."""
        self._to = to

    def response(self, scope: Scope) -> Response:  # noqa: ARG002 (the target is always the same)
        """Return a temporary redirect, since another version may have another target."""
        return Response(status_code=307, headers={"location": self._to, "cache-control": "no-store"})


def document_routes(gallery: LogoAdmin) -> list[Route]:
    """Return the routes of the OpenAPI document, of the page that shows it with its files, and of the public keys."""
    # Clients may cache the keys: a new key is published long enough before it signs.
    keys = JsonDocument(lambda _: _public_keys(gallery), {"cache-control": "public, max-age=300"})
    return [
        Route("/openapi.json", JsonDocument(_openapi(gallery.access))),
        Route("/.well-known/jwks.json", keys),
        *(Route(path, DocsFile(*file)) for path, file in _FILES.items()),
        Route("/docs/", Redirect("../docs")),
    ]


def _openapi(access: Policy) -> Callable[[str], bytes]:
    """Return a function that renders the OpenAPI document when it is first requested."""
    return functools.lru_cache(1)(lambda root_path: json.dumps(openapi_document(access, root_path)).encode())


def _public_keys(gallery: LogoAdmin) -> bytes:
    """Return the keys that verify access tokens, as a JWK Set (RFC 7517 §5, contract C2)."""
    return json.dumps({"keys": [dict(key) for key in gallery.sessions.public_keys()]}).encode()


log = logging.getLogger("logoadmin.http")

# The key in the request state by which a stopping server has new requests sent elsewhere (contract K5).
STOPPING: Final = "logoadmin.stopping"

_STOPPING: Final = "The service is stopping"


def health_routes(readiness: "Readiness") -> list[Route]:
    """Return the routes of both checks."""
    live, ready = HEALTH_CHECKS
    return [Route(live, Liveness()), Route(ready, readiness)]


class Liveness(ReadOnlyEndpoint):
    """Succeeds while the process responds; does not query the database."""

    def response(self, scope: Scope) -> Response:  # noqa: ARG002 (the response is always the same)
        """Return 200: a process that can respond is alive."""
        return _well()


class Readiness(ReadOnlyEndpoint):
    """Succeeds while the database responds, its tables fit, and the service is not stopping."""

    def __init__(self, gallery: LogoAdmin, dispatch: Dispatch, *, timeout: float = 0.9, valid: float = 1.0) -> None:
        """Check the database of a gallery.

        Args:
            gallery: the gallery.
            dispatch: calls it in threads.
            timeout: the seconds for a check, fewer than those in which ``readyz`` responds (contract K1).
            valid: the seconds for which its result is valid.
        """
        self._gallery, self._dispatch = gallery, dispatch
        self._timeout, self._valid = timeout, valid
        self._fault: StorageUnavailable | SchemaMismatch | None = None
        self._fresh_until = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; check the database again if the last check has expired."""
        if scope["method"] in ("GET", "HEAD") and not _is_stopping(scope):
            await self._look()
        await super().__call__(scope, receive, send)

    def response(self, scope: Scope) -> Response:
        """Return 200, or 503 if the last check failed or the service is stopping."""
        if _is_stopping(scope):
            return detail_response(503, _STOPPING)
        if self._fault is None:
            return _well()
        note_cause(request_of(scope), self._fault)
        return _unwell(self._fault)

    async def _look(self) -> None:
        loop = asyncio.get_running_loop()
        if loop.time() < self._fresh_until:
            return
        try:
            await self._dispatch.reading_once(self, self._gallery.check, loop.time() + self._timeout)
        except TablesMissing as error:  # this process had opened them
            self._found(TablesMissing(error.file, existed=True))
        except (StorageUnavailable, SchemaMismatch) as error:
            self._found(error)
        else:
            self._found(None)
        self._fresh_until = loop.time() + self._valid

    def _found(self, fault: StorageUnavailable | SchemaMismatch | None) -> None:
        """Record the result of a check; storage itself logs why it is unavailable."""
        before, self._fault = self._fault, fault
        if isinstance(fault, SchemaMismatch) and not isinstance(before, SchemaMismatch):
            log.error("%s (%s)", fault, fault.cause.code)
        elif fault is None and isinstance(before, SchemaMismatch):
            log.warning("The tables fit this program again: %s is over", before.cause.code)


def _is_stopping(scope: Scope) -> bool:
    return bool(scope.get("state", {}).get(STOPPING))


def _well() -> Response:
    return _json_response(200, {"status": "ok"})


def _unwell(fault: StorageUnavailable | SchemaMismatch) -> Response:
    """Return the failure and its remedy, without secrets, and its code (contract K1)."""
    return _json_response(503, {"detail": fault.explained, "code": fault.cause.code}, {"retry-after": str(RETRY_AFTER)})


def _json_response(status: int, body: Mapping[str, str], headers: Mapping[str, str] | None = None) -> Response:
    return Response(json.dumps(body).encode(), status, {"cache-control": "no-store", **(headers or {})}, JSON)


_NAME: Final = re.compile(rf"({PICTURE})(-320)?\.webp", re.ASCII)


class PictureFiles:
    """Serves pictures from the database; those that were taken down only to callers who may read users."""

    def __init__(self, context: AppContext) -> None:
        """Serve the pictures of a gallery."""
        self._context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve GET and HEAD."""
        request = request_of(scope)
        try:
            response = await self._response(request, scope["path_params"]["name"])
        except ClientDisconnect:
            return
        except (LogoAdminError, HttpError) as error:
            note_cause(request, error)
            response = error_response(error)
        await sendable(response, scope)(scope, receive, send)

    async def _response(self, request: Request, name: str) -> Response:
        if request.method not in ("GET", "HEAD"):
            raise HttpError(405, headers={"allow": "GET, HEAD"})
        found = _NAME.fullmatch(name)
        if found is None:
            raise HttpError(404)
        gallery, dispatch = self._context.gallery, self._context.dispatch
        command = GetPicture(picture=found[1], thumbnail=bool(found[2]))
        content, is_hidden = await dispatch.run(Work.READING, gallery.pictures.get, command, self._caller(request))
        tag = f'"{name.removesuffix(".webp")}"'.encode()
        cached = b"no-store" if is_hidden else b"public, max-age=31536000, immutable"
        fields = [*PICTURE_FIELDS, (b"cache-control", cached), (b"etag", tag)]
        fields += [(b"content-type", b"image/webp"), (b"content-length", b"%d" % len(content))]
        status, fields, body = conditional(request, tag, fields, content)
        response = Response(body, status)
        response.raw_headers = fields
        return response

    def _caller(self, request: Request) -> Caller:
        scheme, _, token = request.header(b"authorization").partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            return self._context.gallery.sessions.caller(token.strip(), request.id, request.client, "")
        return Anonymous(request.client, request.id)


def picture_route(context: AppContext) -> Route:
    """Return the route of the pictures of a gallery."""
    return Route("/pictures/{name}", PictureFiles(context))
