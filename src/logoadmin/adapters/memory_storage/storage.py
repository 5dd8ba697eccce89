"""The storage: runs one unit of work at a time on its repositories, and rolls it back with the journal."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property
from typing import TypeVar

from logoadmin.adapters.memory_storage import gallery, identity, proposals, records
from logoadmin.adapters.memory_storage.tables import Journal, Repository, Tables
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.domain.kernel.kinds import AnyArtworkKind, RecordKind
from logoadmin.domain.kernel.records import StoredRecord
from logoadmin.ports.gallery_storage import Links
from logoadmin.ports.record_storage import Records
from logoadmin.ports.storage import UnitOfWork

Answer = TypeVar("Answer")
Record = TypeVar("Record", bound=StoredRecord)


class _Identity(Repository):
    passwords = cached_property(lambda self: records.MemoryPasswords(self._tables, self._journal))
    sessions = cached_property(lambda self: identity.MemorySessions(self._tables, self._journal))
    preferences = cached_property(lambda self: identity.MemoryPreferences(self._tables, self._journal))
    keys = cached_property(lambda self: identity.MemoryServiceKeys(self._tables, self._journal))
    sign_in_attempts = cached_property(lambda self: identity.MemorySignInAttempts(self._tables, self._journal))
    factors = cached_property(lambda self: identity.MemoryFactors(self._tables, self._journal))
    recovery_codes = cached_property(lambda self: identity.MemoryRecoveryCodes(self._tables, self._journal))
    challenges = cached_property(lambda self: identity.MemoryChallenges(self._tables, self._journal))
    identities = cached_property(lambda self: identity.MemoryIdentities(self._tables, self._journal))
    events = cached_property(lambda self: identity.MemoryEvents(self._tables, self._journal))


class MemoryUnitOfWork(Repository):
    """Implements :class:`~logoadmin.ports.storage.UnitOfWork`."""

    changes = cached_property(lambda self: records.MemoryChanges(self._tables, self._journal))
    acts = cached_property(lambda self: records.MemoryActs(self._tables, self._journal))
    stored_responses = cached_property(lambda self: records.MemoryStoredResponses(self._tables, self._journal))
    secrets = cached_property(lambda self: identity.MemorySecrets(self._tables, self._journal))
    proposals = cached_property(lambda self: proposals.MemoryProposals(self._tables, self._journal))
    notices = cached_property(lambda self: proposals.MemoryNotices(self._tables, self._journal))
    member_notices = cached_property(lambda self: proposals.MemoryMemberNotices(self._tables, self._journal))
    pictures = cached_property(lambda self: gallery.MemoryPictures(self._tables, self._journal))
    withdrawals = cached_property(lambda self: gallery.MemoryWithdrawals(self._tables, self._journal))
    identity = cached_property(lambda self: _Identity(self._tables, self._journal))

    def records(self, kind: RecordKind[Record], /) -> Records[Record]:
        return records.REPOSITORIES.get(kind.kind, records.MemoryRecords)(kind, self._tables, self._journal)

    def links(self, kind: AnyArtworkKind, /) -> Links:
        return records.MemoryLinks(kind, self._tables, self._journal)

    def savepoint(self) -> AbstractContextManager[None]:
        return self._journal.undone_on_error()


class MemoryStorage:
    """A :class:`~logoadmin.ports.storage.Storage` of dictionaries: one unit of work at a time, undone by a journal."""

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
        with self._one_at_a_time:
            return work(MemoryUnitOfWork(self._tables, Journal()))

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
            journal = Journal()
            self._writes += 1
            self._is_writing = True
            try:
                with journal.undone_on_error():
                    return work(MemoryUnitOfWork(self._tables, journal))
            finally:
                self._is_writing = False

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
