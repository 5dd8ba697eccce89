"""The registry of databases: what each module defines, and that no other code names a database."""

import ast
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from logoadmin.adapters.sql_storage import databases, open_sql_storage
from logoadmin.adapters.sql_storage.databases import DATABASES, Database, Dialect, dialect_of
from logoadmin.adapters.sql_storage.databases.sqlite import Sqlite
from logoadmin.domain.kernel.kinds import AUTHORS
from logoadmin.domain.kernel.records import Author

PACKAGE = Path(databases.__file__).parent
SOURCE = PACKAGE.parents[2]
MEMBERS = {name for name in {*vars(Dialect), *Dialect.__annotations__} if not name.startswith("_")}


def test_every_database_has_a_row() -> None:
    assert {row.module for row in DATABASES} == {path.stem for path in PACKAGE.glob("*.py") if "_" not in path.stem}


@pytest.mark.parametrize("row", DATABASES, ids=lambda row: row.module)
def test_every_database_defines_all_its_parts(row: Database) -> None:
    assert import_module(f"{databases.__name__}.{row.module}_checks").__doc__
    for scheme in row.drivers:
        if not scheme.endswith("mysqldb"):  # a driver that few have
            dialect = dialect_of(f"{scheme}:///gallery" if row.module == "sqlite" else f"{scheme}://localhost/gallery")
            assert {member for member in MEMBERS if not hasattr(dialect, member)} == set()
            assert dialect.classify(ValueError("no error of a database")) is None


def test_nothing_else_imports_the_modules_of_a_database() -> None:
    modules = tuple(f"{databases.__name__}.{row.module}" for row in DATABASES)
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
                if path.parent != PACKAGE and any(name.startswith(modules) for name in names):
                    found.add(f"{path.relative_to(SOURCE)} imports {node.module}")
    assert found == set()


def test_another_database_is_a_module_and_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(Sqlite):
        product = "Other"

    module = ModuleType("other")
    module.open_dialect = lambda url, _driver, _text: Other(url.database)  # type: ignore[attr-defined]  # made here
    monkeypatch.setitem(sys.modules, f"{databases.__name__}.other", module)
    monkeypatch.setattr(databases, "DATABASES", (*DATABASES, Database("other", {"other": "sqlite3"})))
    storage = open_sql_storage(f"other:///{tmp_path / 'gallery.other'}")
    try:
        storage.prepare()
        storage.write(lambda uow: uow.records(AUTHORS).add(Author(1, 1, "ann", 0)))
        assert storage.product == "Other"
        assert len(storage.read(lambda uow: uow.records(AUTHORS).page(-1, 9))) == 1
    finally:
        storage.close()
