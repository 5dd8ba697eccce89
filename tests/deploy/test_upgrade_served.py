"""An upgrade and a downgrade of a running service, as in docs/upgrade.md: no request fails."""

import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import text

import logoadmin
from logoadmin.adapters.sql_storage import open_sql_storage
from logoadmin.adapters.sql_storage.tables.all_tables import VERSION_TABLE
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.changes.history import ListChanges
from logoadmin.settings import settings_of
from tests.deploy.services import behind, import_gallery, load_on, services

pytestmark = [
    pytest.mark.slow("services are started and stopped under load"),
    pytest.mark.rule("contract K5", "contract K7"),
]

SOURCE: Final = Path(logoadmin.__file__).parent
WIDER: Final = """
import sqlalchemy as sa
from alembic import op

from logoadmin.adapters.sql_storage.schema.migrations.numbers import number_before, number_of

revision, down_revision = number_of(__file__), number_before(__file__)

def upgrade():
    for table in ("logos", "authors", "state"):
        op.add_column(table, sa.Column("stars", sa.Integer, nullable=False, server_default="5"))
"""


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """A directory with a copy of this version that has one more migration."""
    directory = tmp_path / "newer"
    shutil.copytree(SOURCE, directory / "logoadmin", ignore=shutil.ignore_patterns("__pycache__"))
    versions = directory / "logoadmin" / "adapters" / "sql_storage" / "schema" / "migrations" / "versions"
    (versions / "8000_wider.py").write_text(WIDER)
    return directory


def newest(database: str) -> str:
    """Return the newest migration."""
    with closing(open_sql_storage(database)) as storage, storage._pool.engine.connect() as connection:
        return str(connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar())


@pytest.mark.parametrize("front", ["direct", "nginx"])
def test_no_request_fails_during_an_upgrade_and_a_downgrade(
    front: str, url: str, newer: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind(front, monkeypatch)
    monkeypatch.setenv("LOGOADMIN_DATABASE", url)
    inherited = os.environ.get("PYTHONPATH", "")
    import_gallery(tmp_path)

    def take_over_and_give_back() -> None:
        monkeypatch.setenv("PYTHONPATH", f"{newer}:{inherited}")
        subprocess.run([sys.executable, "-m", "logoadmin", "init"], check=True, capture_output=True, timeout=60)
        assert newest(url) == "w8000"
        load.more()
        served.take_over()
        load.more()
        monkeypatch.setenv("PYTHONPATH", inherited)
        served.take_over()
        load.more()

    with services(tmp_path) as served, load_on(front, tmp_path, served.port) as load:
        served.start()
        load.run(take_over_and_give_back)
        load.verify()
        served.stop()
    with closing(open_gallery(settings_of(database=url))) as gallery:
        changes = [change.change_id for change in gallery.changes.list(ListChanges())]
        assert changes == list(range(1, len(changes) + 1))
