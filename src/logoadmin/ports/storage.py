"""Keeping records.

Two adapters of these ports cannot be told apart by what they answer: the order, the ids, the errors and their texts
are all said here, and ``tests/contracts`` holds every adapter to them.

Names are compared exactly, code point by code point (contract A6). Every method of a repository may raise
StorageUnavailable (contract A20).

There is one write at a time: from the first to the last step of its work nobody else changes anything, and it sees
all that was kept before. So what a write has read stays true until its end, changes are numbered in the order in
which they are kept, and nothing has to be locked by itself.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from logoadmin.domain.access import Rights
from logoadmin.domain.lists import EVERYTHING, Filter
from logoadmin.domain.records import (
    Author,
    Change,
    Kind,
    Link,
    Logo,
    PasswordHash,
    Piece,
    Role,
    ServiceKey,
    Theme,
    User,
)

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


class Pieces(Protocol[Piece]):
    """The logos, or the themes, with the links to their authors."""

    def next_id(self) -> int:
        """Return the id for a new piece, see :meth:`Authors.next_id`."""

    def get(self, piece_id: int) -> Piece | None:
        """Return a piece with its authors in link order, or None."""

    def page(self, after: int, limit: int, where: Filter = EVERYTHING) -> tuple[Piece, ...]:
        """Return up to ``limit`` pieces with an id above ``after``, by id, of those that the filter asks for."""

    def add(self, piece: Piece) -> None:
        """Keep a new piece under an id that is free; its ``authors`` are not looked at."""

    def update(self, piece: Piece) -> None:
        """Give a piece that is there new values; its ``authors`` are not looked at."""

    def remove(self, piece_id: int) -> bool:
        """Remove a piece and its links; tell whether there was one."""

    def link_of(self, piece_id: int, author_id: int) -> int | None:
        """Return the id of the link between the two, or None."""

    def touch(self, piece_ids: Collection[int], version: int) -> None:
        """Give pieces that are there another version."""

    def links(self, piece_id: int) -> tuple[Link, ...]:
        """Return the links of a piece to its authors, in link order."""

    def links_of(self, author_id: int) -> tuple[Link, ...]:
        """Return the links of an author to all their pieces, in link order."""

    def link(self, piece_id: int, author_id: int) -> int:
        """Link an author who is there and not linked yet, as the last one; return the id of the new link.

        Link ids are given like record ids, see :meth:`Authors.next_id`.
        """

    def add_links(self, links: Sequence[Link]) -> None:
        """Bring back links that were there, between pieces and authors that are there and not linked."""

    def unlink(self, piece_id: int, author_id: int) -> bool:
        """Undo a link; tell whether there was one."""

    def unlink_all(self, piece_id: int) -> None:
        """Undo all links of a piece."""


class Sessions(Protocol):
    """The sessions, and the refresh tokens that prolong them. Tokens are kept and looked up hashed."""

    def rights(self, session_id: str, user_id: int) -> Rights | None:
        """Return what a user may do now; None where the user is gone or has no such session (contract B5)."""

    def add(self, session: Session) -> None:
        """Begin a session of a user who is there."""

    def prolong(self, session_id: str, expires_at: int) -> None:
        """Let a session end later."""

    def end(self, session_id: str) -> bool:
        """End a session with all its refresh tokens; tell whether there was one."""

    def end_all(self, user_id: int, keep: str | None = None) -> None:
        """End the sessions of a user, save one."""

    def end_expired(self, user_id: int, now: int) -> None:
        """End the sessions of a user that expired before ``now``."""

    def add_refresh_token(self, token_hash: str, session_id: str) -> None:
        """Keep a new refresh token of a session that is there."""

    def refresh_token(self, token_hash: str) -> tuple[Session, bool] | None:
        """Return the session of a refresh token and whether the token was used, or None."""

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


class ServiceKeys(Protocol):
    """The keys of scripts (contract C5), kept and looked up hashed."""

    def next_id(self) -> int:
        """Return the id for a new key, see :meth:`Authors.next_id`."""

    def add(self, key: ServiceKey, user_id: int, key_hash: str) -> None:
        """Keep a new key of a user who is there; it goes with the user."""

    def of_user(self, user_id: int) -> tuple[ServiceKey, ...]:
        """Return the keys of a user, by id."""

    def find(self, key_hash: str) -> tuple[ServiceKey, Rights] | None:
        """Return a key and what its user may do now, or None."""

    def use(self, key_id: int, now: int) -> None:
        """Note when a key was used."""

    def remove(self, key_id: int, user_id: int) -> bool:
        """End a key of a user; tell whether there was one."""


class Changes(Protocol):
    """The history (contract G)."""

    def last_id(self) -> int:
        """Return the id of the newest change, 0 before the first."""

    def last_of_kinds(self) -> Mapping[Kind, int]:
        """Return the id of the newest change of each kind of record; a kind without one may be missing."""

    def add(self, changes: Sequence[Change]) -> None:
        """Keep changes, whose ids follow the newest one without a gap."""

    def get(self, change_id: int) -> Change | None:
        """Return a change, or None."""

    def last_of(self, kind: Kind, id_: int) -> int:
        """Return the id of the newest change of a record, 0 where there is none."""

    def page(self, after: int, limit: int) -> tuple[Change, ...]:
        """Return up to ``limit`` changes with an id above ``after``, by id.

        One who reads on after the last id they saw misses nothing: no change appears before one that was seen.
        """


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    """What was answered to a command under a key (contract F3), sealed; good until ``expires_at``."""

    key_hash: str
    sealed: str
    expires_at: int


class FirstAnswers(Protocol):
    """The answers to commands that may be sent again."""

    def get(self, key_hash: str) -> FirstAnswer | None:
        """Return an answer, or None."""

    def add(self, answer: FirstAnswer) -> None:
        """Keep an answer under a key that is free."""

    def forget_expired(self, now: int, most: int) -> None:
        """Forget answers that were good until ``now`` or earlier, up to so many of them."""


class SignInAttempts(Protocol):
    """How often sign-ins were tried lately (contract C1). Whatever is counted has a name of at most 64 characters."""

    def count(self, counted: str) -> tuple[int, int]:
        """Return how many attempts there are and when their window ends; 0 and 0 where there is none."""

    def set(self, counted: str, attempts: int, ends_at: int) -> None:
        """Say how many there are and when their window ends."""

    def forget(self, counted: str) -> None:
        """Forget the attempts, if there are any."""

    def forget_ended(self, now: int, most: int) -> None:
        """Forget some whose window ended at ``now`` or earlier, up to so many of them."""


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

    @property
    def keys(self) -> ServiceKeys:
        """The service keys."""

    @property
    def changes(self) -> Changes:
        """The history."""

    @property
    def first_answers(self) -> FirstAnswers:
        """The answers to commands that may be sent again."""

    @property
    def sign_in_attempts(self) -> SignInAttempts:
        """The attempts to sign in."""


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
