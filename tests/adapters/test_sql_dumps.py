"""A server's own program makes its backups, and what it loads is finished here (contract K4)."""

import re
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any, Final

import pytest

import logoadmin
from logoadmin.adapters.sql_storage import copies
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.changes.history import ListChanges
from logoadmin.domain.kernel.errors import StartError
from logoadmin.settings import settings_of
from tests.mariadb import MariaDb

pytestmark = pytest.mark.rule("contract K4")

_DEPLOY: Final = Path(__file__).parents[2] / "deploy"
_BACKUP: Final = _DEPLOY.parent / "docs" / "backup.md"
# What docs/install.md has the user be granted.
_GRANTED: Final = "SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, REFERENCES"


@pytest.fixture
def database(mariadb: MariaDb) -> str:
    """The name of a database without tables, and of a user with the documented privileges."""
    assert shutil.which("mariadb-dump"), "this test needs mariadb-dump"
    assert shutil.which("mariadb"), "this test needs mariadb"
    name = mariadb.new_database()
    mariadb.execute(
        f"CREATE OR REPLACE USER '{name}'@'127.0.0.1' IDENTIFIED BY 'secret'",
        f"GRANT {_GRANTED} ON {name}.* TO '{name}'@'127.0.0.1'",
    )
    return name


@pytest.fixture
def url(mariadb: MariaDb, database: str) -> str:
    return f"mysql://{database}:secret@{mariadb.address}/{database}"


def at(url: str) -> logoadmin.LogoAdmin:
    return open_gallery(settings_of(database=url, argon2_memory_kib=8, argon2_passes=1), create="empty")


def author(gallery: logoadmin.LogoAdmin, number: int) -> Any:
    return gallery.authors.create(logoadmin.CreateAuthor(user_id=number, username=f"author {number}"))


def run_what_is_said(do: Callable[[str, Path], None], url: str, file: Path) -> None:
    """Run the command that is said instead of doing it, with the password where it would be asked for."""
    with pytest.raises(StartError) as said:
        do(url, file)
    match = re.search(r": (\(umask .*\)|mariadb .*?)(; then run .*)?$", str(said.value))
    assert match is not None
    command = match[1].replace(" --password ", " --password=secret ")
    subprocess.run(["sh", "-ec", command], check=True, timeout=60)


@pytest.mark.slow("dumps of a server are made and loaded")
def test_a_dump_beside_writers_is_of_one_moment_and_no_id_is_given_a_second_time(
    mariadb: MariaDb, database: str, url: str, tmp_path: Path
) -> None:
    dump, stop = tmp_path / "a dump.sql", Event()

    def write(gallery: logoadmin.LogoAdmin, writer: int) -> int:
        made = 0
        while not stop.is_set():
            made += 1
            author(gallery, 1000 * writer + made)
        return made

    with at(url) as gallery:
        kept = author(gallery, 1)
        with ThreadPoolExecutor(2) as pool:
            writing = [pool.submit(write, gallery, number) for number in (1, 2)]
            try:
                run_what_is_said(copies.back_up, url, dump)
            finally:
                stop.set()
            assert sum(each.result() for each in writing) > 0
        lost = author(gallery, 2)
    assert dump.stat().st_mode & 0o777 == 0o600
    given = set()
    for _ in range(2):
        mariadb.execute(f"DROP DATABASE {database}")
        mariadb.create(database)
        run_what_is_said(copies.restore, url, dump)
        copies.restore_loaded(url)
        with at(url) as gallery:
            assert gallery.authors.get(logoadmin.GetAuthor(author_id=kept.author_id)) == kept
            changes = [change.change_id for change in gallery.changes.list(ListChanges())]
            versions = {record.version for record in gallery.authors.list(logoadmin.ListAuthors())}
            assert changes == list(range(1, len(changes) + 1))
            assert versions <= set(changes)
            assert changes[-1] < lost.version
            new = author(gallery, 3)
            assert new.author_id > lost.author_id + 2**20 - 2
            assert new.version > lost.version + 2**20 - 2
            assert next(iter(gallery.changes.list(ListChanges(after=changes[-1])))).change_id == new.version
            given.add(new.version)
    assert len(given) == 2


@pytest.fixture
def nightly(mariadb: MariaDb, database: str, url: str, tmp_path: Path) -> list[str]:
    """Return the nightly command of docs/backup.md, for the test's database and the directory ``copies``."""
    at(url).close()
    (tmp_path / "copies").mkdir()
    (tmp_path / "backup.cnf").write_text(
        f"[client]\nhost={mariadb.host}\nport={mariadb.port}\nuser={database}\npassword=secret\n"
    )
    match = re.search(
        r"^ExecStart=(/usr/local/bin/logoadmin-dump .+)$", _BACKUP.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert match is not None
    program, documented, directory, keep, options = match[1].split()
    assert (documented, directory) == ("gallery", "/var/backups/logoadmin")
    script = str(_DEPLOY / Path(program).name)
    return [script, database, str(tmp_path / "copies"), keep, options.replace("/etc/logoadmin", str(tmp_path))]


def test_the_nightly_dump_keeps_the_newest_and_nothing_unfinished(
    database: str, nightly: list[str], tmp_path: Path
) -> None:
    copies = tmp_path / "copies"
    for day in range(10, 30):
        (copies / f"{database}-2000-01-{day}T030000Z.sql").touch()
    (copies / f"{database}-2000-01-30T030000Z.sql.part").touch()
    (copies / "of somebody else.sql").touch()
    subprocess.run(nightly, check=True, timeout=60)
    (copies / "of somebody else.sql").unlink()
    kept = sorted(path.name for path in copies.iterdir())
    assert len(kept) == 14
    assert kept[0] == f"{database}-2000-01-17T030000Z.sql"
    assert "CREATE TABLE `logos`" in (copies / kept[-1]).read_text()


def test_a_nightly_dump_that_fails_leaves_nothing_and_removes_no_older_one(
    mariadb: MariaDb, database: str, nightly: list[str], tmp_path: Path
) -> None:
    older = tmp_path / "copies" / f"{database}-2000-01-01T030000Z.sql"
    older.touch()
    mariadb.execute(f"REVOKE ALL ON {database}.* FROM '{database}'@'127.0.0.1'")
    refused = subprocess.run(nightly, check=False, capture_output=True, text=True, timeout=60)
    assert refused.returncode != 0
    assert "denied" in refused.stderr
    assert [*older.parent.iterdir()] == [older]
