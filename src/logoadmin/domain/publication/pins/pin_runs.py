"""Runs over the imports of all active artworks (contract L5)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from operator import attrgetter
from typing import Any, Final

from logoadmin.domain.kernel.errors import OutgoingError
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AnyArtworkKind
from logoadmin.domain.kernel.lists import CHANGE_PAGE_SIZES, ChangeFilter, Filter, Listing
from logoadmin.domain.publication.pins.import_trees import SECONDS_PER_SHEET
from logoadmin.domain.publication.pins.pin_changes import PINS_ACCEPTED, PINS_FIELD, imports_of, is_due
from logoadmin.domain.publication.pins.pinned_css import Unpinned, closure
from logoadmin.domain.publication.pins.sheet_sources import host_of
from logoadmin.ports.kernel.environment import Clock
from logoadmin.ports.kernel.outgoing import Fetched, Outgoing
from logoadmin.ports.storage import UnitOfWork

_change_id: Final = attrgetter("change_id")
# A host that lets this many requests of a run time out is not asked again by it.
_MOST_TIMEOUTS: Final = 3
NOT_ASKED: Final = f"not asked, after {_MOST_TIMEOUTS} requests that failed slowly"


class PatientOutgoing:
    """An :class:`~logoadmin.ports.kernel.outgoing.Outgoing` that does not wait for the same host again and again."""

    def __init__(self, outgoing: Outgoing, clock: Clock) -> None:
        self._outgoing, self._clock = outgoing, clock
        self._timeouts: Counter[str] = Counter()

    def fetch(self, url: str, *, most: int, seconds: float) -> Fetched:
        """Fetch as the other one does, unless the host let several requests time out.

        Raises:
            OutgoingError: it did, for the reason :data:`NOT_ASKED`; or the request failed.
        """
        host, began = host_of(url), self._clock.elapsed()
        if self._timeouts[host] >= _MOST_TIMEOUTS:
            raise OutgoingError(host, NOT_ASKED)
        try:
            return self._outgoing.fetch(url, most=most, seconds=seconds)
        except OutgoingError:
            self._timeouts[host] += self._clock.elapsed() - began >= SECONDS_PER_SHEET / 2
            raise


def artworks_with_imports(uow: UnitOfWork) -> Sequence[tuple[AnyArtworkKind, int]]:
    """Return the kind and the id of every active artwork with imports, logos first, by id."""
    return [
        (kind, kind.id_of(record))
        for kind, records in _active(uow)
        for record in records
        if imports_of(kind, record.custom_css)
    ]


def missing_pins(now: int, uow: UnitOfWork) -> Sequence[tuple[AnyArtworkKind, int]]:
    """Return the active artworks with imports to pin, those first that were never tried, or longest ago."""
    found: list[tuple[int, AnyArtworkKind, int]] = []
    for kind, records in _active(uow):
        pins = {(pin.id, pin.url): pin for pin in uow.publication.pins.of_kind(kind.kind)}
        for record in records:
            id_ = kind.id_of(record)
            tried = [pins.get((id_, url)) for url in imports_of(kind, record.custom_css)]
            due = [0 if pin is None else pin.checked_at for pin in tried if is_due(pin, now)]
            found += [(min(due), kind, id_)] if due else []
    return [(kind, id_) for _, kind, id_ in sorted(found, key=lambda each: each[0])]


def forget_unused_sheets(uow: UnitOfWork) -> int:
    """Remove sheets that nothing leads to, in a write of records; return how many.

    Origins may offer something else each time. Pinned and offered sheets stay, and those that the history names, so
    that a change of pins can be undone.
    """
    roots: set[str] = set()
    for kind in ARTWORK_KINDS:
        pins = uow.publication.pins.of_kind(kind.kind)
        roots.update(sha for pin in pins for sha in (pin.sheet, pin.offered) if sha is not None)
        accepted = partial(uow.changes.page, where=ChangeFilter(action=f"{kind.kind}.{PINS_ACCEPTED}"))
        size = CHANGE_PAGE_SIZES.first
        for change in Listing(accepted(0, size), _change_id, accepted, CHANGE_PAGE_SIZES):
            for snapshot in (change.before, change.after):
                roots.update(filter(None, (snapshot or {}).get(PINS_FIELD, {}).values()))
    used: set[str] = set()
    for root in roots:
        with suppress(Unpinned):
            used.update(sha for sha, _ in closure(uow.publication.pins, [root]))
    return uow.publication.pins.keep_sheets(used)


def urls_of(kind: AnyArtworkKind, id_: int, due_at: int | None, uow: UnitOfWork) -> Sequence[str]:
    """Return the imports of an artwork, if it is active: those that are to be pinned at a time, or all."""
    record: Any = uow.records(kind).get(id_)
    if record is None or not record.active:
        return ()
    urls = imports_of(kind, record.custom_css)
    if due_at is None:
        return urls
    known = {pin.url: pin for pin in uow.publication.pins.of(kind.kind, id_)}
    return [url for url in urls if is_due(known.get(url), due_at)]


def _active(uow: UnitOfWork) -> Iterator[tuple[AnyArtworkKind, Listing[Any]]]:
    """Yield each kind of artwork with its active records, by id."""
    for kind in ARTWORK_KINDS:
        page = partial(uow.records(kind).page, where=Filter(active=True))
        yield kind, Listing(page(-1, kind.page_sizes.first), kind.id_of, page, kind.page_sizes)
