"""A service that is killed often: ``python -m tests.entrypoints.crash_harness <database URL> [before|after]``.

This process has loaded everything and holds the socket, but no database connection. It forks a server, and for
each line that it reads, kills that server, as a power cut would, and forks the next. Given a moment, the server
exits before or after its third commit. This process writes its address, and then a line each time that requests
are answered. A connection that nobody has accepted yet waits for the next one.
"""

import os
import select
import signal
import socket
import sys
from functools import partial
from importlib import import_module
from itertools import count

import logoadmin
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.entrypoints.server import listen, serve
from logoadmin.settings import settings_of


def schedule_power_cut(moment: str) -> None:
    """End this process as a power cut would, before or after its third commit."""
    commit, commits = Transaction.commit, count(1)

    def last(transaction: Transaction) -> None:
        is_last = next(commits) == 3
        if not is_last or moment == "after":
            commit(transaction)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)

    setattr(Transaction, "commit", last)  # noqa: B010 (mypy would rightly refuse the assignment)


def fork_service(database: str, listener: socket.socket, moment: str) -> int:
    """Return the id of a new process, which serves until it is killed."""
    process = os.fork()
    if process == 0:
        gallery = logoadmin.connect(database, access="open")

        def listening(_: str) -> None:
            if moment:
                schedule_power_cut(moment)
            os.write(1, b"ready\n")

        # Its commits would be counted among those of the requests.
        application = partial(logoadmin.asgi, gallery, published=False)
        serve(application, listener, settings_of(log_level="error"), listening=listening)
    return process


def has_died(process: int) -> bool:
    """Wait until a process has died or a line arrives; return whether it died."""
    while not select.select([sys.stdin], [], [], 0.002)[0]:
        if os.waitpid(process, os.WNOHANG) != (0, 0):
            return True
    return False


def main(database: str, moment: str = "") -> None:
    """Restart the service on each line until standard input closes."""
    with logoadmin.connect(database, access="open") as gallery:
        logoadmin.asgi(gallery)
    # Otherwise each service would import it, which takes longer than some of them live.
    import_module("uvicorn.loops.uvloop")
    listener = listen("127.0.0.1", 0)
    os.write(1, b"http://127.0.0.1:%d\n" % listener.getsockname()[1])
    again = True
    while again:
        process = fork_service(database, listener, moment)
        if has_died(process):
            continue
        again = sys.stdin.readline() != ""
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
