"""The socket that is served (contract H1)."""

import errno
import os
import socket
from typing import Final

from logoadmin.domain.model.errors import StartError

BACKLOG: Final = 2048  # connections that wait to be accepted


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; a connection is queued from now on.

    Args:
        host: a name or an address of this machine.
        port: 0 for any that is free.

    Raises:
        StartError: saying what is wrong with the address and what to do.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise StartError(
            f"There is no machine with the name {host!r}: give as host a name or an address of this one"
        ) from None
    # Of a name with several addresses, such as localhost, the IPv4 one: clients try both.
    family, kind, protocol, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere it lets two programs share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise StartError(_why_not(error, host, port)) from None
    return listener


def _why_not(error: OSError, host: str, port: int) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"Port {port} on {host} is taken by another program: stop that one, or give another port"
        case errno.EADDRNOTAVAIL:
            return f"{host} is not an address of this machine: give one that is as host, such as 127.0.0.1"
        case errno.EACCES | errno.EPERM:
            return f"Port {port} is only for privileged users: give a port above 1023"
        case _:
            return f"Cannot listen on {host}, port {port}: {error.strerror}; give another host or port"


def url_of(listener: socket.socket) -> str:
    """Return the URL at which it listens."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
