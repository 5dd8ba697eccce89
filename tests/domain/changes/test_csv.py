"""Import and export as CSV (contract I4)."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin import ExportRecords, GetAuthor, ImportedCounts, ImportRecords, Kind, ListAuthors, LogoAdmin
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes.csv_lines import CSV_KINDS, CsvLines, split_names
from logoadmin.domain.kernel import errors
from tests.gallery import ARTWORK, NOW, FrozenClock, exported, failure, gallery_on, imported, problems
from tests.strategies import details, visible

pytestmark = pytest.mark.rule("contract I4")

FILES: Final = Path(__file__).parent / "csv"
ANNA: Final = {"kind": "author", "author_id": 1, "user_id": 7, "username": "Anna", "created_at": NOW - 1000}


def load(gallery: LogoAdmin, text: bytes | str, kind: Kind = Kind.AUTHOR, charset: str = "utf-8") -> ImportedCounts:
    content = text.encode() if isinstance(text, str) else text
    lines = content.splitlines(keepends=True) if charset == "utf-8" else [content]
    return imported(gallery, *lines, kind=kind, charset=charset).counts[kind]


def refused(gallery: LogoAdmin, text: str, kind: Kind = Kind.AUTHOR) -> list[tuple[int, tuple[Any, ...], str]]:
    with pytest.raises(errors.InvalidLines) as caught:
        load(gallery, text, kind)
    return [(bad.number, each.loc, each.type) for bad in caught.value.lines for each in bad.problems]


def dumped(gallery: LogoAdmin, kind: Kind) -> str:
    return "".join(exported(gallery, kind=(kind,), format="csv"))


def names(gallery: LogoAdmin) -> list[tuple[str, int]]:
    return [(each.username, each.user_id) for each in gallery.authors.list(ListAuthors())]


@pytest.mark.parametrize(
    ("file", "charset", "expected"),
    [
        ("authors-semicolon.csv", "utf-8", [("Анна", 1001), ("Борис", 1002)]),
        ("authors-tab.tsv", "utf-8", [("Anna", 1001)]),
        ("cp1250.csv", "cp1250", [("Dvořáková", 502)]),
        ("cp1251.csv", "windows-1251", [("Ёжик", 501)]),
    ],
)
def test_separators_encodings_and_heads_of_spreadsheets_are_read(
    gallery: LogoAdmin, file: str, charset: str, expected: list[tuple[str, int]]
) -> None:
    load(gallery, (FILES / file).read_bytes(), charset=charset)
    assert names(gallery) == expected
    # Authors without an id are those with the name.
    assert load(gallery, (FILES / file).read_bytes(), charset=charset) == ImportedCounts(0, 0, len(expected))


@pytest.mark.parametrize("file", ["ru.csv", "us.csv"])
def test_a_time_rewritten_by_a_spreadsheet_keeps_the_existing_one(gallery: LogoAdmin, file: str) -> None:
    imported(gallery, ANNA)
    load(gallery, (FILES / file).read_bytes())
    assert gallery.authors.get(GetAuthor(author_id=1)).created_at == NOW - 1000


@pytest.mark.parametrize("above", ["sep=;\n", "SEP=;\n;;;\n", '\ufeff"sep=;"\r\n', "sep=\t\r\n", "\r\n\r\n"])
def test_lines_above_the_heads_and_blank_ones_are_skipped(gallery: LogoAdmin, above: str) -> None:
    separator = "\t" if "\t" in above else ";"
    text = f"{above}username{separator}user_id\n \n\xa0{separator}\nAnn{separator}5{separator} \n{separator}\n"
    assert load(gallery, text) == ImportedCounts(1, 0, 0)


@pytest.mark.parametrize("charset", ["utf-16", "utf-8-sig", "cp1251", "koi8-r", "utf_16_be"])
def test_every_text_encoding_of_python_is_read(gallery: LogoAdmin, charset: str) -> None:
    assert load(gallery, "username;user_id\r\nЁж;5\r\n".encode(charset), charset=charset) == ImportedCounts(1, 0, 0)


@pytest.mark.parametrize("charset", ["rot13", "zlib", "idna", "punycode", "unicode_escape", "x-unknown", "a\0b"])
def test_an_unknown_charset_is_refused(charset: str) -> None:
    assert [*problems(ImportRecords, kind=Kind.LOGO, charset=charset)] == [("charset",)]


HEAD: Final = "author_id,username,user_id\n"


@pytest.mark.rule("contract I2")
@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (HEAD + '1,"A\nB",x\n2,,4\n', [(2, ("user_id",), "int_type"), (4, ("username",), "string_too_short")]),
        (HEAD + '1,A,2\n2,"B"x,4\n3,C,5\n', [(3, (), "csv_quotes")]),
        (HEAD + '1,A,2\n2,"B,4\n3,C,5\n', [(3, (), "csv_quotes")]),
        (HEAD + "1,A,2,more\n", [(2, (), "csv_cells")]),
        ("sep=,\r\n\n" + HEAD + "1,A,2,more\n", [(4, (), "csv_cells")]),
        ("\n \n", [(3, (), "missing")]),
        ("author_id,user_id\n1,2\n", [(1, (), "csv_columns")]),
        ("author_id,username,rank\n1,A,2\n", [(1, ("rank",), "extra_forbidden")]),
        ("username,name\nA,B\n", [(1, ("username",), "value_error")]),
        (
            "rank,age,user_id,user_id\n1,2,3,4\n",
            [(1, (head,), "extra_forbidden") for head in ("rank", "age")]
            + [(1, ("user_id",), "value_error"), (1, (), "csv_columns")],
        ),
        ("," * 1_000 + HEAD, [(1, (), "too_long")]),
        ("", [(1, (), "missing")]),
    ],
)
def test_bad_lines_are_named_by_number_and_field(
    gallery: LogoAdmin, text: str, problems: list[tuple[int, tuple[Any, ...], str]]
) -> None:
    assert refused(gallery, text) == problems
    assert names(gallery) == []


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        (Kind.LOGO, "ID;Имя;CSS\n1\n".encode(), "Columns are missing: preview_url, target, active, authors"),
        (Kind.THEME, b"theme_id,name,target,active,preview_url,custom_css\n1\n", "Columns are missing: authors"),
        (Kind.AUTHOR, "Имя\n1".encode("cp1251"), "Line is not UTF-8; name the encoding of the file as its charset"),
    ],
)
def test_a_problem_of_a_whole_file_is_reported_once(gallery: LogoAdmin, kind: Kind, text: bytes, reason: str) -> None:
    with pytest.raises(errors.InvalidLines) as caught:
        load(gallery, text, kind)
    assert [[problem.msg for problem in bad.problems] for bad in caught.value.lines] == [[reason]]


FORMULAS: Final = ('=HYPERLINK("http://evil.example")', "+1", "-1", "@SUM(A1)", "\uff1d1", "'=1", "''+1", "'twas")


def test_exported_formulas_are_escaped_and_an_import_restores_them(gallery: LogoAdmin) -> None:
    imported(gallery, *({**ANNA, "author_id": at, "user_id": at, "username": name} for at, name in enumerate(FORMULAS)))
    text = dumped(gallery, Kind.AUTHOR)
    assert [row[2] for row in rows(text)[1:]] == [*(f"'{each}" for each in FORMULAS[:-1]), "'twas"]
    assert load(gallery, text) == ImportedCounts(0, 0, len(FORMULAS))


def test_only_authors_themes_and_logos_are_exported_as_csv() -> None:
    for kinds in ((), (Kind.USER,), (Kind.LOGO, Kind.THEME)):
        assert failure(ExportRecords, kind=kinds, format="csv") is errors.InvalidInput


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
NAMES: Final = ("Ann; Bob", '"Ann"', " Ann ", "Ann\r\nBob", "Ann,Bob", 'A"B', "Ann")


@given(
    name=visible(1, 20),
    css=texts | st.just('a::before { content: "\\201c" }\r\n\rb {}\n'),
    authors=st.permutations(NAMES),
    members=details(),
)
@pytest.mark.rule("contract I4", "contract S2")
def test_importing_an_export_changes_nothing(name: str, css: str, authors: list[str], members: dict[str, Any]) -> None:
    gallery = gallery_on(MemoryStorage(), FrozenClock())
    record = {**ARTWORK, "name": name, "custom_css": css, "authors": authors[:4], "details": members}
    imported(gallery, *({"kind": kind, **record} for kind in ("logo", "theme")))
    lines = exported(gallery)
    for kind in CSV_KINDS:
        text = dumped(gallery, kind)
        assert load(gallery, text, kind) == ImportedCounts(0, 0, len(rows(text)) - 1)
    assert exported(gallery) == lines


def rows(text: str) -> list[list[str]]:
    return [*csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""))]


@given(st.lists(texts.filter(str.strip), max_size=5))
def test_names_are_separated_by_the_usual_separators(given_names: Iterable[str]) -> None:
    plain = [name.strip() for name in given_names if not set(name) & set(';"')]
    assert [*split_names(" ; ".join(plain))] == plain
    assert [*split_names(";".join(plain) + ";")] == plain


@pytest.mark.parametrize(
    ("parts", "charset", "reason"),
    [
        ([b"(" * 200_000 + b"\n"], "utf-8", "Columns are missing: username"),
        # There, no line ends with the byte at which a file is split.
        ([b"\n"] * 400_000, "cp037", "Columns are missing: username"),
        ([b"," * 50_000 + HEAD.encode()] + [b"1,A,2\n"] * 3_000, "utf-8", "File should have at most 1,000 columns"),
        *(
            (parts, "utf-8", "Line should have at most 4,194,304 characters")
            for parts in ([b"username,user_id\n", *[b'"' + b"x" * 65_536] * 64], [b"x" * 65_536] * 65)
        ),
    ],
)
def test_a_hostile_file_is_refused_soon(parts: list[bytes], charset: str, reason: str) -> None:
    *_, last = CsvLines(parts, Kind.AUTHOR, charset, {})
    assert isinstance(last, errors.InvalidInput)
    assert [problem.msg for problem in last.problems] == [reason]
    assert [*split_names(f"a{' ' * 200_000}b")] == [f"a{' ' * 200_000}b"]
