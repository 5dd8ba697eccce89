"""Metrics of all processes together, on a listener of their own (contract K2)."""

import logging
import multiprocessing
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from logoadmin.domain.model.metrics import Counters, size
from logoadmin.entrypoints.http_api.metrics import CONTENT_TYPE, COUNTED

log = logging.getLogger("logoadmin.server")

_spawning = multiprocessing.get_context("spawn")

_MAX_CONNECTIONS: Final = 8  # for one more, the oldest is closed
_DEADLINE: Final = 10.0  # seconds for the whole of one

# Doubles that two processes share; no file is left of them.
Memory = Any


def counters_in(memory: Memory) -> Counters:
    """Return the counters that lie in shared memory."""
    return Counters(COUNTED, memoryview(memory).cast("B").cast("d"))


class CounterSlots:
    """Where workers count: memory that outlives them, so that no counter ever goes back.

    A worker has a slot to itself. When it has ended, the next one that starts goes on counting there.

    Attributes:
        restarts: how many workers were started in the place of one that died.
    """

    def __init__(self) -> None:
        """Begin with none; there are as many as there ever were workers at the same time."""
        self._all: list[tuple[Memory, Counters]] = []
        self._free: list[Memory] = []
        self.restarts = 0

    @property
    def counters(self) -> list[Counters]:
        """What was counted in each slot, also in those that are free now."""
        return [counters for _, counters in self._all]

    def acquire(self) -> Memory:
        """Return the slot of a worker that is to start."""
        if self._free:
            return self._free.pop()
        memory = _spawning.RawArray("d", size(COUNTED))
        self._all.append((memory, counters_in(memory)))
        return memory

    def release(self, memory: Memory) -> None:
        """Take back the slot of a worker that has ended; what it was just doing, nobody does any more."""
        counters_in(memory).forget_present()
        self._free.append(memory)


class MetricsServer:
    """Answers ``GET /metrics`` from threads of its own, so that it answers whatever the others do.

    Args:
        listener: its socket, from :func:`~logoadmin.entrypoints.server.listener.listen`.
        text: makes the answer from what workers count, and how many were restarted.
    """

    def __init__(self, listener: socket.socket, text: Callable[[list[Counters], int], str]) -> None:
        self._listener = listener
        self._text = text

    @contextmanager
    def answering(self, slots: CounterSlots) -> Iterator[None]:
        """Answer for as long as this lasts."""
        server = _Server(self._listener, lambda: self._text(slots.counters, slots.restarts))
        thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    """The standard library's server, on a socket that listens already, for few clients at a time."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, listener: socket.socket, text: Callable[[], str]) -> None:
        super().__init__(listener.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        self.text = text
        self._connections: list[socket.socket] = []  # the oldest first

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.append(request)
        if len(self._connections) > _MAX_CONNECTIONS:
            _break_off(self._connections.pop(0))
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        # However slowly somebody sends and reads, it ends.
        timer = threading.Timer(_DEADLINE, _break_off, [request])
        timer.daemon = True
        timer.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            timer.cancel()
            with suppress(ValueError):  # it was broken off
                self._connections.remove(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 (as the standard library has it)
        """Log a failure; a client that went away is none."""
        log.debug("Metrics were not answered", exc_info=True)


def _break_off(request: socket.socket) -> None:
    with suppress(OSError):
        request.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _DEADLINE
    server_version = "logoadmin"
    sys_version = ""

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/metrics":
            self.send_error(404)
            return
        body = self.server.text().encode()
        self.send_response(200)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815 (as the standard library has it)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (as the standard library has it)
        log.debug("metrics: %s", format % args)
