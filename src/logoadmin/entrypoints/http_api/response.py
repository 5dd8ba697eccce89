"""The response object, which can be sent in slices (contract E1, F1)."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from starlette.types import Receive, Scope, Send

from logoadmin.entrypoints.http_api.bodies import TemporaryFile

Fields = list[tuple[bytes, bytes]]

# The server buffers one slice for a slow reader, not the whole response.
SLICE: Final = 65_536  # bytes
# Header fields that a 304 response omits.
_OF_THE_BODY: Final = {b"content-encoding", b"content-length", b"content-type", b"link"}


@dataclass(frozen=True, slots=True)
class Response:
    """A response with its header fields and its body, which is in memory or, for an export, in a file.

    It can be sent more than once, unless its body is in a file.
    """

    status: int
    fields: Fields
    body: bytes = b""
    file: TemporaryFile | None = None

    @property
    def etag(self) -> bytes:
        """The entity tag of a response that has a version."""
        return dict(self.fields)[b"etag"]

    def unmodified(self, tag: bytes) -> "Response":
        """Return the 304 response for a client whose cached copy has this entity tag."""
        return Response(304, unmodified(self.fields, tag))

    async def __call__(self, scope: Scope, _: Receive, send: Send) -> None:
        """Send it in response to a request."""
        await self.send(send, (), is_head=scope["method"] == "HEAD")

    async def send(self, send: Send, fields: Sequence[tuple[bytes, bytes]], *, is_head: bool) -> int:
        """Send it with additional fields, without its body for HEAD; return the number of body bytes sent."""
        start = {"type": "http.response.start", "status": self.status, "headers": [*self.fields, *fields]}
        if self.file is None:
            body = b"" if is_head else self.body
            await send(start)
            await _send_body(send, body)
            return len(body)
        with closing(self.file) as file:
            await send(start)
            for chunk in () if is_head else file.chunks(SLICE):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await _send_body(send, b"")
            return 0 if is_head else file.size


async def _send_body(send: Send, body: bytes) -> None:
    rest = memoryview(body)  # avoids copies
    while len(rest) > SLICE:
        await send({"type": "http.response.body", "body": rest[:SLICE], "more_body": True})
        rest = rest[SLICE:]
    await send({"type": "http.response.body", "body": bytes(rest), "more_body": False})


def unmodified(fields: Fields, tag: bytes) -> Fields:
    """Return the header fields of a 304 response with the tag of the client's copy."""
    remaining = [field for field in fields if field[0] not in _OF_THE_BODY]
    return [(name, tag if name == b"etag" else value) for name, value in remaining]


def fields_of(headers: Mapping[str, str], body: bytes | None = None) -> Fields:
    """Return header fields as bytes; with a body, even an empty one, also its length."""
    fields = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    return fields if body is None else [*fields, (b"content-length", b"%d" % len(body))]
