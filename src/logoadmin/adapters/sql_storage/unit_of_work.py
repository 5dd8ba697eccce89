"""The unit of work on a database: its repositories, each made when it is first used, and its savepoints."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from logoadmin.adapters.sql_storage.failures import DriverErrors, Failure, error_of
from logoadmin.adapters.sql_storage.gallery import LINKS, SqlLinks, SqlPictures, SqlWithdrawals
from logoadmin.adapters.sql_storage.history import SqlActs, SqlChanges, SqlStoredResponses
from logoadmin.adapters.sql_storage.identity import (
    SqlPasswords,
    SqlPreferences,
    SqlSecrets,
    SqlServiceKeys,
    SqlSessions,
    SqlSignInAttempts,
)
from logoadmin.adapters.sql_storage.proposals import SqlMemberNotices, SqlNotices, SqlProposals
from logoadmin.adapters.sql_storage.records import RECORDS
from logoadmin.adapters.sql_storage.sign_in import SqlChallenges, SqlEvents, SqlFactors, SqlIdentities, SqlRecoveryCodes
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
    passwords = cached_property(lambda room: SqlPasswords(room._transaction))
    sessions = cached_property(lambda room: SqlSessions(room._transaction))
    preferences = cached_property(lambda room: SqlPreferences(room._transaction))
    keys = cached_property(lambda room: SqlServiceKeys(room._transaction))
    sign_in_attempts = cached_property(lambda room: SqlSignInAttempts(room._transaction))
    factors = cached_property(lambda room: SqlFactors(room._transaction))
    recovery_codes = cached_property(lambda room: SqlRecoveryCodes(room._transaction))
    challenges = cached_property(lambda room: SqlChallenges(room._transaction))
    identities = cached_property(lambda room: SqlIdentities(room._transaction))
    events = cached_property(lambda room: SqlEvents(room._transaction))


@dataclass(eq=False)
class SqlUnitOfWork(_Room):
    """Implements :class:`~logoadmin.ports.storage.UnitOfWork`."""

    savepoint: Callable[[], AbstractContextManager[None]] = nullcontext

    changes = cached_property(lambda room: SqlChanges(room._transaction))
    acts = cached_property(lambda room: SqlActs(room._transaction))
    stored_responses = cached_property(lambda room: SqlStoredResponses(room._transaction))
    secrets = cached_property(lambda room: SqlSecrets(room._transaction))
    proposals = cached_property(lambda room: SqlProposals(room._transaction))
    notices = cached_property(lambda room: SqlNotices(room._transaction))
    member_notices = cached_property(lambda room: SqlMemberNotices(room._transaction))
    pictures = cached_property(lambda room: SqlPictures(room._transaction))
    withdrawals = cached_property(lambda room: SqlWithdrawals(room._transaction))
    identity = cached_property(lambda room: _Identity(room._transaction))

    def records(self, kind: RecordKind[Record, Any], /) -> Records[Record]:
        repository, statements = RECORDS[kind.kind]
        return repository(self._transaction, statements)

    def links(self, kind: AnyArtworkKind, /) -> Links:
        return SqlLinks(self._transaction, LINKS[kind.kind])


@dataclass(slots=True, eq=False)
class Savepoints:
    """The savepoint scopes of one transaction. After a failure of the database, nothing more is done in it.

    Attributes:
        failure: the failure of the database in one of them, if any.
    """

    _server: str
    _driver_errors: DriverErrors
    _transaction: Transaction
    failure: Failure | None = None

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Undo the statements of the scope if it raises.

        Raises:
            StorageUnavailable, TooLargeToStore: the database failed, in this scope or before.
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
