"""Commands as they are typed: backups, moves, pictures, notices and completion."""

import json
import time
from pathlib import Path
from typing import Final

import pytest

import logoadmin
from logoadmin.adapters.sql_storage.record_tables import LINK_TABLES, TAG_TABLES, metadata
from logoadmin.adapters.sql_storage.tables import TABLES
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.opened_gallery import record_milestone
from logoadmin.entrypoints.cli.import_export import NOT_EXPORTED
from logoadmin.settings import load_settings
from tests.answering import Answer, Request, answering
from tests.entrypoints.conftest import CommandResult, Run, assert_one_line, check
from tests.gallery import ARTWORK, drawing

pytestmark = pytest.mark.usefixtures("empty_directory")

NEW_IDS: Final = "New ids start above any that may have been issued since the backup\n"


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.mark.rule("contract K4")
@pytest.mark.usefixtures("initialised")
def test_a_backup_is_made_and_restored(run: Run) -> None:
    made = run("backup", "copy.db")
    assert (made.code, made.err, made.out[:47]) == (0, "", "Backed up to copy.db and verified. Keep it safe")
    check(
        run,
        ("backup copy.db", "", (1, "copy.db already exists")),
        ("restore copy.db", "", (1, "logoadmin.db already exists")),
        ("restore copy.db --database sqlite:///other.db", "", f"Restored from copy.db. {NEW_IDS}"),
        ("restore --loaded --database sqlite:///copy.db", "", f"The database is ready. {NEW_IDS}"),
    )


@pytest.mark.rule("contract K4")
@pytest.mark.usefixtures("initialised")
def test_only_the_newest_backups_of_a_directory_are_kept(run: Run) -> None:
    directory = Path("copies")
    directory.mkdir()
    for name in ("logoadmin-2000-01-01T000000Z.db", "mine.db"):
        (directory / name).touch()
    made = run("backup", "--keep", "1", "copies")
    assert (made.code, made.err) == (0, "")
    kept = names(directory)
    assert kept[0] in made.out
    assert (len(kept), kept[1]) == (2, "mine.db")
    assert_one_line(run("backup", "--keep", "0", "copies"), 2, "--keep")
    assert names(directory) == kept


@pytest.mark.rule("contract K4")
@pytest.mark.usefixtures("initialised")
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("backup", "Name a file, or use --dumped"),
        ("backup --dumped other.db", "Name a file, or use --dumped"),
        ("backup -", "A backup cannot go to standard output"),
        ("backup --keep 1 copy.db", "--keep requires a directory, and copy.db is not one"),
        ("restore", "Name a file, or use --loaded"),
        ("restore --loaded copy.db", "Name a file, or use --loaded"),
        ("completion tcsh", "'tcsh' is not one of 'bash', 'zsh', 'fish'"),
    ],
)
def test_a_contradictory_command_is_refused_and_writes_nothing(run: Run, command: str, words: str) -> None:
    assert_one_line(run(*command.split()), 2, words)
    assert names(Path()) == ["logoadmin.db"]


@pytest.mark.rule("contract K4")
def test_a_backup_lists_what_is_not_in_it(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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
    assert (of_server.code, of_server.out.splitlines()[1:]) == (1, expected)
    assert secret not in made.out + of_server.out + of_server.err


@pytest.mark.rule("contract K4", "contract K2")
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


# What an export omits, with the tables; the shared settings are in the history.
LEFT_OUT: Final = {
    "the history and the version numbers": ("changes", "acts", "state"),
    "blocks": ("withdrawals",),
    "the keys that sign tokens and the gallery": ("secrets",),
    "sessions": ("sessions", "refresh_tokens"),
    "service keys": ("service_keys",),
    "second factors": ("factors", "recovery_codes", "challenges"),
    "single sign-on identities": ("identities",),
    "preferences": ("preferences", "seen_notices"),
    "pictures": ("pictures", "picture_names"),
    "proposals": ("proposals",),
    "unsent notices": ("notices",),
    "sign-in events": ("events",),
    "stored responses and counts of failed sign-ins": ("stored_responses", "sign_in_attempts"),
}


@pytest.mark.rule("contract K9")
@pytest.mark.usefixtures("initialised")
def test_a_gallery_is_moved_and_the_old_database_is_refused(run: Run) -> None:
    moved = run("move", "--to", "sqlite:///new.db")
    assert (moved.code, moved.out) == (0, "Moved to new.db. Set database to its URL, and start the services again\n")
    assert {"users: 1 row copied", "users: 1 row compared"} < {*moved.err.splitlines()}
    assert len(moved.err.splitlines()) == 2 * len(metadata.tables)
    for command in (("init",), ("serve", "--port", "0"), ("export", "-"), ("move", "--to", "sqlite:///third.db")):
        assert_one_line(run(*command), 1, "The gallery was moved from this database to new.db; set database to the URL")
    assert not Path("third.db").exists()
    assert run("user", "list", "--database", "sqlite:///new.db").code == 0


@pytest.mark.rule("contract K9")
def test_an_export_lists_what_it_omits_from_every_table() -> None:
    exported = {table.name for table in (*TABLES.values(), *LINK_TABLES.values(), *TAG_TABLES.values())}
    assert exported.union(*LEFT_OUT.values()) == metadata.tables.keys()
    assert {*LEFT_OUT, "the shared settings"} == {*NOT_EXPORTED}


@pytest.mark.rule("contract K4")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_calls_the_program(run: Run, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    ended = run("completion", shell)
    assert (ended.code, ended.err, f"_LOGOADMIN_COMPLETE={shell}_complete" in ended.out) == (0, "", True)
    monkeypatch.setenv("_LOGOADMIN_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", "logoadmin serve --access gu")
    monkeypatch.setenv("COMP_CWORD", "gu" if shell == "fish" else "3")
    completed = run()
    assert (completed.code, completed.err) == (0, "")
    assert ("guarded" in completed.out, "open" in completed.out) == (True, False)


# The fields of incoming webhooks by their documentation; all of them ignore unknown fields.
ACCEPTS: Final = {"/discord": ("content", 2_000), "/slack": ("text", 40_000), "/mattermost": ("text", 16_383)}


def _receiver(request: Request) -> Answer:
    """Answer as the receiver of a notice at one of these paths."""
    if request.path not in ACCEPTS:
        return Answer(status=404)
    body, (field, most) = json.loads(request.body), ACCEPTS[request.path]
    is_notice = request.headers["content-type"] == "application/json" and body["event"] == "trial"
    return Answer(status=204 if is_notice and 0 < len(body[field]) <= most else 400)


@pytest.mark.rule("contract R6")
@pytest.mark.server("a web server in a thread")
@pytest.mark.usefixtures("initialised")
@pytest.mark.parametrize(
    ("paths", "code", "out", "err"),
    [
        ([*ACCEPTS], 0, "URL 1: accepted\nURL 2: accepted\nURL 3: accepted\n", ""),
        (["/gone/T0KEN", "/slack"], 1, "URL 2: accepted\n", "URL 1: it responds with status 404\n"),
    ],
)
def test_a_trial_notice_reaches_each_receiver_and_failures_are_reported_by_number(
    run: Run, monkeypatch: pytest.MonkeyPatch, paths: list[str], code: int, out: str, err: str
) -> None:
    monkeypatch.setenv("LOGOADMIN_OUTGOING_HOSTS", "127.0.0.1")
    with answering(_receiver) as receivers:
        monkeypatch.setenv("LOGOADMIN_NOTIFY_URLS", ",".join(f"http://{receivers.host}{path}" for path in paths))
        assert run("notify") == CommandResult(code, out, err)
        assert receivers.asked == paths
    shown = run("config")
    assert "notify_urls" in shown.out
    assert "T0KEN" not in f"{shown.out}{shown.err}"


@pytest.mark.rule("contract R6")
@pytest.mark.usefixtures("initialised")
def test_missing_notify_urls_are_reported(run: Run) -> None:
    result = run("notify")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("notify_urls names no URL")


DATABASE: Final = "sqlite:///logoadmin.db"


def _picture(request: Request) -> Answer:
    shade = request.path.strip("/")
    return Answer(drawing(int(shade))) if shade.isdecimal() else Answer(status=404)


def urls() -> list[str]:
    with logoadmin.connect(DATABASE) as gallery:
        return [logo.preview_url for logo in gallery.logos.list(logoadmin.ListLogos())]


@pytest.mark.rule("contract P3")
@pytest.mark.usefixtures("initialised")
def test_pictures_on_other_hosts_are_copied_as_one_request(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGOADMIN_OUTGOING_HOSTS", "127.0.0.1")
    with answering(_picture) as server:
        origin = f"http://{server.host}"
        before = [f"{origin}/1", f"{origin}/1", f"{origin}/2", f"{origin}/missing"]
        with logoadmin.connect(DATABASE) as gallery:
            for url in (*before, f"{origin}/3"):
                logo = ARTWORK | {"preview_url": url, "active": url in before}
                gallery.logos.create(logoadmin.CreateLogo(**logo))
        listed = run("pictures", "mirror", "--dry-run")
        assert (listed.code, listed.out.count("\n")) == (0, 4)
        assert urls() == [*before, f"{origin}/3"]
        done = run("pictures", "mirror")
    assert (done.code, done.out) == (1, "3 changed, 1 not copied\n")
    assert "Not copied: logo 4 (Aurora): The picture cannot be fetched: 127.0.0.1: " in done.err
    one, same, two, *others = urls()
    assert one == same != two
    assert all("/pictures/" in url for url in (one, two))
    assert others == [before[3], f"{origin}/3"]
    assert run("revert", "--request", done.request).code == 0
    assert urls() == [*before, f"{origin}/3"]


@pytest.mark.rule("contract P4")
@pytest.mark.usefixtures("initialised")
def test_pictures_are_moved_as_files(run: Run, tmp_path: Path) -> None:
    with logoadmin.connect(DATABASE) as gallery:
        sent = {gallery.pictures.send(logoadmin.SendPicture(), drawing(shade)).picture for shade in (1, 2, 3)}
    listed = [json.loads(line) for line in run("pictures", "list").out.splitlines()]
    shown = [(each["picture"], *each["named_by"], each["user_name"]) for each in listed]
    assert shown == [(picture, None) for picture in sorted(sent)]
    folder = tmp_path / "exported"
    assert run("pictures", "export", str(folder)).out == "3 written\n"
    assert {path.name for path in folder.iterdir()} == {f"{picture}.webp" for picture in sent}
    assert run("pictures", "export", str(folder)).out == "0 written\n"
    (folder / "note.txt").write_text("refused")
    (folder / f"{'0' * 64}.webp").write_bytes(b"damaged")
    other = f"sqlite:///{tmp_path / 'other.db'}"
    assert run("init", "--database", other).code == 0
    moved = run("pictures", "import", str(folder), "--database", other)
    assert (moved.code, moved.out) == (1, "3 added, 2 refused\n")
    damaged, note = moved.err.splitlines()
    assert damaged.startswith(f"Refused: {'0' * 64}.webp: The file is not the picture that its name says")
    assert note.startswith("Refused: note.txt: it is not named as logoadmin pictures export names files")
    with logoadmin.connect(other) as gallery:
        assert {*gallery.pictures.stored()} == sent
