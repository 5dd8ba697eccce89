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
from logoadmin.entrypoints.http_api.responses import sendable

_DIRECTORY: Final = Path(__file__).with_name("swagger_ui")
# What the page loads is the program, the same for everybody, and 2 MB of it: no answer that contract F2 speaks of. So
# it is kept, and asked for again each time: the ETag makes that cheap, and no page meets the files of another version.
_KEPT: Final = "no-cache"
# No other file is served, whatever is in the directory.
_FILES: Final[Mapping[str, tuple[str, str, str]]] = {
    "/docs": ("index.html", "text/html", "no-store"),
    "/docs/initializer.js": ("initializer.js", "text/javascript", _KEPT),
    "/docs/swagger-ui-bundle.js": ("swagger-ui-bundle.js", "text/javascript", _KEPT),
    "/docs/swagger-ui.css": ("swagger-ui.css", "text/css", _KEPT),
}
_HEADERS: Final = {
    # Swagger UI has its pictures in the style sheet, as data.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


class ReadOnlyEndpoint:
    """A path outside the table of operations, which everybody may read."""

    def response(self, scope: Scope) -> Response:
        """Return the answer to a GET."""
        raise NotImplementedError

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer GET and HEAD, and anything else with 405."""
        if scope["method"] in ("GET", "HEAD"):
            response = self.response(scope)
        else:
            response = error_response(HttpError(405, headers={"allow": "GET, HEAD"}))
        await sendable(response, scope)(scope, receive, send)


class DocsFile(ReadOnlyEndpoint):
    """One file of the page, kept in memory."""

    def __init__(self, name: str, media_type: str, cache_control: str) -> None:
        """Serve a file of the package."""
        self._body = (_DIRECTORY / name).read_bytes()
        self._media_type = media_type
        self._etag = hashlib.sha256(self._body).hexdigest()[:32]
        self._headers = {**_HEADERS, "cache-control": cache_control, "vary": "Accept-Encoding"}

    def response(self, scope: Scope) -> Response:
        """Return the file, or that the client has it."""
        compressed = accepts_gzip(scope)
        etag = f'"{self._etag}{SUFFIX if compressed else ""}"'
        known = known_tag(scope, etag.encode())
        if known is not None:
            return Response(status_code=304, headers={**self._headers, "etag": known.decode()})
        headers = {**self._headers, "etag": etag, **({"content-encoding": "gzip"} if compressed else {})}
        return Response(self._compressed if compressed else self._body, 200, headers, self._media_type)

    @functools.cached_property
    def _compressed(self) -> bytes:
        return in_gzip(self._body)


class Redirect(ReadOnlyEndpoint):
    """A path that leads to another one."""

    def __init__(self, to: str) -> None:
        """Lead to a path that counts from this one: so it is right under whatever prefix the client knows."""
        self._to = to

    def response(self, scope: Scope) -> Response:  # noqa: ARG002 (it leads there, whatever is asked)
        """Return where it leads; another version may lead elsewhere."""
        return Response(status_code=307, headers={"location": self._to, "cache-control": "no-store"})


def docs_routes() -> list[Route]:
    """Return the routes of the page and its files, and one that leads to it."""
    files = [Route(path, DocsFile(*file)) for path, file in _FILES.items()]
    return [*files, Route("/docs/", Redirect("../docs"))]
