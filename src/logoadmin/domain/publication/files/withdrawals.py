"""Withdrawn records, of which readers must know (contract L3)."""

from collections.abc import Iterable
from operator import attrgetter
from typing import Any, Final

from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.publication.files.index import canonical
from logoadmin.ports.gallery_storage import Withdrawal, Withdrawals

# Readers learn of what was withdrawn in these days, up to a number of records.
WITHDRAWN_DAYS: Final = 90
MOST_WITHDRAWN: Final = 1_000
# Blocked records that are in the pointer itself.
MOST_BLOCKED: Final = 30
_HOUR: Final = 3_600
_DAY: Final = 86_400


def listed_withdrawals(withdrawals: Withdrawals, issued: int) -> tuple[Withdrawal, ...]:
    """Return those that readers learn of from a pointer, at most :data:`MOST_WITHDRAWN`, the newest first.

    Blocked records are listed until the block ends, so that readers who come back after months stop applying them. If
    there are too many, the oldest that were only removed are left out first: nobody can push a block off the list by
    removing other records.

    Args:
        withdrawals: of the gallery.
        issued: when the pointer is issued; the days are counted from its hour, so that the list changes once an hour.
    """
    blocked = withdrawals.blocked(MOST_WITHDRAWN)
    recent = withdrawals.newest(issued - issued % _HOUR - WITHDRAWN_DAYS * _DAY, MOST_WITHDRAWN)
    removed = [each for each in recent if each.reason is None][: MOST_WITHDRAWN - len(blocked)]
    return tuple(sorted((*blocked, *removed), key=attrgetter("at", "kind", "id"), reverse=True))


def withdrawn_entry(kind: Kind, id_: int, at: int, reason: str | None) -> dict[str, Any]:
    """Return the entry of a record; with a reason, it is blocked."""
    entry = {"kind": kind.value, "id": id_, "at": at, "severity": "removed"}
    return entry if reason is None else entry | {"severity": "blocked", "reason": reason}


def withdrawn_entries(withdrawals: Iterable[Withdrawal]) -> list[dict[str, Any]]:
    """Return the entries of records, in the same order."""
    return [withdrawn_entry(each.kind, each.id, each.at, each.reason) for each in withdrawals]


def withdrawn_file(entries: Iterable[dict[str, Any]]) -> bytes:
    """Return the content of the file, whose entries come newest first."""
    return canonical({"withdrawn": list(entries)})
