"""What a reviewer should look at in CSS (contract L4)."""

from collections.abc import Iterator

from tinycss2.ast import ParseError

from logoadmin.domain.css.structure import Structure
from logoadmin.domain.css.tokens import Tokens, is_literal, unclosed, walk
from logoadmin.domain.model.css import Risk


def risks_of(tokens: Tokens, structure: Structure) -> Iterator[Risk]:
    """Yield the risks of a text."""
    yield from _invalid(tokens, structure)


def _invalid(tokens: Tokens, structure: Structure) -> Iterator[Risk]:
    for node in walk(tokens.nodes):
        if isinstance(node, ParseError) or is_literal(node, "\\"):
            yield Risk("invalid", node.source_line, node.source_column)
    for node in (*structure.invalid, *unclosed(tokens)):
        yield Risk("invalid", node.source_line, node.source_column)
