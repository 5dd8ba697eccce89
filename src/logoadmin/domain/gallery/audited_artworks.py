"""Artworks in a write: their links, and whether readers must know that they are gone (contract G, L3)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from logoadmin.domain.identity.escalation import Escalation
from logoadmin.domain.kernel.audited_records import (
    AMENDED,
    BLOCKED,
    AuditedRecords,
    ChangeLog,
    LinksByKind,
    Snapshot,
    snapshot,
)
from logoadmin.domain.kernel.errors import ArtworkBlocked
from logoadmin.domain.kernel.kinds import AnyArtworkKind, AnyKind
from logoadmin.domain.kernel.records import Artwork, Link
from logoadmin.domain.publication.withdrawal_log import BLOCKED_FIELD
from logoadmin.ports.storage import UnitOfWork

# The field of a snapshot with the links of an artwork; an author has one for each kind of artwork, named in the plural.
AUTHORS_FIELD: Final = "authors"


def links_field(kind: AnyKind, linked: AnyArtworkKind) -> str:
    """Return the field of a snapshot with the links of an artwork or an author."""
    return AUTHORS_FIELD if kind is linked else linked.plural


def serialized_links(kind: AnyKind, linked: AnyArtworkKind, links: Iterable[Link]) -> list[dict[str, int]]:
    """Return the links in the snapshot of an artwork or an author: the records on the other side."""
    if kind is linked:
        return [{linked.link_id_field: link.link_id, "author_id": link.author_id} for link in links]
    return [{linked.link_id_field: link.link_id, linked.id_field: link.artwork_id} for link in links]


class AuditedArtworks(AuditedRecords[Artwork]):
    """The artworks of one kind. Their snapshots have the links, not the authors, which have snapshots of their own.

    An artwork that was active and is switched off or removed is withdrawn, until it is active again. One that is
    blocked stays blocked until then, also if it is removed (contract L3).
    """

    _kind: AnyArtworkKind

    def __init__(self, kind: AnyArtworkKind, uow: UnitOfWork, change_log: ChangeLog, escalation: Escalation) -> None:
        super().__init__(kind, uow, change_log, escalation)
        # The links of artworks that were loaded and not changed since, and how many changes of authors came before.
        self._loaded: dict[int, tuple[Link, ...]] = {}
        self._author_changes = 0
        self._withdrawals = change_log.withdrawals

    def next_id(self) -> int:
        """Return the id for a new artwork, which cannot have been withdrawn."""
        id_ = super().next_id()
        self._withdrawals.know_none(self._kind.kind, id_)
        return id_

    def get(self, id_: int) -> Artwork | None:
        """Return an artwork with its current authors."""
        if not self._is_current(id_):
            self._known.pop(id_, None)
        return self._read(id_)

    def load(self, ids: Sequence[int]) -> None:
        """Read artworks with their links, and the withdrawals of those that are not active."""
        super().load(ids)
        self._loaded, self._author_changes = dict.fromkeys(ids, ()), self._change_log.author_changes
        for link in self._uow.links(self._kind).of_artworks([id_ for id_ in ids if self._known.get(id_) is not None]):
            self._loaded[link.artwork_id] += (link,)
        known = {id_: self._known[id_] for id_ in ids if id_ in self._known}
        self._withdrawals.load(
            self._kind.kind, [id_ for id_, artwork in known.items() if artwork is None or not artwork.active]
        )

    def links(self, id_: int) -> LinksByKind:
        """Return the links of an artwork."""
        loaded = self._is_current(id_) and id_ in self._known
        return {self._kind: self._loaded[id_] if loaded else self._uow.links(self._kind).of_artwork(id_)}

    def block(self, id_: int, if_match: frozenset[int] | None, reason: str) -> Artwork:
        """Switch an artwork off and block it; if it is blocked for this reason already, nothing is recorded.

        Raises:
            NotFound, Outdated: see :meth:`get_for_change`.
        """
        artwork = self.get_for_change(id_, if_match)
        if self._reason(artwork) == reason:
            return artwork
        # A change of its own, even among others of the artwork, so that the history has its action.
        self._change_log.begin_next()
        was = self.serialized(artwork)
        stored = self._numbered(replace(artwork, active=False))
        self._stored.update(stored)
        recorded = self._recorded(BLOCKED, stored, was, {**was, "active": False, BLOCKED_FIELD: reason})
        self._change_log.begin_next()
        return recorded

    def assign_block(self, id_: int, reason: str | None) -> None:
        """Have an existing artwork blocked for a reason, as a snapshot says, or not blocked.

        With a reason, it must be switched off. Without one, it stays withdrawn, because readers may know it.
        """
        artwork = self.get_existing(id_)
        if self._reason(artwork) == reason:
            return
        was = self.serialized(artwork)
        without = {name: value for name, value in was.items() if name != BLOCKED_FIELD}
        self.touch(AMENDED, id_, was, without if reason is None else {**without, BLOCKED_FIELD: reason})

    def check_not_blocked(self, id_: int, artwork: Artwork | None) -> None:
        """Require that an artwork can be activated; None for one that does not exist, but may have been blocked.

        Raises:
            ArtworkBlocked: it is blocked.
        """
        if artwork is not None and artwork.active:
            return
        withdrawal = self._withdrawals.get(self._kind.kind, id_)
        if withdrawal is not None and withdrawal.reason is not None:
            raise ArtworkBlocked(self._kind.name, id_, withdrawal.reason)

    def values(self, record: Artwork) -> Snapshot:
        """Return the current snapshot of an artwork without its links."""
        reason = self._reason(record)
        return snapshot(self._kind, record) | ({} if reason is None else {BLOCKED_FIELD: reason})

    def serialized(self, record: Artwork) -> Snapshot:
        """Return the current snapshot of an artwork."""
        return self.with_links(self.values(record), self.links(self._kind.id_of(record))[self._kind])

    def with_links(self, values: Snapshot, links: Iterable[Link]) -> Snapshot:
        """Return the snapshot of an artwork with these values and links."""
        return {**values, AUTHORS_FIELD: serialized_links(self._kind, self._kind, links)}

    def _reason(self, record: Artwork) -> str | None:
        """Return the reason why an artwork is blocked, None if it is not; one that is active needs no query."""
        withdrawal = None if record.active else self._withdrawals.get(self._kind.kind, self._kind.id_of(record))
        return None if withdrawal is None else withdrawal.reason

    def _is_current(self, id_: int) -> bool:
        """Return whether an artwork is as it was loaded, its authors included."""
        return self._author_changes == self._change_log.author_changes and id_ in self._loaded

    def _know(self, id_: int, record: Artwork | None) -> None:
        self._loaded.pop(id_, None)
        super()._know(id_, record)

    def _link(self, stored: Artwork, values: Snapshot, links: LinksByKind) -> Snapshot:  # noqa: ARG002 (the port's)
        theirs = links.get(self._kind, ())
        if theirs:
            self._uow.links(self._kind).add(theirs)
        return self.with_links(self.values(stored), theirs)

    def _recorded(self, action: str, stored: Artwork, before: Snapshot | None, after: Snapshot) -> Artwork:
        if stored.active:
            after = {name: value for name, value in after.items() if name != BLOCKED_FIELD}
        return super()._recorded(action, stored, before, after)
