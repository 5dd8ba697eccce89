"""Themes (spec §Endpoints 8, contract D). What is done with them stands in ``pieces``."""

from typing import Final

from logoadmin.domain.access import Need, Scope
from logoadmin.domain.limits import Id
from logoadmin.domain.records import Kind, RemovedTheme, RemovedThemeAuthor, Theme, ThemeAuthor
from logoadmin.domain.services.pieces import (
    AmendPiece,
    CreatePiece,
    ListAllPieces,
    OnePiece,
    PieceAuthor,
    PieceKind,
    PieceService,
)

THEME: Final = PieceKind(
    kind=Kind.THEME,
    record=Theme,
    repository=lambda uow: uow.themes,
    recorded=lambda uow: uow.themes,
    link=ThemeAuthor,
    removed=RemovedTheme,
    removed_link=RemovedThemeAuthor,
)

ThemeService = PieceService[Theme, ThemeAuthor, RemovedTheme, RemovedThemeAuthor]


class ListThemes(ListAllPieces[Theme]):
    """All themes, or those that are asked for."""


class CreateTheme(CreatePiece[Theme]):
    """A new theme, not active unless told so."""

    need = Need(Scope.THEMES_WRITE)


class GetTheme(OnePiece[Theme]):
    """One theme."""

    theme_id: Id


class AmendTheme(AmendPiece[Theme]):
    """New values for a theme; what is not given stays."""

    need = Need(Scope.THEMES_WRITE)

    theme_id: Id


class RemoveTheme(OnePiece[Theme]):
    """The end of a theme, and of the links to its authors."""

    need = Need(Scope.THEMES_WRITE)

    theme_id: Id


class ListThemeAuthors(OnePiece[Theme]):
    """Who made a theme."""

    theme_id: Id


class LinkThemeAuthor(PieceAuthor[Theme]):
    """That an author made a theme."""

    need = Need(Scope.THEMES_WRITE)

    theme_id: Id


class UnlinkThemeAuthor(PieceAuthor[Theme]):
    """That an author did not make a theme, as the specification asks for it."""

    need = Need(Scope.THEMES_WRITE, specified=True)

    theme_id: Id


class RemoveThemeAuthor(UnlinkThemeAuthor):
    """The same under a path that names the author; what we add takes a token under every policy (contract B1)."""

    need = Need(Scope.THEMES_WRITE)
