"""Artworks and authors in a write: their links, and the blocks that readers must know (contract G, L3)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from logoadmin.domain.kernel.act_log import AMENDED, AUTHORS_FIELD, BLOCKED, BLOCKED_FIELD, LINKED, UNLINKED, Snapshot
from logoadmin.domain.kernel.audited_records import AuditedRecords, LinksByKind, log_of, snapshot, stored_of, uow_of
from logoadmin.domain.kernel.errors import ArtworkBlocked
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS, AnyArtworkKind, AnyKind, ArtworkKind
from logoadmin.domain.kernel.records import Artwork, Author, Link
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, get_existing
from logoadmin.ports.gallery_storage import Links


def links_field(kind: AnyKind, linked: AnyArtworkKind) -> str:
    """Return the field of a snapshot with the links of an artwork or an author."""
    return AUTHORS_FIELD if kind is linked else linked.plural


@dataclass(eq=False)
class AuditedArtworks(AuditedRecords[Artwork]):
    """The artworks of one kind. Their snapshots have the links, but not the authors, which have separate snapshots.

    An active artwork that is switched off or removed is withdrawn until it is active again. A blocked one stays
    blocked until then, also if it is removed (contract L3).
    """

    _kind: AnyArtworkKind
    # The links of artworks loaded and not changed since, and the number of author changes before.
    _loaded: dict[int, tuple[Link, ...]] = field(default_factory=dict, init=False)
    _author_changes: int = field(default=0, init=False)

    def get(self, id_: int) -> Artwork | None:
        """Return an artwork with its current authors."""
        if not self._is_current(id_):
            self._known.pop(id_, None)
        return self._read(id_)

    def load(self, ids: Sequence[int]) -> None:
        """Read artworks with their links, and the withdrawals of inactive ones."""
        super().load(ids)
        self._loaded, self._author_changes = dict.fromkeys(ids, ()), log_of(self).author_changes
        existing = [id_ for id_ in ids if self._known.get(id_) is not None]
        for link in _stored_links(self).of_artworks(existing):
            self._loaded[link.artwork_id] += (link,)
        known = [(id_, self._known[id_]) for id_ in ids if id_ in self._known]
        inactive = (id_ for id_, artwork in known if artwork is None or not artwork.active)
        log_of(self).load_withdrawals((self._kind.kind, id_) for id_ in inactive)

    def links(self, id_: int) -> LinksByKind:
        """Return the links of an artwork."""
        loaded = self._is_current(id_) and id_ in self._known
        return {self._kind: self._loaded[id_] if loaded else _stored_links(self).of_artwork(id_)}

    def block(self, id_: int, if_match: frozenset[int] | None, reason: str) -> Artwork:
        """Switch an artwork off and block it; if it is already blocked for this reason, nothing is recorded."""
        artwork = self.get_for_change(id_, if_match)
        if self._reason(artwork) == reason:
            return artwork
        # A separate change, even among others of the artwork, so that the history has its action.
        log_of(self).begin_next()
        was = self.serialized(artwork)
        stored = self._numbered(replace(artwork, active=False))
        stored_of(self).update(stored)
        recorded = self._recorded(BLOCKED, stored, was, {**was, "active": False, BLOCKED_FIELD: reason})
        log_of(self).begin_next()
        return recorded

    def assign_block(self, id_: int, reason: str | None) -> None:
        """Set the block of an existing artwork to that of a snapshot; None for no block.

        With a reason, it must be switched off. Without one, it stays withdrawn, because readers may know it.
        """
        artwork = self.get_existing(id_)
        if self._reason(artwork) == reason:
            return
        was = self.serialized(artwork)
        without = {name: value for name, value in was.items() if name != BLOCKED_FIELD}
        self.touch(AMENDED, id_, was, without if reason is None else {**without, BLOCKED_FIELD: reason})

    def check_not_blocked(self, id_: int, artwork: Artwork | None) -> None:
        """Require that an artwork can be activated; it is None if it does not exist, but may have been blocked."""
        if artwork is not None and artwork.active:
            return
        reason = self._blocked(id_)
        if reason is not None:
            raise ArtworkBlocked(self._kind.name, id_, reason)

    def values(self, record: Artwork) -> Snapshot:
        """Return the current snapshot of an artwork without its links."""
        reason = self._reason(record)
        return snapshot(self._kind, record) | ({} if reason is None else {BLOCKED_FIELD: reason})

    def serialized(self, record: Artwork) -> Snapshot:
        """Return the current snapshot of an artwork."""
        return self.with_links(self.values(record), self.links(self._kind.id_of(record))[self._kind])

    def with_links(self, values: Snapshot, links: Iterable[Link]) -> Snapshot:
        """Return the snapshot of an artwork with these values and links."""
        link_id = self._kind.link_id_field
        return {**values, AUTHORS_FIELD: [{link_id: link.link_id, "author_id": link.author_id} for link in links]}

    def add_with_authors(self, artwork: Artwork, author_ids: Sequence[int]) -> Artwork:
        """Store a new artwork with these existing authors, in this order; return it with its version."""
        return self.add(artwork, links={self._kind: self._new_links(self._kind.id_of(artwork), author_ids)})

    def link(self, id_: int, author_id: int) -> Link:
        """Link an author as the last one, unless they are linked; return the link."""
        before = self.links(id_)[self._kind]
        for link in before:
            if link.author_id == author_id:
                return link
        (link,) = self._new_links(id_, [author_id])
        _stored_links(self).add([link])
        self._relinked(LINKED, id_, before, (*before, link))
        return link

    def unlink(self, id_: int, author_id: int) -> bool:
        """Remove the link to an author; return whether it existed."""
        before = self.links(id_)[self._kind]
        if not _stored_links(self).remove(id_, author_id):
            return False
        self._relinked(UNLINKED, id_, before, [link for link in before if link.author_id != author_id])
        return True

    def assign_authors(self, id_: int, author_ids: Sequence[int]) -> bool:
        """Set the authors of an artwork to these existing ones, in this order; return whether they differed."""
        before = self.links(id_)[self._kind]
        if [link.author_id for link in before] == [*author_ids]:
            return False
        self.replace_links(id_, self._new_links(id_, author_ids))
        return True

    def replace_links(self, id_: int, links: Sequence[Link]) -> None:
        """Replace the links of an artwork by these new or restored ones."""
        before = self.links(id_)[self._kind]
        for link in before:
            _stored_links(self).remove(id_, link.author_id)
        _stored_links(self).add(links)
        self._relinked(AMENDED, id_, before, links)

    def _new_links(self, id_: int, author_ids: Iterable[int]) -> tuple[Link, ...]:
        return tuple(Link(_stored_links(self).next_id(), id_, author_id) for author_id in author_ids)

    def _relinked(self, action: str, id_: int, before: Iterable[Link], after: Iterable[Link]) -> None:
        values = self.values(self.get_existing(id_))
        self.touch(action, id_, self.with_links(values, before), self.with_links(values, after))

    def _reason(self, record: Artwork) -> str | None:
        """Return the reason why an artwork is blocked, or None; an active one needs no query."""
        return None if record.active else self._blocked(self._kind.id_of(record))

    def _blocked(self, id_: int) -> str | None:
        """Return the reason why an inactive or missing artwork is blocked, or None."""
        kind, log = self._kind.kind, log_of(self)
        for change in reversed(log.changes):  # their withdrawals are not stored yet
            if change.id == id_ and change.kind is kind:
                return (change.after or change.before or {}).get(BLOCKED_FIELD)
        log.load_withdrawals([(kind, id_)])
        withdrawal = log.withdrawals.get((kind, id_))
        return None if withdrawal is None else withdrawal.reason

    def _is_current(self, id_: int) -> bool:
        """Return whether an artwork and its authors are unchanged since they were loaded."""
        return self._author_changes == log_of(self).author_changes and id_ in self._loaded

    def _know(self, id_: int, record: Artwork | None) -> None:
        self._loaded.pop(id_, None)
        super()._know(id_, record)

    def _link(self, stored: Artwork, values: Snapshot, links: LinksByKind) -> Snapshot:
        theirs = links.get(self._kind, ())
        if theirs:
            _stored_links(self).add(theirs)
        id_ = self._kind.id_of(stored)
        # Only an id that was used before can be blocked.
        reason = None if log_of(self).is_new(self._kind.kind, id_) else self._reason(stored)
        blocked = {} if reason is None else {BLOCKED_FIELD: reason}
        return self.with_links({**values, **blocked}, theirs)

    def _beside(self, stored: Artwork, was: Snapshot) -> Snapshot:
        names = (AUTHORS_FIELD,) if stored.active else (BLOCKED_FIELD, AUTHORS_FIELD)
        return {name: was[name] for name in names if name in was}


def _stored_links(artworks: AuditedArtworks[Any]) -> Links:
    """Return the links of the artworks of a kind; not an attribute, which a use case could reach."""
    return uow_of(artworks).links(artworks._kind)


class AuditedAuthors(AuditedRecords[Author]):
    """The authors. Removing or restoring an author also changes the artworks that show the author."""

    def links(self, id_: int) -> LinksByKind:
        """Return the links of an author to all their artworks."""
        return {linked: uow_of(self).links(linked).of_author(id_) for linked in ARTWORK_KINDS}

    def _link(self, stored: Author, values: Snapshot, links: LinksByKind) -> Snapshot:
        for linked, theirs in links.items():
            uow_of(self).links(linked).add(theirs)
            uow_of(self).records(linked).touch([link.artwork_id for link in theirs], stored.version)
        return values

    def _unlinked(self, record: Author) -> Snapshot:
        version = self._numbered(record).version
        links = self.links(record.author_id)
        for linked, theirs in links.items():
            uow_of(self).records(linked).touch([link.artwork_id for link in theirs], version)
        works = {
            kind.plural: [{kind.link_id_field: link.link_id, kind.id_field: link.artwork_id} for link in theirs]
            for kind, theirs in links.items()
        }
        return {**snapshot(AUTHORS, record), **works}


def artworks_of(uow: AuditedUnitOfWork, kind: ArtworkKind[Artwork, Any, Any, Any]) -> AuditedArtworks[Artwork]:
    """Return the artworks of a kind in a write."""
    records: Any = uow.records(kind)
    artworks: AuditedArtworks[Artwork] = records
    return artworks


def check_authors(uow: AuditedUnitOfWork, author_ids: Iterable[int]) -> None:
    """Require that authors exist; raise NotFound otherwise."""
    for author_id in author_ids:
        get_existing(uow, AUTHORS, author_id)
