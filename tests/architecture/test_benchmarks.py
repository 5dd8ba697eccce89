"""The benchmarks keep what they found."""

import sys
from collections.abc import Callable, Iterator, Mapping

import pytest

from benchmarks import __main__ as program
from benchmarks import load
from benchmarks.environment import Environment
from benchmarks.interleaving import Rounds
from benchmarks.results import Result, at_least


def works(_: Environment, __: Rounds) -> Iterator[Result]:
    yield Result("reading", "SQLite", 4.5, "x usual", at_least(3))


def fails(_: Environment, __: Rounds) -> Iterator[Result]:
    yield Result("writing, once", "SQLite", 2.5, "x usual")
    raise RuntimeError("the server does not answer")


@pytest.mark.parametrize(
    ("measurements", "code", "shown"),
    [
        ({"first": works, "second": works}, 0, []),
        ({"first": fails, "second": works}, 1, ["writing, once", "Failed, so that lines are missing: first"]),
    ],
)
def test_what_was_found_is_printed_although_a_measurement_fails(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    measurements: Mapping[str, Callable[[Environment, Rounds], Iterator[Result]]],
    code: int,
    shown: list[str],
) -> None:
    monkeypatch.setattr(program, "MEASUREMENTS", measurements)
    monkeypatch.setattr(load, "is_installed", lambda: True)
    monkeypatch.setattr(sys, "argv", ["benchmarks"])
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"):  # which an environment changes
        monkeypatch.setenv(name, "")
    assert program.main() == code
    told = capsys.readouterr()
    for part in ("reading", "4.5 x usual", "targets are reached.", *shown):
        assert part in told.out
    assert ("the server does not answer" in told.err) == bool(code)
