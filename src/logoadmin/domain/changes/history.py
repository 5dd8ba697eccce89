"""The history of changes, and undoing them (contract G, G2, G4)."""

from collections.abc import Collection, Iterator, Set
from dataclasses import MISSING, fields, replace
from typing import Annotated, Any

from pydantic import ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from logoadmin.domain.changes.change_list import Undone, changes_between, list_changes
from logoadmin.domain.changes.notices import Notices
from logoadmin.domain.changes.proposal_states import came_with_artwork, follow_undoing
from logoadmin.domain.gallery.audited_artworks import artworks_of, links_field
from logoadmin.domain.kernel.access import OWNER, SIGNED_IN, Caller, Permission, Scope
from logoadmin.domain.kernel.act_log import BLOCKED_FIELD, CREATED, PASSWORD_SET, RESTORED, Snapshot
from logoadmin.domain.kernel.audited_records import MOST_LOADED, LinksByKind, as_json
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.details import Details
from logoadmin.domain.kernel.errors import Conflict, NotFound, NotPermitted
from logoadmin.domain.kernel.gate import Gate, Transactions
from logoadmin.domain.kernel.kinds import (
    ARTWORK_KINDS,
    AUTHORS,
    RECORDED_KINDS,
    USERS,
    AnyArtworkKind,
    AnyKind,
    ArtworkKind,
)
from logoadmin.domain.kernel.limits import Action, ChangeId, Id, Origin, RequestId, UnixTime, described
from logoadmin.domain.kernel.lists import ChangeFilter, ListCommand, Listing
from logoadmin.domain.kernel.records import Change, Kind, Link
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, ReadUnitOfWork, acts_in, change_log_of, history_in
from logoadmin.domain.kernel.use_cases import Service, for_program, reads, storage_of, use_case, writes
from logoadmin.ports.history_storage import StoredAct

_OfRequest = Annotated[RequestId, described("Changes made by the request with this id.", "8e03978e40d5")]
_Since = Annotated[UnixTime, described("Changes at this time or later, in Unix seconds.", 1_800_000_000)]
_Until = Annotated[UnixTime, described("Changes at this time or earlier, in Unix seconds.", 1_800_086_400)]


class ListChanges(ListCommand):
    """All changes, or those that match the filters, in order (contract G3)."""

    kind: Annotated[Kind, described("Changes of records of this kind.", "author")] | None = None
    id: Annotated[Id, described("Changes of the record with this id; requires `kind`.", 7)] | None = None
    user_id: Annotated[Id, described("Changes made by this user.", 1042)] | None = None
    action: Annotated[Action, described("Changes with this action.", "author.amended")] | None = None
    request_id: _OfRequest | None = None
    since: _Since | None = None
    until: _Until | None = None

    @field_validator("id")
    @classmethod
    def _needs_kind(cls, id_: int | None, others: ValidationInfo) -> int | None:
        # An invalid kind is missing from the data, and is reported separately.
        if id_ is not None and others.data.get("kind", ...) is None:
            raise PydanticCustomError("value_error", "Input should be given together with kind")
        return id_

    def filter(self) -> ChangeFilter:
        """Return the filters of the list."""
        return ChangeFilter(**{name: getattr(self, name) for name in ChangeFilter.__slots__})

    @property
    def searches(self) -> bool:
        """Whether the filters need more than one index, so changes are compared one by one."""
        return len(self.filter().given.keys() - {"id", "since", "until"}) > 1


class Revert(Command):
    """The undoing of a change; it requires the write scope of its kind of record."""

    origin = Origin.UNDO

    change_id: ChangeId


class RevertRequest(Command):
    """The undoing of all changes of a request; it requires the write scopes of their kinds."""

    takes_long = True
    origin = Origin.UNDO

    request_id: RequestId


class ChangeService(Service):
    """The use cases of the history."""

    def __init__(self, transactions: Transactions, notices: Notices) -> None:
        super().__init__(transactions)
        self._notices = notices

    @reads(Permission(Scope.CHANGES_READ))
    def list(self, uow: ReadUnitOfWork, command: ListChanges) -> Listing[Change]:
        """Return the changes, by change_id, the order in which they were stored (contract G, G3)."""
        return list_changes(self, uow, command, command.filter())

    @for_program
    def version(self) -> int:
        """Return the version of all records together, which rises with every change (contract F1)."""
        return storage_of(self).read(lambda uow: uow.changes.last_id())

    @writes(SIGNED_IN)
    def revert(self, uow: AuditedUnitOfWork, command: Revert) -> Change:
        """Undo a change, and return the new change (contract G2).

        A record that was amended gets its old values, a created one is removed, and a removed one is restored with its
        id, its ``created_at`` and its author links; a user is restored without a password.

        Raises:
            NotFound: the change does not exist.
            NotPermitted: the caller may not change records of this kind, or not this one (contract B4).
            Conflict: a later change, named in the message, affected the record or a record linked to it; or this kind
                of change cannot be undone.
            DuplicateUpdate: another record has one of the old values; DuplicateEntry: one of a removed record's values.
        """
        _refuse_without_write_scope(uow)
        change = history_in(uow).get(command.change_id)
        if change is None:
            raise NotFound("Change", command.change_id)
        _require_write_scopes(uow, [change.kind])
        if change.kind is Kind.PICTURE:
            raise Conflict(f"Change {change.change_id} cannot be undone: removed pictures are not kept")
        _authorize(uow, change)
        if _sets_password(change):
            raise Conflict(f"Change {change.change_id} cannot be undone: old passwords are not kept")
        act = acts_in(uow).of_change(change.change_id)
        if act is not None:
            change_log_of(uow).undo_act(act, whole=act.act_id == act.last_id)
        undo = _Undo(uow)
        undo.undo(change)
        undone = change_log_of(uow).changes[-1]
        follow_undoing(uow, undo.proposed, self._notices)
        user = None if undone.user_id is None else uow.records(USERS).get(undone.user_id)
        return undone if user is None else replace(undone, user_name=user.username)

    @use_case(SIGNED_IN)
    def revert_request(self, gate: Gate, command: RevertRequest, caller: Caller = OWNER) -> Listing[Change]:
        """Undo all changes of a request, the newest first, and return the new changes (contract G4).

        Each is undone as by :meth:`revert`; all are, or none. An author that came with the artworks of a proposal needs
        no further scope (contract R3). Passwords that the request set stay, and pictures that it removed stay removed.
        In :meth:`~logoadmin.domain.logo_admin.LogoAdmin.atomic`, the result can be read only after its end.

        Raises:
            NotFound: the history has no such request.
            NotPermitted: the caller may not change records of all these kinds, or not one of the records (contract B4).
            Conflict: another change affected one of the records later; the message names it.
            DuplicateUpdate: another record has one of the old values; DuplicateEntry: one of a removed record's values.
        """
        undone = gate.write(command, caller, self._revert_request)
        return changes_between(self, undone.after, undone.last)

    def _revert_request(self, uow: AuditedUnitOfWork, command: RevertRequest) -> Undone:
        _refuse_without_write_scope(uow)
        act = acts_in(uow).of_request(command.request_id)
        if act is None:
            raise NotFound("Request", command.request_id)
        kinds = kinds_of(act)
        authors = history_in(uow).page(-1, 2, ChangeFilter(kind=Kind.AUTHOR, request_id=command.request_id))
        if len(authors) == 1 and came_with_artwork(uow, _original_of(uow, authors[0])):
            kinds = kinds - {Kind.AUTHOR}
        _require_write_scopes(uow, kinds)
        change_log_of(uow).undo_act(act, whole=True)
        last = history_in(uow).last_id()
        undo, undone = _Undo(uow, command.request_id, last), 0
        for change in _newest_first(uow, command.request_id, last):
            if not _sets_password(change) and change.kind is not Kind.PICTURE:
                _authorize(uow, change)
                undo.undo(change)
                undone += 1
        follow_undoing(uow, undo.proposed, self._notices)
        return Undone(last, last + undone)


def kinds_of(act: StoredAct) -> Set[Kind]:
    """Return the kinds of record that an act changed."""
    return {Kind(action.partition(".")[0]) for action in act.summary["actions"]}


def _newest_first(uow: AuditedUnitOfWork, request_id: str, last: int) -> Iterator[Change]:
    """Yield the changes of a request, after loading their records with few queries."""
    below = last + 1
    while page := history_in(uow).of_request(request_id, below, MOST_LOADED):
        uow.load((change.kind, change.id) for change in page if change.kind is not Kind.PICTURE)
        yield from page
        below = page[-1].change_id


def _refuse_without_write_scope(uow: AuditedUnitOfWork) -> None:
    """Reject callers without any write scope, so that they cannot probe which changes exist."""
    if not any(uow.held.hold(kind.write_scope) for kind in RECORDED_KINDS.values()):
        raise NotPermitted


def _require_write_scopes(uow: AuditedUnitOfWork, kinds: Collection[Kind]) -> None:
    """Reject callers that may not change records of all these kinds."""
    uow.held.require(RECORDED_KINDS[kind].write_scope for kind in kinds)


def _authorize(uow: AuditedUnitOfWork, change: Change) -> None:
    """Reject callers that would exceed their own scopes with the record as it was (contract B4)."""
    records = uow.records(RECORDED_KINDS[change.kind])
    records.authorize(records.get(change.id), **(_with_defaults(RECORDED_KINDS[change.kind], change.before) or {}))


def _sets_password(change: Change) -> bool:
    return change.action == f"{change.kind}.{PASSWORD_SET}"


class _Undo:
    """Undoes changes, the newest first; each record must still be as its change left it."""

    def __init__(self, uow: AuditedUnitOfWork, request_id: str | None = None, last: int | None = None) -> None:
        """Undo one change, or those of a request up to ``last``; later changes by other requests conflict."""
        self._uow, self._request_id, self._last = uow, request_id, last
        self.proposed: set[int] = set()  # changes by proposals that were undone, or redone

    def undo(self, change: Change) -> None:
        """Undo a change, with defaults for fields that were added since (contract G4)."""
        kind = RECORDED_KINDS[change.kind]
        change_log_of(self._uow).undo(change.change_id)
        original = _original_of(self._uow, change)
        if original.origin is Origin.PROPOSAL:
            self.proposed.add(original.change_id)
        change = replace(change, before=_with_defaults(kind, change.before), after=_with_defaults(kind, change.after))
        record = self._uow.records(kind).get(change.id)
        current = None if record is None else self._uow.records(kind).serialized(record)
        if _with_defaults(kind, current) != change.after:
            raise Conflict(self._since(kind, change.id))
        if change.before is None:
            self._undo_creation(kind, change)
        else:
            self._restore(kind, change, change.before)

    def _undo_creation(self, kind: AnyKind, change: Change) -> None:
        """Remove a record that was not linked since."""
        if change.action == f"{kind.kind}.{CREATED}":
            for linked, links in self._uow.records(kind).links(change.id).items():
                if linked is not kind and links:
                    raise Conflict(self._since(linked, links[0].artwork_id))
        self._uow.records(kind).remove(change.id)

    def _restore(self, kind: AnyKind, change: Change, before: Snapshot) -> None:
        """Restore the old values and links of a record, provided that the records that it refers to exist."""
        values, links = _deserialized(kind, change.id, before)
        records = self._uow.records(kind)
        for field, referred in kind.references.items():
            self._check_exists(RECORDED_KINDS[referred], values[field])
        for linked, theirs in links.items():
            for link in theirs:
                there = (AUTHORS, link.author_id) if linked is kind else (linked, link.artwork_id)
                self._check_exists(*there)
        record = kind.record(**values, authors=()) if kind in links else kind.record(**values)
        if change.after is None:
            records.add(record, RESTORED, links)
        else:
            self._update(kind, record, links)
        if isinstance(kind, ArtworkKind):
            self._block(kind, change, before)

    def _update(self, kind: AnyKind, record: Any, links: LinksByKind) -> None:
        """Give an existing record its old values and links."""
        id_, records = kind.id_of(record), self._uow.records(kind)
        relinked = {linked: theirs for linked, theirs in links.items() if theirs != records.links(id_)[linked]}
        for linked, theirs in relinked.items():
            artworks_of(self._uow, linked).replace_links(id_, theirs)
        # Recorded even if nothing differs, because undoing is a change.
        if not relinked or kind.values_of(record) != kind.values_of(records.get_existing(id_)):
            records.update(record)

    def _block(self, kind: AnyArtworkKind, change: Change, before: Snapshot) -> None:
        """Restore or lift the block of an artwork; a block since its removal stays."""
        reason = before.get(BLOCKED_FIELD)
        if change.after is not None or reason is not None:
            artworks_of(self._uow, kind).assign_block(change.id, reason)

    def _since(self, kind: AnyKind, id_: int) -> str:
        last = history_in(self._uow).last_of(kind.kind, id_, self._request_id)
        record = self._uow.records(kind).get(id_)
        if record is not None and (self._last is None or record.version <= self._last):
            # The removal or return of an author also changed the author's artworks.
            last = max(last, record.version)
        return f"{kind.name} {id_} was changed since, by change {last}"

    def _check_exists(self, kind: AnyKind, id_: int) -> None:
        """Require that a referenced record exists."""
        if self._uow.records(kind).get(id_) is None:
            raise Conflict(self._since(kind, id_))


def _with_defaults(kind: AnyKind, serialized: Snapshot | None) -> Snapshot | None:
    """Return the snapshot of a record, with defaults for fields that were added since."""
    if serialized is None:
        return None
    optional = (each for each in fields(kind.record) if each.default is not MISSING and each.name != "version")
    return {**as_json((each.name, each.default) for each in optional), **serialized}


def _deserialized(kind: AnyKind, id_: int, serialized: Snapshot) -> tuple[dict[str, Any], LinksByKind]:
    """Return the values of a record's fields and its links from its snapshot."""
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in serialized.items()}
    values.pop(BLOCKED_FIELD, None)
    if "details" in values:
        values["details"] = Details.stored(serialized["details"])
    links = {
        linked: tuple(
            Link(link[linked.link_id_field], link.get(linked.id_field, id_), link.get("author_id", id_))
            for link in values.pop(field)
        )
        for linked in ARTWORK_KINDS
        if (field := links_field(kind, linked)) in values
    }
    return values, links


def _original_of(uow: AuditedUnitOfWork, change: Change) -> Change:
    """Return the change that a chain of undoing began with, which may be the change itself."""
    while change.undoes is not None and (undone := history_in(uow).get(change.undoes)) is not None:
        change = undone
    return change
