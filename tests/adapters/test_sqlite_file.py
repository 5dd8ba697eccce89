"""The file of SQLite belongs to SQLite: any other close releases the locks of the connections of its process."""

import contextlib
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

import logoadmin
from logoadmin import GetPicture, RemovePicture, bootstrap
from logoadmin.adapters.sql_storage import SqlStorage, open_sql_storage
from logoadmin.entrypoints.cli import cli
from logoadmin.ports.gallery_storage import StoredPicture
from logoadmin.ports.storage import UnitOfWork
from tests.contracts.steps import quickest

pytestmark = pytest.mark.rule("contract H2")

AUTHOR: Final = '{"kind": "author", "author_id": 9, "user_id": 9, "username": "nine"}\n'
# The last process to close the file writes the log back and removes it.
_OTHER: Final = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT 1 FROM users'); c.close()"
# Names of the files that Python itself opened, except those that it created, while recording.
_opened: list[str] = []
_watching: list[bool] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _watching:
        path, _, flags = arguments
        if isinstance(path, str | bytes) and not flags & os.O_EXCL:
            _opened.append(os.path.basename(os.fsdecode(path)))


@pytest.fixture(scope="module", autouse=True)
def hook() -> None:
    # An audit hook cannot be removed; it does nothing while not recording.
    sys.addaudithook(_watch)


@pytest.fixture
def opened() -> Iterator[list[str]]:
    """The files that Python itself opens during a test."""
    _opened.clear()
    _watching.append(True)
    yield _opened
    _watching.clear()


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOGOADMIN_DATABASE", "sqlite:///gallery.db")
    return tmp_path / "gallery.db"


def log_of(file: Path) -> int:
    return file.with_name(f"{file.name}-wal").stat().st_ino


def assert_locked(file: Path) -> None:
    """Make sure that this process still has its locks: another one must not remove the log in which it writes."""
    before = log_of(file)
    subprocess.run([sys.executable, "-S", "-c", _OTHER, file], check=True, timeout=30)
    assert log_of(file) == before


@pytest.fixture
def in_use(file: Path, initialised_file: Path, opened: list[str]) -> Iterator[Path]:
    """A file with a connection of this process, which keeps its locks during the test."""
    shutil.copy(initialised_file, file)
    opened.clear()
    with logoadmin.connect(f"sqlite:///{file}") as gallery:
        gallery.authors.create(logoadmin.CreateAuthor(user_id=1, username="one"))
        assert_locked(file)
        yield file
        assert_locked(file)
        gallery.authors.create(logoadmin.CreateAuthor(user_id=2, username="two"))
    assert {name for name in opened if name.startswith("gallery.db")} == set()


@pytest.mark.parametrize(
    "command",
    [
        *("init", "serve --port 0", "serve --port 0 --workers 2", "import authors.jsonl", "export out.jsonl"),
        *("import authors.jsonl --dry-run", "revert 4", "token-key rotate", "backup backup.db"),
    ],
)
def test_no_command_drops_the_locks_of_a_connection_in_the_same_process(
    in_use: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    in_use.with_name("authors.jsonl").write_text(AUTHOR)
    with contextlib.ExitStack() as galleries:
        opened = bootstrap.open_gallery
        monkeypatch.setattr(bootstrap, "open_gallery", lambda *a, **k: galleries.enter_context(opened(*a, **k)))
        monkeypatch.setattr("logoadmin.entrypoints.server.serve", lambda application, *_, **__: application())
        cli.main(command.split(), standalone_mode=False)


@pytest.mark.usefixtures("in_use")
def test_no_other_use_of_a_file_drops_its_locks() -> None:
    logoadmin.connect("sqlite:///gallery.db").close()
    with contextlib.closing(open_sql_storage("sqlite:///gallery.db")) as storage:
        assert not storage.is_empty()
        storage.prepare()
        storage.check()


def test_an_empty_file_is_locked_from_the_first_access_on(file: Path, opened: list[str]) -> None:
    file.touch(0o640)
    opened.clear()
    with contextlib.closing(open_sql_storage(f"sqlite:///{file}")) as storage:
        assert storage.is_empty()
        storage.prepare()
        storage.write(lambda uow: uow.secrets.put("name", "value"))
        assert_locked(file)
    assert "gallery.db" not in opened
    # The creator of the file chose its mode.
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_link_to_a_missing_file_creates_the_file(file: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    file.symlink_to("elsewhere/real.db")
    logoadmin.connect(f"sqlite:///{file}").close()
    assert file.is_symlink()
    assert stat.S_IMODE((tmp_path / "elsewhere" / "real.db").stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["gallery.db", "gallery.db-wal", "link.db"])
def test_an_export_does_not_overwrite_its_database(in_use: Path, name: str) -> None:
    in_use.with_name("link.db").symlink_to(in_use)
    before = in_use.stat().st_ino, log_of(in_use)
    with pytest.raises(Exception, match=f"^{name} is the database; name another file.$"):
        cli.main(["export", name], standalone_mode=False)
    assert (in_use.stat().st_ino, log_of(in_use)) == before


_KILLED_IN_THE_FIRST_START: Final = """
import os, signal, sys
import logoadmin.domain.identity.first_start as setup
import logoadmin
setup._has_users = lambda uow: os.kill(os.getpid(), signal.SIGKILL)
logoadmin.connect(sys.argv[1])
"""


@pytest.mark.slow("a process is killed")
def test_a_killed_first_start_leaves_nothing(file: Path) -> None:
    url = f"sqlite:///{file}"
    killed = subprocess.run([sys.executable, "-c", _KILLED_IN_THE_FIRST_START, url], check=False, timeout=30)
    assert killed.returncode == -signal.SIGKILL
    with contextlib.closing(open_sql_storage(url)) as storage:
        assert storage.is_empty()
    with logoadmin.connect(url) as gallery:
        assert gallery.admin_password is not None


@pytest.mark.rule("contract F1")
def test_every_commit_to_a_file_shows_in_its_data_version(sqlite_storage: SqlStorage, tmp_path: Path) -> None:
    sqlite_storage.data_version()  # the first check starts
    with contextlib.closing(open_sql_storage(f"sqlite:///{tmp_path / 'gallery.db'}")) as other:
        seen = [sqlite_storage.data_version()]
        for value, storage in enumerate((sqlite_storage, other, sqlite_storage, other)):
            assert sqlite_storage.data_version() == seen[-1]
            storage.write(lambda uow, value=value: uow.secrets.put("name", str(value)))  # type: ignore[misc]  # has a default
            seen.append(sqlite_storage.data_version())
        assert None not in seen
        assert len(set(seen)) == 5


@pytest.mark.rule("contract F1")
def test_a_replaced_file_has_no_data_version_and_then_a_new_one(
    sqlite_storage: SqlStorage, sqlite_file: Path, tmp_path: Path
) -> None:
    sqlite_storage.data_version()
    before = sqlite_storage.data_version()
    (tmp_path / "newer.db").write_bytes(sqlite_file.read_bytes())
    for journal in tmp_path.glob("gallery.db-*"):
        journal.unlink()
    (tmp_path / "newer.db").rename(tmp_path / "gallery.db")
    assert sqlite_storage.data_version() is None
    assert sqlite_storage.data_version() not in (None, before)
    (tmp_path / "gallery.db").unlink()
    assert sqlite_storage.data_version() is None


@pytest.mark.rule("contract F1", "contract A20")
def test_the_data_version_of_a_locked_file_is_not_waited_for(sqlite_storage: SqlStorage, tmp_path: Path) -> None:
    sqlite_storage.data_version()
    with contextlib.closing(sqlite3.connect(tmp_path / "gallery.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert quickest(lambda: sqlite_storage.data_version() is not None) < 0.1
    sqlite_storage.close()
    assert sqlite_storage.data_version() is None


@pytest.mark.rule("contract P5")
def test_the_bytes_of_a_removed_picture_are_erased_from_the_file_and_its_log(file: Path) -> None:
    content, other = os.urandom(300_000), os.urandom(1_000)
    files = file, file.with_name("gallery.db-wal")

    def is_found() -> list[bool]:
        return [any(content[at : at + 32] in each.read_bytes() for at in range(0, 300_000, 4_000)) for each in files]

    with logoadmin.connect("sqlite:///gallery.db") as gallery:
        storage = gallery._storage
        for number, each in enumerate((content, other)):
            stored = StoredPicture(f"{number}" * 64, f"{number}" * 64, 0, 1, 1, 1, len(each), "light")
            storage.write(partial(_add_picture, stored, each))
        assert any(is_found())
        assert storage.erase_removed()
        assert is_found() == [True, False]
        with contextlib.closing(sqlite3.connect(file)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM pictures").fetchone()
            gallery.pictures.remove(RemovePicture(picture="0" * 64))
            assert any(is_found())
        gallery.sweep()
        assert is_found() == [False, False]
        assert gallery.pictures.get(GetPicture(picture="1" * 64))[0] == other


def _add_picture(stored: StoredPicture, content: bytes, uow: UnitOfWork) -> None:
    uow.pictures.add(stored, content, b"")
    uow.pictures.note_in_history([stored.picture])
