"""Rendering texts that authors write about their artworks (contract S1)."""

from typing import Protocol


class TextRenderer(Protocol):
    """Renders CommonMark. Safe to use from several threads."""

    def html(self, text: str) -> str:
        """Return CommonMark of at most 20,000 characters as HTML, which can be embedded in any page.

        It runs nothing and loads nothing: HTML and pictures in the text become text. Links are ``http``, ``https`` or
        ``mailto``. Headings begin at the third level, below those of the page.
        """
