"""The acts of the history: what each request did, stored by the write that did it (contract G5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from logoadmin.domain.kernel.lists import ChangeFilter, Order
from logoadmin.domain.kernel.records import Kind


@dataclass(frozen=True, slots=True)
class StoredAct:
    """What one request did.

    Attributes:
        act_id: the id of its first change.
        last_id: the id of its last change.
        request_id: its id; None for a write of a program without one.
        undoes: the act that it undid; None if it undid none.
        undone_by: the request that undid it, unless that was undone.
        summary: what it did, see :class:`~logoadmin.domain.kernel.act_log.ActSummary`.
    """

    act_id: int
    last_id: int
    request_id: str | None
    undoes: int | None
    undone_by: str | None
    summary: Mapping[str, Any]

    @property
    def is_whole(self) -> bool:
        """Whether no change of another request lies between its changes."""
        count: int = self.summary["count"]
        return self.last_id - self.act_id + 1 == count


class Obstacle(NamedTuple):
    """Why an act cannot be undone: a record that was changed since, or that a later record refers to.

    Attributes:
        kind: the kind of the record.
        id: its id.
        change_id: the change that changed it since; None if another record refers to it.
        by: the kind and the id of the record that refers to it; None if it was changed.
    """

    kind: Kind
    id: int
    change_id: int | None = None
    by: tuple[Kind, int] | None = None


class Acts(Protocol):
    """The acts, one for each request that changed a record, by the id of their first change."""

    def get(self, act_id: int) -> StoredAct | None:
        """Return an act, or None."""

    def of_request(self, request_id: str) -> StoredAct | None:
        """Return what a request did; None for an unknown request."""

    def of_change(self, change_id: int) -> StoredAct | None:
        """Return the act of a change; None for an unknown change."""

    def add(self, act: StoredAct) -> None:
        """Store a new act."""

    def update(self, act: StoredAct) -> None:
        """Replace an act."""

    def page(self, after: int, limit: int, where: ChangeFilter, order: Order) -> tuple[StoredAct, ...]:
        """Return acts with an id above ``after``, by id, of which a change matches the filter.

        In descending order, those with an id below it. The page is truncated if many changes of few acts match.
        """

    def obstacles(self, acts: Sequence[StoredAct]) -> Mapping[int, Obstacle]:
        """Return the first obstacle to undoing each of up to 50 acts, by their ids; acts without one are left out.

        Up to 1,000 changes of an act are looked at, and the authors and roles in ``created``.
        """
