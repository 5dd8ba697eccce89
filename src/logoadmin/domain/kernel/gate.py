"""The gate of a use case: its work runs in one transaction with the caller's rights (contract A19, B5, B6, C5, F3)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from threading import local
from typing import Any, Final, Protocol, TypeVar

from logoadmin.domain.kernel.access import (
    ALL_RIGHTS,
    PLAIN_REQUEST_ID,
    PUBLIC,
    ActingAs,
    Anonymous,
    Caller,
    Held,
    KeyHolder,
    Owner,
    Permission,
    Policy,
    Rights,
    SentRequestId,
    SignedIn,
    authorize,
    require_token,
)
from logoadmin.domain.kernel.audited_records import hidden
from logoadmin.domain.kernel.command import Command, Input
from logoadmin.domain.kernel.errors import EnrolmentRequired, NotModified, PasswordChangeRequired, StorageUnavailable
from logoadmin.domain.kernel.idempotency import Idempotency, IdempotentRequest
from logoadmin.domain.kernel.limits import RequestId
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, Auditing, ReadUnitOfWork, close
from logoadmin.ports.environment import Clock
from logoadmin.ports.storage import Storage, UnitOfWork

_NESTED: Final = (
    "this thread is in a write of this gallery; in an atomic block, use the gallery that its function was given"
)
Answer = TypeVar("Answer")
Asked = TypeVar("Asked", bound=Command)
# The work of a command. It may run again from its start and touches nothing but the unit of work.
ReadWork = Callable[[ReadUnitOfWork, Asked], Answer]
ReadWorkWithRights = Callable[[ReadUnitOfWork, Asked, Held], Answer]
WriteWork = Callable[[AuditedUnitOfWork, Asked], Answer]


class Callers(Protocol):
    """Callers as they are stored: their rights, and when service keys were used."""

    def rights(self, uow: UnitOfWork, caller: SignedIn | KeyHolder | ActingAs, now: int, /) -> Rights:
        """Return the rights of a caller.

        Raises:
            InvalidToken: the token or the key is not valid any more.
            NotFound: the user for whom the embedding program acts does not exist, or not any more.
        """

    def record_use(self, storage: Storage, caller: KeyHolder, now: int, /) -> None:
        """Record that a key was used; the caller neither waits nor fails if this cannot be stored now."""


class _Thread(local):
    """State of a thread; a process that was forked has none of the other threads'."""

    is_writing = False


@dataclass(slots=True)
class Transactions:
    """The dependencies that all gates of a gallery share.

    Attributes:
        thread: whether the current thread is in a write, which may run functions of the embedding program.
    """

    _storage: Storage
    policy: Policy
    clock: Clock
    idempotency: Idempotency
    callers: Callers
    auditing: Auditing
    thread: _Thread = field(default_factory=_Thread)

    @property
    def storage(self) -> Storage:
        """The storage.

        Raises:
            RuntimeError: this thread is in a write.
        """
        if self.thread.is_writing:
            raise RuntimeError(_NESTED)
        return self._storage

    @storage.setter
    def storage(self, storage: Storage) -> None:
        self._storage = storage


class Gate:
    """Runs the work of a use case in one transaction, after reading the caller's rights in that transaction.

    Every method may raise NotAuthenticated, InvalidToken, NotPermitted, StorageUnavailable, and what the work raises.

    Attributes:
        permission: the right that the use case requires.
    """

    __slots__ = ("_shared", "permission")

    def __init__(self, transactions: Transactions, permission: Permission) -> None:
        self.permission = permission
        _SHARED.__set__(self, transactions)

    def require_token(self, caller: Caller) -> None:
        """Reject a caller without a token if the use case requires one; every other method does this first."""
        require_token(transactions_of(self).policy, self.permission, caller)

    def check(self, command: Command, caller: Caller) -> Held:
        """Return the rights of a caller with the right, before expensive work; the write that follows checks again."""
        self.require_token(caller)
        if isinstance(caller, Anonymous | Owner):
            return ALL_RIGHTS
        return self.snapshot_with_rights(command, caller, lambda _uow, _command, held: held)

    def read(self, command: Asked, caller: Caller, work: ReadWork[Asked, Answer]) -> Answer:
        """Return the answer of work that changes nothing; its statements may each see another moment."""
        if self.permission == PUBLIC or isinstance(caller, Anonymous | Owner):
            self.require_token(caller)
            return transactions_of(self).storage.read(lambda uow: work(ReadUnitOfWork(uow, caller), command))
        # The rights and the record are two statements that must see the same moment.
        return self.snapshot_with_rights(command, caller, lambda uow, command, _held: work(uow, command))

    def snapshot_with_rights(self, command: Asked, caller: Caller, work: ReadWorkWithRights[Asked, Answer]) -> Answer:
        """Return the answer of work that changes nothing, sees one moment and depends on the caller's rights."""
        self.require_token(caller)
        shared = transactions_of(self)

        def in_snapshot(uow: UnitOfWork) -> Answer:
            held = self._rights(uow, command, caller, shared.clock.now())
            return work(ReadUnitOfWork(uow, caller), command, held)

        try:
            answer = shared.storage.snapshot(in_snapshot)
        except NotModified:
            self._record_use(caller)
            raise
        self._record_use(caller)
        return answer

    def stream_snapshot(self, command: Asked, caller: Caller, work: ReadWorkWithRights[Asked, Answer]) -> Answer:
        """Do the same for work that sends what it reads while it reads, so that it cannot run twice.

        Raises:
            StorageUnavailable: also where other work would have run again.
        """
        begun = False

        def once(uow: ReadUnitOfWork, command: Asked, held: Held) -> Answer:
            nonlocal begun
            if begun:
                raise StorageUnavailable(transactions_of(self).storage.server)
            begun = True
            return work(uow, command, held)

        return self.snapshot_with_rights(command, caller, once)

    def write(self, command: Asked, caller: Caller, work: WriteWork[Asked, Answer]) -> Answer:
        """Return the answer of work that changes records: all of its changes or none, each recorded in the history.

        A command with an idempotency key is done once: the next time its stored response is returned (contract F3), as
        long as the caller still holds the scopes that it required, and ``command.on_replay`` is called.

        A dry run is undone, once nothing can refuse it any more.

        Raises:
            InvalidInput: another command had the key, or the history does not accept the id of the request.
            Conflict: nobody would hold everything any more (contract B4).
        """
        shared = transactions_of(self)
        require_token(shared.policy, self.permission, caller)
        request = shared.idempotency.request(command, caller)
        is_first = False
        if isinstance(caller.request_id, SentRequestId):
            is_first, caller.request_id.is_used = not caller.request_id.is_used, True
        else:
            _check_request_id(caller.request_id)
        in_transaction = partial(
            self._write, command=command, caller=caller, work=work, request=request, is_first=is_first
        )
        try:
            answer, is_replay = shared.storage.write(in_transaction, alone=command.takes_long)
        except _DryRun as end:
            undone: Answer = end.answer
            return undone
        self._record_use(caller)
        if is_replay and command.on_replay is not None:
            command.on_replay()
        return answer

    def replayed(self, command: Command, caller: Caller) -> Any:
        """Return the stored response to a command that was done before, which no limit counts again; None otherwise.

        Raises:
            InvalidInput: another command had the idempotency key.
        """
        shared = transactions_of(self)
        request = shared.idempotency.request(command, caller)
        if request is None:
            return None

        def stored(uow: UnitOfWork) -> Any:
            now = shared.clock.now()
            return shared.idempotency.replay(uow, request, self._rights(uow, command, caller, now), now)

        answer = shared.storage.write(stored)
        if answer is not None and command.on_replay is not None:
            command.on_replay()
        return answer

    def _write(
        self,
        uow: UnitOfWork,
        command: Asked,
        caller: Caller,
        work: WriteWork[Asked, Answer],
        request: IdempotentRequest | None,
        *,
        is_first: bool,
    ) -> tuple[Answer, bool]:
        """Return the answer of work or the stored one, and whether it is the stored one."""
        shared = transactions_of(self)
        now = shared.clock.now()  # the write lock is held, so times are in the order of the changes
        held = self._rights(uow, command, caller, now)
        if request is not None:
            stored = shared.idempotency.replay(uow, request, held, now)
            if stored is not None:
                return stored, True
        request_id = caller.request_id
        if isinstance(request_id, SentRequestId):
            request_id = _unused_id(uow, request_id) if is_first else request_id.text
        audited = AuditedUnitOfWork(
            uow, shared.auditing, now, request_id, held, command.origin, caller, is_first=is_first
        )
        shared.thread.is_writing = True
        try:
            answer = work(audited, command)
        finally:
            shared.thread.is_writing = False
        close(audited)
        if command.is_dry_run:
            raise _DryRun(answer)
        if request is not None:
            shared.idempotency.store(uow, request, answer, held, now)
        return answer, False

    def _record_use(self, caller: Caller) -> None:
        if isinstance(caller, KeyHolder):
            shared = transactions_of(self)
            shared.callers.record_use(shared.storage, caller, shared.clock.now())

    def _rights(self, uow: UnitOfWork, command: Command, caller: Caller, now: int) -> Held:
        """Return the rights of a caller, once they are found to be enough."""
        if isinstance(caller, Anonymous | Owner):
            return ALL_RIGHTS
        shared, permission = transactions_of(self), self.permission
        held = shared.callers.rights(uow, caller, now)
        user_id = None if permission.self_field is None else getattr(command, permission.self_field)
        # The generated first password comes before a second factor, and both before anything else.
        is_first = held.must_change_password and permission.first_password and user_id in (None, held.user_id)
        if held.must_change_password and not is_first and shared.policy is Policy.GUARDED:
            raise PasswordChangeRequired
        if held.must_enrol and not (is_first or permission.enrols):
            raise EnrolmentRequired
        authorize(shared.policy, permission, held, user_id)
        if permission.recent:
            shared.auditing.require_recent(uow, held, now)
        return held


_SHARED: Final = hidden(Gate, "_shared")
# The dependencies of a gate, for the contexts.
transactions_of: Final[Callable[[Gate], Transactions]] = _SHARED.__get__


class _DryRun(Exception):
    """Leaves the transaction of a dry run, so that it is undone; not an error."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        super().__init__()


class _RequestIdInput(Input):
    """The id of a request, within the limits of searching the history for it (contract G3)."""

    request_id: RequestId


def _check_request_id(request_id: Any) -> None:
    """Require that the history accepts the id of a request.

    Raises:
        InvalidInput: it does not.
    """
    if request_id is not None and not (isinstance(request_id, str) and PLAIN_REQUEST_ID.fullmatch(request_id)):
        _RequestIdInput(request_id=request_id)


def _unused_id(uow: UnitOfWork, request_id: SentRequestId) -> str:
    """Return the id under which the history records a request: never one that it has already (contract G4)."""
    if request_id.text != request_id.replacement and uow.acts.of_request(request_id.text) is not None:
        request_id.text = request_id.replacement
    return request_id.text
