"""The unit of work of a write, in which every change is recorded (contract B4, F1, G).

Each change of a record is authorized, gets a version, is stored and then recorded. Methods of the ports that are not
written out here cannot be called by use cases. What the kinds of record have besides is in their contexts, as a
composition of :class:`Auditing` says.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

from logoadmin.domain.kernel.access import OWNER, Caller, Held, Rights
from logoadmin.domain.kernel.change_log import AMENDED, CREATED, REMOVED, ChangeLog, Snapshot, Subscriber
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import NotFound, NotModified, Outdated
from logoadmin.domain.kernel.escalation import Escalation, Guard
from logoadmin.domain.kernel.kinds import KINDS, RECORDED_KINDS, AnyArtworkKind, AnyKind, RecordKind
from logoadmin.domain.kernel.limits import Origin, SharedView
from logoadmin.domain.kernel.lists import EVERYTHING, Filter, Order, TruncatedPage
from logoadmin.domain.kernel.records import (
    Kind,
    Link,
    StoredRecord,
    version_of,
)
from logoadmin.ports.changes.notice_storage import Notices
from logoadmin.ports.changes.proposal_storage import Proposals
from logoadmin.ports.gallery.gallery_storage import GalleryStorage
from logoadmin.ports.identity.identity_storage import IdentityStorage
from logoadmin.ports.kernel.change_storage import Changes
from logoadmin.ports.kernel.record_storage import Records
from logoadmin.ports.kernel.secret_storage import Secrets
from logoadmin.ports.publication.publication_storage import PublicationStorage
from logoadmin.ports.storage import UnitOfWork

Record = TypeVar("Record", bound=StoredRecord)
LinksByKind = Mapping[AnyArtworkKind, tuple[Link, ...]]

# At most this many records are read at once.
MOST_LOADED: Final = 50

NO_LINKS: Final[LinksByKind] = MappingProxyType({})


def snapshot(kind: AnyKind, record: StoredRecord) -> dict[str, Any]:
    """Return the fields of a record as in JSON, without its authors, which are records of their own."""
    usual = kind.usual
    return {
        name: [*map(_in_json, value)] if type(value) is tuple else value
        for name, value in zip(kind.stored_fields, kind.values_of(record), strict=True)
        if name not in usual or value != usual[name]
    }


def _in_json(value: Any) -> Any:
    return value.model_dump() if isinstance(value, SharedView) else value


@dataclass(eq=False)
class AuditedRecords(Generic[Record]):
    """The records of one kind."""

    _kind: RecordKind[Record, Any]
    _uow: UnitOfWork
    _change_log: ChangeLog
    _guard: Guard | None
    # Records that were read or stored in this unit of work; it holds the write lock.
    _known: dict[int, Record | None] = field(default_factory=dict, init=False)

    @cached_property
    def _stored(self) -> Records[Record]:
        return self._uow.records(self._kind)

    def next_id(self) -> int:
        """Return the id for a new record."""
        id_ = self._stored.next_id()
        self._change_log.note_new(self._kind.kind, id_)
        return id_

    def get(self, id_: int) -> Record | None:
        return self._read(id_)

    def load(self, ids: Sequence[int]) -> None:
        """Read up to :data:`MOST_LOADED` records at once, as far as their texts are not too long to be held."""
        self._known.clear()
        found = self._stored.get_many(ids)
        self._known.update({self._kind.id_of(record): record for record in found})
        if not isinstance(found, TruncatedPage):
            self._known.update({id_: None for id_ in ids if id_ not in self._known})

    def page(self, after: int, limit: int, where: Filter = EVERYTHING, order: Order = "asc") -> tuple[Record, ...]:
        return self._stored.page(after, limit, where, order)

    def get_for_change(self, id_: int, if_match: frozenset[int] | None, /, **values: Any) -> Record:
        """Return a record that is to get these values, or to be removed (contract A19).

        Raises, in this order:
            NotPermitted: see :meth:`authorize`.
            NotFound: the record does not exist.
            Outdated: it has none of the versions in ``if_match``.
        """
        record = self.get(id_)
        self.authorize(record, **values)
        if record is None:
            raise NotFound(self._kind.name, id_)
        if if_match is not None and version_of(record) not in if_match:
            raise Outdated(self._kind.name, id_)
        return record

    def authorize(self, record: Record | None, /, **values: Any) -> None:
        """Reject a caller that would exceed their own scopes by giving a record these values or removing it.

        Raises:
            NotPermitted: (contract B4, C5).
        """
        if self._guard is not None:
            self._guard.authorize(record, values)

    def note_possible_lockout(self, record: Record) -> None:
        """Check at the end of the write that a user still holds everything, if this record may be the last one's."""
        if self._guard is not None:
            self._guard.note_possible_lockout(record, None)

    def add(self, record: Record, action: str = CREATED, links: LinksByKind = NO_LINKS) -> Record:
        """Store a new or restored record, with links to existing records; return it with its version."""
        values = snapshot(self._kind, record)
        if self._guard is not None:
            self._guard.authorize(None, values)
        self._change_log.begin_next()
        stored = self._numbered(record)
        self._stored.add(stored)
        return self._recorded(action, stored, None, self._link(stored, values, links))

    def update(self, record: Record) -> Record:
        """Give a record new values; return it with its version."""
        values = snapshot(self._kind, record)
        before = self.get_existing(self._kind.id_of(record))
        if self._guard is not None:
            self._guard.authorize(before, values)
            self._guard.note_possible_lockout(before, record)
        was, stored = self.serialized(before), self._numbered(record)
        self._stored.update(stored)
        # The snapshot of an artwork also has its links, which stay as they are.
        beside = {name: value for name, value in was.items() if name not in self._kind.stored_fields}
        return self._recorded(AMENDED, stored, was, {**values, **beside})

    def amend(self, id_: int, if_match: frozenset[int] | None, changes: Mapping[str, Any]) -> Record:
        """Give a record some new values and return it; if it has them already, nothing is recorded.

        Raises, in this order:
            NotPermitted, NotFound, Outdated: see :meth:`get_for_change`.
            NotFound: a record that it is to refer to does not exist.
            DuplicateUpdate: another record has a unique value.
        """
        record = self.get_for_change(id_, if_match, **changes)
        amended = replace(record, **changes)
        for name, kind in self._kind.references.items():
            if getattr(amended, name) != getattr(record, name):
                self._check_exists(KINDS[kind], getattr(amended, name))
        return record if amended == record else self.update(amended)

    def remove(self, id_: int) -> bool:
        """Remove a record and its links; return whether it existed.

        Raises:
            Conflict: it is in use.
        """
        before = self._read(id_)
        if before is None:
            return False
        if self._guard is not None:
            self._guard.authorize(before, {})
            self._guard.check_unused(before)
            self._guard.note_possible_lockout(before, None)
        self._change_log.begin_next()
        was = self._unlinked(before)
        self._stored.remove(id_)
        change_id = self._change_log.version(self._kind.kind, id_)
        self._change_log.record(REMOVED, self._kind.kind, id_, change_id, was, None)
        self._know(id_, None)
        return True

    def links(self, id_: int) -> LinksByKind:  # noqa: ARG002 (most records have none)
        """Return the links of an artwork or an author."""
        return NO_LINKS

    def serialized(self, record: Record) -> Snapshot:
        """Return the current snapshot of a record."""
        return snapshot(self._kind, record)

    def get_existing(self, id_: int) -> Record:
        """Return a record that is known to exist."""
        record = self._read(id_)
        if record is None:
            raise LookupError(f"{self._kind.name} {id_} is to be changed and does not exist")
        return record

    def touch(self, action: str, id_: int, before: Snapshot, after: Snapshot) -> Record:
        """Give a record a new version for a change beside its fields; return it with that version."""
        record = self.get_existing(id_)
        stored = self._numbered(record)
        if stored.version != record.version:
            self._stored.touch([id_], stored.version)
        return self._recorded(action, stored, before, after)

    def _check_exists(self, kind: AnyKind, id_: int) -> None:
        if self._uow.records(kind).get(id_) is None:
            raise NotFound(kind.name, id_)

    def _link(self, stored: Record, values: Snapshot, links: LinksByKind) -> Snapshot:  # noqa: ARG002 (the same)
        """Store the links of a new record and return its snapshot."""
        return values

    def _unlinked(self, record: Record) -> Snapshot:
        """Return the snapshot of a record that is removed; artworks no longer show it."""
        return self.serialized(record)

    def _read(self, id_: int) -> Record | None:
        if id_ not in self._known:
            self._know(id_, self._stored.get(id_))
        return self._known[id_]

    def _know(self, id_: int, record: Record | None) -> None:
        # An import reads too many to hold.
        if len(self._known) >= max(self._kind.page_sizes.first, 2 * MOST_LOADED) and id_ not in self._known:
            self._known.clear()
        self._known[id_] = record

    def _numbered(self, record: Record) -> Record:
        return replace(record, version=self._change_log.version(self._kind.kind, self._kind.id_of(record)))

    def _recorded(self, action: str, stored: Record, before: Snapshot | None, after: Snapshot) -> Record:
        id_ = self._kind.id_of(stored)
        self._change_log.record(action, self._kind.kind, id_, stored.version, before, after)
        self._know(id_, stored)
        return stored


def _check_nothing(_uow: UnitOfWork, _escalation: Escalation) -> None:
    """Accept every end of a write."""


def _accept_any(_uow: UnitOfWork, _held: Rights, _now: int) -> None:
    """Accept every sign-in."""


@dataclass(frozen=True, slots=True)
class Auditing:
    """What the contexts add to every write.

    Attributes:
        records: the records of the kinds that have rules of their own.
        guards: the guards of the kinds that give rights.
        subscribers: what follows the changes.
        check_end: what must hold at the end; raises Conflict.
        require_recent: rejects a caller whose sign-in is not recent, given the time; raises RecentSignInRequired.
    """

    records: Mapping[Kind, type[AuditedRecords[Any]]] = field(default_factory=dict)
    guards: Mapping[Kind, Callable[[UnitOfWork, Escalation], Guard]] = field(default_factory=dict)
    subscribers: Sequence[Subscriber] = ()
    check_end: Callable[[UnitOfWork, Escalation], None] = _check_nothing
    require_recent: Callable[[UnitOfWork, Rights, int], None] = _accept_any


class AuditedUnitOfWork:
    """The repositories of one transaction, those of records through the change log.

    Links, passwords, factors and pins have wrappers in their contexts, through which alone writes change them.

    Attributes:
        now: the time of the changes, as Unix time; it is in their order, because the write lock is held.
        held: the caller's rights.
        caller: the caller, for events.
        change_log: the changes so far.
        stored: the same repositories, those of records included.
    """

    def __init__(
        self,
        uow: UnitOfWork,
        auditing: Auditing,
        now: int,
        request_id: str | None,
        held: Held,
        origin: Origin | None = None,
        caller: Caller = OWNER,
    ) -> None:
        self.stored = uow
        self.now = now
        self.held = held
        self.caller = caller
        self.change_log = ChangeLog(uow, now, held.user_id, request_id, origin, auditing.subscribers, caller)
        self._escalation: Escalation | None = None
        self._auditing = auditing
        self._records: dict[Kind, AuditedRecords[Any]] = {}

    @property
    def changes(self) -> Changes:
        """The history."""
        return self.stored.changes

    @property
    def secrets(self) -> Secrets:
        """The secrets of the service."""
        return self.stored.secrets

    @property
    def proposals(self) -> Proposals:
        """The proposals."""
        return self.stored.proposals

    @property
    def notices(self) -> Notices:
        """The notices that are still to be sent."""
        return self.stored.notices

    @property
    def gallery(self) -> GalleryStorage:
        """The repositories of the gallery."""
        return self.stored.gallery

    @property
    def identity(self) -> IdentityStorage:
        """The repositories of identity."""
        return self.stored.identity

    @property
    def publication(self) -> PublicationStorage:
        """The repositories of the published gallery."""
        return self.stored.publication

    def records(self, kind: RecordKind[Record, Any]) -> AuditedRecords[Record]:
        """Return the records of a kind."""
        found = self._records.get(kind.kind)
        if found is None:
            guard = self._guard(kind.kind) if kind.kind in self._auditing.guards else None
            audited_records = self._auditing.records.get(kind.kind, AuditedRecords)
            found = audited_records(kind, self.stored, self.change_log, guard)
            self._records[kind.kind] = found
        return found

    def _guard(self, kind: Kind) -> Guard:
        if self._escalation is None:
            uow, now, require_recent = self.stored, self.now, self._auditing.require_recent
            self._escalation = Escalation(self.held, now, lambda held: require_recent(uow, held, now))
        return self._auditing.guards[kind](self.stored, self._escalation)

    def load(self, ids: Iterable[tuple[Kind, int]]) -> None:
        """Read records that are about to be changed, up to 50, with one query for each kind."""
        of_kind: defaultdict[Kind, list[int]] = defaultdict(list)
        for kind, id_ in ids:
            of_kind[kind].append(id_)
        for kind, wanted in of_kind.items():
            self.records(RECORDED_KINDS[kind]).load(wanted)

    def rehearse(self, work: Callable[["AuditedUnitOfWork"], object]) -> None:
        """Do work and undo it, for the errors that it raises; before any other change of this write."""
        rehearsal = AuditedUnitOfWork(self.stored, self._auditing, self.now, None, self.held, None, self.caller)
        try:
            with self.stored.savepoint():
                work(rehearsal)
                rehearsal.close()
                raise _Rehearsed
        except _Rehearsed:
            self._records.clear()

    def close(self) -> None:
        """Store the history of the changes, and have the subscribers follow them.

        Raises:
            Conflict: no user who can sign in would hold everything.
        """
        if self._escalation is not None:
            self._auditing.check_end(self.stored, self._escalation)
        self.change_log.store(final=True)


class _Rehearsed(Exception):
    """Ends a rehearsal, so that it is undone; not an error."""


# The unit of work of a read or of a write.
AnyUnitOfWork = UnitOfWork | AuditedUnitOfWork


def get_existing(uow: AnyUnitOfWork, kind: RecordKind[Record, Any], id_: int) -> Record:
    """Return a record.

    Raises:
        NotFound: it does not exist.
    """
    record = uow.records(kind).get(id_)
    if record is None:
        raise NotFound(kind.name, id_)
    return record


def get_unless_unmodified(uow: UnitOfWork, kind: RecordKind[Record, Any], command: Command) -> Record:
    """Return the record that a command names.

    Raises:
        NotFound: the record does not exist.
        NotModified: the caller has this version of it.
    """
    return unless_unmodified(get_existing(uow, kind, kind.id_of(command)), command)


def unless_unmodified(record: Record, command: Command) -> Record:
    """Return a record.

    Raises:
        NotModified: the caller has this version of it.
    """
    if command.if_none_match and (version := version_of(record)) in command.if_none_match:
        raise NotModified(version)
    return record
