"""The rules at the top of a style sheet, with their sources (CSS Syntax Level 3 §5.3)."""

from collections.abc import Iterator

from tinycss2.ast import AtKeywordToken, CurlyBracketsBlock, Node

from logoadmin.domain.publication.css.tokens import is_literal, line_starts, offset_of, significant, tokenize

Statement = list[tuple[Node, str]]


def statements(css: str) -> Iterator[Statement]:
    """Yield the rules of a sheet, each component value with its source, and the space and the comments around them."""
    nodes, starts = tokenize(css).nodes, line_starts(css)
    offsets = [offset_of(node, starts) for node in nodes]
    statement: Statement = []
    for node, start, end in zip(nodes, offsets, [*offsets, None][1:], strict=True):
        if statement or not is_literal(node, "<!--", "-->"):
            statement.append((node, css[start:end]))
        if statement and _ends(statement):
            yield statement
            statement = []
    if statement:
        yield statement


def _ends(statement: Statement) -> bool:
    first, last = statement[0][0], statement[-1][0]
    is_rule = isinstance(first, AtKeywordToken) and is_literal(last, ";")
    return is_rule or isinstance(last, CurlyBracketsBlock) or not significant([first])
