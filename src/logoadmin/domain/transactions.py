"""The one door to storage: nothing is read or written but by somebody who may (contract A19, B5, F3)."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, Generic, TypeVar

from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork, audited, found
from logoadmin.domain.idempotency import Idempotency, Request
from logoadmin.domain.model.access import (
    PUBLIC,
    Anonymous,
    Caller,
    KeyHolder,
    Owner,
    Policy,
    Rights,
    SignedIn,
    authorize,
    require_token,
)
from logoadmin.domain.model.command import Command
from logoadmin.domain.model.errors import InvalidToken, StorageUnavailable
from logoadmin.domain.model.kinds import RecordKind
from logoadmin.domain.model.lists import CHANGES, Filter, ListCommand, Listing, Pages
from logoadmin.domain.model.records import Change, ServiceKey, StoredRecord
from logoadmin.domain.model.versions import raise_if_unmodified, version_of, version_of_list
from logoadmin.ports.clock import Clock
from logoadmin.ports.storage import Storage, UnitOfWork

Asked = TypeVar("Asked", bound=Command)
Answer = TypeVar("Answer")
Listed = TypeVar("Listed")
Record = TypeVar("Record", bound=StoredRecord)

# The use of a service key is recorded no more often than this, so that reading with it seldom writes.
_USED_EVERY = 60  # seconds


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
        return self.snapshot_as(command, caller, partial(_without_rights, work))

    def snapshot_as(
        self, command: Asked, caller: Caller, work: Callable[[UnitOfWork, Asked, Rights | None], Answer]
    ) -> Answer:
        """Do the same for work that is told what the caller may do, None where that is everything."""
        self.require_token(command, caller)
        answer = self._storage.snapshot(partial(self._do_as, work, command, caller))
        if isinstance(caller, KeyHolder):
            self._record_use(caller)
        return answer

    def stream_snapshot(self, command: Asked, caller: Caller, work: Callable[[UnitOfWork, Asked], Answer]) -> Answer:
        """Do the same for work that lets out what it reads while it reads, which cannot be done twice.

        Raises:
            StorageUnavailable: also where other work would have been run again.
        """
        return self.snapshot(command, caller, _Once(work, self._storage.server))

    def write(self, command: Asked, caller: Caller, work: Callable[[AuditedUnitOfWork, Asked], Answer]) -> Answer:
        """Return the answer of work that changes records, all of its changes or none; each goes into the history.

        A command with an idempotency key is done once: the next time its first answer is returned (contract F3).

        Raises:
            InvalidInput: another command had the key.
            Conflict: nobody would hold everything any more (contract B4).
        """
        self.require_token(command, caller)
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
        command: ListCommand,
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
        return self._listing(command, caller, _RecordPages(command.filter(), kind, of))

    def changes(self, command: ListCommand, caller: Caller) -> Listing[Change]:
        """Return a list of changes, in the same way."""
        return self._listing(command, caller, _ChangePages())

    def _listing(self, command: ListCommand, caller: Caller, pages: "_Pages[Listed]") -> Listing[Listed]:
        version, first, goes_on = self.read(command, caller, pages.first)
        id_of = pages.id_of
        if command.limit is None:
            fetch, after = partial(self._fetch, pages), _after(command)
            return Listing(first, id_of, fetch, pages.sizes, after=after, version=version)
        shown = first[: command.limit]
        return Listing(shown, id_of, version=version, next_after=id_of(shown[-1]) if goes_on and shown else None)

    def _fetch(self, pages: "_Pages[Listed]", after: int, limit: int) -> tuple[Listed, ...]:
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
        request: Request | None,
        uow: UnitOfWork,
    ) -> Answer:
        """Do all that a write does; since it holds the write lock, the time is in the order of the changes."""
        held = self._rights(uow, command, caller)
        now = self._clock.now()
        if isinstance(caller, KeyHolder):
            _use(caller, now, uow)
        if request is None:
            return audited(uow, now, caller.request_id, held, work, command)
        done = partial(audited, uow, now, caller.request_id, held, work, command)
        return self._idempotency.once(uow, request, caller, now, done)

    def _rights(self, uow: UnitOfWork, command: Command, caller: Caller) -> Rights | None:
        """Return what a caller may do, None for everything, once it is found to be enough."""
        if isinstance(caller, Anonymous | Owner):
            return None
        if isinstance(caller, SignedIn):
            held = uow.sessions.rights(caller.session_id, caller.user_id)
        else:
            held = _rights_of_key(uow, caller, self._clock.now())
        if held is None:
            raise InvalidToken
        own = command.permission.self_field
        authorize(self._policy, command.permission, held, None if own is None else getattr(command, own))
        return held

    def _record_use(self, caller: KeyHolder) -> None:
        """Record the use of a key by a read, which neither waits nor fails because nobody can write at the moment."""
        now = self._clock.now()
        with suppress(StorageUnavailable):
            if self._storage.read(partial(_is_use_due, caller, now)):
                self._storage.try_write(partial(_use, caller, now))


def _nothing(_uow: UnitOfWork, _command: Command) -> None:
    """Read nothing: all that is asked for is whether one may."""


def _do(work: Callable[[UnitOfWork, Asked], Answer], command: Asked, uow: UnitOfWork) -> Answer:
    return work(uow, command)


def _without_rights(
    work: Callable[[UnitOfWork, Asked], Answer], uow: UnitOfWork, command: Asked, _held: Rights | None
) -> Answer:
    return work(uow, command)


def _found(kind: RecordKind[Record, Any], uow: UnitOfWork, command: Command) -> Record:
    return found(uow, kind, kind.id_of(command))


def _last_id(uow: UnitOfWork) -> int:
    return uow.changes.last_id()


@dataclass(slots=True)
class _Once(Generic[Asked, Answer]):
    """Work that cannot be run again."""

    work: Callable[[UnitOfWork, Asked], Answer]
    server: str
    has_begun: bool = False

    def __call__(self, uow: UnitOfWork, command: Asked) -> Answer:
        if self.has_begun:
            raise StorageUnavailable(self.server)
        self.has_begun = True
        return self.work(uow, command)


class _Pages(ABC, Generic[Listed]):
    """How the pages of a list are found.

    Attributes:
        sizes: how much is fetched at a time.
        id_of: the id of what is listed.
    """

    sizes: Pages
    id_of: Callable[[Listed], int]

    def first(self, uow: UnitOfWork, command: ListCommand) -> tuple[int, tuple[Listed, ...], bool]:
        """Return the version of the list, its first records, and whether there may be more."""
        # The version first: a list that is newer than its version is fetched again, one that is older is not.
        version = self.version(uow, command)
        raise_if_unmodified(command.if_none_match, version)
        if command.limit is None:
            return version, self.page(_after(command), self.sizes.first, uow), True
        fetch, size = partial(self.page, uow=uow), command.limit + 1  # one more tells whether more follows
        return version, *self.sizes.gathered(fetch, self.id_of, _after(command), size)

    @abstractmethod
    def version(self, uow: UnitOfWork, command: ListCommand) -> int:
        """Return the version of the list, once it is found that what it belongs to is there."""

    @abstractmethod
    def page(self, after: int, limit: int, uow: UnitOfWork) -> tuple[Listed, ...]:
        """Return up to so many that follow an id, -1 for the first ones."""


class _RecordPages(_Pages[Record]):
    def __init__(self, where: Filter, kind: RecordKind[Record, Any], of: RecordKind[Any, Any] | None) -> None:
        self._where, self._kind, self._of = where, kind, of
        self.sizes, self.id_of = kind.pages, kind.id_of

    def version(self, uow: UnitOfWork, command: ListCommand) -> int:
        if self._of is not None:
            _found(self._of, uow, command)
        return version_of_list(self._kind, uow.changes.last_of_kinds())

    def page(self, after: int, limit: int, uow: UnitOfWork) -> tuple[Record, ...]:
        return uow.records(self._kind).page(after, limit, self._where)


class _ChangePages(_Pages[Change]):
    sizes = CHANGES
    id_of = attrgetter("change_id")

    def version(self, uow: UnitOfWork, command: ListCommand) -> int:  # noqa: ARG002 (every list is told)
        return uow.changes.last_id()

    def page(self, after: int, limit: int, uow: UnitOfWork) -> tuple[Change, ...]:
        return uow.changes.page(after, limit)


def _after(command: ListCommand) -> int:
    return -1 if command.after is None else command.after


def _rights_of_key(uow: UnitOfWork, caller: KeyHolder, now: int) -> Rights | None:
    """Return what the holder of a key may do, None where the key is not good."""
    found = uow.keys.find(caller.key_hash)
    if found is None:
        return None
    key, of_maker = found
    return of_maker.cut(key.scope) if _is_good(key, now) else None


def _is_use_due(caller: KeyHolder, now: int, uow: UnitOfWork) -> bool:
    found = uow.keys.find(caller.key_hash)
    return found is not None and _is_good(found[0], now) and _is_stale(found[0], now)


def _use(caller: KeyHolder, now: int, uow: UnitOfWork) -> None:
    found = uow.keys.find(caller.key_hash)
    if found is None or not _is_stale(found[0], now):
        return
    key, _ = found
    uow.keys.use(key.key_id, now)
    if key.created_at > now:  # by a clock that ran ahead and was put right: the key lasts as long as it was to
        expires_at = None if key.expires_at is None else now + key.expires_at - key.created_at
        uow.keys.redate(key.key_id, now, expires_at)


def _is_good(key: ServiceKey, now: int) -> bool:
    return key.expires_at is None or key.expires_at > now


def _is_stale(key: ServiceKey, now: int) -> bool:
    """Tell whether the use of a key is to be recorded: it was not lately, or says a time that is yet to come."""
    return key.last_used_at is None or not 0 <= now - key.last_used_at < _USED_EVERY or key.created_at > now
