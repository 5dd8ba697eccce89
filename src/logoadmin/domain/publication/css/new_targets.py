"""The targets that administrators describe, as they are sent and stored (contract J8, Q3)."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

import tinycss2
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, GetPydanticSchema, Strict, model_validator
from pydantic_core import PydanticCustomError, core_schema
from tinycss2.ast import Node

from logoadmin.domain.kernel.limits import GalleryTitle, Target, described
from logoadmin.domain.publication.css.pages import conditions_in
from logoadmin.domain.publication.css.tokens import is_literal, significant, tokenize, unclosed, walk

_MAX_TARGETS: Final = 200
_MAX_CONDITIONS: Final = 100
_MAX_TEXT: Final = 2_048  # of a condition, and of a selector
_MAX_JSON: Final = 1_048_576  # bytes of all targets: each change of a setting stores them twice


def document_of(text: str) -> str:
    """Return a function of ``@-moz-document`` in its canonical form.

    Raises:
        PydanticCustomError: it is anything else.
    """
    tokens = tokenize(text)
    found = conditions_in(tokens.nodes, tokens.value)
    if len(found) != 1 or any(unclosed(tokens)):
        raise PydanticCustomError(
            "string_pattern_mismatch",
            'Input should be url(), url-prefix(), domain() or regexp() with a string, such as domain("forum.example")',
        )
    return str(found[0])


def selector_of(text: str) -> str:
    """Return a selector in its canonical form.

    Raises:
        PydanticCustomError: it is not a selector, or might end the rule that begins with it.
    """
    nodes = tinycss2.parse_component_value_list(text)
    if not significant(nodes) or any(map(_ends_selector, walk(nodes))) or any(unclosed(tokenize(text))):
        raise PydanticCustomError("string_pattern_mismatch", "Input should be a selector, such as .site-logo")
    written: str = tinycss2.serialize(nodes).strip()
    return written


def _ends_selector(node: Node) -> bool:
    return node.type in ("{} block", "at-keyword", "error", "comment") or is_literal(node, ";", "<!--", "-->", "\\")


class _NewTarget(BaseModel):
    """A target; see :class:`~logoadmin.domain.publication.css.targets.Target`."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: Annotated[GalleryTitle, described("Its name for people.", "Forum")]
    documents: Annotated[
        list[Annotated[str, Strict(), Field(max_length=_MAX_TEXT), AfterValidator(document_of)]],
        Field(min_length=1, max_length=_MAX_CONDITIONS),
        described(
            "Its pages, as conditions of `@-moz-document`: `url()`, `url-prefix()`, `domain()` or `regexp()`.",
            ['domain("forum.example")'],
        ),
    ] = Field(default=[])
    own: Annotated[
        Literal[True] | None, described("Instead of `documents`: the pages are those that the CSS itself names.", True)
    ] = None
    logo: Annotated[
        Annotated[str, Strict(), Field(max_length=_MAX_TEXT), AfterValidator(selector_of)] | None,
        described(
            "The selector of the elements to which the declarations of a logo apply; without it, logos have no user "
            "styles.",
            ".site-logo",
        ),
    ] = None

    @model_validator(mode="after")
    def _has_pages(self) -> "_NewTarget":
        if bool(self.documents) == bool(self.own):
            raise PydanticCustomError("value_error", 'Input should have either documents or "own": true')
        if self.own and self.logo is not None:
            raise PydanticCustomError("value_error", "The CSS of a logo names no pages: give documents instead of own")
        return self


def _stored(targets: dict[str, _NewTarget]) -> dict[str, Any]:
    """Return targets as JSON has them, in canonical form."""
    stored = {id_: target.model_dump(exclude_defaults=True) for id_, target in targets.items()}
    if len(json.dumps(stored, ensure_ascii=False).encode()) > _MAX_JSON:
        raise PydanticCustomError("too_long", f"Input should be at most {_MAX_JSON} bytes of JSON")
    return stored


_Targets = Annotated[dict[Target, _NewTarget], Field(max_length=_MAX_TARGETS)]
# Validated as targets, into what is stored.
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
