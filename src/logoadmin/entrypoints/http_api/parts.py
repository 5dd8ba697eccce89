"""Answers in parts, so that a slow reader holds no more than a chunk of one (contract E1, K8)."""

import asyncio
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from starlette.responses import StreamingResponse

from logoadmin.domain.model.errors import Conflict
from logoadmin.domain.model.lists import Place
from logoadmin.entrypoints.http_api.dispatch import Dispatch

Run = Callable[..., Awaitable[Any]]

# What a reader holds of an answer. Parts of lists are no longer, unless one record is.
CHUNK: Final = 65_536  # bytes
_MOST: Final = 33_554_432
_BESIDE: Final = 2_048  # what a part takes beside its content
# An answer that has begun cannot become a 503, so it has more time than one that has not.
_PATIENCE: Final = 30  # seconds


class Part(NamedTuple):
    """A part of an answer, as it is sent, and the place of the next one, None for the last."""

    content: bytes
    following: Place | None

    @property
    def size(self) -> int:
        """How many bytes of memory it takes."""
        return len(self.content) + _BESIDE


class Parts:
    """The parts that were made or taken lately, no more bytes of them than a bound. Safe to use from several threads.

    All who read the same share them. What is no longer there is made again.
    """

    def __init__(self, most: int = _MOST) -> None:
        """Keep up to so many bytes, or else the last part alone."""
        self._most = most
        self._parts: OrderedDict[Hashable, Part] = OrderedDict()
        self._size = 0
        self._version: int | None = None
        self._epoch = object()
        self._lock = threading.Lock()

    def epoch(self, version: int | None) -> object:
        """Return what stays the same while the version does: one that was left may come back with other records."""
        if version is None:
            return None
        with self._lock:
            if version != self._version:
                self._version, self._epoch = version, object()
            return self._epoch

    def get(self, key: Hashable) -> Part | None:
        """Return a part, if it is there."""
        with self._lock:
            if key in self._parts:
                self._parts.move_to_end(key)
            return self._parts.get(key)

    def put(self, key: Hashable, part: Part) -> Part:
        """Keep a part and return it; those that nobody took for longest go."""
        with self._lock:
            known = self._parts.pop(key, None)
            self._parts[key] = part
            self._size += part.size - (known.size if known else 0)
            while self._size > self._most and len(self._parts) > 1:
                self._size -= self._parts.popitem(last=False)[1].size
        return part


class Chunks:
    """An answer as its readers get it, each at their own pace; several may read it at once.

    Attributes:
        start: its first place.
    """

    def __init__(self, make: Callable[[Place], Part], start: Place, within: "Within") -> None:
        """Begin at a place; what makes the part at each does so in a thread that may wait for storage, also again."""
        self._make, self.start, self._within = make, start, within

    def keep(self, place: Place, part: Part) -> None:
        """Keep a part that is there already."""
        self._within.parts.put(self._within.key(self._within.version, place), part)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield chunks; between two of them no more is held than where to go on."""
        place: Place | None = self.start
        within, version = self._within, self._within.version
        while place is not None:
            key = within.key(version, place)
            position, size, known = 0, 1, 0
            while position < size:
                content, following = await self._part(key, place)
                if position and hash(content) != known:
                    raise Conflict("a record that was too large to be held was changed while it was read")
                known, size = hash(content), len(content)
                chunk = content[position : position + CHUNK]
                del content
                yield chunk
                position += len(chunk)
            place = following
            if place is not None and version is not None:
                version = await within.calls.version(within.calls.deadline(_PATIENCE))
            # Storage that never waits would otherwise keep everybody else waiting until the end of the list.
            await asyncio.sleep(0)

    async def _part(self, key: Hashable, place: Place) -> Part:
        parts, within = self._within.parts, self._within

        def found_or_made() -> Part:
            # Of many who want it at once, one makes it.
            return parts.get(key) or parts.put(key, self._make(place))

        found = parts.get(key)
        if found is None:
            found = await within.run(found_or_made, within.calls.deadline(_PATIENCE))
        return found


class ChunkedResponse(StreamingResponse):
    """A response that is sent chunk by chunk.

    Attributes:
        chunks: what is sent; it may be sent again.
    """

    def __init__(self, chunks: Chunks, status: int, headers: Mapping[str, str], media_type: str) -> None:
        """Respond with an answer."""
        super().__init__(chunks, status, headers, media_type)
        self.chunks = chunks


@dataclass(frozen=True, slots=True)
class Within:
    """What an answer is made in.

    Attributes:
        parts: where its parts are kept.
        calls: find the version, and know the time.
        run: makes a call of it.
        of: what it is an answer to; those to the same are shared.
        version: that of all records, found before; None where it does not matter, as for answers that nobody shares.
    """

    parts: Parts
    calls: Dispatch
    run: Run
    of: Hashable
    version: int | None = None

    def key(self, version: int | None, place: Place) -> Hashable:
        """Return under what the part at a place is kept, when this is the version of all records."""
        return self.of, self.parts.epoch(version), place
