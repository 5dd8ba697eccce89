"""The verdict on CSS that is not stored (contract L4)."""

from math import inf
from typing import Annotated, Final, Literal

from pydantic import Field

from logoadmin.domain.kernel.access import OWNER, SIGNED_IN, Caller, Held, Scope
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import NotPermitted
from logoadmin.domain.kernel.gate import Gate, Transactions
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AnyArtworkKind
from logoadmin.domain.kernel.limits import MAX_TARGET, CustomCss, described
from logoadmin.domain.kernel.unit_of_work import Reading
from logoadmin.domain.kernel.use_cases import Service, use_case
from logoadmin.domain.publication.css import judge
from logoadmin.domain.publication.css.pages import Pages
from logoadmin.domain.publication.css.targets import Targets
from logoadmin.domain.publication.css.verdict import Verdict
from logoadmin.ports.kernel.environment import Clock

MAX_SECONDS: Final = 2.0


class JudgeCss(Command):
    """A request for the verdict on CSS that is being written."""

    judges = True

    kind: Annotated[
        Literal["logo", "theme"],
        described("What it is the CSS of: a logo has declarations, a theme has a style sheet.", "theme"),
    ]
    custom_css: CustomCss
    target: Annotated[
        str,
        Field(max_length=MAX_TARGET),
        described("Its target: `@-moz-document` rules for other pages are a risk.", "forum"),
    ] = ""


class CssService(Service):
    """The use case of CSS that is not stored."""

    def __init__(self, transactions: Transactions, clock: Clock, targets: Targets) -> None:
        super().__init__(transactions)
        self._clock, self._targets = clock, targets

    @use_case(SIGNED_IN)
    def judge(self, gate: Gate, command: JudgeCss, caller: Caller = OWNER) -> Verdict:
        """Return the verdict on CSS without pinned imports (contract L4).

        No transaction is open while it is judged. CSS that takes more than :data:`MAX_SECONDS` of processor time
        is ``invalid``, with that reason.

        Raises:
            NotPermitted: the caller may neither change nor propose logos or themes.
        """
        gate.snapshot_with_rights(command, caller, _require_scope)
        kind = next(kind for kind in ARTWORK_KINDS if kind.kind == command.kind)
        return verdict_on(kind, command.custom_css, self._clock, self._targets.pages(command.target))


def verdict_on(kind: AnyArtworkKind, custom_css: str, clock: Clock, pages: Pages, until: float = inf) -> Verdict:
    """Return the verdict on the CSS of a kind of artwork.

    It takes at most :data:`MAX_SECONDS` of the thread's own processor time, however busy others keep the machine, and
    ends when the clock shows that the thread has worked ``until`` then.
    """
    end = min(clock.worked() + MAX_SECONDS, until)
    return judge(custom_css, kind.css_form, may_go_on=lambda: clock.worked() < end, pages=pages)


def _require_scope(_uow: Reading, _command: JudgeCss, held: Held) -> None:
    scopes = (Scope.PROPOSALS_WRITE, *(kind.write_scope for kind in ARTWORK_KINDS))
    if not any(map(held.hold, scopes)):
        raise NotPermitted
