"""The withdrawals and the pins."""

from collections.abc import Collection, Iterable, Sequence
from heapq import nlargest
from operator import attrgetter

from logoadmin.adapters.memory_storage.tables import Repository
from logoadmin.domain.kernel.records import Kind
from logoadmin.ports.publication.publication_storage import Pin, Withdrawal

_age = attrgetter("at", "kind", "id")
_place = attrgetter("kind", "id", "url")


class MemoryWithdrawals(Repository):
    """The withdrawals, as :class:`~logoadmin.ports.publication.publication_storage.Withdrawals` says."""

    def get(self, kind: Kind, id_: int) -> Withdrawal | None:
        return self._tables.withdrawals.get((kind, id_))

    def get_many(self, kind: Kind, ids: Sequence[int]) -> tuple[Withdrawal, ...]:
        found = (self.get(kind, id_) for id_ in sorted(set(ids)))
        return tuple(each for each in found if each is not None)

    def put(self, *withdrawals: Withdrawal) -> None:
        for each in withdrawals:
            self._journal.set(self._tables.withdrawals, (each.kind, each.id), each)

    def drop(self, kind: Kind, *ids: int) -> None:
        for id_ in ids:
            self._journal.delete(self._tables.withdrawals, (kind, id_))

    def newest(self, since: int, limit: int) -> tuple[Withdrawal, ...]:
        return tuple(nlargest(limit, (each for each in self._tables.withdrawals.values() if each.at >= since), _age))

    def blocked(self, limit: int) -> tuple[Withdrawal, ...]:
        blocked = (each for each in self._tables.withdrawals.values() if each.reason is not None)
        return tuple(nlargest(limit, blocked, _age))


class MemoryPins(Repository):
    """The pins and the pinned sheets, as :class:`~logoadmin.ports.publication.publication_storage.Pins` says."""

    def of(self, kind: Kind, id_: int) -> tuple[Pin, ...]:
        return _in_order(pin for pin in self._tables.pins.values() if (pin.kind, pin.id) == (kind, id_))

    def of_kind(self, kind: Kind) -> tuple[Pin, ...]:
        return _in_order(pin for pin in self._tables.pins.values() if pin.kind is kind)

    def pinned(self) -> int:
        return sum(pin.sheet is not None for pin in self._tables.pins.values())

    def offered(self) -> tuple[Pin, ...]:
        return _in_order(pin for pin in self._tables.pins.values() if pin.offered is not None)

    def put(self, pin: Pin) -> None:
        self._journal.set(self._tables.pins, (pin.kind, pin.id, pin.url), pin)

    def sheet(self, sha256: str) -> str | None:
        return self._tables.sheets.get(sha256)

    def add_sheet(self, sha256: str, css: str) -> None:
        if sha256 not in self._tables.sheets:
            self._journal.set(self._tables.sheets, sha256, css)

    def keep_sheets(self, used: Collection[str]) -> int:
        unused = [sha256 for sha256 in self._tables.sheets if sha256 not in used]
        for sha256 in unused:
            self._journal.delete(self._tables.sheets, sha256)
        return len(unused)


def _in_order(pins: Iterable[Pin]) -> tuple[Pin, ...]:
    return tuple(sorted(pins, key=_place))
