"""The listening socket, opened by this program or passed by systemd (contract H1, K5)."""

import errno
import os
import socket
from typing import Final

from logoadmin.domain.kernel.errors import StartError

BACKLOG: Final = 2048  # connections waiting to be accepted
_FIRST_HANDED_OVER: Final = 3  # defined by sd_listen_fds(3)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; connections are queued from now on. Port 0 is any free port."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise StartError(f"Cannot resolve host {host!r}", "use a name or an address of this machine") from None
    # Prefer IPv4 if the name has several addresses, such as localhost; clients try both.
    family, kind, protocol, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere it would let two programs share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise _refusal(error, host, port) from None
    return listener


def socket_from_systemd() -> socket.socket | None:
    """Return the socket that systemd passes to this program, or None (sd_listen_fds(3)).

    systemd keeps it open and queues connections during a restart. The variables that announce it are removed from the
    environment, so that no child process mistakes the socket for its own.
    """
    process, count = (os.environ.pop(name, "") for name in ("LISTEN_PID", "LISTEN_FDS"))
    os.environ.pop("LISTEN_FDNAMES", None)
    if process != str(os.getpid()) or count == "0":
        return None
    if count != "1":
        raise StartError(f"systemd hands over {count} sockets: give logoadmin.socket one ListenStream= alone")
    try:
        listener = socket.socket(fileno=_FIRST_HANDED_OVER)
    except OSError:
        raise StartError("LISTEN_FDS names a socket that does not exist: have systemd start the service") from None
    is_tcp = listener.family in (socket.AF_INET, socket.AF_INET6) and listener.type == socket.SOCK_STREAM
    if not is_tcp or not listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        listener.close()
        raise StartError(
            "The socket that systemd hands over is not one that listens for TCP: "
            "logoadmin.socket takes an address and a port, such as ListenStream=127.0.0.1:8000, and Accept=no"
        )
    listener.set_inheritable(False)
    return listener


def _refusal(error: OSError, host: str, port: int) -> StartError:
    match error.errno:
        case errno.EADDRINUSE:
            text = f"Port {port} on {host} is in use"
            return StartError(text, "stop what listens there, perhaps logoadmin itself, or use another port")
        case errno.EADDRNOTAVAIL:
            return StartError(f"{host} is not an address of this machine", "use one that is, such as 127.0.0.1")
        case errno.EACCES | errno.EPERM:
            return StartError(f"Port {port} is only for privileged users", "use a port above 1023")
        case _:
            return StartError(f"Cannot listen on {host}, port {port}: {error.strerror}", "use another address or port")


def url_of(listener: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
