"""User styles like published ones, and how user style managers divide a file into sections (contract Q3, S3)."""

import re
from collections.abc import Iterator
from itertools import cycle
from typing import Final

KEYS: Final = {
    "name": "Quiet \u00e9 forum",
    "namespace": "github.com/ann",
    "version": "2.1.0-beta.1",
    "description": "Calm colours, \"quoted\" and 'so'",
    "author": "Ann Berg (https://ann.example)",
    "homepageURL": "https://ann.example/quiet",
    "supportURL": "https://ann.example/quiet/issues",
    "updateURL": "https://ann.example/quiet.user.css",
    "license": "CC-BY-SA-4.0",
    "preprocessor": "default",
}
# The default value of each variable, as CSS.
VARIABLES: Final = {
    'text size "Size of text" 14px': "14px",
    "text font 'Font' \"Fira Sans\", sans-serif": '"Fira Sans", sans-serif',
    'color accent "Accent" #a1b2c3': "#a1b2c3",
    'color veil "Veil" rgba(0, 0, 0, .5)': "rgba(0, 0, 0, .5)",
    'checkbox dense "Dense" 1': "1",
    'checkbox wide "Wide" 0': "0",
    "select edge \"Edge\" ['none', 'solid*', 'dotted']": "solid",
    'select face "Face" {"Serif": "Georgia, serif", "Sans*": "Arial, sans-serif"}': "Arial, sans-serif",
    'select side "Side" ["l:Left", "r:Right*"]': "r",
    'select many "Many" {\n  "a:One": "1px",\n  "b:Two": "2px"\n}': "1px",
    'image ground "Ground" {"None*": "none", "Stars": "url(https://i.example/s.png)"}': "none",
    'image sky "Sky" {"Stars": "url(data:image/png;base64,AAAA)", "None": "none"}': "url(data:image/png;base64,AAAA)",
    'number gap "Gap" 3': "3",
    "number ratio \"Ratio\" [1.5, 0, 3, .5, 'em']": "1.5em",
    'range hue "Hue" [180, 0, 360, 1, "deg"]': "180deg",
    'range low "Low" [-.5, -1, null, 0.1]': "-0.5",
}
_BODIES: Final = (
    '@-moz-document domain("forum.example") {\n  .a { color: red; top: 3px }\n}',
    '@-moz-document domain("forum.example"), domain("www.forum.example") { .b { color: blue } }',
    '@-moz-document url-prefix("https://forum.example/") { @media screen { .c { color: green } } }\n'
    "@-moz-document domain(forum.example) { @supports (top: 0) { .a { left: 1px } } }",
    '@namespace url(http://www.w3.org/1999/xhtml);\n@-moz-document url("https://forum.example/") { .a { top: 1px } }',
    "/* note */\n.a { color: purple }\n@layer x { .b { color: red } }\n"
    '@-moz-document domain("forum.example") { .c { bottom: 2px } }',
)


def user_styles() -> list[tuple[str, dict[str, str]]]:
    """Return a hundred user styles, each with its variables and their default values."""
    found = []
    bodies, left_out = cycle(_BODIES), cycle([*KEYS][2:])
    variables = [*VARIABLES.items()]
    for number in range(100):
        missing = next(left_out) if number % 3 else ""
        own = variables[number % len(variables) :][: number % 5]
        lines = [f"@{key:<12} {value}" for key, value in KEYS.items() if key != missing]
        lines += [f"@var {each}" for each, _ in own]
        used = "".join(f" --used-{each.split()[1]}: var(--{each.split()[1]});" for each, _ in own)
        text = f"/* ==UserStyle==\n{chr(10).join(lines)}\n==/UserStyle== */\n\n{next(bodies)}\n"
        text = text.replace(".a {", f".a {{{used}").replace(".b {", f".b {{{used}")
        text = text.replace("\n", "\r\n") if number % 7 == 3 else text
        text = f"\ufeff{text}" if number % 5 == 4 else text
        found.append((text, {each.split()[1]: value for each, value in own}))
    return found


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

    Managers remove the head, look for `@-moz-document` with any prefix and in any spelling, and find the end of a block
    only by brackets, strings and comments: `url()` without quotes is not special, and an escape includes a space after
    it. Text between the rules applies to all pages. Older managers also accept rules inside other rules, and the
    simplest ones search the text for the rule, including comments and strings.

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
