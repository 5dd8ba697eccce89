"""Storage for a gallery that is bound to one transaction, or that has ended (contract H6)."""

from collections.abc import Callable
from threading import get_ident
from typing import Final, NoReturn, TypeVar

from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.ports.storage import Storage, UnitOfWork

Answer = TypeVar("Answer")

_OTHER_THREAD: Final = "a gallery that is bound to an atomic block can be used in the thread of the block only"


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
        self._thread = get_ident()

    def read(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Run the work in the transaction."""
        return self.write(work)

    def snapshot(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Run the work in the transaction."""
        return self.write(work)

    def write(
        self,
        work: Callable[[UnitOfWork], Answer],
        *,
        alone: bool = False,  # noqa: ARG002 (part of another write)
    ) -> Answer:
        """Run the work in the transaction; if it raises, undo its changes alone."""
        if get_ident() != self._thread:
            raise RuntimeError(_OTHER_THREAD)
        with self._uow.savepoint():
            return work(self._uow)

    def try_write(self, work: Callable[[UnitOfWork], object]) -> bool:
        """Run the work in the transaction, which holds the write lock."""
        self.write(work)
        return True

    def check(self) -> None:
        """Do nothing: the transaction is open."""

    def data_version(self) -> None:
        """Return nothing: others do not see what changes here."""

    def erase_removed(self) -> bool:
        """Do nothing: the transaction may still be undone."""
        return True

    def is_failing(self) -> bool:
        """Return whether every call fails at present."""
        return self._storage.is_failing()

    def timed_out(self, *, writing: bool) -> StorageUnavailable:
        """Return the error for a caller that stops waiting."""
        return self._storage.timed_out(writing=writing)

    def close(self) -> None:
        """Do nothing: the unit of work ends with the write that began it."""


class ClosedStorage:
    """The :class:`~logoadmin.ports.storage.Storage` of a gallery that has ended: every call raises RuntimeError."""

    def __init__(self, storage: Storage, reason: str) -> None:
        """Replace a storage."""
        self.server, self.product, self.waits = storage.server, storage.product, storage.waits
        self.concurrent_reads = storage.concurrent_reads
        self._reason = reason

    def read(self, work: Callable[[UnitOfWork], Answer]) -> Answer:  # noqa: ARG002 (it refuses all work)
        """Refuse."""
        self._refuse()

    snapshot = read

    def write(
        self,
        work: Callable[[UnitOfWork], Answer],  # noqa: ARG002 (the same)
        *,
        alone: bool = False,  # noqa: ARG002 (the same)
    ) -> Answer:
        """Refuse."""
        self._refuse()

    def try_write(self, work: Callable[[UnitOfWork], object]) -> bool:  # noqa: ARG002 (the same)
        """Refuse."""
        self._refuse()

    def check(self) -> None:
        """Refuse."""
        self._refuse()

    def data_version(self) -> None:
        """Refuse."""
        self._refuse()

    def erase_removed(self) -> bool:
        """Refuse."""
        self._refuse()

    def is_failing(self) -> bool:
        """Return True: it is closed."""
        return True

    def timed_out(self, *, writing: bool) -> StorageUnavailable:  # noqa: ARG002 (nothing is waited for)
        """Return the error for a caller that stops waiting."""
        return StorageUnavailable(self.server)

    def close(self) -> None:
        """Do nothing: it is closed."""

    def _refuse(self) -> NoReturn:
        raise RuntimeError(self._reason)
