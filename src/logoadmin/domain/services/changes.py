"""What happened, and undoing it (contract G, G2, G4)."""

from collections.abc import Collection, Iterator
from dataclasses import MISSING, fields, replace
from typing import Any

from pydantic import ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from logoadmin.domain.audit.records import CREATED, PASSWORD_SET, RESTORED, LinksByKind, Snapshot
from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork, links_field
from logoadmin.domain.model.access import OWNER, SIGNED_IN, Caller, Permission, Scope
from logoadmin.domain.model.command import Command
from logoadmin.domain.model.errors import Conflict, NotFound, NotPermitted
from logoadmin.domain.model.kinds import ARTWORK_KINDS, AUTHORS, KINDS, AnyKind
from logoadmin.domain.model.limits import Action, Id, RequestId, UnixTime
from logoadmin.domain.model.lists import CHANGE_PAGE_SIZES, ChangeFilter, ListCommand, Listing
from logoadmin.domain.model.records import Change, Kind, Link, Undone
from logoadmin.domain.transactions import Transactions


class ListChanges(ListCommand):
    """What happened, in order: everything, or what is asked for (contract G3)."""

    permission = Permission(Scope.CHANGES_READ)

    kind: Kind | None = None
    id: Id | None = None
    user_id: Id | None = None
    action: Action | None = None
    request_id: RequestId | None = None
    since: UnixTime | None = None
    until: UnixTime | None = None

    @field_validator("id")
    @classmethod
    def _needs_kind(cls, id_: int | None, others: ValidationInfo) -> int | None:
        # A kind that is none is not among the others, and has a problem of its own.
        if id_ is not None and others.data.get("kind", ...) is None:
            raise PydanticCustomError("value_error", "Input should be given together with kind")
        return id_

    def filter(self) -> ChangeFilter:
        """Return what is asked of the changes of the list."""
        return ChangeFilter(**{name: getattr(self, name) for name in ChangeFilter.__slots__})

    @property
    def searches(self) -> bool:
        """Whether changes are compared one by one: what is asked is not what an index has."""
        return len(self.filter().given.keys() - {"id", "since", "until"}) > 1


class Revert(Command):
    """That a change be undone; it takes the right to change such a record."""

    permission = SIGNED_IN

    change_id: Id


class RevertRequest(Command):
    """That all be undone that a request changed; it takes the rights to change records of each kind concerned."""

    permission = SIGNED_IN
    takes_long = True

    request_id: RequestId


class ChangeService:
    """What can be done with the history. Every method may also raise what :class:`Transactions` raises."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def list(self, command: ListChanges, caller: Caller = OWNER) -> Listing[Change]:
        """Return what happened, by change_id, the order in which it was stored (contract G, G3)."""
        return self._transactions.changes(command, caller, command.filter())

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
        return self._transactions.write(command, caller, _revert)

    def revert_request(self, command: RevertRequest, caller: Caller = OWNER) -> Listing[Change]:
        """Undo all that a request changed, the newest first, and return the changes that this makes (contract G4).

        Each is undone as :meth:`revert` does it; all are, or none. A password that the request set stays. Inside
        :meth:`~logoadmin.domain.logo_admin.LogoAdmin.atomic` the answer can be read only after its end.

        Raises:
            NotFound: the history has no such request.
            NotPermitted: the caller may not change records of each kind concerned, or not one of these (contract B4).
            Conflict: something else changed one of the records since, and the text says which change.
            DuplicateUpdate: another record has one of the old values by now; DuplicateEntry: of one that comes back.
        """
        undone = self._transactions.write(command, caller, _revert_request)
        return self._transactions.changes_between(undone.after, undone.last)


def _revert(uow: AuditedUnitOfWork, command: Revert) -> Change:
    _check_no_stranger(uow)
    change = uow.changes.get(command.change_id)
    if change is None:
        raise NotFound("Change", command.change_id)
    _check_permitted(uow, [change.kind])
    _authorize(uow, change)
    if _is_password(change):
        raise Conflict(f"Change {change.change_id} cannot be undone: old passwords are not kept")
    _Undo(uow).undo(change)
    return uow.change_log.changes[-1]


def _revert_request(uow: AuditedUnitOfWork, command: RevertRequest) -> Undone:
    _check_no_stranger(uow)
    kinds = uow.changes.kinds_of_request(command.request_id)
    if not kinds:
        raise NotFound("Request", command.request_id)
    _check_permitted(uow, kinds)
    last = uow.changes.last_id()
    undo, undone = _Undo(uow, command.request_id, last), 0
    for change in _newest_first(uow, command.request_id, last):
        if not _is_password(change):
            _authorize(uow, change)
            uow.change_log.separate()
            undo.undo(change)
            undone += 1
    return Undone(last, last + undone)


def _newest_first(uow: AuditedUnitOfWork, request_id: str, last: int) -> Iterator[Change]:
    below, asked = last + 1, CHANGE_PAGE_SIZES.first
    while page := uow.changes.of_request(request_id, below, asked):
        yield from page
        below, asked = page[-1].change_id, CHANGE_PAGE_SIZES.following(page)


def _check_no_stranger(uow: AuditedUnitOfWork) -> None:
    """Refuse who may change nothing: to them, changes that are there and that are not look alike."""
    held = uow.held
    if held is not None and not any(held.hold(kind.write_scope) for kind in KINDS.values()):
        raise NotPermitted


def _check_permitted(uow: AuditedUnitOfWork, kinds: Collection[Kind]) -> None:
    """Refuse who may not change records of each of these kinds."""
    held = uow.held
    if held is not None:
        held.require(KINDS[kind].write_scope for kind in kinds)


def _authorize(uow: AuditedUnitOfWork, change: Change) -> None:
    """Refuse who goes beyond themselves with the record as it was (contract B4)."""
    records = uow.records(KINDS[change.kind])
    records.authorize(records.get(change.id), **(_with_defaults(KINDS[change.kind], change.before) or {}))


def _is_password(change: Change) -> bool:
    return change.action == f"{change.kind}.{PASSWORD_SET}"


class _Undo:
    """Undoes changes, the newest first: each of them has to find its record as it left it."""

    def __init__(self, uow: AuditedUnitOfWork, request_id: str | None = None, last: int | None = None) -> None:
        """Undo one change, or those of a request; then only what others changed, up to a change, is in the way."""
        self._uow, self._request_id, self._last = uow, request_id, last

    def undo(self, change: Change) -> None:
        """Undo a change as it would be written today: old history stays usable (contract G4).

        Raises:
            Conflict: the record, or what it refers to, was changed since; or a newer program made the change.
        """
        kind = KINDS[change.kind]
        if any(_has_unknown_fields(kind, serialized) for serialized in (change.before, change.after)):
            raise Conflict(f"Change {change.change_id} cannot be undone here: it is of a newer logoadmin")
        change = replace(change, before=_with_defaults(kind, change.before), after=_with_defaults(kind, change.after))
        if self._now(kind, change.id) != change.after:
            raise Conflict(self._since(kind, change.id))
        if change.before is None:
            self._undo_creation(kind, change)
        else:
            self._restore(kind, change, change.before)

    def _undo_creation(self, kind: AnyKind, change: Change) -> None:
        """Remove a record that nobody has linked since."""
        if change.action == f"{kind.kind}.{CREATED}":
            for linked, links in self._uow.records(kind).links(change.id).items():
                if linked is not kind and links:
                    raise Conflict(self._since(linked, links[0].artwork_id))
        self._uow.records(kind).remove(change.id)

    def _restore(self, kind: AnyKind, change: Change, before: Snapshot) -> None:
        """Give a record its old values and links, once all that it is to refer to again is there."""
        values, links = _deserialized(kind, change.id, before)
        records = self._uow.records(kind)
        for field, referred in kind.references.items():
            self._check_exists(KINDS[referred], values[field])
        for linked, theirs in links.items():
            for link in theirs:
                there = (AUTHORS, link.author_id) if linked is kind else (linked, link.artwork_id)
                self._check_exists(*there)
        record = kind.record(**values, authors=()) if kind in links else kind.record(**values)
        if change.after is None:
            records.add(record, RESTORED, links)
            return
        relinked = {linked: theirs for linked, theirs in links.items() if theirs != records.links(change.id)[linked]}
        for linked, theirs in relinked.items():
            self._uow.links(linked).replace(change.id, theirs)
        # Also where nothing differs: that it was undone is a change, too.
        if not relinked or kind.values_of(record) != kind.values_of(records.get_existing(change.id)):
            records.update(record)

    def _now(self, kind: AnyKind, id_: int) -> Snapshot | None:
        """Return what the history would say of a record as it is now; None if it is not there."""
        record = self._uow.records(kind).get(id_)
        return None if record is None else self._uow.records(kind).serialized(record)

    def _since(self, kind: AnyKind, id_: int) -> str:
        last = self._uow.changes.last_of(kind.kind, id_, self._request_id)
        record = self._uow.records(kind).get(id_)
        if record is not None and (self._last is None or record.version <= self._last):
            # An artwork that lost an author, or got one back, was changed by a change of that author.
            last = max(last, record.version)
        return f"{kind.name} {id_} was changed since, by change {last}"

    def _check_exists(self, kind: AnyKind, id_: int) -> None:
        """Make sure that what a record is to refer to again is there."""
        if self._uow.records(kind).get(id_) is None:
            raise Conflict(self._since(kind, id_))


def _with_defaults(kind: AnyKind, serialized: Snapshot | None) -> Snapshot | None:
    """Return what the history says of a record, with the defaults of the fields that there were not yet."""
    if serialized is None:
        return None
    optional = (each for each in fields(kind.record) if each.default is not MISSING and each.name != "version")
    return {**{each.name: _as_json(each.default) for each in optional}, **serialized}


def _has_unknown_fields(kind: AnyKind, serialized: Snapshot | None) -> bool:
    """Tell whether the history says something of a record that only a newer program knows (contract K7)."""
    links = {links_field(kind, linked) for linked in ARTWORK_KINDS}
    return serialized is not None and not serialized.keys() <= {*kind.stored_fields, *links}


def _as_json(value: Any) -> Any:
    return [*value] if isinstance(value, tuple) else value


def _deserialized(kind: AnyKind, id_: int, serialized: Snapshot) -> tuple[dict[str, Any], LinksByKind]:
    """Return the values of a record's fields and its links from what the history says of it."""
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in serialized.items()}
    links = {
        linked: tuple(
            Link(link[linked.link_id_field], link.get(linked.id_field, id_), link.get("author_id", id_))
            for link in values.pop(field)
        )
        for linked in ARTWORK_KINDS
        if (field := links_field(kind, linked)) in values
    }
    return values, links
