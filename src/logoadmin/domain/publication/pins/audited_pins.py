"""The pinned imports of artworks in a write: another pinned sheet is a change of its artwork (contract L5, G)."""

from collections.abc import Iterable, Mapping
from typing import Any

from logoadmin.domain.kernel.audited_records import AuditedRecords
from logoadmin.domain.kernel.errors import Conflict
from logoadmin.domain.kernel.kinds import AnyArtworkKind
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, publication_in
from logoadmin.domain.publication.pins.pin_changes import DOCUMENTS, PINS_ACCEPTED, PINS_FIELD, repinned
from logoadmin.ports.publication.publication_storage import Pin


class AuditedPins:
    """The pins of one kind of artwork."""

    def __init__(self, kind: AnyArtworkKind, uow: AuditedUnitOfWork) -> None:
        self._kind, self._stored = kind, publication_in(uow).pins
        self._artworks: AuditedRecords[Any] = uow.records(kind)

    def of(self, artwork_id: int) -> dict[str, Pin]:
        """Return the pins of an artwork by URL."""
        return {pin.url: pin for pin in self._stored.of(self._kind.kind, artwork_id)}

    def sheets(self, artwork_id: int, urls: Iterable[str]) -> dict[str, str | None]:
        """Return the SHA-256 of the pinned sheets of some imports, by URL."""
        known = self.of(artwork_id)
        return {url: known[url].sheet if url in known else None for url in urls}

    def accept(self, artwork_id: int, sheets: Mapping[str, str | None]) -> None:
        """Pin other sheets, which are stored, for imports that have a pin, or for the documents of an artwork.

        Args:
            artwork_id: the id of the artwork.
            sheets: the SHA-256 by the imported URL or
                :data:`~logoadmin.domain.publication.pins.pin_changes.DOCUMENTS`; None for documents that are not
                accepted any more.

        Raises:
            Conflict: an import has no pin.
        """
        no_documents = Pin(self._kind.kind, artwork_id, DOCUMENTS, None, None, None, 0)
        known = {DOCUMENTS: no_documents, **self.of(artwork_id)}
        if not sheets.keys() <= known.keys():
            raise Conflict(f"{self._kind.name} {artwork_id} has no pin for one of the imports")
        fields = self._artworks.serialized(self._artworks.get_existing(artwork_id))
        before = {url: known[url].sheet for url in sheets}
        for url, sheet in sheets.items():
            self._stored.put(repinned(known[url], sheet))
        was, is_ = {**fields, PINS_FIELD: before}, {**fields, PINS_FIELD: dict(sheets)}
        self._artworks.touch(PINS_ACCEPTED, artwork_id, was, is_)
