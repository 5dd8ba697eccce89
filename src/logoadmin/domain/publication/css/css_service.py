"""The use cases of CSS that is not stored (contract L4, L5)."""

from math import inf
from typing import Annotated, Final, Literal

from pydantic import Field

from logoadmin.domain.kernel.access import OWNER, SIGNED_IN, Caller, Held, Scope
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import Conflict, NotPermitted
from logoadmin.domain.kernel.gate import Gate, Transactions
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AnyArtworkKind
from logoadmin.domain.kernel.limits import MAX_TARGET, CustomCss, described
from logoadmin.domain.kernel.shared_settings import shared_settings
from logoadmin.domain.kernel.unit_of_work import Reading
from logoadmin.domain.kernel.use_cases import Service, use_case
from logoadmin.domain.publication.css.inlining import InlinedCss, inline
from logoadmin.domain.publication.css.judging import judge
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
        described("What it is the CSS of: a logo has declarations, a theme has a style sheet.", "theme"),
    ]
    custom_css: CustomCss


class JudgeCss(_CssCommand):
    """A request for the verdict on CSS that is being written."""

    judges = True

    target: Annotated[
        str,
        Field(max_length=MAX_TARGET),
        described("Its target: `@-moz-document` rules for other pages are a risk.", "forum"),
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
    """The use cases of CSS that is not stored."""

    def __init__(self, transactions: Transactions, outgoing: Outgoing | None, clock: Clock) -> None:
        super().__init__(transactions)
        self._outgoing, self._clock = outgoing, clock

    @use_case(SIGNED_IN)
    def judge(self, gate: Gate, command: JudgeCss, caller: Caller = OWNER) -> Verdict:
        """Return the verdict on CSS (contract L4).

        No transaction is open while it is judged. CSS that takes more than :data:`MAX_SECONDS` of processor time
        is ``invalid``, with that reason.

        Raises:
            NotPermitted: the caller may neither change nor propose logos or themes.
        """
        pages = gate.snapshot_with_rights(command, caller, _targets).pages(command.target)
        return verdict_on(_kind(command), command.custom_css, self._clock, pages)

    @use_case(SIGNED_IN)
    def user_style(self, gate: Gate, command: ReadUserStyle, caller: Caller = OWNER) -> UserStyle:
        """Return the fields of an artwork that a user style fills (contract S3). Nothing is stored.

        Raises:
            NotPermitted: the caller may neither change nor propose logos or themes.
            InvalidInput: it is no user style, or needs a preprocessor.
        """
        return user_style_source(command.text, gate.snapshot_with_rights(command, caller, _targets))

    @use_case(SIGNED_IN)
    def inline(self, gate: Gate, command: InlineCss, caller: Caller = OWNER) -> InlinedCss:
        """Return CSS with a copy of each imported style sheet (contract L5). Nothing is stored.

        If it imports none, the copies in it are fetched again. No transaction is open meanwhile.

        Raises:
            NotPermitted: the caller may neither change nor propose logos or themes.
            Conflict: this service sends no requests.
        """
        gate.snapshot_with_rights(command, caller, require_artworks)
        if self._outgoing is None:
            raise Conflict("Style sheets are not fetched: httpx2 is not installed")
        return inline(command.custom_css, _kind(command).css_form, self._outgoing, self._clock)


def _kind(command: _CssCommand) -> AnyArtworkKind:
    return next(kind for kind in ARTWORK_KINDS if kind.kind == command.kind)


def verdict_on(kind: AnyArtworkKind, custom_css: str, clock: Clock, pages: Pages, until: float = inf) -> Verdict:
    """Return the verdict on the CSS of a kind of artwork.

    It takes at most :data:`MAX_SECONDS` of the thread's own processor time, however busy others keep the machine, and
    ends when the clock shows that the thread has worked ``until`` then.
    """
    end = min(clock.worked() + MAX_SECONDS, until)
    return judge(custom_css, kind.css_form, may_go_on=lambda: clock.worked() < end, pages=pages)


def _targets(uow: Reading, command: Command, held: Held) -> Targets:
    """Return the targets, for callers who may change or propose logos or themes."""
    require_artworks(uow, command, held)
    return targets_of(shared_settings(uow))


def require_artworks(_uow: Reading, _command: Command, held: Held) -> None:
    """Require that the caller may change or propose logos or themes.

    Raises:
        NotPermitted: they may not.
    """
    scopes = (Scope.PROPOSALS_WRITE, *(kind.write_scope for kind in ARTWORK_KINDS))
    if not any(map(held.hold, scopes)):
        raise NotPermitted
