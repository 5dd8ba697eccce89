# ruff: noqa: RUF001 (Russian names of fields)
"""CSV files (RFC 4180) of authors, themes and logos: as the lines of an import, and as exports (contract I4).

A record becomes the values of the equivalent line of JSON, numbered as its first line, so that everything else about an
import is the same. Cells without a valid number or truth value stay text, which the checks of lines reject with the
field's name.
"""

import codecs
import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import chain, repeat
from typing import Any, Final

from pydantic_core import PydanticCustomError

from logoadmin.domain.changes.import_source import RawLine, ReadValues
from logoadmin.domain.kernel.act_log import AUTHORS_FIELD
from logoadmin.domain.kernel.details import DETAILS
from logoadmin.domain.kernel.errors import InvalidInput, Problem
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS, KINDS, AnyKind
from logoadmin.domain.kernel.records import Kind

CSV_KINDS: Final = (Kind.AUTHOR, Kind.THEME, Kind.LOGO)
DETAILS_FIELD: Final = "details"
# The columns of the members of the details, with their names.
_MEMBERS: Final = {f"{DETAILS_FIELD}.{member}": member for member in DETAILS}
# Fields that a record may leave out: it then keeps their values, or gets them from the service.
_OPTIONAL: Final = frozenset({"created_at", "user_id"})
_MAX_FIELD: Final = 2**20
_MAX_LINE: Final = 4 * _MAX_FIELD
# Most of them may be unnamed, as in some spreadsheets; each line is filled up to its last column.
_MOST_COLUMNS: Final = 1_000
_SEPARATORS: Final = ",;\t"
# A line before the heads: one without any, or the one that tells Excel the separator.
_NO_HEAD: Final = re.compile(r'[\s,;]*|"?sep=[,;\t]"?\s*', re.IGNORECASE)
# Aliases of the fields, as people and the console write them, in lower case without spaces and brackets.
_HEADS: Final = {
    "created": "created_at",
    "создано": "created_at",
    "siteid": "user_id",
    "siteuserid": "user_id",
    "idнасайте": "user_id",
    "имя": "name",
    "название": "name",
    "место": "target",
    "on": "active",
    "включено": "active",
    "активен": "active",
    "picture": "preview_url",
    "картинка": "preview_url",
    "css": "custom_css",
    "авторы": "authors",
}
_TRUTH: Final = {
    **dict.fromkeys(("true", "yes", "1", "да", "истина"), True),
    **dict.fromkeys(("false", "no", "0", "нет", "ложь"), False),
}
_NUMBER: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
# A name, perhaps in quotation marks, up to a semicolon or the end.
_NAME: Final = re.compile(r'\s*(?:"((?:[^"]|"")*)"\s*|([^;]*))(?:;|\Z)')
# The beginning of a cell that spreadsheets would execute as a formula (OWASP, "CSV injection"). Such a cell gets an
# apostrophe in front, even if it has one already, so that the import restores every text.
_FORMULA: Final = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
# Codecs for other purposes than files, some of which take quadratic time.
_NO_CHARSETS: Final = frozenset({"idna", "punycode", "raw_unicode_escape", "unicode_escape", "undefined"})
# CSS may be longer than the default limit.
csv.field_size_limit(max(csv.field_size_limit(), _MAX_FIELD))


def check_charset(charset: str) -> str:
    """Return the name of Python's codec for an encoding of texts."""
    try:
        name = codecs.lookup(charset).name
        " ".encode(name)
    except (LookupError, ValueError, UnicodeError):
        name = "undefined"
    if name.replace("-", "_") in _NO_CHARSETS:
        raise PydanticCustomError("value_error", "Input should be an encoding, such as utf-8 or cp1251")
    return name


@dataclass(frozen=True, slots=True)
class CsvLines:
    """A CSV file as values: an empty line for each that begins no record, the problems in place of a bad line."""

    lines: Iterable[Any]  # the file in text or bytes; each iteration begins with the first line
    kind: Kind
    charset: str  # as :func:`check_charset` returns it; UTF-8 may begin with a mark
    extra: Mapping[str, str]  # further columns, which the caller replaces before an import

    def __iter__(self) -> Iterator[RawLine]:
        """Yield the lines from the first one; none after a problem of the file as a whole."""
        lines, begun = _text_lines(self.lines, self.charset), 0
        columns: list[str] | None = None
        try:
            first = next(lines, "").removeprefix("\ufeff")
            while first and _NO_HEAD.fullmatch(first):
                yield ""
                first = next(lines, "")
            separator = max(_SEPARATORS, key=first.count)
            records = csv.reader(chain([first] if first else [], lines), delimiter=separator, strict=True)
            for cells in records:
                if columns is None:
                    columns = _columns(KINDS[self.kind], cells, self.extra)
                    yield ""
                else:
                    yield _line(self.kind, columns, cells)
                yield from repeat("", records.line_num - begun - 1)
                begun = records.line_num
        except InvalidInput as error:
            yield error
        except csv.Error as error:
            yield _explained(error)
        else:
            if columns is None:
                yield InvalidInput.of("File should begin with the names of the fields", type_="missing")


def _explained(error: csv.Error) -> InvalidInput:
    words = str(error)
    if "field larger" in words:
        text = f"Field should have at most {_MAX_FIELD} characters; a quotation mark may be missing at its end"
    elif "unexpected end" in words:
        text = "Field starts with a quotation mark, but none closes it"
    elif "new-line" in words:
        return InvalidInput.of("Lines should end with LF or CRLF")
    else:
        text = "A quotation mark in a field should be doubled, and the field be in quotation marks"
    return InvalidInput.of(text, type_="csv_quotes")


def _text_lines(parts: Iterable[Any], charset: str) -> Iterator[str]:
    """Yield the lines of a text, including line ends; raise InvalidInput if it cannot be read to its end."""
    decoder = codecs.getincrementaldecoder("utf-8-sig" if charset == "utf-8" else charset)()
    begun, length = list[str](), 0
    try:
        for part in parts:
            ended, *others = (part if isinstance(part, str) else decoder.decode(part)).split("\n")
            begun.append(ended)
            length += len(ended)
            for following in others:
                yield "".join(begun) + "\n"
                begun, length = [following], len(following)
            if length > _MAX_LINE:
                raise InvalidInput.of(f"Line should have at most {_MAX_LINE:,} characters", type_="too_long")
        begun.append(decoder.decode(b"", final=True))
    except UnicodeError:
        text = f"Line is not {charset.upper()}; name the encoding of the file as its charset"
        raise InvalidInput.of(text, type_="csv_charset") from None
    if rest := "".join(begun):
        yield rest


def _columns(kind: AnyKind, heads: Sequence[str], extra: Mapping[str, str]) -> list[str]:
    """Return the field of each column; ``extra`` columns replace others of the kind."""
    if len(heads) > _MOST_COLUMNS:
        raise InvalidInput.of(f"File should have at most {_MOST_COLUMNS:,} columns", type_="too_long")
    fields = _fields(kind)
    allowed = [*fields, *(name for name, replaced in extra.items() if replaced in fields)]
    known = {_plain(field): field for field in allowed} | {"id": kind.id_field, "name": kind.name_field}
    columns: list[str] = []
    problems: list[Problem] = []
    for head in heads:
        plain = _plain(head)
        field = known.get(plain) or known.get(_plain(_HEADS.get(plain, "")), "")
        if not field and plain:
            problems.append(Problem((head[:64],), f"Field should be one of {', '.join(allowed)}", "extra_forbidden"))
        if field and field in columns:
            problems.append(Problem((field,), "Field should be there once", "value_error"))
        columns.append(field)
    there = {*columns, *(extra[field] for field in columns if field in extra), kind.id_field}
    missing = [field for field in fields if field not in there | _OPTIONAL | _MEMBERS.keys()]
    if missing:
        problems.append(Problem((), f"Columns are missing: {', '.join(missing)}", "csv_columns"))
    if problems:
        raise InvalidInput(problems)
    return columns


def _plain(head: str) -> str:
    return re.sub(r"\([^()]*\)|[\W_]", "", head.casefold())


def _line(kind: Kind, columns: Sequence[str], cells: Sequence[str]) -> RawLine:
    """Return the values of a record; an empty line if its cells are blank."""
    if not any(map(str.strip, cells)):
        return ""
    if any(map(str.strip, cells[len(columns) :])):
        return InvalidInput.of(f"Line should have at most {len(columns)} fields", type_="csv_cells")
    id_field = KINDS[kind].id_field
    values = ReadValues({"kind": kind})
    # Members without a column stay as they are.
    details: dict[str, Any] = {}
    if KINDS[kind] in ARTWORK_KINDS:
        values |= {"details": details, "merge_details": True}
    for field, written in zip(columns, [*cells, *[""] * len(columns)], strict=False):
        cell = written[1:] if written.startswith("'") and _FORMULA.match(written) else written
        text = cell.strip()
        if field in _OPTIONAL or field == id_field:
            # A time in the format of a spreadsheet keeps the existing one.
            if text and not (field == "created_at" and _NUMBER.fullmatch(text) is None):
                values[field] = int(text) if _NUMBER.fullmatch(text) else text
        elif field == "active":
            values[field] = _TRUTH.get(text.casefold(), text)
        elif field == AUTHORS_FIELD:
            values[field] = [*split_names(cell)]
        elif field in _MEMBERS:
            member = _MEMBERS[field]
            details[member] = _FROM_CELL[member](cell) if member in _FROM_CELL else cell
        elif field:
            values[field] = cell
    return values


def _fields(kind: AnyKind) -> list[str]:
    """Return the columns of an export, in order; one for each member of the details."""
    fields = [each for each in kind.stored_fields if each != "created_at"]
    if DETAILS_FIELD in fields:
        at = fields.index(DETAILS_FIELD)
        fields[at : at + 1] = _MEMBERS
    return [*fields, *([] if kind is AUTHORS else [AUTHORS_FIELD]), "created_at"]


def _tags_of(cell: str) -> list[str]:
    return [tag for tag in cell.split(",") if tag.strip()]


def _screenshots_of(cell: str) -> list[dict[str, str]]:
    """Return the screenshots in a cell: a URL on each line, and after a space its description."""
    parts = (line.removesuffix("\r").partition(" ") for line in cell.split("\n") if line.strip())
    return [{"url": url, "alt": alt} for url, _, alt in parts]


def _screenshots_cell(screenshots: Iterable[Mapping[str, str]]) -> str:
    return "\n".join(f"{each['url']} {each['alt']}" if "alt" in each else each["url"] for each in screenshots)


_FROM_CELL: Final[Mapping[str, Callable[[str], Any]]] = {"tags": _tags_of, "screenshots": _screenshots_of}
_TO_CELL: Final[Mapping[str, Callable[[Any], str]]] = {"tags": ", ".join, "screenshots": _screenshots_cell}


def split_names(cell: str) -> Iterator[str]:
    """Yield the names in a cell."""
    for quoted, bare in _NAME.findall(cell):
        if name := quoted.replace('""', '"') or bare.rstrip():
            yield name


def csv_head(kind: Kind) -> str:
    """Return the first line of an export, after the mark by which spreadsheets recognise UTF-8."""
    return "\ufeff" + _row(_fields(KINDS[kind]))


def csv_line(line: Mapping[str, Any], authors: Iterable[str]) -> str:
    """Return the CSV line of a record from its line of JSON and the names of its authors."""
    values = {**line, AUTHORS_FIELD: "; ".join(map(_quoted, authors))}
    for member, value in line.get(DETAILS_FIELD, {}).items():
        values[f"{DETAILS_FIELD}.{member}"] = _TO_CELL[member](value) if member in _TO_CELL else value
    cells = [values.get(field) for field in _fields(KINDS[line["kind"]])]
    return _row([str(value).lower() if isinstance(value, bool) else value for value in cells])


def _quoted(name: str) -> str:
    is_plain = name == name.strip() and not set(name) & set(';"\r\n')
    return name if is_plain else '"' + name.replace('"', '""') + '"'


def _row(values: Iterable[object]) -> str:
    text = StringIO(newline="")
    cells = (f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value for value in values)
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue()
