"""The unit of work of a write, in which every change is recorded (contract B4, F1, G).

What the kinds of record have besides is in their contexts, as a composition of :class:`Auditing` says.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from logoadmin.domain.kernel.access import OWNER, Caller, Rights
from logoadmin.domain.kernel.audited_records import AuditedRecords
from logoadmin.domain.kernel.change_log import ChangeLog, Subscriber
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import NotFound, NotModified
from logoadmin.domain.kernel.escalation import Escalation, Guard
from logoadmin.domain.kernel.kinds import RECORDED_KINDS, RecordKind
from logoadmin.domain.kernel.limits import Origin
from logoadmin.domain.kernel.records import (
    Kind,
    StoredRecord,
    version_of,
)
from logoadmin.ports.gallery.gallery_storage import GalleryStorage
from logoadmin.ports.identity.identity_storage import IdentityStorage
from logoadmin.ports.kernel.change_storage import Changes
from logoadmin.ports.kernel.secret_storage import Secrets
from logoadmin.ports.publication.publication_storage import PublicationStorage
from logoadmin.ports.storage import UnitOfWork

Record = TypeVar("Record", bound=StoredRecord)


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
        held: the caller's rights; None for every right.
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
        held: Rights | None,
        origin: Origin | None = None,
        caller: Caller = OWNER,
    ) -> None:
        self.stored = uow
        self.now = now
        self.held = held
        self.caller = caller
        user_id = None if held is None else held.user_id
        self.change_log = ChangeLog(uow, now, user_id, request_id, origin, auditing.subscribers)
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

    def close(self) -> None:
        """Store the history of the changes, and have the subscribers follow them.

        Raises:
            Conflict: no user who can sign in would hold everything.
        """
        if self._escalation is not None:
            self._auditing.check_end(self.stored, self._escalation)
        self.change_log.store(final=True)


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
