"""What readers do not get, for the people who administer the gallery (contract L1, L3, L4)."""

from collections import Counter
from collections.abc import Iterable

from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.css.targets import Targets
from logoadmin.domain.publication.files.contents import StoredArtworks, judged_artworks
from logoadmin.domain.publication.left_out import left_out
from logoadmin.domain.publication.publication_records import Blocked, LeftOut, PublicationStatus, Risky
from logoadmin.ports.publication.publication_storage import Withdrawal
from logoadmin.ports.storage import Storage


def status_of(
    storage: Storage, version: int, blocked: Iterable[Withdrawal], targets: Targets, *, publish_imports: bool
) -> PublicationStatus:
    """Return the status; no transaction is open while CSS is judged, which may take a while.

    Args:
        storage: where the records are.
        version: the id of the last change when it begins: later changes may be in it already.
        blocked: the blocked records.
        targets: the targets with pages.
        publish_imports: whether artworks with imports are published.
    """
    missing: list[LeftOut] = []
    risky: list[Risky] = []
    published: Counter[Kind] = Counter()
    for kind, artwork, verdict in judged_artworks(StoredArtworks(storage), targets):
        found = left_out(kind, artwork, verdict, publish_imports=publish_imports)
        if found is not None:
            missing.append(found)
            continue
        published[kind.kind] += 1
        if verdict.risks:
            risky.append(Risky(kind.kind, kind.id_of(artwork), artwork.name, verdict.risk_names))
    return PublicationStatus(
        version,
        published[Kind.LOGO],
        published[Kind.THEME],
        tuple(missing),
        tuple(risky),
        tuple(Blocked(each.kind, each.id, each.at, each.reason or "") for each in blocked),
    )
