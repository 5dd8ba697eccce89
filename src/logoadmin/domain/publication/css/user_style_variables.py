"""The variables of user styles, ``@var``, and their default values (contract S3).

The grammar is that of usercss-meta, with which managers of user styles read them.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from tinycss2.ast import ParseError

from logoadmin.domain.publication.css.tokens import is_literal, significant, tokenize, unclosed, walk

_WORD: Final = re.compile(r"([\w-]+)\s*", re.ASCII)
_LINE: Final = re.compile(r"[^\n]*")
_LABEL: Final = re.compile(r"""(`(?:\\`|[\s\S])*?`|(["'])(?:\\\2|[^\n])*?\2|\w+)[^\S\n]*""")
_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<string>(["'`])(?:\\[\s\S]|(?!\2)[^\\])*\2)|(?P<number>-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE]-?\d+)?)
    |(?P<word>\w+)|(?P<mark>[][{}:,]))\s*""",
    re.ASCII | re.VERBOSE,
)
_QUOTES: Final = ('"', "'", "`")
_ESCAPE: Final = re.compile(r"""\\(["'`\\/bfnrt]|u[0-9a-fA-F]{4})""")
_NAMED: Final = re.compile(r"(\w+):(.*)", re.ASCII | re.DOTALL)


class NotUnderstood(Exception):
    """A variable that is written wrongly, or whose value can be none of a custom property."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: its name, and its default value as CSS."""

    name: str
    value: str


def unquoted(text: str) -> str:
    """Return a value without the quotation marks around it."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES:
        return _ESCAPE.sub(_unescaped, text[1:-1])
    return text.replace("*\\/", "*/")


def _unescaped(found: re.Match[str]) -> str:
    escape: str = found[1] if found[1] in _QUOTES else json.loads(f'"{found[0]}"')
    return escape


def variable(head: str, place: int) -> tuple[Variable, int]:
    """Return the variable after ``@var``, and where it ends.

    Raises:
        NotUnderstood: what follows is none.
    """
    name = ""
    try:
        type_, place = _taken(_WORD, head, place)
        name, place = _taken(_WORD, head, place)
        _, place = _taken(_LABEL, head, place)
        value, place = _default(type_, head, place)
    except (ValueError, IndexError, RecursionError):
        raise NotUnderstood(name) from None
    if not _is_value(value):
        raise NotUnderstood(name)
    return Variable(name, value), place


def _taken(pattern: re.Pattern[str], head: str, place: int) -> tuple[str, int]:
    found = pattern.match(head, place)
    if found is None:
        raise ValueError
    return found[1] if found.re.groups else found[0].strip(), found.end()


def _default(type_: str, head: str, place: int) -> tuple[str, int]:
    if type_ in ("text", "color"):
        line, place = _taken(_LINE, head, place)
        return unquoted(line), place
    if type_ == "checkbox":
        line, place = _taken(_LINE, head, place)
        if line[:1] not in ("0", "1"):
            raise ValueError
        return line[:1], place
    value, place = _relaxed_json(head, place)
    if type_ in ("select", "image"):
        return _chosen(value), place
    if type_ in ("number", "range"):
        return _number(value), place
    raise ValueError


def _relaxed_json(head: str, place: int) -> tuple[Any, int]:
    """Return a value of JSON in which strings may have other quotation marks and names none."""
    parts: list[str] = []
    depth = 0
    while (token := _TOKEN.match(head, place)) is not None:
        place = token.end()
        if token["string"]:
            parts.append(json.dumps(unquoted(token["string"])))
        elif token["number"] and not (token["number"].isdigit() and head[place : place + 1] == ":"):
            parts.append(re.sub(r"^(-?)\.", r"\g<1>0.", token["number"]))
        elif token["word"] in ("null", "true", "false"):
            parts.append(token["word"])
        else:
            parts.append(token["mark"] or json.dumps(token["word"] or token["number"]))
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token["mark"] or "", 0)
        if depth <= 0:
            break
    return json.loads("".join(parts)), place


def _chosen(options: Any) -> str:
    """Return the value of the option that is marked, or of the first one."""
    pairs = [*options.items()] if isinstance(options, dict) else [(each, each) for each in _strings(options)]
    label, value = next((each for each in pairs if each[0].endswith("*")), pairs[0])
    label = label.removesuffix("*")
    if isinstance(options, dict) and value:
        return _strings([value])[0]
    named = _NAMED.match(label)
    return named[1] if named else label


def _strings(values: Any) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
        raise ValueError
    return values


def _number(value: Any) -> str:
    given = value if isinstance(value, list) else [value]
    number = next((each for each in given if not isinstance(each, str)), None)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise ValueError
    written = f"{number:.15g}" if abs(number) < 1e15 else f"{number}"
    return f"{written}{next((each for each in given if isinstance(each, str)), '')}"


def _is_value(value: str) -> bool:
    """Return whether a text is the value of a custom property, whatever stands after it."""
    tokens = tokenize(value)
    nodes = significant(tokens.nodes)
    return (
        bool(nodes)
        and not any(isinstance(each, ParseError) for each in walk(nodes))
        and not any(is_literal(each, ";", "!") for each in nodes)
        and not any(unclosed(tokens))
        and not value.endswith("\\")
    )
