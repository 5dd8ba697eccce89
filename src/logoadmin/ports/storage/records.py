"""The repositories of records: users, roles, authors, themes and logos.

A page has up to as many records as are asked for. It has fewer, and is a
:class:`~logoadmin.domain.model.lists.HeavyPage`, where their texts would have more than
:data:`~logoadmin.domain.model.lists.PAGE_TEXT` characters together; but if there are any, it has one.
So nobody holds more than that or one record, however many are asked for.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from logoadmin.domain.model.lists import EVERYTHING, Filter
from logoadmin.domain.model.records import Artwork, Author, Link, PasswordHash, Role, User


@dataclass(frozen=True, slots=True)
class Credentials:
    """What signing in compares with. ``password`` is None for a user who was brought in without one."""

    user_id: int
    password: PasswordHash | None


class Users(Protocol):
    """The users. ``user_id`` and ``username`` are unique and looked at in that order."""

    def get(self, user_id: int) -> User | None:
        """Return a user, or None."""

    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[User, ...]:
        """Return up to ``limit`` users with an id above ``after``, by id, of those that the filter asks for."""

    def add(self, user: User, password: PasswordHash | None) -> None:
        """Keep a new user, whose role must be there.

        Raises:
            DuplicateEntry: the id or the name is taken; nothing was changed, and the unit of work goes on.
        """

    def update(self, user: User) -> None:
        """Give a user who is there new values; sessions and password stay.

        Raises:
            DuplicateUpdate: another user has the name; nothing was changed, and the unit of work goes on.
        """

    def remove(self, user_id: int) -> bool:
        """Remove a user and their sessions; tell whether there was one."""

    def credentials(self, username: str) -> Credentials | None:
        """Return what signing in under a name compares with, or None where nobody has the name."""

    def password(self, user_id: int) -> PasswordHash | None:
        """Return the password hash of a user, None where there is none."""

    def can_sign_in(self, role_id: int) -> bool:
        """Tell whether a user who has the role has a password."""

    def set_password(self, user_id: int, password: PasswordHash) -> None:
        """Give a user who is there another password."""

    def renew_password(self, user_id: int, password: PasswordHash) -> None:
        """Keep the password that a user has under another hash."""


class Roles(Protocol):
    """The roles. ``name`` is unique."""

    def next_id(self) -> int:
        """Return the id for a new role, see :meth:`Authors.next_id`."""

    def get(self, role_id: int) -> Role | None:
        """Return a role, or None."""

    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[Role, ...]:
        """Return up to ``limit`` roles with an id above ``after``, by id, of those that the filter asks for."""

    def add(self, role: Role) -> None:
        """Keep a new role under an id that is free.

        Raises:
            DuplicateEntry: the name is taken; nothing was changed, and the unit of work goes on.
        """

    def update(self, role: Role) -> None:
        """Give a role that is there new values.

        Raises:
            DuplicateUpdate: another role has the name; nothing was changed, and the unit of work goes on.
        """

    def remove(self, role_id: int) -> bool:
        """Remove a role that no user has; tell whether there was one."""

    def in_use(self, role_id: int) -> bool:
        """Tell whether a user has the role."""


class Authors(Protocol):
    """The authors. ``user_id`` and ``username`` are unique and looked at in that order."""

    def next_id(self) -> int:
        """Return the id for a new author: one more than the highest that any author ever had, 1 at first.

        Each call uses an id up, also when the record is then refused. Ids of a unit of work that is undone are free
        again; ids of removed records are not.

        Raises:
            Conflict: there is no id left (contract A2).
        """

    def get(self, author_id: int) -> Author | None:
        """Return an author, or None."""

    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[Author, ...]:
        """Return up to ``limit`` authors with an id above ``after``, by id, of those that the filter asks for."""

    def add(self, author: Author) -> None:
        """Keep a new author under an id that is free.

        Raises:
            DuplicateEntry: the user id or the name is taken; nothing was changed, and the unit of work goes on.
        """

    def update(self, author: Author) -> None:
        """Give an author who is there new values.

        Raises:
            DuplicateUpdate: another author has the user id or the name; nothing was changed, and the unit of work
                goes on.
        """

    def remove(self, author_id: int) -> bool:
        """Remove an author and the links to what they made; tell whether there was one."""


class Artworks(Protocol[Artwork]):
    """The logos, or the themes, with the links to their authors."""

    def next_id(self) -> int:
        """Return the id for a new artwork, see :meth:`Authors.next_id`."""

    def get(self, artwork_id: int) -> Artwork | None:
        """Return an artwork with its authors in link order, or None."""

    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[Artwork, ...]:
        """Return up to ``limit`` artworks with an id above ``after``, by id, of those that the filter asks for."""

    def add(self, artwork: Artwork) -> None:
        """Keep a new artwork under an id that is free; its ``authors`` are not looked at."""

    def update(self, artwork: Artwork) -> None:
        """Give an artwork that is there new values; its ``authors`` are not looked at."""

    def remove(self, artwork_id: int) -> bool:
        """Remove an artwork and its links; tell whether there was one."""

    def link_of(self, artwork_id: int, author_id: int) -> int | None:
        """Return the id of the link between the two, or None."""

    def touch(self, artwork_ids: Collection[int], version: int) -> None:
        """Give artworks that are there another version."""

    def links(self, artwork_id: int) -> tuple[Link, ...]:
        """Return the links of an artwork to its authors, in link order."""

    def links_of(self, author_id: int) -> tuple[Link, ...]:
        """Return the links of an author to all their artworks, in link order."""

    def link(self, artwork_id: int, author_id: int) -> int:
        """Link an author who is there and not linked yet, as the last one; return the id of the new link.

        Link ids are given like record ids, see :meth:`Authors.next_id`.
        """

    def add_links(self, links: Sequence[Link]) -> None:
        """Bring back links that were there, between artworks and authors that are there and not linked."""

    def unlink(self, artwork_id: int, author_id: int) -> bool:
        """Undo a link; tell whether there was one."""

    def unlink_all(self, artwork_id: int) -> None:
        """Undo all links of an artwork."""
