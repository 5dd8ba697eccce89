"""Authors (spec §Endpoints 6 and 7, contract A14, D)."""

from collections.abc import Callable
from dataclasses import replace

from logoadmin.domain.audit.unit_of_work import AnyUnitOfWork, AuditedUnitOfWork
from logoadmin.domain.model.access import OWNER, PUBLIC, Caller, Permission, Scope
from logoadmin.domain.model.command import UNSET, Command
from logoadmin.domain.model.errors import NotFound
from logoadmin.domain.model.limits import Flag, Id, Target, Username
from logoadmin.domain.model.lists import ARTWORKS, Listing, SearchedCommand
from logoadmin.domain.model.records import Artwork, Author, Kind, Logo, RemovedAuthor, Theme
from logoadmin.domain.transactions import Transactions
from logoadmin.ports.clock import Clock
from logoadmin.ports.storage import Artworks, UnitOfWork


class ListArtworks(SearchedCommand):
    """Logos or themes: all of them, or those that are asked for."""

    permission = PUBLIC

    target: Target | None = None
    active: Flag | None = None


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
    """One author."""

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


class ListAuthorLogos(ListArtworks):
    """The logos that an author made, or those of them that are asked for."""

    author_id: Id


class ListAuthorThemes(ListArtworks):
    """The themes that an author made, or those of them that are asked for."""

    author_id: Id


class AuthorService:
    """What can be done with authors. Every method may also raise what :class:`Transactions` raises."""

    def __init__(self, transactions: Transactions, clock: Clock) -> None:
        self._transactions = transactions
        self._clock = clock

    def list(self, command: ListAuthors, caller: Caller = OWNER) -> Listing[Author]:
        """Return all authors, by author_id (contract D, E1)."""
        return self._transactions.list(
            command,
            caller,
            lambda uow, after, limit, where: uow.authors.page(after, limit, where),
            lambda author: author.author_id,
            Kind.AUTHOR,
        )

    def create(self, command: CreateAuthor, caller: Caller = OWNER) -> Author:
        """Create an author (spec §Endpoints 6).

        Raises:
            DuplicateEntry: the number or the name is taken.
        """

        def work(uow: AuditedUnitOfWork) -> Author:
            author = Author(uow.authors.next_id(), command.user_id, command.username, self._clock.now())
            return uow.authors.add(author)

        return self._transactions.write(command, caller, work)

    def get(self, command: GetAuthor, caller: Caller = OWNER) -> Author:
        """Return an author (contract D).

        Raises:
            NotFound: there is no such author.
        """
        return self._transactions.record(command, caller, lambda uow: found_author(uow, command.author_id))

    def amend(self, command: AmendAuthor, caller: Caller = OWNER) -> Author:
        """Change an author (spec §Endpoints 7).

        Raises:
            NotFound: there is no such author.
            DuplicateUpdate: another author has the number or the name.
            Outdated: it is not the version that the caller saw.
        """

        def work(uow: AuditedUnitOfWork) -> Author:
            author = uow.authors.get_for_change(command.author_id, command.seen)
            amended = replace(author, **command.changes())
            return author if amended == author else uow.authors.update(amended)

        return self._transactions.write(command, caller, work)

    def remove(self, command: RemoveAuthor, caller: Caller = OWNER) -> RemovedAuthor:
        """Remove an author and their links (contract D).

        Raises:
            NotFound: there is no such author.
            Outdated: it is not the version that the caller saw.
        """

        def work(uow: AuditedUnitOfWork) -> RemovedAuthor:
            uow.authors.get_for_change(command.author_id, command.seen)
            uow.authors.remove(command.author_id)
            return RemovedAuthor(command.author_id)

        return self._transactions.write(command, caller, work)

    def logos(self, command: ListAuthorLogos, caller: Caller = OWNER) -> Listing[Logo]:
        """Return the logos of an author, by logo_id (contract D).

        Raises:
            NotFound: there is no such author.
        """
        return self._artworks(Kind.LOGO, lambda uow: uow.logos, command, caller)

    def themes(self, command: ListAuthorThemes, caller: Caller = OWNER) -> Listing[Theme]:
        """Return the themes of an author, by theme_id (contract D).

        Raises:
            NotFound: there is no such author.
        """
        return self._artworks(Kind.THEME, lambda uow: uow.themes, command, caller)

    def _artworks(
        self,
        kind: Kind,
        repository: Callable[[UnitOfWork], Artworks[Artwork]],
        command: ListAuthorLogos | ListAuthorThemes,
        caller: Caller,
    ) -> Listing[Artwork]:
        return self._transactions.list(
            command,
            caller,
            lambda uow, after, limit, where: repository(uow).page(after, limit, where),
            kind.id_of,
            kind,
            ARTWORKS,
            of=lambda uow: found_author(uow, command.author_id),
        )


def found_author(uow: AnyUnitOfWork, author_id: int) -> Author:
    """Return an author who must be there, or raise NotFound."""
    author = uow.authors.get(author_id)
    if author is None:
        raise NotFound("Author", author_id)
    return author
