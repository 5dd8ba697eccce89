"""What everybody may read, as it was answered lately (contract E1, F1, F2)."""

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from logoadmin.entrypoints.http_api.parts import ChunkedResponse, Chunks
from logoadmin.entrypoints.http_api.requests import versions_had

Fields = tuple[tuple[bytes, bytes], ...]

# Nothing is remembered that is longer than this, and no more bytes of everything.
_LARGEST: Final = 262_144
_MOST: Final = 16_777_216
# What an answer takes in memory beside its body.
_BESIDE: Final = 2048
# Requests that are longer than those of honest clients are not remembered: anybody could fill the memory with them.
_LONGEST_REQUEST: Final = 512
# What only an answer with a body has to say.
_OF_THE_BODY: Final = {b"content-length", b"content-type", b"link"}


@dataclass(frozen=True, slots=True)
class _Answer:
    """A body, or the chunks of one, with the header fields that were sent with it, and the version that it has."""

    version: int
    body: bytes
    fields: Fields
    chunks: Chunks | None

    @property
    def size(self) -> int:
        """How many bytes of memory it takes."""
        return len(self.body) + _BESIDE


class ResponseCache:
    """Answers to requests for what everybody may read, good for as long as no record has changed.

    Whether one has is asked with each request, so nobody is answered what is old: any change counts, so that no public
    operation can be forgotten. Answers that are no record have no version, and are made anew each time. Safe to use
    from several threads.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._answers: OrderedDict[object, _Answer] = OrderedDict()
        self._version = 0
        self._size = 0
        self._lock = threading.Lock()

    def knows(self, request: Request) -> bool:
        """Tell whether a request may be remembered, so that it is worth while to ask for the version."""
        return key_of(request) in self._answers

    def response(self, request: Request, version: int) -> Response | None:
        """Return the response to a request, if it is remembered of this version."""
        key = key_of(request)
        with self._lock:
            self._turn_to(version)
            answer = self._answers.get(key)
            if answer is None:
                return None
            self._answers.move_to_end(key)
        had = versions_had(request)
        if had is None or answer.version in had:
            return _Ready(304, b"", [field for field in answer.fields if field[0] not in _OF_THE_BODY])
        if answer.chunks is not None:
            return _ReadyChunks(answer.chunks, [*answer.fields])
        return _Ready(200, answer.body, [*answer.fields])

    def remember(self, request: Request, response: Response, version: int) -> None:
        """Remember how a request was answered after this version had been found; what nobody asks for goes first."""
        length = len(request.scope["path"]) + len(request.scope["query_string"])
        etag = response.headers.get("etag")
        if response.status_code != 200 or etag is None or length > _LONGEST_REQUEST:
            return
        # The parts of an answer in chunks are kept by themselves.
        chunks = response.chunks if isinstance(response, ChunkedResponse) else None
        body = b"" if chunks else bytes(response.body)
        answer = _Answer(int(etag.strip('"')), body, (*response.raw_headers,), chunks)
        if answer.size > _LARGEST:
            return
        key = key_of(request)
        with self._lock:
            self._turn_to(version)
            known = self._answers.pop(key, None)
            self._answers[key] = answer
            self._size += answer.size - (known.size if known else 0)
            while self._size > _MOST:
                self._size -= self._answers.popitem(last=False)[1].size

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._forget()

    def _turn_to(self, version: int) -> None:
        """Forget what is of another version, also of a later one: that may come back with other records."""
        if version != self._version:
            self._forget()
            self._version = version

    def _forget(self) -> None:
        self._answers.clear()
        self._size = 0


class _Ready(Response):
    """A response whose header fields lie ready."""

    def __init__(self, status: int, body: bytes, fields: list[tuple[bytes, bytes]]) -> None:
        self.status_code = status
        self.body = body
        self.raw_headers = fields
        self.background = None


class _ReadyChunks(StreamingResponse):
    """The same, sent in chunks."""

    def __init__(self, chunks: Chunks, fields: list[tuple[bytes, bytes]]) -> None:
        self.status_code = 200
        self.body_iterator = chunks
        self.raw_headers = fields
        self.background = None


def key_of(request: Request) -> object:
    """Return what makes two requests for the same thing; the prefix is part of the links in the answer."""
    scope = request.scope
    return scope.get("root_path", ""), scope["path"], scope["query_string"]
