"""CSS that every reader splits in the same places (contract Q3).

Style managers find the end of a block by brackets, strings and comments alone, or search for `@-moz-document` in the
text. Tokens that they would read differently from browsers are rewritten here; everything else is unchanged.
"""

import re
from collections.abc import Iterator
from typing import Final

from tinycss2.ast import AtKeywordToken, Comment, Node, ParseError, StringToken, URLToken

from logoadmin.domain.publication.css.tokens import DROPPED, END_OF_URL, Edit, Tokens, edited, tokenize, unclosed, walk

# Text that a search takes for the head of a user style, or for a rule.
_MARK: Final = re.compile("==(/?userstyle)==", re.I)
_RULE: Final = re.compile(r"@(?=[-a-z]*document(?![-\w\\]|[^\0-\x7f]))", re.I)
# Text in an unquoted url() that ends a block, or hides its end.
_ODD: Final = re.compile(rf"[\\{{}}\[\]]|/\*|{_RULE.pattern}", re.I)
# Managers read the line break after a hexadecimal escape as the end of a string.
_TRICK: Final = re.compile(rf"{_RULE.pattern}|\\[0-9a-f]{{1,6}}[\n\r\f]", re.I)
_ESCAPE: Final = re.compile(r"\\(.|\Z)", re.DOTALL)
_ESCAPES: Final = {"": "\ufffd", "@": r"\40 ", "\u2028": "\u2028", "\u2029": "\u2029"}
_NAME: Final = re.compile(
    r"@(?:[-\w]|[^\0-\x7f]|\\(?:[0-9a-f]{1,6}(?:\r\n|[ \t\n\r\f])?|[^0-9a-f\n\r\f]))*", re.I | re.ASCII
)
_STRING: Final = re.compile(r"""(["'])(?:\\.|(?!\1)[^\\])*\1""", re.DOTALL)
_SOURCES: Final = {
    AtKeywordToken: _NAME,
    StringToken: _STRING,
    URLToken: END_OF_URL,
    Comment: re.compile(r"/\*.*?\*/", re.DOTALL),
}
_BRACKET: Final = re.compile(r"[])]")
# A line break after a backslash is not an escape: browsers drop a url() with one.
_BROKEN: Final = re.compile(r"(?<!\\)(?:\\\\)*\\[\n\r\f]")
# Invalid both in selectors and in values.
_INVALID_TOKEN: Final = "url(bad url)"


class NotPlain(Exception):
    """The text is ``invalid``: it would change how the text around it is read."""


def plain(css: str) -> str:
    """Return CSS that means the same in browsers, and has the same blocks and rules for every other reader.

    Raises:
        NotPlain: the text is ``invalid``.
    """
    css = _ESCAPE.sub(_safe_escape, css)
    tokens = tokenize(css)
    if any(unclosed(tokens)):
        raise NotPlain
    return edited(css, _edits(css, tokens))


def _edits(css: str, tokens: Tokens) -> Iterator[Edit]:
    for node in walk(tokens.nodes):
        pattern = _pattern(node)
        found = None if pattern is None else pattern.match(css, tokens.offset(node))
        if found is not None and (written := _rewritten(tokens, node, found[0])) != found[0]:
            yield *found.span(), written


def _safe_escape(match: re.Match[str]) -> str:
    """Return an escape that keeps its meaning before more text, in a search, and for JavaScript's dot."""
    return _ESCAPES.get(match[1], match[0])


def without_marks(text: str) -> str:
    """Return a text without marks that readers take for the start or the end of a head."""
    return _MARK.sub(r"= =\1= =", text)


def _pattern(node: Node) -> re.Pattern[str] | None:
    """Return the pattern of the source of a token that may need rewriting."""
    if isinstance(node, ParseError):
        if node.kind not in DROPPED:
            raise NotPlain
        return END_OF_URL if node.kind == "bad-url" else _BRACKET
    return _SOURCES.get(type(node))


def _rewritten(tokens: Tokens, node: Node, source: str) -> str:
    """Return a token in a form that every reader understands."""
    if isinstance(node, ParseError) or (isinstance(node, URLToken) and _BROKEN.search(source)):
        return _INVALID_TOKEN
    if isinstance(node, Comment):
        return without_marks(_RULE.sub("@ ", source))
    if isinstance(node, AtKeywordToken):
        return f"@{_name(tokens.value(node.value))}" if "\\" in source else source
    if isinstance(node, URLToken):
        return f"url({_string(tokens.value(node.value))})" if _ODD.search(source) else source
    return _string(tokens.value(node.value)) if isinstance(node, StringToken) and _TRICK.search(source) else source


def _string(text: str) -> str:
    written = "".join(each if each.isprintable() and each not in '"\\' else _escaped(each) for each in text)
    return f'"{_RULE.sub(lambda match: _escaped(match[0]), written)}"'


def _name(name: str) -> str:
    return "".join(
        each if each.isascii() and (each.isalpha() or (place and (each.isdigit() or each in "-_"))) else _escaped(each)
        for place, each in enumerate(name)
    )


def _escaped(character: str) -> str:
    return f"\\{ord(character):x} "
