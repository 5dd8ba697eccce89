"""Storage for a gallery that is bound to one transaction, or that has ended (contract H6)."""

from collections.abc import Callable
from threading import get_ident
from typing import Final, TypeVar

from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.ports.storage import Storage, UnitOfWork

Answer = TypeVar("Answer")

_OTHER_THREAD: Final = "a gallery that is bound to an atomic block can be used in the thread of the block only"


class _Substitute:
    """A :class:`~logoadmin.ports.storage.Storage` in place of another one, all of whose work is done by ``write``."""

    waits = True

    def __init__(self, storage: Storage) -> None:
        self.server, self.product, self.concurrent_reads = storage.server, storage.product, 1
        self._storage = storage

    def write(self, work: Callable[[UnitOfWork], Answer], *, alone: bool = False) -> Answer:
        raise NotImplementedError

    def read(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Run the work as a write."""
        return self.write(work)

    snapshot = read

    def try_write(self, work: Callable[[UnitOfWork], object]) -> bool:
        """Run the work, for which nothing has to be waited."""
        self.write(work)
        return True

    def check(self) -> None:
        """Require that the storage can be used."""
        self.write(lambda _: None)

    def data_version(self) -> None:
        """Return nothing: others do not see what changes here."""
        self.check()

    def erase_removed(self) -> bool:
        """Do nothing: the transaction may still be undone."""
        self.check()
        return True

    def is_failing(self) -> bool:
        """Return whether every call of the other storage fails at present."""
        return self._storage.is_failing()

    def timed_out(self, *, writing: bool) -> StorageUnavailable:
        """Return the error for a caller that stops waiting."""
        return self._storage.timed_out(writing=writing)

    def close(self) -> None:
        """Do nothing: the other storage is closed by its own gallery."""


class OpenTransaction(_Substitute):
    """The storage of one open unit of work.

    Each call has a savepoint: if it raises, its changes are undone, and the transaction can go on. Reads see the
    changes before them. It can be used until the unit of work ends, in the thread that runs it.
    """

    def __init__(self, storage: Storage, uow: UnitOfWork) -> None:
        super().__init__(storage)
        self._uow = uow
        self._thread = get_ident()

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


class ClosedStorage(_Substitute):
    """The storage of a gallery that has ended: every call raises RuntimeError."""

    def __init__(self, storage: Storage, reason: str) -> None:
        super().__init__(storage)
        self._reason = reason

    def write(self, work: Callable[[UnitOfWork], Answer], *, alone: bool = False) -> Answer:  # noqa: ARG002 (it refuses all)
        """Refuse."""
        raise RuntimeError(self._reason)

    def is_failing(self) -> bool:
        """Return True: it is closed."""
        return True
