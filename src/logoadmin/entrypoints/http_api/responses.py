"""From an answer to a response (contract E1, E2, F1, F2)."""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from logoadmin.domain.command import Command
from logoadmin.domain.errors import NotModified
from logoadmin.domain.lists import Listing
from logoadmin.domain.versions import version_of
from logoadmin.entrypoints.http_api.requests import entity_tags
from logoadmin.entrypoints.operations import Operation

Run = Callable[[Callable[[], Any]], Awaitable[Any]]

_MEDIA_TYPE: Final = "application/json"
# A list that ends within so many bytes is answered in one piece: streaming costs more than its last pages do.
_AT_ONCE: Final = 32_768
# Of the lists that everybody may read, none is remembered that is longer than this, and no more bytes of all of them.
_LARGEST: Final = 262_144
_REMEMBERED: Final = 16_777_216
_BESIDE: Final = 2048


@dataclass(frozen=True, slots=True)
class _Body:
    """A list as it was answered, good for as long as the list has this version."""

    version: int
    content: bytes
    next_after: int | None

    @property
    def size(self) -> int:
        """How many bytes of memory it takes, with the command that it answers."""
        return len(self.content) + _BESIDE


class Bodies:
    """The lists that everybody may read, as they were answered lately. Safe to use from several threads.

    They are good for as long as the list has the version that it had, which is asked for each time.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._bodies: OrderedDict[Command, _Body] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, command: Command) -> _Body | None:
        """Return what a command was answered, if it is remembered."""
        return self._bodies.get(command)

    def remember(self, command: Command, body: _Body) -> None:
        """Remember what a command was answered; what was remembered first is forgotten first."""
        if len(body.content) > _LARGEST:
            return
        with self._lock:
            known = self._bodies.pop(command, None)
            self._bodies[command] = body
            self._size += body.size - (known.size if known else 0)
            while self._size > _REMEMBERED:
                self._size -= self._bodies.popitem(last=False)[1].size

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._bodies.clear()
            self._size = 0


class Renderer:
    """Renders the answers of one operation: from the records to bytes, with nothing in between."""

    def __init__(self, operation: Operation, cache_seconds: int, bodies: Bodies) -> None:
        """Prepare for what the operation answers; public reads may be kept for some seconds."""
        self._operation = operation
        self._json = operation.renderer().serializer.to_json
        kept = f"public, max-age={cache_seconds}" if operation.is_public_read else "no-store"
        self._headers = {"x-content-type-options": "nosniff", "cache-control": kept}
        self._remembers = operation.is_public_read and operation.streams
        self._bodies = bodies

    def response(self, command: Command, perform: Callable[[Command], Any], request: Request, run: Run) -> Response:
        """Return the response; a list of more than some pages is streamed, each further page fetched by ``run``.

        Args:
            command: what is asked for.
            perform: does it.
            request: whose ``If-None-Match`` counts where the answer has a version.
            run: makes a call that reads.
        """
        had: frozenset[int] | None = frozenset()
        if self._operation.method == "GET" and "if-none-match" in request.headers:
            had = entity_tags(request.headers.getlist("if-none-match"), weak=True)
        body = self._bodies.get(command) if self._remembers else None
        known = (had or frozenset()) | ({body.version} if body else frozenset())
        try:
            # Of a list, nothing is read that is known; a record is read in any case.
            answer = perform(command.unless_version(*known) if known and self._operation.streams else command)
        except NotModified as error:
            if body is None or had is None or error.version in had:
                return Response(status_code=304, headers=self._tagged(error.version))
            return self._whole(body, request)
        if self._operation.is_versioned and (had is None or (had and _version(answer) in had)):
            return Response(status_code=304, headers=self._tagged(_version(answer)))
        if isinstance(answer, Listing):
            return self._list(answer, command, request, run)
        headers = self._tagged(version_of(answer)) if self._operation.is_versioned else self._headers
        return Response(self._json(answer), self._operation.success, headers, _MEDIA_TYPE)

    def _list(self, answer: Listing[Any], command: Command, request: Request, run: Run) -> Response:
        pages = answer.pages()
        parts: list[bytes] = []
        more = True
        while more and sum(map(len, parts)) < _AT_ONCE:
            part, more = self._part(*next(pages))
            parts += [part] if part else []
        content = b"[" + b",".join(parts)
        if not more:
            body = _Body(answer.version, content + b"]", answer.next_after)
            if self._remembers:
                self._bodies.remember(command, body)
            return self._whole(body, request)
        headers = self._listed(answer.version, answer.next_after, request)
        return StreamingResponse(self._stream(content, pages, run), self._operation.success, headers, _MEDIA_TYPE)

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

    def _whole(self, body: _Body, request: Request) -> Response:
        headers = self._listed(body.version, body.next_after, request)
        return Response(body.content, self._operation.success, headers, _MEDIA_TYPE)

    def _tagged(self, version: int) -> dict[str, str]:
        return {**self._headers, "etag": f'"{version}"'}

    def _listed(self, version: int, next_after: int | None, request: Request) -> dict[str, str]:
        headers = self._tagged(version)
        if next_after is not None:
            headers["link"] = f'<{_next(request, next_after)}>; rel="next"'
        return headers


def _version(answer: Any) -> int:
    return answer.version if isinstance(answer, Listing) else version_of(answer)


def _next(request: Request, after: int) -> str:
    """Return where the next page is, as a path: right for a client whatever host and scheme a proxy has."""
    scope: Mapping[str, Any] = request.scope
    root, path = scope.get("root_path", ""), scope["path"]
    asked = [(name, value) for name, value in parse_qsl(scope["query_string"].decode("latin-1")) if name != "after"]
    prefix = "" if path.startswith(f"{root}/") else root
    return f"{quote(prefix + path)}?{urlencode([*asked, ('after', after)])}"
