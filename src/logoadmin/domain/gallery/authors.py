"""Authors (spec §Endpoints 6 and 7, contract A14, D)."""

from typing import Annotated

from logoadmin.domain.kernel.access import PUBLIC, Permission, Scope
from logoadmin.domain.kernel.command import UNSET, Command
from logoadmin.domain.kernel.kinds import AUTHORS
from logoadmin.domain.kernel.limits import AuthorId, CommunityId, Id, Username, described
from logoadmin.domain.kernel.lists import Listing, SearchedCommand
from logoadmin.domain.kernel.pagination import list_records
from logoadmin.domain.kernel.records import Author, RemovedAuthor
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, ReadUnitOfWork, get_unless_unmodified
from logoadmin.domain.kernel.use_cases import Service, reads, writes


class ListAuthors(SearchedCommand):
    """All authors, or those that match the filters."""

    user_id: Annotated[Id, described("The author with this number at the community site.", 1042)] | None = None


class CreateAuthor(Command):
    """A new author: their number and name at the community site."""

    user_id: CommunityId
    username: Username


class GetAuthor(Command):
    """An author by ``author_id``, not by the number at the community site."""

    author_id: AuthorId


class AmendAuthor(Command):
    """New values for an author; omitted fields are unchanged."""

    author_id: AuthorId
    user_id: CommunityId = UNSET
    username: Username = UNSET


class RemoveAuthor(Command):
    """The removal of an author, with the links to their logos and themes."""

    author_id: AuthorId


class AuthorService(Service):
    """The use cases of authors.

    Each raises NotFound if the author does not exist, and Outdated if it has none of the versions in ``if_match``.
    """

    @reads(PUBLIC)
    def list(self, uow: ReadUnitOfWork, command: ListAuthors) -> Listing[Author]:
        """Return all authors, by author_id (contract D, E1)."""
        return list_records(self, uow, command, AUTHORS)

    @writes(Permission(Scope.AUTHORS_WRITE, open_by_default=True))
    def create(self, uow: AuditedUnitOfWork, command: CreateAuthor) -> Author:
        """Create an author (spec §Endpoints 6).

        Raises:
            DuplicateEntry: the number or the name is taken.
        """
        return uow.records(AUTHORS).create(**command.own_values(), created_at=uow.now)

    @reads(PUBLIC)
    def get(self, uow: ReadUnitOfWork, command: GetAuthor) -> Author:
        """Return an author (contract D)."""
        return get_unless_unmodified(uow, AUTHORS, command)

    @writes(Permission(Scope.AUTHORS_WRITE, open_by_default=True))
    def amend(self, uow: AuditedUnitOfWork, command: AmendAuthor) -> Author:
        """Change an author (spec §Endpoints 7, §Rules 2).

        Raises:
            DuplicateUpdate: another author has the number or the name.
        """
        return uow.records(AUTHORS).amend(command.author_id, command.if_match, command.new_values())

    @writes(Permission(Scope.AUTHORS_WRITE))
    def remove(self, uow: AuditedUnitOfWork, command: RemoveAuthor) -> RemovedAuthor:
        """Remove an author and their links (contract D)."""
        uow.records(AUTHORS).get_for_change(command.author_id, command.if_match)
        uow.records(AUTHORS).remove(command.author_id)
        return RemovedAuthor(command.author_id)
