"""Records of one kind in a write, and the change log (contract B4, F1, G).

Each change is authorized, gets a version, is stored and then recorded. Methods of the ports that are not written out
here cannot be called by use cases.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

from logoadmin.domain.identity.escalation import GUARDS, Escalation
from logoadmin.domain.kernel.errors import NotFound, Outdated
from logoadmin.domain.kernel.kinds import KINDS, RECORDED_KINDS, AnyArtworkKind, AnyKind, ArtworkKind, RecordKind
from logoadmin.domain.kernel.limits import Origin
from logoadmin.domain.kernel.lists import EVERYTHING, Filter, Order, TruncatedPage
from logoadmin.domain.kernel.records import Change, Kind, Link, StoredRecord, version_of
from logoadmin.domain.publication.withdrawal_log import WithdrawalLog
from logoadmin.ports.storage import Changes, Records, UnitOfWork

Record = TypeVar("Record", bound=StoredRecord)
Snapshot = Mapping[str, Any]
LinksByKind = Mapping[AnyArtworkKind, tuple[Link, ...]]

CREATED: Final = "created"
AMENDED: Final = "amended"
REMOVED: Final = "removed"
RESTORED: Final = "restored"
LINKED: Final = "linked"
UNLINKED: Final = "unlinked"
PASSWORD_SET: Final = "password_set"
BLOCKED: Final = "blocked"

# At most this many records are read at once.
MOST_LOADED: Final = 50

NO_LINKS: Final[LinksByKind] = MappingProxyType({})
# Up to this many changes are held in memory.
_MOST_HELD: Final = 16


@dataclass(slots=True, eq=False)
class ChangeLog:
    """The changes of one unit of work, numbered and written into the history.

    Consecutive changes of one record are merged: a record that gets new values and new links is amended once. Its
    removal, and a new record in its place, are changes of their own.

    Attributes:
        undoes: the change that is being undone.
        withdrawals: the withdrawals of artworks, which follow their changes.
        changes: the last changes, which are not stored yet.
    """

    _history: Changes
    _now: int
    _user_id: int | None
    _request_id: str | None
    withdrawals: WithdrawalLog
    _origin: Origin | None = None
    undoes: int | None = None
    author_changes: int = 0
    changes: list[Change] = field(default_factory=list)
    _last_id: int | None = None
    _goes_on: bool = False

    @property
    def last_id(self) -> int:
        """The id of the last change, also one before this unit of work."""
        return self._history.last_id() if self._last_id is None else self._last_id

    def version(self, kind: Kind, id_: int) -> int:
        """Return the id that a change of a record gets."""
        if self._last_id is None:
            self._last_id = self._history.last_id()
        if self._goes_on and self.changes[-1].id == id_ and self.changes[-1].kind is kind:
            return self._last_id
        return self._last_id + 1

    def record(self, action: str, kind: Kind, id_: int, before: Snapshot | None, after: Snapshot | None) -> None:
        """Record a change that was made."""
        self.author_changes += kind is Kind.AUTHOR
        change_id = self.version(kind, id_)
        if change_id == self._last_id:
            first = self.changes.pop()
            action, before = first.action.partition(".")[2], first.before
        if len(self.changes) >= _MOST_HELD:
            self.store()
        self._last_id, self._goes_on = change_id, True
        who_and_how = (self._request_id, self._origin, self.undoes)
        change = Change(change_id, self._now, self._user_id, f"{kind}.{action}", kind, id_, before, after, *who_and_how)
        self.changes.append(change)
        if isinstance(RECORDED_KINDS[kind], ArtworkKind):
            self.withdrawals.follow(change)

    def begin_next(self) -> None:
        """Record the next change without merging it with those before."""
        self._goes_on = False

    def undo(self, change_id: int) -> None:
        """Record that the next changes undo this one; they are not merged with those before."""
        self.begin_next()
        self.undoes = change_id

    def store(self) -> None:
        """Store the changes so far; later changes are not merged with them."""
        if self.changes:
            self._history.add(self.changes)
            self.changes, self._goes_on = [], False


def snapshot(kind: AnyKind, record: StoredRecord) -> dict[str, Any]:
    """Return the fields of a record as in JSON, without its authors, which are records of their own."""
    return {
        name: [*value] if type(value) is tuple else value
        for name, value in zip(kind.stored_fields, kind.values_of(record), strict=True)
    }


class AuditedRecords(Generic[Record]):
    """The records of one kind."""

    def __init__(
        self, kind: RecordKind[Record, Any], uow: UnitOfWork, change_log: ChangeLog, escalation: Escalation
    ) -> None:
        self._kind, self._uow, self._change_log = kind, uow, change_log
        self._stored = self._repository()
        guard = GUARDS.get(kind.kind)
        self._guard = None if guard is None else guard(uow, escalation)
        # Records that were read or stored in this unit of work; it holds the write lock.
        self._known: dict[int, Record | None] = {}

    def _repository(self) -> Records[Record]:
        return self._uow.records(self._kind)

    def next_id(self) -> int:
        return self._stored.next_id()

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
        return self._recorded(AMENDED, stored, was, {**was, **values})

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
        self._change_log.record(REMOVED, self._kind.kind, id_, was, None)
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
        self._change_log.record(action, self._kind.kind, id_, before, after)
        self._know(id_, stored)
        return stored
