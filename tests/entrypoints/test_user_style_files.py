"""The files with user styles: in a folder, as the service serves them, and after changes and blocks (contract Q3)."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import pytest

import logoadmin
from logoadmin.adapters.folder_gallery_files import FolderGalleryFiles
from logoadmin.adapters.memory_gallery_files import MemoryGalleryFiles
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.changes.history import Revert
from logoadmin.domain.gallery.artworks import AmendLogo, AmendTheme, BlockLogo, CreateLogo, CreateTheme, RemoveTheme
from logoadmin.domain.gallery.authors import AmendAuthor, CreateAuthor
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.files.file_names import MADE
from logoadmin.domain.publication.shared_settings import AmendSettings
from logoadmin.ports.gallery_files import GalleryFiles
from logoadmin.settings import settings_of
from tests.asgi import AppClient
from tests.entrypoints.command_line import Run
from tests.gallery import ARTWORK
from tests.services import comes_true
from tests.style_manager import sections

pytestmark = pytest.mark.rule("contract Q3")

TARGETS: Final = {
    "forum": {"name": "The forum", "documents": ['domain("forum.example")'], "logo": ".logo"},
    "wiki": {"name": "The wiki", "documents": ['domain("wiki.example")']},
}
DECLARATIONS: Final = ARTWORK | {"custom_css": "color: red"}


@pytest.fixture
def gallery() -> Iterator[LogoAdmin]:
    settings = settings_of(database="memory:", access="open", public_url="https://gallery.example")
    with open_gallery(settings) as opened:
        opened.settings.amend(AmendSettings(gallery_targets=TARGETS))
        opened.logos.create(CreateLogo(**DECLARATIONS))
        opened.logos.create(CreateLogo(**DECLARATIONS | {"target": "wiki"}))
        opened.logos.create(CreateLogo(**DECLARATIONS | {"custom_css": "color: red } a { top: 0"}))
        opened.themes.create(CreateTheme(**ARTWORK))
        opened.themes.create(CreateTheme(**ARTWORK | {"target": "wiki"}))
        opened.themes.create(CreateTheme(**ARTWORK | {"target": "market"}))
        opened.themes.create(CreateTheme(**ARTWORK | {"active": False}))
        yield opened


@pytest.fixture(params=["memory", "folder"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> GalleryFiles:
    return MemoryGalleryFiles() if request.param == "memory" else FolderGalleryFiles(tmp_path / "gallery")


def styles(files: GalleryFiles) -> dict[str, bytes]:
    return {name: files.read(name) or b"" for name in files.names() if name.endswith(".user.css")}


def version(content: bytes) -> int:
    (line,) = [line for line in content.decode().splitlines() if line.startswith("@version")]
    return int(line.rpartition(".")[2])


def is_served(client: AppClient) -> bool:
    return client.get("/gallery/latest.json").status_code == 200


def test_a_publication_has_a_style_for_each_artwork_of_a_described_target(
    gallery: LogoAdmin, files: GalleryFiles
) -> None:
    gallery.publication.publish(files)
    found = styles(files)
    # The target of logo 2 has no selector, logo 3 is invalid, and the market is not described.
    assert found.keys() == {"logos/1.user.css", "themes/1.user.css", "themes/2.user.css"}
    assert b'@-moz-document domain("forum.example") {\n.logo {\ncolor: red\n}\n}\n' in found["logos/1.user.css"]
    assert b"@updateURL   https://gallery.example/gallery/themes/2.user.css\n" in found["themes/2.user.css"]
    assert b"@homepageURL https://gallery.example/gallery/themes/2/\n" in found["themes/2.user.css"]


class Counted(MemoryGalleryFiles):
    """Files that record the names of those written."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[str] = []

    def write(self, name: str, content: bytes) -> None:
        super().write(name, content)
        self.written.append(name)

    def styles_written_by(self, gallery: LogoAdmin) -> list[str]:
        """Publish, and return the names of the styles that this writes."""
        self.written.clear()
        gallery.publication.publish(self)
        return sorted(name for name in self.written if name.endswith(".user.css"))


def test_a_change_writes_only_its_own_style_and_raises_its_version(gallery: LogoAdmin) -> None:
    files = Counted()
    author = gallery.authors.create(CreateAuthor(user_id=5, username="Ann")).author_id
    gallery.themes.link(logoadmin.LinkThemeAuthor(theme_id=1, author_id=author))
    gallery.publication.publish(files)
    before = styles(files)
    gallery.logos.create(CreateLogo(**ARTWORK | {"target": "market"}))
    assert files.styles_written_by(gallery) == []
    gallery.themes.amend(AmendTheme(theme_id=1, name="Dusk"))
    assert files.styles_written_by(gallery) == ["themes/1.user.css"]
    renamed = styles(files)
    gallery.authors.amend(AmendAuthor(author_id=author, username="Bob"))
    assert files.styles_written_by(gallery) == ["themes/1.user.css"]
    found = [each["themes/1.user.css"] for each in (before, renamed, styles(files))]
    assert [content.partition(b"@author      ")[2][:3] for content in found] == [b"Ann", b"Ann", b"Bob"]
    assert version(found[0]) < version(found[1]) < version(found[2])
    assert files.styles_written_by(gallery) == files.written == []


def test_a_style_is_removed_with_its_artwork(gallery: LogoAdmin, files: GalleryFiles) -> None:
    gallery.publication.publish(files)
    gallery.themes.remove(RemoveTheme(theme_id=1))
    gallery.themes.amend(AmendTheme(theme_id=2, target="market"))
    gallery.publication.publish(files)
    assert styles(files).keys() == {"logos/1.user.css"}
    gallery.logos.amend(AmendLogo(logo_id=1, custom_css="color: red }"))
    gallery.publication.publish(files)
    assert styles(files) == {}
    gallery.logos.amend(AmendLogo(logo_id=1, custom_css="color: blue"))
    gallery.publication.publish(files)
    assert styles(files).keys() == {"logos/1.user.css"}


def test_a_change_of_the_targets_rewrites_only_the_affected_styles(gallery: LogoAdmin) -> None:
    files = Counted()
    gallery.publication.publish(files)
    before = styles(files)
    wiki = {"name": "Wiki", "documents": ['domain("wiki.example")', 'domain("w.example")'], "logo": "#w"}
    amended = gallery.settings.amend(AmendSettings(gallery_targets=TARGETS | {"wiki": wiki}))
    assert files.styles_written_by(gallery) == ["logos/2.user.css", "themes/2.user.css"]
    assert b'@-moz-document domain("wiki.example"), domain("w.example") {' in files.files["themes/2.user.css"]
    gallery.changes.revert(Revert(change_id=amended.version))
    gallery.publication.publish(files)
    assert styles(files) == before


def test_the_pages_of_a_target_of_many_sites_come_from_the_css(gallery: LogoAdmin) -> None:
    gallery.settings.amend(AmendSettings(gallery_targets={"market": {"name": "All sites", "own": True}}))
    named = '@-moz-document domain("a.example"), domain("b.example") { a { top: 0 } } b { top: 1px }'
    gallery.themes.amend(AmendTheme(theme_id=2, target="market", custom_css=named))
    gallery.logos.amend(AmendLogo(logo_id=1, target="market"))
    files = MemoryGalleryFiles()
    gallery.publication.publish(files)
    # Theme 3 names no pages, and nor does a logo.
    assert styles(files).keys() == {"themes/2.user.css"}
    assert b"3.user.css" not in files.files["themes/3/index.html"]
    pages = (("domain", "a.example"), ("domain", "b.example"))
    assert sections(files.files["themes/2.user.css"].decode()) == [pages, pages]


@pytest.mark.parametrize("content", [b"[]", b"{", b'{"logos/1.user.css": 7}', b"[" * 100_000, b"\xff"])
def test_damaged_state_and_missing_files_are_replaced(gallery: LogoAdmin, content: bytes) -> None:
    files = MemoryGalleryFiles()
    gallery.publication.publish(files)
    before = styles(files)
    files.write(MADE, content)
    files.remove("themes/1.user.css")
    files.write("themes/9.user.css", b"left by a program that was killed")
    gallery.authors.create(CreateAuthor(user_id=5, username="Ann"))
    gallery.publication.publish(files)
    assert styles(files) == before


@pytest.mark.server("a publisher in a thread")
def test_the_service_serves_styles(gallery: LogoAdmin) -> None:
    client = AppClient(logoadmin.asgi(gallery))
    comes_true(partial(is_served, client))
    found = client.get("/gallery/logos/1.user.css")
    assert found.status_code == 200
    assert found.headers["content-type"] == "text/css; charset=utf-8"
    assert found.headers["cache-control"] == "public, max-age=300"
    assert found.headers["x-content-type-options"] == "nosniff"
    unchanged = client.get("/gallery/logos/1.user.css", headers={"If-None-Match": found.headers["etag"]})
    assert unchanged.status_code == 304
    for name in ("logos/3.user.css", "logos/2.user.css", "themes/3.user.css", "themes/4.user.css", "logos/x.user.css"):
        missing = client.get(f"/gallery/{name}")
        assert (missing.status_code, missing.headers["cache-control"]) == (404, "no-store")
    gallery.logos.amend(AmendLogo(logo_id=1, custom_css="color: blue"))
    comes_true(lambda: "color: blue" in client.get("/gallery/logos/1.user.css").text)
    gallery.logos.block(BlockLogo(logo_id=1, reason="no"))
    comes_true(lambda: client.get("/gallery/logos/1.user.css").status_code == 404)
    gallery.themes.remove(RemoveTheme(theme_id=1))
    comes_true(lambda: client.get("/gallery/themes/1.user.css").status_code == 404)


@pytest.mark.usefixtures("initialised")
def test_a_folder_is_updated_from_where_it_is_served(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with logoadmin.connect("sqlite:///logoadmin.db") as gallery:
        gallery.settings.amend(AmendSettings(gallery_targets=TARGETS))
        gallery.themes.create(CreateTheme(**ARTWORK))
    style = Path("gallery/themes/1.user.css")
    assert run("publish", "gallery").code == 0
    assert "URL " not in style.read_text()
    assert run("publish", "gallery", "--url", "https://readers.example/x").code == 0
    assert "@updateURL   https://readers.example/x/themes/1.user.css\n" in style.read_text()
    assert run("publish", "gallery", "--url", "https://readers.example/x/").code == 3
    monkeypatch.setenv("LOGOADMIN_PUBLIC_URL", "https://a.example")
    assert run("publish", "gallery").code == 0
    assert "@updateURL   https://a.example/gallery/themes/1.user.css\n" in style.read_text()
    refused = run("publish", "gallery", "--url", "javascript:alert(1)")
    assert (refused.code, "--url should be the URL" in refused.err) == (2, True)
