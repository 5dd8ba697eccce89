"""The published gallery over HTTP: under any prefix, from any process, and switched off (contract L1)."""

import base64
import hashlib
import json
import re
import threading
import time
from typing import Any, Final

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

import logoadmin
from logoadmin.domain.gallery.artworks import AmendLogo, CreateLogo, CreateTheme
from logoadmin.domain.kernel.access import Policy
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api import publications
from tests.asgi import AppClient
from tests.gallery import ADMIN_PASSWORD, ARTWORK, FrozenClock, WatchedStorage, gallery_on
from tests.origins import Origins
from tests.series import samples
from tests.services import comes_true

pytestmark = pytest.mark.rule("contract L1")

Pointer = dict[str, Any]


@pytest.fixture
def published(gallery: LogoAdmin, monkeypatch: pytest.MonkeyPatch) -> AppClient:
    """A client of a gallery with an active logo; every request finds the latest changes."""
    monkeypatch.setattr(publications, "_INTERVAL", 0.0)
    gallery.logos.create(CreateLogo(**ARTWORK | {"name": "Elk", "active": True}))
    return AppClient(logoadmin.asgi(gallery))


def pointer(client: AppClient, folder: str = "/gallery/") -> Pointer:
    payload: str = client.get(f"{folder}latest.json").raise_for_status().json()["payload"]
    found: Pointer = json.loads(base64.urlsafe_b64decode(payload + "=="))
    return found


def index(client: AppClient, folder: str = "/gallery/") -> dict[str, Any]:
    """Return the index that the pointer names, after checking it."""
    entry = pointer(client, folder)["index"]
    content = client.get(folder + entry["path"]).raise_for_status().content
    assert (len(content), hashlib.sha256(content).hexdigest()) == (entry["size"], entry["sha256"])
    found: dict[str, Any] = json.loads(content)
    return found


def test_a_change_is_published_at_the_next_poll(gallery: LogoAdmin, published: AppClient) -> None:
    before, tag = pointer(published), published.get("/gallery/latest.json").headers["etag"]
    (logo,) = [each for each in index(published)["logos"] if each["name"] == "Elk"]
    gallery.logos.amend(AmendLogo(logo_id=logo["logo_id"], name="Moose"))
    after = published.get("/gallery/latest.json", headers={"If-None-Match": tag})
    assert (after.status_code, after.headers["etag"] != tag) == (200, True)
    assert "Moose" in [each["name"] for each in index(published)["logos"]]
    delta = pointer(published)["deltas"][str(before["version"])]
    assert published.get(f"/gallery/{delta['path']}").json()["logos"]["set"][0]["name"] == "Moose"
    assert published.get(f"/gallery/{before['index']['path']}").status_code == 200


def test_a_poll_of_an_unchanged_gallery_is_a_304(published: AppClient) -> None:
    tag = published.get("/gallery/latest.json").headers["etag"]
    for method in ("GET", "HEAD"):
        unchanged = published.request(method, "/gallery/latest.json", headers={"If-None-Match": tag})
        assert (unchanged.status_code, unchanged.content) == (304, b"")


@pytest.mark.rule("contract H6")
def test_it_is_served_under_any_prefix(gallery: LogoAdmin) -> None:
    app = logoadmin.asgi(gallery)
    mounted = AppClient(Starlette(routes=[Mount("/inside/gallery", app), Mount("/gallery", app)]))
    proxied = AppClient(app, root_path="/gallery")
    for client, folder in (
        (mounted, "/inside/gallery/gallery/"),
        (mounted, "/gallery/gallery/"),
        (proxied, "/gallery/gallery/"),
    ):
        assert index(client, folder).keys() >= {"authors", "logos", "themes"}
        assert client.get(folder.removesuffix("gallery/") + "api/logos").status_code == 200
        assert client.get(folder + "nothing.json").json() == {"detail": "Not Found"}


def test_it_can_be_switched_off(gallery: LogoAdmin) -> None:
    client = AppClient(logoadmin.asgi(gallery, published=False))
    assert client.get("/gallery/latest.json").status_code == 404
    assert client.get("/api/logos").status_code == 200


@pytest.mark.rule("contract A22")
def test_a_foreign_name_is_refused(gallery: LogoAdmin) -> None:
    client = AppClient(logoadmin.asgi(gallery, hosts=["gallery.example"]))
    assert client.get("/gallery/latest.json", headers={"Host": "evil.example"}).status_code == 421
    assert client.get("/gallery/latest.json", headers={"Host": "gallery.example"}).status_code == 200


@pytest.mark.parametrize("access", [Policy.GUARDED])
def test_readers_need_no_token(gallery: LogoAdmin) -> None:
    assert AppClient(logoadmin.asgi(gallery)).get("/gallery/latest.json").status_code == 200


def test_two_processes_publish_the_same_bytes(
    workers: tuple[LogoAdmin, LogoAdmin], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publications, "_INTERVAL", 0.0)
    one, other = (AppClient(logoadmin.asgi(gallery)) for gallery in workers)
    for number in range(3):
        workers[number % 2].logos.create(CreateLogo(**ARTWORK | {"name": f"Elk {number}", "active": True}))
        seen = [client.get("/gallery/latest.json") for client in (one, other, one, other)]
        assert len({(each.content, each.headers["etag"]) for each in seen}) == 1
        named = pointer(one)
        for entry in (named["index"], named["withdrawn"], *named["deltas"].values()):
            assert one.get(f"/gallery/{entry['path']}").content == other.get(f"/gallery/{entry['path']}").content


def test_a_process_serves_every_file_that_another_one_named(
    workers: tuple[LogoAdmin, LogoAdmin], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although it never had those versions: readers may have the other one's pointers for a minute."""
    monkeypatch.setattr(publications, "_INTERVAL", 0.0)
    one, other = (AppClient(logoadmin.asgi(gallery)) for gallery in workers)
    named: dict[str, bytes] = {}
    for number in range(5):
        workers[0].logos.create(CreateLogo(**ARTWORK | {"name": f"Elk {number}", "active": True}))
        found = pointer(one)
        for entry in (found["index"], *found["deltas"].values()):
            named[entry["path"]] = one.get(f"/gallery/{entry['path']}").raise_for_status().content
    assert len(named) == 5 + 4 + 3 + 2 + 1
    assert {name: other.get(f"/gallery/{name}").content for name in named} == named


@pytest.mark.rule("contract K2")
def test_generations_are_counted() -> None:
    with logoadmin.connect(admin_password=ADMIN_PASSWORD) as own:
        client = AppClient(logoadmin.asgi(own))
        before = samples(logoadmin.metrics(own))
        assert before["logoadmin_gallery_generated_timestamp_seconds"] == 0
        for _ in range(3):
            client.get("/gallery/latest.json")
        found = samples(logoadmin.metrics(own))
    assert found['logoadmin_gallery_generations_total{outcome="ok"}'] == 1
    assert found['logoadmin_gallery_generations_total{outcome="failed"}'] == 0
    assert abs(found["logoadmin_gallery_generated_timestamp_seconds"] - time.time()) < 60
    assert found['logoadmin_gallery_left_out{reason="not_fetched"}'] == 0


THEME: Final = {**ARTWORK, "name": "Aurora", "active": True, "custom_css": "@import url(https://styles.example/a.css);"}


@pytest.mark.rule("contract L5")
def test_imports_are_pinned_in_the_background_and_published_at_the_next_poll(
    watched: WatchedStorage, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publications, "_INTERVAL", 0.0)
    may_answer = threading.Event()
    origins = Origins({"https://styles.example/a.css": "a { color: red }"}, before=lambda _: may_answer.wait(30))
    gallery = gallery_on(watched, clock, outgoing=origins)
    for number in range(2):
        css = THEME["custom_css"].replace("a.css", "gone.css") if number else THEME["custom_css"]
        gallery.themes.create(CreateTheme(**THEME | {"name": f"Aurora {number}", "custom_css": css}))
    client = AppClient(logoadmin.asgi(gallery))
    assert index(client)["themes"] == []
    may_answer.set()
    comes_true(lambda: len(index(client)["themes"]) == 1)
    (theme,) = index(client)["themes"]
    ((path,),) = [re.findall(r"css/[0-9a-f]{64}\.css", theme["custom_css"])]
    assert client.get(f"/gallery/{path}").text == "a { color: red }"
    for _ in range(5):
        index(client)
    assert sorted(origins.asked) == ["https://styles.example/a.css", "https://styles.example/gone.css"]
