"""The server of one process, which stops without a request that fails (contract H1, K5)."""

import asyncio
import signal
import socket
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from math import inf
from types import FrameType
from typing import Any, Final, Literal

from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.server import Server

from logoadmin.entrypoints.http_api.health import STOPPING
from logoadmin.entrypoints.server.listener import BACKLOG
from logoadmin.entrypoints.server.protocol import BoundedProtocol

GRACE: Final = 10  # seconds in which requests in flight are finished when the service stops
RETIREMENT: Final = 120  # the same for a worker that is replaced: nobody waits for it
# Has a worker retire while others serve; a system without it has no SIGHUP either, which asks for that.
RETIRE: Final[signal.Signals] = getattr(signal, "SIGUSR1", signal.SIGTERM)


@dataclass(frozen=True)
class Options:
    """How requests are served, the same way in all processes.

    Attributes:
        log_level: ``debug``, ``info`` (with each request), ``warning`` or ``error``; log_format: ``text`` or ``json``.
        trusted_proxies: whose word is taken on who the client is; others could write anything into the header.
        root_path: the prefix that a proxy takes off; in the scope it is back at the front of the path, as ASGI has it.
        drain_seconds: for which connections are still taken after SIGTERM, while ``/readyz`` responds with 503.
        in_terminal: whether SIGHUP means that a terminal is closed, and stops the service.
    """

    log_level: str = "warning"
    log_format: str = "text"
    trusted_proxies: Collection[IPv4Network | IPv6Network] = ()
    root_path: str = ""
    drain_seconds: float = 0
    in_terminal: bool = False


def uvicorn_config(app: ASGIApp, root_path: str = "", *, lifespan: Literal["on", "off"] = "off") -> Config:
    """Return uvicorn's configuration, without what this program does itself.

    With a lifespan, the application may do something in the background while the server runs.
    """
    return Config(
        app,
        interface="asgi3",
        http=BoundedProtocol,
        ws="none",
        lifespan=lifespan,
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        root_path=root_path,
        backlog=BACKLOG,
        timeout_keep_alive=5,
    )


class GracefulServer(Server):
    """uvicorn's server, which drains before it stops, and accepts all clients that have connected.

    SIGTERM drains and stops, SIGINT stops at once, and a second SIGINT cancels what is in flight.

    Args:
        config: that of :func:`uvicorn_config`.
        drain_seconds: see :class:`Options`.
        listening: is called once connections are accepted.
        is_worker: whether a supervisor relays SIGINT, which a terminal sends to all processes: twice is then no more
            than once.

    Attributes:
        ticked_at: when the event loop last had its turn.
    """

    def __init__(
        self,
        config: Config,
        drain_seconds: float,
        listening: Callable[[], object] = lambda: None,
        *,
        is_worker: bool = False,
    ) -> None:
        super().__init__(config)
        self._drain_seconds = drain_seconds
        self._listening = listening
        self._is_worker = is_worker
        self._exits_at = inf
        self._is_retiring = False
        self.ticked_at = time.monotonic()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note when to stop; this replaces uvicorn's method, which makes the signal the exit code."""
        del frame
        now = time.monotonic()
        self.force_exit = self.force_exit or (sig == signal.SIGINT and self._exits_at <= now and not self._is_worker)
        self._is_retiring = sig == RETIRE != signal.SIGTERM
        drain_seconds = 0 if sig == signal.SIGINT or self._is_retiring else self._drain_seconds
        self._exits_at = min(self._exits_at, now + drain_seconds)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if self._is_worker:
            signal.signal(RETIRE, self.handle_exit)
        await super().startup(sockets)
        self._listening()

    async def on_tick(self, counter: int) -> bool:
        await super().on_tick(counter)
        self.ticked_at = time.monotonic()
        if self._exits_at < inf:
            # From now on each response is the last on its connection.
            self.lifespan.state[STOPPING] = not self._is_retiring
        self.should_exit = self.ticked_at >= self._exits_at
        return self.should_exit

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._accept_the_last(sockets or [])
        self.config.timeout_graceful_shutdown = RETIREMENT if self._is_retiring else GRACE
        await super().shutdown(sockets)

    async def _accept_the_last(self, sockets: list[socket.socket]) -> None:
        """Close the sockets; a connection that waits in one that no other process has would be reset."""
        spares = [listener.dup() for listener in sockets]
        for server in self.servers:
            server.close()
        for listener in sockets:
            listener.close()
        for spare in spares:
            with spare, suppress(OSError):  # there is no other, or no room for it
                spare.setblocking(False)
                while True:
                    connection, _ = spare.accept()
                    await asyncio.get_running_loop().connect_accepted_socket(self._protocol, connection)

    def _protocol(self) -> asyncio.Protocol:
        make: Any = self.config.http_protocol_class
        protocol: asyncio.Protocol = make(self.config, self.server_state, self.lifespan.state)
        return protocol
