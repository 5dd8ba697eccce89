"""JSON Lines: how each line of an import is parsed and checked (contract I)."""

import codecs
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from logoadmin.domain.changes.import_lines import LINES, ArtworkLine, Line, UserLine
from logoadmin.domain.kernel.act_log import AUTHORS_FIELD
from logoadmin.domain.kernel.command import MAX_JSON, MOST_FIELDS, strict_json
from logoadmin.domain.kernel.errors import ArtworkBlocked, BadLine, DuplicateEntry, InvalidInput, NotFound, Problem
from logoadmin.domain.kernel.kinds import KINDS
from logoadmin.domain.kernel.records import PasswordHash

# Byte order marks, which some programs write at the start of a file.
_UTF_8_MARK: Final = "\ufeff"
_UTF_16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# More than in commands, see MOST_MARKS: a line may have any number of authors that fits into it.
_MOST_MARKS: Final = 500_000


# What people call the values of unique fields; those that are not here are names.
_UNIQUE: Final = {"user_id": "number", "details.origin": "origin"}


RawLine = str | bytes | Problem


def read_lines(
    lines: Iterable[RawLine], refusal: Callable[[PasswordHash], str | None]
) -> Iterator[tuple[int, Line | BadLine]]:
    """Yield the lines with their numbers, from 1: valid lines, and the problems of the others.

    Args:
        lines: the lines, or the problems with which they could not be read.
        refusal: returns why a password hash is rejected, see
            :class:`~logoadmin.ports.passwords.PasswordHasher`.
    """
    for number, given in enumerate(lines, start=1):
        if isinstance(given, Problem):
            yield number, BadLine(number, (given,))
            continue
        if not given.strip():
            continue
        if number == 1 and isinstance(given, bytes) and given.startswith(_UTF_16_MARKS):
            # Reported once: no other line can be read either.
            yield number, BadLine(number, (Problem((), "File is not UTF-8 but UTF-16", "json_invalid"),))
            return
        try:
            text = _text(given)
            text = text.removeprefix(_UTF_8_MARK) if number == 1 else text
            if text.strip():
                yield number, _line(text, refusal)
        except InvalidInput as error:
            yield number, BadLine(number, error.problems)


def _text(given: str | bytes) -> str:
    if len(given) > MAX_JSON:
        raise InvalidInput([Problem((), f"Line should have at most {MAX_JSON} bytes", "too_long")])
    try:
        return given if isinstance(given, str) else given.decode()
    except UnicodeDecodeError:
        pass
    raise InvalidInput([Problem((), "Line is not UTF-8", "json_invalid")])


def _line(text: str, refusal: Callable[[PasswordHash], str | None]) -> Line:
    try:
        values = strict_json(text.rstrip("\r\n"), _MOST_MARKS)
    except ValueError as error:
        # The parser was given one line; its number in the file is reported elsewhere.
        reason = str(error).replace(" at line 1 column ", " at column ")
        values = Problem((), f"Invalid JSON: {reason}", "json_invalid")
    if isinstance(values, Problem):  # raised outside the handler, whose error has the line
        raise InvalidInput([values])
    if not isinstance(values, dict):
        raise InvalidInput([Problem((), "Line should be a JSON object", "dict_type")])
    if len(values) > MOST_FIELDS:
        raise InvalidInput([Problem((), f"Line should have at most {MOST_FIELDS} fields", "too_long")])
    kind = values.get("kind")
    line = LINES.get(kind) if isinstance(kind, str) else None
    if line is None:
        allowed = ", ".join(KINDS)
        raise InvalidInput([Problem(("kind",), f"Kind should be one of {allowed}", "literal_error")])
    if issubclass(line, ArtworkLine):
        _check_authors(values)
    return _user_line(line, values, refusal) if issubclass(line, UserLine) else line(**values)


def _check_authors(values: Mapping[str, Any]) -> None:
    """Require the authors of an artwork in one of two ways."""
    ways = [way for way in ("author_ids", AUTHORS_FIELD) if way in values]
    if not ways:
        raise InvalidInput([Problem(("author_ids",), "Field required", "missing")])
    if len(ways) > 1:
        text = "Line should have author_ids or the names of authors, and not both"
        raise InvalidInput([Problem((AUTHORS_FIELD,), text, "value_error")])


def _user_line(kind: type[UserLine], values: dict[str, Any], refusal: Callable[[PasswordHash], str | None]) -> UserLine:
    """Return a line after checking its password hash; all problems are raised together."""
    line: UserLine | None = None
    problems: tuple[Problem, ...] = ()
    try:
        line = kind(**values)
    except InvalidInput as error:
        problems = error.problems
    given = values.get("password_hash")
    if isinstance(given, str) and all(problem.loc != ("password_hash",) for problem in problems):
        reason = refusal(PasswordHash(given))
        problems += () if reason is None else (Problem(("password_hash",), reason, "value_error"),)
    if line is None or problems:
        raise InvalidInput(problems)
    return line


def problem_of(error: ArtworkBlocked | DuplicateEntry | NotFound, holder: str = "") -> Problem:
    """Return why a line was not stored, at the field that caused it; ``holder`` names who has a duplicate value."""
    if isinstance(error, ArtworkBlocked):
        return Problem(("active",), f"{error.what} {error.id} is blocked: {error.reason}", "value_error")
    if isinstance(error, DuplicateEntry):
        what = _UNIQUE.get(error.key, "name")
        cure = f": {holder} has it; give one of them another {what}" if holder else ""
        return Problem(tuple(error.key.split(".")), f"{error}{cure}", "value_error")
    field = "author_ids" if error.what == "Author" else f"{error.what.lower()}_id"
    return Problem((field,), str(error), "value_error")
