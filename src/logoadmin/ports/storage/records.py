"""Records of every kind, the links between artworks and authors, and the passwords of users.

A page has up to as many records as are asked for. It has fewer, and is a
:class:`~logoadmin.domain.model.lists.TruncatedPage`, where their texts would have more than
:data:`~logoadmin.domain.model.lists.MAX_PAGE_TEXT` characters together; but if there are any, it has one.
So nobody holds more than that or one record, however many are asked for.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from logoadmin.domain.model.lists import EVERYTHING, Filter, Order
from logoadmin.domain.model.records import Link, PasswordHash, StoredRecord

Record = TypeVar("Record", bound=StoredRecord)


class Records(Protocol[Record]):
    """The records of one kind, as its row in :mod:`~logoadmin.domain.model.kinds` says.

    The fields that the row calls unique are looked at in its order. Artworks are answered with their authors in link
    order, and are stored without looking at their ``authors``.
    """

    def next_id(self) -> int:
        """Return the id for a new record, where the row says that the service gives ids.

        It is one more than the highest that any record of the kind ever had, 1 at first. Each call uses an id up, also
        when the record is then refused. Ids of a unit of work that is undone are free again; ids of removed records
        are not.

        Raises:
            Conflict: there is no id left (contract A2).
        """

    def get(self, id_: int, /) -> Record | None:
        """Return a record, or None."""

    def get_many(self, ids: Sequence[int]) -> tuple[Record, ...]:
        """Return those of up to 50 records that exist, by id; a truncated page where their texts are too long."""

    def page(self, after: int, limit: int, where: Filter = EVERYTHING, order: Order = "asc") -> tuple[Record, ...]:
        """Return up to ``limit`` records with an id above ``after``, by id, of those that the filter asks for.

        In descending order, those with an id below it, the highest first; it may be one more than any id can be.
        """

    def add(self, record: Record, /) -> None:
        """Store a new record; a user, whose role must be there, without a password.

        Raises:
            DuplicateEntry: a unique value is taken; nothing was changed, and the unit of work goes on.
        """

    def update(self, record: Record, /) -> None:
        """Give a record that is there new values; what it is linked to, a user's sessions and password stay.

        Raises:
            DuplicateUpdate: another record has a unique value; nothing was changed, and the unit of work goes on.
        """

    def remove(self, id_: int, /) -> bool:
        """Remove a record with its links, sessions, keys and password; tell whether there was one.

        A role must be nobody's any more.
        """

    def touch(self, ids: Collection[int], version: int) -> None:
        """Give records that are there another version."""


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
        """Store links, new ones or some that come back, between what is there and not linked to each other."""

    def remove(self, artwork_id: int, author_id: int) -> bool:
        """Remove a link; tell whether there was one."""

    def remove_all(self, artwork_id: int) -> None:
        """Remove all links of an artwork, if there are any."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What signing in compares with. ``password`` is None for a user who was brought in without one."""

    user_id: int
    password: PasswordHash | None


class Passwords(Protocol):
    """The password hashes of users."""

    def get(self, user_id: int) -> PasswordHash | None:
        """Return the hash of a user, None where there is none."""

    def set(self, user_id: int, password: PasswordHash) -> None:
        """Give a user who is there another hash."""

    def credentials(self, username: str) -> Credentials | None:
        """Return what signing in under a name compares with, or None where nobody has the name."""

    def can_sign_in(self, role_id: int) -> bool:
        """Tell whether a user who has the role has a password."""
