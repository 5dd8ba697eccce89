"""Reads request bodies within a memory limit for the whole process (contract A21, H4)."""

import asyncio
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from logoadmin.entrypoints.http_api.conditions import header_values
from logoadmin.entrypoints.http_api.errors import HttpError, too_busy
from logoadmin.entrypoints.http_api.operation import SMALL_BODY

# The memory limit of all unfinished large bodies. Anyone can start one: service keys are only checked later.
_MAX_HELD: Final = 64 * 1024 * 1024


class BodyReader:
    """Reads bodies.

    At the limit, the oldest large body is refused, not the newest one: clients that never finish their bodies would
    otherwise block everyone else.
    """

    def __init__(self) -> None:
        self._large: dict[asyncio.Timeout, int] = {}  # sizes, in the order in which they became large

    async def read(self, scope: Scope, receive: Receive, most: int) -> bytes:
        """Return the body of a request.

        Raises:
            HttpError: it is too large, or had to make room for others.
            ClientDisconnect: the client went away before the end of the body.
        """
        place = asyncio.timeout(None)
        try:
            async with place:
                return await self._read(scope, receive, most, place)
        except TimeoutError:
            raise too_busy("large bodies") from None
        finally:
            self._large.pop(place, None)

    async def _read(self, scope: Scope, receive: Receive, most: int, place: asyncio.Timeout) -> bytes:
        too_large = HttpError(413, f"Body should have at most {most} bytes")
        length = next(iter(header_values(scope, b"content-length")), "0")
        if not length.isdecimal() or int(length[:20]) > most:
            raise too_large
        body = bytearray()  # one buffer, however small the chunks
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            chunk, more = message.get("body", b""), message.get("more_body", False)
            if len(body) + len(chunk) > most:
                raise too_large
            body += chunk
            if more and len(body) > SMALL_BODY:
                self._hold(place, len(body))
        return bytes(body)

    def _hold(self, place: asyncio.Timeout, size: int) -> None:
        self._large[place] = size
        while sum(self._large.values()) > _MAX_HELD:
            first = next(iter(self._large))
            del self._large[first]
            first.reschedule(0)
        if place not in self._large:
            raise TimeoutError
