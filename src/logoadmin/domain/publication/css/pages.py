"""The pages of `@-moz-document` rules, and whether a target has them (contract L4, Q3)."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

import tinycss2
from tinycss2.ast import AtKeywordToken, CurlyBracketsBlock, FunctionBlock, Node, StringToken, URLToken
from tinycss2.serializer import serialize_string_value

from logoadmin.domain.publication.css.structure import unprefixed
from logoadmin.domain.publication.css.tokens import Nodes, Tokens, contents, is_literal, significant, walk

_FUNCTIONS: Final = ("url", "url-prefix", "domain", "regexp")
# Every reader finds the same end of an unquoted value that has only these characters.
_UNQUOTED: Final = re.compile(r"[\w.:/%~?=&+-]+", re.ASCII)
# A prefix may only be compared with a domain if it ends after the host.
_ORIGIN: Final = re.compile(r"https?://([a-z0-9.-]+)(?::[0-9]+)?/", re.ASCII)
# Component values of a rule's conditions; honest rules have up to a hundred conditions.
_MOST: Final = 1_000


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of `@-moz-document`: a function and its text."""

    function: str
    value: str

    def __str__(self) -> str:
        """Return the condition in its canonical form."""
        return f'{self.function}("{serialize_string_value(self.value)}")'

    def is_within(self, other: "Condition") -> bool:
        """Return whether another condition certainly covers its pages; regular expressions must be equal."""
        if self == other:
            return True
        if other.function == "url-prefix":
            return self.function in ("url", "url-prefix") and self.value.startswith(other.value)
        return other.function == "domain" and f".{self.host}".endswith(f".{other.value.lower()}")

    @property
    def host(self) -> str:
        """The host of its pages; empty if uncertain."""
        if self.function == "domain":
            return self.value.lower()
        origin = _ORIGIN.match(self.value)
        return "" if self.function == "regexp" or origin is None else origin[1]


Pages = tuple[Condition, ...]
# Whichever pages a text itself names. CSS has no function with an empty name.
ANY_PAGES: Final[Pages] = (Condition("", ""),)


def are_within(conditions: Pages, pages: Pages) -> bool:
    """Return whether all conditions apply only to these pages."""
    return pages is ANY_PAGES or all(any(map(each.is_within, pages)) for each in conditions)


@dataclass(frozen=True, slots=True)
class Document:
    """An `@-moz-document` rule, or text that style managers may take for one."""

    place: Node  # its at-keyword
    block: CurlyBracketsBlock | None
    conditions: Pages  # empty if it has no block, or one of them cannot be read

    def is_within(self, pages: Pages) -> bool:
        """Return whether the rule applies only to these pages."""
        return bool(self.conditions) and are_within(self.conditions, pages)


def is_document(node: Node) -> bool:
    """Return whether a component value is the at-keyword `@document`, in any spelling and with any prefix."""
    return isinstance(node, AtKeywordToken) and unprefixed(node.lower_value) == "document"


def documents_in(tokens: Tokens) -> Iterator[Document]:
    """Yield every `@-moz-document` of a text, at any depth: style managers ignore its context."""
    inner = (contents(node) or [] for node in walk(tokens.nodes))
    for nodes in (tokens.nodes, *inner):
        for place, node in enumerate(nodes):
            if is_document(node):
                following = nodes[place + 1 : place + 1 + _MOST]
                prelude = [*takewhile(lambda each: not _ends(each), following)]
                end = following[len(prelude)] if len(prelude) < len(following) else None
                block = end if isinstance(end, CurlyBracketsBlock) else None
                yield Document(node, block, conditions_in(prelude, tokens.value) if block else ())


def _ends(node: Node) -> bool:
    return isinstance(node, CurlyBracketsBlock | AtKeywordToken) or is_literal(node, ";")


def conditions_in(prelude: Nodes, value: Callable[[str], str]) -> Pages:
    """Return the conditions in the prelude of a rule; empty if one of them cannot be read."""
    nodes = significant(prelude)
    found = [_condition(node, value) for node in nodes[::2]]
    if len(nodes) % 2 == 0 or not all(is_literal(node, ",") for node in nodes[1::2]) or None in found:
        return ()
    return tuple(filter(None, found))


def _condition(node: Node, value: Callable[[str], str]) -> Condition | None:
    if isinstance(node, URLToken):
        function, text = "url", value(node.value)
    elif isinstance(node, FunctionBlock) and node.lower_name in _FUNCTIONS:
        function, text = node.lower_name, _text(node.arguments, value)
    else:
        return None
    return Condition(function, text) if text and text.isprintable() else None


def _text(arguments: Sequence[Node], value: Callable[[str], str]) -> str:
    inner = significant(arguments)
    if len(inner) == 1 and isinstance(inner[0], StringToken):
        return value(inner[0].value)
    written: str = tinycss2.serialize(arguments).strip()
    return written if _UNQUOTED.fullmatch(written) else ""
