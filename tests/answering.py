"""A server in a thread of this process, with responses from the test, which records the requested paths."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Answer(NamedTuple):
    """A response to GET."""

    body: bytes = b""
    content_type: str = "text/css; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = {}


class Answering(ThreadingHTTPServer):
    """The server.

    Attributes:
        host: its name and port.
        asked: the paths of GET, whole URLs if it is a proxy, and the hosts of CONNECT, which is rejected.
    """

    daemon_threads = True
    block_on_close = False  # browsers may keep connections open indefinitely

    def __init__(self, answer: Callable[[str], Answer]) -> None:
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
        body, content_type, status, headers = self.server.answer(self.path)
        self.send_response(status)
        for name, value in {"Content-Type": content_type, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_CONNECT(self) -> None:
        self.server.asked.append(self.path)
        self.send_error(502)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def answering(answer: Callable[[str], Answer]) -> Iterator[Answering]:
    """Serve until the block ends."""
    with Answering(answer) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server
        server.shutdown()
