"""The source of an import: its lines, read and checked several times, and the bad lines (contract I2)."""

import codecs
from array import array
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from logoadmin.domain.changes.import_lines import LINES, ArtworkLine, Line, UserLine
from logoadmin.domain.kernel.act_log import AUTHORS_FIELD
from logoadmin.domain.kernel.audited_records import MOST_LOADED
from logoadmin.domain.kernel.command import MAX_JSON, MOST_FIELDS, strict_json
from logoadmin.domain.kernel.errors import (
    ArtworkBlocked,
    BadLine,
    DuplicateEntry,
    InvalidInput,
    InvalidLines,
    NotFound,
    Problem,
)
from logoadmin.domain.kernel.kinds import KINDS
from logoadmin.domain.kernel.records import Kind, PasswordHash

# The maximum number of reported problems, which are held in memory. A check without records that finds this many reads
# no further.
MOST_REPORTED: Final = 10_000
_MAX_BATCH_TEXT: Final = 2**20
# Byte order marks, which some programs write at the start of a file.
_UTF_8_MARK: Final = "\ufeff"
_UTF_16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# More than in commands, see MOST_MARKS: a line may have any number of authors that fits into it.
_MOST_MARKS: Final = 500_000
# The names of unique fields in messages; the others are "name".
_UNIQUE: Final = {"user_id": "number", "details.origin": "origin"}


class ReadValues(dict[str, Any]):
    """The values of a line that was parsed before.

    Attributes:
        problems: why fields could not be filled, by the place of the field.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.problems: dict[tuple[str, ...], Problem] = {}

    @contextmanager
    def noting(self, *place: str) -> Iterator[None]:
        """Note the problem of a field that cannot be filled, instead of raising it."""
        try:
            yield
        except InvalidInput as error:
            self.problems[place] = error.problems[0]


# A line of a file, or the problems that prevented reading it.
RawLine = str | bytes | ReadValues | InvalidInput
# Returns why a password hash cannot be used; None if it can.
Refusal = Callable[[PasswordHash], str | None]


class BadLines(dict[int, tuple[Problem, ...]]):
    """The problems of bad lines by their numbers; beyond :data:`MOST_REPORTED` lines, the others are only counted."""

    others = 0

    def add(self, number: int, problem: Problem) -> None:
        """Add a line with one problem; the numbers ascend."""
        if len(self) < MOST_REPORTED:
            self[number] = (problem,)
        else:
            self.others += 1

    def join(self, others: "BadLines") -> None:
        """Add other bad lines."""
        self.update(others)
        self.others += others.others


def error_of(bad: BadLines, unread_from: int | None = None) -> InvalidLines:
    """Return the error that reports bad lines.

    Its last entry has the number of the others, or ``unread_from``, the first line that was not checked.
    """
    lines: list[BadLine] = []
    left = MOST_REPORTED
    for number, problems in sorted(bad.items()):
        if left > 0:
            lines.append(BadLine(number, problems))
            left -= len(problems)
    count = len(bad) + bad.others
    more = count - len(lines)
    if unread_from is not None:
        text = "Too many problems: lines from here on were not checked"
        lines.append(BadLine(unread_from, (Problem((), text, "too_long"),)))
    elif more:
        text = f"And more: {more} other line{'' if more == 1 else 's'} cannot be imported"
        lines.append(BadLine(lines[-1].number, (Problem((), text, "too_long"),)))
    return InvalidLines(lines, count, unread=unread_from is not None)


@dataclass(slots=True)
class CheckedLines:
    """The result of a check without records: the bad lines, and the kinds, names and numbers of the others."""

    kinds: set[Kind] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    # By phase.
    numbers: "defaultdict[int, array[int]]" = field(default_factory=lambda: defaultdict(lambda: array("L")))
    bad: BadLines = field(default_factory=BadLines)

    def add(self, number: int, line: Line) -> None:
        """Add a valid line."""
        self.kinds.add(line.row.kind)
        self.names.update(line.names)
        self.numbers[line.phase].append(number)

    def without(self, numbers: Container[int]) -> "CheckedLines":
        """Return the valid lines without those with these numbers."""
        left = CheckedLines(self.kinds, self.names)
        for phase, valid in self.numbers.items():
            left.numbers[phase].extend(number for number in valid if number not in numbers)
        return left


@dataclass(frozen=True, slots=True)
class ImportSource:
    """A file to import, whose lines can be read repeatedly."""

    lines: Iterable[RawLine]  # each iteration begins with the first
    refusal: Refusal

    def checked(self) -> CheckedLines:
        """Check the lines without looking at any record.

        Raises:
            InvalidLines: there are too many problems to read on, or the file has another encoding.
        """
        found, left = CheckedLines(), MOST_REPORTED
        for number, raw in enumerate(self.lines, start=1):
            try:
                line = read_line(number, raw, self.refusal)
            except InvalidInput as error:
                found.bad[number] = error.problems
                left -= len(error.problems)
                if left <= 0:
                    raise error_of(found.bad, unread_from=number + 1) from None
                if number == 1 and _is_utf_16(raw):
                    raise error_of(found.bad) from None  # no other line can be read either
            else:
                if line is not None:
                    found.add(number, line)
        return found

    def batches(self, numbers: Iterable[int]) -> Iterator[list[tuple[int, Line]]]:
        """Yield the valid lines with these ascending numbers in batches that are small enough to be held in memory."""
        batch: list[tuple[int, Line]] = []
        length, wanted = 0, iter(numbers)
        following = next(wanted, None)
        for number, raw in enumerate(self.lines, start=1):
            if following is None:
                break
            if number < following:
                continue
            following = next(wanted, None)
            line = read_line(number, raw, self.refusal)
            if line is None:
                continue
            batch.append((number, line))
            length += sum(len(value) for value in vars(line).values() if isinstance(value, str))
            if len(batch) == MOST_LOADED or length > _MAX_BATCH_TEXT:
                yield batch
                batch, length = [], 0
        if batch:
            yield batch


def read_line(number: int, raw: RawLine, refusal: Refusal) -> Line | None:
    """Return a line of a file; None if it is empty.

    Raises:
        InvalidInput: it is invalid.
    """
    if isinstance(raw, InvalidInput):
        raise InvalidInput(raw.problems)
    if isinstance(raw, ReadValues):
        return _line_of(raw, refusal)
    if not isinstance(raw, str | bytes):
        raise TypeError(f"a line is text, not of type {type(raw).__name__}")
    if not raw.strip():
        return None
    if number == 1 and _is_utf_16(raw):
        raise InvalidInput.of("File is not UTF-8 but UTF-16", type_="json_invalid")
    text = _text(raw).removeprefix(_UTF_8_MARK if number == 1 else "")
    return _line_of(ReadValues(_values_in(text)), refusal) if text.strip() else None


def _is_utf_16(raw: RawLine) -> bool:
    return isinstance(raw, bytes) and raw.startswith(_UTF_16_MARKS)


def _text(raw: str | bytes) -> str:
    if len(raw) > MAX_JSON:
        raise InvalidInput.of(f"Line should have at most {MAX_JSON} bytes", type_="too_long")
    try:
        return raw if isinstance(raw, str) else raw.decode()
    except UnicodeDecodeError:
        pass  # raised outside the handler, because the original error has the line
    raise InvalidInput.of("Line is not UTF-8", type_="json_invalid")


def _values_in(text: str) -> dict[str, Any]:
    try:
        values = strict_json(text.rstrip("\r\n"), _MOST_MARKS)
    except ValueError as error:
        # The parser gets a single line; its number in the file is reported elsewhere.
        reason = str(error).replace(" at line 1 column ", " at column ")
        values = InvalidInput.of(f"Invalid JSON: {reason}", type_="json_invalid")
    if isinstance(values, InvalidInput):  # the same
        raise values
    if not isinstance(values, dict):
        raise InvalidInput.of("Line should be a JSON object", type_="dict_type")
    return values


def _line_of(values: ReadValues, refusal: Refusal) -> Line:
    """Return the line with these values; all of its problems are raised together."""
    if len(values) > MOST_FIELDS:
        raise InvalidInput.of(f"Line should have at most {MOST_FIELDS} fields", type_="too_long")
    kind = values.get("kind")
    of_kind = LINES.get(kind) if isinstance(kind, str) else None
    if of_kind is None:
        allowed = ", ".join(KINDS)
        raise InvalidInput.of(f"Kind should be one of {allowed}", "kind", type_="literal_error")
    line: Line | None = None
    problems = [*values.problems.values()]
    try:
        line = of_kind(**values)
    except InvalidInput as error:
        problems += [problem for problem in error.problems if problem.loc not in values.problems]
    if issubclass(of_kind, ArtworkLine):
        problems += _author_problems(values)
    if issubclass(of_kind, UserLine) and all(problem.loc != ("password_hash",) for problem in problems):
        problems += _hash_problems(values, refusal)
    if line is None or problems:
        raise InvalidInput(problems)
    return line


def _author_problems(values: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield a problem unless an artwork has either the ids or the names of its authors."""
    ways = [way for way in ("author_ids", AUTHORS_FIELD) if way in values]
    if not ways:
        yield Problem(("author_ids",), "Field required", "missing")
    if len(ways) > 1:
        text = "Line should have author_ids or the names of authors, and not both"
        yield Problem((AUTHORS_FIELD,), text, "value_error")


def _hash_problems(values: Mapping[str, Any], refusal: Refusal) -> Iterator[Problem]:
    """Yield a problem if the password hash of a user cannot be used."""
    given = values.get("password_hash")
    if isinstance(given, str) and (reason := refusal(PasswordHash(given))) is not None:
        yield Problem(("password_hash",), reason, "value_error")


def problem_of(error: ArtworkBlocked | DuplicateEntry | NotFound, holder: str = "") -> Problem:
    """Return why a line was not stored, at the field that caused it; ``holder`` is the record that has its value."""
    if isinstance(error, ArtworkBlocked):
        return Problem(("active",), f"{error.what} {error.id} is blocked: {error.reason}", "value_error")
    if isinstance(error, DuplicateEntry):
        what = _UNIQUE.get(error.key, "name")
        cure = f": {holder} has it; give one of them another {what}" if holder else ""
        return Problem(tuple(error.key.split(".")), f"{error}{cure}", "value_error")
    field = "author_ids" if error.what == "Author" else f"{error.what.lower()}_id"
    return Problem((field,), str(error), "value_error")
