"""Docs, messages, docstrings and comments have none of the patterns that make English read as translated."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

pytestmark = pytest.mark.lint

ROOT: Final = Path(__file__).parents[2]
_KINDS: Final = {".py", ".md", ".js", ".html", ".css", ".sh", ".toml", ".yaml", ".cfg", ".conf", ".service", ".socket"}
# What others wrote, what is generated, and what promises in words that are fixed.
_LEFT_OUT: Final = re.compile(
    r"/(vendor|swagger_ui|_build|node_modules)/|^docs/(contract|spec)\.md$|^tests/architecture/test_english\.py$|\.d\.ts$"
)
_PARTICIPLE: Final = r"(?:\w+ed|sent|kept|said|told|given|written|read|made|done|there|set|left|known|meant|built|put)"

PATTERNS: Final = {
    "anyone who, callers that, clients, you": r"\bwho(?:m?ever)\b"
    r"|(?:^|[.:] )who (?=\w)(?!(?:is|are|can|may|did|made|they)\b)[^.?]*\.",
    "a noun, such as the response, the failure": rf"\bwhat (?:is|was|are|were) (?!tried and)(?:not |to be )?"
    rf"{_PARTICIPLE}\b",
    "N, up to `limit`, this many": r"(?<!, )\bso many\b",
    "exists, is missing, no X": r"\b(?:is|are|was|were) (?:not )?there\b(?! (?:an?|any|no|still)\b)|\bnone is there\b",
    "returns, responds with": r"\banswers (?:the|an?|its|their|what|with|\d{3})\b",
    "log, report, print, state": r"(?<!can't )\b(?:says|said|tells|told|say|tell) "
    r"(?:what|which|whether|how|where|whom|of)\b",
    "gets, is passed, learns": r"\b(?:is|are|was|be) told\b(?! apart)",
    "recreated, served again": r"\banew\b|\b(?:made|given) again\b(?! =)",
    "skipped, ignored": r"\bpass(?:ed|es|ing)? over\b|\bpassed by (?:it|them)\b",
    "is idempotent, can be retried": r"\bbears? to be\b",
    "it is not a list": r"\b(?:it|that|this|which) (?:is|are|was) (?:no|(?-i:none))\b(?! longer)",
    "repeat the noun": r"\bthe one (?:that|who)\b|\bone who\b|\bthose of (?:it|them)\b|\bthat of (?:it|them)\b",
    "automatically, separately": r"\b(?:by|for|of) (?:itself|themselves)\b",
    "release, drop": r"\blet(?:s|ting)? go of\b",
    "also in place, or nothing": r", too(?=[.,;:)]|$)|(?:^|[.:] )(?-i:So|Else),? (?!that\b)",
    "status, result": r"\bhow far it is\b|\bwhat (?:became|comes?|came|becomes) of\b",
    "you, callers, users": r"\b(?:if|where|when|what|that|which|as|who|whom|how|than) one "
    r"(?:is|has|may|can|does|would|wants|writes|types|sees|asks|goes|looks|runs|gets|knows|tries|had|was)\b",
    "available, obtained; wrong": r"\b(?:can|to) be had\b|\bamiss\b|\bfor ever\b",
}


def files() -> Iterator[str]:
    """Yield the files that people read, by their paths in the checkout."""
    for place in ("docs", "src", "tests", "benchmarks", "deploy", "reader", "tools", ".ci"):
        for path in sorted((ROOT / place).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            read = path.suffix in _KINDS or path.parent.name in (".ci", "deploy")
            if path.is_file() and read and not _LEFT_OUT.search(name):
                yield name
    yield from ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "Makefile", "pyproject.toml")


def findings(name: str) -> list[str]:
    """Return what should be reworded in a file, each with the words around it and a suggestion."""
    text = (ROOT / name).read_text(encoding="utf-8")
    text = re.sub(r"\bdef test_\w+", lambda match: match[0].replace("_", " "), text)
    # Sentences go on over the ends of lines, in comments as well.
    text = re.sub(r"(?<=\S)[ \t]*\n[ \t]*(?:#|//|\*|>)?[ \t]*(?=[\w`*(\[])", " ", text)
    found = []
    for instead, pattern in PATTERNS.items():
        for match in re.finditer(pattern, text, re.MULTILINE | re.IGNORECASE):
            around = " ".join(text[max(0, match.start() - 25) : match.end() + 25].split())
            found.append(f"{name}: ...{around}... ({instead})")
    return found


def test_nothing_reads_as_translated() -> None:
    found = [finding for name in files() for finding in findings(name)]
    assert found == [], "\n" + "\n".join(found)
