"""Boxes that may cover a page, or that others can be covered with (contract L4)."""

from collections.abc import Iterator, Sequence
from typing import Final

from tinycss2.ast import DimensionToken, FunctionBlock, IdentToken, Node, NumberToken, PercentageToken

from logoadmin.domain.css.structure import Block, Declaration, unprefixed
from logoadmin.domain.css.tokens import Nodes, is_literal, significant, walk

_POSITIONS: Final = frozenset(("absolute", "fixed", "sticky"))
_WHOLE: Final = frozenset(("stretch", "fill-available", "available"))
_SIDES: Final = frozenset(("top", "right", "bottom", "left"))
# The sides that a property moves, in physical terms: which of them is immaterial.
_MOVES: Final = {
    "inset": _SIDES,
    "inset-block": frozenset(("top", "bottom")),
    "inset-inline": frozenset(("left", "right")),
    "inset-block-start": frozenset(("top",)),
    "inset-block-end": frozenset(("bottom",)),
    "inset-inline-start": frozenset(("left",)),
    "inset-inline-end": frozenset(("right",)),
} | {side: frozenset((side,)) for side in _SIDES}
_WIDTH, _HEIGHT, _FRONT, _UNCLICKABLE = map(frozenset, (("width",), ("height",), ("front",), ("unclickable",)))
_SIZES: Final = {
    **dict.fromkeys(("width", "min-width", "inline-size", "min-inline-size"), _WIDTH),
    **dict.fromkeys(("height", "min-height", "block-size", "min-block-size"), _HEIGHT),
}
# Properties that paint outside of a box, or make it larger, without moving it.
_SPREADS: Final = frozenset(
    ("box-shadow", "outline", "outline-width", "border", "border-width", "font-size", "filter", "padding")
)
_SCALES: Final = frozenset(("transform", "scale", "zoom"))
_COVERING: Final = (_SIDES, _WIDTH | _HEIGHT, _FRONT, _UNCLICKABLE)

# From here on, a length is that of a window: percent and window units; pixels; the widths of about 100 letters.
_OF_WINDOW: Final = 90
_PIXELS: Final = {"px": 1, "pt": 4 / 3, "pc": 16, "in": 96, "cm": 38, "mm": 3.8, "q": 0.94}
_HUGE_PIXELS: Final = 1000
_HUGE_LETTERS: Final = 60
_HUGE_INDEX: Final = 1000
_HUGE_SCALE: Final = 10


def overlays(blocks: Sequence[Block]) -> Iterator[Node]:
    """Yield what puts a box over the page: declarations of ``position``, or of something that is huge.

    The rules of one selector are taken together, also those that are nested in conditions.
    """
    owners: dict[int, Block] = {}
    traits: dict[int, set[str]] = {}
    positions: dict[int, Nodes] = {}
    for block in blocks:
        owner = owners[id(block.parent)] if block.parent is not None and _is_of_parent(block) else block
        owners[id(block)] = owner
        placed = positions.setdefault(id(owner), [])
        for declaration in block.declarations:
            traits.setdefault(id(owner), set()).update(_traits(declaration))
            if _is_positioned(declaration):
                placed.append(declaration.place)
            elif _is_huge_itself(declaration):
                yield declaration.place
    together: dict[tuple[str, ...], set[str]] = {}
    with_traits = [block for block in blocks if id(block) in traits]
    for block in with_traits:
        for selector in _selectors(block):
            together.setdefault(selector, set()).update(traits[id(block)])
    for block in with_traits:
        if positions[id(block)] and any(_covers(together[selector]) for selector in _selectors(block)):
            yield from positions[id(block)]


def _covers(traits: set[str]) -> bool:
    return any(needed <= traits for needed in _COVERING)


def _is_of_parent(block: Block) -> bool:
    """Tell whether a block applies to the elements of the block around it: a condition, or ``&`` alone."""
    if block.parent is None or block.parent.parent is None:
        return False
    prelude = significant(block.prelude)
    return bool(block.at_keyword) or (len(prelude) == 1 and is_literal(prelude[0], "&"))


def _selectors(block: Block) -> Iterator[tuple[str, ...]]:
    """Yield each selector of a block in a form that can be compared; for a condition, or the text, it is its own."""
    if block.at_keyword or not block.prelude:
        yield (str(id(block)),)
        return
    selector: list[str] = []
    for node in significant(block.prelude):
        if is_literal(node, ","):
            yield tuple(selector)
            selector = []
        else:
            selector += map(_spelling, walk([node]))
    yield tuple(selector)


def _spelling(node: Node) -> str:
    return f"{node.type} {getattr(node, 'value', '') or getattr(node, 'name', '')}"


def _traits(declaration: Declaration) -> frozenset[str]:
    """Return what a declaration adds to a positioned box: sides at the edge, a whole width or height, and so on."""
    name, value = unprefixed(declaration.name), significant(declaration.value)
    if name in _MOVES:
        return _MOVES[name] if all(map(_is_edge, value)) else frozenset()
    if name in _SIZES:
        return _SIZES[name] if any(map(_is_whole, value)) else frozenset()
    if name == "z-index" and any(isinstance(node, FunctionBlock) or _number(node) >= _HUGE_INDEX for node in value):
        return _FRONT
    if name == "pointer-events" and any(isinstance(node, IdentToken) and node.lower_value == "none" for node in value):
        return _UNCLICKABLE
    return frozenset()


def _is_positioned(declaration: Declaration) -> bool:
    return declaration.name == "position" and any(
        isinstance(node, FunctionBlock) or (isinstance(node, IdentToken) and unprefixed(node.lower_value) in _POSITIONS)
        for node in declaration.value
    )


def _is_huge_itself(declaration: Declaration) -> bool:
    name = unprefixed(declaration.name)
    if name in _SPREADS:
        return any(map(_is_huge, walk(declaration.value)))
    if name in _SCALES:
        is_scale = name != "transform"
        for node in walk(declaration.value):
            is_scale |= isinstance(node, FunctionBlock) and node.lower_name.startswith(("scale", "matrix"))
            if is_scale and (_number(node) >= _HUGE_SCALE or _percentage(node) >= 100 * _HUGE_SCALE):
                return True
    return False


def _is_edge(node: Node) -> bool:
    """Tell whether a length is none or negative; what a function returns may be."""
    if isinstance(node, DimensionToken | PercentageToken | NumberToken):
        return node.value <= 0
    return (
        isinstance(node, FunctionBlock)
        or is_literal(node, "!")
        or (isinstance(node, IdentToken) and (node.lower_value == "important"))
    )


def _is_whole(node: Node) -> bool:
    """Tell whether a length is that of the window, or more; what a function returns may be."""
    if isinstance(node, IdentToken):
        return unprefixed(node.lower_value) in _WHOLE
    return isinstance(node, FunctionBlock) or _percentage(node) >= _OF_WINDOW or _is_huge(node)


def _is_huge(node: Node) -> bool:
    if not isinstance(node, DimensionToken):
        return False
    unit = node.lower_unit
    if unit in _PIXELS:
        return node.value * _PIXELS[unit] >= _HUGE_PIXELS
    is_of_window = unit.endswith(("vw", "vh", "vi", "vb", "vmin", "vmax")) or unit.startswith("cq")
    return node.value >= (_OF_WINDOW if is_of_window else _HUGE_LETTERS) and not unit.endswith(
        ("rad", "deg", "s", "turn")
    )


def _number(node: Node) -> float:
    return node.value if isinstance(node, NumberToken) else 0


def _percentage(node: Node) -> float:
    return node.value if isinstance(node, PercentageToken) else 0
