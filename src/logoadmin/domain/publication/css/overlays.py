"""Boxes that may cover a page, or that others can be covered with (contract L4)."""

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import product
from math import inf, prod
from typing import Final, NamedTuple

from tinycss2.ast import (
    Comment,
    DimensionToken,
    FunctionBlock,
    HashToken,
    IdentToken,
    LiteralToken,
    Node,
    NumberToken,
    PercentageToken,
    WhitespaceToken,
)

from logoadmin.domain.publication.css.structure import Block, Declaration, unprefixed
from logoadmin.domain.publication.css.tokens import Nodes, is_literal, significant, walk

_POSITIONS: Final = frozenset(("absolute", "fixed", "sticky"))
_WHOLE: Final = frozenset(("stretch", "fill-available", "available"))
_UNSET: Final = frozenset(("auto", "initial", "inherit", "unset", "revert", "revert-layer", "none"))
_SIDES: Final = ("top", "right", "bottom", "left")
# The sides that a property sets, in physical terms: which of them is immaterial.
_MOVES: Final = {
    "inset": _SIDES,
    "inset-block": ("top", "bottom"),
    "inset-inline": ("left", "right"),
    "inset-block-start": ("top",),
    "inset-block-end": ("bottom",),
    "inset-inline-start": ("left",),
    "inset-inline-end": ("right",),
} | {side: (side,) for side in _SIDES}
_AREAS: Final = frozenset(("position-area", "inset-area"))
_SIZES: Final = {
    **dict.fromkeys(("width", "min-width", "inline-size", "min-inline-size"), "width"),
    **dict.fromkeys(("height", "min-height", "block-size", "min-block-size"), "height"),
}
_BOTH: Final = frozenset(("width", "height"))
_COVERING: Final = tuple(
    map(frozenset, (("top", "bottom"), ("left", "right"), _BOTH, ("width", "ratio"), ("height", "ratio")))
)
# Of a box whose position has the same selector.
_PROMINENT: Final = frozenset(("front", "unclickable"))
# Properties that paint outside of a box, or make it larger, without moving it.
_OUTSETS: Final = (
    *("border", "box-reflect", "box-shadow", "column-rule", "filter", "mask-border", "outline", "overflow-clip-margin"),
    *("stroke", "text-decoration", "text-shadow", "text-stroke", "text-underline-offset"),
)
_NO_OUTSETS: Final = ("border-radius", "border-spacing", "stroke-dash")
_FONTS: Final = ("font", "font-size")
_SCALES: Final = frozenset(("transform", "scale", "zoom"))

_OLD_PSEUDOS: Final = frozenset(("before", "after", "first-line", "first-letter"))

# Shares of the window in percent: of a box, and of an outset at each of its sides.
_HALF: Final = 50
_QUARTER: Final = 25
# A window counts as 1,280 by 720 pixels, and one letter of these units as 16.
_PIXELS: Final = {"px": 1, "pt": 4 / 3, "pc": 16, "in": 96, "cm": 38, "mm": 3.8, "q": 0.94}
_WINDOW: Final = {"width": 12.8, "height": 7.2}
_LETTER: Final = 16
_NO_LENGTHS: Final = frozenset(("rad", "grad", "deg", "turn", "s", "ms", "hz", "khz", "dpi", "dpcm", "dppx", "x", "fr"))
_HUGE_INDEX: Final = 1000
_HUGE_NUMBER: Final = 100
_MOST_FACTORS: Final = 20
_HUGE_SCALE: Final = 10


_ANY: Final = "*"


class _Subject(NamedTuple):
    """The name, id and pseudo-element that a selector requires; empty for any.

    Elements with another name, id or pseudo-element are certainly others. Everything else may match the same one.
    """

    name: str = ""
    id: str = ""
    pseudo: str = ""


def overlays(blocks: Sequence[Block]) -> Iterator[Node]:
    """Yield what puts a box over the page: declarations of ``position``, or of something that is huge.

    All rules that may match the same element are taken together, whatever their selectors.
    """
    owners: dict[int, Block] = {}
    traits: dict[int, set[str]] = {}
    positions: dict[int, Nodes] = {}
    huge = _huge_variables(blocks)
    for block in blocks:
        owner = owners[id(block.parent)] if block.parent is not None and _is_of_parent(block) else block
        owners[id(block)] = owner
        placed = positions.setdefault(id(owner), [])
        for declaration in block.declarations:
            traits.setdefault(id(owner), set()).update(_traits(declaration))
            if _is_positioned(declaration):
                placed.append(declaration.place)
            elif _is_huge_itself(declaration, huge):
                yield declaration.place
    with_traits = [block for block in blocks if id(block) in traits]
    same: dict[tuple[str, ...], set[str]] = {}
    geometry: dict[tuple[str, str, str], set[str]] = {}
    for block in with_traits:
        for selector in _selectors(block):
            same.setdefault(_spelling(block, selector), set()).update(traits[id(block)])
            for key in _keys(_subject(block, selector)):
                geometry.setdefault(key, set()).update(traits[id(block)])
    for block in with_traits:
        if positions[id(block)] and any(
            not _PROMINENT.isdisjoint(same[_spelling(block, selector)])
            or _covers(_of(_subject(block, selector), geometry))
            for selector in _selectors(block)
        ):
            yield from positions[id(block)]


def _covers(traits: set[str]) -> bool:
    return any(needed <= traits for needed in _COVERING)


def _keys(subject: _Subject) -> Iterator[tuple[str, str, str]]:
    """Yield the keys under which a subject is found by others that may match the same element."""
    # The page itself covers nothing, so what it has counts for rules that name it.
    is_page = subject.name in ("html", "body") and not subject.pseudo
    names = {subject.name} if is_page else {subject.name, _ANY}
    yield from product(names, {subject.id, _ANY}, (subject.pseudo,))


def _of(subject: _Subject, geometry: Mapping[tuple[str, str, str], set[str]]) -> set[str]:
    """Return the traits of all that may match the same element."""
    names, ids = ({each, ""} if each else {_ANY} for each in (subject.name, subject.id))
    return {trait for key in product(names, ids, (subject.pseudo,)) for trait in geometry.get(key, ())}


def _is_of_parent(block: Block) -> bool:
    """Return whether a block applies to the elements of the block around it: a condition, or ``&`` alone."""
    if block.parent is None or block.parent.parent is None:
        return False
    prelude = significant(block.prelude)
    return bool(block.at_keyword) or (len(prelude) == 1 and is_literal(prelude[0], "&"))


def _selectors(block: Block) -> Iterator[Nodes]:
    """Yield each selector of a block; for an at-rule, or the text, an empty one."""
    selector: Nodes = []
    for node in () if block.at_keyword else block.prelude:
        if is_literal(node, ","):
            yield selector
            selector = []
        else:
            selector.append(node)
    yield selector


def _spelling(block: Block, selector: Nodes) -> tuple[str, ...]:
    """Return a selector in a form that can be compared; that of an at-rule, or the text, is its own."""
    return tuple(
        f"{node.type} {getattr(node, 'value', '') or getattr(node, 'name', '')}" for node in walk(significant(selector))
    ) or (str(id(block)),)


def _subject(block: Block, selector: Nodes) -> _Subject:
    """Return what the last compound of a selector says about its elements."""
    found = _Subject()
    if block.parent is not None and unprefixed(block.parent.at_keyword) == "keyframes":
        return found
    colons, before = 0, ""
    for node in _last_compound(selector):
        if isinstance(node, HashToken):
            found = found._replace(id=node.value)
        elif isinstance(node, IdentToken):
            name = node.lower_value
            if colons == 2 or (colons == 1 and name in _OLD_PSEUDOS):
                found = found._replace(pseudo=name)
            elif colons == 1 and name == "root":
                found = found._replace(name="html")
            elif not colons and before != ".":
                found = found._replace(name=name)
        before = node.value if isinstance(node, LiteralToken) else ""
        colons = colons + 1 if before == ":" else 0
    return found


def _last_compound(selector: Nodes) -> Nodes:
    compound: Nodes = []
    for node in reversed(selector):
        if is_literal(node, ">", "+", "~", "||") or (isinstance(node, WhitespaceToken) and compound):
            break
        if not isinstance(node, WhitespaceToken | Comment):
            compound.append(node)
    return compound[::-1]


def _traits(declaration: Declaration) -> Iterator[str]:
    """Yield what a declaration adds to a positioned box: sides that are set, half a width or height, and so on."""
    name = unprefixed(declaration.name)
    value = [node for node in significant(declaration.value) if not _is_important(node)]
    if name in _MOVES:
        yield from _sides(_MOVES[name], value)
    elif name in _AREAS:
        yield from () if _is_unset(value[0]) else _SIDES
    elif name in _SIZES:
        if any(_is_half(node, _SIZES[name]) for node in value):
            yield _SIZES[name]
    elif name.startswith("padding"):
        if any(_share(node, "width") >= _QUARTER for node in walk(value)):
            yield from _BOTH
    elif name == "aspect-ratio" and not all(map(_is_unset, value)):
        yield "ratio"
    elif name == "z-index" and any(isinstance(node, FunctionBlock) or _number(node) >= _HUGE_INDEX for node in value):
        yield "front"
    elif name == "pointer-events" and any(
        isinstance(each, IdentToken) and each.lower_value == "none" for each in value
    ):
        yield "unclickable"


def _sides(sides: Sequence[str], value: Nodes) -> Iterator[str]:
    """Yield the sides that one to four values set; a function may set all of them."""
    if any(isinstance(node, FunctionBlock) for node in value):
        yield from sides
    elif value:
        of_side = value + value[max(0, len(value) - 2) :] * len(sides)
        yield from (side for side, node in zip(sides, of_side, strict=False) if not _is_unset(node))


def _is_important(node: Node) -> bool:
    return is_literal(node, "!") or (isinstance(node, IdentToken) and node.lower_value == "important")


def _is_unset(node: Node) -> bool:
    return isinstance(node, IdentToken) and node.lower_value in _UNSET


def _is_positioned(declaration: Declaration) -> bool:
    return declaration.name == "position" and any(
        isinstance(node, FunctionBlock) or (isinstance(node, IdentToken) and unprefixed(node.lower_value) in _POSITIONS)
        for node in declaration.value
    )


def _is_huge_itself(declaration: Declaration, variables: Set[str]) -> bool:
    """Return whether a declaration covers half of the window alone, with its outsets at both sides of a box.

    Args:
        declaration: any declaration.
        variables: the custom properties whose value is so large.
    """
    name, value = unprefixed(declaration.name), declaration.value
    if name.startswith("margin"):
        return _is_far_out(value) or _uses(value, variables)
    if name.startswith("padding") or name in _FONTS:
        return _most(value) >= _HALF
    if name.startswith(_OUTSETS) and not name.startswith(_NO_OUTSETS) and "radius" not in name:
        has_numbers = name.startswith(("border-image", "mask-border", "stroke"))
        return (
            _most(value) >= _QUARTER
            or _uses(value, variables)
            or (has_numbers and any(_number(node) >= _HUGE_NUMBER for node in walk(value)))
        )
    if name in _SCALES:
        is_scale = name != "transform"
        for node in walk(value):
            is_scale |= isinstance(node, FunctionBlock) and node.lower_name.startswith(("scale", "matrix"))
            if is_scale and (_number(node) >= _HUGE_SCALE or _percentage(node) >= 100 * _HUGE_SCALE):
                return True
    return False


def _most(value: Nodes) -> float:
    """Return the longest length in a value, in percent of the window; products are multiplied out at their largest."""
    most = 0.0
    for node in value:
        if isinstance(node, FunctionBlock):
            inner = [*walk(node.arguments)]
            longest = max((abs(_share(each, "width")) for each in inner), default=0)
            most = max(most, longest * _factor(inner))
        else:
            most = max(most, abs(_share(node, "width")))
    return most


def _factor(nodes: Nodes) -> float:
    """Return the largest number with which a calculation may multiply."""
    if any(isinstance(node, IdentToken) and node.lower_value.endswith("infinity") for node in nodes):
        return inf
    if not any(is_literal(node, "*", "/") for node in nodes):
        return 1
    numbers = [abs(node.value) for node in nodes if isinstance(node, NumberToken) and node.value]
    return prod(max(number, 1 / number) for number in numbers) if len(numbers) <= _MOST_FACTORS else inf


def _is_far_out(value: Nodes) -> bool:
    """Return whether a margin moves an edge out by a quarter of the window or more."""
    for node in value:
        if isinstance(node, FunctionBlock):
            inner = [*walk(node.arguments)]
            is_negative = any(is_literal(each, "-") or _signed(each) < 0 for each in inner)
            if is_negative and _most([node]) >= _QUARTER:
                return True
        elif _share(node, "width") <= -_QUARTER:
            return True
    return False


def _huge_variables(blocks: Sequence[Block]) -> Set[str]:
    """Return the custom properties with a length of a quarter of the window or more, by way of others also."""
    users: dict[str, list[str]] = {}
    found: list[str] = []
    for block in blocks:
        for each in block.declarations:
            if each.name.startswith("--"):
                if _most(each.value) >= _QUARTER:
                    found.append(each.name)
                for name in _variables(each.value):
                    users.setdefault(name, []).append(each.name)
            elif each.name in ("initial-value", "result") and _most(each.value) >= _QUARTER:
                found += (node.value for node in block.prelude if isinstance(node, IdentToken))
    seen = set(found)
    for name in found:
        new = [user for user in users.get(name, ()) if user not in seen]
        seen.update(new)
        found += new
    return seen


def _variables(value: Nodes) -> Iterator[str]:
    """Yield the names of custom properties and functions in a value."""
    for node in walk(value):
        if isinstance(node, FunctionBlock) and node.name.startswith("--"):
            yield node.name
        elif isinstance(node, IdentToken) and node.value.startswith("--"):
            yield node.value


def _uses(value: Nodes, variables: Set[str]) -> bool:
    return bool(variables) and any(name in variables for name in _variables(value))


def _is_half(node: Node, dimension: str) -> bool:
    """Return whether a length is half of the window, or more; what a function returns may be."""
    if isinstance(node, IdentToken):
        return unprefixed(node.lower_value) in _WHOLE
    return isinstance(node, FunctionBlock) or _percentage(node) >= _HALF or _share(node, dimension) >= _HALF


def _share(node: Node, dimension: str) -> float:
    """Return a length in percent of the window's width or height; 0 for anything else, such as percent."""
    if not isinstance(node, DimensionToken):
        return 0
    unit = node.lower_unit
    if unit in _PIXELS:
        return node.value * _PIXELS[unit] / _WINDOW[dimension]
    if unit.endswith(("vw", "vh", "vi", "vb", "vmin", "vmax")) or unit.startswith("cq"):
        return node.value
    return 0 if unit in _NO_LENGTHS else node.value * _LETTER / _WINDOW[dimension]


def _signed(node: Node) -> float:
    return node.value if isinstance(node, DimensionToken | NumberToken | PercentageToken) else 0


def _number(node: Node) -> float:
    return node.value if isinstance(node, NumberToken) else 0


def _percentage(node: Node) -> float:
    return node.value if isinstance(node, PercentageToken) else 0
