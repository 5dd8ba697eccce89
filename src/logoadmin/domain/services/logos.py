"""Logos (spec §Endpoints 9 to 12, contract D). What is done with them stands in ``pieces``."""

from typing import Final

from logoadmin.domain.access import Need, Scope
from logoadmin.domain.limits import Id
from logoadmin.domain.records import Kind, Logo, LogoAuthor, RemovedLogo, RemovedLogoAuthor
from logoadmin.domain.services.pieces import (
    AmendPiece,
    CreatePiece,
    ListAllPieces,
    OnePiece,
    PieceAuthor,
    PieceKind,
    PieceService,
)

LOGO: Final = PieceKind(
    kind=Kind.LOGO,
    record=Logo,
    repository=lambda uow: uow.logos,
    recorded=lambda uow: uow.logos,
    link=LogoAuthor,
    removed=RemovedLogo,
    removed_link=RemovedLogoAuthor,
)

LogoService = PieceService[Logo, LogoAuthor, RemovedLogo, RemovedLogoAuthor]


class ListLogos(ListAllPieces[Logo]):
    """All logos, or those that are asked for."""


class CreateLogo(CreatePiece[Logo]):
    """A new logo, not active unless told so."""

    need = Need(Scope.LOGOS_WRITE)


class GetLogo(OnePiece[Logo]):
    """One logo."""

    logo_id: Id


class AmendLogo(AmendPiece[Logo]):
    """New values for a logo; what is not given stays."""

    need = Need(Scope.LOGOS_WRITE)

    logo_id: Id


class RemoveLogo(OnePiece[Logo]):
    """The end of a logo, and of the links to its authors."""

    need = Need(Scope.LOGOS_WRITE, specified=True)

    logo_id: Id


class ListLogoAuthors(OnePiece[Logo]):
    """Who made a logo."""

    logo_id: Id


class LinkLogoAuthor(PieceAuthor[Logo]):
    """That an author made a logo."""

    need = Need(Scope.LOGOS_WRITE, specified=True)

    logo_id: Id


class UnlinkLogoAuthor(PieceAuthor[Logo]):
    """That an author did not make a logo."""

    need = Need(Scope.LOGOS_WRITE)

    logo_id: Id


class RemoveLogoAuthor(UnlinkLogoAuthor):
    """The same under a path that names the author."""
