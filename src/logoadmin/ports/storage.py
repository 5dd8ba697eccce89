"""Storage: the unit of work, put together from the repositories of every room, and what runs it.

Adapters of these ports behave identically: order, ids, errors and their texts are specified here, and
``tests/contracts`` tests them on every adapter.

Names are compared exactly, code point by code point (contract A6). Every method of a repository may raise
StorageUnavailable (contract A20).

There is one write at a time: no other write changes anything between its first and its last step, and it sees all
earlier writes. Therefore its reads stay true until its end, changes are numbered in the order in which they are stored,
and no record has to be locked.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

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
    """The repositories of one transaction, each made when it is first used."""

    def records(self, kind: RecordKind[Record, Any], /) -> Records[Record]:
        """Return the records of a kind."""

    @property
    def changes(self) -> Changes:
        """The history."""

    @property
    def acts(self) -> Acts:
        """The acts of the history."""

    @property
    def stored_responses(self) -> StoredResponses:
        """The responses to commands that may be sent again."""

    @property
    def secrets(self) -> Secrets:
        """The secrets of the service."""

    @property
    def proposals(self) -> Proposals:
        """The proposals."""

    @property
    def notices(self) -> Notices:
        """The notices that are still to be sent."""

    @property
    def member_notices(self) -> MemberNotices:
        """The sources of notices for members."""

    def links(self, kind: AnyArtworkKind, /) -> Links:
        """Return the links between authors and a kind of artwork."""

    @property
    def pictures(self) -> Pictures:
        """The pictures."""

    @property
    def withdrawals(self) -> Withdrawals:
        """The artworks that were withdrawn from the published gallery."""

    @property
    def identity(self) -> IdentityStorage:
        """The repositories of identity."""

    def savepoint(self) -> AbstractContextManager[None]:
        """Begin a scope of a write, whose changes alone are undone if it raises.

        After a failure of the database in a scope, every scope raises StorageUnavailable, and the write does not
        commit.
        """


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

    def write(self, work: Callable[[UnitOfWork], Answer], *, alone: bool = False) -> Answer:
        """Return the answer of work that changes something, once the changes are durable.

        There is one write at a time: the work begins when the write before it has ended. If it raises, all its changes
        are undone and the error passes on.

        Args:
            work: the unit-of-work function.
            alone: whether it may take long, so that it must not share a transaction with writes of other threads.

        Raises:
            StorageUnavailable: the database is out of reach, within 2 s; the changes may have been stored or not.
        """

    def try_write(self, work: Callable[[UnitOfWork], object]) -> bool:
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

    def erase_removed(self) -> bool:
        """Overwrite what files still hold of removed rows, as far as that is up to this program.

        Returns:
            Whether nothing is left; otherwise somebody reads, and it can be tried again later.
        """

    def is_failing(self) -> bool:
        """Return whether every call fails at present, so that nobody should wait for others to find out."""

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
