"""The services of themes and logos: their records, and the verdict on their CSS."""

from typing import ClassVar

from logoadmin.domain.gallery.artworks import LOGO_USE_CASES, THEME_USE_CASES, ArtworkService
from logoadmin.domain.kernel.access import PUBLIC
from logoadmin.domain.kernel.records import (
    Logo,
    LogoAuthor,
    RemovedLogo,
    RemovedLogoAuthor,
    RemovedTheme,
    RemovedThemeAuthor,
    Theme,
    ThemeAuthor,
)
from logoadmin.domain.kernel.use_cases import UseCasesOfKind
from logoadmin.domain.publication.css.css_service import ArtworkCss, GetLogoCss, GetThemeCss


class ThemeService(ArtworkService[Theme, ThemeAuthor, RemovedTheme, RemovedThemeAuthor], ArtworkCss):
    """The use cases of themes, with the verdict on their CSS."""

    use_cases: ClassVar[UseCasesOfKind] = {**THEME_USE_CASES, "css": (GetThemeCss, PUBLIC)}


class LogoService(ArtworkService[Logo, LogoAuthor, RemovedLogo, RemovedLogoAuthor], ArtworkCss):
    """The use cases of logos, with the verdict on their CSS."""

    use_cases: ClassVar[UseCasesOfKind] = {**LOGO_USE_CASES, "css": (GetLogoCss, PUBLIC)}
