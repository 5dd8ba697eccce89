"""Backups are whole and of one moment, and after a restore no id and no version means something else than before."""

import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any, Final

import pytest

import logoadmin
from logoadmin.adapters.sql_storage import copies
from logoadmin.adapters.sql_storage.databases import sqlite_files
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.changes.history import ListChanges
from logoadmin.domain.kernel.errors import SchemaMismatch, StartError, TablesMissing
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.publication.files.pointer import parsed
from logoadmin.settings import settings_of

pytestmark = pytest.mark.rule("contract K4")

URL: Final = "sqlite:///gallery.db"
COPY: Final = "sqlite:///copy.db"
FILE: Final = Path("backup.db")
# Dies with the copy made, but not yet verified.
_KILLED: Final = """
import os, pathlib, signal
from logoadmin.adapters.sql_storage import copies, open_sql_storage
from logoadmin.adapters.sql_storage.databases import sqlite_files
from logoadmin.adapters.sql_storage.schema import NEWEST
from logoadmin.bootstrap import open_gallery
sqlite_files._verify = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
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


def at(url: str) -> logoadmin.LogoAdmin:
    return open_gallery(settings_of(database=url, argon2_memory_kib=8, argon2_passes=1))


def author(gallery: logoadmin.LogoAdmin, number: int) -> Any:
    return gallery.authors.create(logoadmin.CreateAuthor(user_id=number, username=f"author {number}"))


def history(gallery: logoadmin.LogoAdmin, **asked: Any) -> list[Any]:
    return list(gallery.changes.list(ListChanges(**asked)))


@pytest.mark.slow("eight threads write meanwhile")
def test_a_backup_beside_eight_writers_is_of_one_moment(gallery: logoadmin.LogoAdmin) -> None:
    stop = Event()

    def write(writer: int) -> int:
        made = 0
        while not stop.is_set():
            author(gallery, 1000 * writer + made)
            made += 1
        return made

    with ThreadPoolExecutor(8) as pool:
        try:
            before = author(gallery, 1).version
            written = [pool.submit(write, number) for number in range(1, 9)]
            files = [Path(f"{number}.db") for number in range(3)]
            for copy in files:
                copies.back_up(URL, copy)
        finally:
            stop.set()
        assert sum(each.result() for each in written) > 0
    for copy in files:
        with at(f"sqlite:///{copy}") as copied:
            changes = history(copied)
            assert [change.change_id for change in changes] == list(range(1, len(changes) + 1))
            versions = {record.version for record in copied.authors.list(logoadmin.ListAuthors())}
            assert versions == {change.change_id for change in changes if change.action == "author.created"}
            assert changes[-1].change_id >= before
            before = changes[-1].change_id


@pytest.mark.usefixtures("gallery")
def test_a_backup_is_one_file_for_its_owner_alone() -> None:
    copies.back_up(URL, FILE)
    assert stat.S_IMODE(FILE.stat().st_mode) == 0o600
    assert {path.name for path in Path().iterdir() if not path.name.startswith("gallery.db")} == {"backup.db"}
    with closing(sqlite3.connect(f"{FILE.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


@pytest.mark.usefixtures("gallery")
@pytest.mark.parametrize("failing", ["copy", "_verify", "_name"])
def test_what_breaks_off_leaves_nothing(monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sqlite_files, failing, fail)
    monkeypatch.setattr("logoadmin.adapters.sql_storage.databases.sqlite.copy", sqlite_files.copy)
    with pytest.raises(KeyboardInterrupt):
        copies.back_up(URL, FILE)
    assert {path.name for path in Path().iterdir() if not path.name.startswith("gallery.db")} == set()


@pytest.mark.usefixtures("gallery")
@pytest.mark.slow("a process is killed")
def test_one_that_is_killed_leaves_nothing_that_looks_like_a_backup() -> None:
    killed = subprocess.run([sys.executable, "-c", _KILLED], check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert not FILE.exists()
    assert {path.name for path in Path().glob("[!.]*") if not path.name.startswith("gallery.db")} == set()
    copies.back_up(URL, FILE)
    assert FILE.exists()


def damage(path: Path) -> None:
    """Overwrite a page in the middle, and leave the first ones as they are."""
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2 // 4096 * 4096)
        file.write(b"\x0d" * 4096)


@pytest.mark.usefixtures("gallery")
def test_a_damaged_database_makes_no_backup_and_a_damaged_backup_no_database() -> None:
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
    # SQLite would take the log of another file for this one's.
    Path("copy.db-wal").touch()
    with pytest.raises(StartError, match=r"copy\.db-wal already exists"):
        copies.restore(COPY, FILE)
    assert not Path("copy.db").exists()


def test_after_a_restore_no_id_and_no_version_is_given_a_second_time(gallery: logoadmin.LogoAdmin) -> None:
    kept = author(gallery, 1)
    copies.back_up(URL, FILE)
    lost = author(gallery, 2)
    lost_key = history(gallery)[-1].change_id
    for url in (COPY, "sqlite:///second.db"):
        copies.restore(url, FILE)
        with at(url) as restored:
            assert restored.authors.get(logoadmin.GetAuthor(author_id=kept.author_id)) == kept
            assert [change.change_id for change in history(restored)] == list(range(1, lost.version))
            new = author(restored, 3)
            assert new.author_id > lost.author_id + 2**20 - 2
            assert new.version > max(lost.version, lost_key) + 2**20 - 2
            lost = lost if url == COPY else new
            # The same moments as before are found by their time, on both sides of the skipped ids.
            everything = history(restored)
            assert history(restored, since=0, until=MAX_ID * 4) == everything
            assert history(restored, since=0, order="desc") == everything[::-1]
            assert history(restored, since=everything[-1].at, until=everything[-1].at)[-1] == everything[-1]
            assert history(restored, until=everything[0].at - 1) == []


@pytest.mark.rule("contract L7")
def test_after_a_restore_the_published_gallery_has_a_higher_epoch(gallery: logoadmin.LogoAdmin) -> None:
    first = parsed(gallery.publication.generate().pointer)
    copies.back_up(URL, FILE)
    copies.restore(COPY, FILE)
    with at(COPY) as restored:
        second = parsed(restored.publication.generate().pointer)
        assert restored.publication.public_keys() == gallery.publication.public_keys()
    copies.restore_loaded(COPY)
    with at(COPY) as restored:
        third = parsed(restored.publication.generate().pointer)
    assert 0 == first.epoch < time.time() - 3_600 < second.epoch < third.epoch
    assert first.gallery == second.gallery == third.gallery


@pytest.mark.usefixtures("gallery")
def test_ids_do_not_run_out_by_restores() -> None:
    copies.back_up(URL, FILE)
    with closing(sqlite3.connect(FILE)) as connection, connection:
        connection.execute("UPDATE state SET author_id = ?, change_id = ?", (MAX_ID, MAX_ID - 9))
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
        monkeypatch.setattr(copies, "_DATED", f"{{stem}}-2100-01-0{day}T000000Z")
        made.append(copies.back_up_into(URL, directory, 2))
    assert {path.name for path in directory.iterdir()} == others | {path.name for path in made[-2:]}
    with pytest.raises(StartError, match="not overwritten"):
        copies.back_up_into(URL, directory, 1)
    assert {path.name for path in directory.iterdir()} == others | {path.name for path in made[-2:]}
    # By a clock that was put right, it is older than all others, and the newest all the same.
    monkeypatch.setattr(copies, "_DATED", "{stem}-2050-01-01T000000Z")
    made.append(copies.back_up_into(URL, directory, 2))
    assert {path.name for path in directory.iterdir()} == others | {path.name for path in made[-2:]}
    copies.restore(COPY, made[-1])


@pytest.mark.usefixtures("gallery")
def test_a_copy_that_was_loaded_otherwise_is_finished() -> None:
    copies.back_up(URL, FILE)
    copies.restore_loaded("sqlite:///backup.db")
    with at("sqlite:///backup.db") as loaded:
        assert author(loaded, 1).author_id > 2**20
    with pytest.raises(TablesMissing):
        copies.restore_loaded(COPY)
    assert not Path("copy.db").exists()


@pytest.mark.usefixtures("gallery")
@pytest.mark.parametrize("missing", ["state", "users"])
def test_a_partly_loaded_copy_is_refused(missing: str) -> None:
    copies.back_up(URL, FILE)
    with closing(sqlite3.connect(FILE)) as connection, connection:
        connection.execute(f"DROP TABLE {missing}")
    with pytest.raises(StartError, match=f"^The copy is not whole, it has no table {missing}; load one into an empty"):
        copies.restore_loaded("sqlite:///backup.db")


def test_what_is_no_gallery_is_neither_backed_up_nor_restored() -> None:
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
    copies.back_up(URL, FILE)
    with closing(sqlite3.connect(FILE)) as connection, connection:
        connection.execute("UPDATE logoadmin_version SET version_num = ?", (version,))
    with pytest.raises(SchemaMismatch, match=message):
        copies.restore(COPY, FILE)
    assert not Path("copy.db").exists()


@pytest.mark.parametrize("do", [copies.back_up, copies.restore])
def test_of_a_server_the_command_is_said_without_its_password(do: Callable[[str, Path], None]) -> None:
    with pytest.raises(StartError) as said:
        do("mysql://ann:hidden@db.example:3307/the gallery", Path("a b.sql"))
    text = str(said.value)
    assert "hidden" not in text
    for part in ("--host=db.example", "--port=3307", "--user=ann", "--password ", "'the gallery'", "'a b.sql'"):
        assert part in text
    assert ("mariadb-dump --single-transaction" in text) is (do is copies.back_up)
    assert text.endswith("run logoadmin restore --loaded") is (do is copies.restore)
