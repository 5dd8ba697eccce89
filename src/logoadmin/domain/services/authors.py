"""Authors (spec §Endpoints 6 and 7, contract A14, D)."""

from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork
from logoadmin.domain.model.access import OWNER, PUBLIC, Caller, Permission, Scope
from logoadmin.domain.model.command import UNSET, Command
from logoadmin.domain.model.kinds import AUTHORS
from logoadmin.domain.model.limits import Id, Username
from logoadmin.domain.model.lists import Listing, SearchedCommand
from logoadmin.domain.model.records import Author, RemovedAuthor
from logoadmin.domain.transactions import Transactions


class ListAuthors(SearchedCommand):
    """All authors, or those that are asked for."""

    permission = PUBLIC

    user_id: Id | None = None


class CreateAuthor(Command):
    """A new author: their number and name at the community site."""

    permission = Permission(Scope.AUTHORS_WRITE, open_by_default=True)

    user_id: Id
    username: Username


class GetAuthor(Command):
    """An author by the id here, not by the number at the community site."""

    permission = PUBLIC

    author_id: Id


class AmendAuthor(Command):
    """New values for an author; what is not given stays."""

    permission = Permission(Scope.AUTHORS_WRITE, open_by_default=True)

    author_id: Id
    user_id: Id = UNSET
    username: Username = UNSET


class RemoveAuthor(Command):
    """The end of an author, and of the links to what they made."""

    permission = Permission(Scope.AUTHORS_WRITE)

    author_id: Id


class AuthorService:
    """What can be done with authors. Every method may also raise what :class:`Transactions` raises."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def list(self, command: ListAuthors, caller: Caller = OWNER) -> Listing[Author]:
        """Return all authors, by author_id (contract D, E1)."""
        return self._transactions.list(command, caller, AUTHORS)

    def create(self, command: CreateAuthor, caller: Caller = OWNER) -> Author:
        """Create an author (spec §Endpoints 6).

        Raises:
            DuplicateEntry: the number or the name is taken.
        """
        return self._transactions.write(command, caller, self._create)

    def get(self, command: GetAuthor, caller: Caller = OWNER) -> Author:
        """Return an author (contract D).

        Raises:
            NotFound: there is no such author.
        """
        return self._transactions.get(command, caller, AUTHORS)

    def amend(self, command: AmendAuthor, caller: Caller = OWNER) -> Author:
        """Change an author (spec §Endpoints 7).

        Raises:
            NotFound: there is no such author.
            DuplicateUpdate: another author has the number or the name.
            Outdated: it has none of the versions in ``if_match``.
        """
        return self._transactions.write(command, caller, self._amend)

    def remove(self, command: RemoveAuthor, caller: Caller = OWNER) -> RemovedAuthor:
        """Remove an author and their links (contract D).

        Raises:
            NotFound: there is no such author.
            Outdated: it has none of the versions in ``if_match``.
        """
        return self._transactions.write(command, caller, self._remove)

    def _create(self, uow: AuditedUnitOfWork, command: CreateAuthor) -> Author:
        authors = uow.records(AUTHORS)
        return authors.add(Author(authors.next_id(), **command.model_dump(), created_at=uow.now))

    def _amend(self, uow: AuditedUnitOfWork, command: AmendAuthor) -> Author:
        return uow.records(AUTHORS).amend(command.author_id, command.if_match, command.changes())

    def _remove(self, uow: AuditedUnitOfWork, command: RemoveAuthor) -> RemovedAuthor:
        uow.records(AUTHORS).get_for_change(command.author_id, command.if_match)
        uow.records(AUTHORS).remove(command.author_id)
        return RemovedAuthor(command.author_id)
