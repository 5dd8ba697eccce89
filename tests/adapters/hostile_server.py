"""A server for tests of outgoing requests that sends any bytes, and host names that resolve to it."""

import re
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import Any

# Addresses of this machine: tests list the first as if it were public; nothing may reach the others.
PUBLIC, PRIVATE = "127.0.0.2", "127.0.0.3"

Answer = bytes | Callable[[socket.socket], object]


class HostileServer(ThreadingTCPServer):
    """Responds by path, and records the headers and bodies of all requests."""

    def __init__(self, address: str, port: int, context: ssl.SSLContext | None) -> None:
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        super().__init__((address, port), _Handler)
        self._scheme = "http"
        if context is not None:
            self._scheme = "https"
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.port: int = self.server_address[1]
        self.answers: dict[str, Answer] = {}
        self.connections = 0
        self.heads: list[str] = []
        self.bodies: list[bytes] = []

    def url(self, path: str = "/", host: str = "styles.test") -> str:
        return f"{self._scheme}://{host}:{self.port}{path}"

    def verify_request(self, *_: object) -> bool:
        self.connections += 1
        return True


class _Handler(StreamRequestHandler):
    server: HostileServer
    timeout = 5

    def handle(self) -> None:
        with suppress(OSError):
            head = ""
            while not head.endswith("\r\n\r\n"):
                line = self.rfile.readline()
                if not line:
                    return
                head += line.decode("latin-1")
            length = re.search(r"content-length: (\d+)", head.lower())
            self.server.heads.append(head)
            self.server.bodies.append(self.rfile.read(int(length[1])) if length else b"")
            answer = self.server.answers.get(head.split(" ")[1], b"HTTP/1.1 404 Not Found\r\n\r\n")
            if isinstance(answer, bytes):
                self.connection.sendall(answer)
            else:
                answer(self.connection)


@contextmanager
def serving(address: str = PUBLIC, port: int = 0, context: ssl.SSLContext | None = None) -> Iterator[HostileServer]:
    with HostileServer(address, port, context) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


class Names:
    """Resolves each name to the next of its lists of addresses, and then always to the last one."""

    def __init__(self, **names: Sequence[Sequence[str]]) -> None:
        self.names = {name.replace("_", "."): [*answers] for name, answers in names.items()}
        self.asked: list[str] = []

    def __call__(self, host: bytes, port: int, **_: Any) -> list[tuple[Any, Any, Any, Any, tuple[Any, ...]]]:
        name = host.decode()
        self.asked.append(name)
        answers = self.names.get(name)
        if answers is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(None, None, None, "", (address, port)) for address in addresses]


def response(body: bytes = b"", *heads: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *heads, "", ""]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    return response(b"", f"Location: {location}", status=status)
