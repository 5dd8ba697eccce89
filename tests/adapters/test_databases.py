"""The registry of databases: another one is a module and a row."""

import sys
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from logoadmin.adapters.sql_storage import databases, open_sql_storage
from logoadmin.adapters.sql_storage.databases import DATABASES
from logoadmin.adapters.sql_storage.databases.sqlite import Sqlite
from logoadmin.domain.kernel.kinds import AUTHORS
from logoadmin.domain.kernel.records import Author


def test_another_database_is_a_module_and_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(Sqlite):
        product = "Other"

    module = ModuleType("other")
    module.open_dialect = lambda url, _text: Other(url.database)  # type: ignore[attr-defined]  # made here
    monkeypatch.setitem(sys.modules, f"{databases.__name__}.other", module)
    monkeypatch.setattr(databases, "DATABASES", {**DATABASES, "other": "other"})
    with closing(open_sql_storage(f"other:///{tmp_path / 'gallery.other'}")) as storage:
        storage.prepare()
        storage.write(lambda uow: uow.records(AUTHORS).add(Author(1, 1, "ann", 0)))
        assert storage.product == "Other"
        assert len(storage.read(lambda uow: uow.records(AUTHORS).page(-1, 9))) == 1
