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
from logoadmin.domain.records import Author, Kind, Piece
from logoadmin.domain.repositories import RecordedPieces
from logoadmin.domain.services.authors import ListPieces, found_author
from logoadmin.domain.transactions import Transactions
from logoadmin.domain.versions import version_of
from logoadmin.domain.writes import RecordedUnitOfWork
from logoadmin.ports.clock import Clock
from logoadmin.ports.storage import Pieces, UnitOfWork

Link = TypeVar("Link")
Removed = TypeVar("Removed")
RemovedLink = TypeVar("RemovedLink")


class ListAllPieces(ListPieces, Generic[Piece]):
    """All pieces of a kind, or those that are asked for."""

    author_id: Id | None = None


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

    kind: Kind
    record: type[Piece]
    repository: Callable[[UnitOfWork], Pieces[Piece]]
    recorded: Callable[[RecordedUnitOfWork], RecordedPieces[Piece]]
    link: Callable[[int, int, int], Link]
    removed: Callable[[int], Removed]
    removed_link: Callable[[int, int], RemovedLink]

    @property
    def name(self) -> str:
        """How a piece is called in messages."""
        return self.kind.capitalize()

    def id_of(self, holder: Piece | OnePiece[Piece]) -> int:
        """Return the id of a piece, or the one that a command is about."""
        return self.kind.id_of(holder)


class PieceService(Generic[Piece, Link, Removed, RemovedLink]):
    """What can be done with one kind of piece. Every method may also raise what :class:`Transactions` raises."""

    def __init__(
        self, kind: PieceKind[Piece, Link, Removed, RemovedLink], transactions: Transactions, clock: Clock
    ) -> None:
        self._kind: PieceKind[Piece, Link, Removed, RemovedLink] = kind
        self._transactions = transactions
        self._clock = clock

    def list(self, command: ListAllPieces[Piece], caller: Caller = OWNER) -> Listing[Piece]:
        """Return all pieces, by id (contract D, E1)."""
        return self._transactions.list(
            command,
            caller,
            lambda uow, after, limit, where: self._kind.repository(uow).page(after, limit, where),
            self._kind.id_of,
            self._kind.kind,
            PIECES,
        )

    def create(self, command: CreatePiece[Piece], caller: Caller = OWNER) -> Piece:
        """Create a piece without authors (contract D)."""

        def work(uow: RecordedUnitOfWork) -> Piece:
            pieces = self._kind.recorded(uow)
            values = command.model_dump() | {self._kind.kind.id_field: pieces.next_id()}
            piece = self._kind.record(**values, authors=(), created_at=self._clock.now())
            return pieces.add(piece)

        return self._transactions.write(command, caller, work)

    def get(self, command: OnePiece[Piece], caller: Caller = OWNER) -> Piece:
        """Return a piece with its authors (spec §Endpoints 9).

        Raises:
            NotFound: there is no such piece.
        """
        return self._transactions.record(command, caller, lambda uow: self._read(uow, command))

    def amend(self, command: AmendPiece[Piece], caller: Caller = OWNER) -> Piece:
        """Change a piece (contract D).

        Raises:
            NotFound: there is no such piece.
            Outdated: it is not the version that the caller saw.
        """

        def work(uow: RecordedUnitOfWork) -> Piece:
            piece = self._seen(uow, command)
            amended = replace(piece, **command.changes())
            return piece if amended == piece else self._kind.recorded(uow).update(amended)

        return self._transactions.write(command, caller, work)

    def remove(self, command: OnePiece[Piece], caller: Caller = OWNER) -> Removed:
        """Remove a piece and its author links (spec §Endpoints 10, contract A15).

        Raises:
            NotFound: there is no such piece.
            Outdated: it is not the version that the caller saw.
        """

        def work(uow: RecordedUnitOfWork) -> Removed:
            piece_id = self._kind.id_of(self._seen(uow, command))
            self._kind.recorded(uow).remove(piece_id)
            return self._kind.removed(piece_id)

        return self._transactions.write(command, caller, work)

    def authors(self, command: OnePiece[Piece], caller: Caller = OWNER) -> Listing[Author]:
        """Return the authors of a piece, in the order they were linked (spec §Endpoints 11, contract A18).

        Raises:
            NotFound: there is no such piece.
        """
        piece = self._transactions.record(command, caller, lambda uow: self._read(uow, command))
        return Listing(piece.authors, version=version_of(piece))

    def link(self, command: PieceAuthor[Piece], caller: Caller = OWNER) -> Link:
        """Link an author; one who is linked already stays so, and the link is answered (spec §Endpoints 12, A16).

        Raises:
            NotFound: there is no such piece, or no such author.
        """

        def work(uow: RecordedUnitOfWork) -> Link:
            pieces, piece_id = self._kind.recorded(uow), self._kind.id_of(command)
            pieces.get_for_change(piece_id, None)
            found_author(uow, command.author_id)
            link_id = pieces.link_of(piece_id, command.author_id)
            if link_id is None:
                link_id = pieces.link(piece_id, command.author_id)
            return self._kind.link(link_id, piece_id, command.author_id)

        return self._transactions.write(command, caller, work)

    def unlink(self, command: PieceAuthor[Piece], caller: Caller = OWNER) -> RemovedLink:
        """Take an author off a piece (spec §Endpoints 8, contract A17).

        Raises:
            NotFound: there is no such piece, or the author is not linked to it.
            Outdated: it is not the version that the caller saw.
        """

        def work(uow: RecordedUnitOfWork) -> RemovedLink:
            piece_id = self._kind.id_of(self._seen(uow, command))
            if not self._kind.recorded(uow).unlink(piece_id, command.author_id):
                raise NotFound("Author", command.author_id, of=f" on {self._kind.name.lower()} {piece_id}")
            return self._kind.removed_link(piece_id, command.author_id)

        return self._transactions.write(command, caller, work)

    def _read(self, uow: UnitOfWork, command: OnePiece[Piece]) -> Piece:
        piece_id = self._kind.id_of(command)
        piece = self._kind.repository(uow).get(piece_id)
        if piece is None:
            raise NotFound(self._kind.name, piece_id)
        return piece

    def _seen(self, uow: RecordedUnitOfWork, command: OnePiece[Piece]) -> Piece:
        return self._kind.recorded(uow).get_for_change(self._kind.id_of(command), command.seen)
