"""The storage: runs one unit of work at a time, and rolls it back with the journal."""

import threading
from collections.abc import Callable
from typing import TypeVar

from logoadmin.adapters.memory_storage.tables import Journal, Tables
from logoadmin.adapters.memory_storage.unit_of_work import MemoryUnitOfWork
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.domain.kernel.records import StoredRecord
from logoadmin.ports.storage import UnitOfWork

Answer = TypeVar("Answer")
Record = TypeVar("Record", bound=StoredRecord)


class MemoryStorage:
    """The :class:`~logoadmin.ports.storage.Storage` of dictionaries: one unit of work at a time, undone by journal."""

    server = "memory"
    waits = False
    embedded = False
    concurrent_reads = 1
    product = "Memory"

    def __init__(self) -> None:
        self._tables = Tables()
        self._one_at_a_time = threading.RLock()
        self._writes = 0
        self._is_writing = False

    def read(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Run the work while nothing changes."""
        with self._one_at_a_time:
            return work(MemoryUnitOfWork(self._tables, Journal()))

    snapshot = read

    def write(
        self,
        work: Callable[[UnitOfWork], Answer],
        *,
        alone: bool = False,  # noqa: ARG002 (every write is)
    ) -> Answer:
        """Run the work; undo what it did if it raises.

        Raises:
            StorageUnavailable: this thread is in the middle of another write, which would not undo this one.
        """
        with self._one_at_a_time:
            if self._is_writing:
                raise StorageUnavailable(self.server, Cause.TOO_BUSY)
            journal = Journal()
            self._writes += 1
            self._is_writing = True
            try:
                with journal.undone_on_error():
                    return work(MemoryUnitOfWork(self._tables, journal))
            finally:
                self._is_writing = False

    def try_write(self, work: Callable[[UnitOfWork], object]) -> bool:
        """Run the work if nobody else is at work."""
        if not self._one_at_a_time.acquire(blocking=False):
            return False
        try:
            self.write(work)
        finally:
            self._one_at_a_time.release()
        return True

    def is_empty(self) -> bool:
        """Return whether nothing was stored yet."""
        return self._writes == 0

    def prepare(self, first: Callable[[UnitOfWork], Answer | None]) -> Answer | None:
        """Run the work: there are no tables to create."""
        return self.write(first)

    def check(self) -> None:
        """Do nothing: memory is always ready, and empty at first."""

    def data_version(self) -> int:
        """Return how many writes there were, those that were undone among them."""
        return self._writes

    def erase_removed(self) -> bool:
        """Do nothing: there are no files."""
        return True

    def is_failing(self) -> bool:
        """Return False: memory does not fail."""
        return False

    def timed_out(self, *, writing: bool) -> StorageUnavailable:  # noqa: ARG002 (what a database tells by)
        """Return an error that never occurs: memory never waits."""
        return StorageUnavailable(self.server, Cause.TOO_BUSY)

    def close(self) -> None:
        """Keep the data: others may still use this storage."""
