"""Public documents outside the table of operations: the OpenAPI document, its page at /docs, and the public keys.

On the page, which is Swagger UI with its files, people read the document and try the operations.
"""

import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from logoadmin.domain.kernel.access import Policy
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.compression import SHORT, SUFFIX, accepts_gzip, in_gzip
from logoadmin.entrypoints.http_api.conditions import known_tag
from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.http_api.openapi import openapi_document
from logoadmin.entrypoints.http_api.operation import JSON
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
