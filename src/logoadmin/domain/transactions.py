"""The one door to storage: nothing is read or written but by somebody who may (contract A19, B5, F3)."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork, audited, get_existing
from logoadmin.domain.idempotency import Idempotency, IdempotentRequest
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
from logoadmin.domain.model.errors import InvalidToken, StorageUnavailable
from logoadmin.domain.model.kinds import RecordKind
from logoadmin.domain.model.limits import RequestId
from logoadmin.domain.model.lists import ChangeFilter, ListCommand, Listing, SearchedCommand
from logoadmin.domain.model.records import Change, StoredRecord
from logoadmin.domain.model.versions import raise_if_unmodified, version_of
from logoadmin.domain.pagination import ChangePages, ChangesUpTo, ListPages, RecordPages
from logoadmin.ports.clock import Clock
from logoadmin.ports.storage import Storage, UnitOfWork

Asked = TypeVar("Asked", bound=Command)
Answer = TypeVar("Answer")
Listed = TypeVar("Listed")
Record = TypeVar("Record", bound=StoredRecord)


class _Requested(Input):
    """What the history is to call a request, within the limits of asking for it there (contract G3)."""

    request_id: RequestId


class Transactions:
    """Runs the work of a command in one transaction, once the caller's rights were read in that transaction.

    Every method takes the command, who asks, and the work, a function of the unit of work and the command that may be
    run again from its start when the database asks for that; it must touch nothing but the unit of work.

    Raises, all of them: NotAuthenticated, InvalidToken, NotPermitted, StorageUnavailable, and what the work raises.
    """

    def __init__(self, storage: Storage, policy: Policy, clock: Clock, idempotency: Idempotency) -> None:
        """Work on a storage under an access policy."""
        self._storage = storage
        self._policy = policy
        self._clock = clock
        self._idempotency = idempotency

    def require_token(self, command: Command, caller: Caller) -> None:
        """Refuse a caller without a token where one is needed; the other methods do this first, too."""
        require_token(self._policy, command.permission, caller)

    def check(self, command: Command, caller: Caller) -> None:
        """Refuse a caller who may not, before work that costs much; whatever then writes checks again."""
        self.require_token(command, caller)
        if isinstance(caller, SignedIn | KeyHolder):
            self.snapshot(command, caller, _nothing)

    def get(self, command: Command, caller: Caller, kind: RecordKind[Record, Any]) -> Record:
        """Return the record that a command is about.

        Raises:
            NotFound: it is not there.
            NotModified: the caller has it already.
        """
        record = self.read(command, caller, partial(_found, kind))
        if command.if_none_match:
            raise_if_unmodified(command.if_none_match, version_of(record))
        return record

    def read(self, command: Asked, caller: Caller, work: Callable[[UnitOfWork, Asked], Answer]) -> Answer:
        """Return the answer of work that changes nothing."""
        if command.permission == PUBLIC or isinstance(caller, Anonymous | Owner):
            self.require_token(command, caller)
            return self._storage.read(partial(_do, work, command))
        # Rights and record are two statements that must see the same moment.
        return self.snapshot(command, caller, work)

    def snapshot(self, command: Asked, caller: Caller, work: Callable[[UnitOfWork, Asked], Answer]) -> Answer:
        """Return the answer of work that changes nothing and sees one moment, however much it reads."""
        return self.snapshot_with_rights(command, caller, partial(_without_rights, work))

    def snapshot_with_rights(
        self, command: Asked, caller: Caller, work: Callable[[UnitOfWork, Asked, Rights | None], Answer]
    ) -> Answer:
        """Do the same for work that is told what the caller may do, None where that is everything."""
        self.require_token(command, caller)
        answer = self._storage.snapshot(partial(self._do_as, work, command, caller))
        if isinstance(caller, KeyHolder):
            self._record_use(caller)
        return answer

    def stream_snapshot(
        self, command: Asked, caller: Caller, work: Callable[[UnitOfWork, Asked, Rights | None], Answer]
    ) -> Answer:
        """Do that for work that lets out what it reads while it reads, which cannot be done twice.

        Raises:
            StorageUnavailable: also where other work would have been run again.
        """
        return self.snapshot_with_rights(command, caller, _Once(work, self._storage.server))

    def write(self, command: Asked, caller: Caller, work: Callable[[AuditedUnitOfWork, Asked], Answer]) -> Answer:
        """Return the answer of work that changes records, all of its changes or none; each goes into the history.

        A command with an idempotency key is done once: the next time the stored response is returned (contract F3), to
        whoever still holds what it took.

        Raises:
            InvalidInput: another command had the key, or the request has an id that the history does not take.
            Conflict: nobody would hold everything any more (contract B4).
        """
        self.require_token(command, caller)
        if isinstance(caller.request_id, str):
            _Requested(request_id=caller.request_id)
        request = None if command.idempotency_key is None else self._idempotency.request(command)
        return self._storage.write(partial(self._write, work, command, caller, request))

    def side_transaction(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Return the answer of work that is no part of what a command asks for, and stands if that is refused.

        It changes no record.
        """
        return self._storage.write(work)

    def version(self) -> int:
        """Return the version of all records together: the last change, whichever record it is of; it is no secret."""
        return self._storage.read(_last_id)

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
            kind: which records.
            of: the kind of the record to which they belong, whose id is in the command.

        Raises:
            NotFound: what they belong to is not there.
            NotModified: the caller has the list already.
        """
        return self._listing(command, caller, RecordPages(command, kind, of))

    def changes(self, command: ListCommand, caller: Caller, where: ChangeFilter) -> Listing[Change]:
        """Return a list of changes, in the same way."""
        return self._listing(command, caller, ChangePages(where, command.order))

    def changes_between(self, after: int, last: int) -> Listing[Change]:
        """Return the changes after one id, up to another, which somebody made who may see them."""
        pages = ChangesUpTo(last)
        fetch = partial(self._fetch, pages)
        return Listing(fetch(after, pages.sizes.first), pages.id_of, fetch, pages.sizes, after=after, version=last)

    def _listing(self, command: ListCommand, caller: Caller, pages: ListPages[Listed]) -> Listing[Listed]:
        version, first, goes_on = self.read(command, caller, pages.first)
        id_of = pages.id_of
        if command.limit is None:
            fetch = partial(self._fetch, pages)
            return Listing(first, id_of, fetch, pages.sizes, after=command.begins_after, version=version)
        shown = first[: command.limit]
        return Listing(shown, id_of, version=version, next_after=id_of(shown[-1]) if goes_on and shown else None)

    def _fetch(self, pages: ListPages[Listed], after: int, limit: int) -> tuple[Listed, ...]:
        return self._storage.read(partial(pages.page, after, limit))

    def _do_as(
        self,
        work: Callable[[UnitOfWork, Asked, Rights | None], Answer],
        command: Asked,
        caller: Caller,
        uow: UnitOfWork,
    ) -> Answer:
        return work(uow, command, self._rights(uow, command, caller))

    def _write(
        self,
        work: Callable[[AuditedUnitOfWork, Asked], Answer],
        command: Asked,
        caller: Caller,
        request: IdempotentRequest | None,
        uow: UnitOfWork,
    ) -> Answer:
        """Do all that a write does; since it holds the write lock, the time is in the order of the changes."""
        held = self._rights(uow, command, caller)
        now = self._clock.now()
        if isinstance(caller, KeyHolder):
            record_use(caller, now, uow)
        done = partial(_audited, uow, now, caller, held, work, command)
        if request is None:
            return done()
        return self._idempotency.once(uow, request, caller, held, now, done)

    def _rights(self, uow: UnitOfWork, command: Command, caller: Caller) -> Rights | None:
        """Return what a caller may do, None for everything, once it is found to be enough."""
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
        """Record the use of a key by a read, which neither waits nor fails because nobody can write at the moment."""
        now = self._clock.now()
        with suppress(StorageUnavailable):
            if self._storage.read(partial(is_use_due, caller, now)):
                self._storage.try_write(partial(record_use, caller, now))


def _nothing(_uow: UnitOfWork, _command: Command) -> None:
    """Read nothing: all that is asked for is whether one may."""


def _do(work: Callable[[UnitOfWork, Asked], Answer], command: Asked, uow: UnitOfWork) -> Answer:
    return work(uow, command)


def _without_rights(
    work: Callable[[UnitOfWork, Asked], Answer], uow: UnitOfWork, command: Asked, _held: Rights | None
) -> Answer:
    return work(uow, command)


def _found(kind: RecordKind[Record, Any], uow: UnitOfWork, command: Command) -> Record:
    return get_existing(uow, kind, kind.id_of(command))


def _audited(
    uow: UnitOfWork,
    now: int,
    caller: Caller,
    held: Rights | None,
    work: Callable[[AuditedUnitOfWork, Asked], Answer],
    command: Asked,
) -> Answer:
    request_id = caller.request_id
    if isinstance(request_id, SentRequestId):
        if uow.changes.kinds_of_request(request_id.text):
            request_id.use_replacement()
        request_id = request_id.text
    return audited(uow, now, request_id, held, work, command)


def _last_id(uow: UnitOfWork) -> int:
    return uow.changes.last_id()


@dataclass(slots=True)
class _Once(Generic[Asked, Answer]):
    """Work that cannot be run again."""

    work: Callable[[UnitOfWork, Asked, Rights | None], Answer]
    server: str
    has_begun: bool = False

    def __call__(self, uow: UnitOfWork, command: Asked, held: Rights | None) -> Answer:
        if self.has_begun:
            raise StorageUnavailable(self.server)
        self.has_begun = True
        return self.work(uow, command, held)
