"""Logos and themes, which share their use cases (spec §Endpoints 8 to 12, contract A15 to A18, D)."""

from dataclasses import replace
from typing import Annotated, Final, Generic, TypeVar

from logoadmin.domain.gallery.audited_artworks import artworks_of
from logoadmin.domain.kernel.access import PUBLIC, Permission
from logoadmin.domain.kernel.command import UNSET, Command
from logoadmin.domain.kernel.details import NO_DETAILS, Details, Tag
from logoadmin.domain.kernel.errors import NotFound
from logoadmin.domain.kernel.gate import Transactions
from logoadmin.domain.kernel.kinds import AUTHORS, LOGOS, THEMES, ArtworkKind
from logoadmin.domain.kernel.limits import (
    Active,
    ArtworkName,
    AuthorId,
    BlockReason,
    CustomCss,
    Flag,
    LogoId,
    NewPreviewUrl,
    Target,
    ThemeId,
    described,
)
from logoadmin.domain.kernel.lists import Listing, SearchedCommand
from logoadmin.domain.kernel.pagination import list_records
from logoadmin.domain.kernel.records import Artwork, ArtworkDetails, Author, Logo, Theme, version_of
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, ReadUnitOfWork, get_existing, get_unless_unmodified
from logoadmin.domain.kernel.use_cases import OF_KIND, Service, UseCasesOfKind, reads, writes

LinkAnswer = TypeVar("LinkAnswer")
Removed = TypeVar("Removed")
RemovedLink = TypeVar("RemovedLink")


class ListArtworks(SearchedCommand, Generic[Artwork]):
    """All artworks of a kind, or those that match the filters."""

    target: Annotated[Target, described("Artworks for this part of the site.", "forum")] | None = None
    active: Annotated[Flag, described("Artworks that are in use (`true`) or not (`false`).", True)] | None = None
    tag: Annotated[Tag, described("Artworks with this tag.", "dark")] | None = None
    author_id: Annotated[AuthorId, described("Artworks by this author.", 7)] | None = None


class ListAuthorArtworks(ListArtworks[Artwork]):
    """The artworks of an author, or those that match the filters."""

    author_id: AuthorId


class CreateArtwork(Command, Generic[Artwork]):
    """A new artwork, inactive by default."""

    name: ArtworkName
    preview_url: NewPreviewUrl
    target: Target
    custom_css: CustomCss
    details: ArtworkDetails = NO_DETAILS
    active: Active = False


class OneArtwork(Command, Generic[Artwork]):
    """A command about one artwork; the commands of a kind add its id, named after the kind."""


# Each use case has its own command, even if the fields are the same, so that type checkers reject the wrong one.
class GetArtwork(OneArtwork[Artwork]):
    """An artwork by its id, with its authors."""


class ListArtworkAuthors(OneArtwork[Artwork]):
    """The authors of an artwork, in the order they were linked."""


class RemoveArtwork(OneArtwork[Artwork]):
    """The removal of an artwork, with the links to its authors."""


class AmendArtwork(OneArtwork[Artwork]):
    """New values for an artwork; omitted fields are unchanged."""

    name: ArtworkName = UNSET
    preview_url: NewPreviewUrl = UNSET
    target: Target = UNSET
    custom_css: CustomCss = UNSET
    details: (
        Annotated[
            Details,
            described(
                "New values for members of the details; `null` removes a member, or all of them.",
                {"licence": "CC-BY-SA-4.0", "homepage": None},
            ),
        ]
        | None
    ) = UNSET
    active: Active = UNSET
    unblock: Annotated[Flag, described("Whether activating it lifts its block, if it is blocked.", True)] = False


class ArtworkAuthor(OneArtwork[Artwork]):
    """A command about one artwork and one author."""

    author_id: AuthorId


class LinkArtworkAuthor(ArtworkAuthor[Artwork]):
    """A link from an artwork to an author."""


class UnlinkArtworkAuthor(ArtworkAuthor[Artwork]):
    """Unlink an author from an artwork, named in the body."""


class RemoveArtworkAuthor(ArtworkAuthor[Artwork]):
    """Unlink an author from an artwork, with the author in the path."""


class BlockArtwork(OneArtwork[Artwork]):
    """The blocking of an artwork, which readers of the published gallery must stop applying."""

    reason: BlockReason


class ArtworkService(Service, Generic[Artwork, LinkAnswer, Removed, RemovedLink]):
    """The use cases of one kind of artwork.

    Each raises NotFound if the artwork or the author in its command does not exist, and Outdated if the artwork has
    none of the versions in ``if_match``.
    """

    def __init__(
        self, kind: ArtworkKind[Artwork, LinkAnswer, Removed, RemovedLink], transactions: Transactions
    ) -> None:
        super().__init__(transactions)
        self._kind = kind

    @reads(OF_KIND)
    def list(self, uow: ReadUnitOfWork, command: ListArtworks[Artwork]) -> Listing[Artwork]:
        """Return all artworks, by id (contract D, E1)."""
        return list_records(self, uow, command, self._kind)

    @reads(OF_KIND)
    def of_author(self, uow: ReadUnitOfWork, command: ListAuthorArtworks[Artwork]) -> Listing[Artwork]:
        """Return the artworks of an author, by id (contract D)."""
        return list_records(self, uow, command, self._kind, of=AUTHORS)

    @writes(OF_KIND)
    def create(self, uow: AuditedUnitOfWork, command: CreateArtwork[Artwork]) -> Artwork:
        """Create an artwork without authors (contract D, S1).

        Raises:
            DuplicateEntry: another artwork of the kind has the origin in its details.
        """
        return uow.records(self._kind).create(**command.own_values(), authors=(), created_at=uow.now)

    @reads(OF_KIND)
    def get(self, uow: ReadUnitOfWork, command: GetArtwork[Artwork]) -> Artwork:
        """Return an artwork with its authors (spec §Endpoints 9, §Rules 6)."""
        return get_unless_unmodified(uow, self._kind, command)

    @writes(OF_KIND)
    def amend(self, uow: AuditedUnitOfWork, command: AmendArtwork[Artwork]) -> Artwork:
        """Change an artwork; its details member by member (contract D, S1).

        Raises:
            ArtworkBlocked: it is blocked and would be activated (contract L3).
            DuplicateUpdate: another artwork of the kind has the origin in its details.
        """
        id_, values, artworks = self._kind.id_of(command), command.new_values(), artworks_of(uow, self._kind)
        artwork = artworks.get_for_change(id_, command.if_match)
        if values.get("active") and not command.unblock:
            artworks.check_not_blocked(id_, artwork)
        if "details" in values:
            values["details"] = artwork.details.merged(values["details"])
        return artworks.amend(id_, command.if_match, values)

    @writes(OF_KIND)
    def block(self, uow: AuditedUnitOfWork, command: BlockArtwork[Artwork]) -> Artwork:
        """Switch an artwork off, and make readers of the published gallery stop applying it (contract L3)."""
        return artworks_of(uow, self._kind).block(self._kind.id_of(command), command.if_match, command.reason)

    @writes(OF_KIND)
    def remove(self, uow: AuditedUnitOfWork, command: RemoveArtwork[Artwork]) -> Removed:
        """Remove an artwork and its author links (spec §Endpoints 10, contract A15)."""
        artwork_id = self._kind.id_of(command)
        uow.records(self._kind).get_for_change(artwork_id, command.if_match)
        uow.records(self._kind).remove(artwork_id)
        return self._kind.removed(artwork_id)

    @reads(OF_KIND)
    def authors(self, uow: ReadUnitOfWork, command: ListArtworkAuthors[Artwork]) -> Listing[Author]:
        """Return the authors of an artwork, in the order they were linked (spec §Endpoints 11, contract A18)."""
        artwork = get_unless_unmodified(uow, self._kind, command)
        return Listing(artwork.authors, AUTHORS.id_of, version=version_of(artwork))

    @writes(OF_KIND)
    def link(self, uow: AuditedUnitOfWork, command: LinkArtworkAuthor[Artwork]) -> LinkAnswer:
        """Link an author; return the new or existing link (spec §Endpoints 12, §Rules 5, contract A16)."""
        artwork_id = self._kind.id_of(command)
        get_existing(uow, self._kind, artwork_id)
        get_existing(uow, AUTHORS, command.author_id)
        link = artworks_of(uow, self._kind).link(artwork_id, command.author_id)
        return self._kind.link(link.link_id, artwork_id, command.author_id)

    @writes(OF_KIND)
    def unlink(self, uow: AuditedUnitOfWork, command: UnlinkArtworkAuthor[Artwork]) -> RemovedLink:
        """Unlink an author from an artwork (spec §Endpoints 8, §Rules 4, contract A17).

        Raises:
            NotFound: also if the author is not linked to it.
        """
        return self._unlink(uow, command)

    @writes(OF_KIND)
    def remove_author(self, uow: AuditedUnitOfWork, command: RemoveArtworkAuthor[Artwork]) -> RemovedLink:
        """Unlink an author as :meth:`unlink` does; this operation is not in the specification (contract D)."""
        return self._unlink(uow, command)

    def _unlink(self, uow: AuditedUnitOfWork, command: ArtworkAuthor[Artwork]) -> RemovedLink:
        artwork_id = self._kind.id_of(command)
        uow.records(self._kind).get_for_change(artwork_id, command.if_match)
        if not artworks_of(uow, self._kind).unlink(artwork_id, command.author_id):
            raise NotFound("Author", command.author_id, of=f" on {self._kind.kind} {artwork_id}")
        return self._kind.removed_link(artwork_id, command.author_id)


class _OneTheme(Command):
    """A command about one theme."""

    theme_id: ThemeId


class ListThemes(ListArtworks[Theme]):
    """All themes, or those that match the filters."""


class ListAuthorThemes(ListAuthorArtworks[Theme]):
    """The themes of an author, or those that match the filters."""


class CreateTheme(CreateArtwork[Theme]):
    """A new theme, inactive by default."""


class GetTheme(GetArtwork[Theme], _OneTheme):
    """A theme by its id, with its authors."""


class AmendTheme(AmendArtwork[Theme], _OneTheme):
    """New values for a theme; omitted fields are unchanged."""


class BlockTheme(BlockArtwork[Theme], _OneTheme):
    """The blocking of a theme, which readers of the published gallery must stop applying."""


class RemoveTheme(RemoveArtwork[Theme], _OneTheme):
    """The removal of a theme, with the links to its authors."""


class ListThemeAuthors(ListArtworkAuthors[Theme], _OneTheme):
    """The authors of a theme, in the order they were linked."""


class LinkThemeAuthor(LinkArtworkAuthor[Theme], _OneTheme):
    """A link from a theme to an author."""


class UnlinkThemeAuthor(UnlinkArtworkAuthor[Theme], _OneTheme):
    """Unlink an author from a theme (the form the specification defines)."""


class RemoveThemeAuthor(RemoveArtworkAuthor[Theme], _OneTheme):
    """Unlink an author in the path; not in the specification, so it requires a token (contract B1)."""


class _OneLogo(Command):
    """A command about one logo."""

    logo_id: LogoId


class ListLogos(ListArtworks[Logo]):
    """All logos, or those that match the filters."""


class ListAuthorLogos(ListAuthorArtworks[Logo]):
    """The logos of an author, or those that match the filters."""


class CreateLogo(CreateArtwork[Logo]):
    """A new logo, inactive by default."""


class GetLogo(GetArtwork[Logo], _OneLogo):
    """A logo by its id, with its authors."""


class AmendLogo(AmendArtwork[Logo], _OneLogo):
    """New values for a logo; omitted fields are unchanged."""


class BlockLogo(BlockArtwork[Logo], _OneLogo):
    """The blocking of a logo, which readers of the published gallery must stop applying."""


class RemoveLogo(RemoveArtwork[Logo], _OneLogo):
    """The removal of a logo, with the links to its authors."""


class ListLogoAuthors(ListArtworkAuthors[Logo], _OneLogo):
    """The authors of a logo, in the order they were linked."""


class LinkLogoAuthor(LinkArtworkAuthor[Logo], _OneLogo):
    """A link from a logo to an author."""


class UnlinkLogoAuthor(UnlinkArtworkAuthor[Logo], _OneLogo):
    """Unlink an author from a logo, named in the body."""


class RemoveLogoAuthor(RemoveArtworkAuthor[Logo], _OneLogo):
    """Unlink an author in the path."""


_CHANGES_THEMES: Final = Permission(THEMES.write_scope)
_CHANGES_LOGOS: Final = Permission(LOGOS.write_scope)
# Open to everybody by the specification: the policy ``open`` requires no token (contract B1).
_AS_SPECIFIED: Final = replace(_CHANGES_LOGOS, open_by_default=True)
THEME_USE_CASES: Final[UseCasesOfKind] = {
    "list": (ListThemes, PUBLIC),
    "of_author": (ListAuthorThemes, PUBLIC),
    "create": (CreateTheme, _CHANGES_THEMES),
    "get": (GetTheme, PUBLIC),
    "amend": (AmendTheme, _CHANGES_THEMES),
    "block": (BlockTheme, _CHANGES_THEMES),
    "remove": (RemoveTheme, _CHANGES_THEMES),
    "authors": (ListThemeAuthors, PUBLIC),
    "link": (LinkThemeAuthor, _CHANGES_THEMES),
    "unlink": (UnlinkThemeAuthor, replace(_CHANGES_THEMES, open_by_default=True)),
    "remove_author": (RemoveThemeAuthor, _CHANGES_THEMES),
}
LOGO_USE_CASES: Final[UseCasesOfKind] = {
    "list": (ListLogos, PUBLIC),
    "of_author": (ListAuthorLogos, PUBLIC),
    "create": (CreateLogo, _CHANGES_LOGOS),
    "get": (GetLogo, PUBLIC),
    "amend": (AmendLogo, _CHANGES_LOGOS),
    "block": (BlockLogo, _CHANGES_LOGOS),
    "remove": (RemoveLogo, _AS_SPECIFIED),
    "authors": (ListLogoAuthors, PUBLIC),
    "link": (LinkLogoAuthor, _AS_SPECIFIED),
    "unlink": (UnlinkLogoAuthor, _CHANGES_LOGOS),
    "remove_author": (RemoveLogoAuthor, _CHANGES_LOGOS),
}
