"""Functions of the console's modules, called with values: hosts in CSS, differences and merges of texts."""

import random
from typing import Any

import pytest

from tests.console.conftest import Module
from tests.domain.publication.css_samples import HOSTS as CONTACTED

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract J2", "contract J3", "contract J4")]

HOSTS, DIFF = "parts/css/css_hosts.js", "parts/diff/line_diff.js"
A, B = "https://a.example", "https://b.example:8080"
# As in the verdict of the service, with the scheme.
CONTACTS = {
    **{css: [f"https://{host}" for host in hosts] for hosts, texts in CONTACTED.items() for css in texts},
    f"a{{b:url({' ' * 200}'{A}')}}": [A],
    "a{b:url(https:\\\\\\\\a.example)}": [A],
    f"@IMPORT/**/url({A})": [A],
    f"@supports (a:url({A})) {{ b {{ c: url({B}) }} }}": [A, B],
    "b:url(HTTP://A.Example:80/)": ["http://a.example"],
    "b:url(https://\u00e4.example)": ["https://xn--4ca.example"],
    "b:url(http://[0:0::1]:8000/x), url(https://[2001:DB8::1])": ["http://[::1]:8000", "https://[2001:db8::1]"],
}


def test_every_host_is_listed_once(module: Module) -> None:
    for end in ("\n", "\r\n"):
        found = {css: module(HOSTS, "contactsOf", [css.replace("\n", end)])["origins"] for css in CONTACTS}
        assert found == CONTACTS


def test_fonts_and_requests_to_the_site_itself_are_recognised(module: Module) -> None:
    for css, fonts in {
        f"@font-face {{ font-family: x; src: local('no'), url({A}/f.woff2) }} a {{ b: url({B}) }}": [A],
        f"@font-face {{ SRC:url('{A}'), url({B}) format('woff2') }}": [A, B],
        f"src: url({A})": [A],
        f"a {{ background: url({A}) }} src {{ b: url({A}) }}": [],
    }.items():
        assert module(HOSTS, "contactsOf", [css])["fonts"] == fonts
    for css in ("a{b:url(x.png)}", "a{b:url(/api/logos)}", "@import '../x.css';", "b:url(?x)"):
        assert module(HOSTS, "contactsOf", [css]).items() >= {"origins": [], "imports": [], "own": True}.items()


@pytest.mark.parametrize(
    ("css", "imports", "rest"),
    [
        ("@import 'https://a.example/x'; a{}", [("/x", "")], " a{}"),
        (f"@import url('{A}/x') layer(a.b) supports(display: grid) (width > 3px)", [("/x", "(width > 3px)")], ""),
        ("@import 'https://a.example/x' layer;@import 'https://a.example/y';", [("/x", ""), ("/y", "")], ""),
        ("a{} @import 'https://a.example/x';", [], None),
        ("@namespace x 'y'; @import 'https://a.example/x';", [], None),
        ("@import url(https://a.example/x); a{b:c}\n@import 'https://a.example/y';", [("/x", "")], None),
    ],
)
def test_imports_that_browsers_follow_are_extracted(
    module: Module, css: str, imports: list[tuple[str, str]], rest: str | None
) -> None:
    found = module(HOSTS, "contactsOf", [css])
    assert [(each["url"], each["media"]) for each in found["imports"]] == [(A + path, media) for path, media in imports]
    assert all(f"{A}{path}" not in found["rest"] for path, _ in imports)
    if rest is not None:
        assert found["rest"] == rest


@pytest.mark.parametrize(
    ("head", "piece", "tail"),
    [("a{b:url(", "\\aaaaaa", "("), ("a{b:url(", "x ", "(}"), ("@import 'x' ", "/* ", ""), ("", '@document\\"', "")],
)
def test_css_crafted_for_backtracking_is_read(module: Module, head: str, piece: str, tail: str) -> None:
    css = head + piece * ((524_288 - len(head) - len(tail)) // len(piece)) + tail
    rest = module(HOSTS, "contactsOf", [css])["rest"]
    assert "a.example" not in module(HOSTS, "onAllPages", [rest])


# Line differences between two texts: complete, minimal, and fast for any texts.


def diff(module: Module, before: str, after: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = module(DIFF, "lineDiff", [before, after])
    return found


def lines(runs: list[dict[str, Any]], *kinds: str) -> list[str]:
    return [line for run in runs if run["kind"] in kinds for line in run["lines"]]


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        *(("", "", ""), ("a", "a", "same"), ("", "a\nb", "added"), ("a\r\nb", "", "removed")),
        ("a\nb\nc", "a\nx\nc", "same removed added same"),
        ("a\nb", "a\nb\nc", "same added"),
        ("x\na\nb", "a\nb", "removed same"),
        ("a\r\nb\rc", "a\nb\nc", "same"),
    ],
)
def test_each_run_of_lines_is_same_added_or_removed(module: Module, before: str, after: str, kinds: str) -> None:
    assert " ".join(run["kind"] for run in diff(module, before, after)) == kinds


def test_a_diff_contains_both_texts_with_correct_line_numbers(module: Module) -> None:
    chance = random.Random(7)
    for _ in range(40):
        old = [chance.choice("abcd") for _ in range(chance.randrange(30))]
        new = [chance.choice("abcd") for _ in range(chance.randrange(30))]
        runs = diff(module, "\n".join(old), "\n".join(new))
        assert lines(runs, "same", "removed") == old
        assert lines(runs, "same", "added") == new
        for run in runs:
            count = len(run["lines"])
            if run["kind"] != "added":
                assert old[run["before"] - 1 :][:count] == run["lines"]
            if run["kind"] != "removed":
                assert new[run["after"] - 1 :][:count] == run["lines"]


def test_changed_words_within_a_line_are_marked(module: Module) -> None:
    found: Any = module("parts/diff/diff.js", "wordDiff", ["color: #123; width: 10px", "color: #456; width: 10px"])
    assert [each["text"] for each in found["removed"] if each["isChanged"]] == ["123"]
    assert [each["text"] for each in found["added"] if each["isChanged"]] == ["456"]
    for side, whole in (("removed", "color: #123; width: 10px"), ("added", "color: #456; width: 10px")):
        assert "".join(each["text"] for each in found[side]) == whole
    # Lines with little in common are marked as a whole.
    assert module("parts/diff/diff.js", "wordDiff", ["a { color: red }", "/* nothing is left of it */"]) is None
    assert module("parts/diff/diff.js", "wordDiff", ["x" * 2000, "x" * 1999 + "y"]) is None


Merged = tuple[str | list[int] | None, ...]
# The versions before and after two concurrent edits, and their merger, if there is one.
MERGED_LINES: list[Merged] = [
    *(("a\nb\nc", "x\nb\nc", "a\nb\ny", "x\nb\ny"), ("a\nb\nc", "a\nb\nc\nd", "z\na\nb\nc", "z\na\nb\nc\nd")),
    *(("a\nb\nc", "a\nc", "a\nb\nc", "a\nc"), ("a\nb\nc", "a\nx\nc", "a\nx\nc", "a\nx\nc")),
    *(("a\nb\nc", "a\nx\nc", "a\ny\nc", None), ("a\nb\nc", "a\nc", "a\ny\nc", None)),
    *(("a\nb", "x\nb", "a\ny", None), ("", "mine", "theirs", None)),
    ("a\r\nb\r\nc", "x\r\nb\r\nc", "a\r\nb\r\nc", "x\nb\nc"),
]
MERGED_AUTHORS: list[Merged] = [
    *(([1, 2], [1, 2, 3], [1, 2, 4], [1, 2, 4, 3]), ([1, 2], [2], [1, 2, 4], [2, 4])),
    *(([1, 2], [1, 2, 3], [2, 1], None), ([1], [1, 3], [1, 3], [1, 3]), ([], [3], [4], [4, 3])),
]


@pytest.mark.parametrize("versions", MERGED_LINES)
def test_concurrent_edits_of_separate_lines_are_merged(module: Module, versions: Merged) -> None:
    base, mine, theirs, both = versions
    assert module(DIFF, "mergedLines", [base, mine, theirs]) == both
    assert module(DIFF, "mergedLines", [base, theirs, mine]) == both


@pytest.mark.parametrize("versions", MERGED_AUTHORS)
def test_concurrent_choices_of_authors_are_merged_unless_reordered(module: Module, versions: Merged) -> None:
    assert module(DIFF, "mergedList", [*versions[:3]]) == versions[3]
