"""From an answer to a response (contract E1, E2, F1, F2)."""

from collections.abc import AsyncIterable, Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from logoadmin.domain.model.errors import LogoAdminError, NotModified
from logoadmin.domain.model.lists import Listing, Place
from logoadmin.domain.model.versions import version_of
from logoadmin.entrypoints.http_api.compression import SHORT, SUFFIX, accepts_gzip, in_gzip
from logoadmin.entrypoints.http_api.conditions import Fields, if_none_match, known_tag, unmodified
from logoadmin.entrypoints.http_api.dispatch import leave_to_thread
from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.http_api.media_types import JSON
from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.entrypoints.http_api.parts import CHUNK, ChunkedBody, Part, RenderContext
from logoadmin.entrypoints.http_api.spool import SpooledFile

_JSON: Final = (b"content-type", JSON.encode())
_GZIP: Final = (b"content-encoding", b"gzip")
_VARY: Final = (b"vary", b"Accept-Encoding")
# A list that ends within so many bytes is answered in one chunk: streaming costs more than its last pages do.
_MAX_SHORT_LIST: Final = 32_768
# To compress more takes milliseconds, for which nobody else is answered if the event loop does it.
_MAX_SOON_COMPRESSED: Final = 16_384
# The place of an answer that is no list.
_BEGIN: Final = Place(-1, 0)


@dataclass(frozen=True, slots=True)
class RenderedResponse:
    """A response whose header fields and body, or else what yields it in chunks, lie ready.

    It can be sent again, unless there is something that is done when it has been sent.
    """

    status: int
    fields: Fields
    body: bytes = b""
    chunks: AsyncIterable[bytes] | None = None
    done: Callable[[], object] | None = None

    @property
    def etag(self) -> bytes:
        """The entity tag of an answer that has a version."""
        return dict(self.fields)[b"etag"]

    def unmodified(self, tag: bytes) -> "RenderedResponse":
        """Return what is sent to a client that has the same already, by an entity tag."""
        return RenderedResponse(304, unmodified(self.fields, tag))

    async def send(self, scope: Scope, receive: Receive, send: Send, fields: Fields) -> None:
        """Send it with more fields; to a HEAD request without its body."""
        try:
            await self._send(scope, receive, send, fields)
        finally:
            if self.done is not None:
                self.done()

    async def _send(self, scope: Scope, receive: Receive, send: Send, fields: Fields) -> None:
        fields = [*self.fields, *fields]
        if self.chunks is not None and scope["method"] != "HEAD":
            response = StreamingResponse(self.chunks, self.status)
            response.raw_headers = fields
            await response(scope, receive, send)
            return
        body = b"" if scope["method"] == "HEAD" else self.body
        await send({"type": "http.response.start", "status": self.status, "headers": fields})
        await send({"type": "http.response.body", "body": body})


@dataclass(frozen=True, slots=True)
class Call:
    """What is asked for, and what it takes to answer it.

    Attributes:
        perform: does it; also again, where a reader is so slow that what was read is no longer there.
        scope: of the request.
        context: what it takes to make long answers.
    """

    perform: Callable[[], Any]
    scope: Scope
    context: RenderContext


class Renderer:
    """Renders the answers of one operation: from the records to bytes, with nothing in between."""

    def __init__(self, operation: Operation, cache_seconds: int) -> None:
        """Prepare for what the operation answers; public reads may be kept for some seconds."""
        self._success = operation.success
        self._is_versioned = operation.is_versioned
        self._reads = operation.method == "GET"
        self._json = operation.renderer().serializer.to_json
        kept = f"public, max-age={cache_seconds}" if operation.is_public_read else "no-store"
        self._attachment = [
            (b"content-disposition", f'attachment; filename="{operation.attachment}"'.encode()),
        ]
        self._compresses = not operation.holds_secret
        self._fields = [(b"x-content-type-options", b"nosniff"), (b"cache-control", kept.encode())]
        if self._reads:
            self._fields.append(_VARY)

    def response(self, call: Call) -> RenderedResponse:
        """Make a call, and return the response; a list of some pages, and whatever is long, is sent in chunks."""
        try:
            answer = call.perform()
        except NotModified as error:
            return self._unmodified(error.version, call.scope)
        gzip = self._compresses and accepts_gzip(call.scope)
        fields = [*self._fields, _JSON]
        if self._is_versioned:
            version = answer.version if isinstance(answer, Listing) else version_of(answer)
            if self._reads and if_none_match(call.scope) is None:
                return self._unmodified(version, call.scope)
            fields.append(_etag(version))
        if not isinstance(answer, Listing):
            return self._one(answer, call, fields, gzip)
        if answer.is_whole:
            return self._list(answer, call.context, fields, gzip)
        if answer.next_after is not None:
            fields.append((b"link", f'<{_next(call.scope, answer.next_after)}>; rel="next"'.encode()))
        return self._one(answer, call, fields, gzip)

    def short_response(self, answer: Any) -> RenderedResponse:
        """Return the response to a call that was made, of which the answer is short."""
        return self._whole(self._json(answer), [*self._fields, _JSON], gzip=False)

    def file_response(self, file: SpooledFile, media_type: str) -> RenderedResponse:
        """Return the response that is a file, which is closed when it has been sent."""
        fields = [*self._fields, *self._attachment, (b"content-type", media_type.encode())]
        fields.append((b"content-length", b"%d" % file.end()))
        return RenderedResponse(self._success, fields, chunks=file, done=file.close)

    def part(self, answer: Any) -> Part:
        """Return an answer that is no list, or one page, as a part that is the whole."""
        return Part(self._json(tuple(answer) if isinstance(answer, Listing) else answer), None)

    def part_of(self, answer: Listing[Any], place: Place, page: tuple[Any, ...]) -> Part:
        """Return the part of a list that begins at a place with these records."""
        following, content = answer.following(place, page), self._json(page)
        while len(content) > CHUNK and len(page) > 1:
            page, following = answer.half(page)
            content = self._json(page)
        begin = b"[" if place == answer.start else b"," if page else b""
        return Part(b"".join((begin, content[1:-1], b"" if following else b"]")), following)

    def _one(self, answer: Any, call: Call, fields: Fields, gzip: bool) -> RenderedResponse:
        part = self.part(answer)
        if gzip and len(part.content) > _MAX_SOON_COMPRESSED:
            leave_to_thread()
        if len(part.content) <= CHUNK or not self._reads:
            return self._whole(part.content, fields, gzip)
        fields = [*fields, _length_of(part.content)]
        if gzip:
            part, fields = part.in_gzip(), _compressed(fields)
        chunks = ChunkedBody(_PartMaker(self, call.perform, gzip), _BEGIN, call.context, hash(part.content))
        chunks.keep(_BEGIN, part)
        return RenderedResponse(self._success, fields, chunks=chunks)

    def _list(self, answer: Listing[Any], context: RenderContext, fields: Fields, gzip: bool) -> RenderedResponse:
        page, place = answer.first, answer.start
        parts = {place: self.part_of(answer, place, page)}
        while (following := parts[place].following) is not None and _length(parts) < _MAX_SHORT_LIST:
            place, page = following, answer.page(following)
            parts[place] = self.part_of(answer, place, page)
        if following is None and _length(parts) <= CHUNK:
            return self._whole(b"".join([part.content for part in parts.values()]), fields, gzip)
        chunks = ChunkedBody(_ListPartMaker(self, answer.without_records(), gzip), answer.start, context)
        for place, part in parts.items():
            chunks.keep(place, part.in_gzip() if gzip else part)
        return RenderedResponse(self._success, _compressed(fields) if gzip else fields, chunks=chunks)

    def _whole(self, content: bytes, fields: Fields, gzip: bool) -> RenderedResponse:
        if gzip and len(content) > SHORT:
            content, fields = in_gzip(content), _compressed(fields)
        return RenderedResponse(self._success, [*fields, _length_of(content)], content)

    def _unmodified(self, version: int, scope: Scope) -> RenderedResponse:
        name, tag = _etag(version)
        return RenderedResponse(304, [*self._fields, (name, known_tag(scope, tag) or tag)])


@dataclass(frozen=True, slots=True)
class _PartMaker:
    """Makes the only part of an answer again."""

    renderer: Renderer
    perform: Callable[[], Any]
    gzip: bool

    def __call__(self, _: Place) -> Part:
        if self.gzip:
            leave_to_thread()
        part = self.renderer.part(self.perform())
        return part.in_gzip() if self.gzip else part


@dataclass(frozen=True, slots=True)
class _ListPartMaker:
    """Makes the parts of a list, also again; it is without records, so that the first page need not be held."""

    renderer: Renderer
    listing: Listing[Any]
    gzip: bool

    def __call__(self, place: Place) -> Part:
        part = self.renderer.part_of(self.listing, place, self.listing.page(place))
        return part.in_gzip() if self.gzip else part


def _etag(version: int) -> tuple[bytes, bytes]:
    return b"etag", b'"%d"' % version


def _compressed(fields: Fields) -> Fields:
    """Return the header fields of the same answer in gzip, whose length is another and not yet known."""
    suffix = f'{SUFFIX}"'.encode()
    tagged = [(name, value[:-1] + suffix) if name == b"etag" else (name, value) for name, value in fields]
    return [_GZIP, *(field for field in tagged if field[0] != b"content-length")]


def _length_of(content: bytes) -> tuple[bytes, bytes]:
    return b"content-length", b"%d" % len(content)


def _length(parts: dict[Place, Part]) -> int:
    return sum([len(part.content) for part in parts.values()])


def _next(scope: Scope, after: int) -> str:
    """Return where the next page is, as a path: right for a client whatever host and scheme a proxy has."""
    root, path = scope.get("root_path", ""), scope["path"]
    asked = [(name, value) for name, value in parse_qsl(scope["query_string"].decode("latin-1")) if name != "after"]
    prefix = "" if path.startswith(f"{root}/") else root
    return f"{quote(prefix + path)}?{urlencode([*asked, ('after', after)])}"


def error_rendered(error: LogoAdminError | HttpError) -> RenderedResponse:
    """Return the answer to an error."""
    response = error_response(error)
    return RenderedResponse(response.status_code, response.raw_headers, bytes(response.body))


def sendable(response: Response, scope: Scope) -> Response:
    """Return what may be sent: to a HEAD request the same answer without its body."""
    if scope["method"] != "HEAD":
        return response
    head = Response(status_code=response.status_code)
    head.raw_headers = response.raw_headers
    return head
