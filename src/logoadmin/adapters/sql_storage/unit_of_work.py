"""The unit of work on a database: its repositories, each made when it is first used, and its savepoints."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from logoadmin.adapters.sql_storage import gallery, history, identity, proposals, records, sign_in
from logoadmin.adapters.sql_storage.failures import DriverErrors, Failure, error_of
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.kernel.kinds import AnyArtworkKind, RecordKind
from logoadmin.domain.kernel.records import StoredRecord
from logoadmin.ports.gallery_storage import Links
from logoadmin.ports.record_storage import Records

Record = TypeVar("Record", bound=StoredRecord)


@dataclass(eq=False)
class _Room:
    """Repositories in one transaction."""

    _transaction: Transaction


class _Identity(_Room):
    passwords = cached_property(lambda room: identity.SqlPasswords(room._transaction))
    sessions = cached_property(lambda room: identity.SqlSessions(room._transaction))
    preferences = cached_property(lambda room: identity.SqlPreferences(room._transaction))
    keys = cached_property(lambda room: identity.SqlServiceKeys(room._transaction))
    counts = cached_property(lambda room: identity.SqlCounts(room._transaction))
    factors = cached_property(lambda room: sign_in.SqlFactors(room._transaction))
    recovery_codes = cached_property(lambda room: sign_in.SqlRecoveryCodes(room._transaction))
    challenges = cached_property(lambda room: sign_in.SqlChallenges(room._transaction))
    identities = cached_property(lambda room: sign_in.SqlIdentities(room._transaction))
    events = cached_property(lambda room: sign_in.SqlEvents(room._transaction))


@dataclass(eq=False)
class SqlUnitOfWork(_Room):
    """Implements :class:`~logoadmin.ports.storage.UnitOfWork`."""

    savepoint: Callable[[], AbstractContextManager[None]] = nullcontext

    def __post_init__(self) -> None:
        # Every write uses them; a cached property would take a lock.
        self.changes = history.SqlChanges(self._transaction)
        self.acts = history.SqlActs(self._transaction)

    stored_responses = cached_property(lambda room: history.SqlStoredResponses(room._transaction))
    secrets = cached_property(lambda room: identity.SqlSecrets(room._transaction))
    proposals = cached_property(lambda room: proposals.SqlProposals(room._transaction))
    notices = cached_property(lambda room: proposals.SqlNotices(room._transaction))
    member_notices = cached_property(lambda room: proposals.SqlMemberNotices(room._transaction))
    pictures = cached_property(lambda room: gallery.SqlPictures(room._transaction))
    withdrawals = cached_property(lambda room: gallery.SqlWithdrawals(room._transaction))
    identity = cached_property(lambda room: _Identity(room._transaction))

    def records(self, kind: RecordKind[Record], /) -> Records[Record]:
        repository, statements = records.RECORDS[kind.kind]
        return repository(self._transaction, statements)

    def links(self, kind: AnyArtworkKind, /) -> Links:
        return gallery.SqlLinks(self._transaction, gallery.LINKS[kind.kind])


@dataclass(slots=True, eq=False)
class Savepoints:
    """The savepoint scopes of one transaction. After a failure of the database in one, nothing more is done in it."""

    _server: str
    _driver_errors: DriverErrors
    _transaction: Transaction
    failure: Failure | None = None

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Undo the statements of the scope if it raises.

        Raises StorageUnavailable or TooLargeToStore if the database failed, in this scope or before.
        """
        if self.failure is not None:
            raise error_of(self._server, self.failure.cause)
        try:
            savepoint = self._transaction.savepoint()
            try:
                yield
            except BaseException as error:
                if self.failure is None and self._driver_errors.failure(error) is None:
                    self._transaction.roll_back(savepoint)
                raise
            self._transaction.release(savepoint)
        except Exception as error:
            self.failure = self.failure or self._driver_errors.failure(error)
            if self.failure is None:
                raise
            raise error_of(self._server, self.failure.cause) from None
