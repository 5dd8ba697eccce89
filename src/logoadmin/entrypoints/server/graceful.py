"""A server that ends without a request that fails (contract H1, K5)."""

import asyncio
import logging
import os
import signal
import socket
import time
from collections.abc import Iterator
from math import inf
from types import FrameType
from typing import Any, Final

from uvicorn.config import Config
from uvicorn.server import Server

from logoadmin.entrypoints.http_api.health import STOPPING
from logoadmin.entrypoints.server.orders import GRACE, RETIREMENT, Order, Orders
from logoadmin.entrypoints.server.protocol import BoundedProtocol

log = logging.getLogger("logoadmin.server")

_TICK: Final = 0.05  # seconds between two looks at who is left


class GracefulServer(Server):
    """uvicorn's server, which ends as it is ordered to.

    Args:
        config: as uvicorn has it; its protocol is :class:`BoundedProtocol`.
        orders: what it is told.
        drain_seconds: for which it takes connections still after SIGTERM, which somebody may send to all processes.
    """

    def __init__(self, config: Config, orders: Orders, drain_seconds: float) -> None:
        super().__init__(config)
        self._orders = orders
        self._drain_seconds = drain_seconds
        self._retires_at = inf

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain and retire on SIGTERM; of SIGINT, which a terminal sends to all, the supervisor tells.

        uvicorn would also raise the signal once more at the end, and that would be the exit code.
        """
        del frame
        if sig == signal.SIGTERM:
            self._retires_at = min(self._retires_at, time.monotonic() + self._drain_seconds)

    async def on_tick(self, counter: int) -> bool:
        """Do what was ordered; return whether to take no more connections."""
        await super().on_tick(counter)
        if self._order() == Order.DRAIN and STOPPING not in self.lifespan.state:
            self._stop_being_ready()
            self._retire_connections()
        return self._order() >= Order.RETIRE

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections, and return once those that there are have ended, or their time has."""
        await self._close(sockets or [])
        self._retire_connections()
        ends = time.monotonic() + RETIREMENT
        stops = False
        while self.server_state.connections or self.server_state.tasks:
            if self._order() >= Order.STOP and not stops:
                stops = True
                self._stop_being_ready()
                ends = min(ends, time.monotonic() + GRACE)
                for connection in self._connections():
                    connection.shutdown()
            if time.monotonic() >= ends or self._order() is Order.BREAK_OFF:
                self._break_off()
                return
            await asyncio.sleep(_TICK)

    def _order(self) -> Order:
        told = Order.SERVE
        if self._retires_at < inf:
            told = Order.RETIRE if time.monotonic() >= self._retires_at else Order.DRAIN
        return max(told, self._orders.latest)

    async def _close(self, sockets: list[socket.socket]) -> None:
        """Close the sockets; a connection that waits in one that nobody has any more would be reset."""
        spares = [listener.dup() for listener in sockets] if os.name == "posix" else []
        for server in self.servers:
            server.close()
        for listener in sockets:
            listener.close()
        taken: list[socket.socket] = []
        for spare in spares:
            with spare:
                taken += _waiting(spare)
        for connection in taken:
            await asyncio.get_running_loop().connect_accepted_socket(self._connection, connection)

    def _connection(self) -> asyncio.Protocol:
        make: Any = self.config.http_protocol_class
        protocol: asyncio.Protocol = make(self.config, self.server_state, self.lifespan.state)
        return protocol

    def _stop_being_ready(self) -> None:
        self.lifespan.state[STOPPING] = True

    def _retire_connections(self) -> None:
        for connection in self._connections():
            connection.retire()

    def _connections(self) -> list[BoundedProtocol]:
        return [one for one in self.server_state.connections if isinstance(one, BoundedProtocol)]

    def _break_off(self) -> None:
        tasks = self.server_state.tasks
        if tasks:
            log.warning("Breaks off %d requests that are not finished in time", len(tasks))
        for task in tasks:
            task.cancel()


def _waiting(listener: socket.socket) -> Iterator[socket.socket]:
    """Yield the connections that nobody has taken yet."""
    listener.setblocking(False)
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:  # there is no other, or no room for it
            return
        yield connection
