"""The details of an artwork, such as its description and licence (contract S1, S2).

:class:`Details` is the only list of the members. The OpenAPI document, the columns of CSV files and the storages take
them from here; who may read and set which is in :mod:`~logoadmin.domain.kernel.kinds`.
"""

import json
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError, from_json

from logoadmin.domain.kernel.command import Input
from logoadmin.domain.kernel.limits import MAX_ORIGIN, MAX_TAG, ArtworkText, NewPreviewUrl, described
from logoadmin.domain.kernel.texts import (
    NO_UNSEEN,
    distinct_list,
    line_text,
    matching,
    name_text,
    pattern_text,
    visible_line,
)

_ORIGIN: Final = r"^[A-Za-z0-9._~\-]+$"
# No character is composed of more than this many in NFC.
_LONGEST_COMPOSED: Final = 4


def _plain_tag(tag: object) -> object:
    """Return a tag in lower case and NFC, with single spaces and none around it (contract S1)."""
    if not isinstance(tag, str):
        return tag
    words = " ".join(tag.split())
    if len(words) > _LONGEST_COMPOSED * MAX_TAG:  # which stays too long; normalisation takes quadratic time
        return words
    plain = unicodedata.normalize("NFC", " ".join(unicodedata.normalize("NFC", words).lower().split()))
    if len(plain) > MAX_TAG >= len(tag):
        text = f"Tag should have at most {MAX_TAG} characters in lower case"
        raise PydanticCustomError("string_too_long", text)
    return plain or tag  # of which the checks that follow say that nothing of it is visible


# The members of what an artwork says of itself (contract S1).
Description = Annotated[
    str,
    *visible_line(500),
    described("A description in one paragraph.", "A dark forum with northern lights in its header."),
]
WebUrl = Annotated[
    NewPreviewUrl, described("A URL: absolute, http or https, without a password.", "https://example.org/aurora")
]
Licence = Annotated[str, *visible_line(64), described("The licence, as an SPDX expression or a name.", "CC-BY-SA-4.0")]
Release = Annotated[str, *visible_line(32), described("The version, in the author's own numbering.", "2.1.0")]
Tag = Annotated[
    str,
    *name_text(MAX_TAG),
    AfterValidator(matching("^[^,]*$", "string_pattern_mismatch", "Tag should not contain a comma")),
    Field(json_schema_extra={"pattern": NO_UNSEEN.replace("]", ",]")}),
    BeforeValidator(_plain_tag),
    described("A tag, which is stored in lower case, in NFC and without spaces around it.", "dark"),
]
Alt = Annotated[
    str,
    *line_text(0, 200),
    described("A description of the picture, for people who cannot see it.", "A thread at night"),
]
ArtworkOrigin = Annotated[
    str,
    *pattern_text(
        _ORIGIN, "String should have letters of ASCII, digits and . _ ~ - alone", minimum=1, maximum=MAX_ORIGIN
    ),
    described("The id in the system that it came from, unique among the records of its kind.", "aurora-17"),
]
Tags = Annotated[
    tuple[str, ...],
    distinct_list(Tag, Field(max_length=10)),
    described("Tags for searching. Duplicates are dropped.", ["dark", "winter"]),
]

_Value = TypeVar("_Value")
# A member that is left out while it is empty: null, "", [] and {} all remove it.
_Member = Annotated[
    _Value | None,
    BeforeValidator(lambda value: None if value in ("", [], (), {}) else value),
    Field(exclude_if=lambda value: value is None),
]


class Screenshot(Input):
    """A picture of an artwork."""

    model_config = ConfigDict(revalidate_instances="always")

    url: Annotated[WebUrl, described("The URL of the picture.", "https://example.org/aurora-thread.png")]
    alt: _Member[Alt] = None


Screenshots = Annotated[
    tuple[Screenshot, ...],
    distinct_list(Screenshot, Field(max_length=8)),
    described("The screenshots, in order.", [{"url": "https://example.org/aurora-thread.png", "alt": "A thread"}]),
]


class Details(Input):
    """The details of an artwork. Every member is optional, and omitted while it is empty.

    As new values of an artwork, the given members replace its own, and empty ones are removed (RFC 7396).
    """

    # pydantic makes copies without validating them, so a command validates them.
    model_config = ConfigDict(revalidate_instances="always")

    description: _Member[Description] = None
    text: _Member[ArtworkText] = None
    homepage: _Member[Annotated[WebUrl, described("The URL of the home page.", "https://example.org/aurora")]] = None
    source: _Member[Annotated[WebUrl, described("The URL of its source.", "https://example.org/aurora.git")]] = None
    support: _Member[Annotated[WebUrl, described("The URL where users get help.", "https://example.org/help")]] = None
    licence: _Member[Licence] = None
    version: _Member[Release] = None
    tags: _Member[Tags] = None
    screenshots: _Member[Screenshots] = None
    origin: _Member[ArtworkOrigin] = None

    @classmethod
    def stored(cls, members: Mapping[str, Any]) -> "Details":
        """Return the details of stored members, as :meth:`members` returns them, without checking them again."""
        if not members:
            return NO_DETAILS
        values = {**members}
        if "tags" in values:
            values["tags"] = tuple(values["tags"])
        if "screenshots" in values:
            values["screenshots"] = tuple(Screenshot.model_construct(**each) for each in values["screenshots"])
        return cls.model_construct(**values)

    @classmethod
    def parsed(cls, text: str | None) -> "Details":
        """Return the details that :meth:`canonical` returned as a text; none for None."""
        return NO_DETAILS if text is None else cls.stored(from_json(text))

    def members(self) -> dict[str, Any]:
        """Return the members that are not empty, as in JSON."""
        return {} if self is NO_DETAILS else self.model_dump()

    def canonical(self) -> str | None:
        """Return the members as canonical JSON: sorted, without white space. Equal details have equal texts.

        None if all are empty.
        """
        members = self.members()
        return json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=False) if members else None

    def merged(self, patch: "Details | None") -> "Details":
        """Return these details with the given members of a patch; None removes all (RFC 7396)."""
        if patch is None:
            return NO_DETAILS
        return self.model_copy(update={name: getattr(patch, name) for name in patch.model_fields_set})

    def retagged(self, added: Iterable[str], removed: Iterable[str]) -> "Details":
        """Return these details with tags added at the end and others removed; InvalidInput if there are too many.

        As a patch, they replace all members of other details.
        """
        tags = dict.fromkeys([*(self.tags or ()), *added])
        left: dict[str, Any] = {"tags": [tag for tag in tags if tag not in {*removed}]}
        return self.model_construct(**{name: getattr(self, name) for name in DETAILS} | {"tags": Details(**left).tags})

    def __repr_args__(self) -> Iterable[tuple[str, Any]]:
        """Show the members that are not empty."""
        return self.members().items()

    @property
    def pictures(self) -> tuple[str, ...]:
        """The URLs of the screenshots."""
        return tuple(each.url for each in self.screenshots or ())


NO_DETAILS: Final = Details()
# By their names, in the order in which they are shown.
DETAILS: Final = tuple(Details.model_fields)
