"""Withdrawn records, which readers must know; they follow from changes of artworks (contract L3)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

from logoadmin.domain.kernel.act_log import BLOCKED_FIELD
from logoadmin.domain.kernel.change_log import ChangeLog
from logoadmin.domain.kernel.kinds import RECORDED_KINDS, ArtworkKind
from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.domain.publication.files.index import canonical
from logoadmin.ports.gallery_storage import Withdrawal, Withdrawals
from logoadmin.ports.storage import UnitOfWork

# Readers learn of withdrawals in this many days, up to a number of records.
WITHDRAWN_DAYS: Final = 90
MOST_WITHDRAWN: Final = 1_000
# The number of blocked records in the pointer itself.
MOST_BLOCKED: Final = 30
_HOUR: Final = 3_600
_DAY: Final = 86_400


def listed_withdrawals(withdrawals: Withdrawals, issued: int) -> tuple[Withdrawal, ...]:
    """Return the withdrawals to publish with a pointer, at most :data:`MOST_WITHDRAWN`, the newest first.

    Blocked records are listed until the block ends, so that readers who return after months stop applying them. If
    there are too many, the oldest removed records are omitted first: nobody can push a block off the list by removing
    other records. The days are counted from the hour of the pointer, so that the list changes once an hour.
    """
    blocked = withdrawals.blocked(MOST_WITHDRAWN)
    recent = withdrawals.newest(issued - issued % _HOUR - WITHDRAWN_DAYS * _DAY, MOST_WITHDRAWN)
    removed = [each for each in recent if each.reason is None][: MOST_WITHDRAWN - len(blocked)]
    return tuple(sorted((*blocked, *removed), key=attrgetter("at", "kind", "id"), reverse=True))


def withdrawn_entries(withdrawals: Iterable[Withdrawal]) -> list[dict[str, Any]]:
    """Return the entries of records, in the same order; a record with a reason is blocked."""
    entries: list[dict[str, Any]] = []
    for each in withdrawals:
        found = {"kind": each.kind.value, "id": each.id, "at": each.at}
        how = {"severity": "removed"} if each.reason is None else {"severity": "blocked", "reason": each.reason}
        entries.append(found | how)
    return entries


def withdrawn_file(withdrawals: Iterable[Withdrawal]) -> bytes:
    """Return the content of the file of these records, the newest first."""
    return canonical({"withdrawn": withdrawn_entries(withdrawals)})


# Withdrawals are stored in batches of this size.
_MOST_HELD: Final = 256


def withdraw(uow: UnitOfWork, change_log: ChangeLog, changes: Sequence[Change], *, final: bool) -> None:
    """Withdraw artworks that were switched off, blocked or removed, and end the withdrawal of active ones."""
    changes = [change for change in changes if isinstance(RECORDED_KINDS[change.kind], ArtworkKind)]
    # Readers cannot know a new record whose id was never used before.
    changes = [each for each in changes if each.before is not None or not change_log.is_new(each.kind, each.id)]
    first: dict[tuple[Kind, int], Change] = {}
    for change in changes:
        first.setdefault((change.kind, change.id), change)
    # Active artworks had none before their first change.
    change_log.load_withdrawals(key for key, change in first.items() if not _is_active(change.before))
    withdrawals, unstored = change_log.withdrawals, change_log.unstored_withdrawals
    for change in changes:
        key = (change.kind, change.id)
        before = withdrawals.get(key)
        if before is not None:
            change_log.once_withdrawn.add(key)
        after = _withdrawal_after(change, before)
        if after != before:
            withdrawals[key] = after
            unstored.add(key)
    if final or len(unstored) >= _MOST_HELD:
        _store(uow, {key: withdrawals[key] for key in unstored})
        unstored.clear()


def _store(uow: UnitOfWork, changed: Mapping[tuple[Kind, int], Withdrawal | None]) -> None:
    dropped: defaultdict[Kind, list[int]] = defaultdict(list)
    for (kind, id_), withdrawal in changed.items():
        if withdrawal is None:
            dropped[kind].append(id_)
    for kind, ids in dropped.items():
        uow.withdrawals.drop(kind, *ids)
    if put := [withdrawal for withdrawal in changed.values() if withdrawal is not None]:
        uow.withdrawals.put(*put)


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
        # It stays withdrawn after the end of a block, because readers may know it.
        return Withdrawal(change.kind, change.id, change.at, reason)
    return before


def _is_active(artwork: Mapping[str, Any] | None) -> bool:
    return artwork is not None and bool(artwork["active"])
