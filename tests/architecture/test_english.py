"""Docs, messages, docstrings and comments have none of twenty words that read as translated: reading finds the rest."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

pytestmark = pytest.mark.lint

ROOT: Final = Path(__file__).parents[2]
_KINDS: Final = {".py", ".md", ".js", ".html", ".css", ".sh", ".toml", ".yaml", ".cfg", ".conf", ".service", ".socket"}
# Third-party and generated files.
_LEFT_OUT: Final = re.compile(
    r"/(vendor|swagger_ui|_build|node_modules)/|^tests/architecture/test_english\.py$|\.d\.ts$"
)
# Each with a plain replacement.
WORDS: Final = {
    "amiss": "wrong",
    "anew": "again",
    "bears to be": "can be",
    "beforehand": "before",
    "bespeaks": "shows",
    "by and by": "gradually",
    "can be had": "is available",
    "for ever": "forever",
    "how far it is": "the status",
    "in order to": "to",
    "is no list": "is not a list",
    "lets go of": "releases",
    "made again": "recreated",
    "none is there": "no X exists",
    "passes over": "skips",
    "so many of": "this many",
    "utilize": "use",
    "what became of": "the result",
    "who ever": "anyone who",
    "whoever": "anyone who",
}
_WRONG: Final = re.compile(rf"\b({'|'.join(WORDS)})\b", re.IGNORECASE)


def files() -> Iterator[str]:
    for place in ("docs", "src", "tests", "benchmarks", "deploy", "reader", "tools", ".ci"):
        for path in sorted((ROOT / place).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            read = path.suffix in _KINDS or path.parent.name in (".ci", "deploy")
            if path.is_file() and read and not _LEFT_OUT.search(name):
                yield name
    yield from ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "Makefile", "pyproject.toml")


def test_no_word_on_the_list_is_used() -> None:
    found = []
    for name in files():
        for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
            found += [f"{name}:{number}: {each}, write {WORDS[each.lower()]}" for each in _WRONG.findall(line)]
    assert found == [], "\n" + "\n".join(found)
