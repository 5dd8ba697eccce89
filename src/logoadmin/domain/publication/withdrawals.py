"""Withdrawn records, of which readers must know (contract L3)."""

from collections.abc import Iterable
from typing import Any, Final

from logoadmin.domain.model.records import Kind
from logoadmin.domain.publication.index import canonical

# Readers learn of what was withdrawn in these days, up to a number of records.
WITHDRAWN_DAYS: Final = 90
MOST_WITHDRAWN: Final = 1_000
# Blocked records that are in the pointer itself.
MOST_BLOCKED: Final = 30


def withdrawn_entry(kind: Kind, id_: int, at: int, reason: str | None) -> dict[str, Any]:
    """Return the entry of a record; with a reason, it is blocked."""
    entry = {"kind": kind.value, "id": id_, "at": at, "severity": "removed"}
    return entry if reason is None else entry | {"severity": "blocked", "reason": reason}


def withdrawn_file(entries: Iterable[dict[str, Any]]) -> bytes:
    """Return the content of the file, whose entries come newest first."""
    return canonical({"withdrawn": list(entries)})
