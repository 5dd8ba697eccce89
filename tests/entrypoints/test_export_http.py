"""Export over HTTP (contract I4)."""

import asyncio
import json
import tempfile
from itertools import count
from typing import Any

import pytest
from starlette.types import ASGIApp

from logoadmin.domain.changes.import_export import ExportRecords
from logoadmin.domain.kernel.kinds import KINDS
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api import spool
from tests.asgi import AppClient, ask, nothing_more, scope_of
from tests.entrypoints.conftest import Headers
from tests.gallery import WatchedStorage

pytestmark = pytest.mark.rule("contract I4")


def kinds_in(text: str) -> list[str]:
    kinds = [json.loads(line)["kind"] for line in text.splitlines()]
    return [kind for number, kind in enumerate(kinds) if number == 0 or kind != kinds[number - 1]]


@pytest.mark.rule("contract I1")
def test_an_export_is_a_file_of_the_same_lines_as_on_the_command_line(
    client: AppClient, gallery: LogoAdmin, admin: Headers
) -> None:
    lines: list[str] = []
    gallery.import_export.dump(ExportRecords(), lines.append)
    answer = client.get("/api/export", headers=admin)
    assert (answer.status_code, answer.content) == (200, "".join(lines).encode())
    assert answer.headers["content-type"] == "application/jsonl"
    assert answer.headers["content-disposition"] == 'attachment; filename="gallery.jsonl"'
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-length"] == str(len(answer.content))
    assert "password" not in answer.text
    assert "argon2" not in answer.text


def test_kinds_are_chosen_each_once(client: AppClient, admin: Headers) -> None:
    for query, kinds in (
        ("kind=logo", ["logo"]),
        ("kind=logo&kind=author&kind=logo", ["author", "logo"]),
        ("&".join(f"kind={kind}" for kind in KINDS), list(KINDS)),
        ("", list(KINDS)),
    ):
        assert kinds_in(client.get(f"/api/export?{query}", headers=admin).text) == kinds
    for query, loc in (
        ("kind=logo&kind=x", ["query", "kind", 1]),
        ("kind=", ["query", "kind", 0]),
        ("with_password_hashes=true", ["query", "with_password_hashes"]),
    ):
        answer = client.get(f"/api/export?{query}", headers=admin)
        assert (answer.status_code, [each["loc"] for each in answer.json()["detail"]]) == (422, [loc])


@pytest.mark.rule("contract B3")
def test_it_takes_a_token_and_the_scopes_that_read_what_is_in_it(
    client: AppClient, watched: WatchedStorage, admin: Headers, ann: Headers
) -> None:
    assert client.get("/api/export?kind=logo").status_code == 403
    assert client.get("/api/export?kind=logo", headers={"authorization": "Bearer x"}).status_code == 401
    assert watched.asked == []
    assert client.get("/api/export?kind=logo&kind=theme&kind=author", headers=ann).status_code == 200
    for scope, kinds in ([], []), (["users:read"], ["user"]), (["users:read", "roles:read"], ["user", "role"]):
        client.patch("/api/roles/1", json={"scope": scope}, headers=admin)
        for kind in ("user", "role"):
            answer = client.get(f"/api/export?kind=logo&kind={kind}", headers=ann)
            assert answer.status_code == (200 if kind in kinds else 403)
        assert client.get("/api/export", headers=ann).status_code == (200 if len(kinds) == 2 else 403)


@pytest.mark.rule("contract A19", "contract H4")
def test_callers_without_the_right_take_nobody_s_place(
    client: AppClient, ann: Headers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", None)
    assert client.get("/api/export", headers=ann).status_code == 403


async def read(app: ASGIApp, user: Headers, goes_on: asyncio.Event) -> int:
    """Ask for logos, and take no more than the head of the answer until it goes on; return its status."""
    status: list[int] = []
    own = asyncio.current_task()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            status.append(message["status"])
            if own is not None:
                own.set_name("reading")
        elif status == [200]:
            await goes_on.wait()

    await app(scope_of("GET", "/api/export?kind=logo", user.items()), nothing_more, send)
    return status[0]


@pytest.mark.rule("contract A20")
def test_a_database_that_fails_midway_is_a_503_and_not_half_a_file(
    client: AppClient, admin: Headers, monkeypatch: pytest.MonkeyPatch, watched: WatchedStorage
) -> None:
    written = count()
    write_line = spool.SpooledFile.write_line

    def fail_later(file: spool.SpooledFile, line: str) -> None:
        if next(written) == 3:
            raise watched.timed_out(writing=False)
        write_line(file, line)

    monkeypatch.setattr(spool.SpooledFile, "write_line", fail_later)
    answer = client.get("/api/export", headers=admin)
    assert (answer.status_code, list(answer.json())) == (503, ["detail"])
    for _ in range(3):  # more than one user may have at once
        assert client.get("/api/export", headers=admin).status_code == 200


def test_files_have_room_again_when_they_have_been_sent(app: ASGIApp, client: AppClient, admin: Headers) -> None:
    for _ in range(20):
        assert client.get("/api/export", headers=admin).status_code == 200
        assert client.head("/api/export", headers=admin).status_code == 200
        broken = ask(app, "GET", "/api/export", headers=[*admin.items(), ("idempotency-key", "k")])
        assert broken.status_code == 200
