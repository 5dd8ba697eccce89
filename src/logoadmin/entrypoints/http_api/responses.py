"""Renders the answers of use cases as responses (contract E1, E2, F1, F2)."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from operator import attrgetter
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from logoadmin.domain.kernel.access import Caller
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import LogoAdminError, NotModified
from logoadmin.domain.kernel.lists import Listing
from logoadmin.domain.kernel.records import version_of
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.css.verdict import Verdict
from logoadmin.entrypoints.http_api.compression import SHORT, SUFFIX, Writer, accepts_gzip, gzip_writer, in_gzip
from logoadmin.entrypoints.http_api.conditions import Fields, if_none_match, known_tag, unmodified
from logoadmin.entrypoints.http_api.dispatch import Dispatch
from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.http_api.operation import JSON, Operation
from logoadmin.entrypoints.http_api.request import Request
from logoadmin.entrypoints.http_api.spool import CHUNK, Spool, SpooledFile

_JSON: Final = (b"content-type", JSON.encode())
_GZIP: Final = (b"content-encoding", b"gzip")
_VARY: Final = (b"vary", b"Accept-Encoding")


@dataclass(frozen=True, slots=True)
class RenderedResponse:
    """A response with its header fields and its body, in memory or in a file.

    It can be sent more than once, unless it is the only owner of its file.
    """

    status: int
    fields: Fields
    body: bytes = b""
    file: SpooledFile | None = None
    is_shared: bool = True

    @property
    def etag(self) -> bytes:
        """The entity tag of a response that has a version."""
        return dict(self.fields)[b"etag"]

    def unmodified(self, tag: bytes) -> "RenderedResponse":
        """Return the 304 response for a client whose cached copy has this entity tag."""
        return RenderedResponse(304, unmodified(self.fields, tag))

    async def send(self, scope: Scope, receive: Receive, send: Send, fields: Fields, dispatch: Dispatch) -> None:
        """Send it with additional fields; to a HEAD request without its body."""
        fields = [*self.fields, *fields]
        try:
            if self.file is not None and scope["method"] != "HEAD":
                response = StreamingResponse(_chunks(self.file, dispatch), self.status)
                response.raw_headers = fields
                await response(scope, receive, send)
                return
            body = b"" if scope["method"] == "HEAD" else self.body
            await send({"type": "http.response.start", "status": self.status, "headers": fields})
            await send({"type": "http.response.body", "body": body})
        finally:
            if self.file is not None and not self.is_shared:
                self.file.close()


async def _chunks(file: SpooledFile, dispatch: Dispatch) -> AsyncIterator[bytes]:
    offset = 0
    while offset < file.size:
        chunk = await dispatch.files.submit(partial(file.chunk, offset)).answer
        offset += len(chunk)
        yield chunk


@dataclass(frozen=True, slots=True)
class LongList:
    """The response with a whole list of several pages, which can exceed the usual deadline."""

    listing: Listing[Any]
    renderer: "Renderer"
    fields: Fields
    gzip: bool

    def render(self) -> RenderedResponse:
        """Write a snapshot of the list into a file, and return the response.

        Raises:
            HttpError: there is no room for the file.
            StorageUnavailable: the database is out of reach.
        """
        return self.renderer.list_response(self.listing, self.fields, gzip=self.gzip)


class Renderer:
    """Calls the use case of one operation, and renders its answers from records to bytes."""

    def __init__(self, operation: Operation, gallery: LogoAdmin, cache_seconds: int, spool: Spool) -> None:
        """Render what the operation returns.

        Args:
            operation: the operation.
            gallery: the gallery whose use case is called.
            cache_seconds: how long clients may cache public reads.
            spool: where long bodies are kept.
        """
        self._operation = operation
        self._gallery = gallery
        self._reads = operation.method == "GET"
        self._json = operation.renderer().serializer.to_json
        self._spool = spool
        # Nobody is linked to a new artwork, whose version would be part of its own.
        is_new = operation.success == HTTPStatus.CREATED and operation.kind is not None
        self._version: Callable[[Any], int | None] = attrgetter("version") if is_new else _version
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
        version = self._version(answer) if self._operation.is_versioned else None
        if version is not None:
            if self._reads and if_none_match(request) is None:
                return self._unmodified(version, request)
            fields.append((b"etag", b'"%d"' % version))
        if isinstance(answer, Listing):
            if answer.goes_on:
                return LongList(answer, self, fields, self._compresses(request))
            if answer.next_after is not None:
                fields.append((b"link", f'<{_next(request, answer.next_after)}>; rel="next"'.encode()))
            answer = answer.first
        content = self._json(answer)
        return self._whole(content, fields, gzip=len(content) > SHORT and self._compresses(request))

    def short_response(self, answer: Any) -> RenderedResponse:
        """Return the response with a short answer."""
        response = self._whole(self._json(answer), [*self._fields, _JSON], gzip=False)
        existing = self._operation.existing
        return replace(response, status=existing) if existing is not None and answer.existed else response

    def file_response(self, file: SpooledFile, media_type: str, name: str) -> RenderedResponse:
        """Return the response with a file that has a name."""
        attachment = f'attachment; filename="{name}"'.encode()
        fields = [*self._fields, (b"content-disposition", attachment), (b"content-type", media_type.encode())]
        return self._spooled(file, fields, gzip=False)

    def list_response(self, listing: Listing[Any], fields: Fields, *, gzip: bool) -> RenderedResponse:
        """Write a snapshot of a list into a file, and return the response."""
        file = self._spool.open()

        def write(pages: Iterator[tuple[Any, ...]]) -> None:
            file.restart()  # the read may be retried
            with _body_writer(file, gzip=gzip) as body:
                separator = b"["
                for page in pages:
                    if page:
                        body.write(separator + self._json(page)[1:-1])
                        separator = b","
                body.write(b"[]" if separator == b"[" else b"]")

        listing.at_one_moment(write)
        return self._spooled(file, fields, gzip=gzip)

    def _compresses(self, request: Request) -> bool:
        return not self._operation.holds_secret and accepts_gzip(request)

    def _whole(self, content: bytes, fields: Fields, *, gzip: bool) -> RenderedResponse:
        if self._reads and len(content) > CHUNK:
            file = self._spool.open()
            with _body_writer(file, gzip=gzip) as body:
                body.write(content)
            return self._spooled(file, fields, gzip=gzip)
        if gzip:
            content, fields = in_gzip(content), _compressed(fields)
        return RenderedResponse(self._operation.success, [*fields, (b"content-length", b"%d" % len(content))], content)

    def _spooled(self, file: SpooledFile, fields: Fields, *, gzip: bool) -> RenderedResponse:
        file.flush()
        fields = [*(_compressed(fields) if gzip else fields), (b"content-length", b"%d" % file.size)]
        return RenderedResponse(self._operation.success, fields, file=file, is_shared=self._operation.is_public_read)

    def _unmodified(self, version: int, request: Request) -> RenderedResponse:
        tag = b'"%d"' % version
        return RenderedResponse(304, [*self._fields, (b"etag", known_tag(request, tag) or tag)])


def _version(answer: Any) -> int | None:
    """Return the version of an answer; the verdict on CSS with imports has none."""
    if isinstance(answer, Verdict):
        return answer.version or None
    return answer.version if isinstance(answer, Listing) else version_of(answer)


def _body_writer(file: SpooledFile, *, gzip: bool) -> AbstractContextManager[Writer]:
    return gzip_writer(file) if gzip else nullcontext(file)


def _compressed(fields: Fields) -> Fields:
    """Return the header fields of the same response in gzip."""
    suffix = f'{SUFFIX}"'.encode()
    return [_GZIP, *((name, value[:-1] + suffix) if name == b"etag" else (name, value) for name, value in fields)]


def _next(request: Request, after: int | str) -> str:
    """Return the path of the next page, which is right for any host and scheme of a proxy."""
    asked = [(name, value) for name, value in parse_qsl(request.query.decode("latin-1")) if name != "after"]
    prefix = "" if request.path.startswith(f"{request.prefix}/") else request.prefix
    return f"{quote(prefix + request.path)}?{urlencode([*asked, ('after', after)])}"


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
