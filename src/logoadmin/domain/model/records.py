"""The records that are stored and answered (spec §Resources, contract C5, D, G).

A ``User`` has no field for a password, so none can leak. ``created_at`` is Unix time in whole seconds (contract A10).
``version`` is the id of the change that made a record what it is (contract F1); it is never answered in a body, and
two records that differ in nothing else are equal.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Final, TypeVar

from pydantic import Field

Version = Annotated[int, Field(exclude=True)]

# The role of new users (contract A12, H3).
DEFAULT_ROLE_ID: Final = 1


class Kind(StrEnum):
    """The five kinds of record, as they are named on the command line and in files."""

    ROLE = "role"
    USER = "user"
    AUTHOR = "author"
    THEME = "theme"
    LOGO = "logo"


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who may sign in. ``user_id`` is chosen by whoever creates the user."""

    user_id: int
    username: str
    avatar: str | None
    role_id: int
    created_at: int
    version: Version = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Role:
    """What its users may do: ``scope`` holds scope-tokens, distinct, in the order given."""

    role_id: int
    name: str
    scope: tuple[str, ...]
    created_at: int
    version: Version = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Author:
    """Somebody who made logos or themes. ``user_id`` is their number at the community site (contract A14)."""

    author_id: int
    user_id: int
    username: str
    created_at: int
    version: Version = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Theme:
    """A theme of the gallery; ``authors`` in the order they were linked (contract A18)."""

    theme_id: int
    name: str
    preview_url: str
    target: str
    custom_css: str
    active: bool
    authors: tuple[Author, ...]
    created_at: int
    version: Version = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Logo:
    """A logo of the gallery; ``authors`` in the order they were linked (contract A18)."""

    logo_id: int
    name: str
    preview_url: str
    target: str
    custom_css: str
    active: bool
    authors: tuple[Author, ...]
    created_at: int
    version: Version = field(default=0, compare=False, repr=False)


StoredRecord = User | Role | Author | Theme | Logo

# What has authors: services and repositories of themes and logos are the same, told which kind.
Artwork = TypeVar("Artwork", bound=Theme | Logo)


@dataclass(frozen=True, slots=True)
class LogoAuthor:
    """The link that says who made a logo."""

    logo_author_id: int
    logo_id: int
    author_id: int


@dataclass(frozen=True, slots=True)
class ThemeAuthor:
    """The link that says who made a theme."""

    theme_author_id: int
    theme_id: int
    author_id: int


@dataclass(frozen=True, slots=True)
class RemovedUser:
    """The answer to the removal of a user."""

    user_id: int


@dataclass(frozen=True, slots=True)
class RemovedAvatar:
    """The answer to the removal of an avatar: the one removed, ``""`` where there was none (contract A13)."""

    avatar: str


@dataclass(frozen=True, slots=True)
class RemovedRole:
    """The answer to the removal of a role."""

    role_id: int


@dataclass(frozen=True, slots=True)
class RemovedAuthor:
    """The answer to the removal of an author."""

    author_id: int


@dataclass(frozen=True, slots=True)
class RemovedTheme:
    """The answer to the removal of a theme."""

    theme_id: int


@dataclass(frozen=True, slots=True)
class RemovedLogo:
    """The answer to the removal of a logo."""

    logo_id: int


@dataclass(frozen=True, slots=True)
class RemovedThemeAuthor:
    """The answer to taking an author off a theme (spec §Resources, Theme-author link)."""

    theme_id: int
    author_id: int


@dataclass(frozen=True, slots=True)
class RemovedLogoAuthor:
    """The answer to taking an author off a logo."""

    logo_id: int
    author_id: int


@dataclass(frozen=True, slots=True)
class PasswordHash:
    """A password as storage has it: it never shows in a log, an error or an answer (contract C4)."""

    hash: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The answer to signing in and to refreshing (contract C1). ``expires_in`` in seconds, ``scope`` by spaces."""

    access_token: str = field(repr=False)
    token_type: str
    expires_in: int
    refresh_token: str = field(repr=False)
    scope: str


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

    change_id: int
    at: int
    user_id: int | None
    action: str
    kind: Kind
    id: int
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    request_id: str | None


@dataclass(frozen=True, slots=True)
class Me:
    """The answer to who one is (contract C3): one's user, with what one may do right now."""

    user_id: int
    username: str
    avatar: str | None
    role_id: int
    created_at: int
    scope: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EndedSession:
    """The answer to ending a session: whether there was one to end (contract C3)."""

    ended: bool


@dataclass(frozen=True, slots=True)
class ServiceKey:
    """A key for scripts (contract C5), without the key. The times are Unix time; None for never."""

    key_id: int
    name: str
    scope: tuple[str, ...]
    created_at: int
    expires_at: int | None
    last_used_at: int | None


@dataclass(frozen=True, slots=True)
class NewServiceKey(ServiceKey):
    """A service key as it is made, with the key, which is shown this once."""

    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class RemovedServiceKey:
    """The answer to ending a service key."""

    key_id: int
