"""The one door for changes: the unit of work as a use case sees it (contract B4, F1, G)."""

from collections.abc import Callable
from typing import Any, Final, TypeVar, TypeVarTuple

from logoadmin.domain.audit.change_log import ChangeLog
from logoadmin.domain.audit.repositories import (
    AuditedArtworks,
    AuditedAuthors,
    AuditedLinks,
    AuditedPasswords,
    AuditedRecords,
)
from logoadmin.domain.model.access import Rights
from logoadmin.domain.model.errors import NotFound
from logoadmin.domain.model.kinds import ARTWORK_KINDS, USERS, AnyArtworkKind, RecordKind
from logoadmin.domain.model.records import Kind, StoredRecord
from logoadmin.ports.storage import UnitOfWork

Answer = TypeVar("Answer")
Given = TypeVarTuple("Given")
Record = TypeVar("Record", bound=StoredRecord)

_AUDITED: Final[dict[Kind, type[AuditedRecords[Any]]]] = {
    Kind.AUTHOR: AuditedAuthors,
    **{kind.kind: AuditedArtworks for kind in ARTWORK_KINDS},
}


class AuditedUnitOfWork:
    """Every repository at work in the same transaction, those of records through the change log."""

    def __init__(self, uow: UnitOfWork, change_log: ChangeLog) -> None:
        self.change_log = change_log
        self.sessions = uow.sessions
        self.secrets = uow.secrets
        self.keys = uow.keys
        self.changes = uow.changes
        self.sign_in_attempts = uow.sign_in_attempts
        self._uow = uow
        self._records: dict[Kind, AuditedRecords[Any]] = {}

    def records(self, kind: RecordKind[Record, Any]) -> AuditedRecords[Record]:
        """Return the records of a kind."""
        found = self._records.get(kind.kind)
        if found is None:
            found = self._records[kind.kind] = _AUDITED.get(kind.kind, AuditedRecords)(kind, self._uow, self.change_log)
        return found

    def links(self, kind: AnyArtworkKind) -> AuditedLinks:
        """Return the links of a kind of artwork."""
        artworks: Any = self.records(kind)
        return AuditedLinks(kind, self._uow, artworks)

    @property
    def passwords(self) -> AuditedPasswords:
        """The passwords."""
        return AuditedPasswords(self._uow, self.records(USERS))


# What work that only reads is given as well as work that changes something.
AnyUnitOfWork = UnitOfWork | AuditedUnitOfWork


def audited(
    uow: UnitOfWork,
    now: int,
    request_id: str | None,
    held: Rights | None,
    work: Callable[[AuditedUnitOfWork, *Given], Answer],
    *given: *Given,
) -> Answer:
    """Return the answer of work whose changes of records are checked, numbered and written into the history.

    Args:
        uow: where to work.
        now: when, as Unix time.
        request_id: of the request that asked for it.
        held: what whoever asks may do; None for those who may do everything.
        work: what is to be done, with what it is given.
        given: that.
    """
    change_log = ChangeLog(uow, now, None if held is None else held.user_id, request_id, held)
    answer = work(AuditedUnitOfWork(uow, change_log), *given)
    change_log.close()
    return answer


def found(uow: AnyUnitOfWork, kind: RecordKind[Record, Any], id_: int) -> Record:
    """Return a record that must be there.

    Raises:
        NotFound: it is not.
    """
    record = uow.records(kind).get(id_)
    if record is None:
        raise NotFound(kind.name, id_)
    return record
