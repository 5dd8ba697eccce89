"""Applications for the tests, each served by a separate process: ``python -m tests.entrypoints.served``."""

import os
import sys
from asyncio import sleep
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Receive, Scope, Send

import logoadmin
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.kernel.errors import SettingsError, StorageUnavailable
from logoadmin.entrypoints.http_api.request import CountedRequests
from logoadmin.entrypoints.server import listen, serve
from logoadmin.settings import settings_of
from tests.gallery import FrozenClock, gallery_on


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Respond with the process id; some paths do something else before or instead."""
    if scope["type"] == "lifespan":
        await _live(receive, send)
        return
    match scope["path"].removeprefix(scope["root_path"]):
        case "/origin":
            client, _ = scope["client"]
            await Response(f"{os.getpid()} {client} {scope['scheme']} {scope['path']}")(scope, receive, send)
            return
        case "/held":
            Path("held").touch()
            while Path("held").exists():
                await sleep(0.01)
        case "/broken":
            await StreamingResponse(_breaking())(scope, receive, send)
            return
    await Response(str(os.getpid()))(scope, receive, send)


async def _live(receive: Receive, send: Send) -> None:
    for event in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{event}.complete"})


async def _breaking() -> AsyncIterator[bytes]:
    yield b"[1"
    raise StorageUnavailable("db.example:3306")


def make(kind: str) -> ASGIApp:
    match kind:
        case "wrong settings":
            raise SettingsError("The database is of another version; run logoadmin init")
        case "gallery":
            return gallery()
        case "behind a proxy":
            return without_prefix(gallery())
        case "goes away":  # the database, once the first worker has started
            if Path("away").exists():
                raise StorageUnavailable("db.example:3306")
            if not Path("started").exists():
                Path("started").touch()
                Path("away").touch()
    return CountedRequests(app)


def gallery() -> ASGIApp:
    """Return the service of a gallery in memory, with an administrator."""
    return logoadmin.asgi(gallery_on(MemoryStorage(), FrozenClock()))


def without_prefix(inner: ASGIApp) -> ASGIApp:
    """Strip ``/gallery`` from all paths, as a proxy does."""

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        await inner({**scope, "path": path.removeprefix("/gallery")} if path else scope, receive, send)

    return outer


if __name__ == "__main__":
    kind, workers, log_level, host, trusted_proxies, root_path, drain_seconds = sys.argv[1:]
    serve(
        partial(make, kind),
        listen(host, 0),
        settings_of(
            log_level=log_level,
            trusted_proxies=trusted_proxies.split(),
            root_path=root_path,
            drain_seconds=int(drain_seconds),
            workers=int(workers),
        ),
        listening=partial(print, flush=True),
    )
