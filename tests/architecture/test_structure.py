"""The code stays easy to read: short modules and functions, one place for variables, accurate figures."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import structure

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "logoadmin"
MOST_LINES, MOST_LINES_OF_A_FUNCTION = 500, 40


def modules() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each module of the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")


def test_tests_named_by_scripts_exist() -> None:
    named = {name for path in (ROOT / ".ci").iterdir() for name in re.findall(r"\btests/[\w/]+\.\w+", path.read_text())}
    assert len(named) > 10
    assert {name for name in named if not (ROOT / name).is_file()} == set()


@pytest.mark.lint
def test_no_module_is_long() -> None:
    assert [name for name, text in modules() if len(text.splitlines()) > MOST_LINES] == []


@pytest.mark.lint
def test_no_function_is_long() -> None:
    long = {
        f"{name} {node.name}"
        for name, text in modules()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= MOST_LINES_OF_A_FUNCTION
    }
    assert long == set()


def numbers(block: str) -> list[int]:
    return [int(number.replace(",", "")) for number in re.findall(r"(?<= )[\d,]*\d", re.sub(r"`[^`]+`", "", block))]


@pytest.mark.lint
def test_the_figures_in_the_architecture_match_the_code() -> None:
    """Names are exact and numbers approximate: ``make structure`` writes the current ones at the end of a change."""
    now, then = structure.block(), structure.written()
    assert re.findall(r"`([^`]+)`", then) == re.findall(r"`([^`]+)`", now), "run make structure"
    assert numbers(then) == pytest.approx(numbers(now), rel=0.1), "run make structure"
