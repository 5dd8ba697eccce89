"""The artworks of the gallery, logos and themes alike (spec §Endpoints 8 to 12, contract A15 to A18, D).

Both have the same fields, the same links to authors and the same operations, so these are written once here.
:mod:`~logoadmin.domain.services.logos` and :mod:`~logoadmin.domain.services.themes` name them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from logoadmin.domain.audit.repositories import AuditedArtworks
from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork
from logoadmin.domain.model.access import OWNER, Caller
from logoadmin.domain.model.command import UNSET, Command
from logoadmin.domain.model.errors import NotFound
from logoadmin.domain.model.limits import ArtworkName, CustomCss, Flag, Id, PreviewUrl, Target
from logoadmin.domain.model.lists import ARTWORKS, Listing
from logoadmin.domain.model.records import Artwork, Author, Kind
from logoadmin.domain.model.versions import version_of
from logoadmin.domain.services.authors import ListArtworks, found_author
from logoadmin.domain.transactions import Transactions
from logoadmin.ports.clock import Clock
from logoadmin.ports.storage import Artworks, UnitOfWork

Link = TypeVar("Link")
Removed = TypeVar("Removed")
RemovedLink = TypeVar("RemovedLink")


class ListAllArtworks(ListArtworks, Generic[Artwork]):
    """All pieces of a kind, or those that are asked for."""

    author_id: Id | None = None


class CreateArtwork(Command, Generic[Artwork]):
    """A new artwork, not active unless told so."""

    name: ArtworkName
    preview_url: PreviewUrl
    target: Target
    custom_css: CustomCss
    active: Flag = False


class OneArtwork(Command, Generic[Artwork]):
    """Something about one artwork; those who inherit add its id under the name of the kind."""


class AmendArtwork(OneArtwork[Artwork]):
    """New values for an artwork; what is not given stays."""

    name: ArtworkName = UNSET
    preview_url: PreviewUrl = UNSET
    target: Target = UNSET
    custom_css: CustomCss = UNSET
    active: Flag = UNSET


class ArtworkAuthor(OneArtwork[Artwork]):
    """Something about one artwork and one author."""

    author_id: Id


@dataclass(frozen=True, slots=True)
class ArtworkKind(Generic[Artwork, Link, Removed, RemovedLink]):
    """What tells the kinds apart: how they are called and what is answered."""

    kind: Kind
    record: type[Artwork]
    repository: Callable[[UnitOfWork], Artworks[Artwork]]
    recorded: Callable[[AuditedUnitOfWork], AuditedArtworks[Artwork]]
    link: Callable[[int, int, int], Link]
    removed: Callable[[int], Removed]
    removed_link: Callable[[int, int], RemovedLink]

    @property
    def name(self) -> str:
        """How an artwork is called in messages."""
        return self.kind.capitalize()

    def id_of(self, holder: Artwork | OneArtwork[Artwork]) -> int:
        """Return the id of an artwork, or the one that a command is about."""
        return self.kind.id_of(holder)


class ArtworkService(Generic[Artwork, Link, Removed, RemovedLink]):
    """What can be done with one kind of artwork. Every method may also raise what :class:`Transactions` raises."""

    def __init__(
        self, kind: ArtworkKind[Artwork, Link, Removed, RemovedLink], transactions: Transactions, clock: Clock
    ) -> None:
        self._kind: ArtworkKind[Artwork, Link, Removed, RemovedLink] = kind
        self._transactions = transactions
        self._clock = clock

    def list(self, command: ListAllArtworks[Artwork], caller: Caller = OWNER) -> Listing[Artwork]:
        """Return all artworks, by id (contract D, E1)."""
        return self._transactions.list(
            command,
            caller,
            lambda uow, after, limit, where: self._kind.repository(uow).page(after, limit, where),
            self._kind.id_of,
            self._kind.kind,
            ARTWORKS,
        )

    def create(self, command: CreateArtwork[Artwork], caller: Caller = OWNER) -> Artwork:
        """Create an artwork without authors (contract D)."""

        def work(uow: AuditedUnitOfWork) -> Artwork:
            artworks = self._kind.recorded(uow)
            values = command.model_dump() | {self._kind.kind.id_field: artworks.next_id()}
            artwork = self._kind.record(**values, authors=(), created_at=self._clock.now())
            return artworks.add(artwork)

        return self._transactions.write(command, caller, work)

    def get(self, command: OneArtwork[Artwork], caller: Caller = OWNER) -> Artwork:
        """Return an artwork with its authors (spec §Endpoints 9).

        Raises:
            NotFound: there is no such artwork.
        """
        return self._transactions.record(command, caller, lambda uow: self._read(uow, command))

    def amend(self, command: AmendArtwork[Artwork], caller: Caller = OWNER) -> Artwork:
        """Change an artwork (contract D).

        Raises:
            NotFound: there is no such artwork.
            Outdated: it is not the version that the caller saw.
        """

        def work(uow: AuditedUnitOfWork) -> Artwork:
            artwork = self._seen(uow, command)
            amended = replace(artwork, **command.changes())
            return artwork if amended == artwork else self._kind.recorded(uow).update(amended)

        return self._transactions.write(command, caller, work)

    def remove(self, command: OneArtwork[Artwork], caller: Caller = OWNER) -> Removed:
        """Remove an artwork and its author links (spec §Endpoints 10, contract A15).

        Raises:
            NotFound: there is no such artwork.
            Outdated: it is not the version that the caller saw.
        """

        def work(uow: AuditedUnitOfWork) -> Removed:
            artwork_id = self._kind.id_of(self._seen(uow, command))
            self._kind.recorded(uow).remove(artwork_id)
            return self._kind.removed(artwork_id)

        return self._transactions.write(command, caller, work)

    def authors(self, command: OneArtwork[Artwork], caller: Caller = OWNER) -> Listing[Author]:
        """Return the authors of an artwork, in the order they were linked (spec §Endpoints 11, contract A18).

        Raises:
            NotFound: there is no such artwork.
        """
        artwork = self._transactions.record(command, caller, lambda uow: self._read(uow, command))
        return Listing(artwork.authors, Kind.AUTHOR.id_of, version=version_of(artwork))

    def link(self, command: ArtworkAuthor[Artwork], caller: Caller = OWNER) -> Link:
        """Link an author; one who is linked already stays so, and the link is answered (spec §Endpoints 12, A16).

        Raises:
            NotFound: there is no such artwork, or no such author.
        """

        def work(uow: AuditedUnitOfWork) -> Link:
            artworks, artwork_id = self._kind.recorded(uow), self._kind.id_of(command)
            artworks.get_for_change(artwork_id, None)
            found_author(uow, command.author_id)
            link_id = artworks.link_of(artwork_id, command.author_id)
            if link_id is None:
                link_id = artworks.link(artwork_id, command.author_id)
            return self._kind.link(link_id, artwork_id, command.author_id)

        return self._transactions.write(command, caller, work)

    def unlink(self, command: ArtworkAuthor[Artwork], caller: Caller = OWNER) -> RemovedLink:
        """Take an author off an artwork (spec §Endpoints 8, contract A17).

        Raises:
            NotFound: there is no such artwork, or the author is not linked to it.
            Outdated: it is not the version that the caller saw.
        """

        def work(uow: AuditedUnitOfWork) -> RemovedLink:
            artwork_id = self._kind.id_of(self._seen(uow, command))
            if not self._kind.recorded(uow).unlink(artwork_id, command.author_id):
                raise NotFound("Author", command.author_id, of=f" on {self._kind.name.lower()} {artwork_id}")
            return self._kind.removed_link(artwork_id, command.author_id)

        return self._transactions.write(command, caller, work)

    def _read(self, uow: UnitOfWork, command: OneArtwork[Artwork]) -> Artwork:
        artwork_id = self._kind.id_of(command)
        artwork = self._kind.repository(uow).get(artwork_id)
        if artwork is None:
            raise NotFound(self._kind.name, artwork_id)
        return artwork

    def _seen(self, uow: AuditedUnitOfWork, command: OneArtwork[Artwork]) -> Artwork:
        return self._kind.recorded(uow).get_for_change(self._kind.id_of(command), command.seen)
