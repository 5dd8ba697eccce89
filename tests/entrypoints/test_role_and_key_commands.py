"""The commands of roles and service keys, and times as people write them."""

import json
import time
from datetime import UTC, datetime

import pytest

import logoadmin
from logoadmin import CreateAuthor, CreateLogo, ListAuthors, NotPermitted
from tests.entrypoints.command_line import Run, says_one_line

pytestmark = pytest.mark.usefixtures("empty_directory", "initialised")

DATABASE = "sqlite:///logoadmin.db"
KEY = {"key_id", "name", "scope", "created_at", "expires_at", "last_used_at"}


@pytest.mark.rule("contract D", "contract G4")
def test_roles_are_created_listed_and_changed(run: Run) -> None:
    made = run("role", "create", "editor", "--scope", "logos:write,themes:write", "--scope", "logos:write")
    assert (made.code, made.out) == (0, "Created role 3, editor: logos:write themes:write\n")
    assert made.request
    assert run("role", "create", "guest").out == "Created role 4, guest: no scopes\n"
    assert run("role", "list").out.splitlines() == [
        "   role_id  name    scope",
        "         1  member  proposals:write",
        "         2  admin   *",
        "         3  editor  logos:write themes:write",
        "         4  guest",
    ]
    listed = [json.loads(line) for line in run("role", "list", "--json").out.splitlines()]
    assert [(role["role_id"], role["scope"]) for role in listed][1:3] == [
        (2, ["*"]),
        (3, ["logos:write", "themes:write"]),
    ]

    assert run("role", "set", "editor", "--name", "7").out == "Role 3 is 7: logos:write themes:write\n"
    emptied = run("role", "set", "name:7", "--scope", "")
    assert emptied.out == "Role 3 is 7: no scopes\n"
    assert run("revert", "--request", emptied.request).code == 0
    assert "         3  7       logos:write themes:write\n" in run("role", "list").out
    says_one_line(run("role", "set", "9", "--name", "x"), 1, "Role 9 not found")


@pytest.mark.rule("contract J7", "contract B4")
def test_a_change_of_a_role_can_be_tried_and_keeps_an_administrator(run: Run) -> None:
    tried = run("role", "set", "admin", "--scope", "*,spare", "--name", "chief", "--dry-run")
    assert (tried.out, tried.request) == ("Role 2 would be chief: * spare\n", "")
    run("role", "create", "editor", "--scope", "logos:write")
    run("user", "create", "5", "eve", "--role", "3", stdin="a long password\n")
    tried = run("role", "set", "editor", "--scope", "themes:write", "--dry-run")
    assert tried.out.splitlines() == [
        "Role 3 would be editor: themes:write",
        "User 5, eve, gains themes:write and loses logos:write",
    ]
    assert "editor  logos:write\n" in run("role", "list").out
    for more in ((), ("--dry-run",)):
        says_one_line(run("role", "set", "admin", "--scope", "logos:write", *more), 1, "no user who holds *")
    says_one_line(run("role", "set", "editor"), 2, "Name what to change with --name or --scope. See:")
    says_one_line(run("role", "create", "member"), 1, "member")


@pytest.mark.rule("contract C5", "contract B4", "contract B5")
def test_keys_of_users_are_made_listed_and_removed(run: Run) -> None:
    run("role", "create", "curator", "--scope", "authors:write,logos:write")
    run("user", "create", "5", "eve", "--role", "3", stdin="a long password\n")
    made = run("key", "create", "eve", "nightly", "--scope", "authors:write", "--days", "30")
    assert made.code == 0
    assert made.out.startswith("lga_")
    assert made.out.count("\n") == 1
    until = datetime.fromtimestamp(time.time() + 30 * 86_400, UTC).date().isoformat()
    assert made.err == f"Key 1 of eve expires on {until}. It is shown only once\n"
    with logoadmin.connect(DATABASE, access="guarded") as gallery:
        script = gallery.sessions.caller(made.out.strip())
        gallery.authors.create(CreateAuthor(user_id=5, username="Eve"), script)
        with pytest.raises(NotPermitted):  # hers, and not the key's
            gallery.logos.create(
                CreateLogo(name="a", preview_url="https://a.example/a.png", target="site", custom_css=""), script
            )

    says_one_line(run("key", "create", "5", "x", "--scope", "*"), 1, "User 5 does not hold all scopes of the key")
    says_one_line(run("key", "create", "5", "x"), 2, "--scope")
    says_one_line(run("key", "create", "nobody", "x", "--scope", "a"), 1, "User nobody not found")
    says_one_line(run("key", "create", "5", "x", "--scope", "a b"), 2, "--scope: ")
    says_one_line(
        run("key", "create", "5", "x", "--scope", "a", "--days", "9" * 9),
        2,
        "'--days': 999999999 should be from 1 to 36600",
    )
    whole = run("key", "create", "admin", "by name", "--scope", "*", "--json")
    assert json.loads(whole.out).keys() == {*KEY, "key"}

    listed = run("key", "list", "5")
    assert made.out.strip() not in listed.out
    assert listed.out.splitlines()[1].split() == [
        *("1", datetime.now(UTC).date().isoformat(), until, datetime.now(UTC).date().isoformat()),
        *("authors:write", "nightly"),
    ]
    (line,) = run("key", "list", "eve", "--json").out.splitlines()
    assert json.loads(line).keys() == KEY
    says_one_line(run("key", "remove", "5", "2"), 1, "Key 2 not found")
    assert run("key", "remove", "eve", "1").out == "Removed key 1 of eve\n"
    events = run("events", "--user", "5", "--json").out
    assert [json.loads(line)["event"] for line in events.splitlines()][:2] == ["key_removed", "key_made"]
    with logoadmin.connect(DATABASE, access="guarded") as gallery, pytest.raises(logoadmin.InvalidToken):
        list(gallery.users.list(logoadmin.ListUsers(), script))


@pytest.mark.rule("contract I4")
def test_some_kinds_are_exported(run: Run) -> None:
    ended = run("export", "-", "--kind", "role", "--kind", "author")
    assert {json.loads(line)["kind"] for line in ended.out.splitlines()} == {"role"}
    assert "Password hashes" not in ended.err
    assert "Password hashes" in run("export", "-", "--kind", "user").err
    says_one_line(run("export", "-", "--kind", "settings"), 2, "'settings' is not one of 'role', 'user'")


@pytest.mark.rule("contract G3")
def test_changes_are_found_by_dates_as_people_write_them(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with logoadmin.connect(DATABASE) as gallery:
        gallery.authors.create(CreateAuthor(user_id=7, username="Ann"))
        (ann,) = gallery.authors.list(ListAuthors())
    day = datetime.fromtimestamp(ann.created_at, UTC)
    begin = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())

    def found(*options: str) -> bool:
        ended = run("changes", "--action", "author.created", *options)
        assert ended.code == 0, ended
        return bool(ended.out)

    monkeypatch.setattr("logoadmin.entrypoints.cli.moments.time.time", lambda: begin + 86_399)
    for since in (f"{day:%Y-%m-%d}", "today", "yesterday", "2 days ago", "1 week ago", f"{ann.created_at}", "0"):
        assert found("--since", since), since
    for until in (f"{day:%Y-%m-%d}", "today", "now", f"{ann.created_at}", f"{day:%Y-%m-%dT%H:%M:%SZ}"):
        assert found("--until", until), until
    assert found("--since", f"{day:%Y-%m-%d %H:%M}", "--until", f"{day:%Y-%m-%d %H:%M:%S}")
    assert not found("--until", "yesterday")
    assert not found("--since", f"{ann.created_at + 1}")
    assert not found("--since", f"{day:%Y-%m-%dT%H:%M:%S}-00:01")
    monkeypatch.setattr("logoadmin.entrypoints.cli.moments.time.time", lambda: begin + 86_400)
    assert not found("--since", "today")
    assert found("--since", "yesterday", "--until", "yesterday")


WRONG = ("", "tomorrow", "2026-13-01", "2026-1-1", "20.11.2026", "1.5", "2026-11-20 25:00", "999999999 weeks ago", "٣")


@pytest.mark.rule("contract G3")
@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_time_is_refused_with_examples(run: Run, text: str) -> None:
    says_one_line(run("changes", "--since", text), 2, "is not a time: write yesterday, 2026-11-20")
    for beyond in ("-1", "0001-01-01", "9999-12-31T23:59:59-23:59"):
        assert run("changes", "--until", beyond).code in (0, 2)
