"""Storage: the unit of work, which combines the repositories of all contexts, and the protocol that runs it.

Adapters of these ports behave identically: order, ids, errors and their texts are specified here, and
``tests/contracts`` tests them on every adapter.

Names are compared exactly, code point by code point (contract A6). Every method of a repository may raise
StorageUnavailable (contract A20).

Writes run one at a time: between the first and the last step of a write, no other write changes anything, and it sees
all earlier writes. Therefore its reads stay valid until its end, changes are numbered in the order in which they are
stored, and no record has to be locked.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.domain.kernel.kinds import AnyArtworkKind, RecordKind
from logoadmin.domain.kernel.records import StoredRecord
from logoadmin.ports.gallery_storage import Links, Pictures, Withdrawals
from logoadmin.ports.history_storage import Acts, Changes, StoredResponses
from logoadmin.ports.identity_storage import IdentityStorage
from logoadmin.ports.proposal_storage import MemberNotices, Notices, Proposals
from logoadmin.ports.record_storage import Records, Secrets

Answer = TypeVar("Answer")
Record = TypeVar("Record", bound=StoredRecord)


class UnitOfWork(Protocol):
    """The repositories of one transaction, each created when it is first used."""

    def records(self, kind: RecordKind[Record], /) -> Records[Record]:
        """Return the records of a kind."""

    @property
    def changes(self) -> Changes: ...
    @property
    def acts(self) -> Acts: ...
    @property
    def stored_responses(self) -> StoredResponses: ...
    @property
    def secrets(self) -> Secrets: ...
    @property
    def proposals(self) -> Proposals: ...
    @property
    def notices(self) -> Notices: ...
    @property
    def member_notices(self) -> MemberNotices: ...

    def links(self, kind: AnyArtworkKind, /) -> Links:
        """Return the links between authors and a kind of artwork."""

    @property
    def pictures(self) -> Pictures: ...
    @property
    def withdrawals(self) -> Withdrawals: ...
    @property
    def identity(self) -> IdentityStorage: ...

    def savepoint(self) -> AbstractContextManager[None]:
        """Open a savepoint scope in a write; if it raises, only its changes are undone.

        After a failure of the database in a scope, every scope raises StorageUnavailable, and the write does not
        commit.
        """


class Storage(Protocol):
    """Runs unit-of-work functions in transactions. Safe to use from several threads; each unit stays in one thread.

    A storage may run a function again if its transaction failed and certainly left no changes (after a deadlock, or
    when the connection was lost before the commit).

    Attributes:
        server: the location of the records, for messages: host:port or a file's name, never a user, a password or a
            URL.
        product: the common name of the database, for display.
        waits: whether calls may wait for something outside the process, so that an event loop must not make them.
        concurrent_reads: the best number of concurrent reads; more only slow each other down.
    """

    server: str
    product: str
    waits: bool
    concurrent_reads: int

    def read(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Run a function that only reads, and return its result; each statement may see a different moment."""

    def snapshot(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Run a function that only reads, and return its result; all statements see the same moment."""

    def write(self, work: Callable[[UnitOfWork], Answer], *, alone: bool = False) -> Answer:
        """Run a function that makes changes, and return its result once they are durable.

        Writes run one at a time: the function starts when the previous write has ended. If it raises, all its changes
        are undone and the error propagates. If it may take long, it must run ``alone``, without sharing a transaction
        with writes of other threads.

        Raises:
            StorageUnavailable: the database is out of reach, within 2 s; the changes may or may not have been stored.
        """

    def try_write(self, work: Callable[[UnitOfWork], object]) -> bool:
        """Run a write if it can start without waiting; return whether it ran."""

    def check(self) -> None:
        """Require that storage responds and that its tables fit this program.

        Raises:
            SchemaMismatch: the tables are older, newer or missing; the message has the solution.
            StorageUnavailable: the database is out of reach.
        """

    def data_version(self) -> int | None:
        """Return a number that changes with every stored write of any process.

        It takes microseconds; None if it would have to wait.
        """

    def erase_removed(self) -> bool:
        """Overwrite the remains of removed rows in files, as far as this program controls them.

        Return whether nothing is left; False while there are readers, so that it can be retried later.
        """

    def is_failing(self) -> bool:
        """Return whether every call currently fails, so that waiting for others to find out is pointless."""

    def timed_out(self, *, writing: bool) -> StorageUnavailable:
        """Return the error for a client that stops waiting for a call; it is also logged."""

    def close(self) -> None:
        """Close connections and files. The storage is not used afterwards."""


class StorageLifecycle(Storage, Protocol):
    """A storage with the methods that the start of a program needs.

    Attributes:
        embedded: whether the database is a file that is created on demand, and not on a server.
    """

    embedded: bool

    def is_empty(self) -> bool:
        """Return whether the tables do not exist yet.

        Raises:
            StorageUnavailable: the database is out of reach.
        """

    def prepare(self, first: Callable[[UnitOfWork], Answer | None]) -> Answer | None:
        """Create or migrate the tables, and return the result of a function on them.

        Existing tables are kept. Several processes may call this at once: they wait for each other, and each sees the
        result of the one before; the function checks whether there is anything to do. In a file, the tables and the
        function's changes are stored together or not at all.

        Raises:
            SchemaMismatch: a newer program created the tables.
            StartError: the database has other tables of these names, its user may not create tables, or the file cannot
                be created.
            StorageUnavailable: the database is out of reach.
        """
