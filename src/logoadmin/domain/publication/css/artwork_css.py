"""The verdict on the CSS of logos and themes (contract L4)."""

from dataclasses import replace
from typing import Any

from logoadmin.domain.kernel.access import OWNER, Caller
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.gate import Gate
from logoadmin.domain.kernel.kinds import AnyArtworkKind
from logoadmin.domain.kernel.limits import LogoId, ThemeId
from logoadmin.domain.kernel.records import version_of
from logoadmin.domain.kernel.unit_of_work import Reading, get_existing, unless_unmodified
from logoadmin.domain.kernel.use_cases import OF_KIND, Service, use_case
from logoadmin.domain.publication.css.judging import judge
from logoadmin.domain.publication.css.targets import NO_TARGETS
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
    """The use case of the CSS of one kind of artwork.

    Attributes:
        targets: the targets with pages.
    """

    _kind: AnyArtworkKind
    targets = NO_TARGETS

    @use_case(OF_KIND)
    def css(self, gate: Gate, command: GetArtworkCss, caller: Caller = OWNER) -> Verdict:
        """Return the verdict on the CSS of an artwork (contract L4).

        Judging takes up to a second, so no transaction is open meanwhile.

        Raises:
            NotFound: the artwork does not exist.
            NotModified: the caller has this version of the verdict.
        """
        artwork = gate.read(command, caller, self._existing)
        unless_unmodified(artwork, command)
        verdict = judge(artwork.custom_css, self._kind.css_form, pages=self.targets.pages(artwork.target))
        return replace(verdict, version=version_of(artwork))

    def _existing(self, uow: Reading, command: GetArtworkCss) -> Any:
        return get_existing(uow, self._kind, self._kind.id_of(command))
