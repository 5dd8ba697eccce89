"""The use cases of CSS: the verdict, and copies of imported style sheets (contract L4, L5)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from logoadmin.domain.kernel.access import OWNER, SIGNED_IN, Caller, Held, Scope
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import Conflict, NotModified, NotPermitted
from logoadmin.domain.kernel.gate import Gate, Transactions
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, LOGOS, AnyArtworkKind
from logoadmin.domain.kernel.limits import MAX_TARGET, CustomCss, LogoId, ThemeId, described
from logoadmin.domain.kernel.records import Kind, SharedSettings, version_of
from logoadmin.domain.kernel.unit_of_work import (
    AuditedUnitOfWork,
    Reading,
    get_existing,
    replace_value,
    shared_settings,
    stored_artworks,
)
from logoadmin.domain.kernel.use_cases import OF_KIND, Service, behind, for_program, storage_of, use_case, writes
from logoadmin.domain.publication.css.inlining import FailedImport, InlinedCss, inline
from logoadmin.domain.publication.css.judging import TOO_LONG, judge
from logoadmin.domain.publication.css.pages import Pages
from logoadmin.domain.publication.css.targets import Targets, targets_of
from logoadmin.domain.publication.css.user_style_source import UserStyle, user_style_source
from logoadmin.domain.publication.css.verdict import Verdict
from logoadmin.ports.environment import Clock
from logoadmin.ports.outgoing import Outgoing

MAX_SECONDS: Final = 2.0


class _CssCommand(Command):
    kind: Annotated[
        Literal["logo", "theme"],
        described("The kind of artwork: a logo has declarations, a theme has a style sheet.", "theme"),
    ]
    custom_css: CustomCss


class JudgeCss(_CssCommand):
    """A request for the verdict on CSS that is being written."""

    judges = True

    target: Annotated[
        str,
        Field(max_length=MAX_TARGET),
        described("The target of the artwork: `@-moz-document` rules for other pages are a risk.", "forum"),
    ] = ""


class ReadUserStyle(Command):
    """A user style, to fill the form of an artwork."""

    judges = True

    text: Annotated[
        CustomCss,
        described(
            "A text that begins with a `==UserStyle==` comment.",
            "/* ==UserStyle==\n@name Aurora\n==/UserStyle== */\na { color: #123 }",
        ),
    ]


class InlineCss(_CssCommand):
    """A request for CSS with copies in place of its imports."""

    asks_others = True


class CssService(Service):
    """The use cases of CSS that is not stored, for callers who may change or propose logos or themes.

    No transaction is open meanwhile.
    """

    def __init__(self, transactions: Transactions, outgoing: Outgoing | None) -> None:
        super().__init__(transactions)
        self._outgoing = outgoing

    @use_case(SIGNED_IN)
    def judge(self, gate: Gate, command: JudgeCss, caller: Caller = OWNER) -> Verdict:
        """Return the verdict on CSS (contract L4).

        CSS that takes more than :data:`MAX_SECONDS` of processor time is ``invalid``, with that reason.
        """
        pages = gate.snapshot_with_rights(command, caller, _targets).pages(command.target)
        return verdict_on(_kind(command), command.custom_css, behind(self).clock, pages)

    @use_case(SIGNED_IN)
    def user_style(self, gate: Gate, command: ReadUserStyle, caller: Caller = OWNER) -> UserStyle:
        """Return the fields of an artwork that a user style fills (contract S3).

        Raises:
            InvalidInput: it is not a user style, or needs a preprocessor.
        """
        return user_style_source(command.text, gate.snapshot_with_rights(command, caller, _targets))

    @use_case(SIGNED_IN)
    def inline(self, gate: Gate, command: InlineCss, caller: Caller = OWNER) -> InlinedCss:
        """Return CSS with a copy of each imported style sheet (contract L5).

        If it imports none, the copies in it are fetched again.

        Raises:
            Conflict: this service sends no requests.
        """
        gate.snapshot_with_rights(command, caller, require_artworks)
        if self._outgoing is None:
            raise Conflict("Fetching style sheets needs logoadmin[client], which is not installed")
        return inline(command.custom_css, _kind(command).css_form, self._outgoing, behind(self).clock)


def _kind(command: _CssCommand) -> AnyArtworkKind:
    return next(kind for kind in ARTWORK_KINDS if kind.kind == command.kind)


def verdict_on(kind: AnyArtworkKind, custom_css: str, clock: Clock, pages: Pages, until: float = inf) -> Verdict:
    """Return the verdict on the CSS of a kind of artwork.

    Judging stops after :data:`MAX_SECONDS` of the thread's own processor time, however busy the machine is, or when
    ``clock.worked()`` reaches ``until``.
    """
    end = min(clock.worked() + MAX_SECONDS, until)
    return judge(custom_css, kind.css_form, may_go_on=lambda: clock.worked() < end, pages=pages)


def _targets(uow: Reading, command: Command, held: Held) -> Targets:
    """Return the targets, for callers who may change or propose logos or themes."""
    require_artworks(uow, command, held)
    return targets_of(shared_settings(uow))


def require_artworks(_uow: Reading, _command: Command, held: Held) -> None:
    """Require that the caller may change or propose logos or themes."""
    scopes = (Scope.PROPOSALS_WRITE, *(kind.write_scope for kind in ARTWORK_KINDS))
    if not any(map(held.hold, scopes)):
        raise NotPermitted


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

        No transaction is open while it is judged. A verdict that took too long has no version: another may differ.

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
        verdict = verdict_on(self._kind, artwork.custom_css, behind(self).clock, pages)
        return verdict if verdict.reason == TOO_LONG else replace(verdict, version=version)

    def _existing(self, uow: Reading, command: GetArtworkCss) -> tuple[Any, SharedSettings]:
        return get_existing(uow, self._kind, self._kind.id_of(command)), shared_settings(uow)


@dataclass(frozen=True, slots=True)
class CopiedImports:
    """An artwork whose CSS imports style sheets, and copies of them."""

    kind: Kind
    id: int
    name: str
    css: str
    urls: tuple[str, ...]
    copy: str  # its CSS with copies of all imports; empty if one could not be copied
    failed: tuple[FailedImport, ...]


class UseCopies(Command):
    """A request to store the CSS with copies in artworks."""

    takes_long = True

    artworks: tuple[CopiedImports, ...]


class ArtworkImports(Service):
    """Copies the style sheets that logos and themes import, for the command line."""

    def __init__(self, css: CssService) -> None:
        super().__init__(behind(css))
        self._css = css

    @for_program
    def copies(self) -> Iterator[CopiedImports]:
        """Yield the artworks with imports, logos first, by id, with their copies or the imports that failed.

        Raises:
            Conflict: this service sends no requests.
        """
        artworks = stored_artworks(storage_of(self).read)
        for kind, artwork in [(kind, each) for kind, each in artworks if _may_import(each.custom_css)]:
            css = artwork.custom_css
            if urls := judge(css, kind.css_form).import_urls:
                found = self._css.inline(InlineCss(kind="logo" if kind is LOGOS else "theme", custom_css=css))
                copy = "" if found.failed else found.custom_css
                yield CopiedImports(kind.kind, kind.id_of(artwork), artwork.name, css, urls, copy, found.failed)

    @writes()
    def use(self, uow: AuditedUnitOfWork, command: UseCopies) -> int:
        """Store the CSS with copies in artworks, as one request; return the number of changes.

        Artworks whose CSS has changed in the meantime are skipped.
        """
        copies = [each for each in command.artworks if each.copy]
        return sum(replace_value(uow, each.kind, each.id, "custom_css", each.css, each.copy) for each in copies)


def _may_import(css: str) -> bool:
    """Return whether CSS may have an @import, whose text has this word or an escape."""
    return "@" in css and ("\\" in css or "import" in css.lower())
