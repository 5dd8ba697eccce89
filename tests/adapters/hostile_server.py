"""A server for tests of outgoing requests that sends any bytes, and host names that resolve to it."""

import re
import socket
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any

# Addresses of this machine: tests list the first as if it were public; nothing may reach the others.
PUBLIC, PRIVATE = "127.0.0.2", "127.0.0.3"

Answer = bytes | Callable[[socket.socket], object]


class HostileServer:
    """Responds by path, and records the headers and bodies of all requests."""

    def __init__(self, listener: socket.socket, context: ssl.SSLContext | None) -> None:
        self._listener = listener
        self._context = context
        self.port: int = listener.getsockname()[1]
        self.answers: dict[str, Answer] = {}
        self.connections = 0
        self.heads: list[str] = []
        self.bodies: list[bytes] = []
        self._threads = [Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def url(self, path: str = "/", host: str = "styles.test") -> str:
        return f"{'http' if self._context is None else 'https'}://{host}:{self.port}{path}"

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)
            assert not thread.is_alive()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._threads.append(Thread(target=self._serve, args=[connection], daemon=True))
            self._threads[-1].start()

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(5)
        with connection, suppress(OSError):
            if self._context is not None:
                connection = self._context.wrap_socket(connection, server_side=True)
            with connection:
                head = b""
                while b"\r\n\r\n" not in head:
                    received = connection.recv(65_536)
                    if not received:
                        return
                    head += received
                head, _, body = head.partition(b"\r\n\r\n")
                length = re.search(rb"content-length: (\d+)", head.lower())
                while length is not None and len(body) < int(length[1]):
                    body += connection.recv(65_536)
                self.heads.append(head.decode("latin-1") + "\r\n\r\n")
                self.bodies.append(body)
                answer = self.answers.get(self.heads[-1].split(" ")[1], b"HTTP/1.1 404 Not Found\r\n\r\n")
                if isinstance(answer, bytes):
                    connection.sendall(answer)
                else:
                    answer(connection)
                with suppress(OSError, ValueError):  # only tests that need it close TLS cleanly
                    connection.shutdown(socket.SHUT_WR)


@contextmanager
def serving(address: str = PUBLIC, port: int = 0, context: ssl.SSLContext | None = None) -> Iterator[HostileServer]:
    """Run a server."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    server = HostileServer(socket.create_server((address, port), family=family), context)
    try:
        yield server
    finally:
        server.close()


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
    """Return the bytes of a response with a body of a known length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *heads, "", ""]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    """Return the bytes of a redirect."""
    return response(b"", f"Location: {location}", status=status)
