"""Applications for the tests, each served by a process of its own: ``python -m tests.entrypoints.served``.

:func:`service` runs ``logoadmin serve`` itself.
"""

import gc
import os
import subprocess
import sys
from asyncio import sleep
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import IO

from starlette.applications import Starlette
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

import logoadmin
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.model.errors import SettingsError, StorageUnavailable
from logoadmin.entrypoints.http_api.limits import ClientLimits
from logoadmin.entrypoints.server import Options, listen, serve
from tests.gallery import FrozenClock, gallery_on


@dataclass(frozen=True)
class Service:
    """A service in a process of its own, and the address that it printed."""

    process: "subprocess.Popen[str]"
    address: str

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.address.rpartition(":")[2])


@contextmanager
def service(directory: Path, *options: str, log: IO[str] | int | None = None, **environment: str) -> Iterator[Service]:
    """Run ``logoadmin serve`` in a directory, on a free port unless the options name one; terminate it at the end."""
    command = [sys.executable, "-m", "logoadmin", "serve", "--port", "0", *options]
    process = subprocess.Popen(
        command, cwd=directory, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=log, text=True
    )
    assert process.stdout is not None
    try:
        yield Service(process, next(line.split()[-1] for line in process.stdout if "listens on" in line))
    finally:
        process.terminate()
        process.communicate(timeout=60)


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the number of the process; some paths do something else before, or instead."""
    match scope["path"].removeprefix(scope["root_path"]):
        case "/origin":
            client, _ = scope["client"]
            await Response(f"{os.getpid()} {client} {scope['scheme']} {scope['path']}")(scope, receive, send)
            return
        case "/frozen":
            await Response(str(gc.get_freeze_count()))(scope, receive, send)
            return
        case "/held":
            Path("held").touch()
            while Path("held").exists():
                await sleep(0.01)
        case "/read":
            while (await receive()).get("more_body"):
                pass
        case "/broken":
            await StreamingResponse(_breaking())(scope, receive, send)
            return
    await Response(str(os.getpid()))(scope, receive, send)


async def _breaking() -> AsyncIterator[bytes]:
    yield b"[1"
    raise StorageUnavailable("db.example:3306")


def make(kind: str) -> ASGIApp:
    """Return the application, or fail to."""
    match kind:
        case "wrong settings":
            raise SettingsError("The database is of another version; run logoadmin init")
        case "crash":
            os._exit(7)
        case "gallery":
            return gallery()
        case "mounted":
            return Starlette(routes=[Mount("/gallery", gallery())])
        case "behind a proxy":
            return without_prefix(gallery())
        case "once":  # the first worker makes the file, and the second fails
            Path("started").touch(exist_ok=False)
        case "goes wrong" if Path("wrong").exists():
            raise ValueError
        case "goes away":  # the database, once the first worker has started
            if Path("away").exists():
                raise StorageUnavailable("db.example:3306")
            if not Path("started").exists():
                Path("started").touch()
                Path("away").touch()
    return ClientLimits(app)


def gallery() -> ASGIApp:
    """Return the service of a gallery in memory, with an administrator."""
    return logoadmin.asgi(gallery_on(MemoryStorage(), FrozenClock()))


def without_prefix(inner: ASGIApp) -> ASGIApp:
    """Take ``/gallery`` off all paths and tell nobody, as a proxy does."""

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        await inner({**scope, "path": path.removeprefix("/gallery")} if path else scope, receive, send)

    return outer


if __name__ == "__main__":
    kind, workers, log_level, host, trusted_proxies, root_path, drain_seconds = sys.argv[1:]
    serve(
        partial(make, kind),
        listen(host, 0),
        Options(
            log_level=log_level,
            trusted_proxies=[ip_network(proxy) for proxy in trusted_proxies.split()],
            root_path=root_path,
            drain_seconds=float(drain_seconds),
        ),
        workers=int(workers),
        listening=partial(print, flush=True),
    )
