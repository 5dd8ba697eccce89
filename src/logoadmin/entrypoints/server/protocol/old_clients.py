"""Answers to those who speak HTTP/1.0, and so know no chunks (RFC 9112 §6.1)."""

from typing import TYPE_CHECKING

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent


class UntilClose:
    """Sends an answer without a length as it is: it ends with the connection, which uvicorn never keeps for them.

    uvicorn would send it in chunks. It leaves that to whoever has settled how long the answer is, so each part is
    declared to be all that is expected.
    """

    def __init__(self, cycle: RequestResponseCycle) -> None:
        """Answer one request."""
        self._cycle = cycle
        self._has_length = True

    async def __call__(self, message: "ASGISendEvent") -> None:
        """Send the head of the answer, or a part of its body."""
        if message["type"] == "http.response.start":
            self._has_length = any(name.lower() == b"content-length" for name, _ in message.get("headers", ()))
            if not self._has_length:
                self._cycle.chunked_encoding = False
        elif message["type"] == "http.response.body" and not self._has_length:
            self._cycle.expected_content_length = len(message.get("body", b""))
        await self._cycle.send(message)
