"""Rendering texts that authors write about their artworks (contract S1)."""

from typing import Protocol


class TextRenderer(Protocol):
    """Renders CommonMark. Safe to use from several threads."""

    def html(self, text: str) -> str:
        """Return a text as HTML that runs nothing, loads nothing, and can be embedded in any page.

        HTML and pictures in the text become text. Links are ``http``, ``https`` or ``mailto``. Headings begin at the
        third level, below those of the page.

        Args:
            text: CommonMark of any content, at most 20,000 characters.
        """
