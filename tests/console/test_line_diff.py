"""Line differences between two texts: complete, minimal, and fast for any texts (contract J3)."""

import random
from typing import Any

import pytest

from tests.console.conftest import Module

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract J3")]


def diff(module: Module, before: str, after: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = module("parts/diff/line_diff.js", "lineDiff", [before, after])
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


@pytest.mark.rule("contract J3")
def test_changed_words_within_a_line_are_marked(module: Module) -> None:
    found: Any = module("parts/diff/diff.js", "wordDiff", ["color: #123; width: 10px", "color: #456; width: 10px"])
    assert [each["text"] for each in found["removed"] if each["isChanged"]] == ["123"]
    assert [each["text"] for each in found["added"] if each["isChanged"]] == ["456"]
    for side, whole in (("removed", "color: #123; width: 10px"), ("added", "color: #456; width: 10px")):
        assert "".join(each["text"] for each in found[side]) == whole
    # Lines with little in common are marked as a whole.
    assert module("parts/diff/diff.js", "wordDiff", ["a { color: red }", "/* nothing is left of it */"]) is None
    assert module("parts/diff/diff.js", "wordDiff", ["x" * 2000, "x" * 1999 + "y"]) is None
