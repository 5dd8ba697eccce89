"""A service that is killed again and again: ``python -m tests.entrypoints.mortal <database URL>``.

This process has loaded everything and holds the socket, but nothing of the database. It forks one that serves, and for
each line that it reads, kills that one, as a power cut would, and forks the next. It writes its port, and then a line
each time that requests are answered. A connection that nobody has accepted yet waits for the next one.
"""

import os
import signal
import socket
import sys
from importlib import import_module

import logoadmin
from logoadmin.entrypoints.server import listen, serve


def born(database: str, listener: socket.socket) -> int:
    """Return the number of a new process, which serves until it is killed."""
    process = os.fork()
    if process == 0:
        gallery = logoadmin.connect(database)
        serve(
            lambda: logoadmin.asgi(gallery),
            listener,
            workers=1,
            log_level="error",
            listening=lambda _: os.write(1, b"ready\n"),
        )
    return process


def main(database: str) -> None:
    """Live and die until there is nobody any more who says so."""
    with logoadmin.connect(database) as gallery:
        logoadmin.asgi(gallery)
    import_module("uvicorn.loops.auto")
    listener = listen("127.0.0.1", 0)
    os.write(1, b"%d\n" % listener.getsockname()[1])
    again = True
    while again:
        process = born(database, listener)
        again = sys.stdin.readline() != ""
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
