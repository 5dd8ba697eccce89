"""Proposals (contract R1), unsent notices (contract R6), and notices for members (contract R7)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Literal, Protocol

from logoadmin.domain.kernel.lists import Order
from logoadmin.domain.kernel.records import Kind


class ProposalState(StrEnum):
    """The states of a proposal."""

    WAITING = "waiting"
    APPLIED = "applied"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedProposal:
    """A proposal without its long texts.

    Attributes:
        proposal_id: rises in the order in which proposals were made.
        version: rises with every write of any proposal.
        user_id: the submitter; None for the program itself.
        user_since: the change that created this user; a later user with the id is another person.
        kinds: the kinds of record in it, a bit each.
        summary: the summary of the changes for lists, as JSON.
        size: the size of the changes and the note, in bytes.
        reason: why it was declined.
        waiting_since: when it last began to wait, as Unix time.
        decided_at: when it was applied, declined or withdrawn, by ``decided_by``; None while it waits.
        request_id: the id of the request that applied it.
        first_change: the first change that applying it made; None without any.
        last_change: the last change that applying it made; all changes between the two are its own.
        unapplied_since: when it was decided, if it still has texts that were not applied.
        undone_change: if it waits because all its changes were undone, the last change that undid one.
    """

    proposal_id: int
    version: int
    state: ProposalState
    user_id: int | None
    user_since: int
    title: str
    created_at: int
    waiting_since: int
    kinds: int = 0
    summary: Mapping[str, Any] = field(default_factory=dict)
    size: int = 0
    reason: str | None = None
    decided_at: int | None = None
    decided_by: int | None = None
    request_id: str | None = None
    first_change: int | None = None
    last_change: int | None = None
    unapplied_since: int | None = None
    undone_change: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProposal(ListedProposal):
    """A proposal, with the message of the submitter, and its changes as JSON."""

    note: str = ""
    changes: Sequence[Mapping[str, Any]] = ()

    def listed(self) -> ListedProposal:
        """Return it without its long texts."""
        return ListedProposal(**{field.name: getattr(self, field.name) for field in fields(ListedProposal)})


@dataclass(frozen=True, slots=True)
class Viewer:
    """A user who does not see every proposal.

    Attributes:
        user_id: the user, who sees their own proposals; -1, which no user has, if they own none.
        since: the change that created the user; proposals of an earlier user with this id were another person's.
        hidden_kinds: the kinds of record that the user may not change, a bit each; they hide others' proposals.
    """

    user_id: int
    since: int
    hidden_kinds: int

    def sees(self, proposal: ListedProposal) -> bool:
        """Return whether the user sees a proposal."""
        return self.owns(proposal) or not proposal.kinds & self.hidden_kinds

    def owns(self, proposal: ListedProposal) -> bool:
        """Return whether the user is the submitter."""
        return (proposal.user_id, proposal.user_since) == (self.user_id, self.since)


class Proposals(Protocol):
    """The proposals."""

    def next_id(self) -> int:
        """Return the id for a new proposal."""

    def next_version(self) -> int:
        """Return the version for a proposal that is about to be stored."""

    def last_version(self, user_id: int | None = None) -> int:
        """Return the newest version of any proposal, or of those of a user; 0 without any."""

    def get(self, proposal_id: int) -> StoredProposal | None:
        """Return a proposal, or None."""

    def made_change(self, change_id: int) -> StoredProposal | None:
        """Return the proposal whose last application made a change, or None."""

    def add(self, proposal: StoredProposal) -> None:
        """Store a new proposal."""

    def update(self, proposal: StoredProposal) -> None:
        """Store an existing proposal."""

    def page(
        self,
        after: int,
        limit: int,
        state: ProposalState | None = None,
        user_id: int | None = None,
        viewer: Viewer | None = None,
        order: Order = "asc",
    ) -> tuple[ListedProposal, ...]:
        """Return up to ``limit`` proposals that follow an id in this order, by id, in a state, or of a submitter.

        Long texts may end the page earlier, see TruncatedPage. A ``viewer`` gets only proposals that they see.
        """

    def waiting_of(self, user_id: int, since: int) -> tuple[int, int]:
        """Return the number and bytes of the waiting proposals of the user whom the change ``since`` created."""

    def successful(self, user_ids: Collection[int]) -> frozenset[tuple[int, int]]:
        """Return which of these users have an applied proposal, each with the change that created the user."""

    def unapplied(self, until: int, limit: int) -> tuple[StoredProposal, ...]:
        """Return up to ``limit`` proposals with texts that were not applied, decided at a Unix time or earlier."""

    def waiting(self) -> tuple[int, int | None]:
        """Return the number of waiting proposals, and since when the first has waited; None without any."""


NoticeEvent = Literal["proposal.waiting", "proposal.applied", "proposal.declined", "artwork.blocked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredNotice:
    """A notice for one receiver.

    Attributes:
        notice_id: rises in the order in which notices were made.
        receiver: the hash of the receiver's URL, which is a secret.
        kind: ``proposal``, or the kind of artwork.
        text: what happened, for people.
        due_at: when to send it, as Unix time; after an attempt, when to retry unless that succeeded.
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
        """Record an attempt to send a notice, and when to retry unless it is removed before."""

    def remove(self, notice_id: int) -> None:
        """Remove a notice."""


@dataclass(frozen=True, slots=True)
class BlockedWork:
    """A blocked artwork of a user, with its current name. ``at`` is Unix time."""

    kind: Kind
    id: int
    name: str
    at: int
    reason: str


@dataclass(frozen=True, slots=True)
class SeenNotices:
    """The newest notices that a user has seen; all older ones count as seen.

    Attributes:
        at: the time of the newest one, as Unix time.
        of_that_second: the seen notices of that time, each as a word without spaces, since more may follow.
    """

    at: int
    of_that_second: frozenset[str]


class MemberNotices(Protocol):
    """The sources of notices for members. The newest come first; within a second, higher ids first."""

    def decided(self, user_id: int, since: int, limit: int) -> tuple[ListedProposal, ...]:
        """Return proposals of the user whom the change ``since`` created.

        They are up to ``limit`` applied or declined ones, and up to ``limit`` that wait because all their changes were
        undone.
        """

    def blocked(self, user_id: int, limit: int) -> tuple[BlockedWork, ...]:
        """Return up to ``limit`` blocked artworks that exist and have the author with this ``user_id``.

        Within a second, themes come before logos.
        """

    def seen(self, user_id: int) -> SeenNotices | None:
        """Return the notices that a user has seen, or None."""

    def set_seen(self, user_id: int, seen: SeenNotices) -> None:
        """Store the notices that an existing user has seen; they are removed with the user."""
