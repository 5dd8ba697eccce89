"""A host on another port of loopback, which is the same site as the console, whose pictures ask for a password."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"

    def do_GET(self) -> None:  # the library names it
        """Ask for a password; a browser may show the realm in a window of its own."""
        self.server.asked.append(self.path)
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="Your session has expired"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []


@contextmanager
def password_host() -> Iterator[tuple[str, list[str]]]:
    """Serve, in a thread of this process; yield the address, and the paths that were requested."""
    with _Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", server.asked
        server.shutdown()
