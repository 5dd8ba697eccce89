"""What readers do not get, for the people who administer the gallery (contract L1, L3, L5)."""

from collections import defaultdict
from collections.abc import Iterator

from logoadmin.domain.model.kinds import ARTWORK_KINDS
from logoadmin.domain.model.publication import Blocked, ChangedImport, PublicationStatus
from logoadmin.domain.pinning.pins import imports_of
from logoadmin.domain.publication.contents import left_out_of
from logoadmin.domain.publication.withdrawals import MOST_WITHDRAWN
from logoadmin.ports.storage import Pin, UnitOfWork


def status_of(uow: UnitOfWork, *, pin_imports: bool) -> PublicationStatus:
    """Return the status at one moment; without pinned imports, no record is left out."""
    blocked = (
        Blocked(each.kind, each.id, each.at, each.reason or "") for each in uow.withdrawals.blocked(MOST_WITHDRAWN)
    )
    return PublicationStatus(
        uow.changes.last_id(), left_out_of(uow) if pin_imports else (), tuple(_changed(uow)), tuple(blocked)
    )


def _changed(uow: UnitOfWork) -> Iterator[ChangedImport]:
    """Yield the changed imports of active artworks that still have them, by kind, by id, then by URL."""
    offered: dict[tuple[str, int], list[Pin]] = defaultdict(list)
    for pin in uow.pins.offered():
        offered[pin.kind, pin.id].append(pin)
    for kind in ARTWORK_KINDS:
        for (name, id_), pins in offered.items():
            artwork = uow.records(kind).get(id_) if name == kind.kind else None
            if artwork is None or not artwork.active:
                continue
            urls = imports_of(kind, artwork.custom_css)
            yield from (ChangedImport(kind.kind, id_, artwork.name, pin.url) for pin in pins if pin.url in urls)
