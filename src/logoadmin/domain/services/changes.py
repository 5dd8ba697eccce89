"""What happened, and undoing it (contract G, G2)."""

from dataclasses import replace

from logoadmin.domain.audit.change_log import CREATED, PASSWORD_SET, RESTORED, Snapshot, deserialized, with_defaults
from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork
from logoadmin.domain.model.access import OWNER, SIGNED_IN, Caller, Permission, Scope
from logoadmin.domain.model.command import Command
from logoadmin.domain.model.errors import Conflict, NotFound, NotPermitted
from logoadmin.domain.model.kinds import AUTHORS, KINDS, AnyKind
from logoadmin.domain.model.limits import Id
from logoadmin.domain.model.lists import ListCommand, Listing
from logoadmin.domain.model.records import Change
from logoadmin.domain.transactions import Transactions


class ListChanges(ListCommand):
    """What happened, in order."""

    permission = Permission(Scope.CHANGES_READ)


class Revert(Command):
    """That a change be undone; it takes the right to change such a record."""

    permission = SIGNED_IN

    change_id: Id


class ChangeService:
    """What can be done with the history. Every method may also raise what :class:`Transactions` raises."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def list(self, command: ListChanges, caller: Caller = OWNER) -> Listing[Change]:
        """Return what happened, by change_id, the order in which it was stored (contract G)."""
        return self._transactions.changes(command, caller)

    def version(self) -> int:
        """Return the version of all records together, which rises with every change of any of them (contract F1)."""
        return self._transactions.version()

    def revert(self, command: Revert, caller: Caller = OWNER) -> Change:
        """Undo a change, and return the change that this is (contract G2).

        A record that was amended gets its old values, one that was created goes, one that was removed comes back
        with its id, its ``created_at`` and its author links; a user comes back without a password.

        Raises:
            NotFound: there is no such change.
            NotPermitted: the caller may not change such records, or not this one (contract B4).
            Conflict: the record, or what its links lead to, was changed since, and the text says by which change; or
                the change is of a kind that cannot be undone.
            DuplicateUpdate: another record has one of the old values by now; DuplicateEntry: of one that comes back.
        """
        return self._transactions.write(command, caller, self._revert)

    def _revert(self, uow: AuditedUnitOfWork, command: Revert) -> Change:
        change = _permitted(uow, command.change_id)
        kind = KINDS[change.kind]
        uow.records(kind).authorize(uow.records(kind).get(change.id), **(change.before or {}))
        if change.action == f"{change.kind}.{PASSWORD_SET}":
            raise Conflict(f"Change {change.change_id} cannot be undone: old passwords are not kept")
        if _now(uow, kind, change.id) != change.after:
            raise Conflict(_since(uow, kind, change.id))
        if change.before is None:
            _undo_creation(uow, kind, change)
        else:
            _restore(uow, kind, change, change.before)
        return uow.change_log.changes[-1]


def _permitted(uow: AuditedUnitOfWork, change_id: int) -> Change:
    """Return a change that the caller may undo, as it would be written today: old history stays usable (contract G4).

    Raises:
        NotPermitted: they may not; to strangers, changes that are there and that are not look alike.
        NotFound: there is no such change.
    """
    held = uow.change_log.held
    if held is not None and not any(held.hold(kind.write_scope) for kind in KINDS.values()):
        raise NotPermitted
    change = uow.changes.get(change_id)
    if change is None:
        raise NotFound("Change", change_id)
    kind = KINDS[change.kind]
    if held is not None and not held.hold(kind.write_scope):
        raise NotPermitted
    return replace(change, before=with_defaults(kind, change.before), after=with_defaults(kind, change.after))


def _undo_creation(uow: AuditedUnitOfWork, kind: AnyKind, change: Change) -> None:
    """Remove a record that nobody has linked since."""
    if change.action == f"{kind.kind}.{CREATED}":
        for linked, links in uow.records(kind).links(change.id).items():
            if linked is not kind and links:
                raise Conflict(_since(uow, linked, links[0].artwork_id))
    uow.records(kind).remove(change.id)


def _restore(uow: AuditedUnitOfWork, kind: AnyKind, change: Change, before: Snapshot) -> None:
    """Give a record its old values and links, once all that it is to refer to again is there."""
    values, links = deserialized(kind, change.id, before)
    records = uow.records(kind)
    for field, referred in kind.references.items():
        _check_there(uow, KINDS[referred], values[field])
    for linked, theirs in links.items():
        for link in theirs:
            _check_there(uow, AUTHORS, link.author_id) if linked is kind else _check_there(uow, linked, link.artwork_id)
    record = kind.record(**values, authors=()) if kind in links else kind.record(**values)
    if change.after is None:
        records.add(record, RESTORED, links)
        return
    relinked = {linked: theirs for linked, theirs in links.items() if theirs != records.links(change.id)[linked]}
    for linked, theirs in relinked.items():
        uow.links(linked).replace(change.id, theirs)
    # Also where nothing differs: that it was undone is a change, too.
    if not relinked or kind.values_of(record) != kind.values_of(records.there(change.id)):
        records.update(record)


def _now(uow: AuditedUnitOfWork, kind: AnyKind, id_: int) -> Snapshot | None:
    """Return what the history would say of a record as it is now; None if it is not there."""
    record = uow.records(kind).get(id_)
    return None if record is None else uow.records(kind).serialized(record)


def _since(uow: AuditedUnitOfWork, kind: AnyKind, id_: int) -> str:
    last, record = uow.changes.last_of(kind.kind, id_), uow.records(kind).get(id_)
    if record is not None:
        # An artwork that lost an author, or got one back, was changed by a change of that author.
        last = max(last, record.version)
    return f"{kind.name} {id_} was changed since, by change {last}"


def _check_there(uow: AuditedUnitOfWork, kind: AnyKind, id_: int) -> None:
    """Make sure that what a record is to refer to again is there."""
    if uow.records(kind).get(id_) is None:
        raise Conflict(_since(uow, kind, id_))
