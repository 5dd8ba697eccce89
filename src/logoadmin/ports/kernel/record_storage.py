"""Records of every kind, the links between artworks and authors, and the passwords of users.

A page has up to ``limit`` records. If their texts exceed :data:`~logoadmin.domain.kernel.lists.MAX_PAGE_TEXT` characters
together, it has fewer, but at least one, and is a :class:`~logoadmin.domain.kernel.lists.TruncatedPage`. This bounds the
memory of a page.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from logoadmin.domain.identity.sign_in_rules import Ways
from logoadmin.domain.kernel.lists import EVERYTHING, Filter, Order, SortKey
from logoadmin.domain.kernel.records import Link, PasswordHash, StoredRecord

Record = TypeVar("Record", bound=StoredRecord)


class Records(Protocol[Record]):
    """The records of one kind, by its row in :mod:`~logoadmin.domain.kernel.kinds`.

    Unique fields are checked in the order of the row. Artworks are returned with their authors in link order; when they
    are stored, their ``authors`` are ignored.
    """

    def next_id(self) -> int:
        """Return the id for a new record, if the service assigns the ids of the kind.

        It is one more than the highest that any record of the kind ever had, 1 at first. Each call uses up an id, even
        if the record is then refused. Ids of a unit of work that is undone can be used again; ids of removed records
        cannot.

        Raises:
            Conflict: there are no more ids (contract A2).
        """

    def get(self, id_: int, /) -> Record | None:
        """Return a record, or None."""

    def get_many(self, ids: Sequence[int]) -> tuple[Record, ...]:
        """Return those of up to 50 records that exist, by id; a truncated page where their texts are too long."""

    def page(self, after: int, limit: int, where: Filter = EVERYTHING, order: Order = "asc") -> tuple[Record, ...]:
        """Return up to ``limit`` records with an id above ``after``, by id, that match the filter.

        In descending order, those with an id below it, the highest first; it may be one more than any id can be.
        """

    def sorted_page(
        self, sort: SortKey, after: Record | None, limit: int, where: Filter = EVERYTHING, order: Order = "asc"
    ) -> tuple[Record, ...]:
        """Return up to ``limit`` records that match the filter, by their names or versions, then by id.

        Names are compared after ``str.casefold``, code point by code point; the versions are those of the records
        themselves, not of the authors in them. In descending order, ids descend as well.

        Args:
            sort: whether names or versions are compared.
            after: the record that they follow in this order, which need not be stored any more; None for the first.
            limit: the most records.
            where: the filter.
            order: the order.
        """

    def add(self, record: Record, /) -> None:
        """Store a new record; a user, whose role must exist, without a password.

        Raises:
            DuplicateEntry: a unique value is taken; nothing was changed, and the unit of work goes on.
        """

    def update(self, record: Record, /) -> None:
        """Give an existing record new values; its links, and a user's sessions and password, stay.

        Raises:
            DuplicateUpdate: another record has a unique value; nothing was changed, and the unit of work goes on.
        """

    def remove(self, id_: int, /) -> bool:
        """Remove a record with its links, sessions, keys and password; return whether it existed.

        No user may have the role.
        """

    def touch(self, ids: Collection[int], version: int) -> None:
        """Give existing records a new version."""


class Links(Protocol):
    """The links of the artworks of one kind to their authors; link order is the order of their ids."""

    def next_id(self) -> int:
        """Return the id for a new link, see :meth:`Records.next_id`."""

    def find(self, artwork_id: int, author_id: int) -> Link | None:
        """Return the link between the two, or None."""

    def of_artwork(self, artwork_id: int) -> tuple[Link, ...]:
        """Return the links of an artwork, in link order."""

    def of_artworks(self, artwork_ids: Sequence[int]) -> tuple[Link, ...]:
        """Return the links of up to 50 artworks, in link order."""

    def of_author(self, author_id: int) -> tuple[Link, ...]:
        """Return the links of an author, in link order."""

    def add(self, links: Sequence[Link]) -> None:
        """Store new or restored links between existing records that are not linked."""

    def remove(self, artwork_id: int, author_id: int) -> bool:
        """Remove a link; return whether it existed."""

    def remove_all(self, artwork_id: int) -> None:
        """Remove all links of an artwork, if there are any."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """The stored credentials of a user. ``password`` is None for a user who was imported without one."""

    user_id: int
    password: PasswordHash | None


class Passwords(Protocol):
    """The password hashes of users, and who can sign in."""

    def get(self, user_id: int) -> PasswordHash | None:
        """Return the hash of a user, or None."""

    def set(self, user_id: int, password: PasswordHash) -> None:
        """Set the hash of an existing user."""

    def credentials(self, username: str) -> Credentials | None:
        """Return the credentials of the user with a name, or None."""

    def classes(self) -> frozenset[str]:
        """Return the parameters of all stored hashes of Argon2: each up to its lanes, without salt and digest.

        It reads all users, so callers keep the result for a while.
        """

    def can_sign_in(self, role_id: int, ways: Ways) -> bool:
        """Return whether a user with the role can sign in: with a password, a confirmed passkey or at the issuer.

        Users that an issuer refused cannot. Where passkeys cannot be used, a password does not suffice for users whose
        only second factors are passkeys.
        """

    def can_user_sign_in(self, user_id: int, ways: Ways) -> bool:
        """Return whether this user can sign in, in the same ways."""
