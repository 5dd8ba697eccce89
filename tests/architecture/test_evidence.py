"""Every rule of the docs has a test that names it, and every rule that a test names exists."""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from logoadmin.entrypoints.http_api.operations import OPERATIONS

ROOT = Path(__file__).parent.parent.parent
# The log of a running service, written by its processes; what users see in a browser.
SLOWLY_PROVED = {"contract J3", "contract J4", "contract J6"}
# Tests that `make test` leaves to `make test-slow`.
LATER = ("slow", "server")
MARKS = tuple(f"pytest.mark.{name}" for name in LATER)
PLACES = {"spec": ROOT / "docs" / "spec.md", "contract": ROOT / "docs" / "contract.md"}
# A row of the endpoints, another rule of the specification, or a promise of the contract without its last letter.
RULE = re.compile(r"^(?:\| |\*\*)(?:(§\w+(?: \d+)?)(?: \||\*\* )|([A-LO-S]\d*(?: [a-z]+)?)(?:[a-z]?| \([a-z]\))\*\* )")
MOST_WORDS = 60


@cache
def rules() -> Sequence[str]:
    """Return the names of all rules, each once, in the order of the docs."""
    found = [
        f"{document} {match[1] or match[2]}"
        for document, path in PLACES.items()
        for line in path.read_text(encoding="utf-8").splitlines()
        if (match := RULE.match(line))
    ]
    return list(dict.fromkeys(found))


@cache
def named() -> frozenset[tuple[str, str, bool]]:
    """Return the rules that tests name, each with the file, and whether make test leaves the test out."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return frozenset((name, path.name, is_slow) for path in paths for name, is_slow in _named_in(path))


def _named_in(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the rules that the tests of a module name; a mark in ``pytestmark`` holds for all of them."""
    text = path.read_text(encoding="utf-8")
    lines, statements = text.splitlines(), ast.parse(text).body
    assigned = [statement for statement in statements if isinstance(statement, ast.Assign)]
    of_all = [statement for statement in assigned if ast.unparse(statement.targets[0]) == "pytestmark"]
    all_slow = any(_marks(statement, name) for statement in of_all for name in LATER)
    for statement in statements:
        # Only the decorators of a test: most of the code is below them and cites no rule.
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        decorators = statement.decorator_list if isinstance(statement, functions) else []
        is_slow = all_slow or any(ast.unparse(each).startswith(MARKS) for each in decorators)
        parts: Sequence[ast.stmt | ast.expr] = decorators or [statement]
        # Searching for a word is faster than walking the whole tree of a helper.
        named = (part for part in parts if "mark.rule" in "".join(lines[part.lineno - 1 : part.end_lineno]))
        for mark in (mark for part in named for mark in _marks(part, "rule")):
            for argument in mark.args:
                yield from ((name, is_slow) for name in _names(argument))


def _marks(node: ast.AST, name: str) -> list[ast.Call]:
    calls = (inner for inner in ast.walk(node) if isinstance(inner, ast.Call))
    named = (call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == name)
    return [call for call in named if ast.unparse(call.func) == f"pytest.mark.{name}"]


def _names(argument: ast.expr) -> list[str]:
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return [argument.value]
    if isinstance(argument, ast.Attribute) and argument.attr == "source":  # one test for every operation
        return [operation.source for operation in OPERATIONS]
    if isinstance(argument, ast.IfExp):
        return _names(argument.body) + _names(argument.orelse)
    raise AssertionError(f"the name of a rule should be a text that can be read here: {ast.unparse(argument)}")


def test_the_docs_have_every_rule() -> None:
    # The last number of each letter; D and G stand alone as well.
    numbered = re.findall(r"([A-Z])(\d+)", "A22 B6 C6 E6 F3 G5 H6 I5 J8 K9 L8 O9 P5 Q5 R7 S3")
    contract = {f"{letter}{number}" for letter, last in numbered for number in range(1, int(last) + 1)}
    contract = contract - {"G1"} | {"D", "G", *(f"D {kind}s" for kind in ("user", "role", "author", "theme", "logo"))}
    spec = {"§Resources", "§Limits", "§Versioning"} | {f"§Errors {status}" for status in (400, 401, 403, 422, 503)}
    spec |= {
        f"§{heading} {number}"
        for heading, last in (("Endpoints", 12), ("Rules", 6), ("Authentication", 4))
        for number in range(1, last + 1)
    }
    assert set(rules()) == {f"spec {name}" for name in spec} | {f"contract {name}" for name in contract}


def test_the_promises_of_the_contract_are_short_and_numbered_once() -> None:
    promises = re.findall(r"^\*\*([A-S][^*]*)\*\* ((?:.+\n)+)", PLACES["contract"].read_text("utf-8"), re.MULTILINE)
    numbers = [number for number, _ in promises]
    assert len(numbers) == len(set(numbers)) > 200
    assert [number for number, text in promises if len(text.split()) > MOST_WORDS] == []


def test_every_rule_has_a_test() -> None:
    assert set(rules()) - {name for name, *_ in named()} == set()


def test_make_test_covers_nearly_every_rule() -> None:
    quickly_proved = {name for name, _, is_slow in named() if not is_slow}
    assert {name for name, *_ in named()} - quickly_proved == SLOWLY_PROVED


def test_every_rule_named_by_a_test_exists() -> None:
    assert sorted({(name, file) for name, file, _ in named() if name not in rules()}) == []


def test_every_rule_of_the_specification_is_named_in_the_code() -> None:
    kept: list[str] = []
    for listed in re.findall(r"^- (§.+?): `.+$", text_of_spec(), re.MULTILINE):
        for rule in listed.split(", "):  # as in "§Rules 4, 5, 6"
            kept.append(rule if rule.startswith("§") else f"{kept[-1].split()[0]} {rule}")
    assert sorted(f"spec {rule}" for rule in kept) == sorted(name for name in rules() if name.startswith("spec "))


def test_open_points_of_the_specification_are_settled_by_the_contract() -> None:
    settled = re.findall(r"\b[A-S]\d*\b(?=[^()]*\))", text_of_spec().partition("## Gaps")[2].replace("POST", ""))
    assert len(settled) > 40
    assert {f"contract {rule}" for rule in settled} - set(rules()) == set()


def text_of_spec() -> str:
    return PLACES["spec"].read_text(encoding="utf-8")
