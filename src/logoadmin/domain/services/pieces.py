"""The pieces of the gallery, logos and themes alike (spec §Endpoints 8 to 12, contract A15 to A18, D).

Both have the same fields, the same links to authors and the same operations, so these are written once here.
:mod:`~logoadmin.domain.services.logos` and :mod:`~logoadmin.domain.services.themes` name them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from logoadmin.domain.access import OWNER, Caller
from logoadmin.domain.command import UNCHANGED, Command
from logoadmin.domain.errors import NotFound
from logoadmin.domain.limits import CustomCss, Flag, Id, PieceName, PreviewUrl, Target
from logoadmin.domain.lists import PIECES, Listing
from logoadmin.domain.records import Author, Piece
from logoadmin.domain.services.authors import found_author
from logoadmin.domain.transactions import Transactions
from logoadmin.ports.clock import Clock
from logoadmin.ports.storage import Pieces, UnitOfWork

Link = TypeVar("Link")
Removed = TypeVar("Removed")
RemovedLink = TypeVar("RemovedLink")


class ListPieces(Command, Generic[Piece]):
    """All pieces of a kind."""


class CreatePiece(Command, Generic[Piece]):
    """A new piece, not active unless told so."""

    name: PieceName
    preview_url: PreviewUrl
    target: Target
    custom_css: CustomCss
    active: Flag = False


class OnePiece(Command, Generic[Piece]):
    """Something about one piece; those who inherit add its id under the name of the kind."""


class AmendPiece(OnePiece[Piece]):
    """New values for a piece; what is not given stays."""

    name: PieceName = UNCHANGED
    preview_url: PreviewUrl = UNCHANGED
    target: Target = UNCHANGED
    custom_css: CustomCss = UNCHANGED
    active: Flag = UNCHANGED


class PieceAuthor(OnePiece[Piece]):
    """Something about one piece and one author."""

    author_id: Id


@dataclass(frozen=True, slots=True)
class PieceKind(Generic[Piece, Link, Removed, RemovedLink]):
    """What tells the kinds apart: how they are called and what is answered."""

    name: str
    id_field: str
    record: type[Piece]
    repository: Callable[[UnitOfWork], Pieces[Piece]]
    link: Callable[[int, int, int], Link]
    removed: Callable[[int], Removed]
    removed_link: Callable[[int, int], RemovedLink]

    def id_of(self, holder: Piece | OnePiece[Piece]) -> int:
        """Return the id of a piece, or the one that a command is about."""
        id_: int = getattr(holder, self.id_field)
        return id_


class PieceService(Generic[Piece, Link, Removed, RemovedLink]):
    """What can be done with one kind of piece. Every method may also raise what :class:`Transactions` raises."""

    def __init__(
        self, kind: PieceKind[Piece, Link, Removed, RemovedLink], transactions: Transactions, clock: Clock
    ) -> None:
        self._kind: PieceKind[Piece, Link, Removed, RemovedLink] = kind
        self._transactions = transactions
        self._clock = clock

    def list(self, command: ListPieces[Piece], caller: Caller = OWNER) -> Listing[Piece]:
        """Return all pieces, by id (contract D, E1)."""
        return self._transactions.list(
            command,
            caller,
            lambda uow, after, limit: self._kind.repository(uow).page(after, limit),
            self._kind.id_of,
            PIECES,
        )

    def create(self, command: CreatePiece[Piece], caller: Caller = OWNER) -> Piece:
        """Create a piece without authors (contract D)."""

        def work(uow: UnitOfWork) -> Piece:
            pieces = self._kind.repository(uow)
            values = command.model_dump() | {self._kind.id_field: pieces.next_id()}
            piece = self._kind.record(**values, authors=(), created_at=self._clock.now())
            pieces.add(piece)
            return piece

        return self._transactions.write(command, caller, work)

    def get(self, command: OnePiece[Piece], caller: Caller = OWNER) -> Piece:
        """Return a piece with its authors (spec §Endpoints 9).

        Raises:
            NotFound: there is no such piece.
        """
        return self._transactions.read(command, caller, lambda uow: self._found(uow, command))

    def amend(self, command: AmendPiece[Piece], caller: Caller = OWNER) -> Piece:
        """Change a piece (contract D).

        Raises:
            NotFound: there is no such piece.
        """

        def work(uow: UnitOfWork) -> Piece:
            piece = self._found(uow, command)
            amended = replace(piece, **command.changes())
            if amended != piece:
                self._kind.repository(uow).update(amended)
            return amended

        return self._transactions.write(command, caller, work)

    def remove(self, command: OnePiece[Piece], caller: Caller = OWNER) -> Removed:
        """Remove a piece and its author links (spec §Endpoints 10, contract A15).

        Raises:
            NotFound: there is no such piece.
        """

        def work(uow: UnitOfWork) -> Removed:
            piece_id = self._kind.id_of(command)
            if not self._kind.repository(uow).remove(piece_id):
                raise NotFound(self._kind.name, piece_id)
            return self._kind.removed(piece_id)

        return self._transactions.write(command, caller, work)

    def authors(self, command: OnePiece[Piece], caller: Caller = OWNER) -> tuple[Author, ...]:
        """Return the authors of a piece, in the order they were linked (spec §Endpoints 11, contract A18).

        Raises:
            NotFound: there is no such piece.
        """
        return self._transactions.read(command, caller, lambda uow: self._found(uow, command).authors)

    def link(self, command: PieceAuthor[Piece], caller: Caller = OWNER) -> Link:
        """Link an author; one who is linked already stays so, and the link is answered (spec §Endpoints 12, A16).

        Raises:
            NotFound: there is no such piece, or no such author.
        """

        def work(uow: UnitOfWork) -> Link:
            self._found(uow, command)
            found_author(uow, command.author_id)
            pieces, piece_id = self._kind.repository(uow), self._kind.id_of(command)
            link_id = pieces.link_of(piece_id, command.author_id)
            if link_id is None:
                link_id = pieces.link(piece_id, command.author_id)
            return self._kind.link(link_id, piece_id, command.author_id)

        return self._transactions.write(command, caller, work)

    def unlink(self, command: PieceAuthor[Piece], caller: Caller = OWNER) -> RemovedLink:
        """Take an author off a piece (spec §Endpoints 8, contract A17).

        Raises:
            NotFound: there is no such piece, or the author is not linked to it.
        """

        def work(uow: UnitOfWork) -> RemovedLink:
            self._found(uow, command)
            piece_id = self._kind.id_of(command)
            if not self._kind.repository(uow).unlink(piece_id, command.author_id):
                raise NotFound("Author", command.author_id, of=f" on {self._kind.name.lower()} {piece_id}")
            return self._kind.removed_link(piece_id, command.author_id)

        return self._transactions.write(command, caller, work)

    def _found(self, uow: UnitOfWork, command: OnePiece[Piece]) -> Piece:
        piece_id = self._kind.id_of(command)
        piece = self._kind.repository(uow).get(piece_id)
        if piece is None:
            raise NotFound(self._kind.name, piece_id)
        return piece
