"""Logos (spec §Endpoints 9 to 12, contract D). What is done with them stands in ``artworks``."""

from typing import Final

from logoadmin.domain.model.access import Permission, Scope
from logoadmin.domain.model.limits import Id
from logoadmin.domain.model.records import Kind, Logo, LogoAuthor, RemovedLogo, RemovedLogoAuthor
from logoadmin.domain.services.artworks import (
    AmendArtwork,
    ArtworkAuthor,
    ArtworkKind,
    ArtworkService,
    CreateArtwork,
    ListAllArtworks,
    OneArtwork,
)

LOGO: Final = ArtworkKind(
    kind=Kind.LOGO,
    record=Logo,
    repository=lambda uow: uow.logos,
    recorded=lambda uow: uow.logos,
    link=LogoAuthor,
    removed=RemovedLogo,
    removed_link=RemovedLogoAuthor,
)

LogoService = ArtworkService[Logo, LogoAuthor, RemovedLogo, RemovedLogoAuthor]


class ListLogos(ListAllArtworks[Logo]):
    """All logos, or those that are asked for."""


class CreateLogo(CreateArtwork[Logo]):
    """A new logo, not active unless told so."""

    permission = Permission(Scope.LOGOS_WRITE)


class GetLogo(OneArtwork[Logo]):
    """One logo."""

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
    """Who made a logo."""

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
