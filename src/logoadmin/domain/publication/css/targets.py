"""Targets: the parts of sites for which artworks are published as user styles (contract Q3)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import tinycss2

from logoadmin.domain.kernel.records import Kind, SharedSettings
from logoadmin.domain.publication.css.pages import ANY_PAGES, Condition, Pages, conditions_in

# The name of a host with at least one dot, whose last label is no number; the page has the same expression.
_HOST: Final = re.compile(r"(?=.{1,64}$)(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Target:
    """A part of a site, or of many, for which artworks are published as user styles.

    Attributes:
        id: as artworks name it.
        name: for people.
        documents: its pages, as functions of ``@-moz-document``; none for those that the CSS itself names.
        logo: the selector of the elements to which the declarations of a logo apply; None for no styles of logos.
    """

    id: str
    name: str
    documents: tuple[str, ...]
    logo: str | None = None

    def has_styles_of(self, kind: Kind) -> bool:
        """Return whether artworks of a kind are published as user styles for it."""
        return kind is Kind.THEME or self.logo is not None

    @property
    def pages(self) -> Pages:
        """Its pages."""
        return _pages_of(self.documents) if self.documents else ANY_PAGES


@lru_cache(maxsize=256)
def _pages_of(documents: tuple[str, ...]) -> Pages:
    return conditions_in(tinycss2.parse_component_value_list(", ".join(documents)))


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets that have pages: the described ones, and every target that is the name of a host.

    Attributes:
        described: those that administrators describe, by id.
    """

    described: Mapping[str, Target]

    def __iter__(self) -> Iterator[Target]:
        """Yield the described targets, in order."""
        return iter(self.described.values())

    def get(self, id_: str) -> Target | None:
        """Return a target; None if it has no pages."""
        if id_ in self.described:
            return self.described[id_]
        return Target(id_, id_, (str(Condition("domain", id_)),)) if _HOST.fullmatch(id_) else None

    def pages(self, id_: str) -> Pages:
        """Return the pages of a target, if it has any."""
        target = self.get(id_)
        return () if target is None else target.pages

    def holding(self, conditions: Pages) -> str | None:
        """Return the target to whose pages these conditions belong: the narrowest one, or the host that is alone."""
        if not conditions:
            return None
        pages = {each.id: each.pages for each in self if each.documents and _are_within(conditions, each.pages)}
        narrowest = (id_ for id_, own in pages.items() if all(_are_within(own, other) for other in pages.values()))
        own = [each.id for each in self if not each.documents]
        hosts = {each.host for each in conditions}
        host = hosts.pop() if len(hosts) == 1 else ""
        if pages:
            return next(narrowest, None)
        if len(own) == 1:
            return own[0]
        return host if host and self.get(host) is not None and _are_within(conditions, self.pages(host)) else None

    def are_offering(self, id_: str) -> bool:
        """Return whether members may choose a target: one with pages, or any if none is described."""
        return not self.described or self.get(id_) is not None


def _are_within(conditions: Pages, pages: Pages) -> bool:
    return all(any(map(each.is_within, pages)) for each in conditions)


def targets_of(settings: SharedSettings) -> Targets:
    """Return the targets in the settings."""
    return targets_in(settings.gallery_targets)


def targets_in(stored: Mapping[str, Mapping[str, Any]]) -> Targets:
    """Return targets as they are stored."""
    return Targets(
        {
            id_: Target(id_, each["name"], tuple(each.get("documents", ())), each.get("logo"))
            for id_, each in stored.items()
        }
    )
