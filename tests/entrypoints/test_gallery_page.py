"""The page of the published gallery: in a folder, and as the service serves it (contract Q2)."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import logoadmin
from logoadmin import CreateTheme
from logoadmin.adapters.commonmark_text import CommonmarkText
from logoadmin.adapters.folder_gallery_files import FolderGalleryFiles
from logoadmin.adapters.jinja_gallery_page import JinjaGalleryPage
from logoadmin.adapters.memory_gallery_files import MemoryGalleryFiles
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.kernel.details import Details
from logoadmin.domain.kernel.errors import StartError
from logoadmin.domain.kernel.use_cases import behind
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.publication_records import Page
from logoadmin.domain.publication.shared_settings import AmendSettings
from logoadmin.entrypoints.http_api.published_files import PAGE_POLICY
from logoadmin.ports.gallery_files import GalleryFiles
from logoadmin.ports.gallery_page import GalleryPage
from logoadmin.settings import settings_of
from tests.asgi import AppClient
from tests.entrypoints.command_line import Run
from tests.gallery import ARTWORK
from tests.services import comes_true

pytestmark = pytest.mark.rule("contract Q2")

FORUM = {"forum": {"name": "The forum", "documents": ['domain("forum.example")'], "logo": ".logo"}}
FILES = {"index.html", "page.css", "page.js"}


@contextmanager
def opened(**given: Any) -> Iterator[LogoAdmin]:
    with open_gallery(settings_of(database="memory:", access="open", **given)) as gallery:
        yield gallery


def data_of(files: GalleryFiles) -> Any:
    (found,) = re.findall(rb'id="gallery">(.*?)</script>', files.read("index.html") or b"")
    return json.loads(found)


def is_served(client: AppClient) -> bool:
    return client.get("/gallery/latest.json").status_code == 200


@pytest.fixture(params=["memory", "folder"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> GalleryFiles:
    return MemoryGalleryFiles() if request.param == "memory" else FolderGalleryFiles(tmp_path / "gallery")


def test_a_publication_has_the_page(files: GalleryFiles) -> None:
    given = {"gallery_title": "Ours", "gallery_home": "https://home.example/?a"}
    with opened(**given, public_url="https://gallery.example") as gallery:
        gallery.settings.amend(AmendSettings(gallery_targets=FORUM))
        gallery.publication.publish(files)
        assert {*files.names()} >= FILES
        assert data_of(files) == {
            "title": "Ours",
            "home": "https://home.example/?a",
            "submit": "https://gallery.example/console/submit",
            "targets": [{"id": "forum", "name": "The forum"}],
            "keys": [*gallery.publication.public_keys()],
        }


def test_changed_files_and_settings_are_published_again(files: GalleryFiles) -> None:
    with opened() as gallery:
        publication = gallery.publication
        page = publication.rules.page
        assert page is not None
        publication.publish(files)
        script = files.read("page.js")
        others = ("artwork.html", "author.html", "checks.html", "feed.xml", "sitemap.xml", "look.css")
        templates = dict.fromkeys(others, "")
        templates["index.html"] = '<script type="application/json" id="gallery"></script>'
        other = JinjaGalleryPage(templates, {"list": {}}, {"page.js": b"// new", "page.css": b""}, CommonmarkText())
        for name, service in {
            "page.js": service_with(gallery, page, other),
            "index.html": service_with(gallery, replace(page, title="New")),
        }.items():
            before = files.read(name)
            assert service.publish(files).changed
            assert files.read(name) != before
        assert files.read("page.js") == script


def service_with(gallery: LogoAdmin, page: Page | None, made_by: GalleryPage | None = None) -> Any:
    """Return the publication service of the same gallery with another page."""
    old = gallery.publication
    rules = replace(old.rules, page=page)
    return type(old)(behind(old), old._clock, old._keys, made_by or old._page, rules, None)


def test_the_page_can_be_switched_off(files: GalleryFiles) -> None:
    with opened() as gallery:
        gallery.publication.publish(files)
        assert service_with(gallery, None).publish(files).changed
        assert not FILES & {*files.names()}
        assert "reader.js" in files.names()


def test_a_page_of_another_program_is_kept(files: GalleryFiles) -> None:
    with opened() as gallery:
        without, page = service_with(gallery, None), b"<title>Mine</title>"
        without.publish(files)
        files.write("index.html", page)
        files.write("page.js", b"mine")
        with pytest.raises(StartError, match=r"holds another index\.html"):
            gallery.publication.publish(files)
        gallery.publication.rotate_key()
        assert without.publish(files).changed
        assert (files.read("index.html"), files.read("page.js")) == (page, b"mine")


@pytest.mark.server("a publisher in a thread")
def test_the_service_serves_the_page() -> None:
    with opened(gallery_title="Ours <3") as gallery:
        client = AppClient(logoadmin.asgi(gallery))
        comes_true(partial(is_served, client))
        page = client.get("/gallery/")
        assert page.status_code == 200
        assert "<title>Ours &lt;3</title>" in page.text
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert page.headers["content-security-policy"] == PAGE_POLICY
        assert page.headers["referrer-policy"] == "no-referrer"
        assert page.headers["x-content-type-options"] == "nosniff"
        assert page.headers["cache-control"] == "public, max-age=300"
        again = client.get("/gallery/index.html", headers={"If-None-Match": page.headers["etag"]})
        assert again.status_code == 304
        for name, kind in {"page.js": "text/javascript", "page.css": "text/css"}.items():
            asset = client.get(f"/gallery/{name}")
            assert asset.headers["content-type"] == f"{kind}; charset=utf-8"
            assert asset.headers["cache-control"] == "public, max-age=300"
        for name, kind in {"checks/": "text/html; charset=utf-8", "feed.xml": "application/atom+xml"}.items():
            other = client.get(f"/gallery/{name}")
            assert (other.status_code, other.headers["content-type"]) == (200, kind)
            assert other.headers["cache-control"] == "public, max-age=300"
            again = client.get(f"/gallery/{name}", headers={"If-None-Match": other.headers["etag"]})
            assert again.status_code == 304
        assert client.get("/gallery/checks/").headers["content-security-policy"] == PAGE_POLICY
        without = client.get("/gallery/checks")
        assert (without.status_code, without.headers["location"]) == (307, "checks/")
        for unknown in ("themes/7", "themes/7/", "themes/..%2findex.html", "themes/"):
            assert client.get(f"/gallery/{unknown}").status_code == 404
        moved = client.get("/gallery")
        assert (moved.status_code, moved.headers["location"]) == (307, "gallery/")
        keys = gallery.publication.rotate_key()
        comes_true(lambda: keys[0]["x"] in client.get("/gallery/").text, 15)


@pytest.mark.rule("contract S1", "contract Q1")
def test_the_service_redirects_from_the_origin_id_of_a_work_to_its_page() -> None:
    with opened() as gallery:
        gallery.themes.create(CreateTheme(**ARTWORK, details=Details(origin="aurora-17")))
        client = AppClient(logoadmin.asgi(gallery))
        comes_true(partial(is_served, client))
        for address in ("/gallery/themes/aurora-17", "/gallery/themes/aurora-17/"):
            moved = client.get(address, follow_redirects=True)
            assert (moved.status_code, 'content="0; url=../../themes/1/"' in moved.text) == (200, True)
        assert ARTWORK["name"] in client.get("/gallery/themes/1/").text
        assert client.get("/gallery/themes/aurora-18/").status_code == 404


@pytest.mark.parametrize("given", [{"gallery_page": False}])
def test_without_the_page_its_path_is_a_404(given: dict[str, Any]) -> None:
    with opened(**given) as gallery:
        client = AppClient(logoadmin.asgi(gallery))
        comes_true(partial(is_served, client))
        for path in ("/gallery/", "/gallery/index.html", "/gallery/page.js", "/gallery"):
            assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("given", "console"),
    [
        ({}, "http://localhost:8000/console/submit"),
        ({"public_url": "https://a.example/x"}, "https://a.example/x/console/submit"),
        ({"root_path": "/x"}, "http://localhost:8000/x/console/submit"),
        ({"gallery_submit": False}, None),
        ({"console": False}, None),
        ({"console": False, "gallery_submit": "https://site.example/submit"}, "https://site.example/submit"),
    ],
)
def test_the_page_links_to_the_console(given: dict[str, Any], console: str | None) -> None:
    files = MemoryGalleryFiles()
    with opened(**given) as gallery:
        gallery.publication.publish(files)
    assert data_of(files)["submit"] == console


@pytest.mark.usefixtures("initialised")
def test_a_folder_for_another_site_does_not_link_to_this_machine(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    files = FolderGalleryFiles(Path("gallery"))
    assert run("publish", "gallery").code == 0
    assert data_of(files)["submit"] is None
    monkeypatch.setenv("LOGOADMIN_PUBLIC_URL", "https://a.example")
    assert run("publish", "gallery").code == 0
    assert data_of(files)["submit"] == "https://a.example/console/submit"
    assert run("publish", "gallery").code == 3


def test_an_embedding_program_sets_the_page() -> None:
    with logoadmin.connect(gallery_page=False) as gallery:
        assert gallery.publication.rules.page is None
    with logoadmin.connect(gallery_title="Ours") as gallery:
        page = gallery.publication.rules.page
        assert page is not None
        assert page.title == "Ours"
