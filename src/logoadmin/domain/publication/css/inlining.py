"""Style sheets in place of their imports, for places that follow none (contract L5)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import tinycss2
from tinycss2.ast import AtRule, FunctionBlock, IdentToken, Node, ParseError, QualifiedRule, StringToken, URLToken

from logoadmin.domain.publication.css.tokens import has_too_many_blocks, with_short_numbers

# Imports inside each other; pinned sheets have at most three levels.
_MAX_LEVELS: Final = 5
_BEFORE_IMPORTS: Final = ("charset", "layer")


class TooLarge(Exception):
    """The result would be larger than allowed."""


def inline(css: str, sheets: Mapping[str, str], most: int) -> str:
    """Return a style sheet with its imports in it, each in the layer and under the conditions of its ``@import``.

    Imports without a sheet and those that browsers do not follow are left out, and rules with an unmatched brace.

    Args:
        css: the style sheet.
        sheets: the sheets by the URL of the import, those of imported sheets included.
        most: characters of the result, about, and of the imported sheets as often as they are read.

    Raises:
        TooLarge: the result would be longer.
    """
    return "".join(_inlined(css, sheets, _MAX_LEVELS, _Budget(most)))


@dataclass(slots=True)
class _Budget:
    left: int

    def take(self, text: str) -> str:
        self.left -= len(text)
        if self.left < 0:
            raise TooLarge
        return text


def _inlined(css: str, sheets: Mapping[str, str], levels: int, budget: _Budget) -> Iterator[str]:
    budget.take(css)
    if has_too_many_blocks(css):
        return
    follows = True
    for node in _rules(css):
        # A brace that closes nothing would close the block around an imported sheet.
        if not isinstance(node, QualifiedRule | AtRule) or any(isinstance(each, ParseError) for each in node.prelude):
            follows = False
            continue
        name = node.lower_at_keyword if isinstance(node, AtRule) else ""
        is_statement = isinstance(node, AtRule) and node.content is None
        if name == "import":
            if follows and levels and is_statement:
                yield from _imported(node.prelude, sheets, levels - 1, budget)
            continue
        follows = follows and is_statement and name in _BEFORE_IMPORTS
        if name != "charset":
            yield f"{node.serialize()}\n"


def _rules(css: str) -> Sequence[Node]:
    try:
        return tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True)
    except ValueError:  # an integer that Python refuses to read
        return tinycss2.parse_stylesheet(with_short_numbers(css), skip_comments=True, skip_whitespace=True)


def _imported(prelude: Sequence[Node], sheets: Mapping[str, str], levels: int, budget: _Budget) -> Iterator[str]:
    """Yield a sheet inside blocks for its conditions and its layer, which stand behind the URL."""
    nodes = [node for node in prelude if node.type != "comment"]
    while nodes and _is_space(nodes[0]):
        nodes.pop(0)
    url = _url(nodes.pop(0)) if nodes else None
    if url is None or url not in sheets:
        return
    heads, layer = [], ""
    for name in ("layer", "supports"):
        while nodes and _is_space(nodes[0]):
            nodes.pop(0)
        first = nodes[0] if nodes else None
        if isinstance(first, FunctionBlock) and first.lower_name == name:
            inner = tinycss2.serialize(first.arguments)
            if name == "layer":
                layer = f"@layer {inner}"
            else:
                heads.append(f"@supports ({inner})")
            nodes.pop(0)
        elif name == "layer" and isinstance(first, IdentToken) and first.lower_value == "layer":
            layer = "@layer"
            nodes.pop(0)
    media = tinycss2.serialize(nodes).strip()
    if media:
        heads.append(f"@media {media}")
    # Where a condition fails, the layer has no place in the order of layers (CSS Cascading and Inheritance Level 5).
    if layer:
        heads.append(layer)
    yield budget.take("".join(f"{head} {{\n" for head in heads))
    yield from _inlined(sheets[url], sheets, levels, budget)
    yield "\n}" * len(heads) + "\n"


def _url(node: Node) -> str | None:
    if isinstance(node, URLToken | StringToken):
        return str(node.value)
    if isinstance(node, FunctionBlock) and node.lower_name in ("url", "src"):
        first = next((each for each in node.arguments if isinstance(each, StringToken)), None)
        return None if first is None else str(first.value)
    return None


def _is_space(node: Node) -> bool:
    return bool(node.type == "whitespace")
