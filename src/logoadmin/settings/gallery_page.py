"""The settings about the page of the published gallery (contract Q2)."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, Field, field_validator

from logoadmin.domain.kernel.limits import GALLERY_HOME, MAX_GALLERY_TITLE

_MAX_URL: Final = 2_048


def _is_line(value: str) -> str:
    if not value.isprintable() or not value.strip():
        raise ValueError("should be a line of printable characters")
    return value.strip()


_Line = Annotated[str, Field(max_length=MAX_GALLERY_TITLE), AfterValidator(_is_line)]


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

    @field_validator("gallery_home")
    @classmethod
    def _is_link(cls, value: str) -> str:
        if len(value) > _MAX_URL or not (value.isprintable() and re.fullmatch(GALLERY_HOME, value)):
            raise ValueError("should be an http or https URL without credentials, or empty")
        return value
