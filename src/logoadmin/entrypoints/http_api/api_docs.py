"""The page at /docs, on which people read the OpenAPI document and try the operations: Swagger UI, with its files."""

import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from logoadmin.entrypoints.http_api.compression import SUFFIX, accepts_gzip, in_gzip
from logoadmin.entrypoints.http_api.conditions import known_tag
from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.http_api.request import request_of
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


def docs_routes() -> list[Route]:
    """Return the routes of the page, its files and the redirect to it."""
    files = [Route(path, DocsFile(*file)) for path, file in _FILES.items()]
    return [*files, Route("/docs/", Redirect("../docs"))]
