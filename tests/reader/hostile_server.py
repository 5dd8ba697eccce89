"""A server of published galleries that responds as a test wants: wrongly, slowly or endlessly."""

import hashlib
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from tests.reader.publisher import Answer, Files

_CHUNK: Final = b"x" * 65_536
_TYPES: Final = {".js": "text/javascript", ".html": "text/html", ".css": "text/css"}


class HostileServer:
    """Serves several galleries, each under its name, in steps; a POST of a number to a gallery begins that step.

    Attributes:
        address: such as ``http://127.0.0.1:1234``.
        pages: files at fixed paths, for browsers.
    """

    def __init__(self) -> None:
        self._requests: dict[str, list[list[str]]] = {}
        self.pages: dict[str, Answer] = {}
        self._steps: dict[str, Sequence[Files]] = {}
        self._now: dict[str, int] = {}
        self.stopping = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def running(self) -> Iterator["HostileServer"]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.stopping.set()
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def publish(self, gallery: str, *steps: Files) -> str:
        """Serve a gallery at its first step, and return its address."""
        self._steps[gallery] = steps
        self._requests[gallery] = [[] for _ in steps]
        self._now[gallery] = 0
        return f"{self.address}/{gallery}/"

    def begin(self, gallery: str, step: int) -> None:
        self._now[gallery] = step

    def requests(self, gallery: str) -> list[list[str]]:
        """Return the paths that were requested in each step, with a ``?`` where the request was conditional."""
        return self._requests[gallery]

    def answer(self, gallery: str, path: str, etag: str | None) -> Answer:
        """Return the response to a request, and note the request."""
        if gallery not in self._steps:
            return self.pages.get(f"{gallery}/{path}".rstrip("/"), Answer(b"", 404))
        self._requests[gallery][self._now[gallery]].append(f"{path}?" if etag else path)
        found = self._steps[gallery][self._now[gallery]].get(path, Answer(b"", 404))
        return Answer(b"", 304) if etag is not None and etag == tag_of(found) else found

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                step = int(self.rfile.read(int(self.headers["content-length"])))
                server.begin(self.path.split("/")[1], step)
                self._send(Answer(b"{}"))

            def do_GET(self) -> None:
                gallery, _, path = self.path[1:].partition("/")
                with suppress(ConnectionError):
                    self._send(server.answer(gallery, path, self.headers["if-none-match"]))

            def _send(self, answer: Answer) -> None:
                server.stopping.wait(10 if answer.slow else answer.delay)
                if answer.drips:
                    self._drip(answer)
                body = answer.body
                if answer.encoding:
                    packing = zlib.compressobj(wbits=31)
                    body = packing.compress(body) + packing.flush()
                self.send_response(answer.status)
                self.send_header("etag", tag_of(answer))
                self.send_header("content-type", _TYPES.get(self.path[self.path.rfind(".") :], "application/json"))
                self.send_header("access-control-allow-origin", "*")
                if answer.location:
                    self.send_header("location", answer.location)
                if answer.policy:
                    self.send_header("content-security-policy", answer.policy)
                if answer.encoding or answer.claims:
                    self.send_header("content-encoding", answer.encoding or answer.claims)
                if answer.endless:
                    self.send_header("connection", "close")
                else:
                    self.send_header("content-length", str(len(body)))
                self.end_headers()
                if answer.status != 304:
                    self.wfile.write(body)
                while answer.endless and not server.stopping.is_set():
                    self.wfile.write(_CHUNK)

            def _drip(self, answer: Answer) -> None:
                self.close_connection = True
                self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\nx-slow: ")
                if answer.drips == "body":
                    self.wfile.write(b"\r\n\r\n")
                while not server.stopping.wait(0.2):
                    self.wfile.write(b" ")
                raise ConnectionAbortedError

        return Handler


def tag_of(answer: Answer) -> str:
    return answer.tag or f'"{hashlib.sha256(answer.body).hexdigest()[:16]}"'
