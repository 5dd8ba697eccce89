"""URLs in component values, wherever a browser may read one (CSS Values Level 4 §4.5, CSS Images Level 4 §2.4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from tinycss2.ast import AtKeywordToken, Comment, FunctionBlock, Node, StringToken, URLToken, WhitespaceToken

from logoadmin.domain.publication.css.tokens import Nodes, Tokens, contents

# Functions whose strings are URLs. Custom functions (--f) may also take URLs.
_URL_FUNCTIONS: Final = frozenset(
    ("url", "src", "image", "image-set", "-webkit-image-set", "cross-fade", "-webkit-cross-fade", "element")
)
# Functions inside them whose strings are something else.
_TEXT_FUNCTIONS: Final = frozenset(("type", "format", "tech", "local", "integrity", "crossorigin", "referrerpolicy"))


class Use(Enum):
    """The use of a URL in CSS."""

    IMPORT = auto()
    CONTACT = auto()
    # A string that another rule may use as a URL.
    PERHAPS = auto()


@dataclass(frozen=True, slots=True)
class Address:
    """A URL in CSS, as browsers read it, unescaped."""

    url: str
    use: Use
    token: URLToken | StringToken
    place: Node  # the node that uses it; for an import, its at-keyword


def addresses(tokens: Tokens, nodes: Nodes, strings: Use | None = None) -> Iterator[Address]:
    """Yield the URLs in component values at any depth, in the order of the text.

    An ``@import`` counts at any position: whether a browser follows it depends on how it reads the rules before.
    ``strings`` is the use of strings; None if they are plain text.
    """
    stack = [(nodes, 0, strings)]
    places: dict[int, Node] = {}
    while stack:
        nodes, start, strings = stack.pop()
        for index in range(start, len(nodes)):
            node = nodes[index]
            if isinstance(node, AtKeywordToken) and node.lower_value == "import":
                token = imported(nodes, index)
                if token is not None:
                    places[id(token)] = node
            elif isinstance(node, URLToken | StringToken):
                use = Use.CONTACT if isinstance(node, URLToken) else strings
                place = places.pop(id(node), None)
                if place is not None:
                    yield Address(tokens.value(node.value), Use.IMPORT, node, place)
                elif use is not None:
                    yield Address(tokens.value(node.value), use, node, node)
            else:
                inner = contents(node)
                if inner:
                    stack += (nodes, index + 1, strings), (inner, 0, _strings_in(node, strings))
                    break


def _strings_in(node: Node, outside: Use | None) -> Use | None:
    """Return the use of strings in a block or function."""
    if not isinstance(node, FunctionBlock):
        return outside
    name = node.lower_name
    if name in _URL_FUNCTIONS:
        return Use.CONTACT
    if name.startswith("--"):
        return outside or Use.PERHAPS
    return None if name in _TEXT_FUNCTIONS else outside


def imported(nodes: Nodes, index: int) -> URLToken | StringToken | None:
    """Return the token with the URL of the ``@import`` at this index, if any."""
    following = _next(nodes, index + 1)
    if isinstance(following, FunctionBlock) and following.lower_name in ("url", "src"):
        following = _next(following.arguments, 0)
    return following if isinstance(following, URLToken | StringToken) else None


def _next(nodes: Nodes, index: int) -> Node | None:
    """Return the first component value at or after an index that is neither white space nor a comment."""
    while index < len(nodes) and isinstance(nodes[index], WhitespaceToken | Comment):
        index += 1
    return nodes[index] if index < len(nodes) else None
