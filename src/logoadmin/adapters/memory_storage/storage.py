"""The storage: runs one unit of work at a time on its repositories, and rolls it back with the journal."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from logoadmin.adapters.memory_storage import gallery, identity, proposals, records
from logoadmin.adapters.memory_storage.tables import Tables, undone_on_error
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.domain.kernel.kinds import AnyArtworkKind, RecordKind
from logoadmin.domain.kernel.records import StoredRecord
from logoadmin.ports.gallery_storage import Links
from logoadmin.ports.record_storage import Records
from logoadmin.ports.storage import UnitOfWork

Answer = TypeVar("Answer")
Record = TypeVar("Record", bound=StoredRecord)


class _Identity:
    def __init__(self, tables: Tables) -> None:
        self.passwords = identity.MemoryPasswords(tables)
        self.sessions = identity.MemorySessions(tables)
        self.preferences = identity.MemoryPreferences(tables)
        self.keys = identity.MemoryServiceKeys(tables)
        self.counts = identity.MemoryCounts(tables)
        self.factors = identity.MemoryFactors(tables)
        self.recovery_codes = identity.MemoryRecoveryCodes(tables)
        self.challenges = identity.MemoryChallenges(tables)
        self.identities = identity.MemoryIdentities(tables)
        self.events = identity.MemoryEvents(tables)


class MemoryUnitOfWork:
    """Implements :class:`~logoadmin.ports.storage.UnitOfWork`; one serves all transactions."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.changes = records.MemoryChanges(tables)
        self.acts = records.MemoryActs(tables)
        self.stored_responses = records.MemoryStoredResponses(tables)
        self.secrets = identity.MemorySecrets(tables)
        self.proposals = proposals.MemoryProposals(tables)
        self.notices = proposals.MemoryNotices(tables)
        self.member_notices = proposals.MemoryMemberNotices(tables)
        self.pictures = gallery.MemoryPictures(tables)
        self.withdrawals = gallery.MemoryWithdrawals(tables)
        self.identity = _Identity(tables)

    def records(self, kind: RecordKind[Record], /) -> Records[Record]:
        return records.REPOSITORIES.get(kind.kind, records.MemoryRecords)(kind, self._tables)

    def links(self, kind: AnyArtworkKind, /) -> Links:
        return records.MemoryLinks(kind, self._tables)

    def savepoint(self) -> AbstractContextManager[None]:
        return undone_on_error(self._tables.journal)


class MemoryStorage:
    """A :class:`~logoadmin.ports.storage.Storage` of dictionaries: one unit of work at a time, undone by a journal."""

    server = "memory"
    waits = False
    embedded = False
    concurrent_reads = 1
    product = "Memory"

    def __init__(self) -> None:
        self._tables = Tables()
        self._uow = MemoryUnitOfWork(self._tables)
        self._one_at_a_time = threading.RLock()
        self._writes = 0
        self._is_writing = False

    def read(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        with self._one_at_a_time:
            return work(self._uow)

    snapshot = read

    def write(
        self,
        work: Callable[[UnitOfWork], Answer],
        *,
        alone: bool = False,  # noqa: ARG002 (every write is)
    ) -> Answer:
        """A write in the middle of another one of this thread, which would not undo it, is refused."""
        with self._one_at_a_time:
            if self._is_writing:
                raise StorageUnavailable(self.server, Cause.TOO_BUSY)
            self._writes += 1
            self._is_writing = True
            try:
                with self._uow.savepoint():
                    return work(self._uow)
            finally:
                self._is_writing = False
                self._tables.journal.clear()

    def try_write(self, work: Callable[[UnitOfWork], object]) -> bool:
        if not self._one_at_a_time.acquire(blocking=False):
            return False
        try:
            self.write(work)
        finally:
            self._one_at_a_time.release()
        return True

    def is_empty(self) -> bool:
        return self._writes == 0

    def prepare(self, first: Callable[[UnitOfWork], Answer | None]) -> Answer | None:
        return self.write(first)

    def check(self) -> None:
        pass  # memory is always ready

    def data_version(self) -> int:
        return self._writes

    def erase_removed(self) -> bool:
        return True  # there are no files

    def is_failing(self) -> bool:
        return False

    def timed_out(self, *, writing: bool) -> StorageUnavailable:  # noqa: ARG002 (for databases)
        return StorageUnavailable(self.server, Cause.TOO_BUSY)

    def close(self) -> None:
        pass  # others may still use this storage
