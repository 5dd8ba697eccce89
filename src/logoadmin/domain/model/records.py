"""The records that are stored and answered (spec §Resources, contract D, G).

A ``User`` has no field for a password, so none can leak. ``created_at`` is Unix time in whole seconds (contract A10).
``version`` is the id of the change that made a record what it is (contract F1); it is never answered in a body, and
two records that differ in nothing else are equal.

The OpenAPI document describes an answer by the first paragraph of its docstring, without the sources.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Final, TypeVar

from pydantic import Field

from logoadmin.domain.model.limits import (
    Active,
    ArtworkName,
    AuthorId,
    Avatar,
    ChangeId,
    CommunityId,
    CreatedAt,
    CustomCss,
    LinkId,
    LogoId,
    PreviewUrl,
    RequestId,
    RoleId,
    RoleName,
    Scopes,
    Target,
    ThemeId,
    UserId,
    Username,
    described,
)

Version = Annotated[int, Field(exclude=True)]

# The example of a record in a record.
_ANN: Final = {"author_id": 7, "user_id": 1042, "username": "Ann", "created_at": 1_800_000_000}

# The role of new users (contract A12, H3).
DEFAULT_ROLE_ID: Final = 1


class Kind(StrEnum):
    """A kind of record, as it is named on the command line and in files."""

    ROLE = "role"
    USER = "user"
    AUTHOR = "author"
    THEME = "theme"
    LOGO = "logo"


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who may sign in. ``user_id`` is chosen by whoever creates the user."""

    user_id: UserId
    username: Username
    avatar: Avatar | None
    role_id: RoleId
    created_at: CreatedAt
    version: Version = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Role:
    """What its users may do: ``scope`` holds scope-tokens, distinct, in the order given."""

    role_id: RoleId
    name: RoleName
    scope: Scopes
    created_at: CreatedAt
    version: Version = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Author:
    """Somebody who made logos or themes. ``user_id`` is their number at the community site (contract A14)."""

    author_id: AuthorId
    user_id: CommunityId
    username: Username
    created_at: CreatedAt
    version: Version = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Theme:
    """A theme of the gallery; ``authors`` in the order they were linked (contract A18)."""

    theme_id: ThemeId
    name: ArtworkName
    preview_url: PreviewUrl
    target: Target
    custom_css: CustomCss
    active: Active
    authors: Annotated[tuple[Author, ...], described("The authors, in the order they were linked.", [_ANN])]
    created_at: CreatedAt
    version: Version = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Logo:
    """A logo of the gallery; ``authors`` in the order they were linked (contract A18)."""

    logo_id: LogoId
    name: ArtworkName
    preview_url: PreviewUrl
    target: Target
    custom_css: CustomCss
    active: Active
    authors: Annotated[tuple[Author, ...], described("The authors, in the order they were linked.", [_ANN])]
    created_at: CreatedAt
    version: Version = field(default=0, compare=False, repr=False)


StoredRecord = User | Role | Author | Theme | Logo

# What has authors: services and repositories of themes and logos are the same, told which kind.
Artwork = TypeVar("Artwork", bound=Theme | Logo)


@dataclass(frozen=True, slots=True)
class LogoAuthor:
    """The link that says who made a logo."""

    logo_author_id: LinkId
    logo_id: LogoId
    author_id: AuthorId


@dataclass(frozen=True, slots=True)
class ThemeAuthor:
    """The link that says who made a theme."""

    theme_author_id: LinkId
    theme_id: ThemeId
    author_id: AuthorId


@dataclass(frozen=True, slots=True)
class RemovedUser:
    """The answer to the removal of a user."""

    user_id: UserId


@dataclass(frozen=True, slots=True)
class RemovedAvatar:
    """The answer to the removal of an avatar: the one removed, ``""`` where there was none (contract A13)."""

    avatar: Annotated[Avatar, described("The removed avatar; empty if there was none.", "https://example.org/ann.png")]


@dataclass(frozen=True, slots=True)
class RemovedRole:
    """The answer to the removal of a role."""

    role_id: RoleId


@dataclass(frozen=True, slots=True)
class RemovedAuthor:
    """The answer to the removal of an author."""

    author_id: AuthorId


@dataclass(frozen=True, slots=True)
class RemovedTheme:
    """The answer to the removal of a theme."""

    theme_id: ThemeId


@dataclass(frozen=True, slots=True)
class RemovedLogo:
    """The answer to the removal of a logo."""

    logo_id: LogoId


@dataclass(frozen=True, slots=True)
class RemovedThemeAuthor:
    """The answer to taking an author off a theme (spec §Resources, Theme-author link)."""

    theme_id: ThemeId
    author_id: AuthorId


@dataclass(frozen=True, slots=True)
class RemovedLogoAuthor:
    """The answer to taking an author off a logo."""

    logo_id: LogoId
    author_id: AuthorId


@dataclass(frozen=True, slots=True)
class PasswordHash:
    """A password as storage has it: it never shows in a log, an error or an answer (contract C4)."""

    hash: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Link:
    """That an author made an artwork, of either kind; in ascending ``link_id`` they are in link order."""

    link_id: int
    artwork_id: int
    author_id: int


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a record (contract G).

    Attributes:
        change_id: rises in the order in which changes were stored, as every reader sees it.
        at: Unix time in whole seconds.
        user_id: who did it; None without a token.
        action: the kind of record and what was done, such as ``logo.created``.
        kind: the kind of record.
        id: its id.
        before: what it was, None where it was not there. An artwork has its links as ``authors``; an author who is
            removed, too, as ``logos`` and ``themes``. A password is never in it, nor its hash.
        after: what it is since, None where it is gone.
        request_id: of the request that did it; None where there was none.
    """

    change_id: ChangeId
    at: Annotated[int, described("When the change was made, as Unix time in seconds.", 1_800_000_000)]
    user_id: Annotated[int | None, described("The user who made the change; `null` if unknown.", 1042)]
    action: Annotated[
        str,
        described(
            "The kind of record, a dot, and what was done: `created`, `amended`, `removed`, `restored` and so on.",
            "author.amended",
        ),
    ]
    kind: Annotated[Kind, described("The kind of record.", "author")]
    id: Annotated[int, described("The id of the record.", 7)]
    before: Annotated[
        Mapping[str, Any] | None, described("The record before the change; `null` if it did not exist.", _ANN)
    ]
    after: Annotated[
        Mapping[str, Any] | None,
        described("The record after the change; `null` if it was removed.", {**_ANN, "username": "Anna"}),
    ]
    request_id: RequestId | None


@dataclass(frozen=True, slots=True)
class Undone:
    """What the undoing of a request made (contract G4): the changes after one id, up to another."""

    after: int
    last: int


@dataclass(frozen=True, slots=True)
class ImportedCounts:
    """How many lines of a kind made a record, changed one, and found it as they say (contract I4)."""

    created: Annotated[int, described("The number of records that were created.", 2)]
    amended: Annotated[int, described("The number of records that were changed.", 0)]
    unchanged: Annotated[int, described("The number of records that were as given.", 1)]

    @property
    def lines(self) -> int:
        """How many lines that is."""
        return self.created + self.amended + self.unchanged


@dataclass(frozen=True, slots=True)
class Imported:
    """The answer to an import (contract I4).

    Attributes:
        counts: what became of the lines of each kind.
        dry_run: whether it was undone again.
        without_password: how many users were created without one, who cannot sign in until they are given one.
    """

    counts: dict[Kind, ImportedCounts]
    dry_run: bool
    without_password: int
