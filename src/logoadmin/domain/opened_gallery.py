"""An opened gallery: its storage, what becomes of it in time, and its end (contract A20, K1, K2)."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from inspect import Signature, isasyncgen, isawaitable, isgenerator, signature
from types import TracebackType
from typing import Any, Final, Literal, Self, TypeVar, get_args

from logoadmin.domain.bound_storage import ClosedStorage, OpenTransaction
from logoadmin.domain.kernel.access import ActingAs, Owner
from logoadmin.domain.kernel.command import Input
from logoadmin.domain.kernel.errors import NotFound, StorageUnavailable
from logoadmin.domain.kernel.gate import Transactions
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.limits import UserId
from logoadmin.domain.kernel.use_cases import Service
from logoadmin.ports.environment import Clock
from logoadmin.ports.metrics import Milestone
from logoadmin.ports.storage import Storage, UnitOfWork

_ENDED: Final = "this gallery was bound to an atomic block, which has ended; use the gallery around the block"
_DEFERRED: Final = "atomic takes a function that has done its work when it returns, not a coroutine or a generator"
_CLOSED: Final = "the gallery is closed"
_MILESTONES: Final[tuple[Milestone, ...]] = get_args(Milestone)
Answer = TypeVar("Answer")
OwnService = TypeVar("OwnService", bound=Service)
Swept = Literal["done", "more", "busy"]


class ActingService:
    """A service whose use cases have a user as their caller, in place of the program itself."""

    def __init__(self, service: Service, caller: ActingAs) -> None:
        self.service = service
        self._caller = caller

    def __getattr__(self, name: str) -> Any:
        """Return a use case.

        Raises:
            AttributeError: the service has none of this name, or it takes no caller.
        """
        method = getattr(self.service, name)
        parameters = signature(method) if callable(method) else Signature()
        caller = parameters.parameters.get("caller")
        if name.startswith("_") or caller is None:
            raise AttributeError(f"{name} takes no caller: it is not for users, but for the program itself")

        @wraps(method)
        def use_case(*given: Any, **named: Any) -> Any:
            bound = parameters.bind(*given, **named)
            bound.apply_defaults()
            asked = bound.arguments["caller"]
            if isinstance(asked, Owner):
                bound.arguments["caller"] = replace(self._caller, request_id=asked.request_id, occasion=asked.occasion)
            return method(*bound.args, **bound.kwargs)

        return use_case


class OpenedGallery:
    """A gallery with its storage. A context manager that closes the database.

    Attributes:
        waits: whether its methods may wait for a database, so that an event loop must not call them.
        concurrent_reads: the best number of concurrent reads.
        product: the common name of the kind of database.
    """

    _transactions: Transactions
    _clock: Clock
    _acting: ActingAs | None
    admin_password: str | None
    waits: bool
    concurrent_reads: int
    product: str

    def connect_storage(self, transactions: Transactions) -> None:
        """Keep the storage of these transactions."""
        storage = transactions.storage
        self._transactions, self._clock, self._acting = transactions, transactions.clock, None
        self.waits, self.concurrent_reads, self.product = storage.waits, storage.concurrent_reads, storage.product

    @property
    def _storage(self) -> Storage:
        return self._transactions.storage

    @property
    def server(self) -> str:
        """Where the records are: host:port or a file's name, never a secret."""
        return self._storage.server

    def check(self) -> None:
        """Require that the database responds and its tables fit this program (contract K1).

        Raises:
            SchemaMismatch: they do not; the text has the solution.
            StorageUnavailable: the database is out of reach.
        """
        self._storage.check()

    def record_milestone(self, milestone: Milestone) -> None:
        """Record that something was done now, for metrics (contract K2)."""
        record_milestone(self._storage, milestone, self._clock.now())

    def milestones(self) -> Mapping[Milestone, int]:
        """Return the Unix time of each milestone, 0 before the first."""
        return self._storage.read(lambda uow: {each: int(uow.secrets.get(f"{each}_at") or 0) for each in _MILESTONES})

    def data_version(self) -> int | None:
        """Return a number that changes with any write, without waiting; None if finding out would take a wait."""
        return self._storage.data_version()

    def is_failing(self) -> bool:
        """Return whether every call of the database fails at present."""
        return self._storage.is_failing()

    def timed_out(self, *, writing: bool) -> StorageUnavailable:
        """Return the error for a client that stops waiting for a call; it is also logged."""
        return self._storage.timed_out(writing=writing)

    def atomic(self, work: Callable[[Self], Answer]) -> Answer:
        """Return the answer of work whose changes are stored in one transaction: all of them, or none if it raises.

        ::

            def publish(gallery: LogoAdmin) -> Logo:
                ann = gallery.authors.create(CreateAuthor(user_id=7, username="Ann"))
                ...

            logo = gallery.atomic(publish)

        A call that raises undoes its own changes; catch the error, and the others are kept. The work may run again,
        for example after a deadlock.

        Args:
            work: is given a gallery with the same use cases, bound to the transaction: its calls belong to it, and see
                what it changed before. That gallery can be used until the work returns, in the same thread.

        Raises:
            StorageUnavailable: the database is out of reach; all of the changes may have been stored, or none.
            TypeError: the work is a coroutine or a generator, which would run after the commit; nothing is stored.
            RuntimeError: the bound gallery is used after the work has returned, or in another thread; or this gallery
                is used in the work; or the work verifies a password or another proof, whose failures must stay counted.
        """
        thread = self._transactions.thread

        def transaction(uow: UnitOfWork) -> Answer:
            bound = self._bound_to(OpenTransaction(self._storage, uow))
            thread.is_writing = True
            try:
                answer = work(bound if self._acting is None else bound._for(self._acting))
                if isawaitable(answer) or isgenerator(answer) or isasyncgen(answer):
                    getattr(answer, "close", lambda: None)()  # a coroutine would warn that nobody awaits it
                    raise TypeError(_DEFERRED)
                return answer
            finally:
                thread.is_writing = False
                bound._transactions.storage = ClosedStorage(bound._storage, _ENDED)

        return self._storage.write(transaction, alone=True)

    def acting_as(self, user_id: int, *, signed_in_at: int = 0) -> Self:
        """Return the same services with the rights of a user, for a program that knows who its users are.

        Every call reads the rights in its own transaction, so a change of role or a removal takes effect at once, and
        the history names the user (contract B4, B5). Whatever takes no caller, such as ``publication.rotate_key``, is
        left to the program itself. A caller that is given explicitly is used instead, unless it is ``OWNER``.

        Args:
            user_id: the user. How they signed in is up to the program: no second factor is required. A user whom the
                issuer refused has no rights (contract O7).
            signed_in_at: when the program last made sure who the user is, as Unix time. More than 10 minutes later,
                or without it, what needs a recent sign-in raises RecentSignInRequired (contract O3).

        Returns:
            A view of this gallery, which is closed with it.

        Raises:
            InvalidInput: the id is not that of a user, such as a text.
            NotFound: the user does not exist; later calls raise it once the user is removed.
            StorageUnavailable: the database is out of reach.
        """
        user_id = _UserInput(user_id=user_id).user_id
        if self._storage.read(lambda uow: uow.records(USERS).get(user_id)) is None:
            raise NotFound("User", user_id)
        return self._for(ActingAs(user_id, signed_in_at=signed_in_at))

    def service(self, of: type[OwnService]) -> OwnService:
        """Return a service of a program's own, whose use cases run in this gallery, see docs/extend.md."""
        own = of(self._transactions)
        view: Any = own if self._acting is None else ActingService(own, self._acting)
        acting: OwnService = view
        return acting

    def _for(self, caller: ActingAs) -> Self:
        view = copy.copy(self)
        view._acting, view.admin_password = caller, None
        for name, service in vars(self).items():
            if isinstance(service, ActingService):
                service = service.service
            if isinstance(service, Service):
                setattr(view, name, ActingService(service, caller))
        return view

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return isinstance(self._storage, ClosedStorage)

    def close(self) -> None:
        """Close the database; can be repeated. Any other call raises RuntimeError afterwards.

        Does nothing in a view of :meth:`acting_as`, and in a gallery that is bound to an atomic block.
        """
        if self._acting is None:
            self._storage.close()
            if not isinstance(self._storage, OpenTransaction):
                self._transactions.storage = ClosedStorage(self._storage, _CLOSED)

    def _bound_to(self, transaction: OpenTransaction) -> Self:
        """Return a gallery with the same adapters and rules that is bound to a transaction."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _UserInput(Input):
    """The user for whom a program acts."""

    user_id: UserId


def record_milestone(storage: Storage, milestone: Milestone, now: int) -> None:
    """Record that something was done at a Unix time, where every process finds it.

    Raises:
        StorageUnavailable: the database is out of reach.
    """
    storage.write(lambda uow: uow.secrets.put(f"{milestone}_at", str(now)))
