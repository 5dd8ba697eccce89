"""The metrics of all processes, on a listener of their own (contract K2)."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Final

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from uvicorn import Server

from logoadmin.entrypoints.server.graceful import uvicorn_config

_CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


@contextmanager
def shared_metrics() -> Iterator[None]:
    """Have this process and its workers count in one private directory, which is removed at the end."""
    with TemporaryDirectory(prefix="logoadmin-metrics-") as directory:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = directory  # read by prometheus-client when it is imported
        try:
            yield
        finally:
            del os.environ["PROMETHEUS_MULTIPROC_DIR"]


@contextmanager
def metrics_served(listener: socket.socket, text: Callable[[], str]) -> Iterator[None]:
    """Answer ``GET /metrics`` from a thread of its own for as long as this lasts.

    Args:
        listener: its socket, from :func:`~logoadmin.entrypoints.server.listener.listen`.
        text: makes the response; it may block.
    """
    endpoint = Route("/metrics", lambda _request: Response(text(), headers={"content-type": _CONTENT_TYPE}))
    config = uvicorn_config(Starlette(routes=[endpoint]))
    config.timeout_graceful_shutdown = 1
    server = Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), name="metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()
