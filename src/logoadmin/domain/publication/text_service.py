"""The texts of artworks as readers see them (contract S1)."""

from dataclasses import dataclass
from typing import Annotated

from logoadmin.domain.kernel.access import OWNER, SIGNED_IN, Caller
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.gate import Gate, Transactions
from logoadmin.domain.kernel.limits import ArtworkText, described
from logoadmin.domain.kernel.use_cases import Service, use_case
from logoadmin.domain.publication.css.css_service import require_artworks
from logoadmin.ports.text import TextRenderer


class RenderText(Command):
    """A request for a text as HTML."""

    judges = True

    text: ArtworkText


@dataclass(frozen=True, slots=True)
class RenderedText:
    """A text, rendered as HTML."""

    html: Annotated[
        str,
        described(
            "HTML that runs no scripts and loads nothing; HTML and pictures in the text are shown as text.",
            "A <em>dark</em> theme.",
        ),
    ]


class TextService(Service):
    """The use cases of texts that are not stored."""

    def __init__(self, transactions: Transactions, renderer: TextRenderer) -> None:
        super().__init__(transactions)
        self._renderer = renderer

    @use_case(SIGNED_IN)
    def render(self, gate: Gate, command: RenderText, caller: Caller = OWNER) -> RenderedText:
        """Return a text as the pages of the published gallery show it. Nothing is stored.

        Raises:
            NotPermitted: the caller may neither change nor propose logos or themes.
        """
        gate.snapshot_with_rights(command, caller, require_artworks)
        return RenderedText(self._renderer.html(command.text))
