"""The withdrawals in a write: read and stored many at a time (contract L3)."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from logoadmin.domain.model.records import Kind
from logoadmin.ports.storage import Withdrawal, Withdrawals

# Up to this many withdrawals are held in memory, both of those that were read and of those to be stored.
_MOST_HELD: Final = 256


class WithdrawalLog:
    """The withdrawals of one unit of work, which are stored at its end, or earlier if there are many."""

    def __init__(self, stored: Withdrawals, now: int) -> None:
        self._stored, self._now = stored, now
        # The stored withdrawals, as far as they were read; None for an artwork without one.
        self._known: dict[tuple[Kind, int], Withdrawal | None] = {}
        # The withdrawals to be stored; None for one that ends.
        self._changed: dict[tuple[Kind, int], Withdrawal | None] = {}

    def load(self, kind: Kind, ids: Sequence[int]) -> None:
        """Read the withdrawals of up to 50 artworks with one query."""
        found = {each.id: each for each in self._stored.get_many(kind, ids)} if ids else {}
        self._make_room()
        self._known.update({(kind, id_): found.get(id_) for id_ in ids})

    def get(self, kind: Kind, id_: int) -> Withdrawal | None:
        """Return the withdrawal of an artwork, or None."""
        if (kind, id_) in self._changed:
            return self._changed[kind, id_]
        if (kind, id_) not in self._known:
            self._make_room()
            self._known[kind, id_] = self._stored.get(kind, id_)
        return self._known[kind, id_]

    def know_new(self, kind: Kind, id_: int) -> None:
        """Remember that an artwork is new, and cannot have been withdrawn."""
        self._make_room()
        self._known[kind, id_] = None

    def put(self, kind: Kind, id_: int, reason: str | None) -> None:
        """Withdraw an artwork, with a reason if it is blocked."""
        self._change(kind, id_, Withdrawal(kind, id_, self._now, reason))

    def drop(self, kind: Kind, id_: int) -> None:
        """End the withdrawal of an artwork that readers get again, if there may be one."""
        if self._known.get((kind, id_), ...) is None:
            self._changed.pop((kind, id_), None)
        else:
            self._change(kind, id_, None)

    def store(self) -> None:
        """Store the changes so far."""
        changed, self._changed = self._changed, {}
        self._known.update(changed)
        dropped: defaultdict[Kind, list[int]] = defaultdict(list)
        for (kind, id_), withdrawal in changed.items():
            if withdrawal is None:
                dropped[kind].append(id_)
        for kind, ids in dropped.items():
            self._stored.drop(kind, *ids)
        self._stored.put(*(each for each in changed.values() if each is not None))

    def _make_room(self) -> None:
        if len(self._known) >= _MOST_HELD:
            self._known.clear()

    def _change(self, kind: Kind, id_: int, withdrawal: Withdrawal | None) -> None:
        if len(self._changed) >= _MOST_HELD:
            self.store()
        self._changed[kind, id_] = withdrawal
