"""The published gallery at ``/gallery/``: signed files for readers, without the database (contract L1, L2)."""

import asyncio
import html
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from logoadmin.domain.publication.publication_records import PAGE
from logoadmin.entrypoints.http_api.errors import HttpError, error_response, note_cause
from logoadmin.entrypoints.http_api.published_files import CORS, PAGE_FIELDS, PublishedFolder
from logoadmin.entrypoints.http_api.request import Request, request_of
from logoadmin.entrypoints.http_api.responses import CountedRequests, sendable
from logoadmin.entrypoints.publisher import Publisher
from logoadmin.ports.metrics import Metrics

FOLDER: Final = "/gallery/"
_PREFLIGHT: Final = {
    "access-control-allow-methods": "GET, HEAD",
    "access-control-allow-headers": "If-None-Match",
    "access-control-max-age": "600",
    "cache-control": "no-store",
}


# For browsers that open an address without a page, or before the first publication.
_ERROR_PAGE: Final = """<!doctype html>
<html lang="en">
<meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>{detail}</title>
<p>{detail}</p>
<p><a href="{home}">Go to the gallery</a></p>
</html>
"""


class PublishedGallery:
    """Serves the paths that begin with ``/gallery/``."""

    def __init__(self, folder: PublishedFolder, publisher: Publisher, metrics: Metrics) -> None:
        """Serve a folder, into which ``publisher`` publishes from :meth:`start` or the first request onwards."""
        self._folder, self._publisher = folder, publisher
        self._is_started = False
        self._files = CountedRequests(self._serve, metrics)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request for a file."""
        if not self._is_started:
            self.start()
        await self._files(scope, receive, send)

    def start(self) -> None:
        """Start publishing."""
        self._is_started = True
        self._publisher.start()

    async def close(self) -> None:
        """Stop publishing."""
        await asyncio.to_thread(self._publisher.close)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = request_of(scope)
        try:
            found = await self._found(request)
        except HttpError as error:
            note_cause(request, error)
            found = _error_page(request, error) if _wants_page(request) else error_response(error)
        if CORS[0] not in found.raw_headers:  # files have it
            found.raw_headers.extend(CORS)
        await sendable(found, scope)(scope, receive, send)

    async def _found(self, request: Request) -> Response:
        """Return the requested file, or the response to a preflight request."""
        if request.method == "OPTIONS" and request.header(b"access-control-request-method"):
            return Response(status_code=204, headers=_PREFLIGHT)
        if request.method not in ("GET", "HEAD"):
            raise HttpError(405, headers={"allow": "GET, HEAD"})
        # An escaped slash is part of a name that no file has (RFC 3986 §2.2).
        if b"%2f" in _raw_path(request):
            raise HttpError(404)
        name = _name_of(request)
        name += PAGE if name.endswith("/") or not name else ""
        file = await self._folder.file(name)
        if file is None and await self._folder.file(f"{name}/{PAGE}") is not None:
            headers = {"location": f"{name.rpartition('/')[2]}/", "cache-control": "no-store"}
            return Response(status_code=307, headers=headers)
        if file is None:
            raise HttpError(404)
        return file.response(request)


def _wants_page(request: Request) -> bool:
    """Return whether a browser requests a page to show; its other requests do not accept HTML."""
    return "text/html" in request.header(b"accept")


def _error_page(request: Request, error: HttpError) -> Response:
    """Return an error as a page, which reloads automatically if a retry may help."""
    detail = "There is no such page" if error.status == 404 else error.detail
    page = _ERROR_PAGE.format(detail=html.escape(detail), home=html.escape(request.prefix + FOLDER))
    headers = {"cache-control": "no-store", **error.headers}
    if "retry-after" in headers:
        headers["refresh"] = headers["retry-after"]
    response = Response(page, error.status, headers, "text/html")
    response.raw_headers.extend(PAGE_FIELDS)
    return response


def _name_of(request: Request) -> str:
    """Return the name of the requested file, relative to ``/gallery/``."""
    return request.path.removeprefix(request.prefix).removeprefix(FOLDER)


def _raw_path(request: Request) -> bytes:
    """Return the undecoded path in lower case."""
    return (request.raw_path or b"").lower()
