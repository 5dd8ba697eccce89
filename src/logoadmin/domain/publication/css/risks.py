"""The risks in CSS that a reviewer should look at (contract L4); docs/works.md has the rules for readers."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tinycss2.ast import FunctionBlock, IdentToken, Node, ParseError, SquareBracketsBlock

from logoadmin.domain.publication.css.overlays import overlays
from logoadmin.domain.publication.css.structure import Block, Declaration, Structure, unprefixed
from logoadmin.domain.publication.css.tokens import (
    DROPPED,
    Nodes,
    Tokens,
    is_literal,
    significant,
    too_deep,
    unclosed,
    walk,
)
from logoadmin.domain.publication.css.urls import hosts_of
from logoadmin.domain.publication.css.verdict import CssRisk, RiskName

_INPUTS: Final = frozenset(("input", "textarea", "select", "option", "optgroup"))
_INPUT_ATTRIBUTES: Final = frozenset(("type", "autocomplete", "inputmode", "placeholder", "pattern", "value"))
_INPUT_STATES: Final = frozenset(
    (
        *("autofill", "checked", "default", "in-range", "indeterminate", "invalid", "optional", "out-of-range"),
        *("placeholder", "placeholder-shown", "read-only", "read-write", "required", "user-invalid", "user-valid"),
        *("valid", "input-placeholder", "reveal", "clear", "textfield-decoration-container"),
        *("credentials-auto-fill-button", "internal-autofill-selected", "internal-autofill-previewed"),
        *("file-selector-button", "file-upload-button"),
    )
)
_INPUT_PROPERTIES: Final = frozenset(
    ("caret", "caret-animation", "caret-color", "caret-shape", "text-security", "user-modify")
)
_OPERATORS: Final = ("=", "^=", "$=", "*=", "~=", "|=")
# The properties, by first word or ending, that neither start nor prevent a request. Others may add a letter that only
# a font from a host has, such as the dots of `text-overflow`.
_QUIET: Final = frozenset(
    (
        *("align", "bottom", "clear", "flex", "float", "gap", "grid", "height", "inset", "justify", "left", "letter"),
        *("margin", "max", "min", "opacity", "order", "outline", "padding", "place", "right", "top", "transform"),
        *("white", "width", "word", "z"),
    )
)
_QUIET_ENDINGS: Final = (
    *("color", "position", "-align", "-decoration", "-height", "-indent", "-radius", "-repeat", "-shadow", "-size"),
    "-sizing",
)
# They let requests depend on sizes and positions, as container queries do.
_BY_SIZE: Final = ("content-visibility", "animation-timeline")
_URL_FUNCTIONS: Final = frozenset(("url", "src", "image", "image-set"))
_AT_REST: Final = frozenset(("none", "initial", "inherit", "unset", "revert", "revert-layer", "important"))


def risks_of(tokens: Tokens, structure: Structure) -> Iterator[CssRisk]:
    """Yield the risks of a text."""
    blocks = structure.blocks
    yield from risks_at("invalid", invalid(tokens, structure))
    yield from risks_at("overlay", overlays(blocks))
    yield from risks_at("animation", _animations(blocks))
    yield from risks_at("input_styling", _inputs(blocks))
    yield from risks_at("attribute_exfiltration", _exfiltration(blocks))


def risks_at(risk: RiskName, places: Iterable[Node]) -> Iterator[CssRisk]:
    """Yield a risk at each of these places."""
    return (CssRisk(risk, place.source_line, place.source_column) for place in places)


def invalid(tokens: Tokens, structure: Structure) -> Iterator[Node]:
    """Yield tokens that change how other text is read: unclosed or unmatched braces, deep nesting and the like.

    Declarations and rules that browsers drop are not included.
    """
    yield from (node for node in walk(tokens.nodes) if isinstance(node, ParseError) and node.kind not in DROPPED)
    yield from structure.invalid
    yield from too_deep(tokens.nodes)
    yield from unclosed(tokens)


def _animations(blocks: Sequence[Block]) -> Iterator[Node]:
    for block in blocks:
        if block.place is not None and unprefixed(block.at_keyword) == "keyframes":
            yield block.place
        for declaration in block.declarations:
            if unprefixed(declaration.name) in ("animation", "animation-name") and not _is_at_rest(declaration):
                yield declaration.place


def _is_at_rest(declaration: Declaration) -> bool:
    return all(
        is_literal(node, "!", ",") or (isinstance(node, IdentToken) and node.lower_value in _AT_REST)
        for node in significant(declaration.value)
    )


def _inputs(blocks: Sequence[Block]) -> Iterator[Node]:
    """Yield selectors of form fields, and properties that only form fields have."""
    for block in blocks:
        if _has_selectors(block):
            yield from _selected_inputs(block)
        for declaration in block.declarations:
            if unprefixed(declaration.name) in _INPUT_PROPERTIES:
                yield declaration.place


def _selected_inputs(block: Block) -> Iterator[Node]:
    before: Node | None = None
    for node in walk(block.prelude):
        if isinstance(node, SquareBracketsBlock):
            inside = significant(node.content)[:1]
            if any(isinstance(each, IdentToken) and each.lower_value in _INPUT_ATTRIBUTES for each in inside):
                yield node
        elif isinstance(node, IdentToken):
            if before is not None and is_literal(before, ":"):
                if unprefixed(node.lower_value) in _INPUT_STATES:
                    yield node
            elif node.lower_value in _INPUTS and not _is_of_other(before):
                yield node
        before = node


def _is_of_other(before: Node | None) -> bool:
    """Return whether a name belongs to a class or an attribute, judging by the component value before it."""
    return before is not None and (is_literal(before, ".", *_OPERATORS) or isinstance(before, SquareBracketsBlock))


def _has_selectors(block: Block) -> bool:
    return block.parent is not None and block.at_keyword in ("", "scope", "nest")


def _exfiltration(blocks: Sequence[Block]) -> Iterator[Node]:
    """Yield selectors on attribute values where a request may depend on the result, and the like."""
    contacts = any(map(_contacts, blocks))
    matters = {id(block): _matters(block) for block in blocks}
    for block in reversed(blocks):
        if block.parent is not None:
            matters[id(block.parent)] |= matters[id(block)]
    asks = contacts and any(map(_queries, blocks))
    by_size = any(matters[id(block)] and _depends_on_size(block) for block in blocks)
    for block in blocks:
        if contacts and (by_size or matters[id(block)]):
            yield from _comparisons(block)
        for declaration in block.declarations:
            has_attribute = contacts and _has_attribute(declaration.value)
            if (
                _asks_for_letters(block, declaration)
                or _asks_for_attribute(declaration)
                or (has_attribute and (asks or _is_reference(declaration)))
            ):
                yield declaration.place
        if asks and block.place is not None and _has_attribute(block.prelude):
            yield block.place


def _contacts(block: Block) -> bool:
    return any(hosts_of(address.url) for address in block.addresses)


def _matters(block: Block) -> bool:
    """Return whether a request, of this block or another, may depend on the elements that a block matches."""
    return block.at_keyword in ("property", "function") or not all(map(_is_quiet, block.declarations))


def _depends_on_size(block: Block) -> bool:
    return block.at_keyword == "container" or any(each.name in _BY_SIZE for each in block.declarations)


def _is_quiet(declaration: Declaration) -> bool:
    name = unprefixed(declaration.name)
    return name[:2] != "--" and (name.partition("-")[0] in _QUIET or name.endswith(_QUIET_ENDINGS))


def _comparisons(block: Block) -> Iterator[Node]:
    if _has_selectors(block):
        for node in walk(block.prelude):
            if isinstance(node, SquareBracketsBlock) and any(is_literal(each, *_OPERATORS) for each in node.content):
                yield node


def _asks_for_letters(block: Block, declaration: Declaration) -> bool:
    """Return whether a font is fetched only if the page has certain letters."""
    if block.at_keyword != "font-face" or declaration.name != "unicode-range":
        return False
    return _contacts(block)


def _asks_for_attribute(declaration: Declaration) -> bool:
    """Return whether a URL may be made from an attribute."""
    names = {node.lower_name for node in walk(declaration.value) if isinstance(node, FunctionBlock)}
    return "attr" in names and not _URL_FUNCTIONS.isdisjoint(map(unprefixed, names))


def _queries(block: Block) -> bool:
    """Return whether a block depends on the size or the style of an element: a container query, or ``if()``."""
    return block.at_keyword == "container" or any(
        isinstance(node, FunctionBlock) and node.lower_name == "if"
        for each in block.declarations
        for node in walk(each.value)
    )


def _has_attribute(value: Nodes) -> bool:
    return any(isinstance(node, FunctionBlock) and node.lower_name == "attr" for node in walk(value))


def _is_reference(declaration: Declaration) -> bool:
    """Return whether a value may name another rule; the text of ``content`` does not."""
    return declaration.name != "content" and not _is_quiet(declaration)
