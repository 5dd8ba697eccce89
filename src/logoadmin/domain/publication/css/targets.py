"""Targets: the parts of sites for which artworks are published as user styles (contract Q3)."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final, Literal

import tinycss2
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetPydanticSchema, Strict, model_validator
from pydantic_core import PydanticCustomError, core_schema
from tinycss2.ast import Node

from logoadmin.domain.kernel.limits import GalleryTitle, described
from logoadmin.domain.kernel.limits import Target as TargetId
from logoadmin.domain.kernel.records import Kind, SharedSettings
from logoadmin.domain.publication.css.pages import ANY_PAGES, Condition, Pages, are_within, conditions_in
from logoadmin.domain.publication.css.tokens import is_literal, significant, tokenize, unclosed, walk

# A host name with at least one dot, whose last label is not a number; the page has the same expression.
_HOST: Final = re.compile(r"(?=.{1,64}$)(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Target:
    """A part of a site, or of many, for which artworks are published as user styles."""

    id: str  # the `target` of artworks
    name: str
    documents: tuple[str, ...]  # its pages, as functions of ``@-moz-document``; empty if the CSS itself names them
    # The selector of the elements to which the declarations of a logo apply; None if logos have no user styles.
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
    tokens = tokenize(", ".join(documents))
    return conditions_in(tokens.nodes, tokens.value)


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets that have pages: those that administrators describe, by id, and every target that is a host name."""

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
        """Return the narrowest target that covers these conditions, or else their only host, if it covers them."""
        if not conditions:
            return None
        pages = {each.id: each.pages for each in self if each.documents and are_within(conditions, each.pages)}
        narrowest = (id_ for id_, own in pages.items() if all(are_within(own, other) for other in pages.values()))
        own = [each.id for each in self if not each.documents]
        hosts = {each.host for each in conditions}
        host = hosts.pop() if len(hosts) == 1 else ""
        if pages:
            return next(narrowest, None)
        if len(own) == 1:
            return own[0]
        return host if host and self.get(host) is not None and are_within(conditions, self.pages(host)) else None

    def are_offering(self, id_: str) -> bool:
        """Return whether members may choose a target: one with pages, or any if none is described."""
        return not self.described or self.get(id_) is not None


def targets_of(settings: SharedSettings) -> Targets:
    """Return the targets in the settings."""
    stored = settings.gallery_targets.items()
    return Targets({id_: Target(id_, of["name"], tuple(of.get("documents", ())), of.get("logo")) for id_, of in stored})


_MAX_TARGETS: Final = 200
_MAX_CONDITIONS: Final = 100
_MAX_TEXT: Final = 2_048  # of a condition, and of a selector
_MAX_JSON: Final = 1_048_576  # bytes of all targets: each change of a setting stores them twice


def document_of(text: str) -> str:
    """Return a function of ``@-moz-document`` in its canonical form."""
    tokens = tokenize(text)
    found = conditions_in(tokens.nodes, tokens.value)
    if len(found) != 1 or any(unclosed(tokens)):
        text = (
            'Input should be url(), url-prefix(), domain() or regexp() with a string, such as domain("forum.example")'
        )
        raise PydanticCustomError("string_pattern_mismatch", text)
    return str(found[0])


def selector_of(text: str) -> str:
    """Return a selector in its canonical form; refuse what might end the rule that begins with it."""
    nodes = tinycss2.parse_component_value_list(text)
    if not significant(nodes) or any(map(_ends_selector, walk(nodes))) or any(unclosed(tokenize(text))):
        raise PydanticCustomError("string_pattern_mismatch", "Input should be a selector, such as .site-logo")
    written: str = tinycss2.serialize(nodes).strip()
    return written


def _ends_selector(node: Node) -> bool:
    return node.type in ("{} block", "at-keyword", "error", "comment") or is_literal(node, ";", "<!--", "-->", "\\")


class NewTarget(BaseModel):
    """A part of the site, or of many sites, for which artworks are published as user styles."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: Annotated[GalleryTitle, described("The name shown to people.", "Forum")]
    documents: Annotated[
        list[Annotated[str, Strict(), Field(max_length=_MAX_TEXT), AfterValidator(document_of)]],
        Field(min_length=1, max_length=_MAX_CONDITIONS),
        described(
            "Its pages, as conditions of `@-moz-document`: `url()`, `url-prefix()`, `domain()` or `regexp()`.",
            ['domain("forum.example")'],
        ),
    ] = Field(default=[])
    own: Annotated[Literal[True] | None, described("Instead of `documents`: the CSS names its pages.", True)] = None
    logo: Annotated[
        Annotated[str, Strict(), Field(max_length=_MAX_TEXT), AfterValidator(selector_of)] | None,
        described(
            "The selector of the elements to which the declarations of a logo apply; without it, logos have no user "
            "styles.",
            ".site-logo",
        ),
    ] = None

    @model_validator(mode="after")
    def _has_pages(self) -> "NewTarget":
        if bool(self.documents) == bool(self.own):
            raise PydanticCustomError("value_error", 'Input should have either documents or "own": true')
        if self.own and self.logo is not None:
            raise PydanticCustomError("value_error", "The CSS of a logo names no pages: give documents instead of own")
        return self


def _stored(targets: dict[str, NewTarget]) -> dict[str, Any]:
    """Return the JSON of targets in canonical form."""
    stored = {id_: target.model_dump(exclude_defaults=True) for id_, target in targets.items()}
    if len(json.dumps(stored, ensure_ascii=False).encode()) > _MAX_JSON:
        raise PydanticCustomError("too_long", f"Input should be at most {_MAX_JSON} bytes of JSON")
    return stored


_Targets = Annotated[dict[TargetId, NewTarget], Field(max_length=_MAX_TARGETS)]
# Validated as targets, and converted to the stored form.
NewTargets = Annotated[
    Mapping[str, Any],
    GetPydanticSchema(
        lambda _, handler: core_schema.no_info_after_validator_function(
            _stored, handler(_Targets), serialization=core_schema.plain_serializer_function_ser_schema(dict)
        )
    ),
    described(
        "The targets for which artworks are published as user styles, by the `target` of artworks. A target that is "
        "the name of a host needs no entry.",
        {"forum": {"name": "Forum", "documents": ['domain("forum.example")'], "logo": ".site-logo"}},
    ),
]
