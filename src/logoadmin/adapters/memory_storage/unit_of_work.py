"""The unit of work on the stored data: its repositories, each made when it is first used."""

from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any, TypeVar

from logoadmin.adapters.memory_storage.changes.member_notices import MemoryMemberNotices
from logoadmin.adapters.memory_storage.changes.notices import MemoryNotices
from logoadmin.adapters.memory_storage.changes.proposals import MemoryProposals
from logoadmin.adapters.memory_storage.gallery.pictures import MemoryPictures
from logoadmin.adapters.memory_storage.identity.sessions import (
    MemoryPreferences,
    MemorySecrets,
    MemoryServiceKeys,
    MemorySessions,
    MemorySignInAttempts,
)
from logoadmin.adapters.memory_storage.identity.signing_in import (
    MemoryChallenges,
    MemoryEvents,
    MemoryFactors,
    MemoryIdentities,
    MemoryRecoveryCodes,
)
from logoadmin.adapters.memory_storage.kernel.acts import MemoryActs
from logoadmin.adapters.memory_storage.kernel.changes import MemoryChanges, MemoryStoredResponses
from logoadmin.adapters.memory_storage.kernel.records import (
    REPOSITORIES,
    MemoryLinks,
    MemoryPasswords,
    MemoryRecords,
)
from logoadmin.adapters.memory_storage.publication.publication import MemoryWithdrawals
from logoadmin.adapters.memory_storage.tables import Repository
from logoadmin.domain.kernel.kinds import AnyArtworkKind, RecordKind
from logoadmin.domain.kernel.records import StoredRecord
from logoadmin.ports.record_storage import Records

Record = TypeVar("Record", bound=StoredRecord)


class _Gallery(Repository):
    pictures = cached_property(lambda room: MemoryPictures(room._tables, room._journal))

    def links(self, kind: AnyArtworkKind, /) -> MemoryLinks:
        return MemoryLinks(kind, self._tables, self._journal)


class _Identity(Repository):
    passwords = cached_property(lambda room: MemoryPasswords(room._tables, room._journal))
    sessions = cached_property(lambda room: MemorySessions(room._tables, room._journal))
    preferences = cached_property(lambda room: MemoryPreferences(room._tables, room._journal))
    keys = cached_property(lambda room: MemoryServiceKeys(room._tables, room._journal))
    sign_in_attempts = cached_property(lambda room: MemorySignInAttempts(room._tables, room._journal))
    factors = cached_property(lambda room: MemoryFactors(room._tables, room._journal))
    recovery_codes = cached_property(lambda room: MemoryRecoveryCodes(room._tables, room._journal))
    challenges = cached_property(lambda room: MemoryChallenges(room._tables, room._journal))
    identities = cached_property(lambda room: MemoryIdentities(room._tables, room._journal))
    events = cached_property(lambda room: MemoryEvents(room._tables, room._journal))


class _Publication(Repository):
    withdrawals = cached_property(lambda room: MemoryWithdrawals(room._tables, room._journal))


class MemoryUnitOfWork(Repository):
    """Implements :class:`~logoadmin.ports.storage.UnitOfWork`."""

    changes = cached_property(lambda room: MemoryChanges(room._tables, room._journal))
    acts = cached_property(lambda room: MemoryActs(room._tables, room._journal))
    stored_responses = cached_property(lambda room: MemoryStoredResponses(room._tables, room._journal))
    secrets = cached_property(lambda room: MemorySecrets(room._tables, room._journal))
    proposals = cached_property(lambda room: MemoryProposals(room._tables, room._journal))
    notices = cached_property(lambda room: MemoryNotices(room._tables, room._journal))
    member_notices = cached_property(lambda room: MemoryMemberNotices(room._tables, room._journal))
    gallery = cached_property(lambda room: _Gallery(room._tables, room._journal))
    identity = cached_property(lambda room: _Identity(room._tables, room._journal))
    publication = cached_property(lambda room: _Publication(room._tables, room._journal))

    def records(self, kind: RecordKind[Record, Any], /) -> Records[Record]:
        """Return the records of a kind."""
        return REPOSITORIES.get(kind.kind, MemoryRecords)(kind, self._tables, self._journal)

    def savepoint(self) -> AbstractContextManager[None]:
        """Begin a scope whose changes alone are undone if it raises."""
        return self._journal.undone_on_error()
