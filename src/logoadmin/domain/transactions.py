"""The transactions of the use cases: each checks the caller's rights and then does the work (contract A19, B5, F3)."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, TypeVar

from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork
from logoadmin.domain.idempotency import Idempotency, IdempotentRequest, Unused, forget_expired_responses
from logoadmin.domain.key_use import is_use_due, record_use, rights_of_key
from logoadmin.domain.model.access import (
    PUBLIC,
    Anonymous,
    Caller,
    KeyHolder,
    Owner,
    Policy,
    Rights,
    SentRequestId,
    SignedIn,
    authorize,
    require_token,
)
from logoadmin.domain.model.command import Command, Input
from logoadmin.domain.model.errors import InvalidToken, NotModified, StorageUnavailable
from logoadmin.domain.model.kinds import RecordKind
from logoadmin.domain.model.limits import RequestId
from logoadmin.domain.model.lists import ChangeFilter, Fetch, ListCommand, Listing, SearchedCommand
from logoadmin.domain.model.records import Change, StoredRecord
from logoadmin.domain.pagination import ChangePages, ChangesUpTo, ListPages, RecordPages
from logoadmin.ports.environment import Clock
from logoadmin.ports.storage import Storage, UnitOfWork, WriteLock

Answer = TypeVar("Answer")
Asked = TypeVar("Asked", bound=Command)
Listed = TypeVar("Listed")
Record = TypeVar("Record", bound=StoredRecord)
AnswerOut = TypeVar("AnswerOut", covariant=True)
AskedIn = TypeVar("AskedIn", bound=Command, contravariant=True)


class ReadWork(Protocol[AskedIn, AnswerOut]):
    """What a command asks to be read. It may run again from its start and touches nothing but the unit of work."""

    def __call__(self, uow: UnitOfWork, command: AskedIn, /) -> AnswerOut:
        """Return the answer to the command."""


class ReadWorkWithRights(Protocol[AskedIn, AnswerOut]):
    """The same for an answer that depends on the caller's rights: None for a caller who may do everything."""

    def __call__(self, uow: UnitOfWork, command: AskedIn, held: Rights | None, /) -> AnswerOut:
        """Return the answer to the command."""


class WriteWork(Protocol[AskedIn, AnswerOut]):
    """What a command asks to be changed. It may run again from its start and touches nothing but the unit of work."""

    def __call__(self, uow: AuditedUnitOfWork, command: AskedIn, /) -> AnswerOut:
        """Make the changes and return the answer to the command."""


class Transactions:
    """Runs the work of a command in one transaction, after reading the caller's rights in that transaction.

    Every method may raise NotAuthenticated, InvalidToken, NotPermitted, StorageUnavailable, and what the work raises.
    """

    def __init__(self, storage: Storage, policy: Policy, clock: Clock, idempotency: Idempotency) -> None:
        """Use a storage under an access policy."""
        self._storage = storage
        self._policy = policy
        self._clock = clock
        self._idempotency = idempotency

    def require_token(self, command: Command, caller: Caller) -> None:
        """Reject a caller without a token if the command requires one; every other method does this first."""
        require_token(self._policy, command.permission, caller)

    def check(self, command: Command, caller: Caller) -> None:
        """Refuse a caller without the right, before expensive work; the write that follows checks again."""
        self.require_token(command, caller)
        if isinstance(caller, SignedIn | KeyHolder):
            self.snapshot(command, caller, lambda _uow, _command: None)

    def read(self, command: Asked, caller: Caller, work: ReadWork[Asked, Answer]) -> Answer:
        """Return the answer of work that changes nothing; its statements may each see another moment."""
        if command.permission == PUBLIC or isinstance(caller, Anonymous | Owner):
            require_token(self._policy, command.permission, caller)
            return self._storage.read(lambda uow: work(uow, command))
        # The rights and the record are two statements that must see the same moment.
        return self.snapshot(command, caller, work)

    def snapshot(self, command: Asked, caller: Caller, work: ReadWork[Asked, Answer]) -> Answer:
        """Return the answer of work that changes nothing and sees one moment, however much it reads."""
        return self.snapshot_with_rights(command, caller, lambda uow, command, _held: work(uow, command))

    def snapshot_with_rights(self, command: Asked, caller: Caller, work: ReadWorkWithRights[Asked, Answer]) -> Answer:
        """Do the same for work that depends on the caller's rights."""
        require_token(self._policy, command.permission, caller)
        try:
            answer = self._storage.snapshot(lambda uow: work(uow, command, self._rights(uow, command, caller)))
        except NotModified:
            if isinstance(caller, KeyHolder):
                self._record_use(caller)
            raise
        if isinstance(caller, KeyHolder):
            self._record_use(caller)
        return answer

    def stream_snapshot(self, command: Asked, caller: Caller, work: ReadWorkWithRights[Asked, Answer]) -> Answer:
        """Do the same for work that sends what it reads while it reads, so that it cannot run twice.

        Raises:
            StorageUnavailable: also where other work would have run again.
        """
        begun = False

        def once(uow: UnitOfWork, command: Asked, held: Rights | None) -> Answer:
            nonlocal begun
            if begun:
                raise StorageUnavailable(self._storage.server)
            begun = True
            return work(uow, command, held)

        return self.snapshot_with_rights(command, caller, once)

    def write(
        self, command: Asked, caller: Caller, work: WriteWork[Asked, Answer], unused: Unused[Answer] | None = None
    ) -> Answer:
        """Return the answer of work that changes records: all of its changes or none, each recorded in the history.

        A command with an idempotency key is done once: the next time its stored response is returned (contract F3), as
        long as the caller still holds the scopes that it required, and ``command.on_replay`` is called.

        If the answer has tokens, ``unused`` decides whether a stored one can be returned again.

        Raises:
            InvalidInput: another command had the key, or the history does not accept the id of the request.
            Conflict: nobody would hold everything any more (contract B4).
        """
        require_token(self._policy, command.permission, caller)
        if isinstance(caller.request_id, str):
            _RequestIdInput(request_id=caller.request_id)
        # Before the transaction: for a password this is a slow hash.
        request = None if command.idempotency_key is None else self._idempotency.request(command, caller)

        lock: WriteLock = "records" if command.changes_records else "sessions"
        answer, is_replay = self._storage.write(
            lambda uow: self._write(uow, command, caller, work, request, unused), lock, alone=command.takes_long
        )
        if isinstance(caller, KeyHolder):
            self._record_use(caller)
        if is_replay and command.on_replay is not None:
            command.on_replay()
        return answer

    def side_transaction(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Return the answer of work on sessions or sign-in attempts that stands even if the command is refused."""
        return self._storage.write(work, "sessions")

    def version(self) -> int:
        """Return the id of the last change, which is the version of all records together and no secret."""
        return self._storage.read(lambda uow: uow.changes.last_id())

    def list(
        self,
        command: SearchedCommand,
        caller: Caller,
        kind: RecordKind[Record, Any],
        of: RecordKind[Any, Any] | None = None,
    ) -> Listing[Record]:
        """Return a list of records (contract E).

        Args:
            command: which part of the list.
            caller: who asks.
            kind: the kind of the records.
            of: the kind of the record that they belong to, whose id is in the command.

        Raises:
            NotFound: the record that they belong to does not exist.
            NotModified: the caller has this version of the list.
        """
        return self._listing(command, caller, RecordPages(command, kind, of))

    def changes(self, command: ListCommand, caller: Caller, where: ChangeFilter) -> Listing[Change]:
        """Return a list of changes, in the same way."""
        return self._listing(command, caller, ChangePages(where, command.order))

    def changes_between(self, after: int, last: int) -> Listing[Change]:
        """Return the changes after one id up to another, for the caller who made them."""
        pages = ChangesUpTo(last)
        first = self._storage.read(lambda uow: pages.page(after, pages.sizes.first, uow))
        return self._whole(first, pages, after, last)

    def _listing(self, command: ListCommand, caller: Caller, pages: ListPages[Listed]) -> Listing[Listed]:
        version, first, goes_on = self.read(command, caller, pages.first)
        if command.limit is None:
            return self._whole(first, pages, command.begins_after, version)
        shown = first[: command.limit]
        next_after = pages.id_of(shown[-1]) if goes_on and shown else None
        return Listing(shown, pages.id_of, version=version, next_after=next_after)

    def _whole(self, first: tuple[Listed, ...], pages: ListPages[Listed], after: int, version: int) -> Listing[Listed]:
        """Return the list that begins with a page and goes on to the end of all records."""

        def fetch(after: int, limit: int) -> tuple[Listed, ...]:
            return self._storage.read(lambda uow: pages.page(after, limit, uow))

        def snapshot(work: Callable[[Fetch[Listed]], Answer]) -> Answer:
            return self._storage.snapshot(lambda uow: work(partial(pages.page, uow=uow)))

        return Listing(first, pages.id_of, fetch, pages.sizes, snapshot=snapshot, after=after, version=version)

    def _write(
        self,
        uow: UnitOfWork,
        command: Asked,
        caller: Caller,
        work: WriteWork[Asked, Answer],
        request: IdempotentRequest | None,
        unused: Unused[Answer] | None,
    ) -> tuple[Answer, bool]:
        """Return the answer of work or the stored one, and whether it is the stored one."""
        held = self._rights(uow, command, caller)
        now = self._clock.now()  # the write lock is held, so times are in the order of the changes
        if request is not None:
            stored = self._idempotency.replay(uow, request, held, now, unused)
            if stored is not None:
                return stored, True
        request_id = caller.request_id
        if isinstance(request_id, SentRequestId):
            request_id = _unused_id(uow, request_id)
        audited = AuditedUnitOfWork(uow, now, request_id, held)
        answer = work(audited, command)
        audited.close()
        if request is not None:
            self._idempotency.store(uow, request, answer, held, now, tokens=unused is not None)
        if request is not None or unused is not None:
            forget_expired_responses(uow, now)
        return answer, False

    def _rights(self, uow: UnitOfWork, command: Command, caller: Caller) -> Rights | None:
        """Return the rights of a caller, once they are found to be enough; None for every right."""
        if isinstance(caller, Anonymous | Owner):
            return None
        if isinstance(caller, SignedIn):
            held = uow.sessions.rights(caller.session_id, caller.user_id)
        else:
            held = rights_of_key(caller, self._clock.now(), uow)
        if held is None:
            raise InvalidToken
        own = command.permission.self_field
        authorize(self._policy, command.permission, held, None if own is None else getattr(command, own))
        return held

    def _record_use(self, caller: KeyHolder) -> None:
        """Record that a read used a key; the read neither waits nor fails if this cannot be stored now."""
        now = self._clock.now()
        with suppress(StorageUnavailable):
            if self._storage.read(partial(is_use_due, caller, now)):
                self._storage.try_write(partial(record_use, caller, now), "sessions")


class _RequestIdInput(Input):
    """The id of a request, within the limits of searching the history for it (contract G3)."""

    request_id: RequestId


def _unused_id(uow: UnitOfWork, request_id: SentRequestId) -> str:
    """Return the id under which the history records a request: never one that it has already (contract G4)."""
    if uow.changes.kinds_of_request(request_id.text):
        request_id.use_replacement()
    return request_id.text
