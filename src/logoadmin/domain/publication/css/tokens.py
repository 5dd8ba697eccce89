"""CSS as component values: tinycss2's tokenizer, made safe for any text (CSS Syntax Level 3 §4).

tinycss2 differs from browsers in three places. This module compensates for them without moving a character, so that
tokens keep their positions in the text.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Final

from tinycss2 import parse_component_value_list
from tinycss2.ast import (
    Comment,
    CurlyBracketsBlock,
    FunctionBlock,
    LiteralToken,
    Node,
    ParenthesesBlock,
    ParseError,
    SquareBracketsBlock,
    WhitespaceToken,
)

# Python reads integers of 600 digits under any setting (sys.int_info.str_digits_check_threshold).
_LONG_NUMBER: Final = re.compile(r"[0-9]{601,}")

# Honest style sheets of a megabyte have 60,000 blocks and functions, most of them functions such as var(). A tree with
# more of them costs ten times as much as ordinary CSS, and is never built.
MAX_BLOCKS: Final = 20_000
MAX_FUNCTIONS: Final = 100_000
MAX_LEVELS: Final = 64

# Tokenizer errors for which browsers drop a declaration or a rule, and nothing else.
DROPPED: Final = (")", "]", "bad-url")
END_OF_URL: Final = re.compile(r"(?:\\.|[^)\\])*\)", re.DOTALL)
_LINE_BREAK: Final = re.compile(r"\r\n|[\n\r\f]")

Nodes = list[Node]

# The content of a node by its class. A table, because comparing classes took a fifth of the judging time.
_INSIDE: Final[Mapping[type[Node], Callable[[Node], Nodes]]] = {
    FunctionBlock: attrgetter("arguments"),
    **dict.fromkeys((CurlyBracketsBlock, ParenthesesBlock, SquareBracketsBlock), attrgetter("content")),
}


@dataclass(frozen=True)
class Tokens:
    """The component values of a text."""

    text: str  # as it was read, with the same positions as the original
    nodes: Nodes
    value: Callable[[str], str]  # returns the value of a token as browsers read it

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(line_break.end() for line_break in _LINE_BREAK.finditer(self.text))]

    def offset(self, node: Node) -> int:
        """Return the offset of a token in the text."""
        return self._line_starts[node.source_line - 1] + node.source_column - 1


# The offsets of the start and the end of a part of a text, and its replacement.
Edit = tuple[int, int, str]


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with edits; one that begins inside an earlier one is skipped."""
    parts: list[str] = []
    end = 0
    for start, stop, written in sorted(edits):
        if start >= end:
            parts += text[end:start], written
            end = stop
    return "".join((*parts, text[end:]))


def tokenize(css: str) -> Tokens:
    """Return the component values of any text; never raises, and takes time proportional to its length."""
    text, value = _without_double_backslashes(css)
    try:
        return Tokens(text, parse_component_value_list(text), value)
    except ValueError:  # an integer that Python refuses to read
        text = with_short_numbers(text)
        return Tokens(text, parse_component_value_list(text), value)


# Letters that newer drafts of CSS do not allow in names (non-ASCII ident).
_NO_LETTERS: Final = re.compile(
    "[^\0-\x7f\xb7\xc0-\xd6\xd8-\xf6\xf8-\u037d\u037f-\u1fff\u200c\u200d\u203f\u2040\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U0010ffff]"
)


def other_readings(css: str) -> Iterator[str]:
    """Yield the text as read by browsers that do not allow characters such as U+00A0 in names."""
    if not css.isascii() and (other := _NO_LETTERS.sub("?", css)) != css:
        yield other


def _without_double_backslashes(css: str) -> tuple[str, Callable[[str], str]]:
    r"""Return the text with ``\\`` replaced by another escape, and a function that restores it in values.

    In the rest of a bad url(), tinycss2 reads the parenthesis in ``\\)`` as escaped, and so misses the end.
    """
    if "\\\\" not in css:
        return css, _unpaired
    used = set(css)
    other = next(chr(code) for code in range(0xE000, 0x110000) if chr(code) not in used)
    return css.replace("\\\\", "\\" + other), lambda value: _unpaired(value).replace(other, "\\")


def _unpaired(value: str) -> str:
    r"""Return a value with U+FFFD for surrogates, which browsers do not allow as escapes, such as ``\d800``."""
    if value.isascii():
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def with_short_numbers(text: str) -> str:
    """Return the text with a point before the last digit of each long number, so that it is not an integer."""
    return _LONG_NUMBER.sub(lambda number: f"{number[0][:-2]}.{number[0][-1]}", text)


def has_too_many_blocks(css: str) -> bool:
    """Return whether a text may have more than :data:`MAX_BLOCKS` blocks, or too many functions, without parsing it."""
    return css.count("{") + css.count("[") > MAX_BLOCKS or css.count("(") > MAX_FUNCTIONS


def contents(node: Node) -> Nodes | None:
    """Return the component values inside a block or function; None for a token."""
    inside = _INSIDE.get(type(node))
    return None if inside is None else inside(node)


def walk(nodes: Sequence[Node]) -> Iterator[Node]:
    """Yield all component values at any depth, in the order of the text."""
    stack = [iter(nodes)]
    while stack:
        for node in stack[-1]:
            yield node
            inner = contents(node)
            if inner:
                stack.append(iter(inner))
                break
        else:
            stack.pop()


def too_deep(nodes: Sequence[Node]) -> Iterator[Node]:
    """Yield the blocks nested inside :data:`MAX_LEVELS` others."""
    level: Nodes = [*nodes]
    for _ in range(MAX_LEVELS):
        level = [inner for node in level for inner in contents(node) or ()]
        if not level:
            return
    yield from (node for node in level if contents(node) is not None)


def significant(nodes: Sequence[Node]) -> Nodes:
    """Return the component values without white space and comments."""
    return [node for node in nodes if not isinstance(node, WhitespaceToken | Comment)]


def is_literal(node: Node, *values: str) -> bool:
    """Return whether a token is one of these characters."""
    return isinstance(node, LiteralToken) and node.value in values


def unclosed(tokens: Tokens) -> Iterator[Node]:
    """Yield the comment, bad url() and blocks left open at the end of the text; open strings are errors already."""
    path: list[Node] = []
    nodes: Nodes | None = tokens.nodes
    while nodes:
        path.append(nodes[-1])
        nodes = contents(nodes[-1])
    if not path:
        return
    leaf = path.pop()
    rest = tokens.text[tokens.offset(leaf) :]
    if isinstance(leaf, Comment):
        is_open = rest.find("*/", 2) == -1
    elif isinstance(leaf, ParseError) and leaf.kind == "bad-url":
        is_open = END_OF_URL.match(rest) is None
    else:
        is_open = contents(leaf) is not None and rest[-1] in "{[("
    if is_open:
        yield leaf
    # Parsed from the leaf on, the brackets that close its blocks are unmatched.
    closed = sum(map(_is_unmatched, parse_component_value_list(rest))) - _is_unmatched(leaf)
    yield from path[: len(path) - closed]


def _is_unmatched(node: Node) -> bool:
    return isinstance(node, ParseError) and node.kind in "}])"
