"""Targets: the parts of sites for which artworks are published as user styles (contract Q3)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import tinycss2
from tinycss2.ast import Node

from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.css.pages import Condition, Pages, conditions_in
from logoadmin.domain.publication.css.tokens import is_literal, significant, tokenize, unclosed, walk

# The name of a host with at least one dot, whose last label is no number; the page has the same expression.
_HOST: Final = re.compile(r"(?=.{1,64}$)(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?")


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

    def has_styles_of(self, kind: Kind) -> bool:
        """Return whether artworks of a kind are published as user styles for it."""
        return kind is Kind.THEME or self.logo is not None

    @property
    def pages(self) -> Pages:
        """Its pages."""
        return conditions_in(tinycss2.parse_component_value_list(self.document))


@dataclass(frozen=True)
class Targets:
    """The targets that have pages: the described ones, and every target that is the name of a host.

    Attributes:
        described: those that the settings describe, in order.
    """

    described: tuple[Target, ...] = ()

    def __iter__(self) -> Iterator[Target]:
        """Yield the described targets."""
        return iter(self.described)

    @cached_property
    def _by_id(self) -> dict[str, Target]:
        return {target.id: target for target in self.described}

    def get(self, id_: str) -> Target | None:
        """Return a target; None if it has no pages."""
        if id_ in self._by_id:
            return self._by_id[id_]
        return Target(id_, id_, str(Condition("domain", id_))) if _HOST.fullmatch(id_) else None

    def pages(self, id_: str) -> Pages:
        """Return the pages of a target, if it has any."""
        target = self.get(id_)
        return () if target is None else target.pages


NO_TARGETS: Final = Targets()


def document_of(text: str) -> str:
    """Return a function of ``@-moz-document`` in its canonical form.

    Raises:
        ValueError: it is anything else.
    """
    tokens = tokenize(text)
    found = conditions_in(tokens.nodes, tokens.value)
    if len(found) != 1 or any(unclosed(tokens)):
        raise ValueError(
            'should be url(), url-prefix(), domain() or regexp() with a string, such as domain("forum.example")'
        )
    return str(found[0])


def selector_of(text: str) -> str:
    """Return a selector in its canonical form.

    Raises:
        ValueError: it is not a selector, or might end the rule that begins with it.
    """
    nodes = tinycss2.parse_component_value_list(text)
    if not significant(nodes) or any(map(_ends_selector, walk(nodes))) or any(unclosed(tokenize(text))):
        raise ValueError("should be a selector, such as .site-logo")
    written: str = tinycss2.serialize(nodes).strip()
    return written


def _ends_selector(node: Node) -> bool:
    return node.type in ("{} block", "at-keyword", "error", "comment") or is_literal(node, ";", "<!--", "-->", "\\")
