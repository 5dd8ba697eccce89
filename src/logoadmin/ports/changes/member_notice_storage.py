"""What members are told about their submissions and works (contract R7), and how far each has seen it."""

from dataclasses import dataclass
from typing import Protocol

from logoadmin.domain.kernel.records import Kind
from logoadmin.ports.changes.proposal_storage import ListedProposal


@dataclass(frozen=True, slots=True)
class BlockedWork:
    """A blocked artwork of a user.

    Attributes:
        kind: the kind of artwork.
        id: its id.
        name: its current name.
        at: when it was blocked, as Unix time.
        reason: why.
    """

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
        of_that_second: those of that time, each by a word without spaces, since others of the same second may follow.
    """

    at: int
    of_that_second: frozenset[str]


class MemberNotices(Protocol):
    """The sources of notices for members. The newest come first; of the same second, higher ids first."""

    def decided(self, user_id: int, since: int, limit: int) -> tuple[ListedProposal, ...]:
        """Return up to ``limit`` proposals that were applied or declined, of the user whom a change created."""

    def undone(self, user_id: int, since: int, limit: int) -> tuple[ListedProposal, ...]:
        """Return up to ``limit`` proposals of that user that wait because all that they had changed was undone."""

    def blocked(self, user_id: int, limit: int) -> tuple[BlockedWork, ...]:
        """Return up to ``limit`` blocked artworks that exist and have the author with this ``user_id``.

        Of the same second, themes come before logos.
        """

    def seen(self, user_id: int) -> SeenNotices | None:
        """Return what a user has seen, or None."""

    def set_seen(self, user_id: int, seen: SeenNotices) -> None:
        """Store what an existing user has seen; it is removed with the user."""
