"""Notices that are still to be sent (contract R6)."""

from dataclasses import dataclass
from typing import Literal, Protocol

NoticeEvent = Literal["proposal.waiting", "proposal.applied", "proposal.declined", "artwork.blocked"]


@dataclass(frozen=True, slots=True)
class StoredNotice:
    """A notice for one receiver.

    Attributes:
        notice_id: rises in the order in which notices were made.
        receiver: the hash of the receiver's URL, which is a secret.
        event: what happened.
        kind: ``proposal``, or the kind of artwork.
        id: the id of that.
        text: what happened, for people.
        due_at: when it is to be sent, as Unix time; after an attempt, when it is sent again unless that succeeded.
        attempts: how often it was sent.
    """

    notice_id: int
    receiver: str
    event: NoticeEvent
    kind: str
    id: int
    text: str
    due_at: int
    attempts: int


class Notices(Protocol):
    """The notices."""

    def next_id(self) -> int:
        """Return the id for a new notice."""

    def add(self, notice: StoredNotice) -> None:
        """Store a new notice."""

    def due(self, now: int) -> StoredNotice | None:
        """Return the notice that has been due for longest, or None."""

    def attempt(self, notice_id: int, due_at: int, attempts: int) -> None:
        """Store that a notice is being sent, and when to send it again unless it is removed before."""

    def remove(self, notice_id: int) -> None:
        """Remove a notice."""
