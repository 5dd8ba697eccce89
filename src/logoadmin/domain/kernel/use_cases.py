"""Use cases: methods of services, run in one transaction with the caller's rights (contract A19, B5, C5, F3).

:func:`reads`, :func:`reads_with_rights` and :func:`writes` give the method the signature that callers see::

    @writes
    def create(self, uow: AuditedUnitOfWork, command: CreateAuthor) -> Author: ...

    ann = gallery.authors.create(CreateAuthor(user_id=7, username="Ann"), caller)
"""

from collections.abc import Callable
from functools import partial, wraps
from inspect import signature
from types import FunctionType
from typing import Any, Protocol, TypeVar

from logoadmin.domain.kernel.access import (
    OWNER,
    PLAIN_REQUEST_ID,
    PUBLIC,
    ActingAs,
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
from logoadmin.domain.kernel.audited_unit_of_work import AuditedUnitOfWork, Auditing
from logoadmin.domain.kernel.command import DRY_RUN, Command, Input
from logoadmin.domain.kernel.errors import (
    EnrolmentRequired,
    InvalidToken,
    NotModified,
    PasswordChangeRequired,
    StorageUnavailable,
)
from logoadmin.domain.kernel.idempotency import Idempotency, IdempotentRequest, Unused
from logoadmin.domain.kernel.limits import MAX_ID, RequestId
from logoadmin.ports.kernel.environment import Clock
from logoadmin.ports.storage import Storage, UnitOfWork, WriteLock

Answer = TypeVar("Answer")
Asked = TypeVar("Asked", bound=Command)
AnswerOut = TypeVar("AnswerOut", covariant=True)
AskedIn = TypeVar("AskedIn", bound=Command, contravariant=True)

# The use of a service key is recorded at most this often, so that reads with a key seldom write.


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


class Callers(Protocol):
    """Callers as they are stored: their rights, and when service keys were used."""

    def rights(self, uow: UnitOfWork, caller: SignedIn | KeyHolder | ActingAs, now: int, /) -> Rights | None:
        """Return the rights of a caller, None for one whose token or key is not valid any more.

        Raises:
            NotFound: the user for whom the embedding program acts does not exist, or not any more.
        """

    def must_change_password(self, uow: UnitOfWork, user_id: int, /) -> bool:
        """Return whether a user signs in with the password that the first start generated (contract O5)."""

    def record_use(self, storage: Storage, caller: KeyHolder, now: int, /) -> None:
        """Record that a key was used; the caller neither waits nor fails if this cannot be stored now."""


class Transactions:
    """Runs the work of a command in one transaction, after reading the caller's rights in that transaction.

    Every method may raise NotAuthenticated, InvalidToken, NotPermitted, StorageUnavailable, and what the work raises.

    Attributes:
        storage: for work that depends on no rights.
    """

    def __init__(
        self,
        storage: Storage,
        policy: Policy,
        clock: Clock,
        idempotency: Idempotency,
        callers: Callers,
        auditing: Auditing,
    ) -> None:
        self.storage = storage
        self._policy = policy
        self._clock = clock
        self._idempotency = idempotency
        self._callers = callers
        self._auditing = auditing

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
            return self.storage.read(lambda uow: work(uow, command))
        # The rights and the record are two statements that must see the same moment.
        return self.snapshot(command, caller, work)

    def snapshot(self, command: Asked, caller: Caller, work: ReadWork[Asked, Answer]) -> Answer:
        """Return the answer of work that changes nothing and sees one moment, however much it reads."""
        return self.snapshot_with_rights(command, caller, lambda uow, command, _held: work(uow, command))

    def snapshot_with_rights(self, command: Asked, caller: Caller, work: ReadWorkWithRights[Asked, Answer]) -> Answer:
        """Do the same for work that depends on the caller's rights."""
        require_token(self._policy, command.permission, caller)
        try:
            answer = self.storage.snapshot(
                lambda uow: work(uow, command, self._rights(uow, command, caller, self._clock.now()))
            )
        except NotModified:
            if isinstance(caller, KeyHolder):
                self._callers.record_use(self.storage, caller, self._clock.now())
            raise
        if isinstance(caller, KeyHolder):
            self._callers.record_use(self.storage, caller, self._clock.now())
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
                raise StorageUnavailable(self.storage.server)
            begun = True
            return work(uow, command, held)

        return self.snapshot_with_rights(command, caller, once)

    def write(
        self, command: Asked, caller: Caller, work: WriteWork[Asked, Answer], unused: Unused[Answer] | None = None
    ) -> Answer:
        """Return the answer of work that changes records: all of its changes or none, each recorded in the history.

        A command with an idempotency key is done once: the next time its stored response is returned (contract F3), as
        long as the caller still holds the scopes that it required, and ``command.on_replay`` is called.

        A dry run is undone, once nothing can refuse it any more.

        If the answer has tokens, ``unused`` decides whether a stored one can be returned again.

        Raises:
            InvalidInput: another command had the key, or the history does not accept the id of the request.
            Conflict: nobody would hold everything any more (contract B4).
        """
        require_token(self._policy, command.permission, caller)
        if isinstance(caller.request_id, str) and PLAIN_REQUEST_ID.fullmatch(caller.request_id) is None:
            _RequestIdInput(request_id=caller.request_id)
        # Before the transaction: for a password this is a slow hash.
        request = None if command.idempotency_key is None else self._idempotency.request(command, caller)

        lock: WriteLock = "records" if command.changes_records else "sessions"
        in_transaction = partial(self._write, command=command, caller=caller, work=work, request=request, unused=unused)
        try:
            answer, is_replay = self.storage.write(in_transaction, lock, alone=command.takes_long)
        except _DryRun as end:
            undone: Answer = end.answer
            return undone
        if isinstance(caller, KeyHolder):
            self._callers.record_use(self.storage, caller, self._clock.now())
        if is_replay and command.on_replay is not None:
            command.on_replay()
        return answer

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
        now = self._clock.now()  # the write lock is held, so times are in the order of the changes
        held = self._rights(uow, command, caller, now)
        if request is not None:
            stored = self._idempotency.replay(uow, request, held, now, unused)
            if stored is not None:
                return stored, True
        request_id = caller.request_id
        if isinstance(request_id, SentRequestId):
            request_id = _unused_id(uow, request_id)
        audited = AuditedUnitOfWork(uow, self._auditing, now, request_id, held, command.origin, caller)
        answer = work(audited, command)
        audited.close()
        if getattr(command, DRY_RUN, False):
            raise _DryRun(answer)
        if request is not None:
            self._idempotency.store(uow, request, answer, held, now, tokens=unused is not None)
        return answer, False

    def _rights(self, uow: UnitOfWork, command: Command, caller: Caller, now: int) -> Rights | None:
        """Return the rights of a caller, once they are found to be enough; None for every right."""
        if isinstance(caller, Anonymous | Owner):
            return None
        held = self._callers.rights(uow, caller, now)
        if held is None:
            raise InvalidToken
        own = command.permission.self_field
        user_id = None if own is None else getattr(command, own)
        # An embedding program signs nobody in by that password, and under the open policy only what may come first
        # depends on it.
        is_first = held.ends_at is not None and (command.first_password or self._policy is Policy.GUARDED)
        is_allowed = (is_first and self._changes_first_password(uow, command, held, user_id)) or command.enrols
        if held.enrol_by is not None and not is_allowed and now >= held.enrol_by:
            raise EnrolmentRequired
        authorize(self._policy, command.permission, held, user_id)
        if command.recent:
            self._auditing.require_recent(uow, held, now)
        return held

    def _changes_first_password(self, uow: UnitOfWork, command: Command, held: Rights, user_id: int | None) -> bool:
        """Return whether a session does what the generated first password asks for, which comes before anything else.

        Raises:
            PasswordChangeRequired: it does something else, and the policy is ``guarded`` (contract O5).
        """
        if not self._callers.must_change_password(uow, held.user_id):
            return False
        if command.first_password and user_id in (None, held.user_id):
            return True
        if self._policy is Policy.GUARDED:
            raise PasswordChangeRequired
        return False


class _DryRun(Exception):
    """Leaves the transaction of a dry run, so that it is undone; not an error."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        super().__init__()


class _RequestIdInput(Input):
    """The id of a request, within the limits of searching the history for it (contract G3)."""

    request_id: RequestId


def _unused_id(uow: UnitOfWork, request_id: SentRequestId) -> str:
    """Return the id under which the history records a request: never one that it has already (contract G4)."""
    # One change is enough: the request may have been an import, and the write lock is held.
    if uow.changes.of_request(request_id.text, MAX_ID + 1, 1):
        request_id.use_replacement()
    return request_id.text


class Service:
    """A group of use cases; each may also raise the errors of :class:`Transactions`, or TypeError for no command."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, method in vars(cls).copy().items():
            # Those of reads and writes refuse other commands themselves.
            if isinstance(method, FunctionType) and not name.startswith("_") and "work" not in vars(method):
                expected = _command_of(method)
                if expected is not None:
                    setattr(cls, name, _with_command(method, expected))


def _command_of(method: Callable[..., Any]) -> Any:
    """Return the command that a use case takes, or a union of them; None for other methods."""
    for parameter in signature(method).parameters.values():
        if parameter.name in ("command", "_command"):
            return parameter.annotation
    return None


def _with_command(method: FunctionType, expected: Any) -> Callable[..., Any]:
    """Return a use case that refuses anything but its command, such as a dict."""

    @wraps(method)
    def use_case(service: Service, command: Command, *args: Any, **options: Any) -> Any:
        if not isinstance(command, expected):
            raise _no_command(method, expected, command)
        return method(service, command, *args, **options)

    return use_case


def _no_command(method: Callable[..., Any], expected: Any, given: object) -> TypeError:
    name = getattr(expected, "__name__", str(expected))
    return TypeError(f"{method.__qualname__} takes {name}, not {type(given).__name__}")


ServiceIn = TypeVar("ServiceIn", bound=Service, contravariant=True)
AnyService = TypeVar("AnyService", bound=Service)


class UseCase(Protocol[AskedIn, AnswerOut]):
    """A use case as callers see it."""

    def __call__(self, command: AskedIn, caller: Caller = OWNER) -> AnswerOut:
        """Do what the command asks for."""


class UseCaseOf(Protocol[ServiceIn, AskedIn, AnswerOut]):
    """A method of a service that is a use case."""

    def __get__(self, service: ServiceIn, owner: type[ServiceIn], /) -> UseCase[AskedIn, AnswerOut]:
        """Return the use case of one service."""


def reads(work: Callable[[AnyService, UnitOfWork, Asked], Answer]) -> UseCaseOf[AnyService, Asked, Answer]:
    """Make a use case of a method that reads, see :meth:`Transactions.read`."""

    expected = _command_of(work)

    def use_case(service: AnyService, command: Asked, caller: Caller = OWNER) -> Answer:
        if not isinstance(command, expected):
            raise _no_command(work, expected, command)
        return service.transactions.read(command, caller, partial(work, service))

    return _named_after(work, use_case)


def reads_with_rights(
    work: Callable[[AnyService, UnitOfWork, Asked, Rights | None], Answer],
) -> UseCaseOf[AnyService, Asked, Answer]:
    """Make a use case of a method that reads and depends on rights, see :meth:`Transactions.snapshot_with_rights`."""

    expected = _command_of(work)

    def use_case(service: AnyService, command: Asked, caller: Caller = OWNER) -> Answer:
        if not isinstance(command, expected):
            raise _no_command(work, expected, command)
        return service.transactions.snapshot_with_rights(command, caller, partial(work, service))

    return _named_after(work, use_case)


def writes(work: Callable[[AnyService, AuditedUnitOfWork, Asked], Answer]) -> UseCaseOf[AnyService, Asked, Answer]:
    """Make a use case of a method that changes records, see :meth:`Transactions.write`."""

    expected = _command_of(work)

    def use_case(service: AnyService, command: Asked, caller: Caller = OWNER) -> Answer:
        if not isinstance(command, expected):
            raise _no_command(work, expected, command)
        return service.transactions.write(command, caller, partial(work, service))

    return _named_after(work, use_case)


Function = TypeVar("Function", bound=Callable[..., Any])


def _named_after(work: Callable[..., Any], use_case: Function) -> Function:
    for name in ("__doc__", "__module__", "__name__", "__qualname__"):
        setattr(use_case, name, getattr(work, name))
    vars(use_case)["work"] = work
    return use_case


def work_of(service: Service, name: str) -> WriteWork[Any, Any]:
    """Return the work of a use case that changes records, for a transaction that is already open."""
    return partial(vars(getattr(type(service), name))["work"], service)
