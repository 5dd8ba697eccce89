"""Everything that is not the service: the host of the pictures, and whatever else a browser asks for.

A browser context uses it as its proxy: no request leaves unseen, each is recorded as it was sent, and
requests to the service itself go their usual way, with the cache of the browser.
"""

import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.certificates import make_certificate

PICTURES: Final = "i.example"
# Requests that Chromium makes on its own, for any page.
_OF_THE_BROWSER: Final = ("content-autofill.googleapis.com:443",)
_PICTURE: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 80" width="160" height="80">'
    '<rect x="8" y="8" width="144" height="64" rx="32" fill="hsl({hue} 62% 46%)"/>'
    '<circle cx="44" cy="40" r="18" fill="hsl({hue} 62% 82%)"/>'
    '<path d="M76 30h56M76 50h36" stroke="#fff" stroke-width="8" stroke-linecap="round"/></svg>'
)


@dataclass
class ExternalHosts:
    """What browsers asked of others than the service.

    Attributes:
        proxy: its address, for a context of the browser.
        pictures: the headers of each request for a picture, their names in small letters.
        strays: the hosts and addresses that nobody should have asked for.
    """

    proxy: str
    pictures: list[dict[str, str]] = field(default_factory=list)
    strays: list[str] = field(default_factory=list)


@contextmanager
def external_hosts() -> Iterator[ExternalHosts]:
    """Serve, in a thread of this process."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.found = ExternalHosts(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server.found
        server.shutdown()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # the browser decides when to close its connections
    found: ExternalHosts

    def handle_error(self, *_: Any) -> None:
        """Ignore connections that a browser closed; report anything else."""
        if not isinstance(error := sys.exception(), OSError):
            self.found.strays.append(repr(error))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    _is_tunnel = False

    def parse_request(self) -> bool:
        """Note who else is asked, or asked otherwise than for a picture."""
        is_whole = super().parse_request()
        ours = {"CONNECT": f"{PICTURES}:443", "GET": "/" if self._is_tunnel else f"http://{PICTURES}/"}
        if is_whole and not self.path.startswith(ours.get(self.command, "nobody")):
            if self.path not in _OF_THE_BROWSER:
                self.server.found.strays.append(f"{self.command} {self.path}")
            self.send_error(404)
            return False
        return is_whole

    def do_CONNECT(self) -> None:  # the library names it
        """Be the host of the pictures from here on, with a certificate that nobody signed."""
        self.send_response(200)
        self.end_headers()
        self.connection = self.request = _tls().wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile("rb")
        self.wfile = self.connection.makefile("wb", buffering=0)
        self.close_connection = False
        self._is_tunnel = True

    def do_GET(self) -> None:  # the library names it
        """Respond with a picture whose colour depends on its address."""
        self.server.found.pictures.append({name.lower(): value for name, value in self.headers.items()})
        body = _PICTURE.format(hue=sum(map(ord, self.path)) * 47 % 360).encode()
        self.send_response(200)
        self.send_header("Content-Type", "image/svg+xml")
        self.send_header("Cache-Control", "max-age=3600")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def finish(self) -> None:
        """Close the TLS wrapper of the connection as well, even if the browser has gone."""
        try:
            super().finish()
        finally:
            self.connection.close()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _ClosedSocket(ssl.SSLSocket):
    """Python leaves the socket of a client open that has gone before the handshake, and warns of it."""

    def __del__(self) -> None:
        self.close()


@lru_cache(1)
def _tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sslsocket_class = _ClosedSocket
    with TemporaryDirectory() as directory:
        certificate = make_certificate(Path(directory), PICTURES)
        context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    return context
