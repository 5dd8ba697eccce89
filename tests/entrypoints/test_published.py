"""The published gallery over HTTP: under any prefix, from any process, and switched off (contract L1)."""

import base64
import hashlib
import json
import logging
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp

import logoadmin
from logoadmin.domain.gallery.artworks import CreateLogo, CreateTheme
from logoadmin.domain.logo_admin import LogoAdmin
from tests.asgi import AppClient
from tests.gallery import ADMIN_PASSWORD, ARTWORK
from tests.series import samples
from tests.services import comes_true

pytestmark = pytest.mark.rule("contract L1")


Pointer = dict[str, Any]


@pytest.fixture
def published(gallery: LogoAdmin) -> AppClient:
    """A client of a gallery with an active logo, as soon as that is published."""
    gallery.logos.create(CreateLogo(**ARTWORK | {"name": "Elk", "active": True}))
    return served(logoadmin.asgi(gallery))


def served(app: ASGIApp, **options: Any) -> AppClient:
    """Return a client of an application, as soon as its gallery is published."""
    client = AppClient(app, **options)
    comes_true(partial(is_published, client))
    return client


def is_published(client: AppClient, folder: str = "/gallery/") -> bool:
    """Return whether there is a pointer."""
    return client.get(f"{folder}latest.json").status_code == 200


def lacks_a_record(gallery: LogoAdmin) -> bool:
    """Return whether the metrics count a record with an import."""
    return samples(logoadmin.metrics(gallery))['logoadmin_gallery_left_out{reason="import"}'] > 0


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


@pytest.mark.rule("contract H6")
def test_the_published_gallery_is_served_under_any_prefix(gallery: LogoAdmin) -> None:
    app = logoadmin.asgi(gallery)
    mounted = AppClient(Starlette(routes=[Mount("/inside/gallery", app), Mount("/gallery", app)]))
    proxied = AppClient(app, root_path="/gallery")
    for client, folder in (
        (mounted, "/inside/gallery/gallery/"),
        (mounted, "/gallery/gallery/"),
        (proxied, "/gallery/gallery/"),
    ):
        comes_true(partial(is_published, client, folder))
        assert index(client, folder).keys() >= {"authors", "logos", "themes"}
        assert client.get(folder.removesuffix("gallery/") + "api/logos").status_code == 200
        assert client.get(folder + "nothing.json").json() == {"detail": "Not Found"}


def test_serving_the_published_gallery_can_be_switched_off(gallery: LogoAdmin) -> None:
    client = AppClient(logoadmin.asgi(gallery, published=False))
    assert client.get("/gallery/latest.json").status_code == 404
    assert client.get("/api/logos").status_code == 200


@pytest.mark.rule("contract K2")
def test_generations_are_counted() -> None:
    with logoadmin.connect(access="open", admin_password=ADMIN_PASSWORD) as own:
        before = samples(logoadmin.metrics(own))
        assert before["logoadmin_gallery_generated_timestamp_seconds"] == 0
        client = served(logoadmin.asgi(own))
        for _ in range(3):
            client.get("/gallery/latest.json")
        comes_true(lambda: samples(logoadmin.metrics(own))["logoadmin_gallery_generated_timestamp_seconds"] > 0)
        found = samples(logoadmin.metrics(own))
    assert found['logoadmin_gallery_generations_total{outcome="ok"}'] == 1
    assert found['logoadmin_gallery_generations_total{outcome="failed"}'] == 0
    assert abs(found["logoadmin_gallery_generated_timestamp_seconds"] - time.time()) < 60
    assert found['logoadmin_gallery_left_out{reason="import"}'] == 0


@pytest.mark.rule("contract K2")
def test_a_folder_of_an_earlier_process_is_counted_with_what_is_missing(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'gallery.db'}"
    theme = {**ARTWORK, "name": "Aurora", "active": True, "custom_css": "@import url(https://127.0.0.1/a.css);"}
    for restarts in range(2):
        with logoadmin.connect(database, access="open", admin_password=ADMIN_PASSWORD) as own:
            if not restarts:
                own.themes.create(CreateTheme(**theme))
            served(logoadmin.asgi(own))
            comes_true(partial(lacks_a_record, own))
            assert samples(logoadmin.metrics(own))["logoadmin_gallery_generated_timestamp_seconds"] > 0
    assert (tmp_path / "gallery.db-gallery" / "latest.json").exists()


def test_a_folder_that_cannot_be_used_is_logged_once_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with logoadmin.connect(access="open", gallery_dir=str(tmp_path / "mine"), admin_password=ADMIN_PASSWORD) as own:
        client = AppClient(logoadmin.asgi(own))
        with caplog.at_level(logging.ERROR):
            assert client.get("/gallery/latest.json").status_code == 503
            failed = 'logoadmin_gallery_generations_total{outcome="failed"}'
            comes_true(lambda: samples(logoadmin.metrics(own))[failed] > 1)
        (record,) = [each for each in caplog.records if each.name == "logoadmin.http"]
        said = (
            f"The gallery cannot be published into {tmp_path / 'mine'}: The folder holds other files, such as notes.txt"
        )
        assert record.getMessage().startswith(said)
