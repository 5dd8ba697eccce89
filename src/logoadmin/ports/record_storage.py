"""Records of every kind, and the secrets of the service.

A page has up to ``limit`` records. If their texts exceed :data:`~logoadmin.domain.kernel.lists.MAX_PAGE_TEXT`
characters together, it has fewer, but at least one, and is a
:class:`~logoadmin.domain.kernel.lists.TruncatedPage`. This bounds the memory of a page.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from logoadmin.domain.kernel.lists import EVERYTHING, Filter, Order, SortKey
from logoadmin.domain.kernel.records import StoredRecord

Record = TypeVar("Record", bound=StoredRecord)


class Records(Protocol[Record]):
    """The records of one kind, by its row in :mod:`~logoadmin.domain.kernel.kinds`.

    Unique fields are checked in the order of the row. Artworks are returned with their authors in link order; when they
    are stored, their ``authors`` are ignored.
    """

    def next_id(self) -> int:
        """Return the id for a new record, if the service assigns the ids of the kind.

        It is one more than the highest that any record of the kind ever had, 1 at first; an id above 2,000,000,000 only
        counts if it was returned here. Each call uses up an id, even if the record is then refused. Ids of an undone
        unit of work can be reused; ids of removed records cannot.

        Raises:
            Conflict: there are no more ids (contract A2).
        """

    def get(self, id_: int, /) -> Record | None:
        """Return a record, or None."""

    def find(self, field: str, value: Any, /) -> Record | None:
        """Return the record with this value of a unique field, or None."""

    def get_many(self, ids: Sequence[int]) -> tuple[Record, ...]:
        """Return the existing ones of up to 50 records, by id; a truncated page if their texts are too long."""

    def page(self, after: int, limit: int, where: Filter = EVERYTHING, order: Order = "asc") -> tuple[Record, ...]:
        """Return up to ``limit`` records with an id above ``after``, by id, that match the filter.

        In descending order, those with an id below it, the highest first; ``after`` may be one above any possible id.
        """

    def sorted_page(
        self, sort: SortKey, after: Record | None, limit: int, where: Filter = EVERYTHING, order: Order = "asc"
    ) -> tuple[Record, ...]:
        """Return up to ``limit`` records that match the filter, by their names or versions, then by id.

        Names are compared in the form of :func:`~logoadmin.domain.kernel.lists.search_form`, code point by code point;
        the versions are those of the records themselves, not of the authors in them. In descending order, ids descend
        as well. The records follow ``after`` in this order, even if it was removed; None for the first page.
        """

    def add(self, record: Record, /) -> None:
        """Store a new record; a user, whose role must exist, without a password.

        Raises:
            DuplicateEntry: a unique value is taken; nothing was changed, and the unit of work stays usable.
        """

    def update(self, record: Record, /) -> None:
        """Update an existing record; its links, and a user's sessions and password, stay.

        Raises:
            DuplicateUpdate: another record has a unique value; nothing was changed, and the unit of work stays usable.
        """

    def remove(self, id_: int, /) -> bool:
        """Remove a record with its links, sessions, keys and password; return whether it existed.

        No user may have the role.
        """

    def touch(self, ids: Collection[int], version: int) -> None:
        """Give existing records a new version."""


class Secrets(Protocol):
    """The secrets of the service."""

    def get(self, name: str) -> str | None:
        """Return a secret, or None. In :meth:`Storage.write`, no other write may change it before the end."""

    def several(self, names: Sequence[str]) -> Mapping[str, str]:
        """Return the existing ones of these secrets, by name."""

    def put(self, name: str, value: str) -> None:
        """Store a secret, replacing the current one of that name."""
