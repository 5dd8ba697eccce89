"""Use cases: methods of services, run in one transaction with the caller's rights (contract A19, B5, B6, C5, F3).

:func:`reads`, :func:`reads_with_rights` and :func:`writes` name the right that a use case requires, and give the method
the signature that callers see::

    @writes(Permission(Scope.AUTHORS_WRITE))
    def create(self, uow: AuditedUnitOfWork, command: CreateAuthor) -> Author: ...

    ann = gallery.authors.create(CreateAuthor(user_id=7, username="Ann"), caller)

A use case that does more than the work of one transaction is a :func:`use_case`. One that names no right is for the
embedding program alone. Each refuses every command that is not exactly of its type, before anything is read.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction, signature
from types import FunctionType, UnionType
from typing import Any, ClassVar, Concatenate, Final, ParamSpec, Protocol, TypeVar, get_args, overload

from logoadmin.domain.kernel.access import NOBODY, OWNER, Caller, Held, Permission
from logoadmin.domain.kernel.audited_records import hidden
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.gate import Gate, Transactions, WriteWork, transactions_of
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, ReadUnitOfWork
from logoadmin.ports.storage import Storage

Answer = TypeVar("Answer")
Asked = TypeVar("Asked", bound=Command)
AnswerOut = TypeVar("AnswerOut", covariant=True)
AskedIn = TypeVar("AskedIn", bound=Command, contravariant=True)

# The command and the right of each use case of one kind of record, by the name of the method.
UseCasesOfKind = Mapping[str, tuple[type[Command], Permission]]


class OfKind:
    """Stands for the right in the row of a service's kind, which also has the command."""


OF_KIND: Final = OfKind()
# The right of a use case; of one that takes commands of several types, it may be that of each.
Right = Permission | Mapping[type[Command], Permission] | OfKind


class Service:
    """A group of use cases; each may also raise the errors of :class:`Gate`, or TypeError for another command.

    Attributes:
        use_cases: the row of its kind.
    """

    __slots__ = ("__dict__", "_gates", "_transactions")

    use_cases: ClassVar[UseCasesOfKind] = {}

    def __init__(self, transactions: Transactions) -> None:
        self._gates: dict[tuple[str, type], Gate] = {}
        _TRANSACTIONS.__set__(self, transactions)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, method in vars(cls).items():
            if isinstance(method, FunctionType) and not name.startswith("_") and not hasattr(method, "right"):
                raise TypeError(f"{cls.__qualname__}.{name} names no right: see reads, writes and use_case")


_TRANSACTIONS: Final = hidden(Service, "_transactions")
# The dependencies of a service's gates, for the contexts.
behind: Final[Callable[[Service], Transactions]] = _TRANSACTIONS.__get__


def storage_of(of: Service | Gate) -> Storage:
    """Return the storage of a context's own service, for work that depends on no rights."""
    return (behind(of) if isinstance(of, Service) else transactions_of(of)).storage


def gate_of(service: Service, name: str, command: Command) -> Gate:
    """Return the gate of a use case.

    Raises:
        TypeError: it does not take commands of exactly this type (contract B6).
    """
    gates, key = service._gates, (name, type(command))
    gate = gates.get(key)
    if gate is None:
        gate = gates[key] = Gate(behind(service), right_of(type(service), name, type(command)))
    return gate


def right_of(service: type[Service], name: str, command: type[Command]) -> Permission:
    """Return the right that a use case requires (contract B6).

    Raises:
        TypeError: it does not take commands of exactly this type.
    """
    rights = rights_of(service, name)
    if command not in rights:
        expected = " or ".join(each.__name__ for each in rights)
        raise TypeError(f"{service.__name__}.{name} takes {expected}, not {command.__name__}")
    return rights[command]


def rights_of(service: type[Service], name: str) -> Mapping[type[Command], Permission]:
    """Return the right that a use case requires for each type of command that it takes."""
    method: Any = getattr(service, name)
    right: Right = method.right
    if isinstance(right, OfKind):
        return dict([service.use_cases[name]])
    return dict.fromkeys(_commands_of(method.work), right) if isinstance(right, Permission) else right


@lru_cache(maxsize=256)  # more than there are use cases
def _commands_of(work: Callable[..., Any]) -> tuple[type[Command], ...]:
    """Return the types of command that the work of a use case takes."""
    parameters = signature(work, eval_str=True).parameters
    found = [parameters[name].annotation for name in ("command", "_command") if name in parameters]
    types = tuple(each for kind in found for each in (get_args(kind) if isinstance(kind, UnionType) else (kind,)))
    if not types or not all(isinstance(each, type) and issubclass(each, Command) for each in types):
        raise TypeError(f"{work.__qualname__} needs a parameter `command` with the type of its command")
    return types


ServiceIn = TypeVar("ServiceIn", bound=Service, contravariant=True)
AnyService = TypeVar("AnyService", bound=Service)
Others = ParamSpec("Others")
Function = TypeVar("Function", bound=Callable[..., Any])


class UseCase(Protocol[AskedIn, AnswerOut]):
    """A use case as callers see it."""

    def __call__(self, command: AskedIn, caller: Caller = OWNER) -> AnswerOut:
        """Do what the command asks for."""


class UseCaseOf(Protocol[ServiceIn, AskedIn, AnswerOut]):
    """A method of a service that is a use case."""

    __name__: str
    __qualname__: str

    @overload
    def __get__(self, service: None, owner: type[Any], /) -> "UseCaseOf[ServiceIn, AskedIn, AnswerOut]": ...

    @overload
    def __get__(self, service: ServiceIn, owner: type[ServiceIn], /) -> UseCase[AskedIn, AnswerOut]:
        """Return the use case of one service."""


def reads(
    right: Right = NOBODY,
) -> Callable[[Callable[[AnyService, ReadUnitOfWork, Asked], Answer]], UseCaseOf[AnyService, Asked, Answer]]:
    """Make a use case of a method that reads, see :meth:`Gate.read`."""
    return _run_by(Gate.read, right)


def reads_with_rights(
    right: Right = NOBODY,
) -> Callable[[Callable[[AnyService, ReadUnitOfWork, Asked, Held], Answer]], UseCaseOf[AnyService, Asked, Answer]]:
    """Make a use case of a method that reads and depends on rights, see :meth:`Gate.snapshot_with_rights`."""
    return _run_by(Gate.snapshot_with_rights, right)


def writes(
    right: Right = NOBODY,
) -> Callable[[Callable[[AnyService, AuditedUnitOfWork, Asked], Answer]], UseCaseOf[AnyService, Asked, Answer]]:
    """Make a use case of a method that changes records, see :meth:`Gate.write`."""
    return _run_by(Gate.write, right)


def _run_by(run: Callable[..., Any], right: Right) -> Callable[[Callable[..., Any]], Any]:
    """Return the decorator for work that a method of its gate runs."""

    def decorated(work: Callable[..., Any]) -> Any:
        name, shown = work.__name__, work.__annotations__

        def use_case(self: Service, command: Command, caller: Caller = OWNER) -> Any:
            gate = self._gates.get((name, type(command))) or gate_of(self, name, command)
            return run(gate, command, caller, partial(work, self))

        given = [each for each in ("command", "_command", "return") if each in shown]
        use_case.__annotations__ |= {each.lstrip("_"): shown[each] for each in given}
        return _named_after(work, right, use_case)

    return decorated


def use_case(
    right: Right = NOBODY,
) -> Callable[
    [Callable[Concatenate[AnyService, Gate, Asked, Others], Answer]],
    Callable[Concatenate[AnyService, Asked, Others], Answer],
]:
    """Make a use case of a method that goes through its gate itself."""

    def decorated(
        work: Callable[Concatenate[AnyService, Gate, Asked, Others], Answer],
    ) -> Callable[Concatenate[AnyService, Asked, Others], Answer]:
        name, parameters = work.__name__, signature(work)

        def through_gate(
            service: AnyService, command: Asked, /, *args: Others.args, **options: Others.kwargs
        ) -> Answer:
            gate = service._gates.get((name, type(command))) or gate_of(service, name, command)
            return work(service, gate, command, *args, **options)

        shown = [each for each in parameters.parameters.values() if each.name != "gate"]
        vars(through_gate)["__signature__"] = parameters.replace(parameters=shown)
        return _named_after(work, right, through_gate)

    return decorated


def for_program(method: Function) -> Function:
    """Mark a method that takes no command and no caller: it is for the embedding program alone."""
    vars(method)["right"] = NOBODY
    return method


def _named_after(work: Callable[..., Any], right: Right, use_case: Function) -> Function:
    if not isinstance(right, Permission | Mapping | OfKind):  # a decorator without brackets
        raise TypeError(f"{work.__qualname__} names no right: write it in brackets, such as @writes(SIGNED_IN)")
    if isgeneratorfunction(work) or iscoroutinefunction(work) or isasyncgenfunction(work):
        raise TypeError(
            f"{work.__qualname__} would run after its transaction: a use case must not be async or a generator"
        )
    for name in ("__doc__", "__module__", "__name__", "__qualname__"):
        setattr(use_case, name, getattr(work, name))
    vars(use_case).update(work=work, right=right)
    return use_case


def work_of(service: Service, name: str, command: Command) -> WriteWork[Any, Any]:
    """Return the work of a use case that changes records, for a transaction that is already open.

    Its right is to be judged there.

    Raises:
        TypeError: it does not take such commands.
    """
    gate_of(service, name, command)
    return partial(getattr(type(service), name).work, service)
