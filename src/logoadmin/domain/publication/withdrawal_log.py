"""The withdrawals in a write, which follow its changes (contract L3)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.ports.storage import Withdrawal, Withdrawals

# The field of a snapshot with the reason why an artwork is blocked; others do not have it.
BLOCKED_FIELD: Final = "blocked"
# Up to this many withdrawals are held in memory, both of those that were read and of those to be stored.
_MOST_HELD: Final = 256


class WithdrawalLog:
    """The withdrawals of one unit of work, which are stored at its end, or earlier if there are many."""

    def __init__(self, stored: Withdrawals) -> None:
        self._stored = stored
        # The stored withdrawals, as far as they are known; None for an artwork without one.
        self._known: dict[tuple[Kind, int], Withdrawal | None] = {}
        # The withdrawals to be stored; None for one that ends.
        self._changed: dict[tuple[Kind, int], Withdrawal | None] = {}
        # The last change of an artwork, and the withdrawal before it.
        self._last_id = 0
        self._before: Withdrawal | None = None

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

    def know_none(self, kind: Kind, id_: int) -> None:
        """Remember without a query that an artwork has none, because it is new or active."""
        if (kind, id_) not in self._changed:
            self._make_room()
            self._known[kind, id_] = None

    def follow(self, change: Change) -> None:
        """Withdraw the artwork of a change, or end that; again, if another change was merged into the last one."""
        if change.change_id != self._last_id:
            if _is_active(change.before):
                self.know_none(change.kind, change.id)
            self._last_id, self._before = change.change_id, self.get(change.kind, change.id)
        key, withdrawal = (change.kind, change.id), _withdrawal_after(change, self._before)
        self._changed.pop(key, None)
        if key not in self._known or self._known[key] != withdrawal:
            if len(self._changed) >= _MOST_HELD:
                self.store()
            self._changed[key] = withdrawal

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


def _withdrawal_after(change: Change, before: Withdrawal | None) -> Withdrawal | None:
    """Return the withdrawal of an artwork after a change, given the one before it."""
    if _is_active(change.after):
        return None
    known = None if before is None else before.reason
    reason = None if change.after is None else change.after.get(BLOCKED_FIELD)
    if change.before is None or change.after is None:
        # The block of an artwork stays when it is removed, and when it returns inactive.
        reason = reason or known
    if _is_active(change.before) or reason != known:
        # After the end of a block it stays withdrawn, because readers may know it.
        return Withdrawal(change.kind, change.id, change.at, reason)
    return before


def _is_active(artwork: Mapping[str, Any] | None) -> bool:
    return artwork is not None and bool(artwork["active"])
