"""The command line, and the one line that it prints on failure."""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import Final

import httpx2
import pytest

import logoadmin
from logoadmin.bootstrap import open_gallery
from logoadmin.entrypoints.cli.import_export import NOT_EXPORTED
from logoadmin.extras import install_extra
from logoadmin.settings import load_settings
from tests.entrypoints.conftest import CommandResult, Run, assert_one_line, check, remove_module
from tests.services import start

pytestmark = pytest.mark.usefixtures("empty_directory")

ADMIN_PASSWORD = "first password"
DATABASE: Final = "sqlite:///logoadmin.db"
LEFT_OUT = f"Left out: {', '.join(NOT_EXPORTED)}. logoadmin move copies everything\n"
WITHOUT = (
    f"{LEFT_OUT}"
    "Password hashes are left out: after an import, users cannot sign in until their passwords are set "
    "(--with-password-hashes includes the hashes)\n"
)
AUTHOR = '{"kind": "author", "author_id": 1, "user_id": 7, "username": "Ann"}\n'


@pytest.mark.rule("contract H1")
@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("serve", "--prot", "1"), ("--prot", "logoadmin serve --help")),
        (("bogus",), ("bogus", "logoadmin --help")),
        (("serve", "--port", "65536"), ("Invalid value for '--port': 65536 is not in the range 0<=x<=65535. See: ",)),
        (("events", "--user", "x"), ("Invalid value for '--user': 'x' is not a valid integer. See: ",)),
        (("events", "--user", "-1"), ("user_id: Input should be greater than or equal to 0. See: ",)),
        (("revert", "9" * 20), ("change_id: Input should be less than or equal to 2147483647. See: ",)),
        (("completion",), ("Missing argument 'SHELL'. Choose from: bash, zsh, fish. See: ",)),
        (("user", "list", "--jso"), ("No such option '--jso'. ",)),
        (("serve", "--access", "closed"), ("--access", "open", "guarded")),
        (("serve", "--workers", "0"), ("--workers",)),
        (("serve", "--trusted-proxies", "*"), ("trusted_proxies", "10.0.0.0/8")),
        (("serve", "--root-path", "gallery"), ("root_path", "/gallery")),
        (("import",), ("FILE",)),
        (("init", "--database", "nonsense"), ("database URL", "sqlite:///")),
        (("init", "--database", "postgresql://u:hidden@h/n"), ("database URL", "mysql")),
        (("init", "--database", "sqlite://"), ("database URL", "file")),
        (("init", "--database", "memory:"), ("set database to another URL",)),
        (("serve", "--database", "memory:", "--workers", "2"), ("--workers 1",)),
    ],
)
@pytest.mark.usefixtures("initialised")
def test_a_usage_error_is_one_line_and_exit_code_2(
    run: Run, arguments: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    ended = run(*arguments)
    assert_one_line(ended, 2, *parts)
    assert "hidden" not in ended.err


@pytest.mark.rule("contract H1")
@pytest.mark.parametrize("group", [(), ("user",), ("token-key",)])
def test_a_group_without_a_command_prints_its_help(run: Run, group: tuple[str, ...]) -> None:
    ended = run(*group)
    assert (ended.code, ended.out, ended.err) == (2, "", run(*group, "--help").out)
    assert re.search(r"\w\.\.\.$", ended.err, re.MULTILINE) is None, "a sentence does not fit on a line"
    assert ended.err.startswith("Usage: ")


@pytest.mark.rule("contract B2", "contract A22")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "gallery.example"])
def test_a_non_loopback_address_requires_an_explicit_policy_and_host_names(run: Run, host: str) -> None:
    assert_one_line(run("serve", "--host", host, "--port", "0"), 2, host, "--access guarded", "--access open")
    ended = run("serve", "--host", host, "--port", "0", "--access", "open")
    assert_one_line(ended, 2, host, "--hosts gallery.example", "--hosts '*'")
    for options in ("--access guarded", "--access open --hosts *", "--access open --hosts a"):
        ended = run("serve", "--host", "192.0.2.1", "--port", "0", *options.split())
        assert_one_line(ended, 1, "192.0.2.1 is not an address of this machine")


@pytest.mark.slow("processes are started and stopped")
@pytest.mark.rule("contract A22")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", [200, 421, 421]),
        ("--hosts *", [200, 200, 200]),
        ("--access guarded", [200, 200, 200]),
        ("--access guarded --hosts gallery.example --workers 2", [200, 200, 421]),
    ],
)
def test_serve_responds_only_to_its_host_names(arguments: str, expected: list[int]) -> None:
    with serving(*arguments.split()) as (process, address, _):
        for name, status in zip(("localhost", "GALLERY.example:80", "attacker.example"), expected, strict=True):
            assert httpx2.get(f"{address}/api/logos", headers={"host": name}, timeout=30).status_code == status
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=60) == ("", "")


@pytest.mark.slow("a process is started and stopped")
@pytest.mark.rule("contract K5")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_service_stops_when_its_terminal_closes(workers: str) -> None:
    program = """
import fcntl, os, signal, termios
from logoadmin.entrypoints.cli import main

if __name__ == "__main__":
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored where another test has served in this process
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    main()
"""
    terminal, stdin = os.openpty()
    try:
        with serving("--workers", workers, program=program, stdin=stdin) as (process, address, _):
            os.close(terminal)
            assert process.communicate(timeout=60) == ("", "")
            assert process.returncode == 0
            with pytest.raises(httpx2.ConnectError):
                httpx2.get(f"{address}/livez")
    finally:
        os.close(stdin)


@pytest.mark.parametrize("missing", ["uvicorn", "httptools"])
def test_serve_names_missing_packages(run: Run, monkeypatch: pytest.MonkeyPatch, missing: str, tmp_path: Path) -> None:
    remove_module(monkeypatch, missing)
    assert_one_line(run("serve"), 1, missing, install_extra("server"))
    assert not list(tmp_path.iterdir())


@pytest.mark.rule("contract H1")
def test_failures_are_reported_on_one_line_with_exit_code_1(run: Run, tmp_path: Path) -> None:
    assert_one_line(run("import", "missing.jsonl"), 1, "missing.jsonl")
    assert_one_line(run("export", "out.jsonl"), 1, "logoadmin init")
    assert run("init").code == 0
    assert_one_line(run("export", "no/such/directory/out.jsonl"), 1, "no/such/directory/out.jsonl")
    assert_one_line(run("init", "--database", f"sqlite:///{tmp_path}/no/such/file.db"), 1, "file.db")
    assert_one_line(run("user", "password", "12", stdin="secret\n"), 1, "User 12 not found")


@pytest.mark.rule("contract H1", "contract A20")
def test_an_unreachable_database_is_reported_without_its_password(run: Run) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        for command in (("init",), ("serve",), ("export", "-"), ("user", "password", "1")):
            ended = run(*command, "--database", f"mysql+pymysql://me:hidden@127.0.0.1:{port}/gallery")
            assert_one_line(ended, 1, f"The database at 127.0.0.1:{port} cannot be used", "database URL")
            assert "hidden" not in ended.err


IF_RIGHT: Final = "File {} does not exist; if the name is right, run logoadmin init for the same database"
MOUNT: Final = "File logoadmin.db does not exist, but should; check that its disk is mounted"
EMPTY: Final = "no logoadmin tables yet; run logoadmin init for the same database"
# Commands that create no database, and commands that do.
NEEDING: Final = ("export -", "events", "revert 1", "user password 5", "token-key rotate", "restore --loaded")
CREATING: Final = ("init", "serve --port 0", "import -", "import - --dry-run")


@pytest.mark.rule("contract H1", "contract H2", "contract H3")
@pytest.mark.parametrize("command", [*NEEDING, *CREATING])
def test_a_wrong_database_is_named_and_left_untouched(run: Run, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    Path("junk.db").write_text("Dear diary, " * 1000)
    Path("folder").mkdir()
    refusals = {"junk.db": "junk.db is not an SQLite database; name another file"}
    refusals |= {"folder": "folder is a directory; name a file"}
    if command in NEEDING:
        refusals |= {"typo.db": IF_RIGHT.format("typo.db"), "empty.db": EMPTY}
        Path("empty.db").touch()
    before = {path.name for path in Path().iterdir()}
    for name, sentence in refusals.items():
        monkeypatch.setenv("LOGOADMIN_DATABASE", f"sqlite:///{name}")
        assert_one_line(run(*command.split()), 1, sentence)
    assert {path.name for path in Path().iterdir()} == before
    assert Path("junk.db").read_text() == "Dear diary, " * 1000


@pytest.mark.rule("contract H1", "contract H3", "contract K9")
@pytest.mark.parametrize("command", ["serve --port 0", "export -", "import --dry-run -", "backup copy.db"])
def test_without_create_a_database_must_exist(run: Run, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("LOGOADMIN_CREATE", "false")
    assert_one_line(run(*command.split()), 1, MOUNT)
    assert list(Path().iterdir()) == []
    Path("logoadmin.db").touch()
    ended = run(*command.split())
    assert_one_line(ended, 1, "; check that its disk is mounted")
    assert "logoadmin init" not in ended.err
    assert run("init").code == 0
    assert run("export", "-").code == 0


@pytest.mark.rule("contract I3")
def test_an_import_with_an_administrator_creates_no_other(run: Run) -> None:
    Path("users.jsonl").write_text('{"kind": "user", "user_id": 5, "username": "admin", "avatar": null, "role_id": 2}')
    ended = run("import", "users.jsonl")
    assert (ended.code, ended.out) == (0, "Imported 1 user (1 created)\n")
    assert ended.err == (
        "1 new user without a password cannot sign in: set one with logoadmin user password USER, "
        "or import a file made with export --with-password-hashes\n"
    )
    with logoadmin.connect(DATABASE) as gallery:
        assert [user.user_id for user in gallery.users.list(logoadmin.ListUsers())] == [5]


@pytest.mark.rule("contract I1", "contract I3")
@pytest.mark.usefixtures("initialised")
def test_an_export_is_complete_private_and_overwrites_a_file_only_with_force(run: Run) -> None:
    Path("kept.jsonl").write_text("kept")
    assert_one_line(run("export", "kept.jsonl"), 1, "kept.jsonl exists", "--force")
    assert Path("kept.jsonl").read_text() == "kept"
    assert run("export", "kept.jsonl", "--with-password-hashes", "--force").code == 0
    assert Path("kept.jsonl").read_text().startswith('{"kind": "role"')
    assert "$argon2id$" in Path("kept.jsonl").read_text()
    assert stat.S_IMODE(Path("kept.jsonl").stat().st_mode) == 0o600
    assert not [path for path in Path().iterdir() if path.name.startswith(".kept")]
    Path("link.jsonl").symlink_to("kept.jsonl")
    assert run("export", "link.jsonl", "--force").code == 0
    assert Path("link.jsonl").is_symlink()
    assert "$argon2id$" not in Path("kept.jsonl").read_text()
    assert run("export", os.devnull).code == 0
    assert not Path(os.devnull).is_file()


@pytest.mark.rule("contract I1")
@pytest.mark.usefixtures("initialised")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is full cannot be had so easily here")
def test_an_export_to_a_full_disk_names_the_file_and_the_reason(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = run("export", "/dev/full")
    assert (ended.code, ended.err.splitlines()[-1]) == (1, "logoadmin: /dev/full: No space left on device")
    monkeypatch.setattr(sys, "stdout", None)  # as a shell closes it
    assert run("export", "-").code == 0


@pytest.mark.rule("contract H3")
def test_init_prints_a_generated_password_once_and_is_idempotent(run: Run) -> None:
    first = run("init")
    password = re.search(r'"admin" with the password (\S+)', first.out)
    assert password is not None
    with logoadmin.connect(DATABASE) as gallery:
        assert gallery.sessions.sign_in(logoadmin.SignIn(username="admin", password=password[1])).scope == "*"
        before = [*gallery.users.list(logoadmin.ListUsers()), *gallery.roles.list(logoadmin.ListRoles())]
    again = run("init")
    assert again.code == 0
    assert "password" not in again.out
    with logoadmin.connect(DATABASE) as gallery:
        assert before == [*gallery.users.list(logoadmin.ListUsers()), *gallery.roles.list(logoadmin.ListRoles())]


@pytest.mark.rule("contract H3", "contract O5")
@pytest.mark.parametrize(
    ("password", "sentence"),
    [
        ("1234567", "String should have at least 8 characters"),
        ("Password1", "Password should not be one of the most common ones"),
    ],
)
def test_the_first_password_is_refused_before_anything_is_created(
    run: Run, monkeypatch: pytest.MonkeyPatch, password: str, sentence: str
) -> None:
    monkeypatch.setenv("LOGOADMIN_ACCESS", "guarded")
    monkeypatch.setenv("LOGOADMIN_ADMIN_PASSWORD", password)
    for command in ("init", "serve"):
        assert run(command) == CommandResult(2, "", f"logoadmin: Settings are wrong: admin_password: {sentence}\n")
    with pytest.raises(logoadmin.SettingsError, match=sentence):
        logoadmin.connect(DATABASE, access="guarded", admin_password=password)
    assert not Path("logoadmin.db").exists()
    monkeypatch.setenv("LOGOADMIN_ADMIN_PASSWORD", ADMIN_PASSWORD)
    assert run("init").code == 0
    monkeypatch.setenv("LOGOADMIN_ADMIN_PASSWORD", password)  # no longer used
    assert run("init").code == 0


# Keys for tokens.

SIGN_IN = logoadmin.SignIn(username="admin", password=ADMIN_PASSWORD)


def made_by_openssl(path: str, *arguments: str) -> None:
    assert shutil.which("openssl"), "this test needs openssl"
    subprocess.run(["openssl", *arguments, "-out", path], check=True, capture_output=True)


def started() -> logoadmin.LogoAdmin:
    """Open the gallery as a newly started service would."""
    return open_gallery(load_settings(database=DATABASE, admin_password=ADMIN_PASSWORD))


@pytest.mark.rule("contract C2")
def test_rotating_the_keys_in_the_database_ends_no_session(run: Run) -> None:
    too_soon = r"logoadmin: the last rotation was only \d+ s ago\. Users with older access "
    for out, err in (("Nobody is signed out", ""), ("", too_soon)):
        with started() as before:
            token = before.sessions.sign_in(SIGN_IN).access_token
            ended = run("token-key", "rotate")
            assert (ended.code, out in ended.out) == (0, True)
            assert re.match(err or "$", ended.err)
            with started() as after:
                assert after.sessions.caller(token)
                assert before.sessions.caller(after.sessions.sign_in(SIGN_IN).access_token)


@pytest.mark.rule("contract C2")
def test_keys_are_rotated_only_where_they_are_in_use(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_one_line(run("token-key", "rotate"), 1, "logoadmin init")
    assert_one_line(run("token-key", "rotate", "--database", "memory:"), 2, "set database")
    monkeypatch.setenv("LOGOADMIN_TOKEN_KEY", "k" * 32)
    assert_one_line(run("token-key", "rotate"), 2, "LOGOADMIN_TOKEN_KEY")
    assert not Path("logoadmin.db").exists()
    started().close()
    made_by_openssl("private.pem", "genpkey", "-algorithm", "ed25519")
    monkeypatch.setenv("LOGOADMIN_TOKEN_KEY_FILES", "private.pem")  # with which those in the database are also accepted
    assert run("token-key", "rotate").code == 0


@pytest.mark.rule("contract C2")
def test_with_key_files_the_keys_in_the_database_are_accepted_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_accepted(token: str, by: logoadmin.LogoAdmin) -> bool:
        try:
            by.sessions.caller(token)
        except logoadmin.InvalidToken:
            return False
        return True

    with started() as before:
        token = before.sessions.sign_in(SIGN_IN).access_token
    made_by_openssl("private.pem", "genpkey", "-algorithm", "ed25519")
    Path("private.pem").chmod(0o600)
    monkeypatch.setenv("LOGOADMIN_TOKEN_KEY_FILES", "private.pem")
    for _ in range(2):
        with started() as during:
            assert is_accepted(token, during)
    with closing(sqlite3.connect("logoadmin.db")) as file:
        file.execute("UPDATE secrets SET value = value - 900 WHERE name = 'token_key_files_since'")
        file.commit()
    with started() as after:
        assert not is_accepted(token, after)
        assert is_accepted(after.sessions.sign_in(SIGN_IN).access_token, after)


@pytest.mark.rule("contract I2", "contract A5")
def test_every_bad_line_is_reported_without_forging_output_and_nothing_is_imported(run: Run) -> None:
    forged = json.dumps({**json.loads(AUTHOR), "\x1b[2J\nlogoadmin: done\u202e": 1})
    bad = '{"kind": "author", "author_id": 2, "user_id": "7", "username": ""}'
    Path("bad.jsonl").write_text(f"{AUTHOR}{bad}\n[\n\n{forged}")
    ended = run("import", "bad.jsonl")
    assert ended.code == 1
    *lines, of_forged, last = ended.err.splitlines()
    assert lines == [
        "bad.jsonl:2: user_id: Input should be a valid integer",
        "bad.jsonl:2: username: String should have at least 1 character",
        "bad.jsonl:3: Invalid JSON: EOF while parsing a list at column 1",
    ]
    assert of_forged.startswith(r"bad.jsonl:5: \x1b[2J\nlogoadmin: done\u202e: ")
    assert last == "logoadmin: 3 lines cannot be imported; nothing was imported"
    with logoadmin.connect(DATABASE) as gallery:
        assert list(gallery.authors.list(logoadmin.ListAuthors())) == []


@pytest.mark.rule("contract I1")
def test_import_and_export_take_the_standard_streams(run: Run) -> None:
    imported = run("import", "-", stdin=AUTHOR)
    assert (imported.code, imported.out.splitlines()[0]) == (0, "Imported 1 author (1 created)")
    exported = run("export", "-")
    assert exported.err == WITHOUT + "Exported 2 roles, 1 user, 1 author\n"
    records = [json.loads(line) for line in exported.out.splitlines()]
    assert [record["kind"] for record in records] == ["role", "role", "user", "author"]
    assert "password_hash" not in exported.out


@pytest.mark.rule("contract I4")
def test_an_import_and_a_dry_run_report_their_counts(run: Run) -> None:
    again = AUTHOR + AUTHOR.replace("Ann", "Anna") + AUTHOR.replace("1", "2").replace("7", "8").replace("Ann", "Ben")
    counts = "3 authors (1 created, 1 amended, 1 unchanged)\n"
    assert run("import", "-", stdin=AUTHOR).code == 0
    check(
        run,
        ("import - --dry-run", again, f"Could import {counts}"),
        ("import -", again, f"Imported {counts}"),
        *(("import -", nothing, "Imported nothing\n") for nothing in (None, "\n")),
    )
    # Without changes, no undo is offered: the history has no such request.
    assert run("import", "-", stdin=AUTHOR.replace("Ann", "Anna")).request == ""


@pytest.mark.rule("contract G2", "contract G4")
@pytest.mark.usefixtures("initialised")
def test_every_change_of_a_command_is_undone_by_its_request_id(run: Run) -> None:
    both = AUTHOR + AUTHOR.replace("1", "2").replace("7", "8").replace("Ann", "Ben")
    before = run("export", "-").out
    imported = run("import", "-", stdin=both)
    after = run("export", "-").out
    undone = run("revert", "--request", imported.request)
    assert undone == CommandResult(0, f"Undid request {imported.request} with 2 changes\n", "")
    assert run("export", "-").out == before
    assert run("revert", "--request", undone.request).code == 0
    assert run("export", "-").out == after
    assert run("import", "-", "--dry-run", stdin=both).request == ""
    run("user", "create", "7", "Ann", stdin="one\n")
    with logoadmin.connect(DATABASE) as gallery:
        last = gallery.changes.version()
    check(
        run,
        (f"revert {last}", "", f"Undid change {last} with change {last + 1}: user.removed, id 7\n"),
        (f"revert {last}", "", (1, f"User 7 was changed since, by change {last + 1}")),
        ("revert --request unknown", "", (1, "Request unknown not found")),
        *((command, "", (2, "")) for command in ("revert", "revert 4 --request x")),
    )


@pytest.mark.rule("contract D users", "contract B4")
@pytest.mark.usefixtures("initialised")
def test_users_are_created_changed_and_removed(run: Run) -> None:
    check(
        run,
        ("user create 7 Ann --role 2", "one\n", "Created user 7\n"),
        ("user password 7", "two\n", "Changed the password of user 7\n"),
        ("user create 7 Bob", "x\n", (1, "Duplicate entry '7' for key 'user_id'")),
        ("user create 8 Bob --role 9", "x\n", (1, "Role 9 not found")),
        *(("user create 8 Bob", closed, (1, "password")) for closed in ("", None)),
    )
    with logoadmin.connect(DATABASE) as gallery:
        assert gallery.sessions.sign_in(logoadmin.SignIn(username="Ann", password="two")).scope == "*"
        with pytest.raises(logoadmin.SignInRefused):
            gallery.sessions.sign_in(logoadmin.SignIn(username="Ann", password="one"))
    check(
        run,
        ("user role 7 1", "", "User 7 has role 1, member\n"),
        ("user role Ann admin", "", "User 7 has role 2, admin\n"),
        ("user role Ann member", "", "User 7 has role 1, member\n"),
        *((f"user role 7 {role}", "", (1, f"Role {role} not found")) for role in ("nobody", "9")),
        ("user role 8 1", "", (1, "User 8 not found")),
        *((f"user {command}", "", (1, "no user who holds *")) for command in ("role admin member", "remove admin")),
        ("user create 6 7", "correct horse\n", "Created user 6\n"),
        ("user remove name:7", "", "Removed user 6, 7\n"),
        ("user remove Ann", "", "Removed user 7, Ann\n"),
        ("user remove Ann", "", (1, "User Ann not found")),
    )


@pytest.mark.rule("contract D users")
@pytest.mark.usefixtures("initialised")
def test_users_are_listed_as_json_without_control_characters(run: Run) -> None:
    name = "Ann\x1b\x9b2J\u202e\U000e0001Ø"
    assert run("user", "create", "7", name, stdin="one\n").code == 0
    printed = run("user", "list").out
    assert r"Ann\u001b\u009b2J\u202e\udb40\udc01Ø" in printed
    listed = [json.loads(line) for line in printed.splitlines()]
    users = [(user["user_id"], user["username"], user["role_id"]) for user in listed]
    assert users == [(7, name, 1), (2000000000, "admin", 2)]


@pytest.mark.rule("contract D users")
@pytest.mark.usefixtures("initialised")
def test_a_user_is_identified_by_id_or_name(run: Run) -> None:
    with logoadmin.connect(DATABASE) as gallery:
        for id_, name in (
            *((7, "seven"), (8, "7"), (9, "Ann"), (10, "name:x"), (11, "\u0667"), (12, "ann"), (13, "Anna")),
            *((14, "name:bob"), (15, "bob"), (16, "name:7")),
        ):
            gallery.users.create(logoadmin.CreateUser(user_id=id_, username=name, password="one"))
        numbers = {"7": 7, "007": 7, "name:7": 8, "Ann": 9, "name:Ann": 9, "name:x": 10, "\u0667": 11}
        numbers |= {"name:name:x": 10, "name:bob": 14, "name:name:bob": 14, "bob": 15, "name:name:7": 16}
        for named, number in numbers.items():
            ended = run("user", "password", named, stdin=f"for {named}\n")
            assert ended == CommandResult(0, f"Changed the password of user {number}\n", "")
            name = gallery.users.get(logoadmin.GetUser(user_id=number)).username
            assert gallery.sessions.sign_in(logoadmin.SignIn(username=name, password=f"for {named}"))


@pytest.mark.rule("contract O9")
@pytest.mark.usefixtures("initialised")
def test_the_events_of_all_users_are_printed_newest_first(run: Run) -> None:
    assert run("events") == CommandResult(0, "", "")
    run("user", "create", "7", "Ann", stdin="one two three\n")
    with logoadmin.connect(DATABASE) as gallery:
        gallery.sessions.sign_in(logoadmin.SignIn(username="Ann", password="one two three"))
        gallery.users.set_password(logoadmin.SetPassword(user_id=7, password="four five six"))

    def names(*options: str) -> list[str]:
        printed = run("events", *options)
        assert (printed.code, printed.err) == (0, "")
        return [json.loads(line)["event"] for line in printed.out.splitlines()]

    assert names() == [*reversed(names("--order", "asc"))] == ["password_changed", "signed_in"]
    assert names("--user", "7", "--after", "1", "--order", "asc", "--limit", "1") == ["password_changed"]
    assert_one_line(run("events", "--limit", "0"), 2, "--limit")


@pytest.mark.rule("contract H1")
def test_openapi_prints_the_document_for_a_policy(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    # A tool that asks for a policy gets its document whatever the environment holds.
    monkeypatch.setenv("LOGOADMIN_NO_SUCH_SETTING", "1")
    document = json.loads(run("openapi", "--access", "guarded").out)
    assert document["paths"]["/api/users"]["get"]["security"] == [{"password": []}, {"bearer": []}]


@contextmanager
def serving(*arguments: str, program: str = "", stdin: int = DEVNULL) -> Iterator[tuple[Popen[str], str, str]]:
    """Run a service on an empty database; yields its process, its address and the generated password."""
    command = ("-c", program) if program else ("-m", "logoadmin")
    served = start(*command, "serve", "--port", "0", *arguments, stdin=stdin)
    try:
        address, (password, _, console) = served.address, served.printed
        assert address.startswith("http://127.0.0.1:")
        prefix = arguments[arguments.index("--root-path") + 1] if "--root-path" in arguments else ""
        seen = f"http://localhost:{served.port}{prefix}"  # where browsers offer passkeys (contract O8)
        assert console == f"The console is at {seen}/console/\n"
        assert served.line() == f"Read and try the HTTP interface at {seen}/docs\n"
        yield served.process, address, password.split()[-1]
    finally:
        served.kill()


@pytest.mark.slow("processes are started and stopped")
@pytest.mark.rule("contract H1", "contract H3", "contract H2", "contract O8")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_serving_an_empty_database_creates_everything_and_stops_cleanly(workers: str) -> None:
    with serving("--workers", workers) as (process, address, password):
        page = httpx2.get(f"{address}/console/", timeout=30, headers={"x-forwarded-host": "attacker.example"}).text
        assert f"&quot;public_url&quot;:&quot;http://localhost:{address.rpartition(':')[2]}&quot;" in page
        answer = httpx2.post(f"{address}/api/auth/token", json={"username": "admin", "password": password})
        assert answer.status_code == 200
        header = {"authorization": f"Bearer {answer.json()['access_token']}"}
        body = {"user_id": 5, "username": "Ann", "password": "secret"}
        for expected in (201, 409, 409, 409):
            assert httpx2.post(f"{address}/api/users", json=body, headers=header).status_code == expected
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        assert password not in out
    with logoadmin.connect(DATABASE) as gallery:
        assert gallery.users.get(logoadmin.GetUser(user_id=5)).username == "Ann"


@pytest.mark.rule("contract I4", "contract I5")
def test_csv_is_imported_and_unpublished_artworks_are_reported(run: Run) -> None:
    lines = (
        "name;preview_url;target;custom_css;active;authors",
        'Ёж;https://x.example/a.png;forum;;да;"Ann; Боб"',
        "Draft;https://x.example/b.png;forum;;no;",
        'Broken;https://x.example/c.png;forum;"a { b: url(";yes;Ann',
    )
    Path("logos.csv").write_text("\n".join(lines), "cp1251")
    assert_one_line(run("import", "logos.csv"), 2, "--kind")
    ended = run("import", "logos.csv", "--kind", "logo", "--charset", "cp1251")
    assert ended.out.startswith("Imported 2 authors (2 created), 3 logos (3 created)\n")
    assert "Not published: logo 2: inactive" in ended.err
    assert "Traceback" not in ended.err
    assert run("export", "out.csv", "--kind", "logo", "--format", "csv").code == 0
    assert run("import", "out.csv", "--kind", "logo").out == "Imported 3 logos (3 unchanged)\n"
    assert_one_line(run("export", "-", "--format", "csv"), 2, "CSV has records of one kind")
