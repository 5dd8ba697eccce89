"""The rules for proposing changes, for applying them, and for what their undoing means (contract R2, R3).

A proposed change is the JSON of a bulk change with two more fields: ``before``, the record when it was proposed, and
``own``, whether it relies on ``proposals:write`` alone. If a reviewer edited it, a third field ``submitted`` has the
record as the submitter would have left it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic_core import to_json

from logoadmin.domain.changes.bulk_changes import BulkChange, Step, Verb, placed, step_of
from logoadmin.domain.changes.notices import NOTICE_DELAY, Notices
from logoadmin.domain.gallery.audited_artworks import check_authors
from logoadmin.domain.kernel.access import Rights, Scope
from logoadmin.domain.kernel.act_log import BLOCKED_FIELD
from logoadmin.domain.kernel.details import Details
from logoadmin.domain.kernel.errors import InvalidInput, NotPermitted, Outdated, Problem
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS, KINDS, AnyKind
from logoadmin.domain.kernel.records import Author, Change, Kind, version_of
from logoadmin.domain.kernel.unit_of_work import (
    AuditedUnitOfWork,
    Reading,
    change_log_of,
    get_existing,
    history_in,
    proposals_in,
    shared_settings,
)
from logoadmin.domain.publication.css.targets import Targets, targets_of
from logoadmin.ports.proposal_storage import ProposalState, StoredProposal

Values = Mapping[str, Any]

_AUTHOR_IDS: Final = "author_ids"
# The fields that change the details of an artwork.
_DETAILS: Final = ("details", "add_tags", "remove_tags")
# Why submitters cannot set a field of their own records; other fields have a common text.
_NOT_SETTABLE: Final = {
    "active": "Submitters do not set this: a proposal that is applied makes it active",
    "unblock": "Submitters do not lift a block",
    "details": "Submitters do not remove all of them: name the members",
    "details.origin": "Submitters do not set this: it is the id that an artwork had elsewhere",
    "user_id": "Submitters do not give their author to another user",
}
_VERBS: Final[Sequence[Verb]] = ("create", "block", "remove")
_BITS: Final = {kind: 1 << place for place, kind in enumerate(KINDS.values())}


def bits_of(kinds: Iterable[AnyKind]) -> int:
    """Return the bits of kinds of record."""
    return sum(_BITS[kind] for kind in {*kinds})


def kinds_in(bits: int) -> Iterator[AnyKind]:
    """Yield the kinds of record with these bits."""
    return (kind for kind, bit in _BITS.items() if bits & bit)


def own_author(uow: AuditedUnitOfWork, user_id: int | None) -> Author | None:
    """Return the author with a user's number at the community site; None without one."""
    return None if user_id is None else uow.records(AUTHORS).find("user_id", user_id)


def decision(uow: AuditedUnitOfWork, proposal: StoredProposal, state: ProposalState) -> StoredProposal:
    """Return a proposal that the caller applied, declined or withdrew now."""
    has_unapplied = state is not ProposalState.APPLIED or any("submitted" in each for each in proposal.changes)
    since = uow.now if has_unapplied and proposal.changes else None
    decided = replace(proposal, state=state, decided_at=uow.now, decided_by=uow.held.user_id)
    return replace(decided, undone_change=None, unapplied_since=since)


def waiting_again(uow: AuditedUnitOfWork, proposal: StoredProposal) -> StoredProposal:
    """Return a decided proposal as one that waits again from now on."""
    undecided = replace(proposal, reason=None, decided_at=None, decided_by=None, unapplied_since=None)
    return replace(undecided, state=ProposalState.WAITING, waiting_since=uow.now)


def size_of(proposal: StoredProposal) -> int:
    """Return the size of the changes and the note, in bytes."""
    return len(to_json(proposal.changes)) + len(proposal.note.encode())


def needs_author(change: Values) -> bool:
    """Return whether a change creates an artwork that gets the submitter's own author."""
    creates = change["own"] and KINDS[change["kind"]] in ARTWORK_KINDS and "create" in change
    return creates and _AUTHOR_IDS not in change["create"]


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
    given = _values(change)
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
        values = change["block"] if verb == "block" else _values(change)
        yield place, step_of(kind, verb, values, {} if verb == "create" else {kind.id_field: change["id"]})


def _creates_author_of(user_id: int | None, change: Values) -> bool:
    is_new_author = KINDS[change["kind"]] is AUTHORS and "create" in change
    return is_new_author and bool(change["create"]["user_id"] == user_id)


def changes_to_store(
    uow: AuditedUnitOfWork,
    changes: Sequence[BulkChange],
    steps: Sequence[Step],
    earlier: Sequence[Values],
    *,
    by_submitter: bool,
) -> tuple[Values, ...]:
    """Return the changes to store, if the caller may propose them.

    Changes that are sent again keep their ``before`` and the right that they rely on.
    """
    befores = {(*_key(change), change.get("version")): change["before"] for change in earlier}
    owned = {_key(change) for change in earlier if change["own"]}
    found: list[Values] = []
    problems: list[Problem] = []
    targets = targets_of(shared_settings(uow))
    for place, (change, step) in enumerate(zip(changes, steps, strict=True)):
        given = change.model_dump(mode="json", exclude_defaults=True)
        with placed(place):
            own = by_submitter and not uow.held.hold(step.kind.write_scope)
            if own and isinstance(uow.held, Rights):
                _require_own(uow, uow.held, change, step)
            else:
                uow.held.require([step.kind.write_scope])
            before = _before(uow, change, step, befores)
            # The id of an author that the proposal creates is unknown.
            check_authors(uow, step.author_ids or ())
        if change.id is not None and any(_key(each) == _key(given) for each in found):
            problems.append(Problem(("changes", place, "id"), "A proposal should change a record once", "value_error"))
        problems += _not_settable(place, change, step, targets, before) if own else ()
        found.append(given | {"before": before, "own": own or (not by_submitter and _key(given) in owned)})
    if problems:
        raise InvalidInput(problems)
    return tuple(found if by_submitter else _with_submitted(found, earlier))


def _not_settable(
    place: int, change: BulkChange, step: Step, targets: Targets, before: Values | None
) -> Iterator[Problem]:
    """Yield the problems of values that submitters cannot set in their own records."""
    settable = {*step.kind.settable}
    if step.kind is AUTHORS and change.create:  # a new author begins with the number of its user
        settable.add("user_id")
    field = "create" if change.set is None else "set"
    for name, value in (change.set or change.create or {}).items():
        if name == "target" and not targets.are_offering(value) and (before is None or before[name] != value):
            known = ", ".join(each.id for each in targets)
            text = f"Input should be one of the targets {known}, or the name of a host"
            yield Problem(("changes", place, field, name), text, "value_error")
        # For details, each member; null, for all of them, has none.
        members = [f"{name}.{member}" for member in value] if name == "details" and value is not None else [name]
        for each in members:
            if each not in settable:
                text = _NOT_SETTABLE.get(each, "Submitters do not set this")
                yield Problem(("changes", place, field, *each.split(".")), text, "value_error")


def stale(uow: AuditedUnitOfWork, changes: Iterable[Values], user_id: int | None) -> list[str]:
    """Return the names of the records that changed since these changes were proposed.

    Only the fields that a change sets are compared: a new link of an artwork affects its ``author_ids`` alone.
    """
    found: list[str] = []
    for change in changes:
        kind, values = KINDS[change["kind"]], _values(change)
        authors = values.get(_AUTHOR_IDS, ()) if kind in ARTWORK_KINDS else ()
        found += [f"Author {id_}" for id_ in authors if uow.records(AUTHORS).get(id_) is None]
        if "id" not in change:
            continue
        record, before = uow.records(kind).get(change["id"]), change["before"]
        fields = values.keys() - {"unblock"} if "set" in change else before.keys() - {_AUTHOR_IDS}
        current = None if record is None else _snapshot(uow, kind, record)
        if current is None or any(_differ(current, before, name, values.get(name)) for name in fields):
            found.append(f"{kind.name} {change['id']}")
        elif change["own"] and not _is_own(record, user_id):
            found.append(f"{kind.name} {change['id']}, which is no longer the submitter's")
    return found


def _differ(current: Values, before: Values, name: str, value: Any) -> bool:
    """Return whether a field to be set differs from before; for details, only the members in ``value``."""
    if name != "details" or value is None:
        return bool(current.get(name) != before.get(name))
    now, then = current.get(name, {}), before.get(name, {})
    return any(now.get(member) != then.get(member) for member in value)


def _values(change: Values) -> dict[str, Any]:
    """Return the values that a change sets; artworks by ``proposals:write`` alone become active, unless blocked."""
    values = {**(change.get("set") or change.get("create") or {})}
    if change["own"] and KINDS[change["kind"]] in ARTWORK_KINDS and ("set" in change or "create" in change):
        values |= {} if BLOCKED_FIELD in (change["before"] or ()) or "active" in values else {"active": True}
    return values


def _with_submitted(changes: Sequence[Values], earlier: Sequence[Values]) -> Iterator[Values]:
    """Yield changes as a reviewer sent them; edited ones with the record as the submitter would have left it.

    New records have no id, so each is matched with the earlier one that shares the most fields.
    """
    origins: dict[int, int] = {}
    likeness = [
        (-_likeness(change, each), place, origin)
        for place, change in enumerate(changes)
        for origin, each in enumerate(earlier)
        if _key(each) == _key(change)
    ]
    for _, place, origin in sorted(likeness):
        if place not in origins and origin not in origins.values():
            origins[place] = origin
    for place, change in enumerate(changes):
        proposed = earlier[origins[place]] if place in origins else None
        submitted = None if proposed is None else proposed.get("submitted", after(proposed))
        yield change if submitted in (None, after(change)) else {**change, "submitted": submitted}


def _likeness(change: Values, earlier: Values) -> int:
    """Return the number of fields that both changes would leave with the same value."""
    new, old = after(change) or {}, after(earlier) or {}
    return sum(name in old and old[name] == value for name, value in new.items())


def _key(change: Values) -> tuple[str, int | None]:
    return change["kind"], change.get("id")


def _before(uow: AuditedUnitOfWork, change: BulkChange, step: Step, known: Mapping[Any, Any]) -> Values | None:
    """Return the record before a change; None for a new one."""
    if change.id is None:
        return None
    record = get_existing(uow, step.kind, change.id)
    if (key := (change.kind.value, change.id, change.version)) in known:
        before: Values = known[key]
        return before
    if version_of(record) > (change.version or 0):
        raise Outdated(step.kind.name, change.id)
    return _snapshot(uow, step.kind, record)


def _snapshot(uow: AuditedUnitOfWork, kind: AnyKind, record: Any) -> Values:
    """Return the fields of a record; for an artwork, with the ids of its authors."""
    values = {**uow.records(kind).serialized(record)}
    if kind in ARTWORK_KINDS:
        values[_AUTHOR_IDS] = [link["author_id"] for link in values.pop("authors")]
    return values


def _require_own(uow: AuditedUnitOfWork, held: Rights, change: BulkChange, step: Step) -> None:
    """Require that ``proposals:write`` is enough for a change of a record that exists (contract R2)."""
    held.require([Scope.PROPOSALS_WRITE])
    if not step.kind.settable or step.verb == "block":
        raise NotPermitted
    record = None if change.id is None else get_existing(uow, step.kind, change.id)
    owned = step.command if record is None and step.kind is AUTHORS else record
    if owned is not None and not _is_own(owned, held.user_id):
        raise NotPermitted
    own = own_author(uow, held.user_id)
    known = {author.author_id for author in (own, *getattr(record, "authors", ())) if author is not None}
    if not known.issuperset(step.author_ids or ()):
        held.require([Scope.AUTHORS_WRITE])


def _is_own(record: Any, user_id: int | None) -> bool:
    """Return whether a record is the author of a user, or one of their works."""
    return any(author.user_id == user_id for author in getattr(record, "authors", (record,)))


def forget_unapplied(uow: Reading, until: int, most: int) -> bool:
    """Drop the unapplied texts of up to ``most`` proposals decided by a Unix time; return whether more may be left."""
    proposals = proposals_in(uow)
    found = proposals.unapplied(until, most)
    for each in found:
        # What the submitter proposed, if a reviewer edited it.
        changes = [{name: change[name] for name in change if name != "submitted"} for change in each.changes]
        is_applied = each.state is ProposalState.APPLIED
        kept = replace(each, changes=changes) if is_applied else replace(each, changes=(), note="")
        proposals.update(replace(kept, size=size_of(kept), unapplied_since=None, version=proposals.next_version()))
    return len(found) >= most


def follow_undoing(uow: AuditedUnitOfWork, change_ids: Collection[int], notices: Notices) -> None:
    """Update the states of proposals, some of whose changes were just undone or redone.

    A proposal is applied while any of its changes is in effect, and waits again once all are undone.
    """
    if change_ids:
        change_log_of(uow).store()
    last = 0
    for change_id in sorted(change_ids):
        proposal = proposals_in(uow).made_change(change_id) if change_id > last else None
        if proposal is not None and proposal.last_change is not None:
            last = proposal.last_change
            updated = _with_current_state(uow, proposal)
            if updated.state is not proposal.state:
                proposals_in(uow).update(replace(updated, version=proposals_in(uow).next_version()))
                # No notice was sent of a decision that was undone at once.
                if uow.now >= (proposal.decided_at or 0) + NOTICE_DELAY:
                    notices.of_proposal(uow, updated)


def _with_current_state(uow: AuditedUnitOfWork, proposal: StoredProposal) -> StoredProposal:
    """Return a proposal in the state that follows from its undone changes."""
    undoers = [_undoer_of(uow, id_) for id_ in range(proposal.first_change or 0, (proposal.last_change or 0) + 1)]
    if None in undoers:
        return decision(uow, replace(proposal, reason=None), ProposalState.APPLIED)
    if proposal.state is not ProposalState.APPLIED:
        return proposal
    undone_change = max(undoer for undoer in undoers if undoer is not None)
    return replace(waiting_again(uow, proposal), undone_change=undone_change)


def _undoer_of(uow: AuditedUnitOfWork, change_id: int) -> int | None:
    """Return the change that undid another one; None if that one is in effect."""
    undoers = [change_id]
    while undoer := history_in(uow).undoer_of(undoers[-1]):
        undoers.append(undoer[0])
    return None if len(undoers) % 2 else undoers[1]


def came_with_artwork(uow: AuditedUnitOfWork, change: Change) -> bool:
    """Return whether a change created the submitter's own author, as part of a proposal's artworks."""
    made_change = proposals_in(uow).made_change
    is_own = change.kind is Kind.AUTHOR and change.after is not None and change.after["user_id"] == change.submitter_id
    return is_own and made_change(change.change_id) is None and made_change(change.change_id + 1) is not None
