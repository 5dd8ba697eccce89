"""Authors (spec §Endpoints 6 and 7, contract A14, D)."""

from dataclasses import replace

from logoadmin.domain.access import OWNER, PUBLIC, Caller, Need, Scope
from logoadmin.domain.command import UNCHANGED, Command
from logoadmin.domain.errors import NotFound
from logoadmin.domain.limits import Id, Username
from logoadmin.domain.lists import PIECES, Listing
from logoadmin.domain.records import Author, Logo, RemovedAuthor, Theme
from logoadmin.domain.transactions import Transactions
from logoadmin.ports.clock import Clock
from logoadmin.ports.storage import UnitOfWork


class ListAuthors(Command):
    """All authors."""

    need = PUBLIC


class CreateAuthor(Command):
    """A new author: their number and name at the community site."""

    need = Need(Scope.AUTHORS_WRITE, specified=True)

    user_id: Id
    username: Username


class GetAuthor(Command):
    """One author."""

    need = PUBLIC

    author_id: Id


class AmendAuthor(Command):
    """New values for an author; what is not given stays."""

    need = Need(Scope.AUTHORS_WRITE, specified=True)

    author_id: Id
    user_id: Id = UNCHANGED
    username: Username = UNCHANGED


class RemoveAuthor(Command):
    """The end of an author, and of the links to what they made."""

    need = Need(Scope.AUTHORS_WRITE)

    author_id: Id


class ListAuthorLogos(Command):
    """The logos that an author made."""

    need = PUBLIC

    author_id: Id


class ListAuthorThemes(Command):
    """The themes that an author made."""

    need = PUBLIC

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
            lambda uow, after, limit: uow.authors.page(after, limit),
            lambda author: author.author_id,
        )

    def create(self, command: CreateAuthor, caller: Caller = OWNER) -> Author:
        """Create an author (spec §Endpoints 6).

        Raises:
            DuplicateEntry: the number or the name is taken.
        """

        def work(uow: UnitOfWork) -> Author:
            author = Author(uow.authors.next_id(), command.user_id, command.username, self._clock.now())
            uow.authors.add(author)
            return author

        return self._transactions.write(command, caller, work)

    def get(self, command: GetAuthor, caller: Caller = OWNER) -> Author:
        """Return an author (contract D).

        Raises:
            NotFound: there is no such author.
        """
        return self._transactions.read(command, caller, lambda uow: found_author(uow, command.author_id))

    def amend(self, command: AmendAuthor, caller: Caller = OWNER) -> Author:
        """Change an author (spec §Endpoints 7).

        Raises:
            NotFound: there is no such author.
            DuplicateUpdate: another author has the number or the name.
        """

        def work(uow: UnitOfWork) -> Author:
            author = found_author(uow, command.author_id)
            amended = replace(author, **command.changes())
            if amended != author:
                uow.authors.update(amended)
            return amended

        return self._transactions.write(command, caller, work)

    def remove(self, command: RemoveAuthor, caller: Caller = OWNER) -> RemovedAuthor:
        """Remove an author and their links (contract D).

        Raises:
            NotFound: there is no such author.
        """

        def work(uow: UnitOfWork) -> RemovedAuthor:
            if not uow.authors.remove(command.author_id):
                raise NotFound("Author", command.author_id)
            return RemovedAuthor(command.author_id)

        return self._transactions.write(command, caller, work)

    def logos(self, command: ListAuthorLogos, caller: Caller = OWNER) -> Listing[Logo]:
        """Return the logos of an author, by logo_id (contract D).

        Raises:
            NotFound: there is no such author.
        """

        def page(uow: UnitOfWork, after: int, limit: int) -> tuple[Logo, ...]:
            if after < 0:
                found_author(uow, command.author_id)
            return uow.logos.page(after, limit, command.author_id)

        return self._transactions.list(command, caller, page, lambda logo: logo.logo_id, PIECES)

    def themes(self, command: ListAuthorThemes, caller: Caller = OWNER) -> Listing[Theme]:
        """Return the themes of an author, by theme_id (contract D).

        Raises:
            NotFound: there is no such author.
        """

        def page(uow: UnitOfWork, after: int, limit: int) -> tuple[Theme, ...]:
            if after < 0:
                found_author(uow, command.author_id)
            return uow.themes.page(after, limit, command.author_id)

        return self._transactions.list(command, caller, page, lambda theme: theme.theme_id, PIECES)


def found_author(uow: UnitOfWork, author_id: int) -> Author:
    """Return an author who must be there, or raise NotFound."""
    author = uow.authors.get(author_id)
    if author is None:
        raise NotFound("Author", author_id)
    return author
