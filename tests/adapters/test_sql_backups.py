"""Backups and dumps are complete and consistent (contract K4)."""

import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

import logoadmin
from logoadmin import ListChanges, SchemaMismatch, StartError, TablesMissing
from logoadmin.adapters.sql_storage import copies
from logoadmin.adapters.sql_storage.databases import sqlite_files
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.publication.files.pointer import parsed
from logoadmin.settings import settings_of
from logoadmin.starting import Create
from tests.mariadb import MariaDb
from tests.writers import writing

pytestmark = pytest.mark.rule("contract K4")

URL: Final = "sqlite:///gallery.db"
COPY: Final = "sqlite:///copy.db"
FILE: Final = Path("backup.db")
# Killed after copying, before verification.
_KILLED: Final = """
import os, pathlib, signal
from logoadmin.adapters.sql_storage import copies
from logoadmin.adapters.sql_storage.databases import sqlite_files
sqlite_files._verify = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
copies.back_up("sqlite:///gallery.db", pathlib.Path("backup.db"))
"""
_LIMITED: Final = """
import pathlib, resource, signal
from logoadmin.adapters.sql_storage import copies
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
copies.back_up("sqlite:///gallery.db", pathlib.Path("backup.db"))
"""


@pytest.fixture(autouse=True)
def empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def gallery(initialised_file: Path) -> Iterator[logoadmin.LogoAdmin]:
    shutil.copy(initialised_file, "gallery.db")
    with at(URL) as gallery:
        yield gallery


def at(url: str, create: Create = "embedded") -> logoadmin.LogoAdmin:
    return open_gallery(settings_of(database=url), create=create)


def others() -> set[str]:
    """Return the names of the files beside the database."""
    return {path.name for path in Path().iterdir() if not path.name.startswith("gallery.db")}


def change_backup(statement: str, *values: object) -> None:
    copies.back_up(URL, FILE)
    with closing(sqlite3.connect(FILE)) as connection, connection:
        connection.execute(statement, values)


def run_alone(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a separate process."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)


def author(gallery: logoadmin.LogoAdmin, number: int) -> Any:
    return gallery.authors.create(logoadmin.CreateAuthor(user_id=number, username=f"author {number}"))


def history(gallery: logoadmin.LogoAdmin, **asked: Any) -> list[Any]:
    return list(gallery.changes.list(ListChanges(**asked)))


def assert_consistent(gallery: logoadmin.LogoAdmin) -> int:
    """Require one change for every author, without gaps; return the last change_id."""
    changes = history(gallery)
    assert [change.change_id for change in changes] == list(range(1, len(changes) + 1))
    versions = {record.version for record in gallery.authors.list(logoadmin.ListAuthors())}
    assert versions == {change.change_id for change in changes if change.action == "author.created"}
    return len(changes)


def new_after_restore(gallery: logoadmin.LogoAdmin, kept: Any, lost: Any) -> Any:
    """Require the author of a backup; return a new one, whose id and version lie above those that were lost."""
    assert gallery.authors.get(logoadmin.GetAuthor(author_id=kept.author_id)) == kept
    new = author(gallery, 3)
    assert new.author_id > lost.author_id + 2**20 - 2
    assert new.version > lost.version + 2**20 - 2
    return new


@pytest.mark.slow("eight threads write meanwhile")
def test_a_backup_during_eight_writers_is_consistent(gallery: logoadmin.LogoAdmin) -> None:
    files = [Path(f"{number}.db") for number in range(3)]
    last = author(gallery, 1).version
    with writing(gallery, 8):
        for copy in files:
            copies.back_up(URL, copy)
    for copy in files:
        with at(f"sqlite:///{copy}") as copied:
            found = assert_consistent(copied)
        assert found >= last
        last = found


@pytest.mark.usefixtures("gallery")
def test_a_backup_is_one_file_readable_only_by_its_owner() -> None:
    copies.back_up(URL, FILE)
    assert stat.S_IMODE(FILE.stat().st_mode) == 0o600
    assert others() == {"backup.db"}
    with closing(sqlite3.connect(f"{FILE.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


@pytest.mark.usefixtures("gallery")
@pytest.mark.parametrize("failing", ["copy", "_verify", "_name"])
def test_an_interrupted_backup_leaves_nothing(monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sqlite_files, failing, fail)
    with pytest.raises(KeyboardInterrupt):
        copies.back_up(URL, FILE)
    assert others() == set()


@pytest.mark.usefixtures("gallery")
@pytest.mark.slow("a process is killed")
def test_a_killed_backup_leaves_nothing_that_looks_like_a_backup() -> None:
    assert run_alone(_KILLED).returncode == -signal.SIGKILL
    assert not any(name for name in others() if not name.startswith("."))
    copies.back_up(URL, FILE)
    assert FILE.exists()


def damage(path: Path) -> None:
    """Overwrite a page in the middle, and leave the first ones as they are."""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2 // 4096 * 4096)
        file.write(b"\x0d" * 4096)


@pytest.mark.usefixtures("gallery")
def test_a_damaged_database_is_not_backed_up_nor_a_damaged_backup_restored() -> None:
    copies.back_up(URL, FILE)
    damage(FILE)
    with pytest.raises(StartError, match="damaged"):
        copies.restore(COPY, FILE)
    with pytest.raises(StartError, match="damaged"):
        copies.back_up("sqlite:///backup.db", Path("again.db"))
    assert not Path("copy.db").exists()
    assert not Path("again.db").exists()


@pytest.mark.usefixtures("gallery")
def test_nothing_is_overwritten() -> None:
    FILE.write_text("mine")
    with pytest.raises(StartError, match="not overwritten"):
        copies.back_up(URL, FILE)
    assert FILE.read_text() == "mine"
    FILE.unlink()
    copies.back_up(URL, FILE)
    with pytest.raises(StartError, match="not overwritten"):
        copies.restore(URL, FILE)
    # SQLite would mistake the log of another file for this one's.
    Path("copy.db-wal").touch()
    with pytest.raises(StartError, match=r"copy\.db-wal already exists"):
        copies.restore(COPY, FILE)
    assert not Path("copy.db").exists()


@pytest.mark.rule("contract L7")
def test_after_a_restore_no_id_or_version_and_no_epoch_is_reused(gallery: logoadmin.LogoAdmin) -> None:
    kept = author(gallery, 1)
    published = [parsed(gallery.publication.generate().pointer)]
    copies.back_up(URL, FILE)
    lost = author(gallery, 2)
    for url in (COPY, "sqlite:///second.db"):
        copies.restore(url, FILE)
        with at(url) as restored:
            assert [change.change_id for change in history(restored)] == list(range(1, lost.version))
            new = new_after_restore(restored, kept, lost)
            published.append(parsed(restored.publication.generate().pointer))
            lost = lost if url == COPY else new
            # Times from before are found on both sides of the skipped ids.
            everything = history(restored)
            assert history(restored, since=0, until=MAX_ID * 4) == everything
            assert history(restored, since=0, order="desc") == everything[::-1]
            assert history(restored, since=everything[-1].at, until=everything[-1].at)[-1] == everything[-1]
            assert history(restored, until=everything[0].at - 1) == []
    first, second, _ = published
    assert 0 == first.epoch < time.time() - 3_600 < second.epoch
    assert len({pointer.gallery for pointer in published}) == 1


@pytest.mark.usefixtures("gallery")
def test_a_limit_on_file_sizes_is_the_copys_fault() -> None:
    assert "StartError: backup.db: the system cannot read or write its file" in run_alone(_LIMITED).stderr


@pytest.mark.usefixtures("gallery")
def test_restores_do_not_exhaust_ids() -> None:
    change_backup("UPDATE state SET author_id = ?, change_id = ?", MAX_ID, MAX_ID - 9)
    copies.restore(COPY, FILE)
    with closing(sqlite3.connect("copy.db")) as connection:
        assert connection.execute("SELECT author_id, change_id FROM state").fetchone() == (MAX_ID, MAX_ID - 5)


@pytest.mark.usefixtures("gallery")
def test_a_directory_keeps_a_limited_number_of_backups(monkeypatch: pytest.MonkeyPatch) -> None:
    directory = Path("copies")
    directory.mkdir()
    others = {"gallery-2000-01-01T000000Z.sql", "gallery.db", "other-2000-01-01T000000Z.db", ".gallery-is-mine"}
    for name in (*others, "gallery-2000-01-01T000000Z.db", ".gallery-2000-01-02T000000Z.db.killed"):
        (directory / name).write_text("mine")
    made = [copies.back_up_into(URL, directory, None)]
    for day in (1, 2, 3):
        monkeypatch.setattr(copies, "DATED", f"{{stem}}-2100-01-0{day}T000000Z")
        made.append(copies.back_up_into(URL, directory, 2))
    assert {path.name for path in directory.iterdir()} == others | {path.name for path in made[-2:]}
    with pytest.raises(StartError, match="not overwritten"):
        copies.back_up_into(URL, directory, 1)
    assert {path.name for path in directory.iterdir()} == others | {path.name for path in made[-2:]}
    # After a correction of the clock, it seems older than all others, but is the newest.
    monkeypatch.setattr(copies, "DATED", "{stem}-2050-01-01T000000Z")
    made.append(copies.back_up_into(URL, directory, 2))
    assert {path.name for path in directory.iterdir()} == others | {path.name for path in made[-2:]}
    copies.restore(COPY, made[-1])


@pytest.mark.usefixtures("gallery")
def test_a_copy_loaded_with_another_tool_is_finished() -> None:
    copies.back_up(URL, FILE)
    copies.restore_loaded("sqlite:///backup.db")
    with at("sqlite:///backup.db") as loaded:
        assert author(loaded, 1).author_id > 2**20
        assert parsed(loaded.publication.generate().pointer).epoch > 0
    with pytest.raises(TablesMissing):
        copies.restore_loaded(COPY)
    assert not Path("copy.db").exists()


@pytest.mark.usefixtures("gallery")
@pytest.mark.parametrize("missing", ["state", "users"])
def test_a_partly_loaded_copy_is_refused(missing: str) -> None:
    change_backup(f"DROP TABLE {missing}")
    with pytest.raises(StartError, match=f"^The copy is not whole, it has no table {missing}; load one into an empty"):
        copies.restore_loaded("sqlite:///backup.db")


def test_a_database_without_a_gallery_is_neither_backed_up_nor_restored() -> None:
    with pytest.raises(TablesMissing):
        copies.back_up(URL, FILE)
    with pytest.raises(StartError, match="cannot be opened"):
        copies.restore(URL, FILE)
    for content in (b"", b"no database at all, but some text"):
        FILE.write_bytes(content)
        with pytest.raises(StartError):
            copies.restore(URL, FILE)
    Path("gallery.db").touch()
    with pytest.raises(TablesMissing):
        copies.back_up(URL, Path("other.db"))
    assert {path.name for path in Path().iterdir()} == {"backup.db", "gallery.db"}


@pytest.mark.usefixtures("gallery")
@pytest.mark.parametrize(("version", "message"), [("x9999", "newer"), ("0009", "logoadmin export")])
def test_a_backup_of_another_version_is_refused(version: str, message: str) -> None:
    change_backup("UPDATE logoadmin_version SET version_num = ?", version)
    with pytest.raises(SchemaMismatch, match=message):
        copies.restore(COPY, FILE)
    assert not Path("copy.db").exists()


@pytest.mark.parametrize("do", [copies.back_up, copies.restore])
def test_for_a_server_the_command_is_printed_without_its_password(do: Callable[[str, Path], None]) -> None:
    with pytest.raises(StartError) as said:
        do("mysql://ann:hidden@db.example:3307/the gallery", Path("a b.sql"))
    text = str(said.value)
    assert "hidden" not in text
    for part in ("--host=db.example", "--port=3307", "--user=ann", "--password ", "'the gallery'", "'a b.sql'"):
        assert part in text
    assert ("mariadb-dump --single-transaction" in text) is (do is copies.back_up)
    assert text.endswith("run logoadmin restore --loaded") is (do is copies.restore)


_DEPLOY: Final = Path(__file__).parents[2] / "deploy"
_BACKUP: Final = _DEPLOY.parent / "docs" / "backup.md"
# The privileges that docs/install.md grants.
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


def run_printed_command(do: Callable[[str, Path], None], url: str, file: Path) -> None:
    """Run the command that is printed, with the password where it would prompt."""
    with pytest.raises(StartError) as said:
        do(url, file)
    match = re.search(r": (\(umask .*\)|mariadb .*?)(; then run .*)?$", str(said.value))
    assert match is not None
    command = match[1].replace(" --password ", " --password=secret ")
    subprocess.run(["sh", "-ec", command], check=True, timeout=60)


@pytest.mark.slow("dumps of a server are made and loaded")
def test_a_dump_during_writes_is_consistent_and_no_id_is_reused(
    mariadb: MariaDb, database: str, url: str, tmp_path: Path
) -> None:
    dump = tmp_path / "a dump.sql"
    with at(url, "empty") as gallery:
        kept = author(gallery, 1)
        with writing(gallery, 2):
            run_printed_command(copies.back_up, url, dump)
        lost = author(gallery, 2)
    assert dump.stat().st_mode & 0o777 == 0o600
    given = set()
    for _ in range(2):
        mariadb.execute(f"DROP DATABASE {database}")
        mariadb.create(database)
        run_printed_command(copies.restore, url, dump)
        copies.restore_loaded(url)
        with at(url, "empty") as gallery:
            last = assert_consistent(gallery)
            assert last < lost.version
            new = new_after_restore(gallery, kept, lost)
            assert next(iter(gallery.changes.list(ListChanges(after=last)))).change_id == new.version
            given.add(new.version)
    assert len(given) == 2


@pytest.fixture
def nightly(mariadb: MariaDb, database: str, url: str, tmp_path: Path) -> list[str]:
    """Return the nightly command of docs/backup.md, for the test's database and the directory ``copies``."""
    at(url, "empty").close()
    (tmp_path / "copies").mkdir()
    (tmp_path / "backup.cnf").write_text(
        f"[client]\nhost={mariadb.host}\nport={mariadb.port}\nuser={database}\npassword=secret\n"
    )
    match = re.search(r"(?m)^ExecStart=(/usr/local/bin/logoadmin-dump .+)$", _BACKUP.read_text(encoding="utf-8"))
    assert match is not None
    program, documented, directory, keep, options = match[1].split()
    assert (documented, directory) == ("gallery", "/var/backups/logoadmin")
    script = str(_DEPLOY / Path(program).name)
    return [script, database, str(tmp_path / "copies"), keep, options.replace("/etc/logoadmin", str(tmp_path))]


def test_a_nightly_dump_keeps_the_newest_and_nothing_partial(database: str, nightly: list[str], tmp_path: Path) -> None:
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


def test_a_failed_nightly_dump_leaves_nothing_and_keeps_older_ones(
    mariadb: MariaDb, database: str, nightly: list[str], tmp_path: Path
) -> None:
    older = tmp_path / "copies" / f"{database}-2000-01-01T030000Z.sql"
    older.touch()
    mariadb.execute(f"REVOKE ALL ON {database}.* FROM '{database}'@'127.0.0.1'")
    refused = subprocess.run(nightly, check=False, capture_output=True, text=True, timeout=60)
    assert refused.returncode != 0
    assert "denied" in refused.stderr
    assert [*older.parent.iterdir()] == [older]
