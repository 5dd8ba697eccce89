"""Answers in parts, so that a slow reader holds no more than a chunk of one (contract E1, K8)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

from logoadmin.domain.model.errors import Conflict
from logoadmin.domain.model.lists import Place
from logoadmin.entrypoints.http_api.bounded_cache import BoundedCache
from logoadmin.entrypoints.http_api.data_version import DataVersion

Run = Callable[..., Awaitable[Any]]

# What a reader holds of an answer. Parts of lists are no longer, unless one record is.
CHUNK: Final = 65_536  # bytes
_MOST: Final = 33_554_432
# An answer that has begun cannot become a 503, so it has more time than one that has not.
_TIME: Final = 30  # seconds


class Part(NamedTuple):
    """A part of an answer, as it is sent, and the place of the next one, None for the last."""

    content: bytes
    following: Place | None


Parts = BoundedCache[Any]


def no_parts(most: int = _MOST) -> Parts:
    """Return a place for parts: all who read the same share them, and what is no longer there is made again."""
    return BoundedCache(most)


class Chunks:
    """An answer as its readers get it, each at their own pace; several may read it at once.

    Attributes:
        start: its first place.
    """

    def __init__(
        self, make: Callable[[Place], Part], start: Place, within: "Within", digest: int | None = None
    ) -> None:
        """Begin at a place; what makes the part at each does so in a thread that may wait for storage, also again.

        Where the header fields tell of the content, the digest is that of the first part that they were made of.
        """
        self._make, self.start, self._within, self._digest = make, start, within, digest

    def keep(self, place: Place, part: Part) -> None:
        """Keep a part that is there already."""
        self._within.keep(self._within.version, place, part)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield chunks; between two of them no more is held than where to go on."""
        place: Place | None = self.start
        within, version, known = self._within, self._within.version, self._digest
        while place is not None:
            position, size = 0, 1
            while position < size:
                content, following = await within.part(version, place, self._make)
                if known not in (None, hash(content)):
                    raise Conflict("a record that was too large to be held was changed while it was read")
                known, size = hash(content), len(content)
                chunk = content[position : position + CHUNK]
                del content
                yield chunk
                position += len(chunk)
            place, known = following, None
            if place is not None and version is not None:
                version = await within.look()
            # Storage that never waits would otherwise keep everybody else waiting until the end of the list.
            await asyncio.sleep(0)


@dataclass(frozen=True, slots=True)
class Within:
    """What an answer is made in.

    Attributes:
        parts: where its parts are kept.
        data_version: finds the version of all records.
        run: makes a call that reads for it.
        of: what it is an answer to; those to the same are shared.
        version: that of all records, seen before; None where it does not matter, as for answers that nobody shares.
    """

    parts: Parts
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
        return await self.data_version.look(_soon())

    async def part(self, version: object, place: Place, make: Callable[[Place], Part]) -> Part:
        """Return the part at a place, which is made if it is not there; of many who want it at once, one makes it."""
        found: Part | None = self.parts.get((self.of, version, place))
        if found is None:
            found = await self.run(partial(self._found_or_made, version, place, make), _soon())
        return found

    def _found_or_made(self, version: object, place: Place, make: Callable[[Place], Part]) -> Part:
        return self.parts.get((self.of, version, place)) or self.keep(version, place, make(place))


def _soon() -> float:
    return asyncio.get_running_loop().time() + _TIME
