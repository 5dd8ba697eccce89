"""From an answer to a response (contract E1, E2, F1, F2)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Scope

from logoadmin.domain.model.command import Command
from logoadmin.domain.model.errors import NotModified
from logoadmin.domain.model.lists import Listing
from logoadmin.domain.model.versions import version_of
from logoadmin.entrypoints.http_api.operations import Operation
from logoadmin.entrypoints.http_api.requests import versions_had

Run = Callable[[Callable[[], Any]], Awaitable[Any]]

_MEDIA_TYPE: Final = "application/json"
# A list that ends within so many bytes is answered in one piece: streaming costs more than its last pages do.
_AT_ONCE: Final = 32_768


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

    def response(self, command: Command, perform: Callable[[Command], Any], request: Request, run: Run) -> Response:
        """Return the response; a list of more than some pages is streamed, each further page fetched by ``run``.

        Args:
            command: what is asked for.
            perform: does it.
            request: whose ``If-None-Match`` counts where the answer has a version.
            run: makes a call that reads.
        """
        had = versions_had(request) if self.operation.method == "GET" else frozenset()
        try:
            answer = perform(command.unless_version(*had) if had else command)
        except NotModified as error:
            return Response(status_code=304, headers=self._tagged(error.version))
        if not self.operation.is_versioned:
            return Response(self._json(answer), self.operation.success, self._headers, _MEDIA_TYPE)
        version = answer.version if isinstance(answer, Listing) else version_of(answer)
        if had is None:
            return Response(status_code=304, headers=self._tagged(version))
        if isinstance(answer, Listing):
            return self._list(answer, request, run)
        return Response(self._json(answer), self.operation.success, self._tagged(version), _MEDIA_TYPE)

    def _list(self, answer: Listing[Any], request: Request, run: Run) -> Response:
        headers = self._tagged(answer.version)
        if answer.next_after is not None:
            headers["link"] = f'<{_next(request, answer.next_after)}>; rel="next"'
        pages = answer.pages()
        parts: list[bytes] = []
        more = True
        while more and sum(map(len, parts)) < _AT_ONCE:
            part, more = self._part(*next(pages))
            parts += [part] if part else []
        content = b"[" + b",".join(parts)
        if not more:
            return Response(content + b"]", self.operation.success, headers, _MEDIA_TYPE)
        return StreamingResponse(self._stream(content, pages, run), self.operation.success, headers, _MEDIA_TYPE)

    async def _stream(
        self, begin: bytes, pages: Iterator[tuple[tuple[Any, ...], bool]], run: Run
    ) -> AsyncIterator[bytes]:
        yield begin
        more = True
        while more:
            part, more = await run(lambda: self._part(*next(pages)))
            # Storage that never waits would otherwise keep everybody else waiting until the end of the list.
            await asyncio.sleep(0)
            yield b"," + part if part else b""
        yield b"]"

    def _part(self, page: tuple[Any, ...], more: bool) -> tuple[bytes, bool]:
        return (self._json(page)[1:-1] if page else b""), more

    def _tagged(self, version: int) -> dict[str, str]:
        return {**self._headers, "etag": f'"{version}"'}


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
