"""The commands that make copies of a gallery and galleries of copies, as they are typed (contract K4)."""

import time
from pathlib import Path

import pytest

from logoadmin.bootstrap import open_gallery
from logoadmin.domain.opened_gallery import record_milestone
from logoadmin.settings import load_settings
from tests.entrypoints.command_line import CommandResult, Run, says_one_line

pytestmark = [pytest.mark.usefixtures("empty_directory"), pytest.mark.rule("contract K4")]


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.mark.usefixtures("initialised")
def test_a_copy_is_made_and_a_database_of_it(run: Run) -> None:
    made = run("backup", "copy.db")
    assert (made.code, made.err) == (0, "")
    assert made.out.startswith("Backed up to copy.db and verified. Keep it safe")
    says_one_line(run("backup", "copy.db"), 1, "copy.db already exists")
    says_one_line(run("restore", "copy.db"), 1, "logoadmin.db already exists")
    restored = run("restore", "copy.db", "--database", "sqlite:///other.db")
    assert (restored.code, restored.out) == (
        0,
        "Restored from copy.db. New ids start above any that may have been issued since the backup\n",
    )
    finished = run("restore", "--loaded", "--database", "sqlite:///copy.db")
    assert (finished.code, finished.err) == (0, "")
    assert finished.out.startswith("The database is ready. New ids start above")


@pytest.mark.usefixtures("initialised")
def test_a_backup_to_standard_output_is_refused_and_nothing_is_written(run: Run) -> None:
    says_one_line(run("backup", "-"), 2, "A backup cannot go to standard output")
    assert names(Path()) == ["logoadmin.db"]


@pytest.mark.usefixtures("initialised")
def test_of_a_directory_the_newest_copy_is_kept(run: Run) -> None:
    directory = Path("copies")
    directory.mkdir()
    for name in ("logoadmin-2000-01-01T000000Z.db", "mine.db"):
        (directory / name).touch()
    made = run("backup", "--keep", "1", "copies")
    assert (made.code, made.err) == (0, "")
    kept = names(directory)
    assert kept[0] in made.out
    assert (len(kept), kept[1]) == (2, "mine.db")
    says_one_line(run("backup", "--keep", "1", "copy.db"), 2, "--keep requires a directory, and copy.db is not one")
    says_one_line(run("backup", "--keep", "0", "copies"), 2, "--keep")
    assert names(directory) == kept


def test_restore_requires_either_a_file_or_the_loaded_option(run: Run) -> None:
    says_one_line(run("restore"), 2, "Name a file, or use --loaded")
    says_one_line(run("restore", "--loaded", "copy.db"), 2, "Name a file, or use --loaded")
    says_one_line(run("restore", "--loaded"), 1, "File logoadmin.db does not exist")
    assert names(Path()) == []


@pytest.mark.rule("contract K4")
def test_what_is_beside_the_database_is_named_without_secrets(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run("init")
    assert "Not in it" not in run("backup", "first.db").out  # everything is in the database
    secret = "a-secret-that-nobody-may-see-of-32-bytes"
    (tmp_path / "logoadmin.toml").write_text(f'factor_key = "{secret}"\ngallery_days = 7\n')
    monkeypatch.setenv("LOGOADMIN_TOKEN_KEY", secret)
    monkeypatch.setenv("LOGOADMIN_TOKEN_KEY_FILES", "keys/a.pem,/keys/b.pem")
    monkeypatch.setenv("LOGOADMIN_GALLERY_KEY_FILE", "gallery.pem")
    expected = [
        f"  {tmp_path}/logoadmin.toml (settings, with factor_key)",
        "  the value of token_key, from LOGOADMIN_TOKEN_KEY",
        f"  {tmp_path}/keys/a.pem (token_key_files)",
        "  /keys/b.pem (token_key_files)",
        f"  {tmp_path}/gallery.pem (gallery_key_file)",
    ]
    made = run("backup", "second.db")
    assert made.out.splitlines()[2:] == expected
    of_server = run("backup", "third.sql", "--database", "mysql://ann:hidden@127.0.0.1:1/gallery")
    assert of_server.code == 1
    assert of_server.out.splitlines()[1:] == expected
    assert secret not in made.out + of_server.out + of_server.err


@pytest.mark.rule("contract K2")
@pytest.mark.usefixtures("initialised")
def test_the_time_of_a_backup_is_recorded(run: Run) -> None:
    def recorded() -> int:
        with open_gallery(load_settings(), create="never") as gallery:
            return gallery.milestones()["last_backup"]

    assert recorded() == 0
    assert run("backup", "copy.db").code == 0
    assert abs(recorded() - time.time()) < 600
    with open_gallery(load_settings(), create="never") as gallery:
        record_milestone(gallery._storage, "last_backup", 1)
    assert run("backup", "--dumped") == CommandResult(0, "Recorded the time of the backup\n", "")
    assert abs(recorded() - time.time()) < 600
    says_one_line(run("backup"), 2, "Name a file, or use --dumped")
    says_one_line(run("backup", "--dumped", "other.db"), 2, "Name a file, or use --dumped")
