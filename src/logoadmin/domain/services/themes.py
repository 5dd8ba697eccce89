"""Themes (spec §Endpoints 8, contract D). What is done with them stands in ``artworks``."""

from typing import Final

from logoadmin.domain.model.access import Permission, Scope
from logoadmin.domain.model.limits import Id
from logoadmin.domain.model.records import Kind, RemovedTheme, RemovedThemeAuthor, Theme, ThemeAuthor
from logoadmin.domain.services.artworks import (
    AmendArtwork,
    ArtworkAuthor,
    ArtworkKind,
    ArtworkService,
    CreateArtwork,
    ListAllArtworks,
    OneArtwork,
)

THEME: Final = ArtworkKind(
    kind=Kind.THEME,
    record=Theme,
    repository=lambda uow: uow.themes,
    recorded=lambda uow: uow.themes,
    link=ThemeAuthor,
    removed=RemovedTheme,
    removed_link=RemovedThemeAuthor,
)

ThemeService = ArtworkService[Theme, ThemeAuthor, RemovedTheme, RemovedThemeAuthor]


class ListThemes(ListAllArtworks[Theme]):
    """All themes, or those that are asked for."""


class CreateTheme(CreateArtwork[Theme]):
    """A new theme, not active unless told so."""

    permission = Permission(Scope.THEMES_WRITE)


class GetTheme(OneArtwork[Theme]):
    """One theme."""

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
    """Who made a theme."""

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
