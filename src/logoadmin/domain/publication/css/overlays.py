"""Boxes that may cover a page: a hint for reviewers, not proof (contract L4)."""

from collections.abc import Iterator, Sequence
from typing import Final

from tinycss2 import serialize
from tinycss2.ast import DimensionToken, FunctionBlock, IdentToken, Node, PercentageToken

from logoadmin.domain.publication.css.structure import Block, Declaration, unprefixed
from logoadmin.domain.publication.css.tokens import Nodes, is_literal, significant

_POSITIONS: Final = frozenset(("absolute", "fixed", "sticky"))
_SIDES: Final = ("top", "right", "bottom", "left")
# The sides that a property sets, as physical sides: which of them does not matter.
_MOVES: Final = {
    "inset": _SIDES,
    "inset-block": ("top", "bottom"),
    "inset-inline": ("left", "right"),
    "inset-block-start": ("top",),
    "inset-block-end": ("bottom",),
    "inset-inline-start": ("left",),
    "inset-inline-end": ("right",),
} | {side: (side,) for side in _SIDES}
_SIZES: Final = {
    **dict.fromkeys(("width", "min-width", "inline-size", "min-inline-size"), "width"),
    **dict.fromkeys(("height", "min-height", "block-size", "min-block-size"), "height"),
}
_COVERING: Final = tuple(map(frozenset, (("top", "bottom"), ("left", "right"), ("width", "height"))))
_UNSET: Final = frozenset(("auto", "initial", "inherit", "unset", "revert", "revert-layer", "none"))
_WHOLE: Final = frozenset(("stretch", "fill-available", "available"))
# Percent of a window of 1,280 by 720 pixels, with 16 pixels for an em.
_HALF: Final = 50
_PIXELS: Final = {"px": 1, "pt": 4 / 3, "pc": 16, "in": 96, "cm": 38, "mm": 3.8, "q": 0.94, "em": 16, "rem": 16}
_WINDOW: Final = {"width": 12.8, "height": 7.2}


def overlays(blocks: Sequence[Block]) -> Iterator[Node]:
    """Yield the ``position`` declarations of boxes that may cover a page.

    A box has the declarations of all rules with one selector, including those in conditions inside these rules.
    """
    owners: dict[int, Block] = {}
    traits: dict[str, set[str]] = {}
    positions: list[tuple[Block, Node]] = []
    for block in blocks:
        owner = owners[id(block.parent)] if block.parent is not None and _is_of_parent(block) else block
        owners[id(block)] = owner
        found = {trait for declaration in block.declarations for trait in _traits(declaration)}
        if found:
            for selector in _selectors(owner):
                traits.setdefault(selector, set()).update(found)
        positions += ((owner, each.place) for each in block.declarations if _is_positioned(each))
    for owner, place in positions:
        if any(needed <= traits.get(selector, set()) for selector in _selectors(owner) for needed in _COVERING):
            yield place


def _is_of_parent(block: Block) -> bool:
    """Return whether a block applies to the elements of the block around it: a condition, or ``&`` alone."""
    if block.parent is None or block.parent.parent is None:
        return False
    prelude = significant(block.prelude)
    return bool(block.at_keyword) or (len(prelude) == 1 and is_literal(prelude[0], "&"))


def _selectors(block: Block) -> Iterator[str]:
    """Yield each selector of a block in a comparable form; at-rules and the text get a unique one."""
    if block.at_keyword or not block.prelude:
        yield str(id(block))
        return
    selector: Nodes = []
    for node in block.prelude:
        if is_literal(node, ","):
            yield _spelling(selector)
            selector = []
        else:
            selector.append(node)
    yield _spelling(selector)


def _spelling(selector: Nodes) -> str:
    return " ".join(str(serialize(selector)).split()).lower()


def _is_positioned(declaration: Declaration) -> bool:
    return declaration.name == "position" and any(
        isinstance(node, FunctionBlock) or (isinstance(node, IdentToken) and unprefixed(node.lower_value) in _POSITIONS)
        for node in declaration.value
    )


def _traits(declaration: Declaration) -> Iterator[str]:
    """Yield the sides that a declaration sets, or the dimension of which it covers half or more."""
    value = [node for node in significant(declaration.value) if not is_literal(node, "!")]
    if declaration.name in _MOVES and value:
        # One to four values; a function may stand for all of them.
        sides, last = _MOVES[declaration.name], value[max(0, len(value) - 2) :]
        has_function = any(isinstance(node, FunctionBlock) for node in value)
        for side, node in zip(sides, value + last * len(sides), strict=False):
            if has_function or not (isinstance(node, IdentToken) and node.lower_value in _UNSET):
                yield side
    elif declaration.name in _SIZES and any(_is_half(node, _SIZES[declaration.name]) for node in value):
        yield _SIZES[declaration.name]


def _is_half(node: Node, dimension: str) -> bool:
    """Return whether a length is half of the window or more, as the result of a function may be."""
    if isinstance(node, IdentToken):
        return unprefixed(node.lower_value) in _WHOLE
    if isinstance(node, DimensionToken) and node.lower_unit in _PIXELS:
        return bool(node.value * _PIXELS[node.lower_unit] / _WINDOW[dimension] >= _HALF)
    return isinstance(node, FunctionBlock) or (
        isinstance(node, PercentageToken | DimensionToken) and bool(node.value >= _HALF)
    )
