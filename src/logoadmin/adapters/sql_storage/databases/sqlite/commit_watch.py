"""Detects commits of any process to an SQLite file, without waiting."""

import sqlite3
import threading
from collections.abc import Callable, Hashable


class CommitWatch:
    """Reads the data version of a file with a connection that never writes. Safe to use from several threads.

    A file that was replaced gets a new connection, and so does a forked process.
    """

    def __init__(self, file: Callable[[], Hashable], connect: Callable[[], sqlite3.Connection]) -> None:
        """Connect at the first use.

        Args:
            file: identifies the current file and process, None if the file does not exist.
            connect: returns a new connection to it.
        """
        self._file = file
        self._connect = connect
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._cursor: sqlite3.Cursor | None = None
        self._connected_to: Hashable = None
        self._connections = 0

    def data_version(self) -> int | None:
        """Return a number that rises with the commits of all others; None if that would take a wait, or on any error.

        SQLite counts for each connection; the numbers of the next connection follow on those of the last.
        """
        if not self._lock.acquire(blocking=False):
            return None
        try:
            # No generator of a context manager: every cached response takes this path.
            if not self._is_connected() or self._cursor is None:
                return None
            # All rows: a statement with rows left would continue to see the same moment.
            ((number,),) = self._cursor.execute("PRAGMA data_version").fetchall()
        except sqlite3.Error:
            self._drop()
            return None
        finally:
            self._lock.release()
        return self._connections << 32 | int(number)

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._drop()

    def _is_connected(self) -> bool:
        """Return whether there is a connection to the current file; connect for the next time if there is none."""
        file = self._file()
        if self._connection is not None and file == self._connected_to:
            return True
        self._drop()
        if file is not None:
            self._connection, self._connected_to = self._connect(), file
            self._cursor = self._connection.cursor()
            self._connections += 1
        return False

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = self._cursor = None
