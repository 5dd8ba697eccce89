"""From an answer to a response (contract E1)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Final

from starlette.responses import Response, StreamingResponse

from logoadmin.domain.access import PUBLIC
from logoadmin.domain.lists import Listing
from logoadmin.entrypoints.operations import Operation

Run = Callable[[Callable[[], Any]], Awaitable[Any]]

_MEDIA_TYPE: Final = "application/json"
# A list that ends within so many bytes is answered in one piece: streaming costs more than its last pages do.
_AT_ONCE: Final = 32_768


class Renderer:
    """Renders the answers of one operation: from the records to bytes, with nothing in between."""

    def __init__(self, operation: Operation) -> None:
        """Prepare for what the operation answers."""
        self._json = operation.renderer().serializer.to_json
        self._status = operation.success
        self._headers = {"x-content-type-options": "nosniff"}
        if operation.method != "GET" or operation.command.need != PUBLIC:
            self._headers["cache-control"] = "no-store"

    def response(self, answer: object, run: Run) -> Response:
        """Return the response; a list of more than some pages is streamed, each further page fetched by ``run``."""
        if not isinstance(answer, Listing):
            return Response(self._json(answer), self._status, self._headers, _MEDIA_TYPE)
        pages = answer.pages()
        begin, ended = [self._part(next(pages, ()))], False
        while not ended and sum(map(len, begin)) < _AT_ONCE:
            part = self._part(next(pages, ()))
            ended = not part
            begin += [part] if part else []
        body = b"[" + b",".join(begin)
        if ended:
            return Response(body + b"]", self._status, self._headers, _MEDIA_TYPE)
        return StreamingResponse(self._stream(body, pages, run), self._status, self._headers, _MEDIA_TYPE)

    async def _stream(self, begin: bytes, pages: Iterator[tuple[Any, ...]], run: Run) -> AsyncIterator[bytes]:
        yield begin
        while part := await run(lambda: self._part(next(pages, ()))):
            # Storage that never waits would otherwise keep everybody else waiting until the end of the list.
            await asyncio.sleep(0)
            yield b","
            yield part
        yield b"]"

    def _part(self, page: tuple[Any, ...]) -> bytes:
        return self._json(page)[1:-1] if page else b""
