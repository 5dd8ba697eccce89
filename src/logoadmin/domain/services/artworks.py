"""The artworks of the gallery, logos and themes alike (spec §Endpoints 8 to 12, contract A15 to A18, D)."""

from typing import Any, Generic, TypeVar

from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork, get_existing
from logoadmin.domain.model.access import OWNER, PUBLIC, Caller, Permission, Scope
from logoadmin.domain.model.command import UNSET, Command
from logoadmin.domain.model.errors import NotFound
from logoadmin.domain.model.kinds import AUTHORS, LOGOS, THEMES, ArtworkKind
from logoadmin.domain.model.limits import ArtworkName, CustomCss, Flag, Id, PreviewUrl, Target
from logoadmin.domain.model.lists import Listing, SearchedCommand
from logoadmin.domain.model.records import (
    Artwork,
    Author,
    Logo,
    LogoAuthor,
    RemovedLogo,
    RemovedLogoAuthor,
    RemovedTheme,
    RemovedThemeAuthor,
    Theme,
    ThemeAuthor,
)
from logoadmin.domain.model.versions import version_of
from logoadmin.domain.transactions import Transactions

LinkAnswer = TypeVar("LinkAnswer")
Removed = TypeVar("Removed")
RemovedLink = TypeVar("RemovedLink")


class ListArtworks(SearchedCommand, Generic[Artwork]):
    """The artworks of a kind: all of them, or those that are asked for."""

    permission = PUBLIC

    target: Target | None = None
    active: Flag | None = None


class ListAllArtworks(ListArtworks[Artwork]):
    """The same, also those of an author."""

    author_id: Id | None = None


class ListAuthorArtworks(ListArtworks[Artwork]):
    """The artworks of a kind that an author made, or those of them that are asked for."""

    author_id: Id


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


class ArtworkService(Generic[Artwork, LinkAnswer, Removed, RemovedLink]):
    """What can be done with one kind of artwork. Every method may also raise what :class:`Transactions` raises."""

    def __init__(
        self, kind: ArtworkKind[Artwork, LinkAnswer, Removed, RemovedLink], transactions: Transactions
    ) -> None:
        self._kind = kind
        self._transactions = transactions

    def list(self, command: ListAllArtworks[Artwork], caller: Caller = OWNER) -> Listing[Artwork]:
        """Return all artworks, by id (contract D, E1)."""
        return self._transactions.list(command, caller, self._kind)

    def of_author(self, command: ListAuthorArtworks[Artwork], caller: Caller = OWNER) -> Listing[Artwork]:
        """Return the artworks of an author, by id (contract D).

        Raises:
            NotFound: there is no such author.
        """
        return self._transactions.list(command, caller, self._kind, of=AUTHORS)

    def create(self, command: CreateArtwork[Artwork], caller: Caller = OWNER) -> Artwork:
        """Create an artwork without authors (contract D)."""
        return self._transactions.write(command, caller, self._create)

    def get(self, command: OneArtwork[Artwork], caller: Caller = OWNER) -> Artwork:
        """Return an artwork with its authors (spec §Endpoints 9).

        Raises:
            NotFound: there is no such artwork.
        """
        return self._transactions.get(command, caller, self._kind)

    def amend(self, command: AmendArtwork[Artwork], caller: Caller = OWNER) -> Artwork:
        """Change an artwork (contract D).

        Raises:
            NotFound: there is no such artwork.
            Outdated: it has none of the versions in ``if_match``.
        """
        return self._transactions.write(command, caller, self._amend)

    def remove(self, command: OneArtwork[Artwork], caller: Caller = OWNER) -> Removed:
        """Remove an artwork and its author links (spec §Endpoints 10, contract A15).

        Raises:
            NotFound: there is no such artwork.
            Outdated: it has none of the versions in ``if_match``.
        """
        return self._transactions.write(command, caller, self._remove)

    def authors(self, command: OneArtwork[Artwork], caller: Caller = OWNER) -> Listing[Author]:
        """Return the authors of an artwork, in the order they were linked (spec §Endpoints 11, contract A18).

        Raises:
            NotFound: there is no such artwork.
        """
        artwork = self._transactions.get(command, caller, self._kind)
        return Listing(artwork.authors, AUTHORS.id_of, version=version_of(artwork))

    def link(self, command: ArtworkAuthor[Artwork], caller: Caller = OWNER) -> LinkAnswer:
        """Link an author; one who is linked already stays so, and the link is answered (spec §Endpoints 12, A16).

        Raises:
            NotFound: there is no such artwork, or no such author.
        """
        return self._transactions.write(command, caller, self._link)

    def unlink(self, command: ArtworkAuthor[Artwork], caller: Caller = OWNER) -> RemovedLink:
        """Take an author off an artwork (spec §Endpoints 8, contract A17).

        Raises:
            NotFound: there is no such artwork, or the author is not linked to it.
            Outdated: it has none of the versions in ``if_match``.
        """
        return self._transactions.write(command, caller, self._unlink)

    def _create(self, uow: AuditedUnitOfWork, command: CreateArtwork[Artwork]) -> Artwork:
        artworks = uow.records(self._kind)
        record: Any = self._kind.record
        values = {**command.model_dump(), self._kind.id_field: artworks.next_id()}
        return artworks.add(record(**values, authors=(), created_at=uow.now))

    def _amend(self, uow: AuditedUnitOfWork, command: AmendArtwork[Artwork]) -> Artwork:
        return uow.records(self._kind).amend(self._kind.id_of(command), command.if_match, command.changes())

    def _remove(self, uow: AuditedUnitOfWork, command: OneArtwork[Artwork]) -> Removed:
        artwork_id = self._kind.id_of(command)
        uow.records(self._kind).get_for_change(artwork_id, command.if_match)
        uow.records(self._kind).remove(artwork_id)
        return self._kind.removed(artwork_id)

    def _link(self, uow: AuditedUnitOfWork, command: ArtworkAuthor[Artwork]) -> LinkAnswer:
        artwork_id, links = self._kind.id_of(command), uow.links(self._kind)
        get_existing(uow, self._kind, artwork_id)
        get_existing(uow, AUTHORS, command.author_id)
        link = links.find(artwork_id, command.author_id) or links.add(artwork_id, command.author_id)
        return self._kind.link(link.link_id, artwork_id, command.author_id)

    def _unlink(self, uow: AuditedUnitOfWork, command: ArtworkAuthor[Artwork]) -> RemovedLink:
        artwork_id = self._kind.id_of(command)
        uow.records(self._kind).get_for_change(artwork_id, command.if_match)
        if not uow.links(self._kind).remove(artwork_id, command.author_id):
            raise NotFound("Author", command.author_id, of=f" on {self._kind.kind} {artwork_id}")
        return self._kind.removed_link(artwork_id, command.author_id)


class ListThemes(ListAllArtworks[Theme]):
    """All themes, or those that are asked for."""


class ListAuthorThemes(ListAuthorArtworks[Theme]):
    """The themes that an author made, or those of them that are asked for."""


class CreateTheme(CreateArtwork[Theme]):
    """A new theme, not active unless told so."""

    permission = Permission(Scope.THEMES_WRITE)


class GetTheme(OneArtwork[Theme]):
    """A theme by its id, with its authors."""

    theme_id: Id


class AmendTheme(AmendArtwork[Theme]):
    """New values for a theme; what is not given stays."""

    permission = Permission(Scope.THEMES_WRITE)

    theme_id: Id


class RemoveTheme(OneArtwork[Theme]):
    """The end of a theme, and of the links to its authors."""

    permission = Permission(Scope.THEMES_WRITE)

    theme_id: Id


class ListThemeAuthors(OneArtwork[Theme]):
    """The authors that are linked to a theme, in the order of the links."""

    theme_id: Id


class LinkThemeAuthor(ArtworkAuthor[Theme]):
    """That an author made a theme."""

    permission = Permission(Scope.THEMES_WRITE)

    theme_id: Id


class UnlinkThemeAuthor(ArtworkAuthor[Theme]):
    """That an author did not make a theme, as the specification asks for it."""

    permission = Permission(Scope.THEMES_WRITE, open_by_default=True)

    theme_id: Id


class RemoveThemeAuthor(UnlinkThemeAuthor):
    """The same under a path that names the author; what we add takes a token under every policy (contract B1)."""

    permission = Permission(Scope.THEMES_WRITE)


class ListLogos(ListAllArtworks[Logo]):
    """All logos, or those that are asked for."""


class ListAuthorLogos(ListAuthorArtworks[Logo]):
    """The logos that an author made, or those of them that are asked for."""


class CreateLogo(CreateArtwork[Logo]):
    """A new logo, not active unless told so."""

    permission = Permission(Scope.LOGOS_WRITE)


class GetLogo(OneArtwork[Logo]):
    """A logo by its id, with its authors."""

    logo_id: Id


class AmendLogo(AmendArtwork[Logo]):
    """New values for a logo; what is not given stays."""

    permission = Permission(Scope.LOGOS_WRITE)

    logo_id: Id


class RemoveLogo(OneArtwork[Logo]):
    """The end of a logo, and of the links to its authors."""

    permission = Permission(Scope.LOGOS_WRITE, open_by_default=True)

    logo_id: Id


class ListLogoAuthors(OneArtwork[Logo]):
    """The authors that are linked to a logo, in the order of the links."""

    logo_id: Id


class LinkLogoAuthor(ArtworkAuthor[Logo]):
    """That an author made a logo."""

    permission = Permission(Scope.LOGOS_WRITE, open_by_default=True)

    logo_id: Id


class UnlinkLogoAuthor(ArtworkAuthor[Logo]):
    """That an author did not make a logo."""

    permission = Permission(Scope.LOGOS_WRITE)

    logo_id: Id


class RemoveLogoAuthor(UnlinkLogoAuthor):
    """The same under a path that names the author."""


ThemeService = ArtworkService[Theme, ThemeAuthor, RemovedTheme, RemovedThemeAuthor]
LogoService = ArtworkService[Logo, LogoAuthor, RemovedLogo, RemovedLogoAuthor]


def theme_service(transactions: Transactions) -> ThemeService:
    """Return what can be done with themes."""
    return ArtworkService(THEMES, transactions)


def logo_service(transactions: Transactions) -> LogoService:
    """Return what can be done with logos."""
    return ArtworkService(LOGOS, transactions)
