"""The rules for proposing changes and for applying them (contract R2, R3)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from logoadmin.domain.changes.bulk_changes import BulkChange, Step, placed
from logoadmin.domain.changes.proposed_changes import AUTHOR_IDS, Values, after, values_of
from logoadmin.domain.gallery.audited_artworks import check_authors
from logoadmin.domain.kernel.access import Rights, Scope
from logoadmin.domain.kernel.errors import InvalidInput, NotPermitted, Outdated, Problem
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS, KINDS, AnyKind
from logoadmin.domain.kernel.records import Author, version_of
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, get_existing, shared_settings
from logoadmin.domain.publication.css.targets import Targets, targets_of

# Why submitters cannot set a field of their own records; other fields have a common text.
_NOT_SETTABLE: Final = {
    "active": "Submitters do not set this: a proposal that is applied makes it active",
    "unblock": "Submitters do not lift a block",
    "details": "Submitters do not remove all of them: name the members",
    "details.origin": "Submitters do not set this: it is the id that an artwork had elsewhere",
    "user_id": "Submitters do not give their author to another user",
}


def own_author(uow: AuditedUnitOfWork, user_id: int | None) -> Author | None:
    """Return the author with a user's number at the community site; None without one."""
    return None if user_id is None else uow.records(AUTHORS).find("user_id", user_id)


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
        kind, values = KINDS[change["kind"]], values_of(change)
        authors = values.get(AUTHOR_IDS, ()) if kind in ARTWORK_KINDS else ()
        found += [f"Author {id_}" for id_ in authors if uow.records(AUTHORS).get(id_) is None]
        if "id" not in change:
            continue
        record, before = uow.records(kind).get(change["id"]), change["before"]
        fields = values.keys() - {"unblock"} if "set" in change else before.keys() - {AUTHOR_IDS}
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
        values[AUTHOR_IDS] = [link["author_id"] for link in values.pop("authors")]
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
