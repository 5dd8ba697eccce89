"""Artworks as UserCSS for managers of user styles (contract Q3)."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from unicodedata import category

import tinycss2
from tinycss2.ast import AtKeywordToken, AtRule, FunctionBlock, Node, ParseError, StringToken, URLToken
from tinycss2.serializer import serialize_string_value

from logoadmin.domain.kernel.kinds import KINDS
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.css import TooLarge, inline
from logoadmin.domain.publication.css.tokens import is_literal, significant, tokenize, unclosed, walk

# The names of the files, as a regular expression.
USER_STYLE: Final = r"(?:logos|themes)/[0-9]{1,19}\.user\.css"
# Characters of a style, about; reading these takes seconds.
_MOST: Final = 2 * 1024 * 1024
_DOCUMENTS: Final = ("url", "url-prefix", "domain", "regexp")
# Where a head begins and ends.
_MARK: Final = re.compile("==(/?userstyle)==", re.I)
_QUOTES: Final = ('"', "'", "`")


@dataclass(frozen=True, slots=True)
class Target:
    """A part of a site, for which artworks are published as user styles.

    Attributes:
        id: as artworks name it.
        name: for people.
        document: its pages, as one function of ``@-moz-document``.
        logo: the selector of the elements to which the declarations of a logo apply; None for no styles of logos.
    """

    id: str
    name: str
    document: str
    logo: str | None = None


@dataclass(frozen=True, slots=True)
class StyledArtwork:
    """An artwork as readers get it.

    Attributes:
        kind: a logo or a theme.
        id: its id.
        version: its version, which rises with each change.
        name: its name.
        authors: the names of its authors, in order.
        css: its CSS, whose imports lead to pinned sheets.
    """

    kind: Kind
    id: int
    version: int
    name: str
    authors: Sequence[str]
    css: str


def style_name(kind: Kind, id_: int) -> str:
    """Return the name of the file of an artwork."""
    return f"{KINDS[kind].plural}/{id_}.user.css"


def user_style(
    artwork: StyledArtwork, target: Target, sheets: Mapping[str, str], gallery: str, url: str | None, *, has_page: bool
) -> str | None:
    """Return an artwork as UserCSS, in which its texts stay what they are.

    Args:
        artwork: the artwork, whose CSS is not ``invalid`` (contract L4).
        target: its target.
        sheets: the pinned sheets by their SHA-256.
        gallery: the UUID of the gallery.
        url: the URL of the folder, ending in ``/``; None if that is not known.
        has_page: whether the folder has a page with the artwork.

    Returns:
        None if it cannot be one: a logo without a selector in its target, or a theme that is too long, or has an import
        that no pinned sheet can replace, as one that is not pinned, or has namespaces, which are those of a whole file.
    """
    if artwork.kind is Kind.LOGO:
        found = None if target.logo is None else _rule(target.logo, artwork.css)
    else:
        found = _sheet(artwork.css, sheets)
    if found is None:
        return None
    before, body = found
    path = f"{KINDS[artwork.kind].plural}/{artwork.id}"
    name = _line(artwork.name) or f"{KINDS[artwork.kind].name} {artwork.id}"
    head = {
        "name": name,
        # The name alone would be that of other artworks as well.
        "namespace": f"{gallery}/{path}",
        "version": f"1.0.{artwork.version}",
        "author": _line(", ".join(artwork.authors)),
        "homepageURL": f"{url}#/{path}" if url and has_page else "",
        "updateURL": f"{url}{style_name(artwork.kind, artwork.id)}" if url else "",
    }
    lines = "".join(f"@{key:<11} {value}\n" for key, value in head.items() if value)
    return f"/* ==UserStyle==\n{lines}==/UserStyle== */\n{before}@-moz-document {target.document} {{\n{body}\n}}\n"


def _line(text: str) -> str:
    """Return a text as a value in a head, which ends neither its line nor the head."""
    line = "".join(each for each in " ".join(text.split()) if category(each) not in ("Cc", "Cs"))
    line = _MARK.sub(r"= =\1= =", line)
    # Readers take these away, unless it is a string.
    if line and line[0] == line[-1] and line[0] in _QUOTES:
        line = json.dumps(line, ensure_ascii=False)
    return line.replace("*/", "*\\/")


def _rule(selector: str, declarations: str) -> tuple[str, str] | None:
    """Return a style rule with nothing before it; None if the declarations would leave it."""
    try:
        nodes = tinycss2.parse_component_value_list(declarations)
    except ValueError:  # an integer that Python refuses to read
        return None
    if any(node.type == "error" for node in walk(nodes)):
        return None
    return "", f"{selector} {{\n{tinycss2.serialize(nodes).strip()}\n}}"


class _Irreplaceable(Exception):
    """No pinned sheet can stand in place of an import."""


class _Pinned(Mapping[str, str]):
    """The pinned sheets by the URLs that lead to them.

    Attributes:
        used: whether one stands in place of an import.
    """

    def __init__(self, sheets: Mapping[str, str]) -> None:
        self._sheets, self.used = sheets, False

    def __contains__(self, url: object) -> bool:
        return True

    def __getitem__(self, url: str) -> str:
        if url == "data:":  # an empty sheet
            return ""
        css = self._sheets.get(url.removeprefix("css/").removesuffix(".css"))
        if css is None or _has_namespaces(css):
            raise _Irreplaceable
        self.used = True
        return css

    def __iter__(self) -> Iterator[str]:
        return iter(self._sheets)

    def __len__(self) -> int:
        return len(self._sheets)


def _sheet(css: str, sheets: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the namespaces of a sheet, and the rest with pinned sheets in place of its imports; None if one stays."""
    pinned = _Pinned(sheets)
    try:
        text = inline(css, pinned, _MOST)
    except (TooLarge, _Irreplaceable):
        return None
    if pinned.used and _has_namespaces(css):
        return None
    # What ends such a sheet would end nothing of what comes around it.
    if any(isinstance(node, ParseError) and node.kind.startswith("eof-") for node in walk(tokenize(text).nodes)):
        return None
    namespaces, rest, may_follow = "", "", True
    for node in tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True):
        name = node.lower_at_keyword if isinstance(node, AtRule) and node.content is None else ""
        may_follow = may_follow and name in ("namespace", "layer")
        if name != "namespace":
            rest += f"{node.serialize()}\n"
        elif may_follow:
            namespaces += f"{node.serialize()}\n"
    return namespaces, rest.rstrip("\n")


def _has_namespaces(css: str) -> bool:
    found = (node for node in tokenize(css).nodes if isinstance(node, AtKeywordToken))
    return "@" in css and any(node.lower_value == "namespace" for node in found)


def document_of(text: str) -> str:
    """Return a function of ``@-moz-document`` in its canonical form.

    Raises:
        ValueError: it is anything else.
    """
    nodes = significant(tinycss2.parse_component_value_list(text))
    node = nodes[0] if len(nodes) == 1 else None
    value = None
    if isinstance(node, URLToken):
        name, value = "url", node.value
    elif isinstance(node, FunctionBlock) and node.lower_name in _DOCUMENTS:
        name, inner = node.lower_name, significant(node.arguments)
        value = inner[0].value if len(inner) == 1 and isinstance(inner[0], StringToken) else None
    if not value or not value.isprintable() or _is_open(text):
        raise ValueError(
            'should be url(), url-prefix(), domain() or regexp() with a string, such as domain("forum.example")'
        )
    return f'{name}("{serialize_string_value(value)}")'


def selector_of(text: str) -> str:
    """Return a selector in its canonical form.

    Raises:
        ValueError: it is not a selector, or might end the rule that begins with it.
    """
    nodes = tinycss2.parse_component_value_list(text)
    if not significant(nodes) or any(map(_ends_selector, walk(nodes))) or _is_open(text):
        raise ValueError("should be a selector, such as .site-logo")
    written: str = tinycss2.serialize(nodes).strip()
    return written


def _ends_selector(node: Node) -> bool:
    return node.type in ("{} block", "at-keyword", "error", "comment") or is_literal(node, ";", "<!--", "-->", "\\")


def _is_open(text: str) -> bool:
    return any(unclosed(tokenize(text)))
