"""The withdrawals."""

from collections.abc import Sequence
from heapq import nlargest
from operator import attrgetter

from logoadmin.adapters.memory_storage.tables import Repository
from logoadmin.domain.kernel.records import Kind
from logoadmin.ports.gallery_storage import Withdrawal

_age = attrgetter("at", "kind", "id")


class MemoryWithdrawals(Repository):
    """The withdrawals, as :class:`~logoadmin.ports.gallery_storage.Withdrawals` says."""

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
