"""The page at /docs, on which people read the OpenAPI document and try the operations: Swagger UI, with its files."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from logoadmin.entrypoints.http_api.errors import HttpError, error_response

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


class DocsFile:
    """One file of the page, kept in memory."""

    def __init__(self, name: str, media_type: str, cache_control: str) -> None:
        """Serve a file of the package."""
        self._body = (_DIRECTORY / name).read_bytes()
        self._media_type = media_type
        etag = f'"{hashlib.sha256(self._body).hexdigest()[:32]}"'
        self._headers = {**_HEADERS, "cache-control": cache_control, "etag": etag}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] not in ("GET", "HEAD"):
            response = error_response(HttpError(405, headers={"allow": "GET, HEAD"}))
        elif self._headers["etag"] in Headers(scope=scope).get("if-none-match", ""):
            response = Response(status_code=304, headers=self._headers)
        else:
            body = b"" if scope["method"] == "HEAD" else self._body
            headers = {**self._headers, "content-length": str(len(self._body))}
            response = Response(body, headers=headers, media_type=self._media_type)
        await response(scope, receive, send)


def docs_routes() -> list[Route]:
    """Return the routes of the page and its files."""
    return [Route(path, DocsFile(*file)) for path, file in _FILES.items()]
