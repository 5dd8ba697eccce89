"""The registry of databases: what each folder has, and that nothing else knows which databases exist."""

import ast
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from logoadmin.adapters.sql_storage import databases, open_sql_storage
from logoadmin.adapters.sql_storage.databases import DATABASES, Database, dialect_of
from logoadmin.adapters.sql_storage.databases.dialect import Dialect
from logoadmin.adapters.sql_storage.databases.sqlite.dialect import Sqlite
from logoadmin.domain.kernel.kinds import AUTHORS
from logoadmin.domain.kernel.records import Author

FOLDERS = Path(databases.__file__).parent
SOURCE = FOLDERS.parents[2]
# What a folder has beside `dialect.py`; docs/extend.md lists it.
PARTS = ("error_codes", "checks")
MEMBERS = {name for name in vars(Dialect) if not name.startswith("_")}


def test_every_folder_has_a_row() -> None:
    assert {row.folder for row in DATABASES} == {path.parent.name for path in FOLDERS.glob("*/__init__.py")}


@pytest.mark.parametrize("row", DATABASES, ids=lambda row: row.folder)
def test_a_folder_has_all_parts_of_a_database(row: Database) -> None:
    for part in PARTS:
        assert import_module(f"{databases.__name__}.{row.folder}.{part}").__doc__
    for scheme in row.drivers:
        if not scheme.endswith("mysqldb"):  # a driver that few have
            dialect = dialect_of(f"{scheme}:///gallery" if row.folder == "sqlite" else f"{scheme}://localhost/gallery")
            assert {member for member in MEMBERS if not hasattr(dialect, member)} == set()
            assert dialect.classify(ValueError("no error of a database")) is None


def test_nothing_else_imports_the_folder_of_a_database() -> None:
    folders = {f"{databases.__name__}.{row.folder}" for row in DATABASES}
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                inside = [folder for folder in folders if f"{node.module}.".startswith(f"{folder}.")]
                if inside and FOLDERS / inside[0].rpartition(".")[2] not in path.parents:
                    found.add(f"{path.relative_to(SOURCE)} imports {node.module}")
    assert found == set()


def test_another_database_is_a_folder_and_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(Sqlite):
        product = "Other"

    module = ModuleType("dialect")
    module.open_dialect = lambda url, _driver, _text: Other(url.database)  # type: ignore[attr-defined]  # made here
    monkeypatch.setitem(sys.modules, f"{databases.__name__}.other.dialect", module)
    monkeypatch.setattr(databases, "DATABASES", (*DATABASES, Database("other", {"other": "sqlite3"})))
    storage = open_sql_storage(f"other:///{tmp_path / 'gallery.other'}")
    try:
        storage.prepare()
        storage.write(lambda uow: uow.records(AUTHORS).add(Author(1, 1, "ann", 0)))
        assert storage.product == "Other"
        assert len(storage.read(lambda uow: uow.records(AUTHORS).page(-1, 9))) == 1
    finally:
        storage.close()
