"""The settings of the published gallery's page (contract Q2)."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, Field, field_validator

from logoadmin.domain.kernel.limits import GALLERY_HOME, MAX_GALLERY_TITLE

_MAX_URL: Final = 2_048
_MAIL: Final = r"(?i:mailto:)[^\s@?\x00-\x1f\x7f]+@[^\s@?\x00-\x1f\x7f]+(?:\?[^\s\x00-\x1f\x7f]*)?"


def _is_line(value: str) -> str:
    if not value.isprintable() or not value.strip():
        raise ValueError("should be a line of printable characters")
    return value.strip()


_Line = Annotated[str, Field(max_length=MAX_GALLERY_TITLE), AfterValidator(_is_line)]


class GalleryPageSettings(BaseModel, defer_build=True):
    """A part of :class:`~logoadmin.settings.settings.Settings`."""

    gallery_page: bool = Field(True, description="publish a [page for visitors](publish.md#the-page)")
    gallery_title: _Line = Field("Gallery", description="title of the page for visitors")
    gallery_home: str = Field("", description="URL of your site, to which the page links")
    gallery_submit: bool | str = Field(
        True,
        union_mode="left_to_right",
        description="link to the console for people who want to submit works; or the URL of a page of your site that "
        "[signs members in](people.md#links)",
    )
    gallery_report: str = Field(
        "",
        description="URL or `mailto:` where visitors report a work; `{url}` stands for the URL of its page",
    )

    @field_validator("gallery_home")
    @classmethod
    def _is_link(cls, value: str) -> str:
        if not _is_url(value):
            raise ValueError("should be an http or https URL without credentials, or empty")
        return value

    @field_validator("gallery_submit")
    @classmethod
    def _is_way_to_submit(cls, value: bool | str) -> bool | str:
        if isinstance(value, str) and not (value and _is_url(value)):
            raise ValueError("should be true, false, or an http or https URL without credentials")
        return value

    @field_validator("gallery_report")
    @classmethod
    def _is_way_to_report(cls, value: str) -> str:
        if not (_is_url(value) or (len(value) <= _MAX_URL and re.fullmatch(_MAIL, value))):
            raise ValueError("should be an http or https URL without credentials, a mailto: address, or empty")
        return value


def _is_url(value: str) -> bool:
    """Return whether a value is an http or https URL without credentials, or empty."""
    return len(value) <= _MAX_URL and value.isprintable() and re.fullmatch(GALLERY_HOME, value) is not None
