"""Connections to judged addresses, with one deadline and a limit on the bytes of all of them (contract L8)."""

import socket
import ssl
from typing import Any, Final

from httpcore2 import NetworkBackend, NetworkStream

from logoadmin.adapters.httpcore_outgoing.budget import Budget
from logoadmin.adapters.httpcore_outgoing.guard import Guard
from logoadmin.domain.kernel.errors import OutgoingError

# A name may have any number of addresses, and each may leave a connection unanswered.
_MAX_TRIED: Final = 4


class GuardedBackend(NetworkBackend):
    """Connects to the addresses that the guard judged, without resolving the name again."""

    def __init__(self, guard: Guard, budget: Budget) -> None:
        self._guard = guard
        self._budget = budget

    def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> NetworkStream:
        """Return a connection to one of the addresses of a host.

        Raises:
            OutgoingError: the host must not be asked, or none of its addresses accepts a connection.
            TimeoutError: the time is over.
        """
        addresses = self._guard.addresses(host, port, self._budget)[:_MAX_TRIED]
        for number, address in enumerate(addresses):
            share = self._budget.time_left() / (len(addresses) - number)
            try:
                connected = socket.create_connection((str(address), port), share)
            except OSError:
                self._budget.time_left()
                continue
            return _Stream(connected, self._budget)
        raise OutgoingError(host, "cannot be reached")


class _Stream(NetworkStream):
    """A connection whose every step ends in time."""

    def __init__(self, connected: socket.socket, budget: Budget) -> None:
        self._socket = connected
        self._budget = budget

    def read(self, max_bytes: int, *_: Any, **__: Any) -> bytes:
        """Return bytes as soon as there are any."""
        self._socket.settimeout(self._budget.time_left())
        received = self._socket.recv(max_bytes)
        self._budget.receive(len(received))
        return received

    def write(self, buffer: bytes, *_: Any, **__: Any) -> None:
        """Send bytes."""
        self._socket.settimeout(self._budget.time_left())
        self._socket.sendall(buffer)  # only heads, which the system accepts at once

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, *_: Any, **__: Any
    ) -> NetworkStream:
        """Return the connection with TLS."""
        try:
            self._socket.settimeout(self._budget.time_left())
            # The server has to announce the end: otherwise anyone on the way could cut a body short.
            secured = ssl_context.wrap_socket(self._socket, server_hostname=server_hostname, suppress_ragged_eofs=False)
        except BaseException:
            self.close()
            raise
        return _Stream(secured, self._budget)
