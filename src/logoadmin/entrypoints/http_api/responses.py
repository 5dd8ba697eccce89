"""From an answer to a response (contract E1, E2, F1, F2)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from logoadmin.domain.model.errors import LogoAdminError, NotModified
from logoadmin.domain.model.lists import Listing, Place
from logoadmin.domain.model.versions import version_of
from logoadmin.entrypoints.http_api.conditions import Fields, if_none_match, unmodified
from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.http_api.operations import Operation
from logoadmin.entrypoints.http_api.parts import CHUNK, Chunks, Part, Within

_JSON: Final = (b"content-type", b"application/json")
# A list that ends within so many bytes is answered in one chunk: streaming costs more than its last pages do.
_AT_ONCE: Final = 32_768
# The place of an answer that is no list.
_BEGIN: Final = Place(-1, 0)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A response whose header fields and body, or else what yields it in chunks, lie ready; it can be sent again."""

    status: int
    fields: Fields
    body: bytes = b""
    chunks: Chunks | None = None

    @property
    def etag(self) -> bytes:
        """The entity tag of an answer that has a version."""
        return dict(self.fields)[b"etag"]

    def unmodified(self) -> "Rendered":
        """Return what is sent to a client that has the same already."""
        return Rendered(304, unmodified(self.fields))

    async def send(self, scope: Scope, receive: Receive, send: Send, fields: Fields) -> None:
        """Send it with more fields; to a HEAD request without its body."""
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
    """What is asked for, and in what it is answered.

    Attributes:
        perform: does it; also again, where a reader is so slow that what was read is no longer there.
        scope: of the request.
        within: what long answers are made in.
    """

    perform: Callable[[], Any]
    scope: Scope
    within: Within


class Renderer:
    """Renders the answers of one operation: from the records to bytes, with nothing in between."""

    def __init__(self, operation: Operation, cache_seconds: int) -> None:
        """Prepare for what the operation answers; public reads may be kept for some seconds."""
        self._success = operation.success
        self._is_versioned = operation.is_versioned
        self._reads = operation.method == "GET"
        self._json = operation.renderer().serializer.to_json
        kept = f"public, max-age={cache_seconds}" if operation.is_public_read else "no-store"
        self._fields = [(b"x-content-type-options", b"nosniff"), (b"cache-control", kept.encode())]

    def response(self, call: Call) -> Rendered:
        """Make a call, and return the response; a list of some pages, and whatever is long, is sent in chunks."""
        try:
            answer = call.perform()
        except NotModified as error:
            return self._unmodified(error.version)
        fields = [*self._fields, _JSON]
        if self._is_versioned:
            version = answer.version if isinstance(answer, Listing) else version_of(answer)
            if self._reads and if_none_match(call.scope) is None:
                return self._unmodified(version)
            fields.append(_etag(version))
        if not isinstance(answer, Listing):
            return self._one(answer, call, fields)
        if answer.is_whole:
            return self._list(answer, call.within, fields)
        if answer.next_after is not None:
            fields.append((b"link", f'<{_next(call.scope, answer.next_after)}>; rel="next"'.encode()))
        return self._one(answer, call, fields)

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

    def _one(self, answer: Any, call: Call, fields: Fields) -> Rendered:
        part = self.part(answer)
        if len(part.content) <= CHUNK or not self._reads:
            return self._whole(part.content, fields)
        chunks = Chunks(_Again(self, call.perform), _BEGIN, call.within, hash(part.content))
        chunks.keep(_BEGIN, part)
        return Rendered(self._success, [*fields, _length_of(part.content)], chunks=chunks)

    def _list(self, answer: Listing[Any], within: Within, fields: Fields) -> Rendered:
        page, place = answer.first, answer.start
        parts = {place: self.part_of(answer, place, page)}
        while (following := parts[place].following) is not None and _length(parts) < _AT_ONCE:
            place, page = following, answer.page(following)
            parts[place] = self.part_of(answer, place, page)
        if following is None and _length(parts) <= CHUNK:
            return self._whole(b"".join([part.content for part in parts.values()]), fields)
        chunks = Chunks(_ListAgain(self, answer.without_records()), answer.start, within)
        for place, part in parts.items():
            chunks.keep(place, part)
        return Rendered(self._success, fields, chunks=chunks)

    def _whole(self, content: bytes, fields: Fields) -> Rendered:
        return Rendered(self._success, [*fields, _length_of(content)], content)

    def _unmodified(self, version: int) -> Rendered:
        return Rendered(304, [*self._fields, _etag(version)])


@dataclass(frozen=True, slots=True)
class _Again:
    """Makes the only part of an answer again."""

    renderer: Renderer
    perform: Callable[[], Any]

    def __call__(self, _: Place) -> Part:
        return self.renderer.part(self.perform())


@dataclass(frozen=True, slots=True)
class _ListAgain:
    """Makes the parts of a list, also again; it is without records, so that the first page need not be held."""

    renderer: Renderer
    listing: Listing[Any]

    def __call__(self, place: Place) -> Part:
        return self.renderer.part_of(self.listing, place, self.listing.page(place))


def _etag(version: int) -> tuple[bytes, bytes]:
    return b"etag", b'"%d"' % version


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


def refused(error: LogoAdminError | HttpError) -> Rendered:
    """Return the answer to an error."""
    response = error_response(error)
    return Rendered(response.status_code, response.raw_headers, bytes(response.body))


def sendable(response: Response, scope: Scope) -> Response:
    """Return what may be sent: to a HEAD request the same answer without its body."""
    if scope["method"] != "HEAD":
        return response
    head = Response(status_code=response.status_code)
    head.raw_headers = response.raw_headers
    return head
