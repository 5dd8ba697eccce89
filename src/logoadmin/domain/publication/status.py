"""What readers do not get, for the people who administer the gallery (contract L1, L3, L5)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from logoadmin.domain.kernel.kinds import ARTWORK_KINDS
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.css import judge
from logoadmin.domain.publication.css.targets import Targets
from logoadmin.domain.publication.files.contents import StoredArtworks, active_artworks
from logoadmin.domain.publication.pins.pin_changes import imports_of
from logoadmin.domain.publication.pins.pinned_css import StoredPins
from logoadmin.domain.publication.publication_records import Blocked, ChangedImport, LeftOut, PublicationStatus, Risky
from logoadmin.ports.publication.publication_storage import Pin, Withdrawal
from logoadmin.ports.storage import Storage


def status_of(
    storage: Storage, version: int, blocked: Iterable[Withdrawal], targets: Targets, *, pin_imports: bool
) -> PublicationStatus:
    """Return the status; no transaction is open while CSS is judged, which may take a while.

    Args:
        storage: where the records are.
        version: the id of the last change when it begins: later changes may be in it already.
        blocked: the blocked records.
        targets: the targets with pages.
        pin_imports: whether readers get pinned imports; without them, no record is left out.
    """
    stored, stored_pins = StoredArtworks(storage), StoredPins(storage)
    left_out: list[LeftOut] = []
    risky: list[Risky] = []
    published: Counter[Kind] = Counter()
    for kind, artwork, css in active_artworks(stored, stored_pins, pin_imports=pin_imports):
        if isinstance(css, LeftOut):
            left_out.append(css)
            continue
        published[kind.kind] += 1
        verdict = judge(artwork.custom_css, kind.css_form, css.texts, pages=targets.pages(artwork.target))
        if verdict.risks:
            risky.append(Risky(kind.kind, kind.id_of(artwork), artwork.name, verdict.risk_names))
    return PublicationStatus(
        version,
        published[Kind.LOGO],
        published[Kind.THEME],
        tuple(left_out),
        tuple(_changed(stored, stored_pins.offered())),
        tuple(risky),
        tuple(Blocked(each.kind, each.id, each.at, each.reason or "") for each in blocked),
    )


def _changed(stored: StoredArtworks, pins_with_offers: Iterable[Pin]) -> Iterator[ChangedImport]:
    """Yield the changed imports of active artworks that still have them, by kind, by id, then by URL."""
    offered: dict[tuple[str, int], list[Pin]] = defaultdict(list)
    for pin in pins_with_offers:
        offered[pin.kind, pin.id].append(pin)
    for kind in ARTWORK_KINDS:
        for (name, id_), pins in offered.items():
            artwork = stored.records(kind).get(id_) if name == kind.kind else None
            if artwork is None or not artwork.active:
                continue
            urls = imports_of(kind, artwork.custom_css)
            yield from (ChangedImport(kind.kind, id_, artwork.name, pin.url) for pin in pins if pin.url in urls)
