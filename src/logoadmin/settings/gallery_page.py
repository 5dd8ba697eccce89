"""The settings about the page of the published gallery and its user styles (contract Q2, Q3)."""

import json
import re
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from logoadmin.domain.kernel.limits import GALLERY_HOME, MAX_GALLERY_TITLE, MAX_TARGET
from logoadmin.domain.publication.css.targets import Target, document_of, selector_of

_MAX_URL: Final = 2_048
_MAX_TARGETS: Final = 1_000


def _is_line(value: str) -> str:
    if not value.isprintable() or not value.strip():
        raise ValueError("should be a line of printable characters")
    return value.strip()


_Line = Annotated[str, Field(max_length=MAX_GALLERY_TITLE), AfterValidator(_is_line)]


class TargetSettings(BaseModel):
    """One table of ``gallery_targets``: see :class:`~logoadmin.domain.publication.css.targets.Target`."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: _Line
    document: Annotated[str, Field(max_length=_MAX_URL), AfterValidator(document_of)]
    logo: Annotated[str, Field(max_length=_MAX_URL), AfterValidator(selector_of)] | None = None


class GalleryPageSettings(BaseModel):
    """A part of :class:`~logoadmin.settings.settings.Settings`."""

    gallery_page: bool = Field(
        True, description="whether the published gallery has a [page for visitors](publish.md#the-page)"
    )
    gallery_title: _Line = Field("Gallery", description="the title of that page")
    gallery_home: str = Field(
        "", description="the URL of a page to which it links, such as `https://www.example`; by default no link"
    )
    gallery_submit: bool = Field(
        True, description="whether it links to the console, for people who want to submit something"
    )
    gallery_targets: dict[str, TargetSettings] = Field(
        {},
        description=(
            "the [targets](put-it-on-your-site.md#user-styles) for which logos and themes are published as user "
            "styles: for each, `name`, `document` and `logo`, as a table in `logoadmin.toml`, or all of them as JSON"
        ),
    )

    @field_validator("gallery_home")
    @classmethod
    def _is_link(cls, value: str) -> str:
        if len(value) > _MAX_URL or not (value.isprintable() and re.fullmatch(GALLERY_HOME, value)):
            raise ValueError("should be an http or https URL without credentials, or empty")
        return value

    @field_validator("gallery_targets", mode="before")
    @classmethod
    def _are_tables(cls, value: Any) -> Any:
        try:
            tables = json.loads(value) if isinstance(value, str) and value.strip() else value or {}
        except (ValueError, RecursionError):
            tables = None
        if not isinstance(tables, dict) or len(tables) > _MAX_TARGETS or not all(map(_is_target, tables)):
            raise ValueError(
                'should be tables by target, in JSON {"forum": {"name": "Forum", "document": "…", "logo": "…"}}'
            )
        return tables


def targets_of(settings: GalleryPageSettings) -> tuple[Target, ...]:
    """Return the described targets, in their order."""
    described = settings.gallery_targets.items()
    return tuple(Target(id_, each.name, each.document, each.logo) for id_, each in described)


def _is_target(id_: object) -> bool:
    return isinstance(id_, str) and 0 < len(id_) <= MAX_TARGET and id_.isprintable()
