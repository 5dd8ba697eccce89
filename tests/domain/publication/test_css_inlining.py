"""Style sheets in place of their imports (contract L5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin.domain.publication.css import TooLarge, inline, judge
from tests.strategies import css_texts

pytestmark = pytest.mark.rule("contract L5")

MOST = 1_000_000


def inlined(css: str, **sheets: str) -> str:
    """Return CSS with sheets in it, without white space."""
    return "".join(inline(css, {name.replace("_", "."): sheet for name, sheet in sheets.items()}, MOST).split())


@pytest.mark.parametrize(
    ("css", "expected"),
    [
        ("@import url(a);", "A"),
        ("@import 'a';", "A"),
        ("@import url('a') ;", "A"),
        ("@import src('a');", "A"),
        ("@charset 'utf-8';@import 'a'", "A"),
        ("@layer x;@import 'a';", "@layerx;A"),
        ("@import 'a' layer;", "@layer{A}"),
        ("@import 'a' LAYER(x.y);", "@layerx.y{A}"),
        ("@import 'a' supports(display: grid);", "@supports(display:grid){A}"),
        ("@import 'a' supports(not (display: grid));", "@supports(not(display:grid)){A}"),
        ("@import 'a' screen and (width > 1px), print;", "@mediascreenand(width>1px),print{A}"),
        (
            "@import/**/'a'/**/layer(x)/**/supports(a:b) print;i{}",
            "@supports(a:b){@mediaprint{@layerx{A}}}i{}",
        ),
        ("@import 'a';@import 'a';", "AA"),
        # Browsers follow none of these.
        ("i{}@import 'a';", "i{}"),
        ("@media print{}@import 'a';", "@mediaprint{}"),
        ("}@import 'a';", ""),
        ("@import 'unknown';i{}", "i{}"),
        ("@import;i{}", "i{}"),
        ("@import 'a' {}", ""),
    ],
)
def test_a_sheet_stands_where_it_was_imported_in_its_layer_and_conditions(css: str, expected: str) -> None:
    assert inlined(css, a="u{b:c}") == expected.replace("A", "u{b:c}")


def test_sheets_inside_each_other_are_inlined_and_circles_end() -> None:
    outer = "@import 'b' layer;u{b:c}"
    assert inlined("@import 'a' print;", a=outer, b="v{b:c}") == "@mediaprint{@layer{v{b:c}}u{b:c}}"
    assert inlined("@import 'a';", a="@import 'a';u{b:c}") == "u{b:c}" * 5


@pytest.mark.parametrize(
    "sheet", ["u{b:c}} v{b:c}", "u{b:c", "u{b:'c", "u{b:c}/*", "u{b:url(c", "} @media all { u{b:c}"]
)
def test_a_sheet_with_unmatched_braces_stays_in_its_block(sheet: str) -> None:
    found = inline("@import 'a' layer(x); i{}", {"a": sheet}, MOST)
    assert found.startswith("@layer x {")
    assert "".join(found.split()).endswith("}i{}")
    assert found.count("{") == found.count("}")


def test_a_result_that_grows_too_large_is_refused() -> None:
    sheets = {"a": "@import 'b';" * 1_000, "b": "@import 'c';" * 1_000, "c": "u{b:c}" * 1_000}
    with pytest.raises(TooLarge):
        inline("@import 'a';", sheets, MOST)


@given(css_texts(), st.lists(css_texts(), max_size=2))
def test_whatever_is_inlined_imports_nothing(css: str, sheets: list[str]) -> None:
    named = {url: sheet for url in judge(css, "sheet").import_urls for sheet in sheets}
    assert judge(inline(css, named, MOST), "sheet").import_urls == ()


def test_a_number_of_any_length_is_read() -> None:
    assert inlined(f"i{{width:{'9' * 5000}px}}@media print{{u{{b:c}}}}").endswith("px}@mediaprint{u{b:c}}")
