"""The commands about artworks that logos and themes share (spec §Endpoints 8 to 12, contract D, L3)."""

from typing import Annotated, Generic

from logoadmin.domain.kernel.access import PUBLIC
from logoadmin.domain.kernel.command import UNSET, Command
from logoadmin.domain.kernel.limits import (
    Active,
    ArtworkName,
    AuthorId,
    BlockReason,
    CustomCss,
    Flag,
    NewPreviewUrl,
    Target,
    described,
)
from logoadmin.domain.kernel.lists import SearchedCommand
from logoadmin.domain.kernel.records import Artwork


class ListArtworks(SearchedCommand, Generic[Artwork]):
    """All artworks of a kind, or those that match the filters."""

    permission = PUBLIC

    target: Annotated[Target, described("Artworks for this part of the site.", "forum")] | None = None
    active: Annotated[Flag, described("Artworks that are in use, or that are not.", True)] | None = None


class ListAllArtworks(ListArtworks[Artwork]):
    """The same, with a filter by author."""

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
    active: Active = False


class OneArtwork(Command, Generic[Artwork]):
    """A command about one artwork; subclasses add its id, named after the kind."""


class AmendArtwork(OneArtwork[Artwork]):
    """New values for an artwork; fields that are left out stay as they are."""

    name: ArtworkName = UNSET
    preview_url: NewPreviewUrl = UNSET
    target: Target = UNSET
    custom_css: CustomCss = UNSET
    active: Active = UNSET
    unblock: Annotated[Flag, described("Whether activating it lifts its block, if it is blocked.", True)] = False


class ArtworkAuthor(OneArtwork[Artwork]):
    """A command about one artwork and one author."""

    author_id: AuthorId


class BlockArtwork(OneArtwork[Artwork]):
    """The blocking of an artwork, which readers of the published gallery must stop applying."""

    reason: BlockReason
