"""Imported sheets as they are fetched, decoded, rewritten and compared (contract L5)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin.domain.kernel.errors import OutgoingError
from logoadmin.domain.publication.css import judge
from logoadmin.domain.publication.pins.import_trees import SECONDS, SheetFetcher, Tree
from logoadmin.domain.publication.pins.sheet_differences import CUT, MOST_BYTES, difference
from logoadmin.ports.kernel.outgoing import Fetched
from logoadmin.ports.publication.publication_storage import Pins
from tests.gallery import FrozenClock
from tests.origins import Origins

pytestmark = pytest.mark.rule("contract L5")

HOST = "https://s.example/"
MIB = 1024 * 1024


def hash_of(css: str) -> str:
    return sha256(css.encode()).hexdigest()


def fetched(sheets: Mapping[str, Any], *urls: str, clock: FrozenClock | None = None) -> list[Tree | str]:
    """Return the trees of imports of one record, or why there is none."""
    fetcher = SheetFetcher(Origins({HOST + name: sheet for name, sheet in sheets.items()}), clock or FrozenClock())
    outcomes = (fetcher.fetch(url) for url in (urls or (HOST + next(iter(sheets)),)))
    return [str(each) if isinstance(each, OutgoingError) else each for each in outcomes]


def text_of(content: bytes, media_type: str = "text/css", charset: str = "") -> str:
    """Return the pinned text of a single sheet."""
    (tree,) = fetched({"a.css": Fetched(f"{HOST}a.css", media_type, content, charset)})
    assert isinstance(tree, Tree), tree
    return tree.sheets[tree.sha256]


def imports(*urls: str) -> str:
    return "".join(f'@import "{url}";' for url in urls)


# Decoding: as browsers do it.


@pytest.mark.parametrize(
    ("body", "charset", "expected"),
    [
        (b"a{}", "", "a{}"),
        ("é".encode(), "", '@charset "utf-8";é'),
        ("é".encode("latin-1"), "latin1", '@charset "utf-8";é'),
        ("é".encode("latin-1"), "", '@charset "utf-8";\ufffd'),
        (b'@charset "windows-1251";' + "я".encode("cp1251"), "", '@charset "utf-8";я'),
        # The charset of the response outranks that of the sheet, a byte order mark both.
        (b'@charset "windows-1251";' + "é".encode(), "utf-8", '@charset "utf-8";é'),
        (b"\xef\xbb\xbf" + "é".encode(), "windows-1251", '@charset "utf-8";é'),
        ("é".encode("utf-16"), "windows-1251", '@charset "utf-8";é'),
        # Such a sheet would not be ASCII in its beginning: browsers take it for UTF-8.
        (b'@charset "utf-16le";a{}', "", "a{}"),
        (b'@charset "nonsense";a{}', "", "a{}"),
        ("é".encode(), "nonsense", '@charset "utf-8";é'),
        # Only this very form is a declaration of the encoding.
        (b"@charset 'latin1';\xe9", "", "@charset \"utf-8\";@charset 'latin1';\ufffd"),
        (b'@charset "a{}', "", '@charset "a{}'),
        (b'@charset "latin1" ;a{content:"}";b{}', "", '@charset "latin1" ;a{content:"}";b{}'),
        (b"a\0b", "", '@charset "utf-8";a\ufffdb'),
        (b"", "", ""),
    ],
)
def test_a_sheet_is_decoded_as_browsers_do_it_and_stored_in_utf_8(body: bytes, charset: str, expected: str) -> None:
    assert text_of(body, "text/css", charset) == expected


@pytest.mark.parametrize("media_type", ["text/html", "text/plain", "application/octet-stream", "text/css2"])
def test_another_media_type_is_refused(media_type: str) -> None:
    (reason,) = fetched({"a.css": Fetched(f"{HOST}a.css", media_type, b"a{}")})
    assert reason == "s.example: the media type of the response is not text/css"


def test_a_response_without_a_media_type_counts_as_css() -> None:
    assert text_of(b"a{}", "") == "a{}"


def test_a_nested_sheet_without_an_encoding_has_that_of_the_sheet_that_imports_it() -> None:
    body = "é".encode("latin-1")
    (tree,) = fetched({"a.css": b'@charset "latin1"; @import "b.css";', "b.css": body})
    assert isinstance(tree, Tree)
    assert '@charset "utf-8";é' in tree.sheets.values()


# Addresses.


def test_relative_addresses_become_absolute_also_after_a_redirect() -> None:
    css = b'@import url(../b.css) print; a { background: url("i.png") } b { background: url(#x) }'
    sheets: dict[str, Any] = {
        f"{HOST}a.css": Fetched("https://cdn.example/x/y/a.css", "text/css", css),
        "https://cdn.example/x/b.css": "b{}",
    }
    outcome = SheetFetcher(Origins(sheets), FrozenClock()).fetch(f"{HOST}a.css")
    assert isinstance(outcome, Tree)
    assert outcome.sheets[outcome.sha256] == (
        f"@import url({hash_of('b{}')}.css) print; "
        'a { background: url("https://cdn.example/x/y/i.png") } b { background: url(#x) }'
    )
    assert outcome.levels == 2
    assert {*outcome.sheets} == {outcome.sha256, hash_of("b{}")}
    assert all(hash_of(css) == sha for sha, css in outcome.sheets.items())


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("a.css", "an import has a relative address, and the CSS of a record has none"),
        ("/a.css", "an import has a relative address, and the CSS of a record has none"),
        ("", "an import has an empty address"),
        ("  ", "an import has an empty address"),
        ("#a", "an import has an empty address"),
        ("data:text/css,a{}", "only imports by http and https can be pinned"),
        ("file:///etc/passwd", "only imports by http and https can be pinned"),
        ("ftp://s.example/a.css", "s.example: only imports by http and https can be pinned"),
        ("javascript:alert(1)", "only imports by http and https can be pinned"),
        ("https://", "only imports by http and https can be pinned"),
        ("https://ann:secret@s.example/a.css", "s.example: an import has a username or a password in its address"),
        ("https://s.example/" + "a" * 2048, "s.example: an import has an address of more than 2,048 characters"),
        ("https://[::1/a.css", "an import has an address that cannot be read"),
    ],
)
def test_an_import_without_a_usable_address_is_refused(url: str, reason: str) -> None:
    origins = Origins()
    assert str(SheetFetcher(origins, FrozenClock()).fetch(url)) == reason
    assert origins.asked == []


@pytest.mark.parametrize("url", ["https://s.example/a.css", "//s.example/a.css", " HTTPS://S.example/a.css#x\n"])
def test_an_address_is_read_as_browsers_do_it(url: str) -> None:
    origins = Origins()
    assert str(SheetFetcher(origins, FrozenClock()).fetch(url)) == "s.example: status 404"
    assert [each.lower() for each in origins.asked] == ["https://s.example/a.css"]


# Limits.


def test_sheets_import_each_other_over_three_levels_at_most() -> None:
    sheets = {"1": imports("2"), "2": imports("3"), "3": imports("4"), "4": "a{}"}
    too_deep = "s.example: sheets import each other over more than 3 levels"
    assert fetched(sheets) == [too_deep]
    (tree,) = fetched(sheets, f"{HOST}2")
    assert isinstance(tree, Tree)
    assert (tree.levels, len(tree.sheets)) == (3, 3)
    # Also where a sheet on a lower level is known already.
    assert [type(each) for each in fetched(sheets, f"{HOST}2", f"{HOST}3", f"{HOST}4")] == [Tree] * 3
    assert fetched(sheets, f"{HOST}2", f"{HOST}1")[1] == too_deep


def test_a_record_imports_twenty_sheets_at_most_each_of_which_is_fetched_once() -> None:
    sheets: dict[str, str] = {
        "0": imports(*map(str, range(1, 20)), *map(str, range(1, 20))),
        **{str(n): f"a{n}{{}}" for n in range(1, 21)},
    }
    origins = Origins({HOST + name: sheet for name, sheet in sheets.items()})
    fetcher = SheetFetcher(origins, FrozenClock())
    assert isinstance(fetcher.fetch(f"{HOST}0"), Tree)
    assert len(origins.asked) == 20
    assert isinstance(fetcher.fetch(f"{HOST}7"), Tree)
    assert str(fetcher.fetch(f"{HOST}20")) == "s.example: a record can import at most 20 sheets, directly or not"
    assert len(origins.asked) == 20


@pytest.mark.parametrize(
    ("sheets", "reason"),
    [
        ({"a": imports("a")}, "a sheet imports itself"),
        ({"a": imports("./a#x")}, "a sheet imports itself"),
        ({"a": imports("HTTPS://S.EXAMPLE/b/%2E%2e/./a")}, "a sheet imports itself"),
        ({"a": imports("b"), "b": imports("a")}, "sheets import each other in a circle"),
        ({"a": imports("b"), "b": imports("c"), "c": imports("a")}, "sheets import each other in a circle"),
        ({"a": imports("b"), "b": Fetched(f"{HOST}a", "text/css", b"")}, "a sheet imports itself"),
        ({"a": Fetched(f"{HOST}z", "text/css", imports("z").encode())}, "a sheet imports itself"),
    ],
)
def test_circles_are_refused(sheets: dict[str, Any], reason: str) -> None:
    assert fetched(sheets) == [f"s.example: {reason}"]


def test_a_sheet_that_several_import_is_no_circle() -> None:
    (tree,) = fetched({"a": imports("b", "c"), "b": imports("d"), "c": imports("d"), "d": "a{}"})
    assert isinstance(tree, Tree)
    assert len(tree.sheets) == 3  # the sheets b and c are the same


def test_a_sheet_is_at_most_one_mebibyte_as_sent_and_as_stored() -> None:
    assert len(text_of(b"a" * MIB)) == MIB
    assert fetched({"a": b"a" * (MIB + 1)}) == [f"s.example: more than {MIB} bytes"]
    too_long = "s.example: the sheet is longer than 1,024 KiB in UTF-8, with absolute addresses"
    assert fetched({"a": b"\xe9" * (MIB // 2)}) == [too_long]
    assert fetched({"a": (b"a{b:url(c);" + b"b:url(c);" * 9 + b"}") * 4_000}) == [too_long]


def test_short_relative_addresses_below_a_long_one_do_not_fill_the_memory() -> None:
    (reason,) = fetched({"a" * 2000: b"url(a)" * 50_000})
    assert reason == "s.example: the sheet has too many addresses"


def test_all_sheets_of_a_record_have_one_deadline() -> None:
    clock = FrozenClock()
    origins = Origins({f"{HOST}{n}": f"a{n}{{}}" for n in range(9)}, before=lambda _: clock.pass_by(9))
    fetcher = SheetFetcher(origins, clock)
    outcomes = [fetcher.fetch(f"{HOST}{n}") for n in range(4)]
    assert [type(each) for each in outcomes[:3]] == [Tree] * 3
    assert str(outcomes[3]) == f"s.example: the sheets of a record did not arrive within {SECONDS:.0f} s"


def test_a_tree_is_pinned_whole_or_not_at_all() -> None:
    assert fetched({"a": imports("b", "gone"), "b": "b{}"}) == ["s.example: status 404"]


PARTS = ("@import ", "url(", "'b'", '"b"', ")", ";", "{", "}", "/*", "*/", "\\", "b", "\n", "@", "import", " ")


@given(st.lists(st.sampled_from(PARTS)))
def test_no_import_of_a_pinned_sheet_leads_elsewhere(parts: list[str]) -> None:
    (tree,) = fetched({"a": "".join(parts), "b": "b{}", "b)": "b{}"})
    if isinstance(tree, Tree):
        names = {f"{sha}.css" for sha in tree.sheets}
        assert all({*judge(css, "sheet").import_urls} <= names for css in tree.sheets.values())


@pytest.mark.parametrize("css", ["(" * 200_000, "{" * MIB, "a{" * 300_000, "[" * 100_001])
def test_a_sheet_that_takes_long_to_judge_is_refused(css: str) -> None:
    assert fetched({"a": css}) == ["s.example: the sheet has more than 20,000 blocks, or too many functions"]


# Differences.


@dataclass
class Sheets:
    """Stored sheets."""

    stored: dict[str, str] = field(default_factory=dict)

    def add(self, css: str) -> str:
        self.stored[hash_of(css)] = css
        return hash_of(css)

    def sheet(self, sha: str) -> str | None:
        return self.stored.get(sha)

    def between(self, one: str, other: str) -> str:
        pins: Any = self
        stored: Pins = pins
        return difference(stored, self.add(one), self.add(other))


def body(found: str) -> list[str]:
    return [line for line in found.splitlines() if not line.startswith(("---", "+++"))]


def test_a_difference_has_three_lines_of_context_and_the_numbers_of_the_lines() -> None:
    one = "\n".join(map(str, range(1, 21)))
    found = body(Sheets().between(one, one.replace("\n10\n", "\nten\nX\n").replace("\n20", "")))
    assert found == [
        *("@@ -7,7 +7,8 @@", " 7", " 8", " 9", "-10", "+ten", "+X", " 11", " 12", " 13"),
        *("@@ -17,4 +18,3 @@", " 17", " 18", " 19", "-20"),
    ]


def test_the_line_of_a_minified_sheet_is_broken_after_braces_and_semicolons() -> None:
    rules = "".join(f"a{n}{{color:red;top:{n}px}}" for n in range(50))
    found = body(Sheets().between(rules, rules.replace("top:25px", "top:26px")))
    assert found == [
        *("@@ -75,7 +75,7 @@", " top:24px}", " a25{", " color:red;", "-top:25px}", "+top:26px}"),
        *(" a26{", " color:red;", " top:26px}"),
    ]


def test_a_difference_covers_what_the_sheets_import() -> None:
    sheets = Sheets()
    old, new, same = sheets.add("a{}"), sheets.add("b{}"), sheets.add("c{}")
    found = sheets.between(imports(f"{same}.css", f"{old}.css"), imports(f"{same}.css", f"{new}.css"))
    assert f"--- pinned/{old}.css\n+++ offered/{new}.css\n@@ -1,1 +1,1 @@\n-a{{}}\n+b{{}}\n" in found
    assert "c{}" not in found
    gone = sheets.between(imports(f"{old}.css"), "d{}")
    assert f"--- pinned/{old}.css\n+++ none\n@@ -1,1 +0,0 @@\n-a{{}}\n" in gone


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a{}\n" * 200_000, "b{}\n" * 200_000),
        ("\n".join(str(n % 300) for n in range(200_000)), "\n".join(str(n % 299) for n in range(200_000))),
        ("é" * 500_000, "è" * 500_000),
        ("a;" * 500_000, "a;b;" * 250_000),
        ("", "x" * MIB),
    ],
)
def test_the_difference_of_hostile_sheets_is_short_and_soon_there(one: str, other: str) -> None:
    found = Sheets().between(one, other)
    assert len(found.encode()) <= MOST_BYTES
    assert found.endswith(CUT)
