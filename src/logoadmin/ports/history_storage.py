"""The history: changes, the acts of requests that made them (contract G5), and responses to repeated commands."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from logoadmin.domain.kernel.lists import EVERY_CHANGE, ChangeFilter, Order
from logoadmin.domain.kernel.records import Change, Kind


class ReadsChanges(Protocol):
    """The history of changes, for reading (contract G)."""

    def last_id(self) -> int:
        """Return the id of the newest change, 0 before the first."""

    def last_of_kinds(self) -> Mapping[Kind, int]:
        """Return the id of the newest change of each kind of record; a kind without one may be missing."""

    def get(self, change_id: int) -> Change | None:
        """Return a change, or None."""

    def times(self, change_ids: Sequence[int]) -> Mapping[int, int]:
        """Return the times of changes, in Unix time, by id; unknown ids are omitted."""

    def last_of(self, kind: Kind, id_: int, besides: str | None = None) -> int:
        """Return the id of the newest change of a record, ignoring the request ``besides``; 0 without any."""

    def creations(self, kind: Kind, ids: Collection[int]) -> Mapping[int, int]:
        """Return the changes that created records, by record id; records without one are omitted.

        A restored record counts as the removed one, even if another record had its id in between.
        """

    def of_request(self, request_id: str, below: int, limit: int) -> tuple[Change, ...]:
        """Return up to ``limit`` changes of a request with an id below another, the newest first."""

    def undoer_of(self, change_id: int) -> tuple[int, str | None] | None:
        """Return the id of the newest change that undid another one, and its request; None if none did."""

    def page(
        self, after: int, limit: int, where: ChangeFilter = EVERY_CHANGE, order: Order = "asc"
    ) -> tuple[Change, ...]:
        """Return up to ``limit`` changes with an id above ``after``, by id, that match the filter.

        In descending order, those with an id below it, the highest first. Pages are limited like those of records.

        A client that continues after the last id that it saw misses nothing: no change is added before it later.
        """


def created_by(births: Iterable[tuple[int, bool, int | None]]) -> int:
    """Return the change that created the latest of the records with an id.

    The changes that created or restored a record with the id come in order, at least one: each with its id, whether it
    restored the record, and the removal that it undid.
    """
    creations: list[tuple[int, int]] = []
    for change_id, is_restored, removal in births:
        earlier = [creation for at, creation in creations if at < (removal or change_id)] if is_restored else []
        creations.append((change_id, earlier[-1] if earlier else change_id))
    return creations[-1][1]


def creation_of(changes: ReadsChanges, user_id: int) -> int:
    """Return the change that created a user, which distinguishes them from earlier users with the id; 0 without any."""
    return changes.creations(Kind.USER, [user_id]).get(user_id, 0)


class Changes(ReadsChanges, Protocol):
    """The history, to which each change of a record adds an entry."""

    def add(self, changes: Sequence[Change], act_id: int | None = None) -> None:
        """Store changes of an act, whose ids follow the newest one without a gap."""


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """The response to a command under a key (contract F3), as JSON; valid until ``expires_at``."""

    key_hash: str
    response: str
    expires_at: int


class StoredResponses(Protocol):
    """The stored responses to commands that may be repeated."""

    def get(self, key_hash: str) -> StoredResponse | None:
        """Return the response under a key, or None."""

    def add(self, response: StoredResponse) -> None:
        """Store a response under an unused key."""

    def forget(self, key_hash: str) -> None:
        """Delete the response under a key, if any."""

    def forget_expired(self, now: int, most: int) -> int:
        """Delete up to ``most`` responses that expired at ``now`` or earlier; return how many."""

    def expire_by(self, latest: int, most: int) -> int:
        """Make up to ``most`` responses that expire after ``latest`` expire then; return how many."""


@dataclass(frozen=True, slots=True)
class StoredAct:
    """The act of one request: a summary of its changes.

    Attributes:
        act_id: the id of its first change.
        last_id: the id of its last change.
        request_id: the id of the request; None for a write of a program without one.
        undoes: the act that it undid; None without one.
        undone_by: the request that undid it, unless that was undone itself.
        summary: see :class:`~logoadmin.domain.kernel.act_log.ActSummary`.
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
        """Return the act of a request; None for an unknown request."""

    def of_change(self, change_id: int) -> StoredAct | None:
        """Return the act of a change; None for an unknown change."""

    def add(self, act: StoredAct) -> None:
        """Store a new act."""

    def update(self, act: StoredAct) -> None:
        """Replace an act."""

    def page(self, after: int, limit: int, where: ChangeFilter, order: Order) -> tuple[StoredAct, ...]:
        """Return acts with an id above ``after``, by id, if any of their changes matches the filter.

        In descending order, those with an id below it. The page is truncated if many changes of few acts match.
        """

    def obstacles(self, acts: Sequence[StoredAct]) -> Mapping[int, Obstacle]:
        """Return the first obstacle to undoing each of up to 50 acts, by act id; acts without one are omitted.

        Up to 1,000 changes of an act are checked, and the authors and roles in ``created``.
        """
