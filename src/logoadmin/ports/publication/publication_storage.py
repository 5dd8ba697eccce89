"""The published gallery: what was withdrawn, and the pinned imports of style sheets.

Withdrawals and pins outlast their records: neither is removed with a record.
"""

from collections.abc import Collection, Sequence
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


@dataclass(frozen=True, slots=True)
class Pin:
    """An import of one artwork's style sheet, and the copy that readers get of it (contract L5).

    Attributes:
        kind: the kind of artwork.
        id: its id.
        url: the imported URL.
        sheet: the SHA-256 of the pinned sheet; None if it could not be pinned.
        offered: the SHA-256 of the sheet at the URL, if it differs from the pinned one; None otherwise.
        failure: why the sheet could not be fetched the last time; None if it could.
        checked_at: when it was fetched, or should have been, the last time, as Unix time.
    """

    kind: Kind
    id: int
    url: str
    sheet: str | None
    offered: str | None
    failure: str | None
    checked_at: int


class Pins(Protocol):
    """The pins of artworks, and the pinned sheets."""

    def of(self, kind: Kind, id_: int) -> tuple[Pin, ...]:
        """Return the pins of an artwork, by URL."""

    def of_kind(self, kind: Kind) -> tuple[Pin, ...]:
        """Return the pins of all artworks of a kind, by id, then by URL."""

    def pinned(self) -> int:
        """Return the number of pins with a sheet: a first pin raises it without changing the artwork."""

    def offered(self) -> tuple[Pin, ...]:
        """Return the pins for which something else is offered, by kind, by id, then by URL."""

    def put(self, pin: Pin) -> None:
        """Store a pin, in place of the current one of that artwork and URL."""

    def sheet(self, sha256: str) -> str | None:
        """Return the text of a sheet, or None."""

    def add_sheet(self, sha256: str, css: str) -> None:
        """Store a sheet; one with the same hash stays."""

    def keep_sheets(self, used: Collection[str]) -> int:
        """Remove all sheets but those with these SHA-256; return how many were removed."""


class PublicationStorage(Protocol):
    """The repositories of the published gallery."""

    @property
    def withdrawals(self) -> Withdrawals:
        """What was withdrawn."""

    @property
    def pins(self) -> Pins:
        """The pinned imports."""
