"""A service that is killed often: ``python -m tests.entrypoints.crash_harness <database URL>``.

This process has loaded everything and holds the socket, but no database connection. It forks a server, and for
each line that it reads, kills that server, as a power cut would, and forks the next. This process writes its address,
and then a line each time that requests are answered. A connection that nobody has accepted yet waits for the next one.
"""

import os
import signal
import socket
import sys
from functools import partial
from importlib import import_module

import logoadmin
from logoadmin.entrypoints.server import listen, serve
from logoadmin.settings import settings_of


def fork_service(database: str, listener: socket.socket) -> int:
    """Return the id of a new process, which serves until it is killed."""
    process = os.fork()
    if process == 0:
        gallery = logoadmin.connect(database, access="open")

        def listening(_: str) -> None:
            os.write(1, b"ready\n")

        application = partial(logoadmin.asgi, gallery, published=False)
        serve(application, listener, settings_of(log_level="error"), listening=listening)
    return process


def main(database: str) -> None:
    """Restart the service on each line until standard input closes."""
    with logoadmin.connect(database, access="open") as gallery:
        logoadmin.asgi(gallery)
    # Otherwise each service would import it, which takes longer than some of them live.
    import_module("uvicorn.loops.uvloop")
    listener = listen("127.0.0.1", 0)
    os.write(1, b"http://127.0.0.1:%d\n" % listener.getsockname()[1])
    again = True
    while again:
        process = fork_service(database, listener)
        again = sys.stdin.readline() != ""
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
