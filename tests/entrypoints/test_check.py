"""``logoadmin check``, and pinned imports over HTTP, against a local server (contract L5, L8)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import pytest
from httpx2 import Client
from starlette.requests import Request
from starlette.responses import Response

import logoadmin
from tests.entrypoints.command_line import Run
from tests.gallery import ARTWORK
from tests.services import in_thread

pytestmark = [pytest.mark.server("a host in a thread"), pytest.mark.rule("contract L5")]

DATABASE = "sqlite:///logoadmin.db"
OLD, NEW = "a { color: red }", "a { color: blue }"


@dataclass
class Origin:
    """A local host with style sheets.

    Attributes:
        address: its URL.
        sheets: its sheets by path.
    """

    address: str = ""
    sheets: dict[str, str] = field(default_factory=dict)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        found = self.sheets.get(Request(scope).url.path)
        response = Response(status_code=404) if found is None else Response(found, media_type="text/css")
        await response(scope, receive, send)

    def theme(self, path: str, **values: Any) -> dict[str, Any]:
        return {**ARTWORK, "custom_css": f"@import url({self.address}{path});", **values}


@pytest.fixture
def origin(monkeypatch: pytest.MonkeyPatch) -> Iterator[Origin]:
    """A local host that the settings allow to ask."""
    monkeypatch.setenv("LOGOADMIN_OUTGOING_HOSTS", "127.0.0.1")
    made = Origin(sheets={"/a.css": OLD})
    with in_thread(made) as made.address:
        yield made


@pytest.fixture
def theme(initialised: None, origin: Origin) -> str:
    """Theme 1, which imports a sheet of the local host; return the URL."""
    del initialised
    create(origin, "/a.css")
    return f"{origin.address}/a.css"


def create(origin: Origin, path: str, **values: Any) -> None:
    with logoadmin.connect(DATABASE) as gallery:
        gallery.themes.create(logoadmin.CreateTheme(**origin.theme(path, **values)))


def hash_of(css: str) -> str:
    return sha256(css.encode()).hexdigest()


def pin() -> tuple[str | None, str | None]:
    with logoadmin.connect(DATABASE) as gallery:
        (found,) = gallery.pins.list(logoadmin.GetThemePins(theme_id=1))
        return found.sha256, found.offered


def test_a_changed_origin_is_reported_with_the_record_and_the_difference(run: Run, theme: str, origin: Origin) -> None:
    run("check")
    origin.sheets["/a.css"] = NEW
    for _ in range(2):
        checked = run("check")
        assert (checked.code, checked.err) == (1, "")
        assert checked.out == (
            f"theme 1 Aurora: {theme} has changed\n--- pinned/{hash_of(OLD)}.css\n+++ offered/{hash_of(NEW)}.css\n"
            f"@@ -1,1 +1,1 @@\n-{OLD}\n+{NEW}\n1 import, 1 changed, 0 not asked\n"
        )
        assert pin() == (hash_of(OLD), hash_of(NEW))


def test_an_origin_that_cannot_be_asked_is_another_exit_code(run: Run, theme: str, origin: Origin) -> None:
    create(origin, "/gone.css", name="Boreal\x1b[2J")
    gone = run("check")
    assert (gone.code, gone.out) == (4, "2 imports, 0 changed, 1 not asked\n")
    assert gone.err.startswith(f"theme 2 Boreal\\x1b[2J: {origin.address}/gone.css could not be fetched: 127.0.0.1: ")
    assert gone.err.count("\n") == 1
    origin.sheets["/a.css"] = NEW
    assert run("check").code == 1  # a change counts more
    assert theme


def test_trouble_of_its_own_is_not_reported_as_a_change(run: Run, theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert theme
    missing = run("check", "--database", "sqlite:///missing.db")
    assert (missing.code, missing.out) == (4, "")
    assert missing.err.startswith("logoadmin: File ")
    monkeypatch.setenv("LOGOADMIN_PIN_IMPORTS", "false")
    closed = run("check")
    assert (closed.code, closed.out) == (4, "")
    assert closed.err == "logoadmin: Imports are not fetched: pin_imports is false, or httpx2 is not installed\n"
    assert run("check", "--database", "nonsense").code == 2


@pytest.mark.rule("contract L8")
def test_imports_are_pinned_offered_accepted_and_undone_over_http(origin: Origin) -> None:
    origin.sheets = {"/a.css": "@import 'b.css' print; a { background: url(i.png) }", "/b.css": OLD}
    with logoadmin.connect(access="open", outgoing_hosts=("127.0.0.1",)) as gallery:
        password = gallery.admin_password
        with in_thread(logoadmin.asgi(gallery)) as address, Client(base_url=address) as client:
            token = client.post("/api/auth/token", data={"username": "admin", "password": password}).json()
            client.headers["authorization"] = f"Bearer {token['access_token']}"
            assert client.post("/api/themes", json=origin.theme("/a.css")).status_code == 201
            url = f"{origin.address}/a.css"
            nothing = {"sha256": None, "offered": None, "failure": None, "checked_at": None, "difference": None}
            assert client.get("/api/themes/1/pins").json() == [{"url": url, **nothing}]
            (first,) = client.post("/api/themes/1/pins/check").json()
            text = f"@import '{hash_of(OLD)}.css' print; a {{ background: url({origin.address}/i.png) }}"
            assert (first["sha256"], first["offered"], first["failure"]) == (hash_of(text), None, None)
            origin.sheets["/b.css"] = NEW
            (second,) = client.post("/api/themes/1/pins/check").json()
            assert second == client.get("/api/themes/1/pins").json()[0]
            assert f"-{OLD}\n+{NEW}\n" in second["difference"]
            wrong = {"offered": {url: hash_of("elsewhere")}}
            refused = client.post("/api/themes/1/pins/accept", json=wrong)
            assert (refused.status_code, refused.json()) == (
                409,
                {"detail": f"Something else is offered for the import {url} of theme 1"},
            )
            (third,) = client.post("/api/themes/1/pins/accept", json={"offered": {url: second["offered"]}}).json()
            assert (third["sha256"], third["offered"], third["difference"]) == (second["offered"], None, None)
            assert client.post("/api/themes/1/pins/accept", json={}).status_code == 409
            (change,) = client.get("/api/changes?action=theme.pins_accepted").json()
            assert change["after"]["pins"] == {url: second["offered"]}
            undone = client.post(f"/api/changes/{change['change_id']}/revert").json()
            assert undone["after"]["pins"] == {url: first["sha256"]}
            assert client.get("/api/themes/1/pins").json() == [second]
            verdict = client.get("/api/themes/1/css")
            assert "etag" not in verdict.headers
            assert verdict.json()["hosts"] == [origin.address.removeprefix("http://")]
