"""``init`` migrates a database of the previous version, which earlier programs then refuse (contract K7)."""

import re
import shutil
import textwrap
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import inspect, text

import logoadmin
from logoadmin.adapters.sql_storage import SqlStorage, open_sql_storage, schema
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.kernel.errors import SchemaMismatch
from logoadmin.settings import settings_of
from tests.gallery import ARTWORK, FrozenClock, gallery_on, stock

pytestmark = pytest.mark.rule("contract K7")

_PAGE: Final = Path(__file__).parents[2] / "docs" / "extend.md"


def documented() -> str:
    block = _PAGE.read_text(encoding="utf-8").split("## A migration")[1].split("```python\n")[1].split("```")[0]
    return textwrap.dedent("   " + block.removeprefix("   "))


@contextmanager
def next_program(step: str, directory: Path) -> Iterator[None]:
    """Act as the next version of the program, which has one more migration."""
    found = re.search(r'^revision, down_revision = "(x0002)", "x0001"$', step, re.MULTILINE)
    assert found is not None
    shutil.copytree(schema.MIGRATIONS, directory)
    (directory / "versions" / "0002_next.py").write_text(step)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", directory)
        patch.setattr(schema, "NEWEST", found[1])
        yield


def notes(storage: SqlStorage) -> list[tuple[int, str]]:
    """Return the column of logos that only the next version reads."""
    with storage._pool.engine.connect() as connection:
        return [(row.logo_id, row.note) for row in connection.execute(text("SELECT logo_id, note FROM logos"))]


def test_an_old_database_is_refused_until_init_migrates_it_with_all_records(prepared_url: str, tmp_path: Path) -> None:
    with closing(open_sql_storage(prepared_url)) as storage:
        stock(gallery_on(storage, FrozenClock()))
        with next_program(documented(), tmp_path / "next"):
            with pytest.raises(SchemaMismatch, match="is older than this program; run logoadmin init"):
                storage.check()
            storage.prepare()
            storage.check()
            assert notes(storage) == [(1, "")]
            with open_gallery(settings_of(database=prepared_url, access="open")) as gallery:
                assert gallery.logos.create(logoadmin.CreateLogo(**ARTWORK)).logo_id == 2
        for refused in (storage.check, storage.prepare):
            with pytest.raises(SchemaMismatch, match=r"^The database was made by a newer logoadmin; install that"):
                refused()


def test_an_interrupted_migration_is_run_again(prepared_url: str, tmp_path: Path) -> None:
    with closing(open_sql_storage(prepared_url)) as storage:
        with next_program(f"{documented()}\n    1 / 0\n", tmp_path / "broken"), pytest.raises(ZeroDivisionError):
            storage.prepare()
        with next_program(documented(), tmp_path / "next"):
            storage.prepare()
            storage.check()
            with storage._pool.engine.connect() as connection:
                for table in ("themes", "logos"):
                    assert "note" in {column["name"] for column in inspect(connection).get_columns(table)}
