"""The units of work of use cases: records, and nothing that changes one behind the history's back (contract F1, G).

A use case is given records alone, and changes them through the history. Data outside the history, such as sessions and
events, is reached through the functions at the end; data in it has wrappers in the contexts. A table in
``tests/domain/kernel/test_audit.py`` lists which context uses which.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, TypeVar

from logoadmin.domain.kernel.access import OWNER, Caller, Held, Rights
from logoadmin.domain.kernel.act_log import ActLog
from logoadmin.domain.kernel.audited_records import NO_GUARD, AuditedRecords, Escalation, Guard, hidden
from logoadmin.domain.kernel.change_log import ChangeLog, Subscriber
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import NotFound, NotModified
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, KINDS, RECORDED_KINDS, SETTINGS, AnyArtworkKind, RecordKind
from logoadmin.domain.kernel.limits import Origin
from logoadmin.domain.kernel.lists import EVERYTHING, Fetch, Filter, Listing, Order, SortKey
from logoadmin.domain.kernel.records import Kind, Logo, SharedSettings, StoredRecord, Theme, version_of
from logoadmin.ports.gallery_storage import Links, Pictures, Withdrawals
from logoadmin.ports.history_storage import Acts, ReadsChanges, creation_of
from logoadmin.ports.identity_storage import Count, IdentityStorage
from logoadmin.ports.proposal_storage import MemberNotices, Notices, Proposals
from logoadmin.ports.record_storage import Records, Secrets
from logoadmin.ports.storage import UnitOfWork

Record = TypeVar("Record", bound=StoredRecord)


class ReadRecords(Generic[Record]):
    """The records of one kind; see :class:`~logoadmin.ports.record_storage.Records` for the methods."""

    __slots__ = ("_stored",)

    def __init__(self, stored: Records[Record]) -> None:
        _STORED.__set__(self, stored)

    def get(self, id_: int, /) -> Record | None:
        """Return a record, or None."""
        return _stored(self).get(id_)

    def find(self, field: str, value: Any) -> Record | None:
        """Return the record with this value of a unique field, or None."""
        return _stored(self).find(field, value)

    def get_many(self, ids: Sequence[int]) -> tuple[Record, ...]:
        """Return those of up to 50 records that exist."""
        return _stored(self).get_many(ids)

    def page(self, after: int, limit: int, where: Filter = EVERYTHING, order: Order = "asc") -> tuple[Record, ...]:
        """Return records by id."""
        return _stored(self).page(after, limit, where, order)

    def sorted_page(
        self, sort: SortKey, after: Record | None, limit: int, where: Filter = EVERYTHING, order: Order = "asc"
    ) -> tuple[Record, ...]:
        """Return records by name or version."""
        return _stored(self).sorted_page(sort, after, limit, where, order)


class ReadUnitOfWork:
    """The records of one transaction, to be read by a caller."""

    __slots__ = ("_uow", "caller")

    def __init__(self, uow: UnitOfWork, caller: Caller) -> None:
        self.caller = caller
        _UOW.__set__(self, uow)

    def records(self, kind: RecordKind[Record]) -> ReadRecords[Record]:
        """Return the records of a kind."""
        return ReadRecords(read_from(self).records(kind))


_STORED: Final = hidden(ReadRecords, "_stored")
_UOW: Final = hidden(ReadUnitOfWork, "_uow")
_stored: Final[Callable[[ReadRecords[Record]], Records[Record]]] = _STORED.__get__
# The repositories of the transaction, for the contexts that own them.
read_from: Final[Callable[[ReadUnitOfWork], UnitOfWork]] = _UOW.__get__


@dataclass(frozen=True, slots=True)
class Auditing:
    """The rules that the contexts add to every write.

    Attributes:
        records: the records of the kinds that have rules of their own.
        guards: the guards of the kinds that give rights.
        subscribers: the functions that follow the changes.
        check_end: checks the state at the end; raises Conflict. By default, every state is accepted.
        require_recent: rejects a caller whose sign-in is not recent, given the time; raises RecentSignInRequired. By
            default, every caller is accepted.
    """

    records: Mapping[Kind, type[AuditedRecords[Any]]] = field(default_factory=dict)
    guards: Mapping[Kind, Callable[[UnitOfWork, Escalation], Guard]] = field(default_factory=dict)
    subscribers: Sequence[Subscriber] = ()
    check_end: Callable[[UnitOfWork, Escalation], None] = lambda _uow, _escalation: None
    require_recent: Callable[[UnitOfWork, Rights, int], None] = lambda _uow, _held, _now: None

    def with_all(self, other: "Auditing") -> "Auditing":
        """Return these and the records, guards and subscribers of another context."""
        return replace(
            self,
            records={**self.records, **other.records},
            guards={**self.guards, **other.guards},
            subscribers=[*self.subscribers, *other.subscribers],
        )


@dataclass(slots=True, eq=False)
class _Write:
    """The parts of a unit of work."""

    uow: UnitOfWork
    auditing: Auditing
    change_log: ChangeLog
    escalation: Escalation
    records: dict[Kind, AuditedRecords[Any]] = field(default_factory=dict)


class AuditedUnitOfWork:
    """The records of one transaction, changed through the change log. It has nothing else (contract G).

    Attributes:
        now: the time of the changes, as Unix time; it is in their order, because the write lock is held.
        held: the caller's rights.
        caller: the caller, for events.
    """

    __slots__ = ("_write", "caller", "held", "now")

    def __init__(
        self,
        uow: UnitOfWork,
        auditing: Auditing,
        now: int,
        request_id: str | None,
        held: Held,
        origin: Origin | None = None,
        caller: Caller = OWNER,
        *,
        is_first: bool = False,
    ) -> None:
        """Change records in a transaction; ``is_first`` if no earlier write has the id of the request."""
        self.now, self.held, self.caller = now, held, caller
        act, last_id = ActLog(uow, request_id, is_first, held.username), uow.changes.last_id()
        change_log = ChangeLog(uow, now, held.user_id, act, last_id, origin, auditing.subscribers, caller)
        escalation = Escalation(held, lambda rights: auditing.require_recent(uow, rights, now))
        _WRITE.__set__(self, _Write(uow, auditing, change_log, escalation))

    def records(self, kind: RecordKind[Record]) -> AuditedRecords[Record]:
        """Return the records of a kind."""
        write = _write_of(self)
        found = write.records.get(kind.kind)
        if found is None:
            audited_records = write.auditing.records.get(kind.kind, AuditedRecords)
            new_guard = write.auditing.guards.get(kind.kind)
            guard = NO_GUARD if new_guard is None else new_guard(write.uow, write.escalation)
            found = audited_records(kind, write.uow, write.change_log, guard)
            write.records[kind.kind] = found
        return found

    def load(self, ids: Iterable[tuple[Kind, int]]) -> None:
        """Read records that are about to be changed, up to 50, with one query for each kind."""
        of_kind: defaultdict[Kind, list[int]] = defaultdict(list)
        for kind, id_ in ids:
            of_kind[kind].append(id_)
        for kind, wanted in of_kind.items():
            self.records(RECORDED_KINDS[kind]).load(wanted)


_WRITE: Final = hidden(AuditedUnitOfWork, "_write")
_write_of: Final[Callable[[AuditedUnitOfWork], _Write]] = _WRITE.__get__


def change_log_of(uow: AuditedUnitOfWork) -> ChangeLog:
    """Return the change log of a unit of work, to undo, continue and describe changes."""
    return _write_of(uow).change_log


def rehearse(uow: AuditedUnitOfWork, work: Callable[[AuditedUnitOfWork], object]) -> None:
    """Do work and undo it, for the errors that it raises; before any other change of this write."""
    write = _write_of(uow)
    rehearsal = AuditedUnitOfWork(write.uow, write.auditing, uow.now, None, uow.held, None, uow.caller)
    try:
        with write.uow.savepoint():
            work(rehearsal)
            close(rehearsal)
            raise _Rehearsed
    except _Rehearsed:
        write.records.clear()


def close(uow: AuditedUnitOfWork) -> None:
    """Store the history of the changes, and have the subscribers follow them.

    Raises:
        Conflict: no user who can sign in would hold everything.
    """
    write = _write_of(uow)
    write.auditing.check_end(write.uow, write.escalation)
    write.change_log.store(final=True)


class _Rehearsed(Exception):
    """Ends a rehearsal, so that it is undone; not an error."""


# The unit of work of a read or of a write, or the repositories themselves.
Reading = UnitOfWork | ReadUnitOfWork
AnyUnitOfWork = Reading | AuditedUnitOfWork


def get_existing(uow: AnyUnitOfWork, kind: RecordKind[Record], id_: int) -> Record:
    """Return a record.

    Raises:
        NotFound: it does not exist.
    """
    record = uow.records(kind).get(id_)
    if record is None:
        raise NotFound(kind.name, id_)
    return record


def all_records(kind: RecordKind[Record], page: Fetch[Record]) -> Iterator[Record]:
    """Yield the records of a kind, by id, which come in pages."""
    return iter(Listing(page(-1, kind.page_sizes.first), kind.id_of, page, kind.page_sizes))


def stored_artworks(
    read: Callable[[Callable[[UnitOfWork], Any]], Any], where: Filter = EVERYTHING
) -> Iterator[tuple[AnyArtworkKind, Logo | Theme]]:
    """Yield artworks, logos first, by id; ``read`` runs the function that reads a page, such as ``storage.read``."""

    def pages(kind: AnyArtworkKind) -> Fetch[Any]:
        return lambda after, limit: read(lambda uow: uow.records(kind).page(after, limit, where))

    for kind in ARTWORK_KINDS:
        for artwork in all_records(kind, pages(kind)):
            yield kind, artwork


def replace_value(uow: AuditedUnitOfWork, kind: Kind, id_: int, field: str, before: str, after: str) -> bool:
    """Give a field another value, unless it has yet another one or the record is gone; return whether that was done."""
    records = uow.records(KINDS[kind])
    record = records.get(id_)
    if record is None or getattr(record, field) != before:
        return False
    records.amend(id_, None, {field: after})
    return True


def get_unless_unmodified(uow: Reading, kind: RecordKind[Record], command: Command) -> Record:
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


def repositories_in(uow: AnyUnitOfWork) -> UnitOfWork:
    """Return the repositories of a transaction."""
    if isinstance(uow, AuditedUnitOfWork):
        return _write_of(uow).uow
    return read_from(uow) if isinstance(uow, ReadUnitOfWork) else uow


def history_in(uow: AnyUnitOfWork) -> ReadsChanges:
    """Return the history, to be read."""
    return repositories_in(uow).changes


def acts_in(uow: AnyUnitOfWork) -> Acts:
    """Return the acts of the history, which the change log stores."""
    return repositories_in(uow).acts


def secrets_in(uow: AnyUnitOfWork) -> Secrets:
    """Return the secrets of the service."""
    return repositories_in(uow).secrets


def identity_in(uow: AnyUnitOfWork) -> IdentityStorage:
    """Return the repositories of identity."""
    return repositories_in(uow).identity


def count_use(
    uow: AnyUnitOfWork, what: str, user_id: int, now: int, most: int, seconds: int = 3600, *, more: int = 1
) -> int:
    """Count ``more`` uses by a user; return the seconds to wait if the period already has ``most``, otherwise 0."""
    # An earlier user with this id was another person.
    counted = f"{what} of {user_id} since {creation_of(history_in(uow), user_id)}"
    counts = identity_in(uow).counts
    count = counts.get(counted).at(now, seconds)
    if count.number >= most:
        return count.ends_at - now
    if more:
        counts.put({counted: Count(count.number + more, count.ends_at)})
    return 0


def links_in(uow: AnyUnitOfWork, kind: AnyArtworkKind) -> Links:
    """Return the links between authors and a kind of artwork."""
    return repositories_in(uow).links(kind)


def stored_pictures_in(uow: AnyUnitOfWork) -> Pictures:
    """Return the pictures."""
    return repositories_in(uow).pictures


def withdrawals_in(uow: AnyUnitOfWork) -> Withdrawals:
    """Return the withdrawals from the published gallery."""
    return repositories_in(uow).withdrawals


def proposals_in(uow: AnyUnitOfWork) -> Proposals:
    """Return the proposals."""
    return repositories_in(uow).proposals


def notices_in(uow: AnyUnitOfWork) -> Notices:
    """Return the notices that are still to be sent."""
    return repositories_in(uow).notices


def member_notices_in(uow: AnyUnitOfWork) -> MemberNotices:
    """Return the sources of notices for members."""
    return repositories_in(uow).member_notices


class SettingsInHistory:
    """The settings as their newest change left them; without one, they are the defaults."""

    def __init__(self, history: ReadsChanges) -> None:
        self._history = history

    def get(self, id_: int) -> SharedSettings:
        """Return the settings."""
        change_id = self._history.last_of(Kind.SETTINGS, id_)
        change = self._history.get(change_id) if change_id else None
        after = {} if change is None or change.after is None else change.after
        # A newer version of logoadmin may have recorded more of them (contract K7).
        known: dict[str, Any] = {name: after[name] for name in SETTINGS.stored_fields if name in after}
        hosts = tuple(known.pop("picture_hosts", ()))
        return SharedSettings(hosts, **known, version=change_id)

    def update(self, settings: SharedSettings) -> None:
        """Do nothing: the change that is recorded stores them."""


def shared_settings(uow: AnyUnitOfWork) -> SharedSettings:
    """Return the settings as they are now."""
    return SettingsInHistory(history_in(uow)).get(SharedSettings.settings_id)
