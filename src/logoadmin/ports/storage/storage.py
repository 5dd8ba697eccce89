"""The unit of work with all repositories, and the storage that runs work in transactions."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.domain.kernel.kinds import AnyArtworkKind, RecordKind
from logoadmin.domain.kernel.records import StoredRecord
from logoadmin.ports.identity.session_storage import Preferences, Secrets, ServiceKeys, Sessions, SignInAttempts
from logoadmin.ports.identity.sign_in_storage import (
    Challenges,
    Events,
    Factors,
    Identities,
    RecoveryCodes,
    SecondFactorSince,
)
from logoadmin.ports.kernel.change_storage import Changes, StoredResponses
from logoadmin.ports.kernel.record_storage import Links, Passwords, Records
from logoadmin.ports.publication.publication_storage import Indexes, Pins, Withdrawals

Answer = TypeVar("Answer")
Record = TypeVar("Record", bound=StoredRecord)


# Which write lock a write holds to its end. There is one write at a time under each: those of sessions (sign-ins,
# attempts, factors, events, keys and when they were used; pins and published indexes) do not wait for those of records,
# such as a long import. A write of records that changes sessions holds both locks by then; a write of sessions changes
# no records.
WriteLock = Literal["records", "sessions"]


class RecordsOf(Protocol):
    """Returns the records of a kind."""

    def __call__(self, kind: RecordKind[Record, Any], /) -> Records[Record]:
        """Return the records of the kind."""


@dataclass(slots=True, eq=False)
class UnitOfWork:
    """The repositories of one transaction.

    Attributes:
        savepoint: begins a scope of a write, whose changes alone are undone if it raises. After a failure of the
            database in a scope, every scope raises StorageUnavailable, and the write does not commit.
    """

    records: RecordsOf
    links: Callable[[AnyArtworkKind], Links]
    passwords: Passwords
    sessions: Sessions
    preferences: Preferences
    secrets: Secrets
    keys: ServiceKeys
    changes: Changes
    stored_responses: StoredResponses
    sign_in_attempts: SignInAttempts
    withdrawals: Withdrawals
    pins: Pins
    indexes: Indexes
    factors: Factors
    recovery_codes: RecoveryCodes
    challenges: Challenges
    second_factor_since: SecondFactorSince
    identities: Identities
    events: Events
    savepoint: Callable[[], AbstractContextManager[None]] = nullcontext


class Storage(Protocol):
    """Runs work in transactions. Safe to use from several threads; one unit of work stays in one thread.

    The work is a function, so that a storage can run it again from its start if a transaction failed and certainly left
    no changes (after a deadlock, or when the connection was lost before the commit).
    """

    @property
    def server(self) -> str:
        """Where the records are, for messages: host:port or a file's name, never a user, a password or a URL."""

    @property
    def product(self) -> str:
        """The common name of the database, for people."""

    @property
    def waits(self) -> bool:
        """Whether calls may wait for something outside the process, so that an event loop must not make them."""

    @property
    def concurrent_reads(self) -> int:
        """The best number of concurrent reads; more only slow each other down."""

    def read(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Return the answer of work that only reads; its statements may each see another moment."""

    def snapshot(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Return the answer of work that only reads; its statements all see the same moment."""

    def write(
        self, work: Callable[[UnitOfWork], Answer], lock: WriteLock = "records", *, alone: bool = False
    ) -> Answer:
        """Return the answer of work that changes something, once the changes are durable.

        There is one write at a time under each lock: the work begins when the write before it has ended, and holds the
        lock to its end. If it raises, all its changes are undone and the error passes on.

        Args:
            work: the unit-of-work function.
            lock: the lock that it needs.
            alone: whether it may take long, so that it must not share a transaction with writes of other threads.

        Raises:
            StorageUnavailable: the database is out of reach, within 2 s; the changes may have been stored or not.
        """

    def try_write(self, work: Callable[[UnitOfWork], object], lock: WriteLock = "records") -> bool:
        """Run the work of a write if it can begin without waiting; return whether it ran."""

    def check(self) -> None:
        """Require that storage responds and that its tables fit this program.

        Raises:
            SchemaMismatch: the tables are older, newer or missing; the text has the solution.
            StorageUnavailable: the database is out of reach.
        """

    def data_version(self) -> int | None:
        """Return a number that changes with any stored write of any process.

        It takes microseconds; None if finding out would take a wait.
        """

    def timed_out(self, *, writing: bool) -> StorageUnavailable:
        """Return the error for a client that stops waiting for a call; it is also logged."""

    def close(self) -> None:
        """Close connections and files. The storage is not used afterwards."""


class StorageLifecycle(Storage, Protocol):
    """A storage as the start of a program sees it."""

    @property
    def embedded(self) -> bool:
        """Whether the database is a file, which is created when a program needs it, and not a server's."""

    def is_empty(self) -> bool:
        """Return whether the tables do not exist yet.

        Raises:
            StorageUnavailable: the database is out of reach.
        """

    def prepare(self, first: Callable[[UnitOfWork], Answer | None]) -> Answer | None:
        """Create the tables or bring them up to date, and return the answer of work on them.

        Existing tables stay. Several processes may call it at once: they wait for each other, and each finds what the
        one before it left. In a file, the tables and the changes of the work are stored together or not at all.

        Args:
            first: the work, which checks whether there is anything to do.

        Raises:
            SchemaMismatch: a newer program made the tables.
            StartError: the database has other tables of these names, its user may not create tables, or the file cannot
                be created.
            StorageUnavailable: the database is out of reach.
        """
