"""Servers in a thread of this process: one with responses from the test, and one of the files of a folder."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple


class Request(NamedTuple):
    """A received request; the names of headers are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes


class Answer(NamedTuple):
    """A response to GET or POST."""

    body: bytes = b""
    content_type: str = "text/css; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = {}


class Answering(ThreadingHTTPServer):
    """The server.

    Attributes:
        host: its name and port.
        asked: the paths of GET and POST, whole URLs if it is a proxy, and the hosts of CONNECT, which is rejected.
    """

    daemon_threads = True
    block_on_close = False  # browsers may keep connections open indefinitely

    def __init__(self, answer: Callable[[Request], Answer]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.asked: list[str] = []
        self.host = f"127.0.0.1:{self.server_port}"

    def handle_error(self, *_: object) -> None:
        """Ignore connections that a browser aborted."""


class _Handler(BaseHTTPRequestHandler):
    server: Answering

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        content = self.rfile.read(int(headers.get("content-length", 0)))
        body, content_type, status, more = self.server.answer(Request(self.path, headers, content))
        self.send_response_only(status)
        for name, value in {"Content-Type": content_type, "Content-Length": str(len(body)), **more}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 (the standard library's name)

    def do_CONNECT(self) -> None:
        self.server.asked.append(self.path)
        self.send_error(502)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def answering(answer: Callable[[Request], Answer]) -> Iterator[Answering]:
    with Answering(answer) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def serving(folder: Path, port: int = 0) -> Iterator[int]:
    """Serve the files of a folder until the block ends; yield the port."""
    with ThreadingHTTPServer(("127.0.0.1", port), partial(_Files, directory=str(folder))) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server.server_port
        server.shutdown()
