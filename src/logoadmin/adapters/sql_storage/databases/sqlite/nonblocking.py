"""Reading a file of SQLite from an event loop: at once or not at all."""

import math
import sqlite3
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Final

from logoadmin.ports.storage import WouldBlock

# A statement that takes longer is ended, and made again where it may take as long as it takes. It is looked at after
# so many steps, some tens of microseconds; what finds a record by its key takes a hundred of them.
_STATEMENT_WAIT: Final = 0.005
_STEPS: Final = 1_000


class NonblockingConnection(sqlite3.Connection):
    """A connection that waits for no lock and for no long statement."""

    ends = math.inf
    is_valid = True

    def invalidate(self) -> None:
        """Use it no longer, as connections of a pool have it."""
        self.is_valid = False

    def is_late(self) -> bool:
        """Tell whether what it does takes too long."""
        return time.monotonic() > self.ends


class NonblockingReader:
    """Reads what takes microseconds, by a connection that never writes. Safe to use from several threads.

    A file that was replaced has a new connection, and so has a process that was forked.
    """

    def __init__(
        self,
        file: Callable[[], Hashable],
        connect: Callable[[], NonblockingConnection],
    ) -> None:
        """Connect when somebody asks.

        Args:
            file: tells which file it is at the moment, and for which process, None where there is none.
            connect: returns a new connection to it.
        """
        self._file = file
        self._connect = connect
        self._lock = threading.Lock()
        self._connection: NonblockingConnection | None = None
        self._cursor: sqlite3.Cursor | None = None
        self._connected_to: Hashable = None
        self._connections = 0

    def data_version(self) -> int | None:
        """Return a number that rises with the commits of all others; None where that would take a wait, on any error.

        The number is of the connection: those of the next one follow on it.
        """
        if not self._lock.acquire(blocking=False):
            return None
        try:
            # No generator of a context manager: this is on the way of every cached answer.
            if not self._is_connected() or self._cursor is None:
                return None
            # All rows: a statement with one left would go on seeing the moment that it sees now.
            ((number,),) = self._cursor.execute("PRAGMA data_version").fetchall()
        except sqlite3.Error:
            self._drop()
            return None
        finally:
            self._lock.release()
        return self._connections << 32 | int(number)

    @contextmanager
    def connection(self) -> Iterator[NonblockingConnection]:
        """Lend the connection for a few short statements.

        Raises:
            WouldBlock: somebody else has it, it is not there yet, or the file cannot be opened.
        """
        if not self._lock.acquire(blocking=False):
            raise WouldBlock
        try:
            connection = self._lent()
            try:
                yield connection
            finally:
                # Or else what looks for commits, whose steps are added up, would be ended for coming later.
                connection.ends = math.inf
        finally:
            self._lock.release()

    def _lent(self) -> NonblockingConnection:
        try:
            is_connected = self._is_connected()
        except sqlite3.Error:
            raise WouldBlock from None
        if not is_connected or self._connection is None:
            raise WouldBlock
        self._connection.ends = time.monotonic() + _STATEMENT_WAIT
        return self._connection

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            self._drop()

    def _is_connected(self) -> bool:
        """Tell whether there is a connection to the file of this moment, and make one for the next time."""
        file = self._file()
        if self._connection is not None and self._connection.is_valid and file == self._connected_to:
            return True
        self._drop()
        if file is not None:
            self._connection, self._connected_to = self._connect(), file
            self._connection.set_progress_handler(self._connection.is_late, _STEPS)
            self._cursor = self._connection.cursor()
            self._connections += 1
        return False

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = self._cursor = None
