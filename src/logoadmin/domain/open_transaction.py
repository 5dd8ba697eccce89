"""A storage whose calls are all part of one transaction that is open (contract A20, G)."""

from collections.abc import Callable
from typing import TypeVar

from logoadmin.domain.model.errors import StorageUnavailable
from logoadmin.ports.storage import Storage, UnitOfWork, WriteLock

Answer = TypeVar("Answer")


class OpenTransaction:
    """The :class:`~logoadmin.ports.storage.Storage` of one open unit of work.

    Each call has a savepoint: if it raises, its changes are undone, and the transaction can go on. Reads see the
    changes before them. It can be used until the unit of work ends, in the thread that runs it.
    """

    waits = True

    def __init__(self, storage: Storage, uow: UnitOfWork) -> None:
        """Use the unit of work of a write in a storage."""
        self.server, self.product, self.concurrent_reads = storage.server, storage.product, 1
        self._storage = storage
        self._uow = uow

    def read(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Run the work in the transaction."""
        return self.write(work)

    def snapshot(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Run the work in the transaction."""
        return self.write(work)

    def write(
        self,
        work: Callable[[UnitOfWork], Answer],
        lock: WriteLock = "records",  # noqa: ARG002 (held)
        *,
        alone: bool = False,  # noqa: ARG002 (part of another write)
    ) -> Answer:
        """Run the work in the transaction; if it raises, undo its changes alone."""
        with self._uow.savepoint():
            return work(self._uow)

    def try_write(self, work: Callable[[UnitOfWork], object], lock: WriteLock = "records") -> bool:
        """Run the work in the transaction, which holds the write lock."""
        self.write(work, lock)
        return True

    def check(self) -> None:
        """Do nothing: the transaction is open."""

    def data_version(self) -> None:
        """Return nothing: others do not see what changes here."""

    def timed_out(self, *, writing: bool) -> StorageUnavailable:
        """Return the error for a caller that stops waiting."""
        return self._storage.timed_out(writing=writing)

    def close(self) -> None:
        """Do nothing: the unit of work ends with the write that began it."""
