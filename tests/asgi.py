"""Asking an ASGI application with nothing in between, so that paths, headers and bodies may be anything."""

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Message


@dataclass(frozen=True)
class Answered:
    """What an application sent: ``complete`` says whether it sent the end of the body, too."""

    status_code: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    complete: bool
    error: BaseException | None

    def header(self, name: str) -> str | None:
        """Return the only header of a name, None where there is none."""
        found = [value.decode("latin-1") for key, value in self.headers if key == name.lower().encode()]
        assert len(found) < 2
        return found[0] if found else None

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()

    def json(self) -> Any:
        """Return what the body says."""
        return json.loads(self.body)


def ask(
    app: ASGIApp,
    method: str,
    path: str | bytes,
    *,
    headers: Iterable[tuple[str | bytes, str | bytes]] = (),
    body: bytes | Sequence[bytes] = b"",
    asgi_version: str = "2.4",
) -> Answered:
    """Ask once; a body of several parts comes in as many messages, and no header is made up."""
    raw_path = path.encode() if isinstance(path, str) else path
    target, _, query = raw_path.partition(b"?")
    parts = [body] if isinstance(body, bytes) else list(body)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": asgi_version},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote_to_bytes(target).decode("utf-8", "replace"),
        "raw_path": target,
        "query_string": query,
        "root_path": "",
        "headers": [(_bytes(name).lower(), _bytes(value)) for name, value in headers],
        "client": ("192.0.2.1", 50000),
        "server": ("127.0.0.1", 8000),
    }
    coming: list[Message] = [
        {"type": "http.request", "body": part, "more_body": number < len(parts)}
        for number, part in enumerate(parts, start=1)
    ]
    sent: list[Message] = []

    async def receive() -> Message:
        if coming:
            return coming.pop(0)
        await asyncio.Event().wait()  # a client that stays and says no more
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    async def run() -> BaseException | None:
        try:
            await asyncio.wait_for(app(scope, receive, send), 10)
        except Exception as error:
            return error
        return None

    error = asyncio.run(run())
    start = next((message for message in sent if message["type"] == "http.response.start"), None)
    bodies = [message for message in sent if message["type"] == "http.response.body"]
    return Answered(
        start["status"] if start else 0,
        tuple(start.get("headers", ())) if start else (),
        b"".join(message.get("body", b"") for message in bodies),
        bool(bodies) and not bodies[-1].get("more_body", False),
        error,
    )


def _bytes(text: str | bytes) -> bytes:
    return text.encode("latin-1") if isinstance(text, str) else text
