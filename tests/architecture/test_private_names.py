"""Private names: none of another package is used, whose next version may not have it, and no test patches one."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

_PACKAGE: Final = Path(__file__).parents[2] / "src" / "logoadmin"


def _is_private(name: str) -> bool:
    return any(part.startswith("_") and not part.endswith("__") for part in name.split("."))


def _foreign_names(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield each name that a module imports from another package, and its target."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name.split(".")[0], alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _root(node: ast.AST) -> str | None:
    """Return the name that an expression of attributes, calls and items begins with."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def _inherited(made: ast.ClassDef) -> Iterator[str]:
    """Yield the private names that a class uses of itself without defining them."""
    own = [node for node in ast.walk(made) if isinstance(node, ast.Attribute) and _root(node.value) in {"self", "cls"}]
    defined = {node.name for node in ast.walk(made) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    defined |= {node.attr for node in own if isinstance(node.ctx, ast.Store)}
    defined |= {node.id for node in ast.walk(made) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    yield from (node.attr for node in own if _is_private(node.attr) and node.attr not in defined)


def private_names(source: str) -> set[str]:
    """Return the private names of other packages that a module uses."""
    tree = ast.parse(source)
    foreign = {name: of for name, of in _foreign_names(tree) if not of.startswith("logoadmin.")}
    found = {of for of in foreign.values() if _is_private(of) and not of.startswith("__future__")}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_private(node.attr) and _root(node.value) in foreign:
            found.add(ast.unparse(node))
        elif isinstance(node, ast.ClassDef) and all(_root(base) in foreign for base in node.bases):
            found |= {f"{node.name}.{name}" for name in _inherited(node)}
    return found


@pytest.mark.lint
def test_no_private_name_of_another_package_is_used() -> None:
    found = {path.name: private_names(path.read_text(encoding="utf-8")) for path in _PACKAGE.rglob("*.py")}
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.lint
def test_no_test_patches_a_private_name() -> None:
    patched = re.compile(r"""set(?:attr|item)\([^"']*(?:\._|["'](?:[\w.]*\.)?_(?!_))""")
    tests = Path(__file__).parents[1].rglob("*.py")
    assert [path.name for path in tests if patched.search(path.read_text(encoding="utf-8"))] == []
