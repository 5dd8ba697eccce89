"""The source of an import: its lines, which are read several times, and the invalid ones (contract I2)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from logoadmin.domain.changes.import_lines import Line
from logoadmin.domain.changes.jsonl import RawLine, read_lines
from logoadmin.domain.kernel.audited_records import MOST_LOADED
from logoadmin.domain.kernel.errors import BadLine, InvalidLines, Problem
from logoadmin.domain.kernel.records import Kind, PasswordHash

# The maximum number of reported problems, which are held in memory. A file with this many, found without looking at
# records, is not read any further.
MOST_REPORTED: Final = 10_000
_MAX_BATCH_TEXT: Final = 2**20


@dataclass(slots=True)
class BadLines:
    """The first bad lines, and their number.

    Attributes:
        first: the first of them, with about :data:`MOST_REPORTED` problems at most.
        count: the number of bad lines.
        problems: the number of problems of the first ones.
        unread_from: the first line that was not read, because there were too many problems.
    """

    first: list[BadLine] = field(default_factory=list)
    count: int = 0
    problems: int = 0
    unread_from: int | None = None

    def add(self, number: int, *problems: Problem) -> None:
        """Add a bad line."""
        self.count += 1
        if self.problems < MOST_REPORTED:
            self.first.append(BadLine(number, problems))
            self.problems += len(problems)

    def joined(self, others: "BadLines") -> "BadLines":
        """Return these and others, in the order of the file."""
        both = BadLines()
        for line in sorted([*self.first, *others.first], key=lambda line: line.number):
            both.add(line.number, *line.problems)
        both.count = self.count + others.count
        return both

    def explained(self, text: str) -> "BadLines":
        """Return them with an explanation added to each problem."""
        explained = [
            replace(line, problems=tuple(_with(problem, text) for problem in line.problems)) for line in self.first
        ]
        return replace(self, first=explained)

    def error(self) -> InvalidLines:
        """Return the error that reports them, with an entry at its end if there are more."""
        lines, more = self.first, self.count - len(self.first)
        if self.unread_from is not None:
            text = "Too many problems: lines from here on were not checked"
            lines = [*lines, BadLine(self.unread_from, (Problem((), text, "too_long"),))]
        elif more:
            text = f"And more: {more} other line{'' if more == 1 else 's'} cannot be imported"
            lines = [*lines, BadLine(lines[-1].number, (Problem((), text, "too_long"),))]
        return InvalidLines(lines, self.count, unread=self.unread_from is not None)


@dataclass(slots=True)
class CheckedLines:
    """What is found without looking at any record: the bad lines, and of the others kinds, phases and names."""

    kinds: set[Kind] = field(default_factory=set)
    phases: set[int] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    bad: BadLines = field(default_factory=BadLines)


@dataclass(frozen=True, slots=True)
class ImportSource:
    """A file to import, line by line, which is read as often as it takes.

    Attributes:
        lines: its lines, from the first one each time.
        refusal: says why a password hash cannot be taken, None if it can.
        left_out: the numbers of lines that are not read.
    """

    lines: Iterable[RawLine]
    refusal: Callable[[PasswordHash], str | None]
    left_out: frozenset[int] = frozenset()

    def without(self, numbers: Iterable[int]) -> "ImportSource":
        """Return the same file without more of its lines."""
        return replace(self, left_out=self.left_out.union(numbers))

    def checked(self) -> CheckedLines:
        """Return what is found without looking at any record."""
        found = CheckedLines()
        for number, line in read_lines(self._read(), self.refusal):
            if isinstance(line, BadLine):
                found.bad.add(number, *line.problems)
                if found.bad.problems >= MOST_REPORTED:
                    found.bad.unread_from = number + 1
                    break
            else:
                found.kinds.add(line.row.kind)
                found.phases.add(line.phase)
                found.names.update(line.names)
        return found

    def batches(self, numbers: Sequence[int] | None) -> Iterator[list[tuple[int, Line]]]:
        """Yield the same lines as :meth:`good`, as many at a time as are read and held together."""
        batch: list[tuple[int, Line]] = []
        length = 0
        for number, line in self.good(numbers):
            batch.append((number, line))
            length += sum(len(value) for value in vars(line).values() if isinstance(value, str))
            if len(batch) == MOST_LOADED or length > _MAX_BATCH_TEXT:
                yield batch
                batch, length = [], 0
        if batch:
            yield batch

    def good(self, numbers: Sequence[int] | None) -> Iterator[tuple[int, Line]]:
        """Yield the lines within their limits, all or those with some numbers, which rise."""
        lines = self._read()
        for number, line in read_lines(lines if numbers is None else _only(lines, numbers), self.refusal):
            if not isinstance(line, BadLine):
                yield number, line

    def _read(self) -> Iterable[RawLine]:
        if not self.left_out:
            return self.lines
        return ("" if number in self.left_out else line for number, line in enumerate(self.lines, start=1))


def _only(lines: Iterable[RawLine], numbers: Sequence[int]) -> Iterator[RawLine]:
    """Yield lines, in whose place others than those with these numbers are empty."""
    wanted = iter(numbers)
    following = next(wanted, None)
    for number, line in enumerate(lines, start=1):
        if number != following:
            yield ""
            continue
        yield line
        following = next(wanted, None)
        if following is None:
            return


def _with(problem: Problem, text: str) -> Problem:
    return replace(problem, msg=f"{problem.msg}; {text}")
