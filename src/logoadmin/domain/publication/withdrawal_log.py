"""Withdrawals, which follow the changes of artworks (contract L3)."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from logoadmin.domain.kernel.change_log import BLOCKED_FIELD, ChangeLog
from logoadmin.domain.kernel.kinds import RECORDED_KINDS, ArtworkKind
from logoadmin.domain.kernel.records import Change, Kind
from logoadmin.ports.publication.publication_storage import Withdrawal
from logoadmin.ports.storage import UnitOfWork


def withdraw(uow: UnitOfWork, change_log: ChangeLog) -> None:
    """Withdraw artworks that were switched off, blocked or removed, and end the withdrawal of active ones."""
    changes = [change for change in change_log.changes if isinstance(RECORDED_KINDS[change.kind], ArtworkKind)]
    stored = _stored(uow, changes, change_log)
    current = dict(stored)
    for change in changes:
        key = (change.kind, change.id)
        current[key] = _withdrawal_after(change, current.get(key))
    changed = {key: withdrawal for key, withdrawal in current.items() if withdrawal != stored.get(key)}
    dropped: defaultdict[Kind, list[int]] = defaultdict(list)
    for (kind, id_), withdrawal in changed.items():
        if withdrawal is None:
            dropped[kind].append(id_)
    for kind, ids in dropped.items():
        uow.publication.withdrawals.drop(kind, *ids)
    if put := [withdrawal for withdrawal in changed.values() if withdrawal is not None]:
        uow.publication.withdrawals.put(*put)


def _stored(uow: UnitOfWork, changes: list[Change], change_log: ChangeLog) -> dict[tuple[Kind, int], Withdrawal | None]:
    """Return the withdrawals of the artworks before their first changes; active and new ones need no query."""
    first: dict[tuple[Kind, int], Change] = {}
    for change in changes:
        first.setdefault((change.kind, change.id), change)
    asked: defaultdict[Kind, list[int]] = defaultdict(list)
    for (kind, id_), change in first.items():
        if not _is_active(change.before) and not change_log.is_new(kind, id_):
            asked[kind].append(id_)
    return {
        (kind, withdrawal.id): withdrawal
        for kind, ids in asked.items()
        for withdrawal in uow.publication.withdrawals.get_many(kind, ids)
    }


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
