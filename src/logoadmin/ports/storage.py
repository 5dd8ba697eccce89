"""Keeping records.

Two adapters of these ports cannot be told apart by what they answer: the order, the ids, the errors and their texts
are all said here, and ``tests/contracts`` holds every adapter to them.

Names are compared exactly, code point by code point (contract A6). Every method of a repository may raise
StorageUnavailable (contract A20).
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol, TypeVar

from logoadmin.domain.access import Rights
from logoadmin.domain.records import Author, Logo, PasswordHash, Piece, Role, Theme, User

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Credentials:
    """What signing in compares with. ``password`` is None for a user who was brought in without one."""

    user_id: int
    password: PasswordHash | None


@dataclass(frozen=True, slots=True)
class Session:
    """What began with a sign-in and ends by itself at ``expires_at`` (Unix time)."""

    session_id: str
    user_id: int
    created_at: int
    expires_at: int


class Users(Protocol):
    """The users. ``user_id`` and ``username`` are unique and looked at in that order."""

    def get(self, user_id: int) -> User | None:
        """Return a user, or None. In a write, nobody else changes the user before it ends."""

    def page(self, after: int, limit: int) -> tuple[User, ...]:
        """Return up to ``limit`` users with an id above ``after``, by id."""

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
        """Return what signing in under a name compares with, or None where nobody has the name.

        In a write, nobody else changes the user before it ends.
        """

    def password(self, user_id: int) -> PasswordHash | None:
        """Return the password hash of a user, None where there is none."""

    def set_password(self, user_id: int, password: PasswordHash) -> None:
        """Give a user who is there another password."""


class Roles(Protocol):
    """The roles. ``name`` is unique."""

    def next_id(self) -> int:
        """Return the id for a new role, see :meth:`Authors.next_id`."""

    def get(self, role_id: int) -> Role | None:
        """Return a role, or None. In a write, nobody else changes or removes the role before it ends."""

    def page(self, after: int, limit: int) -> tuple[Role, ...]:
        """Return up to ``limit`` roles with an id above ``after``, by id."""

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
        """Return an author, or None. In a write, nobody else changes or removes the author before it ends."""

    def page(self, after: int, limit: int) -> tuple[Author, ...]:
        """Return up to ``limit`` authors with an id above ``after``, by id."""

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


class Pieces(Protocol[Piece]):
    """The logos, or the themes, with the links to their authors."""

    def next_id(self) -> int:
        """Return the id for a new piece, see :meth:`Authors.next_id`."""

    def get(self, piece_id: int) -> Piece | None:
        """Return a piece with its authors in link order, or None.

        In a write, nobody else changes or removes the piece before it ends.
        """

    def page(self, after: int, limit: int, author_id: int | None = None) -> tuple[Piece, ...]:
        """Return up to ``limit`` pieces with an id above ``after``, by id; where an author is named, only theirs."""

    def add(self, piece: Piece) -> None:
        """Keep a new piece under an id that is free; its ``authors`` are not looked at, see :meth:`set_authors`."""

    def update(self, piece: Piece) -> None:
        """Give a piece that is there new values; its ``authors`` are not looked at, see :meth:`set_authors`."""

    def remove(self, piece_id: int) -> bool:
        """Remove a piece and its links; tell whether there was one."""

    def link_of(self, piece_id: int, author_id: int) -> int | None:
        """Return the id of the link between the two, or None."""

    def link(self, piece_id: int, author_id: int) -> int:
        """Link an author who is there and not linked yet, as the last one; return the id of the new link.

        Link ids are given like record ids, see :meth:`Authors.next_id`.
        """

    def unlink(self, piece_id: int, author_id: int) -> bool:
        """Undo a link; tell whether there was one."""

    def set_authors(self, piece_id: int, author_ids: Collection[int]) -> None:
        """Make these, distinct and all there, the authors of a piece in this order, with new links."""


class Sessions(Protocol):
    """The sessions, and the refresh tokens that prolong them. Tokens are kept and looked up hashed."""

    def rights(self, session_id: str, user_id: int) -> Rights | None:
        """Return what a user may do now; None where the user is gone or has no such session (contract B5).

        In a write, none of it changes before that ends.
        """

    def add(self, session: Session) -> None:
        """Begin a session of a user who is there."""

    def prolong(self, session_id: str, expires_at: int) -> None:
        """Let a session end later."""

    def end(self, session_id: str) -> None:
        """End a session with all its refresh tokens, if there is such a session."""

    def end_all(self, user_id: int, keep: str | None = None) -> None:
        """End the sessions of a user, save one."""

    def end_expired(self, user_id: int, now: int) -> None:
        """End the sessions of a user that expired before ``now``."""

    def add_refresh_token(self, token_hash: str, session_id: str) -> None:
        """Keep a new refresh token of a session that is there."""

    def refresh_token(self, token_hash: str) -> tuple[Session, bool] | None:
        """Return the session of a refresh token and whether the token was used, or None.

        In a write, nobody else uses the token before it ends.
        """

    def use_refresh_token(self, token_hash: str) -> None:
        """Mark a refresh token as used."""


class Secrets(Protocol):
    """What the service itself must remember and tell nobody."""

    def get(self, name: str) -> str | None:
        """Return a secret, or None. In :meth:`Storage.write`, others must not change it before the end."""

    def put(self, name: str, value: str) -> None:
        """Keep a secret that is not there yet."""

    def replace(self, name: str, value: str) -> None:
        """Keep a secret in place of the one of that name, if there is one."""


class UnitOfWork(Protocol):
    """Every repository, at work in the same transaction."""

    @property
    def users(self) -> Users:
        """The users."""

    @property
    def roles(self) -> Roles:
        """The roles."""

    @property
    def authors(self) -> Authors:
        """The authors."""

    @property
    def logos(self) -> Pieces[Logo]:
        """The logos."""

    @property
    def themes(self) -> Pieces[Theme]:
        """The themes."""

    @property
    def sessions(self) -> Sessions:
        """The sessions."""

    @property
    def secrets(self) -> Secrets:
        """The secrets."""


class Storage(Protocol):
    """Runs work in transactions. Safe to use from several threads; one unit of work stays in one thread.

    The work is a function, so that a storage can run it again from its start where its database gave up on a
    transaction that certainly left nothing behind (a deadlock, a connection that was lost before the commit).
    """

    @property
    def server(self) -> str:
        """Where the records are, for messages: host:port or a file's name, never a user, a password or a URL."""

    @property
    def waits(self) -> bool:
        """Whether calls may wait for something outside the process, so that an event loop must not make them."""

    @property
    def at_once(self) -> int:
        """How many reads are best made at the same time; more of them, and each takes so much longer."""

    def read(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Return the answer of work that only reads and whose statements may each see another moment."""

    def snapshot(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Return the answer of work that only reads and whose statements must all see the same moment."""

    def write(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        """Return the answer of work that changes records, once the changes are kept for good.

        If the work raises, all its changes are undone and the error passes on.

        Raises:
            StorageUnavailable: the database is out of reach, within 2 s; the changes may have been kept or not.
        """

    def close(self) -> None:
        """Let go of connections and files. The storage is not used afterwards."""
