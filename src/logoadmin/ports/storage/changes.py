"""What happened: the history, and the stored responses to commands that may be sent again."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from logoadmin.domain.model.lists import EVERY_CHANGE, ChangeFilter, Order
from logoadmin.domain.model.records import Change, Kind


class Changes(Protocol):
    """The history, to which each change of a record adds an entry (contract G)."""

    def last_id(self) -> int:
        """Return the id of the newest change, 0 before the first."""

    def last_of_kinds(self) -> Mapping[Kind, int]:
        """Return the id of the newest change of each kind of record; a kind without one may be missing."""

    def add(self, changes: Sequence[Change]) -> None:
        """Store changes, whose ids follow the newest one without a gap."""

    def get(self, change_id: int) -> Change | None:
        """Return a change, or None."""

    def last_of(self, kind: Kind, id_: int, besides: str | None = None) -> int:
        """Return the id of the newest change of a record, save those that a request made; 0 where there is none."""

    def kinds_of_request(self, request_id: str) -> Collection[Kind]:
        """Return the kinds of record that a request changed, none where there was no such request."""

    def of_request(self, request_id: str, below: int, limit: int) -> tuple[Change, ...]:
        """Return up to ``limit`` changes of a request with an id below one, the newest first, in such pages, too."""

    def page(
        self, after: int, limit: int, where: ChangeFilter = EVERY_CHANGE, order: Order = "asc"
    ) -> tuple[Change, ...]:
        """Return up to ``limit`` changes with an id above ``after``, by id, of those that the filter asks for.

        In descending order, those with an id below it, the highest first. The pages are like those of records.

        One who reads on after the last id they saw misses nothing: no change appears before one that was seen.
        """


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """What was answered to a command under a key (contract F3), encrypted; good until ``expires_at``."""

    key_hash: str
    encrypted: str
    expires_at: int


class StoredResponses(Protocol):
    """The stored responses to commands that may be sent again."""

    def get(self, key_hash: str) -> StoredResponse | None:
        """Return the response under a key, or None."""

    def add(self, response: StoredResponse) -> None:
        """Store a response under a key that is free."""

    def forget(self, key_hash: str) -> None:
        """Forget the response under a key, if there is one."""

    def forget_expired(self, now: int, most: int) -> None:
        """Forget responses that were good until ``now`` or earlier, up to so many of them."""

    def expire_by(self, latest: int, most: int) -> None:
        """Let up to so many responses that are good until after ``latest`` be good until then."""
