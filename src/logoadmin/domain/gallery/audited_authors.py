"""Authors in a write, whose removal or return also changes the artworks that show them (contract G)."""

from logoadmin.domain.gallery.audited_artworks import links_field, serialized_links
from logoadmin.domain.kernel.act_log import Snapshot
from logoadmin.domain.kernel.audited_records import AuditedRecords, LinksByKind, snapshot, uow_of
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS
from logoadmin.domain.kernel.records import Author


class AuditedAuthors(AuditedRecords[Author]):
    """The authors. The removal or return of an author also changes the artworks that show the author."""

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
        serialized = {links_field(AUTHORS, kind): serialized_links(AUTHORS, kind, links[kind]) for kind in links}
        return {**snapshot(AUTHORS, record), **serialized}
