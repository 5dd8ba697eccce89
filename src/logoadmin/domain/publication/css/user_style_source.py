"""The fields of an artwork from a user style, a text that begins with a ``==UserStyle==`` comment (contract S3)."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from tinycss2.ast import ParseError

from logoadmin.domain.kernel.command import Input
from logoadmin.domain.kernel.details import Details
from logoadmin.domain.kernel.errors import InvalidInput
from logoadmin.domain.kernel.limits import MAX_CUSTOM_CSS, ArtworkName, CustomCss, Username, described
from logoadmin.domain.publication.css.pages import documents_in, is_document
from logoadmin.domain.publication.css.structure import sources
from logoadmin.domain.publication.css.targets import Targets
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
    """A variable with invalid syntax, or a default that no custom property can have."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def unquoted(text: str) -> str:
    """Return a value without the quotation marks around it."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES:
        return _ESCAPE.sub(_unescaped, text[1:-1])
    return text.replace("*\\/", "*/")


def _unescaped(match: re.Match[str]) -> str:
    character: str = match[1] if match[1] in _QUOTES else json.loads(f'"{match[0]}"')
    return character


def variable(head: str, place: int) -> tuple[str, str, int]:
    """Return the name of the variable after ``@var``, its default value as CSS, and its end offset.

    Raises:
        NotUnderstood: no valid variable follows.
    """
    name = ""
    try:
        type_, place = _match(_WORD, head, place)
        name, place = _match(_WORD, head, place)
        _, place = _match(_LABEL, head, place)
        value, place = _default(type_, head, place)
    except (ValueError, IndexError, RecursionError):
        raise NotUnderstood(name) from None
    if not _is_value(value):
        raise NotUnderstood(name)
    return name, value, place


def _match(pattern: re.Pattern[str], head: str, place: int) -> tuple[str, int]:
    found = pattern.match(head, place)
    if found is None:
        raise ValueError
    return found[1] if found.re.groups else found[0].strip(), found.end()


def _default(type_: str, head: str, place: int) -> tuple[str, int]:
    if type_ in ("text", "color"):
        line, place = _match(_LINE, head, place)
        return unquoted(line), place
    if type_ == "checkbox":
        line, place = _match(_LINE, head, place)
        if line[:1] not in ("0", "1"):
            raise ValueError
        return line[:1], place
    value, place = _relaxed_json(head, place)
    if type_ in ("select", "image"):
        return _selected(value), place
    if type_ in ("number", "range"):
        return _number(value), place
    raise ValueError


def _relaxed_json(head: str, place: int) -> tuple[Any, int]:
    """Parse JSON in which strings may have other quotation marks, and names may have none."""
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


def _selected(options: Any) -> str:
    """Return the value of the marked option, or else of the first."""
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
    parts = value if isinstance(value, list) else [value]
    number = next((each for each in parts if not isinstance(each, str)), None)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise ValueError
    written = f"{number:.15g}" if abs(number) < 1e15 else f"{number}"
    return f"{written}{next((each for each in parts if isinstance(each, str)), '')}"


def _is_value(value: str) -> bool:
    """Return whether a text is a valid value of a custom property, whatever follows it."""
    tokens = tokenize(value)
    nodes = significant(tokens.nodes)
    return (
        bool(nodes)
        and not any(isinstance(each, ParseError) for each in walk(nodes))
        and not any(is_literal(each, ";", "!") for each in nodes)
        and not any(unclosed(tokens))
        and not value.endswith("\\")
    )


_HEAD: Final = re.compile(r"\ufeff?\s*/\*!?\s*==userstyle==(.*?)==/userstyle==\s*\*/[^\S\n]*\n?", re.I | re.DOTALL)
# A key, and the rest of its line.
_KEY: Final = re.compile(r"@([\w-]+)[^\S\n]*([^\n]*)", re.ASCII)
# An email or web address after the name of a person.
_CONTACT: Final = re.compile(r"<[^<>]*>|\([^()]*\)")
# Each may require a search of the whole text.
_MOST_NOT_UNDERSTOOD: Final = 50
_DETAILS: Final = {
    "description": "description",
    "homepageURL": "homepage",
    "supportURL": "support",
    "license": "licence",
    "version": "version",
}
# Keys that are read, or that the gallery sets itself.
_KNOWN_KEYS: Final = {*_DETAILS, "name", "author", "preprocessor", "namespace", "updateURL", "var", "advanced"}


class _Names(Input):
    name: ArtworkName | None = None
    author: Username | None = None


@dataclass(frozen=True, slots=True)
class UserStyle:
    """The fields of an artwork that a user style fills."""

    name: Annotated[
        str | None, described("Its name; `null` if it has none, or one that is not valid for an artwork.", "Aurora")
    ]
    authors: Annotated[tuple[str, ...], described("The names of its authors.", ["Ann"])]
    details: Annotated[
        Details, described("The details of the artwork.", {"licence": "MIT", "homepage": "https://example.org/aurora"})
    ]
    documents: Annotated[
        tuple[str, ...], described("The conditions of its `@-moz-document` rules.", ['domain("forum.example")'])
    ]
    target: Annotated[
        str | None,
        described(
            "The narrowest target that covers these conditions, or their only host; `null` if you must choose it.",
            "forum",
        ),
    ]
    custom_css: Annotated[
        CustomCss,
        described(
            "Its CSS without the comment, with each `@var` as a custom property with its default value.",
            "@-moz-document domain('forum.example') { :root { --accent: #123; } a { color: var(--accent) } }",
        ),
    ]
    lost: Annotated[
        tuple[str, ...], described("The parts that could not be kept, as sentences.", ["@exclude is not kept."])
    ]


def user_style_source(text: str, targets: Targets) -> UserStyle:
    """Return the fields that a user style fills; its target is one of those of the gallery.

    Raises:
        InvalidInput: it is not a user style, needs a preprocessor, or its CSS would be too long.
    """
    text = re.sub(r"\r\n?", "\n", text)
    head = _HEAD.match(text)
    if head is None:
        raise InvalidInput.of("Text should begin with a comment from ==UserStyle== to ==/UserStyle==", "text")
    lost: list[str] = []
    keys, variables = _parse_head(head[1], lost)
    preprocessor = "uso" if "advanced" in keys else keys.get("preprocessor", "default").lower()
    if preprocessor != "default":
        raise InvalidInput.of(
            f"It is written for the preprocessor {preprocessor[:32]}: compile it to CSS first", "text"
        )
    css = _with_variables(text[head.end() :].lstrip("\n"), variables)
    rules = [*documents_in(tokenize(css))]
    lost += (
        f"The conditions of @-moz-document in line {each.place.source_line} cannot be read."
        for each in rules
        if not each.conditions
    )
    conditions = tuple(dict.fromkeys(each for rule in rules for each in rule.conditions))
    authors = filter(None, (" ".join(name.split()) for name in _CONTACT.sub(" ", keys.get("author", "")).split(",")))
    return UserStyle(
        _if_valid(_Names, "name", "name", keys.get("name") or None, lost),
        tuple(filter(None, (_if_valid(_Names, "author", "author", name, lost) for name in authors))),
        _details(keys, lost),
        tuple(map(str, conditions)),
        targets.holding(conditions) if all(each.conditions for each in rules) else None,
        css,
        tuple(lost),
    )


def _parse_head(head: str, lost: list[str]) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the values in a head by key, of which the last counts, and its variables."""
    keys: dict[str, str] = {}
    variables: dict[str, str] = {}
    place = failures = 0
    while (key := _KEY.search(head, place)) is not None:
        place = key.end()
        if key[1] != "var":
            if key[1] not in _KNOWN_KEYS and key[1] not in keys:
                lost.append(f"@{key[1]} is not kept.")
            keys[key[1]] = unquoted(key[2].strip())
            continue
        try:
            name, value, place = variable(head, key.start(2))
            variables[name] = value
        except NotUnderstood as error:
            lost.append(f"@var {error.name}".strip() + " is not understood and left out.")
            failures += 1
            if failures > _MOST_NOT_UNDERSTOOD:
                raise InvalidInput.of(
                    f"More than {_MOST_NOT_UNDERSTOOD} of its variables are not understood", "text"
                ) from None
    if variables:
        names = ", ".join(variables)
        lost.append(f"Of the settings of the style (@var), only the default values are kept: {names}.")
    return keys, variables


def _if_valid(model: type[Input], key: str, member: str, value: str | None, lost: list[str]) -> str | None:
    """Return the value of a key if this member may have it; otherwise None, with a sentence in ``lost``."""
    try:
        model(**dict[str, Any]({member: value}))
    except InvalidInput as error:
        lost.append(f"@{key} is left out: {error.problems[0].msg}.")
        return None
    return value


def _details(keys: Mapping[str, str], lost: list[str]) -> Details:
    found = {member: _if_valid(Details, key, member, keys.get(key), lost) for key, member in _DETAILS.items()}
    return Details(**dict[str, Any](found))


def _with_variables(css: str, variables: Mapping[str, str]) -> str:
    """Return CSS that declares the variables as custom properties in each of its parts, as style managers do."""
    if not variables:
        return css
    rule = "".join(f"  --{name}: {value};\n" for name, value in variables.items())
    rule = f":root {{\n{rule}}}\n"
    parts: list[str] = []
    is_outside, left = False, MAX_CUSTOM_CSS
    for statement, head, block in sources(css):
        added = [head, block]
        if block and is_document(statement.first):
            added = [head, f"{{\n{rule}", block[1:]]
        elif block and not is_outside:
            added = [rule, head, block]
            is_outside = True
        parts += added
        left -= sum(map(len, added))
        if left < 0:
            raise InvalidInput.of(f"Its CSS would have more than {MAX_CUSTOM_CSS:,} characters", "text")
    return "".join(parts)
