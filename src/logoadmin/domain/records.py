"""The records that are kept and answered (spec §Resources, contract D).

A ``User`` has no field for a password, so none can leak. ``created_at`` is Unix time in whole seconds (contract A10).
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar


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


@dataclass(frozen=True, slots=True)
class Role:
    """What its users may do: ``scope`` holds scope-tokens, distinct, in the order given."""

    role_id: int
    name: str
    scope: tuple[str, ...]
    created_at: int


@dataclass(frozen=True, slots=True)
class Author:
    """Somebody who made logos or themes. ``user_id`` is their number at the community site (contract A14)."""

    author_id: int
    user_id: int
    username: str
    created_at: int


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


# What has authors: the services and repositories of themes and logos are the same, told another of the two.
Piece = TypeVar("Piece", Theme, Logo)


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
    """A password as storage keeps it, sealed: it never shows in a log, an error or an answer (contract C4)."""

    sealed: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The answer to signing in and to refreshing (contract C1). ``expires_in`` in seconds, ``scope`` by spaces."""

    access_token: str = field(repr=False)
    token_type: str
    expires_in: int
    refresh_token: str = field(repr=False)
    scope: str
