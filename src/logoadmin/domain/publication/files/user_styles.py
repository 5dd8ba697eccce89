"""Artworks as UserCSS for managers of user styles (contract Q3)."""

from dataclasses import dataclass
from typing import Final

from tinycss2 import parse_component_value_list, serialize
from tinycss2.ast import FunctionBlock, Node, StringToken, URLToken
from tinycss2.serializer import serialize_string_value

from logoadmin.domain.publication.css.tokens import is_literal, significant, tokenize, unclosed, walk

# The names of the files, as a regular expression.
USER_STYLE: Final = r"(?:logos|themes)/[0-9]{1,19}\.user\.css"
_DOCUMENTS: Final = ("url", "url-prefix", "domain", "regexp")


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


def document_of(text: str) -> str:
    """Return a function of ``@-moz-document`` in its canonical form.

    Raises:
        ValueError: it is anything else.
    """
    nodes = significant(parse_component_value_list(text))
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
    nodes = parse_component_value_list(text)
    if not significant(nodes) or any(map(_ends_selector, walk(nodes))) or _is_open(text):
        raise ValueError("should be a selector, such as .site-logo")
    written: str = serialize(nodes).strip()
    return written


def _ends_selector(node: Node) -> bool:
    return node.type in ("{} block", "at-keyword", "error", "comment") or is_literal(node, ";", "<!--", "-->", "\\")


def _is_open(text: str) -> bool:
    return any(unclosed(tokenize(text)))
