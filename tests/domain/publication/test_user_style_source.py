"""User styles as the fields of an artwork (contract S3)."""

import time
import tracemalloc
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import pytest

from logoadmin import Details, InvalidInput, Kind, SharedSettings
from logoadmin.domain.kernel.limits import MAX_CUSTOM_CSS
from logoadmin.domain.publication.css.targets import targets_of
from logoadmin.domain.publication.css.user_style_source import UserStyle, user_style_source
from logoadmin.domain.publication.files.user_styles import StyledArtwork, user_style
from tests.user_styles import EVERYWHERE, KEYS, VARIABLES, sections, user_styles

pytestmark = pytest.mark.rule("contract S3")

FORUM: Final = {"name": "Forum", "documents": ['domain("forum.example")']}
TARGETS: Final = targets_of(SharedSettings(gallery_targets={"forum": FORUM}))
STYLES: Final = user_styles()


def read(body: str, *keys: str, targets: Mapping[str, Any] | None = None) -> UserStyle:
    head = "".join(f"@{key}\n" for key in ("name Aurora", *keys))
    known = targets_of(SharedSettings(gallery_targets=targets or {}))
    return user_style_source(f"/* ==UserStyle==\n{head}==/UserStyle== */\n{body}", known)


@pytest.mark.parametrize(("text", "variables"), STYLES)
def test_a_style_fills_the_fields_and_applies_to_the_target_alone(text: str, variables: dict[str, str]) -> None:
    found = user_style_source(text, TARGETS)
    keys = {"description": "description", "homepage": "homepageURL", "support": "supportURL", "licence": "license"}
    keys["version"] = "version"
    given: dict[str, Any] = {name: KEYS[key] for name, key in keys.items() if f"@{key} " in text}
    assert (found.name, found.details) == (KEYS["name"], Details(**given))
    assert found.authors == (("Ann Berg",) if "@author" in text else ())
    assert (found.target, "UserStyle" in found.custom_css, "\r" in found.custom_css) == ("forum", False, False)
    for name, value in variables.items():
        assert f"  --{name}: {value};\n" in found.custom_css
    (said,) = found.lost or ("",)
    assert said.endswith(f": {', '.join(variables)}.") if variables else said == ""
    target = TARGETS.get("forum")
    assert target is not None
    file = user_style(StyledArtwork(Kind.THEME, 1, 1, "a", [], found.custom_css), target, "a", None, has_page=False)
    assert file is not None
    pages = sections(file)
    assert EVERYWHERE not in pages
    assert {value for page in pages for _, value in page} <= {
        *("forum.example", "www.forum.example", "https://forum.example/")
    }


@pytest.mark.parametrize(("written", "value"), VARIABLES.items())
def test_a_variable_is_a_custom_property_with_its_default(written: str, value: str) -> None:
    found = read('@-moz-document domain("a.example") {a {}}\nb {}', f"var {written}", "license MIT")
    rule = f":root {{\n  --{written.split()[1]}: {value};\n}}\n"
    assert found.custom_css == f'@-moz-document domain("a.example") {{\n{rule}a {{}}}}\n{rule}b {{}}'
    assert found.details == Details(licence="MIT")  # what follows a variable is read


@pytest.mark.parametrize(
    "written",
    [
        *("colour x 'X' red", "color", "color x", "checkbox x 'X' 2", "select x 'X' []", "select x 'X' 7"),
        *("range x 'X' []", "number x 'X' ['px']", "number x 'X' [", "select x 'X' [[1]]", "number x 'X' true"),
        *('text x "X" a; } b { top: 0', 'text x "X" }', 'text x "X" "', 'text x "X" url(a', 'text x "X" a /*'),
        *('text x "X"', "text x 'X' a !important"),
    ],
)
def test_unsupported_parts_are_left_out_and_reported(written: str) -> None:
    found = read("a {}", f"var {written}")
    assert found.custom_css == "a {}"
    assert [each for each in found.lost if each.startswith("@var") and "left out" in each]


def test_parts_that_could_not_be_kept_are_reported() -> None:
    found = read("a {}", "homepageURL javascript:alert(1)", "exclude b", f"license {'x' * 65}", f"author {'y' * 65}")
    assert (found.details, found.authors) == (Details(), ())
    assert [each.partition(" ")[0] for each in found.lost] == ["@exclude", "@author", "@homepageURL", "@license"]


def test_another_preprocessor_and_other_texts_are_refused() -> None:
    for name, key in (
        *((name, f"preprocessor {name}") for name in ("less", "stylus")),
        ("uso", 'advanced text x "X" a'),
    ):
        with pytest.raises(InvalidInput) as refused:
            read("a { color: @b }", key)
        words = f"It is written for the preprocessor {name}: compile it to CSS first"
        assert [(problem.loc, problem.msg) for problem in refused.value.problems] == [(("text",), words)]
    for text in ("", "a {}", "/* ==UserStyle==\n@name a */", "a {}\n/* ==UserStyle==\n==/UserStyle== */"):
        with pytest.raises(InvalidInput, match="should begin with a comment"):
            user_style_source(text, TARGETS)


@pytest.mark.parametrize(
    ("documents", "target"),
    [
        ('domain("forum.example")', "forum"),
        ('domain("a.forum.example"), url("https://forum.example/x")', "forum"),
        ('url-prefix("https://forum.example/wiki/a")', "wiki"),
        ('domain("forum.example"), domain("b.example")', None),
        ('domain("b.example"), url("https://b.example/x")', "b.example"),
        ('url-prefix("http")', None),
        (r'regexp("https://c\.example/.*")', None),
        (r'regexp("https://d\\.example/.*")', "d"),
        ("media(print)", None),
    ],
)
def test_the_target_covers_all_pages_of_the_style(documents: str, target: str | None) -> None:
    targets = {
        "forum": FORUM,
        "wiki": FORUM | {"documents": ['url-prefix("https://forum.example/wiki/")']},
        "d": FORUM | {"documents": [r'regexp("https://d\\.example/.*")']},
    }
    assert read(f"@-moz-document {documents} {{ a {{}} }}", targets=targets).target == target


def test_a_style_for_many_sites_gets_the_target_without_pages() -> None:
    body = '@-moz-document domain("a.example"), domain("b.example") { a {} }'
    assert read(body, targets={"all": {"name": "All", "own": True}, "forum": FORUM}).target == "all"
    assert read("a {}", targets={"all": {"name": "All", "own": True}}).target is None


def test_a_long_style_is_read_and_one_that_becomes_too_long_is_refused() -> None:
    body = '@-moz-document domain("forum.example") {\n' + f".a {{ content: '{'x' * 300}' }}\n" * 1_000 + "}"
    assert read(body, 'var color x "X" red').custom_css.count(".a {") == 1_000
    room = MAX_CUSTOM_CSS - 10
    with pytest.raises(InvalidInput, match="more than 524,288 characters"):
        read(f"/*{'x' * room}*/ a {{}}", 'var color x "X" red')


@pytest.mark.slow("it measures the time of the processor")
@pytest.mark.parametrize(
    "key",
    [
        "author " + "<" * 100_000,
        "author a" + " " * 100_000 + "b",
        'var select a "A" {' + "\\'" * 50_000 + "}",
        "var color a A red\n@" + "var " * 20_000,
    ],
)
def test_a_head_is_read_in_linear_time(key: str) -> None:
    began = time.process_time()
    with suppress(InvalidInput):
        read("a {}", key)
    assert time.process_time() - began < 4


def test_many_invalid_variables_are_refused() -> None:
    assert len(read("a {}", *["var color a"] * 50).lost) == 50
    with pytest.raises(InvalidInput, match="More than 50 of its variables are not understood"):
        read("a {}", *["var color a"] * 51)


def test_variables_of_many_parts_are_refused_before_they_use_memory() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(InvalidInput, match=r"more than 524,288 characters"):
            read('@-moz-document domain("a") {}' * 2_000, f"var text x X {'y' * 60_000}")
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()
