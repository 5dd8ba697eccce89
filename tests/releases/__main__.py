"""Makes the files of the tables as they are now: ``python -m tests.releases``, before a release."""

import contextlib
import sqlite3
import subprocess
import tempfile
from pathlib import Path

from logoadmin.adapters.sql_storage import open_sql_storage
from logoadmin.adapters.sql_storage.schema import NEWEST
from tests.mariadb import MariaDbServer
from tests.releases import fill, write

_DUMP = ("mariadb-dump", "--no-defaults", "--single-transaction", "--skip-comments", "--skip-add-locks", "--user=root")


def _filled(url: str) -> str:
    with contextlib.closing(open_sql_storage(url)) as storage:
        storage.prepare()
        return fill(storage)


def _sqlite(directory: Path) -> None:
    file = directory / "gallery.db"
    key = _filled(f"sqlite:///{file}")
    with contextlib.closing(sqlite3.connect(file)) as connection:
        write(NEWEST, "sqlite", "\n".join(connection.iterdump()), key)


def _mariadb() -> None:
    server = MariaDbServer()
    try:
        key = _filled(server.url)
        dump = [*_DUMP, f"--socket={server.socket}", server.database]
        sql = subprocess.run(dump, check=True, capture_output=True, text=True).stdout
        # A newer server's first line is for its own client alone.
        write(NEWEST, "mariadb", sql.partition("\n")[2] if "sandbox" in sql.partition("\n")[0] else sql, key)
    finally:
        server.remove()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        _sqlite(Path(directory))
    _mariadb()
