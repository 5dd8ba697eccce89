"""What happened: the history, and the first answers to commands that may be sent again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from logoadmin.domain.model.records import Change, Kind


class Changes(Protocol):
    """The history (contract G)."""

    def last_id(self) -> int:
        """Return the id of the newest change, 0 before the first."""

    def last_of_kinds(self) -> Mapping[Kind, int]:
        """Return the id of the newest change of each kind of record; a kind without one may be missing."""

    def add(self, changes: Sequence[Change]) -> None:
        """Store changes, whose ids follow the newest one without a gap."""

    def get(self, change_id: int) -> Change | None:
        """Return a change, or None."""

    def last_of(self, kind: Kind, id_: int) -> int:
        """Return the id of the newest change of a record, 0 where there is none."""

    def page(self, after: int, limit: int) -> tuple[Change, ...]:
        """Return up to ``limit`` changes with an id above ``after``, by id, in pages like those of records.

        One who reads on after the last id they saw misses nothing: no change appears before one that was seen.
        """


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """What was answered to a command under a key (contract F3), encrypted; good until ``expires_at``."""

    key_hash: str
    encrypted: str
    expires_at: int


class StoredResponses(Protocol):
    """The answers to commands that may be sent again."""

    def get(self, key_hash: str) -> StoredResponse | None:
        """Return an answer, or None."""

    def add(self, answer: StoredResponse) -> None:
        """Store an answer under a key that is free."""

    def forget_expired(self, now: int, most: int) -> None:
        """Forget answers that were good until ``now`` or earlier, up to so many of them."""

    def expire_by(self, latest: int, most: int) -> None:
        """Let up to so many answers that are good until after ``latest`` be good until then."""
