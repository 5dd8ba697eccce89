"""The unit of work of a write, in which every change is recorded (contract B4, F1, G).

Each change of a record is authorized, gets a version, is stored and then recorded. Use cases can call the
methods in this module and no others of the ports: they reach neither the ports nor the change log: see
:mod:`~logoadmin.domain.kernel.unit_of_work`. Rules of single kinds are in their contexts, see ``Auditing`` there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, TypeVar

from logoadmin.domain.kernel.access import AllRights, Held, Rights
from logoadmin.domain.kernel.act_log import AMENDED, CREATED, REMOVED, Snapshot
from logoadmin.domain.kernel.change_log import ChangeLog
from logoadmin.domain.kernel.details import Details
from logoadmin.domain.kernel.errors import NotFound, NotPermitted, Outdated
from logoadmin.domain.kernel.kinds import KINDS, AnyArtworkKind, AnyKind, RecordKind
from logoadmin.domain.kernel.limits import MAX_COUNTED_ID
from logoadmin.domain.kernel.lists import EVERYTHING, Filter, Order, TruncatedPage
from logoadmin.domain.kernel.records import Link, StoredRecord, version_of
from logoadmin.ports.record_storage import Records
from logoadmin.ports.storage import UnitOfWork


def hidden(owner: type, slot: str) -> Any:
    """Take a slot out of a class, and return its descriptor, the only way to its values."""
    descriptor = vars(owner)[slot]
    delattr(owner, slot)
    return descriptor


@dataclass(slots=True)
class Escalation:
    """The limits on changes of rights in one unit of work.

    Attributes:
        held: the caller's rights.
        require_recent: rejects rights from a sign-in that is not recent.
        may_lose_all: whether the changes may have affected the last user who holds everything and can sign in.
    """

    held: Held
    require_recent: Callable[[Rights], None]
    may_lose_all: bool = False

    def check(self, had: Iterable[str], has: Iterable[str], without_asking: Iterable[str] = ()) -> None:
        """Require the caller to hold the old and the new scopes of a role or a user, and a recent sign-in to add some.

        Args:
            had: the old scopes.
            has: the new ones.
            without_asking: scopes that need no recent sign-in.

        Raises:
            NotPermitted: the caller lacks one of them.
            RecentSignInRequired: the caller would add one, and signed in too long ago.
        """
        if isinstance(self.held, AllRights):
            return
        old, new = frozenset(had), frozenset(has)
        self.held.require(old | new)
        if not Rights(self.held.user_id, old | frozenset(without_asking)).cover(new):
            self.require_recent_sign_in()

    def require_recent_sign_in(self) -> None:
        """Require a recent sign-in of a caller that is a user; service keys never sign in.

        Raises:
            RecentSignInRequired: the caller signed in too long ago.
        """
        if isinstance(self.held, Rights) and self.key_of is None:
            self.require_recent(self.held)

    def check_key(self, had: Iterable[str], has: Iterable[str]) -> None:
        """Reject a service key that grants scopes, because the grant would outlive the key (contract C5).

        Raises:
            NotPermitted: the caller is a service key, and some of the scopes are new.
        """
        if self.key_of is not None and not Rights(self.key_of, frozenset(had)).cover(has):
            raise NotPermitted

    def require_no_key(self) -> None:
        """Reject a service key: another role could get the freed name, by which settings choose the role of new users.

        Raises:
            NotPermitted: the caller is a service key.
        """
        if self.key_of is not None:
            raise NotPermitted

    @property
    def key_of(self) -> int | None:
        """The id of the user whose service key the caller is; None for other callers."""
        return None if self.held.of_user else self.held.user_id


class Guard:
    """The rules of a kind of record; none by default."""

    def authorize(self, record: Any, values: Mapping[str, Any], /) -> None:
        """Reject a caller that would exceed their own scopes by giving a record these values or removing it.

        Raises:
            NotPermitted: the caller would.
        """

    def check_unused(self, record: Any, /) -> None:
        """Require that a record can be removed.

        Raises:
            Conflict: it is in use.
        """

    def note_possible_lockout(self, before: Any, after: Any, /) -> None:
        """Have the end of the work check that a user still holds everything, if this change may affect the last one."""


NO_GUARD: Final = Guard()

Record = TypeVar("Record", bound=StoredRecord)
LinksByKind = Mapping[AnyArtworkKind, tuple[Link, ...]]

# At most this many records are read at once.
MOST_LOADED: Final = 50

NO_LINKS: Final[LinksByKind] = MappingProxyType({})


def as_json(values: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the values of fields as in JSON."""
    return {
        name: [*value] if type(value) is tuple else value.members() if type(value) is Details else value
        for name, value in values
    }


def snapshot(kind: AnyKind, record: StoredRecord) -> dict[str, Any]:
    """Return the fields of a record as in JSON, without its authors, which are records of their own."""
    values = as_json(zip(kind.stored_fields, kind.values_of(record), strict=True))
    for name, usual in kind.usual.items():
        if values[name] == usual:
            del values[name]
    return values


@dataclass(eq=False)
class AuditedRecords(Generic[Record]):
    """The records of one kind."""

    __slots__ = ("__dict__", "_change_log", "_guard", "_stored", "_uow")

    # The repository, where it is not that of the unit of work.
    _repository: ClassVar[Any] = None

    _kind: RecordKind[Record]
    uow: InitVar[UnitOfWork]
    change_log: InitVar[ChangeLog]
    guard: InitVar[Guard]
    # Records that were read or stored in this unit of work; it holds the write lock.
    _known: dict[int, Record | None] = field(default_factory=dict, init=False)

    def __post_init__(self, uow: UnitOfWork, change_log: ChangeLog, guard: Guard) -> None:
        _UOW.__set__(self, uow)
        _STORED.__set__(self, uow.records(self._kind) if self._repository is None else self._repository(uow))
        _CHANGE_LOG.__set__(self, change_log)
        _GUARD.__set__(self, guard)

    def next_id(self) -> int:
        """Return the id for a new record."""
        id_ = stored_of(self).next_id()
        while id_ > MAX_COUNTED_ID and stored_of(self).get(id_) is not None:  # an import chose it
            id_ = stored_of(self).next_id()
        log_of(self).note_new(self._kind.kind, id_)
        return id_

    def get(self, id_: int) -> Record | None:
        return self._read(id_)

    def load(self, ids: Sequence[int]) -> None:
        """Read up to :data:`MOST_LOADED` records at once, as far as their texts are not too long to be held."""
        self._known.clear()
        found = stored_of(self).get_many(ids)
        self._known.update({self._kind.id_of(record): record for record in found})
        if not isinstance(found, TruncatedPage):
            self._known.update({id_: None for id_ in ids if id_ not in self._known})

    def page(self, after: int, limit: int, where: Filter = EVERYTHING, order: Order = "asc") -> tuple[Record, ...]:
        return stored_of(self).page(after, limit, where, order)

    def find(self, field: str, value: Any) -> Record | None:
        found = stored_of(self).find(field, value)
        if found is not None:
            self._know(self._kind.id_of(found), found)
        return found

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
        _guard_of(self).authorize(record, values)

    def note_possible_lockout(self, record: Record) -> None:
        """Check at the end of the write that a user still holds everything, if this record may be the last one's."""
        _guard_of(self).note_possible_lockout(record, None)

    def create(self, **values: Any) -> Record:
        """Store a new record with these values under the next id; return it."""
        record: Callable[..., Record] = self._kind.record
        values[self._kind.id_field] = self.next_id()
        return self._add(record(**values, version=log_of(self).next_version()), CREATED, NO_LINKS)

    def add(self, record: Record, action: str = CREATED, links: LinksByKind = NO_LINKS) -> Record:
        """Store a new or restored record, with links to existing records; return it with its version."""
        return self._add(replace(record, version=log_of(self).next_version()), action, links)

    def update(self, record: Record) -> Record:
        """Give a record new values; return it with its version."""
        values = snapshot(self._kind, record)
        before = self.get_existing(self._kind.id_of(record))
        _guard_of(self).authorize(before, values)
        _guard_of(self).note_possible_lockout(before, record)
        was, stored = self.serialized(before), self._numbered(record)
        stored_of(self).update(stored)
        return self._recorded(AMENDED, stored, was, {**values, **self._beside(stored, was)})

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
        guard = _guard_of(self)
        guard.authorize(before, {})
        guard.check_unused(before)
        guard.note_possible_lockout(before, None)
        change_id = log_of(self).next_version()
        was = self._unlinked(before)
        stored_of(self).remove(id_)
        log_of(self).record(REMOVED, self._kind.kind, id_, change_id, was, None)
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
            stored_of(self).touch([id_], stored.version)
        return self._recorded(action, stored, before, after)

    def _add(self, record: Record, action: str, links: LinksByKind) -> Record:
        values = snapshot(self._kind, record)
        _guard_of(self).authorize(None, values)
        stored_of(self).add(record)
        return self._recorded(action, record, None, self._link(record, values, links))

    def _check_exists(self, kind: AnyKind, id_: int) -> None:
        if uow_of(self).records(kind).get(id_) is None:
            raise NotFound(kind.name, id_)

    def _link(self, stored: Record, values: Snapshot, links: LinksByKind) -> Snapshot:  # noqa: ARG002 (the same)
        """Store the links of a new record and return its snapshot."""
        return values

    def _beside(self, stored: Record, was: Snapshot) -> Snapshot:  # noqa: ARG002 (the same)
        """Return the members of a snapshot that are not fields, which an amendment keeps."""
        return {}

    def _unlinked(self, record: Record) -> Snapshot:
        """Return the snapshot of a record that is removed; artworks no longer show it."""
        return self.serialized(record)

    def _read(self, id_: int) -> Record | None:
        if id_ not in self._known:
            self._know(id_, stored_of(self).get(id_))
        return self._known[id_]

    def _know(self, id_: int, record: Record | None) -> None:
        # An import reads too many to hold.
        if len(self._known) >= max(self._kind.page_sizes.first, 2 * MOST_LOADED) and id_ not in self._known:
            self._known.clear()
        self._known[id_] = record

    def _numbered(self, record: Record) -> Record:
        return replace(record, version=log_of(self).version(self._kind.kind, self._kind.id_of(record)))

    def _recorded(self, action: str, stored: Record, before: Snapshot | None, after: Snapshot) -> Record:
        id_ = self._kind.id_of(stored)
        log_of(self).record(action, self._kind.kind, id_, stored.version, before, after)
        self._know(id_, stored)
        return stored


_UOW: Final = hidden(AuditedRecords, "_uow")
_STORED: Final = hidden(AuditedRecords, "_stored")
_CHANGE_LOG: Final = hidden(AuditedRecords, "_change_log")
_GUARD: Final = hidden(AuditedRecords, "_guard")
# For the subclasses in the contexts.
uow_of: Final[Callable[[AuditedRecords[Any]], UnitOfWork]] = _UOW.__get__
stored_of: Final[Callable[[AuditedRecords[Record]], Records[Record]]] = _STORED.__get__
log_of: Final[Callable[[AuditedRecords[Any]], ChangeLog]] = _CHANGE_LOG.__get__
_guard_of: Final[Callable[[AuditedRecords[Any]], Guard]] = _GUARD.__get__
