"""CommonMark as safe HTML, by markdown-it-py (contract S1)."""

import re
from collections.abc import Iterable
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

_LINK: Final = re.compile(r"(?:https?://|mailto:)[^/?#]", re.ASCII | re.IGNORECASE)
# The page has headings of the first two levels.
_LEVEL_ABOVE: Final = 2
_LOWEST: Final = 6
_REL: Final = "nofollow ugc noopener"
# Each gets its own text direction, so that no paragraph affects the next one.
_WITH_DIRECTION: Final = frozenset({"p", "li", *(f"h{level}" for level in range(1, 7))})


class _Parser(MarkdownIt):
    """CommonMark without HTML, in which links that are not allowed stay text."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"html": False})
        # The first text compiles the rules; a second one at the same time would see only some of them.
        self.render("a")

    def validateLink(self, url: str) -> bool:  # noqa: N802 (the name is the library's)
        return _LINK.match(url) is not None


# It keeps no state between texts, and creating one takes milliseconds.
_PARSER: Final = _Parser()


class CommonmarkText:
    """Implements :class:`~logoadmin.ports.text.TextRenderer`."""

    def html(self, text: str) -> str:
        env: dict[str, object] = {}
        tokens = _PARSER.parse(text, env)
        _set_levels(token for token in tokens if token.type in ("heading_open", "heading_close"))
        for token in tokens:
            if token.tag in _WITH_DIRECTION and token.nesting == 1:
                token.attrSet("dir", "auto")
            token.children = token.children and list(map(_safe, token.children))
        rendered: str = _PARSER.renderer.render(tokens, _PARSER.options, env)
        return rendered


def _set_levels(headings: Iterable[Token]) -> None:
    """Put headings below those of the page, without gaps; each has an opening and a closing token."""
    level = _LEVEL_ABOVE
    for token in headings:
        if token.nesting == 1:
            level = min(int(token.tag[1:]) + _LEVEL_ABOVE, level + 1, _LOWEST)
        token.tag = f"h{level}"


def _safe(token: Token) -> Token:
    """Return an inline token; a picture as text."""
    if token.type == "link_open":
        # A link without an address, [a](), has no target.
        token.attrs = {**token.attrs, "rel": _REL} if token.attrs["href"] else {}
    elif token.type == "image":
        return Token("text", "", 0, content=f"![{token.content}]({token.attrs['src']})")
    return token
