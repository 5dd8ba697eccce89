"""The one door to storage: nothing is read or written but by somebody who may (contract A19, B5, F3)."""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork, recorded
from logoadmin.domain.idempotency import Idempotency
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
from logoadmin.domain.model.lists import SMALL_RECORDS, Filter, ListCommand, Listing, Pages
from logoadmin.domain.model.records import Kind, ServiceKey, StoredRecord
from logoadmin.domain.model.versions import raise_if_unmodified, version_of, version_of_list
from logoadmin.ports.clock import Clock
from logoadmin.ports.storage import Storage, UnitOfWork

Answer = TypeVar("Answer")
Record = TypeVar("Record")
Stored = TypeVar("Stored", bound=StoredRecord)

# A service key is noted as used no more often than this, so that reading with it seldom writes.
_USED_EVERY = 60  # seconds


class Transactions:
    """Runs the work of a command in one transaction, once the caller's rights were read in that transaction.

    Every method takes the command, who asks, and the work, a function of the unit of work that may be run again
    from its start when the database asks for that; it must touch nothing but the unit of work.

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

    def record(self, command: Command, caller: Caller, work: Callable[[UnitOfWork], Stored]) -> Stored:
        """Return the record that work reads.

        Raises:
            NotModified: the caller has it already.
        """
        record = self.read(command, caller, work)
        raise_if_unmodified(command.had, version_of(record))
        return record

    def read(self, command: Command, caller: Caller, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Return the answer of work that changes nothing."""
        if command.permission == PUBLIC or isinstance(caller, Anonymous | Owner):
            self.require_token(command, caller)
            return self._storage.read(work)
        # Rights and record are two statements that must see the same moment.
        return self.snapshot(command, caller, work)

    def check(self, command: Command, caller: Caller) -> None:
        """Refuse a caller who may not, before work that costs much; whatever then writes judges again."""
        self.require_token(command, caller)
        if isinstance(caller, SignedIn | KeyHolder):
            self.snapshot(command, caller, lambda _: None)

    def snapshot(self, command: Command, caller: Caller, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Return the answer of work that changes nothing and sees one moment, however much it reads."""
        return self.snapshot_as(command, caller, lambda uow, _: work(uow))

    def snapshot_as(
        self, command: Command, caller: Caller, work: Callable[[UnitOfWork, Rights | None], Answer]
    ) -> Answer:
        """Do the same for work that is told what the caller may do, None where that is everything."""
        self.require_token(command, caller)

        def permitted(uow: UnitOfWork) -> Answer:
            return work(uow, self._rights(uow, command, caller))

        answer = self._storage.snapshot(permitted)
        if isinstance(caller, KeyHolder):
            # Who may read is not kept from it because nobody can write at the moment.
            with suppress(StorageUnavailable):
                self._note_use(caller)
        return answer

    def stream_snapshot(self, command: Command, caller: Caller, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Do the same for work that lets out what it reads while it reads, which cannot be done twice.

        Raises:
            StorageUnavailable: also where other work would have been run again.
        """
        begun = False

        def once(uow: UnitOfWork) -> Answer:
            nonlocal begun
            if begun:
                raise StorageUnavailable(self._storage.server)
            begun = True
            return work(uow)

        return self.snapshot(command, caller, once)

    def write(self, command: Command, caller: Caller, work: Callable[[AuditedUnitOfWork], Answer]) -> Answer:
        """Return the answer of work that changes records, all of its changes or none; each goes into the history.

        A command under a key is done once: the next time its first answer is returned (contract F3).

        Raises:
            InvalidInput: another command had the key.
            Conflict: nobody would hold everything any more (contract B4).
        """
        return self.write_as(command, caller, lambda uow, _: work(uow))

    def write_as(
        self, command: Command, caller: Caller, work: Callable[[AuditedUnitOfWork, Rights | None], Answer]
    ) -> Answer:
        """Do the same for work that is told what the caller may do, None where that is everything."""
        self.require_token(command, caller)
        request = self._idempotency.request(command)

        def permitted(uow: UnitOfWork) -> Answer:
            held = self._rights(uow, command, caller)
            # Asking storage is what waits for other writes: the time after that is in the order of the changes.
            uow.changes.last_id()
            now = self._clock.now()
            if isinstance(caller, KeyHolder):
                _use(uow, caller, now)
            user_id = held.user_id if held else None
            done = recorded(
                lambda recording: work(recording, held),
                now,
                user_id=user_id,
                request_id=caller.request_id,
                held=held,
            )
            return done(uow) if request is None else self._idempotency.once(uow, request, caller, now, done)

        return self._storage.write(permitted)

    def side_transaction(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Return the answer of work that is no part of what a command asks for, and stands if that is refused.

        It changes no record.
        """
        return self._storage.write(work)

    def version(self) -> int:
        """Return the version of all records together: the last change, whichever record it is of; it is no secret."""
        return self._storage.read(lambda uow: uow.changes.last_id())

    def list(
        self,
        command: ListCommand,
        caller: Caller,
        page: Callable[[UnitOfWork, int, int, Filter], tuple[Record, ...]],
        id_of: Callable[[Record], int],
        kind: Kind | None,
        pages: Pages = SMALL_RECORDS,
        *,
        of: Callable[[UnitOfWork], object] = lambda _: None,
    ) -> Listing[Record]:
        """Return a list (contract E).

        Args:
            command: which part of the list.
            caller: who asks.
            page: fetches records that follow an id, -1 for the first ones, up to so many.
            id_of: the id of a record.
            kind: whose version the list has; None for changes, whose newest is their version.
            pages: how much is fetched at a time.
            of: makes sure that what the list belongs to is there.

        Raises:
            NotModified: the caller has it already.
        """
        where, after = command.filter(), -1 if command.after is None else command.after
        limit = command.limit

        def first(uow: UnitOfWork) -> tuple[int, tuple[Record, ...], bool]:
            of(uow)
            # The version first: a list that is newer than its version is fetched again, one that is older is not.
            version = _version_of_list(uow, kind)
            raise_if_unmodified(command.had, version)
            if limit is None:
                return version, page(uow, after, pages.first, where), True
            # One more than asked for tells whether more follows.
            return version, *pages.gathered(lambda last, size: page(uow, last, size, where), id_of, after, limit + 1)

        def fetch(last: int, size: int) -> tuple[Record, ...]:
            return self._storage.read(lambda uow: page(uow, last, size, where))

        version, found, goes_on = self.read(command, caller, first)
        if limit is None:
            return Listing(found, id_of, fetch, pages, after=after, version=version)
        shown = found[:limit]
        return Listing(shown, id_of, version=version, next_after=id_of(shown[-1]) if goes_on and shown else None)

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

    def _note_use(self, caller: KeyHolder) -> None:
        now = self._clock.now()
        found = self._storage.read(lambda uow: uow.keys.find(caller.key_hash))
        if found is not None and _is_good(found[0], now) and _is_stale(found[0], now):
            self._storage.write(lambda uow: _use(uow, caller, now))


def _rights_of_key(uow: UnitOfWork, caller: KeyHolder, now: int) -> Rights | None:
    """Return what the holder of a key may do, None where the key is not good."""
    found = uow.keys.find(caller.key_hash)
    if found is None:
        return None
    key, of_maker = found
    return of_maker.cut(key.scope) if _is_good(key, now) else None


def _version_of_list(uow: UnitOfWork, kind: Kind | None) -> int:
    return uow.changes.last_id() if kind is None else version_of_list(kind, uow.changes.last_of_kinds())


def _use(uow: UnitOfWork, caller: KeyHolder, now: int) -> None:
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
    """Tell whether a key is to be noted as used: it was not lately, or says a time that is yet to come."""
    return key.last_used_at is None or not 0 <= now - key.last_used_at < _USED_EVERY or key.created_at > now
