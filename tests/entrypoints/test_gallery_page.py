"""The page and the user styles of the published gallery: as files, and as the service serves them (contract Q2, Q3)."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

import logoadmin
from logoadmin.adapters.folder_gallery_files import FolderGalleryFiles
from logoadmin.domain.changes.history import Revert
from logoadmin.domain.gallery.artworks import AmendLogo, AmendTheme, BlockLogo, CreateLogo, CreateTheme, RemoveTheme
from logoadmin.domain.gallery.authors import AmendAuthor, CreateAuthor
from logoadmin.domain.kernel.errors import StartError
from logoadmin.domain.kernel.use_cases import behind
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.files.file_names import MADE
from logoadmin.domain.publication.shared_settings import AmendSettings
from logoadmin.ports.gallery_files import GalleryFiles
from tests.entrypoints.conftest import Run, assert_one_line
from tests.entrypoints.test_published import served
from tests.gallery import ARTWORK
from tests.published_files import RecordedFiles, opened
from tests.services import comes_true
from tests.user_styles import sections

pytestmark = pytest.mark.rule("contract Q2", "contract Q3")

FORUM: Final = {"forum": {"name": "The forum", "documents": ['domain("forum.example")'], "logo": ".logo"}}
FILES = {"index.html", "page.css", "page.js"}
STYLES: Final = ".user.css"


@pytest.fixture
def files() -> RecordedFiles:
    return RecordedFiles()


def data_of(files: GalleryFiles) -> Any:
    (found,) = re.findall(rb'id="gallery">(.*?)</script>', files.read("index.html") or b"")
    return json.loads(found)


@pytest.mark.rule("contract J8")
def test_a_publication_has_the_page(files: RecordedFiles) -> None:
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
        for title, home in (("Others", ""), (None, None)):  # of administrators, instead of those of the operator
            gallery.settings.amend(AmendSettings(gallery_title=title, gallery_home=home))
            gallery.publication.publish(files)
            name = title or "Ours"
            expected = (name, given["gallery_home"] if home is None else None)
            assert (data_of(files)["title"], data_of(files)["home"]) == expected
            assert f"<title>{name}</title>" in files.text("index.html")


def without_page(gallery: LogoAdmin) -> Any:
    """Return the publication service of the same gallery without the page."""
    old = gallery.publication
    return type(old)(behind(old), old._keys, old._page, replace(old.rules, page=None), None)


def test_the_page_can_be_switched_off(files: RecordedFiles) -> None:
    with opened() as gallery:
        gallery.publication.publish(files)
        assert without_page(gallery).publish(files).changed
        assert not FILES & {*files.names()}
        assert not [name for name in files.names() if name.startswith("page")]
        assert "reader.js" in files.names()


def test_a_page_of_another_program_is_kept(files: RecordedFiles) -> None:
    with opened() as gallery:
        without, page = without_page(gallery), b"<title>Mine</title>"
        without.publish(files)
        files.write("index.html", page)
        files.write("page.js", b"mine")
        with pytest.raises(StartError, match=r"holds another index\.html"):
            gallery.publication.publish(files)
        gallery.publication.rotate_key()
        assert without.publish(files).changed
        assert (files.read("index.html"), files.read("page.js")) == (page, b"mine")


@pytest.mark.rule("contract Q1")
@pytest.mark.server("a publisher in a thread")
def test_the_service_serves_every_file_that_the_page_keeps_for_offline_use() -> None:
    with opened() as gallery:
        client = served(logoadmin.asgi(gallery))
        kept = re.findall(r'"([\w-]+\.\w+)"', client.get("/gallery/page-offline.js").text)
        assert "page-face-accented.woff2" in kept
        assert {client.get(f"/gallery/{name}").status_code for name in kept} == {200}


@pytest.mark.server("a publisher in a thread")
def test_the_service_serves_the_page() -> None:
    with opened(gallery_title="Ours <3") as gallery:
        client = served(logoadmin.asgi(gallery))
        assert "<title>Ours &lt;3</title>" in client.get("/gallery/").text
        for name in ("", "index.html", "checks/", "page.js", "page.css", "feed.xml"):
            assert client.get(f"/gallery/{name}").status_code == 200, name
        for path, location in {"/gallery": "gallery/", "/gallery/checks": "checks/"}.items():
            moved = client.get(path)
            assert (moved.status_code, moved.headers["location"]) == (307, location)
        keys = gallery.publication.rotate_key()
        comes_true(lambda: keys[0]["x"] in client.get("/gallery/").text, 15)


def test_without_the_page_its_path_is_a_404() -> None:
    with opened(gallery_page=False) as gallery:
        client = served(logoadmin.asgi(gallery))
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
def test_the_page_links_to_the_console(given: dict[str, Any], console: str | None, files: RecordedFiles) -> None:
    with opened(**given) as gallery:
        gallery.publication.publish(files)
    assert data_of(files)["submit"] == console


# User styles.

TARGETS: Final = FORUM | {"wiki": {"name": "The wiki", "documents": ['domain("wiki.example")']}}


@pytest.fixture
def gallery() -> Iterator[LogoAdmin]:
    with opened(public_url="https://gallery.example") as gallery:
        gallery.settings.amend(AmendSettings(gallery_targets=TARGETS))
        logos: list[dict[str, Any]] = [{}, {"target": "wiki"}, {"custom_css": "color: red } a { top: 0"}]
        themes: list[dict[str, Any]] = [{}, {"target": "wiki"}, {"target": "market"}, {"active": False}]
        for values in logos:
            gallery.logos.create(CreateLogo(**ARTWORK | {"custom_css": "color: red"} | values))
        for values in themes:
            gallery.themes.create(CreateTheme(**ARTWORK | values))
        yield gallery


def version(content: bytes) -> int:
    (line,) = [line for line in content.decode().splitlines() if line.startswith("@version")]
    return int(line.rpartition(".")[2])


def test_each_artwork_of_a_described_target_has_a_style(gallery: LogoAdmin, files: RecordedFiles) -> None:
    gallery.publication.publish(files)
    found = files.ending_in(STYLES)
    # The target of logo 2 has no selector, logo 3 is invalid, and the market is not described.
    assert found.keys() == {"logos/1.user.css", "themes/1.user.css", "themes/2.user.css"}
    assert b'@-moz-document domain("forum.example") {\n.logo {\ncolor: red\n}\n}\n' in found["logos/1.user.css"]
    assert b"@updateURL   https://gallery.example/gallery/themes/2.user.css\n" in found["themes/2.user.css"]
    assert b"@homepageURL https://gallery.example/gallery/themes/2/\n" in found["themes/2.user.css"]


def test_a_change_writes_only_its_own_style_and_raises_its_version(gallery: LogoAdmin, files: RecordedFiles) -> None:
    author = gallery.authors.create(CreateAuthor(user_id=5, username="Ann")).author_id
    gallery.themes.link(logoadmin.LinkThemeAuthor(theme_id=1, author_id=author))
    gallery.publication.publish(files)
    before = files.ending_in(STYLES)
    gallery.logos.create(CreateLogo(**ARTWORK | {"target": "market"}))
    assert files.written_by(gallery, STYLES) == set()
    gallery.themes.amend(AmendTheme(theme_id=1, name="Dusk"))
    assert files.written_by(gallery, STYLES) == {"themes/1.user.css"}
    renamed = files.ending_in(STYLES)
    gallery.authors.amend(AmendAuthor(author_id=author, username="Bob"))
    assert files.written_by(gallery, STYLES) == {"themes/1.user.css"}
    found = [each["themes/1.user.css"] for each in (before, renamed, files.ending_in(STYLES))]
    assert [content.partition(b"@author      ")[2][:3] for content in found] == [b"Ann", b"Ann", b"Bob"]
    assert version(found[0]) < version(found[1]) < version(found[2])
    assert (files.written_by(gallery, STYLES), files.written) == (set(), [])


def test_a_style_is_removed_with_its_artwork(gallery: LogoAdmin, files: RecordedFiles) -> None:
    gallery.publication.publish(files)
    gallery.themes.remove(RemoveTheme(theme_id=1))
    gallery.themes.amend(AmendTheme(theme_id=2, target="market"))
    gallery.publication.publish(files)
    assert files.ending_in(STYLES).keys() == {"logos/1.user.css"}
    gallery.logos.amend(AmendLogo(logo_id=1, custom_css="color: red }"))
    gallery.publication.publish(files)
    assert files.ending_in(STYLES) == {}
    gallery.logos.amend(AmendLogo(logo_id=1, custom_css="color: blue"))
    gallery.publication.publish(files)
    assert files.ending_in(STYLES).keys() == {"logos/1.user.css"}


def test_a_change_of_the_targets_rewrites_only_the_affected_styles(gallery: LogoAdmin, files: RecordedFiles) -> None:
    gallery.publication.publish(files)
    before = files.ending_in(STYLES)
    wiki = {"name": "Wiki", "documents": ['domain("wiki.example")', 'domain("w.example")'], "logo": "#w"}
    amended = gallery.settings.amend(AmendSettings(gallery_targets=TARGETS | {"wiki": wiki}))
    assert files.written_by(gallery, STYLES) == {"logos/2.user.css", "themes/2.user.css"}
    assert b'@-moz-document domain("wiki.example"), domain("w.example") {' in files.files["themes/2.user.css"]
    gallery.changes.revert(Revert(change_id=amended.version))
    gallery.publication.publish(files)
    assert files.ending_in(STYLES) == before


def test_the_pages_of_a_target_of_many_sites_come_from_the_css(gallery: LogoAdmin, files: RecordedFiles) -> None:
    gallery.settings.amend(AmendSettings(gallery_targets={"market": {"name": "All sites", "own": True}}))
    named = '@-moz-document domain("a.example"), domain("b.example") { a { top: 0 } } b { top: 1px }'
    gallery.themes.amend(AmendTheme(theme_id=2, target="market", custom_css=named))
    gallery.logos.amend(AmendLogo(logo_id=1, target="market"))
    gallery.publication.publish(files)
    # Theme 3 names no pages, and nor does a logo.
    assert files.ending_in(STYLES).keys() == {"themes/2.user.css"}
    assert b"3.user.css" not in files.files["themes/3/index.html"]
    pages = (("domain", "a.example"), ("domain", "b.example"))
    assert sections(files.files["themes/2.user.css"].decode()) == [pages, pages]


@pytest.mark.parametrize("content", [b"[]", b"{", b'{"logos/1.user.css": 7}', b"[" * 100_000, b"\xff"])
def test_damaged_state_and_missing_files_are_replaced(gallery: LogoAdmin, content: bytes, files: RecordedFiles) -> None:
    gallery.publication.publish(files)
    before = files.ending_in(STYLES)
    files.write(MADE, content)
    files.remove("themes/1.user.css")
    files.write("themes/9.user.css", b"left by a program that was killed")
    gallery.authors.create(CreateAuthor(user_id=5, username="Ann"))
    gallery.publication.publish(files)
    assert files.ending_in(STYLES) == before


@pytest.mark.server("a publisher in a thread")
def test_the_service_serves_styles(gallery: LogoAdmin) -> None:
    client = served(logoadmin.asgi(gallery))
    assert client.get("/gallery/logos/1.user.css").status_code == 200
    gallery.logos.amend(AmendLogo(logo_id=1, custom_css="color: blue"))
    comes_true(lambda: "color: blue" in client.get("/gallery/logos/1.user.css").text)
    gallery.logos.block(BlockLogo(logo_id=1, reason="no"))
    comes_true(lambda: client.get("/gallery/logos/1.user.css").status_code == 404)
    gallery.themes.remove(RemoveTheme(theme_id=1))
    comes_true(lambda: client.get("/gallery/themes/1.user.css").status_code == 404)


@pytest.mark.usefixtures("initialised")
def test_a_folder_links_to_where_it_is_served(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with logoadmin.connect("sqlite:///logoadmin.db") as gallery:
        gallery.settings.amend(AmendSettings(gallery_targets=TARGETS))
        gallery.themes.create(CreateTheme(**ARTWORK))
    files, style = FolderGalleryFiles(Path("gallery")), Path("gallery/themes/1.user.css")
    assert run("publish", "gallery").code == 0
    assert "URL " not in style.read_text()
    assert data_of(files)["submit"] is None
    assert run("publish", "gallery", "--url", "https://readers.example/x").code == 0
    assert "@updateURL   https://readers.example/x/themes/1.user.css\n" in style.read_text()
    assert run("publish", "gallery", "--url", "https://readers.example/x/").code == 3
    monkeypatch.setenv("LOGOADMIN_PUBLIC_URL", "https://a.example")
    assert [run("publish", "gallery").code for _ in range(2)] == [0, 3]
    assert "@updateURL   https://a.example/gallery/themes/1.user.css\n" in style.read_text()
    assert data_of(files)["submit"] == "https://a.example/console/submit"
    assert_one_line(run("publish", "gallery", "--url", "javascript:alert(1)"), 2, "--url should be the URL")
