"""Moving records in and out as JSON Lines (contract I).

A line is a record as the API answers it with its kind in front, save that a theme or a logo names its authors as
``author_ids``, in link order. Each line is a creation or an amendment of its own; one that must wait for another,
because that makes its author or gives up its name, may stand before it.
"""

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Final, TypeVar

from pydantic.json_schema import SkipJsonSchema

from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork
from logoadmin.domain.model.access import OWNER, SIGNED_IN, Caller, KeyHolder, Rights, Scope, SignedIn
from logoadmin.domain.model.command import Command, request_option
from logoadmin.domain.model.errors import DuplicateEntry, NotFound, NotPermitted
from logoadmin.domain.model.kinds import KINDS, AnyKind, RecordKind
from logoadmin.domain.model.limits import Flag, described
from logoadmin.domain.model.lists import Listing
from logoadmin.domain.model.records import Imported, ImportedCounts, Kind, PasswordHash, StoredRecord
from logoadmin.domain.services.import_source import BadLines, CheckedLines, ImportSource
from logoadmin.domain.services.jsonl import Line, LineOutcome, UserLine, problem_of, serialized_line
from logoadmin.domain.transactions import Transactions
from logoadmin.ports.passwords import PasswordHasher
from logoadmin.ports.storage import UnitOfWork

Record = TypeVar("Record", bound=StoredRecord)

# Lines that must wait for others are tried again so often, all together: twice each, and some more. Names that are
# passed on by a thousand lines, each of which needs the one after it, would otherwise take a million tries.
_TRIES: Final = 2
_MORE_TRIES: Final = 10_000
_IN_ORDER: Final = "too many lines wait for others: put this one behind the line that it waits for"


class ImportRecords(Command):
    """That everything in a file be so, or nothing of it; a dry run finds out and undoes it.

    It takes the rights to change records of the kinds in it.
    """

    permission = SIGNED_IN
    takes_long = True

    dry_run: Annotated[Flag, described("Whether to report the result without changing anything.", True)] = False
    # Of all the lines: with a key, other lines are another command.
    lines_hash: SkipJsonSchema[str | None] = request_option(None)


class ExportRecords(Command):
    """All records as lines, or those of some kinds; it takes the rights to read them (contract I4)."""

    permission = SIGNED_IN

    kind: Annotated[
        tuple[Kind, ...],
        described("Records of this kind; repeat it for several kinds. Without it, all records.", ["author", "logo"]),
    ] = ()

    @property
    def rows(self) -> list[AnyKind]:
        """The kinds that are asked for, in the order in which they are exported."""
        return [row for kind, row in KINDS.items() if not self.kind or kind in self.kind]


class _DryRun(Exception):
    """No error, only the way out of a transaction that is to be undone."""

    def __init__(self, imported: Imported) -> None:
        self.imported = imported
        super().__init__()


class ImportExportService:
    """Import and export. Every method may also raise what :class:`Transactions` raises."""

    def __init__(self, transactions: Transactions, hasher: PasswordHasher) -> None:
        self._transactions = transactions
        self._hasher = hasher

    def check(self, command: ImportRecords | ExportRecords, caller: Caller) -> int | None:
        """Refuse a caller who may not, before a file is received or made; which kinds are in one is seen later.

        Returns:
            which user it is, also where a key of theirs asks; None for the program itself.

        Raises:
            NotPermitted: they may change records of no kind, or not read those that are asked for.
        """
        self._transactions.require_token(command, caller)
        if not isinstance(caller, SignedIn | KeyHolder):
            return None
        check = _check_no_stranger if isinstance(command, ImportRecords) else _check_readable
        return self._transactions.snapshot_with_rights(command, caller, partial(_checked_user, check))

    def load(
        self,
        command: ImportRecords,
        lines: Iterable[str | bytes],
        caller: Caller = OWNER,
        progress: Callable[[], object] = lambda: None,
        *,
        with_password_hashes: bool = True,
    ) -> Imported:
        """Import lines, all or none (contract I2, I4).

        They are read several times and never held, unless they can be read only once.

        Args:
            command: how.
            lines: the lines, numbered from 1; empty ones are passed over.
            caller: who asks.
            progress: is called for each line that is done; again, if the database has the transaction start again.
            with_password_hashes: whether lines of users may have them.

        Raises:
            InvalidLines: some cannot be imported; every one of them is reported, up to
                :data:`~logoadmin.domain.services.import_source.MOST_REPORTED` problems, and whether there are more.
            NotPermitted: the caller may not change records of each kind in them, or not one of these (contract B4).
            Conflict: nobody would hold everything any more (contract B4).
        """
        self.check(command, caller)
        if iter(lines) is lines:
            lines = [*lines]
        source = ImportSource(lines, self._hasher.refusal if with_password_hashes else _no_hashes)
        checked = source.checked()
        if checked.bad.unread_from is not None:
            raise checked.bad.error()
        if command.lines_hash is None:
            # Never under a key: that would take other lines for the same, and the same lines make the same records.
            command = ImportRecords(dry_run=command.dry_run)
        try:
            return self._transactions.write(command, caller, partial(self._load, source, checked, progress))
        except _DryRun as end:
            return end.imported

    def dump(
        self,
        command: ExportRecords,
        write: Callable[[str], object],
        caller: Caller = OWNER,
        *,
        with_password_hashes: bool = False,
    ) -> dict[Kind, int]:
        """Export records as they are at one moment (contract I1), so that no line names what only later ones make.

        Args:
            command: which.
            write: is given each line, with its line end.
            caller: who asks.
            with_password_hashes: whether lines of users have them, which takes the right to everything.

        Returns:
            how many lines there were of each kind (contract I4).

        Raises:
            NotPermitted: the caller may not read records of each kind that is asked for.
        """
        work = partial(_dump, write, with_password_hashes)
        return self._transactions.stream_snapshot(command, caller, work)

    def _load(
        self,
        source: ImportSource,
        checked: CheckedLines,
        progress: Callable[[], object],
        uow: AuditedUnitOfWork,
        command: ImportRecords,
    ) -> Imported:
        held = uow.held
        if held is not None:
            held.require(KINDS[kind].write_scope for kind in checked.kinds)
        done, refused = _store(uow, source, progress)
        bad = checked.bad.joined(refused)
        if bad.count:
            raise bad.error()
        imported = done.imported(command.dry_run)
        if command.dry_run:
            uow.close()
            raise _DryRun(imported)
        return imported


@dataclass(slots=True)
class _Done:
    """What became of the lines."""

    counts: Counter[tuple[Kind, LineOutcome]] = field(default_factory=Counter)
    # The users who were created, save those who got a password.
    without_password: set[int] = field(default_factory=set)

    def add(self, line: Line, outcome: LineOutcome) -> None:
        kind, id_ = line.which
        self.counts[kind, outcome] += 1
        if isinstance(line, UserLine):
            if outcome is LineOutcome.CREATED:
                self.without_password.add(id_)
            if line.password is not None:
                self.without_password.discard(id_)

    def imported(self, dry_run: bool) -> Imported:
        counts = {kind: ImportedCounts(*(self.counts[kind, outcome] for outcome in LineOutcome)) for kind in Kind}
        return Imported(counts, dry_run, len(self.without_password))


def _store(uow: AuditedUnitOfWork, source: ImportSource, progress: Callable[[], object]) -> tuple[_Done, BadLines]:
    """Store lines, those that are refused again after the others, for as long as that helps and is not too often.

    Nothing is held of them: of those that wait for others, no more than their numbers and which records they are about.

    Returns:
        what became of them, and those that remain.
    """
    done = _Done()
    waiting: array[int] | None = None
    tries = 0
    while True:
        refused, left = BadLines(), array("L")
        tried = 0
        held: set[tuple[Kind, int]] = set()
        for batch in source.batches(waiting):
            tried += len(batch)
            uow.load(line.which for _, line in batch)
            for number, line in batch:
                # Of two lines for a record the later one is to stand, so it does not overtake the other.
                if line.which not in held:
                    try:
                        done.add(line, line.store(uow))
                    except (DuplicateEntry, NotFound) as error:
                        refused.add(number, problem_of(error))
                    else:
                        progress()
                        continue
                held.add(line.which)
                left.append(number)
        if waiting is None:
            tries = _TRIES * tried + _MORE_TRIES
        tries -= len(left)
        if not left or len(left) == tried or tries < 0:
            return done, refused if tries >= 0 else refused.explained(_IN_ORDER)
        waiting = left


def _checked_user(
    check: Callable[[Any, Rights | None], None], _uow: UnitOfWork, command: Command, held: Rights | None
) -> int | None:
    check(command, held)
    return None if held is None else held.user_id


def _check_no_stranger(_command: ImportRecords, held: Rights | None) -> None:
    if held is not None and not any(held.hold(kind.write_scope) for kind in KINDS.values()):
        raise NotPermitted


def _check_readable(command: ExportRecords, held: Rights | None) -> None:
    needed = [row.read_scope for row in command.rows]
    if held is not None and not all(scope is None or held.hold(scope) for scope in needed):
        raise NotPermitted


def _no_hashes(_: PasswordHash) -> str:
    return "Password hashes are not taken here"


def _dump(
    write: Callable[[str], object],
    with_password_hashes: bool,
    uow: UnitOfWork,
    command: ExportRecords,
    held: Rights | None,
) -> dict[Kind, int]:
    _check_readable(command, held)
    if held is not None and with_password_hashes and not held.hold(Scope.ALL):
        raise NotPermitted
    counts = dict.fromkeys(Kind, 0)
    for kind in command.rows:
        for record in _all(uow, kind):
            line = serialized_line(uow, kind, record, with_password=with_password_hashes)
            write(json.dumps(line, ensure_ascii=False) + "\n")
            counts[kind.kind] += 1
    return counts


def _all(uow: UnitOfWork, kind: RecordKind[Record, Any]) -> Listing[Record]:
    records = uow.records(kind)
    return Listing(records.page(-1, kind.page_sizes.first), kind.id_of, records.page, kind.page_sizes)
