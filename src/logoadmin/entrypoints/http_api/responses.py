"""Renders the answers of use cases as responses, and sends them (contract E1, E2, F1, F2, K2)."""

import threading
import zlib
from collections.abc import Hashable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from io import BytesIO
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from cachetools import LRUCache
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from logoadmin.domain.kernel.access import Caller
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import LogoAdminError, NotModified
from logoadmin.domain.kernel.lists import Listing
from logoadmin.domain.kernel.records import version_of
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.css.verdict import Verdict
from logoadmin.entrypoints.http_api.bodies import TemporaryFile
from logoadmin.entrypoints.http_api.conditions import (
    GZIP,
    LEVEL,
    SHORT,
    SUFFIX,
    Fields,
    accepts_gzip,
    if_none_match,
    in_gzip,
    known_tag,
    unmodified,
)
from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.http_api.operation import JSON, Operation
from logoadmin.entrypoints.http_api.request import Request, count_response, request_of
from logoadmin.ports.metrics import Metrics

# The server buffers one slice for a slow reader, not the whole response.
SLICE: Final = 65_536  # bytes


async def send_body(send: Send, body: bytes, *, more: bool = False) -> None:
    """Send a body or, with ``more``, a part of one."""
    rest = memoryview(body)  # avoids copies
    while len(rest) > SLICE:
        await send({"type": "http.response.body", "body": rest[:SLICE], "more_body": True})
        rest = rest[SLICE:]
    await send({"type": "http.response.body", "body": bytes(rest), "more_body": more})


class CountedRequests:
    """Counts the requests of an application, and sends its responses in slices; operations do both themselves."""

    def __init__(self, app: ASGIApp, metrics: Metrics | None = None) -> None:
        self._app = app
        self._metrics = metrics or Metrics()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count it when it ends."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        metrics, request, status, size = self._metrics, request_of(scope), 0, 0

        async def send_counted(message: Message) -> None:
            nonlocal status, size
            body = message.get("body", b"")
            size += len(body)
            status = status or message["status"]
            if len(body) > SLICE:
                await send_body(send, body, more=message.get("more_body", False))
            else:
                await send(message)

        metrics.request_started()
        try:
            await self._app(scope, receive, send_counted)
        except Exception:
            status = status or 500
            raise
        finally:
            metrics.request_ended()
            count_response(metrics, request, status, size)


# The longest list, before compression.
MAX_LIST: Final = 256 * 1024 * 1024  # bytes


class LongResponses:
    """Keeps long responses to public reads, up to twice the size of the longest list, for further readers.

    Thread-safe.
    """

    def __init__(self, max_list: int = MAX_LIST) -> None:
        self.max_list = max_list
        self._stored: LRUCache[Hashable, tuple[object, RenderedResponse]] = LRUCache(
            2 * max_list, lambda stored: len(stored[1].body)
        )
        self._lock = threading.Lock()

    def get(self, key: Hashable, version: object) -> "RenderedResponse | None":
        """Return the stored response for a key, if it was made from this version of the records."""
        with self._lock:
            stored = self._stored.get(key)
        return stored[1] if stored is not None and stored[0] is version else None

    def keep(self, key: Hashable, version: object, response: "RenderedResponse") -> None:
        """Store a response that is longer than a slice, in place of that of another version."""
        if len(response.body) > SLICE:
            with self._lock, suppress(ValueError):  # too large to keep
                self._stored[key] = version, response


_JSON: Final = (b"content-type", JSON.encode())
_VARY: Final = (b"vary", b"Accept-Encoding")


@dataclass(frozen=True, slots=True)
class RenderedResponse:
    """A response with its header fields and its body, which is in memory or, for an export, in a file.

    It can be sent more than once, unless its body is in a file.
    """

    status: int
    fields: Fields
    body: bytes = b""
    file: TemporaryFile | None = None

    @property
    def etag(self) -> bytes:
        """The entity tag of a response that has a version."""
        return dict(self.fields)[b"etag"]

    def unmodified(self, tag: bytes) -> "RenderedResponse":
        """Return the 304 response for a client whose cached copy has this entity tag."""
        return RenderedResponse(304, unmodified(self.fields, tag))

    async def send(self, send: Send, fields: Fields, *, is_head: bool) -> int:
        """Send it with additional fields, without its body for HEAD; return the number of body bytes sent."""
        start = {"type": "http.response.start", "status": self.status, "headers": [*self.fields, *fields]}
        if self.file is None:
            body = b"" if is_head else self.body
            await send(start)
            await send_body(send, body)
            return len(body)
        with closing(self.file) as file:
            await send(start)
            for chunk in () if is_head else file.chunks(SLICE):
                await send_body(send, chunk, more=True)
            await send_body(send, b"")
            return 0 if is_head else file.size


@dataclass(frozen=True, slots=True)
class LongList:
    """The response with a whole list of several pages, which may exceed the usual deadline."""

    listing: Listing[Any]
    renderer: "Renderer"
    fields: Fields
    gzip: bool

    def render(self, key: Hashable, version: object) -> RenderedResponse:
        """Return the response with a snapshot of the list, or a stored one of this version; None for private lists.

        Raises:
            HttpError: the list is too long.
            StorageUnavailable: the database is unavailable.
        """
        responses = self.renderer.long_responses
        stored = None if version is None else responses.get(key, version)
        if stored is not None:
            return stored
        response = self.renderer.whole(self.listing.at_one_moment(self._body), self.fields, is_gzip=self.gzip)
        if version is not None:
            responses.keep(key, version, response)
        return response

    def _body(self, pages: Iterator[tuple[Any, ...]]) -> bytes:
        """Return the list in JSON, compressed page by page, so that it is in memory only once."""
        body, length, part = BytesIO(), 0, b"["
        compressor = zlib.compressobj(LEVEL, wbits=31)  # with the header and trailer of gzip
        for page in pages:
            if page:
                part += self.renderer.json(page)[1:-1]
                length += len(part)
                if length > self.renderer.long_responses.max_list:
                    raise HttpError(413, "This list is too long; use limit")
                body.write(compressor.compress(part) if self.gzip else part)
                part = b","
        end = b"[]" if part == b"[" else b"]"
        body.write(compressor.compress(end) + compressor.flush() if self.gzip else end)
        return body.getvalue()


class Renderer:
    """Calls the use case of one operation, and renders its answers as bytes."""

    def __init__(
        self,
        operation: Operation,
        gallery: LogoAdmin,
        cache_seconds: int,
        long_responses: LongResponses,
    ) -> None:
        self._operation = operation
        self._gallery = gallery
        self._reads = operation.method == "GET"
        self.json = operation.renderer().serializer.to_json
        self.long_responses = long_responses
        # A new artwork has no links, whose versions would count towards its own.
        self._is_new = operation.success == HTTPStatus.CREATED and operation.kind is not None
        cached = f"public, max-age={cache_seconds}" if operation.is_public_read else "no-store"
        self._fields = [(b"x-content-type-options", b"nosniff"), (b"cache-control", cached.encode())]
        if self._reads:
            self._fields.append(_VARY)

    def response(self, command: Command, caller: Caller, request: Request) -> "RenderedResponse | LongList":
        """Call the use case, and return the response; a list of several pages is rendered later."""
        try:
            answer = self._operation.use_case_of(self._gallery)(command, caller)
        except NotModified as error:
            return self._unmodified(error.version, request)
        if self._operation.shown is not None:
            answer = self._operation.shown(answer, self._gallery.public_url)
        fields = [*self._fields, _JSON]
        if self._operation.is_versioned:
            version = answer.version if self._is_new else _version(answer)
            if version is not None:
                if self._reads and if_none_match(request) is None:
                    return self._unmodified(version, request)
                fields.append((b"etag", b'"%d"' % version))
        gzip = self._reads and accepts_gzip(request)
        if isinstance(answer, Listing):
            if answer.goes_on:
                return LongList(answer, self, fields, gzip)
            if answer.next_after is not None:
                fields.append((b"link", f'<{_next(request, answer.next_after)}>; rel="next"'.encode()))
            answer = answer.first
        content = self.json(answer)
        gzip = gzip and len(content) > SHORT
        return self.whole(in_gzip(content) if gzip else content, fields, is_gzip=gzip)

    def short_response(self, answer: Any) -> RenderedResponse:
        """Return the response with a short answer, uncompressed and without a version."""
        response = self.whole(self.json(answer), [*self._fields, _JSON], is_gzip=False)
        existing = self._operation.existing
        return replace(response, status=existing) if existing is not None and answer.existed else response

    def file_response(self, file: TemporaryFile, media_type: str, name: str) -> RenderedResponse:
        """Return the response with a file to download under a name."""
        attachment = f'attachment; filename="{name}"'.encode()
        fields = [*self._fields, (b"content-disposition", attachment), (b"content-type", media_type.encode())]
        fields.append((b"content-length", b"%d" % file.size))
        return RenderedResponse(self._operation.success, fields, file=file)

    def whole(self, content: bytes, fields: Fields, *, is_gzip: bool) -> RenderedResponse:
        """Return the response with a body."""
        fields = [*(_compressed(fields) if is_gzip else fields), (b"content-length", b"%d" % len(content))]
        return RenderedResponse(self._operation.success, fields, content)

    def _unmodified(self, version: int, request: Request) -> RenderedResponse:
        tag = b'"%d"' % version
        return RenderedResponse(304, [*self._fields, (b"etag", known_tag(request, tag) or tag)])


def _version(answer: Any) -> int | None:
    """Return the version of an answer; a verdict that is not of a stored artwork, or took too long, has none."""
    if isinstance(answer, Verdict):
        return answer.version or None
    return answer.version if isinstance(answer, Listing) else version_of(answer)


def _compressed(fields: Fields) -> Fields:
    """Return the header fields of the response compressed with gzip."""
    suffix = f'{SUFFIX}"'.encode()
    return [GZIP, *((name, value[:-1] + suffix) if name == b"etag" else (name, value) for name, value in fields)]


def _next(request: Request, after: int | str) -> str:
    """Return the path of the next page, which is correct under any host and scheme of a proxy."""
    parameters = [(name, value) for name, value in parse_qsl(request.query.decode("latin-1")) if name != "after"]
    prefix = "" if request.path.startswith(f"{request.prefix}/") else request.prefix
    return f"{quote(prefix + request.path)}?{urlencode([*parameters, ('after', after)])}"


def error_rendered(error: LogoAdminError | HttpError) -> RenderedResponse:
    """Return the response to an error."""
    response = error_response(error)
    return RenderedResponse(response.status_code, response.raw_headers, bytes(response.body))


def sendable(response: Response, scope: Scope) -> Response:
    """Return the response, without its body for a HEAD request."""
    if scope["method"] != "HEAD":
        return response
    head = Response(status_code=response.status_code)
    head.raw_headers = response.raw_headers
    return head
