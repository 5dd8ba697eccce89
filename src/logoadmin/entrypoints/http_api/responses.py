"""From an answer to a response (contract E1, E2, F1, F2)."""

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from logoadmin.domain.model.command import Command
from logoadmin.domain.model.errors import NotModified
from logoadmin.domain.model.lists import Listing, Place
from logoadmin.domain.model.versions import version_of
from logoadmin.entrypoints.http_api.operations import Operation
from logoadmin.entrypoints.http_api.parts import CHUNK, ChunkedResponse, Chunks, Part, Within
from logoadmin.entrypoints.http_api.requests import versions_had

_MEDIA_TYPE: Final = "application/json"
# A list that ends within so many bytes is answered in one chunk: streaming costs more than its last pages do.
_AT_ONCE: Final = 32_768
# The place of an answer that is no list.
_BEGIN: Final = Place(-1, 0)


class Renderer:
    """Renders the answers of one operation: from the records to bytes, with nothing in between.

    Attributes:
        operation: the operation.
    """

    def __init__(self, operation: Operation, cache_seconds: int) -> None:
        """Prepare for what the operation answers; public reads may be kept for some seconds."""
        self.operation = operation
        self._json = operation.renderer().serializer.to_json
        kept = f"public, max-age={cache_seconds}" if operation.is_public_read else "no-store"
        self._headers = {"x-content-type-options": "nosniff", "cache-control": kept}

    def response(
        self, command: Command, perform: Callable[[Command], Any], request: Request, within: Within
    ) -> Response:
        """Return the response; a list of more than some pages, and whatever is long, is sent in chunks.

        Args:
            command: what is asked for.
            perform: does it; also again, where a reader is so slow that what was read is no longer there.
            request: whose ``If-None-Match`` counts where the answer has a version.
            within: what it is answered in.
        """
        had = versions_had(request) if self.operation.method == "GET" else frozenset()
        try:
            answer = perform(command.unless_version(*had) if had else command)
        except NotModified as error:
            return Response(status_code=304, headers=self._tagged(error.version))
        headers = {**self._headers}
        if self.operation.is_versioned:
            version = answer.version if isinstance(answer, Listing) else version_of(answer)
            headers = self._tagged(version)
            if had is None:
                return Response(status_code=304, headers=headers)
        if isinstance(answer, Listing) and answer.is_whole:
            return self._list(answer, within, headers)
        if isinstance(answer, Listing) and answer.next_after is not None:
            headers["link"] = f'<{_next(request, answer.next_after)}>; rel="next"'
        return self._one(answer, lambda: perform(command), within, headers)

    def _one(self, answer: Any, again: Callable[[], Any], within: Within, headers: dict[str, str]) -> Response:
        part = self._part(answer)
        if len(part.content) <= CHUNK or self.operation.method != "GET":
            return Response(part.content, self.operation.success, headers, _MEDIA_TYPE)
        headers["content-length"] = str(len(part.content))
        chunks = Chunks(lambda _: self._part(again()), _BEGIN, within)
        chunks.keep(_BEGIN, part)
        return ChunkedResponse(chunks, self.operation.success, headers, _MEDIA_TYPE)

    def _list(self, answer: Listing[Any], within: Within, headers: dict[str, str]) -> Response:
        page, place = answer.first, answer.start
        parts = {place: self._part_of(answer, place, page)}
        while (following := parts[place].following) is not None and _length(parts) < _AT_ONCE:
            place, page = following, answer.page(following)
            parts[place] = self._part_of(answer, place, page)
        if following is None and _length(parts) <= CHUNK:
            content = b"".join([part.content for part in parts.values()])
            return Response(content, self.operation.success, headers, _MEDIA_TYPE)
        # What is made again is fetched again, so that the first page need not be held until then.
        rest = answer.without_records()
        chunks = Chunks(lambda place: self._part_of(rest, place, rest.page(place)), rest.start, within)
        for place, part in parts.items():
            chunks.keep(place, part)
        return ChunkedResponse(chunks, self.operation.success, headers, _MEDIA_TYPE)

    def _part(self, answer: Any) -> Part:
        return Part(self._json(tuple(answer) if isinstance(answer, Listing) else answer), None)

    def _part_of(self, answer: Listing[Any], place: Place, page: tuple[Any, ...]) -> Part:
        following, content = answer.following(place, page), self._json(page)
        while len(content) > CHUNK and len(page) > 1:
            page, following = answer.half(page)
            content = self._json(page)
        begin = b"[" if place == answer.start else b"," if page else b""
        return Part(b"".join((begin, content[1:-1], b"" if following else b"]")), following)

    def _tagged(self, version: int) -> dict[str, str]:
        return {**self._headers, "etag": f'"{version}"'}


def _length(parts: Mapping[Place, Part]) -> int:
    return sum([len(part.content) for part in parts.values()])


def _next(request: Request, after: int) -> str:
    """Return where the next page is, as a path: right for a client whatever host and scheme a proxy has."""
    scope: Mapping[str, Any] = request.scope
    root, path = scope.get("root_path", ""), scope["path"]
    asked = [(name, value) for name, value in parse_qsl(scope["query_string"].decode("latin-1")) if name != "after"]
    prefix = "" if path.startswith(f"{root}/") else root
    return f"{quote(prefix + path)}?{urlencode([*asked, ('after', after)])}"


def sendable(response: Response, scope: Scope) -> Response:
    """Return what may be sent: to a HEAD request the same answer without its body."""
    if scope["method"] != "HEAD":
        return response
    head = Response(status_code=response.status_code)
    head.raw_headers = response.raw_headers
    return head
