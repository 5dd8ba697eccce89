"""Use cases: each is one method of a service, which describes the work in a unit of work.

:func:`reads`, :func:`reads_with_rights` and :func:`writes` give the method the signature that callers see::

    @writes
    def create(self, uow: AuditedUnitOfWork, command: CreateAuthor) -> Author: ...

    ann = gallery.authors.create(CreateAuthor(user_id=7, username="Ann"), caller)
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, TypeVar

from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork
from logoadmin.domain.model.access import OWNER, Caller, Rights
from logoadmin.domain.model.command import Command
from logoadmin.domain.transactions import Transactions
from logoadmin.ports.storage import UnitOfWork

Answer = TypeVar("Answer")
Asked = TypeVar("Asked", bound=Command)
AnswerOut = TypeVar("AnswerOut", covariant=True)
AskedIn = TypeVar("AskedIn", bound=Command, contravariant=True)


class Service:
    """A group of use cases; each may also raise the errors of :class:`Transactions`."""

    def __init__(self, transactions: Transactions) -> None:
        self.transactions = transactions


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

    def use_case(service: AnyService, command: Asked, caller: Caller = OWNER) -> Answer:
        return service.transactions.read(command, caller, partial(work, service))

    return _named_after(work, use_case)


def reads_with_rights(
    work: Callable[[AnyService, UnitOfWork, Asked, Rights | None], Answer],
) -> UseCaseOf[AnyService, Asked, Answer]:
    """Make a use case of a method that reads and depends on rights, see :meth:`Transactions.snapshot_with_rights`."""

    def use_case(service: AnyService, command: Asked, caller: Caller = OWNER) -> Answer:
        return service.transactions.snapshot_with_rights(command, caller, partial(work, service))

    return _named_after(work, use_case)


def writes(work: Callable[[AnyService, AuditedUnitOfWork, Asked], Answer]) -> UseCaseOf[AnyService, Asked, Answer]:
    """Make a use case of a method that changes records, see :meth:`Transactions.write`."""

    def use_case(service: AnyService, command: Asked, caller: Caller = OWNER) -> Answer:
        return service.transactions.write(command, caller, partial(work, service))

    return _named_after(work, use_case)


Function = TypeVar("Function", bound=Callable[..., Any])


def _named_after(work: Callable[..., Any], use_case: Function) -> Function:
    for name in ("__doc__", "__module__", "__name__", "__qualname__"):
        setattr(use_case, name, getattr(work, name))
    return use_case
