"""The rules and declarations of CSS (CSS Syntax Level 3 §5), nested ones included."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from tinycss2.ast import AtKeywordToken, Comment, CurlyBracketsBlock, IdentToken, Node, WhitespaceToken

from logoadmin.domain.kernel.kinds import CssForm
from logoadmin.domain.publication.css.addresses import Address, Use, addresses
from logoadmin.domain.publication.css.tokens import Nodes, Tokens, is_literal, significant, tokenize

# At-rules whose prelude uses url() and strings as names.
_NAMING_RULES: Final = frozenset(("namespace", "document", "-moz-document"))
# Descriptors whose strings may be used by any property (CSS Properties and Values, CSS Functions and Mixins).
_VALUE_DESCRIPTORS: Final = frozenset(("initial-value", "result"))


@dataclass(frozen=True, slots=True)
class Declaration:
    """A property or descriptor with its value; ``name`` is in lower case, except for custom properties."""

    name: str
    value: Nodes
    place: Node


@dataclass(slots=True, eq=False)
class Block:
    """A rule, or the text itself, which has neither parent nor place."""

    parent: "Block | None" = None
    place: Node | None = None  # the first token of its rule
    at_keyword: str = ""  # in lower case; empty for a style rule and the text
    prelude: Nodes = field(default_factory=list)  # the selectors, or the tokens after an at-keyword
    declarations: list[Declaration] = field(default_factory=list)  # without those of nested rules
    addresses: list[Address] = field(default_factory=list)  # in its prelude and its declarations


@dataclass(frozen=True, slots=True)
class Structure:
    """The blocks of a text, each after its parent, and the tokens that a list of declarations cannot have."""

    blocks: list[Block]
    invalid: Nodes

    def addresses(self) -> Iterator[Address]:
        """Yield all URLs, by block."""
        return (address for block in self.blocks for address in block.addresses)


@dataclass(frozen=True, slots=True)
class Statement:
    """A rule or a declaration; or a token between two of them, such as white space."""

    head: Nodes  # without a block or a semicolon at its end
    end: Node | None
    is_between: bool = False

    @property
    def first(self) -> Node:
        """Its first token."""
        return self.head[0] if self.head or self.end is None else self.end

    @property
    def block(self) -> CurlyBracketsBlock | None:
        """The block at its end."""
        return self.end if isinstance(self.end, CurlyBracketsBlock) else None

    @property
    def at_keyword(self) -> str:
        """The name of an at-rule, in lower case; empty for anything else."""
        first = self.first
        return first.lower_value if isinstance(first, AtKeywordToken) else ""


def structure_of(tokens: Tokens, form: CssForm) -> Structure:
    """Return the rules and declarations of a text."""
    text = Block()
    structure = Structure([text], [])
    waiting: list[tuple[Block, Nodes]] = [(text, tokens.nodes)]
    for block, nodes in waiting:
        is_sheet = block is text and form == "sheet"
        for statement in statements(nodes, is_sheet=is_sheet):
            if statement.is_between:
                continue
            inner = _add(tokens, block, statement, is_sheet)
            if inner is not None and statement.block is not None:
                structure.blocks.append(inner)
                waiting.append((inner, statement.block.content))
            if block is text and not is_sheet:
                structure.invalid.extend(_no_declaration(statement))
    return structure


def _add(tokens: Tokens, block: Block, statement: Statement, is_sheet: bool) -> Block | None:
    """Add a statement to the block around it; return the rule, if it is one."""
    head = statement.head
    first = head[0] if head else None
    if isinstance(first, AtKeywordToken):
        rule = Block(block, first, first.lower_value, head[1:])
        if not (is_sheet and rule.at_keyword in _NAMING_RULES):
            # Without a block, its URLs count for the block around it.
            (rule if statement.block else block).addresses.extend(addresses(tokens, head))
        return rule
    if statement.block is not None:
        rule = Block(block, first or statement.block, "", head)
        rule.addresses.extend(addresses(tokens, head))
        return rule
    declaration = None if is_sheet else _declaration(head)
    if declaration is None:
        block.addresses.extend(addresses(tokens, head))
        return None
    block.declarations.append(declaration)
    is_variable = declaration.name.startswith("--") or declaration.name in _VALUE_DESCRIPTORS
    block.addresses.extend(addresses(tokens, declaration.value, Use.PERHAPS if is_variable else None))
    return None


def _no_declaration(statement: Statement) -> Iterator[Node]:
    """Yield the tokens that a list of declarations cannot have: a rule, an at-rule, or braces."""
    if statement.block is not None or statement.at_keyword:
        yield statement.first
    else:
        yield from (part for part in statement.head if isinstance(part, CurlyBracketsBlock))


def statements(nodes: Nodes, *, is_sheet: bool = True) -> Iterator[Statement]:
    """Yield the statements of a block or a sheet, in which a style rule does not end at a semicolon."""
    head: Nodes = []
    for node in nodes:
        is_ignored = is_literal(node, "<!--", "-->") if is_sheet else is_literal(node, ";")
        if not head and (is_ignored or isinstance(node, WhitespaceToken | Comment)):
            yield Statement([node], None, is_between=True)
            continue
        if isinstance(node, CurlyBracketsBlock):
            is_end = is_sheet or not _is_variable(head)
        else:
            is_end = is_literal(node, ";") and (not is_sheet or (bool(head) and isinstance(head[0], AtKeywordToken)))
        if is_end:
            yield Statement(head, node)
            head = []
        else:
            head.append(node)
    if head:
        yield Statement(head, None)


def sources(css: str) -> Iterator[tuple[Statement, str, str]]:
    """Yield the statements of a sheet with the source of each and of its block, white space and comments included."""
    tokens = tokenize(css)
    found = [*statements(tokens.nodes)]
    offsets = [*(tokens.offset(each.first) for each in found), len(css)]
    for statement, (start, stop) in zip(found, pairwise(offsets), strict=True):
        if not is_literal(statement.first, "<!--", "-->"):
            place = stop if statement.block is None else tokens.offset(statement.block)
            yield statement, css[start:place], css[place:stop]


def _is_variable(head: Nodes) -> bool:
    """Return whether a statement declares a custom property, whose value may contain blocks."""
    if not head or not isinstance(head[0], IdentToken) or not head[0].value.startswith("--"):
        return False
    return is_literal(head[_next(head)], ":")


def _declaration(head: Nodes) -> Declaration | None:
    """Return the declaration in a statement; None for anything else."""
    first, colon = head[0], _next(head)
    if not isinstance(first, IdentToken) or not is_literal(head[colon], ":"):
        return None
    value = head[colon + 1 :]
    if first.value.startswith("--"):
        return Declaration(first.value, value, first)
    return Declaration(first.lower_value, value, first) if significant(value) else None


def _next(head: Nodes) -> int:
    """Return the index of the node that follows the first one after white space and comments; 0 if none does."""
    return next((i for i in range(1, len(head)) if not isinstance(head[i], WhitespaceToken | Comment)), 0)


def unprefixed(name: str) -> str:
    """Return a name without its vendor prefix, such as ``-webkit-``."""
    if name[:1] != "-" or name[:2] == "--":
        return name
    return name[1:].partition("-")[2] or name
