"""The verdict on the CSS of logos and themes (contract L4)."""

from dataclasses import replace
from typing import Any

from logoadmin.domain.kernel.access import OWNER, Caller
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import NotModified
from logoadmin.domain.kernel.gate import Gate
from logoadmin.domain.kernel.kinds import AnyArtworkKind
from logoadmin.domain.kernel.limits import LogoId, ThemeId
from logoadmin.domain.kernel.records import SharedSettings, version_of
from logoadmin.domain.kernel.shared_settings import shared_settings
from logoadmin.domain.kernel.unit_of_work import Reading, get_existing
from logoadmin.domain.kernel.use_cases import OF_KIND, Service, use_case
from logoadmin.domain.publication.css.judging import judge
from logoadmin.domain.publication.css.targets import targets_of
from logoadmin.domain.publication.css.verdict import Verdict


class GetArtworkCss(Command):
    """The verdict on the CSS of an artwork."""

    judges = True


class GetThemeCss(GetArtworkCss):
    """The verdict on the CSS of a theme."""

    theme_id: ThemeId


class GetLogoCss(GetArtworkCss):
    """The verdict on the CSS of a logo."""

    logo_id: LogoId


class ArtworkCss(Service):
    """The use case of the CSS of one kind of artwork."""

    _kind: AnyArtworkKind

    @use_case(OF_KIND)
    def css(self, gate: Gate, command: GetArtworkCss, caller: Caller = OWNER) -> Verdict:
        """Return the verdict on the CSS of an artwork (contract L4).

        Judging takes up to a second, so no transaction is open meanwhile.

        Raises:
            NotFound: the artwork does not exist.
            NotModified: the caller has this version of the verdict.
        """
        artwork, settings = gate.read(command, caller, self._existing)
        # The verdict also depends on the targets.
        version = max(version_of(artwork), settings.version)
        if version in command.if_none_match:
            raise NotModified(version)
        pages = targets_of(settings).pages(artwork.target)
        return replace(judge(artwork.custom_css, self._kind.css_form, pages=pages), version=version)

    def _existing(self, uow: Reading, command: GetArtworkCss) -> tuple[Any, SharedSettings]:
        return get_existing(uow, self._kind, self._kind.id_of(command)), shared_settings(uow)
