"""The records that are stored and returned (spec §Resources, contract D, F1, G).

A ``User`` has no field for a password, so none can leak. ``created_at`` is Unix time in whole seconds (contract A10).
``version`` is the id of the last change of a record (contract F1), so it rises with every change and is never reused;
it is never in a body, and not compared.

The OpenAPI document describes a record by the first paragraph of its docstring, without the sources.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar

from pydantic import Field

from logoadmin.domain.kernel.access import Source
from logoadmin.domain.kernel.details import NO_DETAILS, Details
from logoadmin.domain.kernel.limits import (
    Active,
    ArtworkName,
    AuthorId,
    Avatar,
    ChangeId,
    CommunityId,
    CreatedAt,
    CustomCss,
    GalleryAccent,
    GalleryHome,
    GalleryMark,
    GalleryTitle,
    LinkId,
    LogoId,
    Origin,
    PictureHash,
    PictureHosts,
    PreviewUrl,
    RequestId,
    RoleId,
    RoleName,
    Scopes,
    SubmissionRules,
    Target,
    ThemeId,
    UserId,
    Username,
    described,
)

Version = Annotated[int, Field(exclude=True)]

# The example of a record in a record.
_ANN: Final = {"author_id": 7, "user_id": 1042, "username": "Ann", "created_at": 1_800_000_000}


def _are_empty(details: Details) -> bool:
    return details is NO_DETAILS or details == NO_DETAILS  # pydantic takes long to compare


# The details of an artwork, which are left out of bodies while they are empty (contract S1).
ArtworkDetails = Annotated[
    Details,
    Field(exclude_if=_are_empty),
    described(
        "The details of the artwork; omitted while empty.", {"licence": "CC-BY-SA-4.0", "tags": ["dark", "winter"]}
    ),
]

# The role of new users (contract A12, H3).
DEFAULT_ROLE_ID: Final = 1
# The administrator of the first start, out of the way of the community's own numbers.
FIRST_ADMIN_ID: Final = 2_000_000_000


class Kind(StrEnum):
    """A kind of record, by its name in the history, on the command line and in files."""

    ROLE = "role"
    USER = "user"
    AUTHOR = "author"
    THEME = "theme"
    LOGO = "logo"
    SETTINGS = "settings"
    PICTURE = "picture"

    # Errors that list the kinds name them as requests do.
    __repr__ = str.__repr__


# The kinds with lists, which files can have.
CsvKind = Literal[Kind.AUTHOR, Kind.THEME, Kind.LOGO]
ListedKind = Literal[Kind.ROLE, Kind.USER, Kind.AUTHOR, Kind.THEME, Kind.LOGO]


@dataclass(frozen=True, slots=True)
class User:
    """A person who can sign in, unless suspended. The ``user_id`` is chosen by the creator of the user."""

    user_id: UserId
    username: Username
    avatar: Avatar | None
    role_id: RoleId
    created_at: CreatedAt
    active: Annotated[
        bool, Field(exclude_if=bool), described("`false` while the user is suspended; omitted otherwise.", False)
    ] = True
    version: Version = field(default=0, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Role:
    """The rights of users; ``scope`` has scope-tokens in the given order, without duplicates."""

    role_id: RoleId
    name: RoleName
    scope: Scopes
    created_at: CreatedAt
    version: Version = field(default=0, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Author:
    """An author of logos or themes. The ``user_id`` is the author's number at the community site (contract A14)."""

    author_id: AuthorId
    user_id: CommunityId
    username: Username
    created_at: CreatedAt
    version: Version = field(default=0, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Theme:
    """A theme of the gallery; ``authors`` in the order they were linked (contract A18)."""

    theme_id: ThemeId
    name: ArtworkName
    preview_url: PreviewUrl
    target: Target
    custom_css: CustomCss
    details: ArtworkDetails = field(default=NO_DETAILS, kw_only=True)
    active: Active
    authors: Annotated[tuple[Author, ...], described("The authors, in the order they were linked.", [_ANN])]
    created_at: CreatedAt
    version: Version = field(default=0, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Logo:
    """A logo of the gallery; ``authors`` in the order they were linked (contract A18)."""

    logo_id: LogoId
    name: ArtworkName
    preview_url: PreviewUrl
    target: Target
    custom_css: CustomCss
    details: ArtworkDetails = field(default=NO_DETAILS, kw_only=True)
    active: Active
    authors: Annotated[tuple[Author, ...], described("The authors, in the order they were linked.", [_ANN])]
    created_at: CreatedAt
    version: Version = field(default=0, compare=False, repr=False, kw_only=True)


GalleryTargets = Annotated[
    Mapping[str, Mapping[str, Any]],
    described(
        "The targets for which artworks are published as user styles: `name`, `documents` or `own`, and `logo`.",
        {"forum": {"name": "Forum", "documents": ['domain("forum.example")'], "logo": ".site-logo"}},
    ),
]


@dataclass(frozen=True, slots=True)
class SharedSettings:
    """The settings shared by all users, which administrators choose (contract J8)."""

    # There is one such record, from the start.
    settings_id: ClassVar[int] = 1

    picture_hosts: PictureHosts = ()
    gallery_title: GalleryTitle | None = None
    gallery_home: GalleryHome | None = None
    gallery_mark: GalleryMark | None = None
    gallery_accent: GalleryAccent | None = None
    gallery_targets: GalleryTargets = field(default_factory=dict)
    submission_rules: SubmissionRules = ""
    version: Version = field(default=0, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class PictureFile:
    """The stored file of a picture, as the history of its removal describes it."""

    picture: PictureHash
    width: Annotated[int, described("The width of the stored picture, in pixels.", 1600)]
    height: Annotated[int, described("The height of the stored picture, in pixels.", 900)]
    frames: Annotated[int, described("The number of frames; more than 1 for an animation.", 1)]
    size: Annotated[int, described("The size of the stored file, in bytes.", 48_112)]


StoredRecord = User | Role | Author | Theme | Logo | SharedSettings


def version_of(record: StoredRecord) -> int:
    """Return the version of a record; that of an artwork also rises with changes of its authors."""
    if isinstance(record, Logo | Theme) and record.authors:
        return max(record.version, *(author.version for author in record.authors))
    return record.version


# Records with authors. Themes and logos share their services and repositories.
Artwork = TypeVar("Artwork", bound=Theme | Logo)


@dataclass(frozen=True, slots=True)
class LogoAuthor:
    """A link from a logo to an author."""

    logo_author_id: LinkId
    logo_id: LogoId
    author_id: AuthorId


@dataclass(frozen=True, slots=True)
class ThemeAuthor:
    """A link from a theme to an author."""

    theme_author_id: LinkId
    theme_id: ThemeId
    author_id: AuthorId


@dataclass(frozen=True, slots=True)
class RemovedUser:
    """The response to the removal of a user."""

    user_id: UserId


@dataclass(frozen=True, slots=True)
class RemovedAvatar:
    """The response to the removal of an avatar: the removed one, ``""`` if there was none (contract A13)."""

    avatar: Annotated[Avatar, described("The removed avatar; empty if there was none.", "https://example.org/ann.png")]


@dataclass(frozen=True, slots=True)
class RemovedRole:
    """The response to the removal of a role."""

    role_id: RoleId


@dataclass(frozen=True, slots=True)
class RemovedAuthor:
    """The response to the removal of an author."""

    author_id: AuthorId


@dataclass(frozen=True, slots=True)
class RemovedTheme:
    """The response to the removal of a theme."""

    theme_id: ThemeId


@dataclass(frozen=True, slots=True)
class RemovedLogo:
    """The response to the removal of a logo."""

    logo_id: LogoId


@dataclass(frozen=True, slots=True)
class RemovedThemeAuthor:
    """The response to unlinking an author from a theme (spec §Resources, Theme-author link)."""

    theme_id: ThemeId
    author_id: AuthorId


@dataclass(frozen=True, slots=True)
class RemovedLogoAuthor:
    """The response to unlinking an author from a logo."""

    logo_id: LogoId
    author_id: AuthorId


@dataclass(frozen=True, slots=True)
class PasswordHash:
    """A stored password; it never appears in logs, errors or responses (contract C4)."""

    hash: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Link:
    """A link from an artwork to an author; ascending ``link_id`` is link order."""

    link_id: int
    artwork_id: int
    author_id: int


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a record (contract G).

    In ``before`` and ``after``, an artwork has its links as ``authors``, and a removed author has ``logos`` and
    ``themes``; nothing has a password or a hash. The names of users are their current ones, and not stored.
    """

    change_id: ChangeId
    at: Annotated[int, described("When the change was made, as Unix time in seconds.", 1_800_000_000)]
    user_id: Annotated[int | None, described("The user who made the change; `null` if unknown.", 1042)]
    action: Annotated[
        str,
        described(
            "The kind of record, a dot, and the action: `created`, `amended`, `removed`, `restored` and so on.",
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
    origin: Annotated[
        Origin | None,
        described(
            "How the change was made: by an `import`, an `undo`, in `bulk`, or as a `proposal`; `null` for any other.",
            "import",
        ),
    ] = None
    undoes: Annotated[int | None, described("The change that this one undid; `null` for any other.", 41)] = None
    submitter_id: Annotated[
        int | None, described("The user who proposed the change; `null` if it was not proposed.", 1043)
    ] = None
    source: Annotated[Source | None, described("The source of the request; `null` for older changes.", "console")] = (
        None
    )
    note: Annotated[
        str | None, described("Why the change was made, in the user's words; `null` if not given.", "Asked for by Ann")
    ] = None
    user_name: Annotated[
        str | None, described("The current username of that user; `null` for a removed user.", "Ann")
    ] = None
    submitter_name: Annotated[
        str | None, described("The current username of the submitter; `null` for a removed user.", "Ben")
    ] = None
