"""Answers in parts, so that a slow reader holds no more than a chunk of one (contract E1, K8)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

from logoadmin.domain.model.errors import Conflict
from logoadmin.domain.model.lists import Place
from logoadmin.entrypoints.http_api.bounded_cache import BoundedCache
from logoadmin.entrypoints.http_api.compression import Stream, Sums, deflated
from logoadmin.entrypoints.http_api.data_version import DataVersion

Run = Callable[..., Awaitable[Any]]

# What a reader holds of an answer. Parts of lists are no longer, unless one record is.
CHUNK: Final = 65_536  # bytes
_MAX_KEPT: Final = 33_554_432
# An answer that has begun cannot become a 503, so it has more time than one that has not.
_PART_TIMEOUT: Final = 30  # seconds


class Part(NamedTuple):
    """A part of an answer, and the place of the next one, None for the last; in gzip, what the stream's end tells."""

    content: bytes
    following: Place | None
    sums: Sums | None = None

    def in_gzip(self) -> "Part":
        """Return the part as blocks of a stream."""
        blocks, sums = deflated(self.content)
        return Part(blocks, self.following, sums)


PartCache = BoundedCache[Any]


def new_part_cache(most: int = _MAX_KEPT) -> PartCache:
    """Return an empty cache of parts: all who read the same share them, and what is no longer there is made again."""
    return BoundedCache(most)


class ChunkedBody:
    """An answer as its readers get it, each at their own pace; several may read it at once.

    Attributes:
        start: its first place.
    """

    def __init__(
        self, make: Callable[[Place], Part], start: Place, context: "RenderContext", digest: int | None = None
    ) -> None:
        """Begin at a place; what makes the part at each does so in a thread that may wait for storage, also again.

        Where the header fields tell of the content, the digest is that of the first part that they were made of.
        """
        self._make, self.start, self._context, self._digest = make, start, context, digest

    def keep(self, place: Place, part: Part) -> None:
        """Keep a part that is there already."""
        self._context.keep(self._context.version, place, part)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield chunks; between two of them no more is held than where to go on."""
        place: Place | None = self.start
        context, version, known = self._context, self._context.version, self._digest
        stream = Stream()
        while place is not None:
            position, size = 0, 1
            while position < size:
                part = await context.part(version, place, self._make)
                if known not in (None, hash(part.content)):
                    raise Conflict("a record that was too large to be held was changed while it was read")
                known, size, following = hash(part.content), len(part.content), part.following
                chunk = part.content[position : position + CHUNK]
                position += len(chunk)
                if part.sums is not None:
                    chunk = stream.framed(chunk, part.sums, at_end=position >= size, is_last=following is None)
                del part
                yield chunk
            place, known = following, None
            if place is not None and version is not None:
                version = await context.look()
            # Storage that never waits would otherwise keep everybody else waiting until the end of the list.
            await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class RenderContext:
    """What it takes to make the parts of an answer.

    Attributes:
        parts: where its parts are kept.
        data_version: finds the version of all records.
        run: makes a call that reads for it.
        of: what it is an answer to; those to the same are shared.
        version: that of all records, seen before; None where it does not matter, as for answers that nobody shares.
    """

    parts: PartCache
    data_version: DataVersion
    run: Run
    of: Hashable = field(default_factory=object)
    version: object = None

    def keep(self, version: object, place: Place, part: Part) -> Part:
        """Keep a part of this version and return it."""
        self.parts.put((self.of, version, place), part, len(part.content))
        return part

    async def look(self) -> object:
        """Return the version of all records now."""
        return await self.data_version.look(_part_deadline())

    async def part(self, version: object, place: Place, make: Callable[[Place], Part]) -> Part:
        """Return the part at a place, which is made if it is not there; of many who want it at once, one makes it."""
        found: Part | None = self.parts.get((self.of, version, place))
        if found is None:
            found = await self.run(partial(self._found_or_made, version, place, make), _part_deadline())
        return found

    def _found_or_made(self, version: object, place: Place, make: Callable[[Place], Part]) -> Part:
        return self.parts.get((self.of, version, place)) or self.keep(version, place, make(place))


def _part_deadline() -> float:
    return asyncio.get_running_loop().time() + _PART_TIMEOUT
