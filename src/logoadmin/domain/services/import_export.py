"""Moving records in and out as JSON Lines (contract I).

A line is a record as the API answers it with its kind in front, save that a theme or a logo names its authors as
``author_ids``, in link order. Each line is a creation or an amendment of its own; one that must wait for another,
because that makes its author or gives up its name, may stand before it.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork
from logoadmin.domain.model.access import OWNER, Caller, Permission, Scope
from logoadmin.domain.model.command import Command
from logoadmin.domain.model.errors import BadLine, DuplicateEntry, InvalidLines, NotFound
from logoadmin.domain.model.kinds import KINDS, RecordKind
from logoadmin.domain.model.limits import Flag
from logoadmin.domain.model.lists import Listing
from logoadmin.domain.model.records import Kind, StoredRecord
from logoadmin.domain.services.jsonl import Line, Outcome, UserLine, problem_of, read_lines, serialized_line
from logoadmin.domain.transactions import Transactions
from logoadmin.ports.clock import Clock
from logoadmin.ports.passwords import PasswordHasher
from logoadmin.ports.storage import UnitOfWork

Record = TypeVar("Record", bound=StoredRecord)


class ImportRecords(Command):
    """That everything in a file be so, or nothing of it; a dry run finds out and undoes it."""

    permission = Permission(Scope.ALL)

    dry_run: Flag = False


class ExportRecords(Command):
    """Everything, as lines; password hashes only where they are asked for."""

    permission = Permission(Scope.ALL)

    with_password_hashes: Flag = False


@dataclass(frozen=True, slots=True)
class ImportedCounts:
    """How many lines of a kind made a record, changed one, and found it as they say (contract I4)."""

    created: int
    amended: int
    unchanged: int

    @property
    def lines(self) -> int:
        """How many lines that is."""
        return self.created + self.amended + self.unchanged


@dataclass(frozen=True, slots=True)
class Imported:
    """The answer to an import (contract I4).

    Attributes:
        counts: what became of the lines of each kind.
        dry_run: whether it was undone again.
        without_password: how many users were created without one, who cannot sign in until they are given one.
    """

    counts: dict[Kind, ImportedCounts]
    dry_run: bool
    without_password: int


# Lines whose records are as they say, with what was done for that.
_Stored = list[tuple[Line, Outcome]]


class _DryRun(Exception):
    """No error, only the way out of a transaction that is to be undone."""

    def __init__(self, stored: _Stored) -> None:
        self.stored = stored
        super().__init__()


class ImportExportService:
    """Import and export. Every method may also raise what :class:`Transactions` raises."""

    def __init__(self, transactions: Transactions, hasher: PasswordHasher, clock: Clock) -> None:
        self._transactions = transactions
        self._hasher = hasher
        self._clock = clock

    def load(
        self,
        command: ImportRecords,
        lines: Iterable[str | bytes],
        caller: Caller = OWNER,
        progress: Callable[[], object] = lambda: None,
    ) -> Imported:
        """Import lines, all or none (contract I2).

        Args:
            command: how.
            lines: the lines, numbered from 1; empty ones are passed over.
            caller: who asks.
            progress: is called for each line that is done; again, if the database has the transaction start again.

        Raises:
            InvalidLines: some cannot be imported; every one of them is reported.
            Conflict: nobody would hold everything any more (contract B4).
        """
        self._transactions.require_token(command, caller)
        parsed, bad = read_lines(lines, self._hasher.refusal)
        # Never under a key: that would take other lines for the same, and the same lines make the same records anyway.
        keyless = ImportRecords(dry_run=command.dry_run)
        try:
            stored = self._transactions.write(keyless, caller, partial(self._load, parsed, bad, progress))
        except _DryRun as end:
            stored = end.stored
        return _imported(stored, command.dry_run)

    def dump(self, command: ExportRecords, write: Callable[[str], object], caller: Caller = OWNER) -> dict[Kind, int]:
        """Export everything as it is at one moment (contract I1), so that no line names what only later ones make.

        Args:
            command: how.
            write: is given each line, with its line end.
            caller: who asks.

        Returns:
            how many lines there were of each kind (contract I4).
        """
        return self._transactions.stream_snapshot(command, caller, partial(_dump, write))

    def _load(
        self,
        lines: list[tuple[int, Line]],
        bad: list[BadLine],
        progress: Callable[[], object],
        uow: AuditedUnitOfWork,
        command: ImportRecords,
    ) -> _Stored:
        stored, refused = _store(uow, lines, self._clock.now(), progress)
        if bad or refused:
            raise InvalidLines(sorted([*bad, *refused], key=lambda line: line.number))
        if command.dry_run:
            uow.change_log.close()
            raise _DryRun(stored)
        return stored


def _store(
    uow: AuditedUnitOfWork, lines: list[tuple[int, Line]], now: int, progress: Callable[[], object]
) -> tuple[_Stored, list[BadLine]]:
    """Store lines, those that are refused again after the others, for as long as that helps.

    Returns:
        the lines that were stored, and those that remain.
    """
    stored: _Stored = []
    while True:
        refused: list[BadLine] = []
        waiting: list[tuple[int, Line]] = []
        held: set[tuple[Kind, int]] = set()
        for number, line in lines:
            # Of two lines for a record the later one is to stand, so it does not overtake the other.
            if line.which not in held:
                try:
                    stored.append((line, line.store(uow, now)))
                except (DuplicateEntry, NotFound) as error:
                    refused.append(BadLine(number, (problem_of(error),)))
                else:
                    progress()
                    continue
            held.add(line.which)
            waiting.append((number, line))
        if not waiting or len(waiting) == len(lines):
            return stored, refused
        lines = waiting


def _imported(stored: _Stored, dry_run: bool) -> Imported:
    found = Counter((line.which[0], outcome) for line, outcome in stored)
    counts = {kind: ImportedCounts(*(found[kind, outcome] for outcome in Outcome)) for kind in Kind}
    users = [(line, outcome) for line, outcome in stored if isinstance(line, UserLine)]
    created = {line.which for line, outcome in users if outcome is Outcome.CREATED}
    given = {line.which for line, _ in users if line.password is not None}
    return Imported(counts, dry_run, len(created - given))


def _dump(write: Callable[[str], object], uow: UnitOfWork, command: ExportRecords) -> dict[Kind, int]:
    counts = dict.fromkeys(Kind, 0)
    for kind in KINDS.values():
        for record in _all(uow, kind):
            line = serialized_line(uow, kind, record, with_password=command.with_password_hashes)
            write(json.dumps(line, ensure_ascii=False) + "\n")
            counts[kind.kind] += 1
    return counts


def _all(uow: UnitOfWork, kind: RecordKind[Record, Any]) -> Listing[Record]:
    records = uow.records(kind)
    return Listing(records.page(-1, kind.pages.first), kind.id_of, records.page, kind.pages)
