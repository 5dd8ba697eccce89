"""Withdrawals from the published gallery, which outlast their records."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from logoadmin.domain.kernel.records import Kind


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """An artwork that readers had and no longer get (contract L3).

    Attributes:
        kind: the kind of artwork.
        id: its id.
        at: when it was switched off, removed or blocked, as Unix time.
        reason: why it is blocked; None if it is not, so that its severity is ``removed``.
    """

    kind: Kind
    id: int
    at: int
    reason: str | None = None


class Withdrawals(Protocol):
    """The withdrawn artworks: those that are blocked, and those that were active and are not any more.

    They are written in the write that changes the artwork. The newest come first; of the same second, themes before
    logos, then higher ids first.
    """

    def get(self, kind: Kind, id_: int) -> Withdrawal | None:
        """Return the withdrawal of an artwork, or None."""

    def get_many(self, kind: Kind, ids: Sequence[int]) -> tuple[Withdrawal, ...]:
        """Return the withdrawals of up to 50 artworks, as far as they have one, by id."""

    def put(self, *withdrawals: Withdrawal) -> None:
        """Store withdrawals of artworks that exist or existed, in place of earlier ones."""

    def drop(self, kind: Kind, *ids: int) -> None:
        """Remove the withdrawals of artworks, as far as they have one."""

    def newest(self, since: int, limit: int) -> tuple[Withdrawal, ...]:
        """Return up to ``limit`` withdrawals from ``since`` or later."""

    def blocked(self, limit: int) -> tuple[Withdrawal, ...]:
        """Return up to ``limit`` withdrawals of blocked artworks, however old."""


class PublicationStorage(Protocol):
    """The repository of the published gallery."""

    @property
    def withdrawals(self) -> Withdrawals:
        """What was withdrawn."""
