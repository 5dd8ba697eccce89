"""What readers do not get, for the people who administer the gallery (contract L1, L3, L5)."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from logoadmin.domain.kernel.kinds import ARTWORK_KINDS
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.css import judge
from logoadmin.domain.publication.files.contents import active_artworks
from logoadmin.domain.publication.files.withdrawals import MOST_WITHDRAWN
from logoadmin.domain.publication.pins.pin_changes import imports_of
from logoadmin.domain.publication.publication_records import Blocked, ChangedImport, LeftOut, PublicationStatus, Risky
from logoadmin.ports.publication.publication_storage import Pin
from logoadmin.ports.storage import UnitOfWork


def status_of(uow: UnitOfWork, *, pin_imports: bool) -> PublicationStatus:
    """Return the status at one moment; without pinned imports, no record is left out."""
    left_out: list[LeftOut] = []
    risky: list[Risky] = []
    published: Counter[Kind] = Counter()
    for kind, artwork, css in active_artworks(uow, pin_imports=pin_imports):
        if isinstance(css, LeftOut):
            left_out.append(css)
            continue
        published[kind.kind] += 1
        risks = judge(artwork.custom_css, kind.css_form, css.texts).risks
        if risks:
            names = tuple(dict.fromkeys(each.risk for each in risks))
            risky.append(Risky(kind.kind, kind.id_of(artwork), artwork.name, names))
    blocked = (
        Blocked(each.kind, each.id, each.at, each.reason or "")
        for each in uow.publication.withdrawals.blocked(MOST_WITHDRAWN)
    )
    return PublicationStatus(
        uow.changes.last_id(),
        published[Kind.LOGO],
        published[Kind.THEME],
        tuple(left_out),
        tuple(_changed(uow)),
        tuple(risky),
        tuple(blocked),
    )


def _changed(uow: UnitOfWork) -> Iterator[ChangedImport]:
    """Yield the changed imports of active artworks that still have them, by kind, by id, then by URL."""
    offered: dict[tuple[str, int], list[Pin]] = defaultdict(list)
    for pin in uow.publication.pins.offered():
        offered[pin.kind, pin.id].append(pin)
    for kind in ARTWORK_KINDS:
        for (name, id_), pins in offered.items():
            artwork = uow.records(kind).get(id_) if name == kind.kind else None
            if artwork is None or not artwork.active:
                continue
            urls = imports_of(kind, artwork.custom_css)
            yield from (ChangedImport(kind.kind, id_, artwork.name, pin.url) for pin in pins if pin.url in urls)
