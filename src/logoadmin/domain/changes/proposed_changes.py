"""A proposed change: the JSON of a bulk change with two more fields (contract R2, R3).

``before`` is the record when it was proposed, and ``own`` whether the change relies on ``proposals:write`` alone. If a
reviewer edited it, a third field ``submitted`` has the record as the submitter would have left it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic_core import to_json

from logoadmin.domain.changes.bulk_changes import Step, Verb, step_of
from logoadmin.domain.kernel.act_log import BLOCKED_FIELD
from logoadmin.domain.kernel.details import Details
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS, KINDS, AnyKind
from logoadmin.ports.proposal_storage import StoredProposal

Values = Mapping[str, Any]

AUTHOR_IDS: Final = "author_ids"
# The fields that change the details of an artwork.
_DETAILS: Final = ("details", "add_tags", "remove_tags")
_VERBS: Final[Sequence[Verb]] = ("create", "block", "remove")
_BITS: Final = {kind: 1 << place for place, kind in enumerate(KINDS.values())}


def bits_of(kinds: Iterable[AnyKind]) -> int:
    """Return the bits of kinds of record."""
    return sum(_BITS[kind] for kind in {*kinds})


def kinds_in(bits: int) -> Iterator[AnyKind]:
    """Yield the kinds of record with these bits."""
    return (kind for kind, bit in _BITS.items() if bits & bit)


def size_of(proposal: StoredProposal) -> int:
    """Return the size of the changes and the note, in bytes."""
    return len(to_json(proposal.changes)) + len(proposal.note.encode())


def needs_author(change: Values) -> bool:
    """Return whether a change creates an artwork that gets the submitter's own author."""
    creates = change["own"] and KINDS[change["kind"]] in ARTWORK_KINDS and "create" in change
    return creates and AUTHOR_IDS not in change["create"]


def brings_author(changes: Sequence[Values], user_id: int | None) -> bool:
    """Return whether changes need the submitter's own author, and do not create it."""
    return any(map(needs_author, changes)) and not any(_creates_author_of(user_id, each) for each in changes)


def after(change: Values) -> Values | None:
    """Return the record as a change would leave it; None if it is removed."""
    if change.get("remove"):
        return None
    before = change["before"] or {}
    if "block" in change:
        return {**before, "active": False, BLOCKED_FIELD: change["block"]["reason"]}
    given = values_of(change)
    values = {**before, **given}
    values.pop("unblock", None)
    if KINDS[change["kind"]] in ARTWORK_KINDS:
        if not given.keys().isdisjoint(_DETAILS):
            values = {name: value for name, value in values.items() if name not in _DETAILS}
            values |= _details_after(before, given)
        if values.setdefault("active", False):
            values.pop(BLOCKED_FIELD, None)
    return values


def _details_after(before: Values, values: Values) -> Values:
    """Return the details of an artwork after it gets values, as in snapshots: omitted while they are empty."""
    details = Details.stored(before.get("details", {}))
    if "details" in values:
        given = values["details"]
        details = details.merged(None if given is None else Details(**given))
    added, removed = (Details(tags=values.get(name)).tags or () for name in ("add_tags", "remove_tags"))
    members = details.retagged(added, removed).members()
    return {"details": members} if members else {}


def steps_in(changes: Iterable[Values], user_id: int | None) -> Iterator[tuple[int, Step]]:
    """Yield the places and commands of a submitter's changes, for any version of their records, in execution order.

    The own author of the submitter is created before it is needed.
    """
    for place, change in sorted(enumerate(changes), key=lambda each: not _creates_author_of(user_id, each[1])):
        kind = KINDS[change["kind"]]
        verb: Verb = next((verb for verb in _VERBS if verb in change), "amend")
        values = change["block"] if verb == "block" else values_of(change)
        yield place, step_of(kind, verb, values, {} if verb == "create" else {kind.id_field: change["id"]})


def _creates_author_of(user_id: int | None, change: Values) -> bool:
    is_new_author = KINDS[change["kind"]] is AUTHORS and "create" in change
    return is_new_author and bool(change["create"]["user_id"] == user_id)


def values_of(change: Values) -> dict[str, Any]:
    """Return the values that a change sets; artworks by ``proposals:write`` alone become active, unless blocked."""
    values = {**(change.get("set") or change.get("create") or {})}
    if change["own"] and KINDS[change["kind"]] in ARTWORK_KINDS and ("set" in change or "create" in change):
        values |= {} if BLOCKED_FIELD in (change["before"] or ()) or "active" in values else {"active": True}
    return values
