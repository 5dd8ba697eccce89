"""Import and export of records as JSON Lines (contract I).

A line is a record as the API returns it, with its ``kind`` first; themes and logos have ``author_ids`` instead of
``authors``, in link order. Each line creates or updates a record. A line may precede another line that it depends on,
because that creates its author or changes a unique name.
"""

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, MutableSequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, ValidationInfo, field_validator
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from logoadmin.domain.changes.csv_lines import CSV_KINDS, CsvLines, check_charset, csv_head, csv_line
from logoadmin.domain.changes.import_lines import AuthorsByName, Line, LineOutcome, UserLine, serialized_line
from logoadmin.domain.changes.import_source import BadLines, ImportSource, RawLine, error_of, problem_of
from logoadmin.domain.identity.new_passwords import NewPasswords
from logoadmin.domain.kernel.access import OWNER, SIGNED_IN, Caller, Held, KeyHolder, Owner, Scope, SignedIn
from logoadmin.domain.kernel.act_log import AUTHORS_FIELD
from logoadmin.domain.kernel.command import Command, request_option
from logoadmin.domain.kernel.errors import ArtworkBlocked, BadLine, DuplicateEntry, InvalidLines, NotFound, NotPermitted
from logoadmin.domain.kernel.gate import Gate, Transactions
from logoadmin.domain.kernel.kinds import KINDS, AnyKind
from logoadmin.domain.kernel.limits import Flag, Origin, described
from logoadmin.domain.kernel.records import CsvKind, Kind, ListedKind, PasswordHash, StoredRecord
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, Reading, all_records
from logoadmin.domain.kernel.use_cases import Service, use_case

# The number of retries of lines that depend on others: two for each line, and some more. Otherwise, a thousand lines
# that each take over the name of the next would need a million tries.
_TRIES: Final = 2
_MORE_TRIES: Final = 10_000
# Each explanation takes a query.
_MOST_EXPLAINED: Final = 20
_IN_ORDER: Final = "too many lines depend on later ones: move this line behind the line that it depends on"


@dataclass(frozen=True, slots=True)
class ImportedCounts:
    """The number of records of a kind that were created, changed or left unchanged (contract I4)."""

    created: Annotated[int, described("The number of records that were created.", 2)]
    amended: Annotated[int, described("The number of records that were changed.", 0)]
    unchanged: Annotated[int, described("The number of records that were left unchanged.", 1)]

    @property
    def total(self) -> int:
        """The number of records."""
        return self.created + self.amended + self.unchanged


@dataclass(frozen=True, slots=True)
class Imported:
    """The answer to an import (contract I4): the results for each kind, including authors that lines only name."""

    counts: dict[Kind, ImportedCounts]
    dry_run: bool  # whether everything was undone
    without_password: int  # users who were created without a password, and cannot sign in until they get one


class ImportRecords(Command):
    """The import of a file, all or nothing; a dry run is undone.

    It requires the write scopes of the kinds in the file.
    """

    takes_long = True
    origin = Origin.IMPORT

    dry_run: Annotated[Flag, described("Whether to report the result without changing anything.", True)] = False
    kind: Annotated[CsvKind, described("The kind of the records in a CSV file.", "author")] | None = None
    charset: Annotated[
        str, AfterValidator(check_charset), described("The encoding of a CSV file, as Python names it.", "cp1251")
    ] = "utf-8"
    # The hash of all lines: under an idempotency key, other lines are another command.
    lines_hash: SkipJsonSchema[str | None] = request_option(None)


class ExportRecords(Command):
    """The export of all records, or of some kinds; it requires their read scopes (contract I4)."""

    kind: Annotated[
        tuple[ListedKind, ...],
        described("Records of this kind; repeat it for several kinds. Without it, all records.", ["author", "logo"]),
    ] = ()
    format: Annotated[
        Literal["jsonl", "csv"], described("JSON Lines, or CSV, which has authors, themes or logos.", "jsonl")
    ] = "jsonl"

    @field_validator("format")
    @classmethod
    def _check_kind(cls, value: str, info: ValidationInfo) -> str:
        if value == "csv" and info.data.get("kind") not in {(kind,) for kind in CSV_KINDS}:
            raise PydanticCustomError("value_error", "CSV has records of one kind: author, theme or logo")
        return value

    @property
    def rows(self) -> list[AnyKind]:
        """The requested kinds, in the order of export."""
        return [row for kind, row in KINDS.items() if not self.kind or kind in self.kind]


class ImportExportService(Service):
    """The use cases of import and export."""

    def __init__(self, transactions: Transactions, new_passwords: NewPasswords) -> None:
        super().__init__(transactions)
        self._new_passwords = new_passwords

    @use_case(SIGNED_IN)
    def check(self, gate: Gate, command: ImportRecords | ExportRecords, caller: Caller = OWNER) -> int | None:
        """Reject a caller without the scopes, before a file is received or created.

        The kinds in a file to import are checked later.

        Returns:
            The user's id, also for a service key; None for the program itself.

        Raises:
            NotPermitted: the caller may not change records of any kind, or not read all of the requested kinds.
        """
        gate.require_token(caller)
        if not isinstance(caller, SignedIn | KeyHolder):
            return None

        def check(_: Reading, command: ImportRecords | ExportRecords, held: Held) -> int | None:
            _require_scopes(command, held)
            return held.user_id

        return gate.snapshot_with_rights(command, caller, check)

    @use_case(SIGNED_IN)
    def load(
        self,
        gate: Gate,
        command: ImportRecords,
        lines: Iterable[RawLine],
        caller: Caller = OWNER,
        progress: Callable[[], object] = lambda: None,
        *,
        with_password_hashes: bool = True,
        skipped: MutableSequence[BadLine] | None = None,
    ) -> Imported:
        """Import lines, all or none (contract I2, I4); they are read several times, and held only if necessary.

        Args:
            command: the options.
            lines: lines of JSON, or of CSV if the command has a kind, numbered from 1, or the problems of one.
            caller: the caller of the operation.
            progress: called for each stored line, and again if the transaction runs again.
            with_password_hashes: whether lines of users may have them. If new passwords must be long enough, this is
                reserved for the program itself, because a hash hides the length (contract O5).
            skipped: receives the lines that cannot be imported; the others are (contract I5). Without it, none is.

        Raises:
            InvalidLines: some lines cannot be imported; the error reports all of them, up to 10,000 problems.
            NotPermitted: the caller may not change records of all these kinds, or not one of the records (contract B4).
            Conflict: nobody would hold everything any more (contract B4).
        """
        self.check(command, caller)
        source = self._source(command, lines, caller, with_password_hashes=with_password_hashes)
        if command.lines_hash is None:
            # Without an idempotency key, which needs the hash of the lines to distinguish them.
            command = command.model_copy(update={"idempotency_key": None})
        return _import_all(gate, command, source, caller, progress, skipped)

    def _source(
        self, command: ImportRecords, lines: Iterable[RawLine], caller: Caller, *, with_password_hashes: bool
    ) -> ImportSource:
        if isinstance(lines, str | bytes):  # whose characters would be lines
            raise TypeError("load takes the lines of a file, such as the open file, not its text")
        if iter(lines) is lines:
            lines = [*lines]
        accepts_hashes = with_password_hashes and (isinstance(caller, Owner) or not self._new_passwords.are_judged)
        raw = lines if command.kind is None else CsvLines(lines, command.kind, command.charset, {})
        return ImportSource(raw, self._new_passwords.hasher.refusal if accepts_hashes else _no_hashes)

    @use_case(SIGNED_IN)
    def dump(
        self,
        gate: Gate,
        command: ExportRecords,
        write: Callable[[str], object],
        caller: Caller = OWNER,
        *,
        with_password_hashes: bool = False,
    ) -> dict[Kind, int]:
        """Export a snapshot of the records, so that every reference is in the file (contract I1).

        Args:
            command: the kinds.
            write: called with each line, including its line end.
            caller: the caller of the operation.
            with_password_hashes: whether lines of users have them, which requires the scope ``*``.

        Returns:
            The number of lines of each kind (contract I4).

        Raises:
            NotPermitted: the caller may not read all of the requested kinds.
        """

        def dump(uow: Reading, command: ExportRecords, held: Held) -> dict[Kind, int]:
            _require_scopes(command, held)
            if with_password_hashes and not held.hold(Scope.ALL):
                raise NotPermitted
            counts = dict.fromkeys(KINDS, 0)
            for kind in command.rows:
                if command.format == "csv":
                    write(csv_head(kind.kind))
                for record in all_records(kind, uow.records(kind).page):
                    line = serialized_line(uow, kind, record, with_password=with_password_hashes)
                    write(_format_line(command, line, record))
                    counts[kind.kind] += 1
            return counts

        return gate.stream_snapshot(command, caller, dump)


def _import_all(
    gate: Gate,
    command: ImportRecords,
    source: ImportSource,
    caller: Caller,
    progress: Callable[[], object],
    skipped: MutableSequence[BadLine] | None,
) -> Imported:
    """Import all lines of a source, phase by phase, or none; bad lines are left out if they can go to ``skipped``."""
    checked = source.checked()

    def load(uow: AuditedUnitOfWork, command: ImportRecords) -> Imported:
        uow.held.require(KINDS[kind].write_scope for kind in checked.kinds)
        running = _Import(uow, source, AuthorsByName(uow, checked.names), progress)
        bad = BadLines()
        bad.join(checked.bad)
        for _, numbers in sorted(checked.numbers.items()):
            bad.join(running.store(numbers))
        if bad:
            raise error_of(bad)
        return running.result(command.dry_run)

    while True:
        try:
            return gate.write(command, caller, load)
        except InvalidLines as error:
            bad = {line.number for line in error.lines}
            if skipped is None or error.count > len(bad):
                raise
            skipped.extend(error.lines)
            checked = checked.without(bad)


def _format_line(command: ExportRecords, line: Mapping[str, Any], record: StoredRecord) -> str:
    if command.format == "csv":
        return csv_line(line, [author.username for author in getattr(record, AUTHORS_FIELD, ())])
    return json.dumps(line, ensure_ascii=False) + "\n"


def _require_scopes(command: ImportRecords | ExportRecords, held: Held) -> None:
    """Require any write scope for an import, or the read scopes of all its kinds for an export."""
    if isinstance(command, ImportRecords):
        permitted = any(held.hold(kind.write_scope) for kind in KINDS.values())
    else:
        permitted = all(row.read_scope is None or held.hold(row.read_scope) for row in command.rows)
    if not permitted:
        raise NotPermitted


@dataclass(slots=True)
class _Import:
    """An import in one transaction, and its results."""

    uow: AuditedUnitOfWork
    source: ImportSource
    named: AuthorsByName
    progress: Callable[[], object]
    counts: Counter[tuple[Kind, LineOutcome]] = field(default_factory=Counter)
    # The users who were created without a password.
    without_password: set[int] = field(default_factory=set)

    def store(self, numbers: "array[int]") -> BadLines:
        """Store the lines with these numbers; return those that are refused even when retried, as long as that helps.

        Lines are not held in memory, only the numbers and records of those that wait for others.
        """
        tries = _TRIES * len(numbers) + _MORE_TRIES
        while True:
            refused = BadLines()
            left = array("L")
            postponed: set[tuple[Kind, int]] = set()
            for batch in self.source.batches(numbers):
                self.uow.load(line.which for _, line in batch if line.which is not None)
                for number, line in batch:
                    # Of two lines for a record, the later one wins, so it must not be stored before the other.
                    if line.which not in postponed and self._is_stored(number, line, refused):
                        continue
                    if line.which is not None:
                        postponed.add(line.which)
                    left.append(number)
            tries -= len(left)
            if tries < 0:
                for number, problems in refused.items():
                    refused[number] = tuple(replace(each, msg=f"{each.msg}; {_IN_ORDER}") for each in problems)
                return refused
            if not left or len(left) == len(numbers):
                return refused
            numbers = left

    def _is_stored(self, number: int, line: Line, refused: BadLines) -> bool:
        """Store a line; return False if it is refused."""
        try:
            outcome = line.store(self.uow, self.named)
        except (ArtworkBlocked, DuplicateEntry, NotFound) as error:
            holder = "" if len(refused) > _MOST_EXPLAINED else _holder(self.uow, line.row, error)
            refused.add(number, problem_of(error, holder))
            return False
        self.counts[line.row.kind, outcome] += 1
        if isinstance(line, UserLine):
            if outcome is LineOutcome.CREATED:
                self.without_password.add(line.row.id_of(line))
            if line.password is not None:
                self.without_password.discard(line.row.id_of(line))
        self.progress()
        return True

    def result(self, dry_run: bool) -> Imported:
        """Return the counts, including authors that lines only name."""
        self.counts[Kind.AUTHOR, LineOutcome.CREATED] += self.named.count
        counts = {kind: ImportedCounts(*(self.counts[kind, outcome] for outcome in LineOutcome)) for kind in KINDS}
        return Imported(counts, dry_run, len(self.without_password))


def _holder(uow: AuditedUnitOfWork, kind: AnyKind, error: Exception) -> str:
    """Return the record with a duplicate value, as text; empty for other errors."""
    if not isinstance(error, DuplicateEntry) or error.key not in kind.unique:
        return ""
    found = uow.records(kind).find(error.key, error.value)
    return "" if found is None else f"{kind.kind} {kind.id_of(found)} ({getattr(found, kind.name_field)})"


def _no_hashes(_: PasswordHash) -> str:
    return "Password hashes are not accepted here"
