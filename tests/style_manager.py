"""How user style managers divide a file into sections, each with its pages.

They remove the head, look for `@-moz-document` with any prefix and in any spelling, and find the end of a block only by
brackets, strings and comments: `url()` without quotes is not special, and an escape includes a space after it. Text
between the rules applies to all pages. Older managers also accept rules inside other rules, and the simplest ones
search the text for the rule, including comments and strings.
"""

import re
from collections.abc import Iterator
from typing import Final

Conditions = tuple[tuple[str, str], ...]
EVERYWHERE: Final[Conditions] = ()

_HEAD: Final = re.compile(r"/\*!?\s*==userstyle==.*?==/userstyle==\s*\*/", re.IGNORECASE | re.DOTALL)
# JavaScript's dot: neither line breaks nor the two separators.
_DOT: Final = r"[^\n\u2028\u2029]"
_ESCAPE: Final = rf"\\(?:(?:[0-9a-fA-F]{{1,6}}|{_DOT})[\t ]?|\n)"
_TOKEN: Final = re.compile(
    rf"""(?P<comment>/\*.*?(?:\*/|\Z))
    |(?P<string>"(?:[^\n\\"]|{_ESCAPE})*(?:"|\n|\Z)|'(?:[^\n\\']|{_ESCAPE})*(?:'|\n|\Z))
    |@(?P<rule>(?:[-\w\u00a0-\U0010ffff]|{_ESCAPE})+)
    |(?P<escape>{_ESCAPE})|(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_CONDITION: Final = re.compile(
    r"""\s*(?P<name>[-\w]+)\(\s*(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>(?:[^'\\]|\\.)*)'|(?P<bare>[^)"'\s]*))\s*\)
    \s*(?P<next>[,{])""",
    re.VERBOSE | re.DOTALL,
)
_SEARCHED: Final = re.compile(r"@[-a-z]*document(?![-\w\\]|[^\0-\x7f])", re.IGNORECASE)
_CLOSING: Final = {"{": "}", "(": ")", "[": "]"}


class Broken(Exception):
    """A bracket has no counterpart, so the rest cannot be predicted."""


def sections(text: str) -> list[Conditions]:
    """Return the pages of each section, also of nested ones; :data:`EVERYWHERE` for text outside of sections.

    Raises:
        Broken: a bracket has no counterpart.
    """
    text = re.sub(r"\r\n?|\f", "\n", _HEAD.sub("", text, count=1))
    found: list[Conditions] = []
    outside, open_brackets, skip_to = "", list[str](), 0
    for token in _TOKEN.finditer(text):
        if token.start() < skip_to or token["comment"] is not None:
            continue
        if _is_document(token["rule"]):
            conditions, brace = _conditions(text, token.end())
            found.append(conditions)
            skip_to = brace
        bracket = token["other"] or ""
        if bracket in _CLOSING:
            open_brackets.append(_CLOSING[bracket])
        elif bracket and bracket in "})]" and (not open_brackets or open_brackets.pop() != bracket):
            raise Broken(text)
        elif not open_brackets and not _is_document(token["rule"]):
            outside += token[0]
    if open_brackets:
        raise Broken(text)
    namespaces = re.compile(r"@namespace[^;]*;", re.IGNORECASE)
    return [*found, EVERYWHERE] if namespaces.sub("", outside).strip(" \t\n}") else found


def searched(text: str) -> Iterator[Conditions]:
    """Yield the pages of each rule that a search finds."""
    for found in _SEARCHED.finditer(text):
        yield _conditions(text, found.end())[0]


def _is_document(rule: str | None) -> bool:
    name = re.sub(r"\\(?:([0-9a-fA-F]{1,6})|(.))[\t ]?", _unescaped, rule or "").lower()
    prefix = name.find("-", 1)
    return (name[prefix + 1 :] if name[:1] == "-" and prefix > 1 else name) == "document"


def _unescaped(escape: re.Match[str]) -> str:
    return escape[2] or chr(min(int(escape[1], 16), 0x10FFFF))


def _conditions(text: str, start: int) -> tuple[Conditions, int]:
    """Return conditions, and the offset of the brace after them; an unknown function matches all pages."""
    found = []
    while condition := _CONDITION.match(text, start):
        value = condition["double"] or condition["single"] or condition["bare"] or ""
        found.append((condition["name"].lower(), value))
        start = condition.end()
        if condition["next"] == "{":
            return tuple(found), start - 1
    return (*found, ("unknown", text[start : start + 40])), start
