"""The pages of works and authors in Chromium (contract Q1)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from logoadmin import CreateAuthor, CreateLogo, CreateTheme, LogoAdmin
from logoadmin.adapters.folder_gallery_files import FolderGalleryFiles
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.gallery.artworks import BlockTheme, LinkLogoAuthor, LinkThemeAuthor
from logoadmin.domain.gallery.picture_commands import SendPicture
from logoadmin.settings import settings_of
from tests.gallery import drawing
from tests.gallery_page.conftest import SCHEMES, WIDTHS, Look, assert_accessible
from tests.gallery_page.folder import STACKED, Folder, becomes

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract Q1")]

CSS: Final = "input:focus { color: red; background: url(https://i.example/a.png) }"
CLIPBOARD: Final = ("clipboard-read", "clipboard-write")
LONG: Final = "a { color: red }\n" * 200
VIEWS: Final = ("themes/1", "themes/2", "themes/3", "themes/4", "logos/1", "authors/1", "authors/2", "checks")
ADDED: Final[dict[str, Any]] = {"preview_url": "https://gone.example/a.png", "active": True}


def stock(gallery: LogoAdmin) -> None:
    for number, name in enumerate(("Ann", "محمد"), 1):
        gallery.authors.create(CreateAuthor(user_id=number, username=name))
    for name, css in (("Dawn", CSS), (f"{STACKED[:60]} שלום", LONG), ("Bad", "a{}")):
        made = gallery.themes.create(CreateTheme(name=name, custom_css=css, target="forum.example", **ADDED))
        for author_id in (1, 2):
            gallery.themes.link(LinkThemeAuthor(theme_id=made.theme_id, author_id=author_id))
    gallery.logos.create(CreateLogo(name="<b>Crown</b>", custom_css="color: red", target="wiki", **ADDED))
    gallery.logos.link(LinkLogoAuthor(logo_id=1, author_id=1))
    gallery.themes.block(BlockTheme(theme_id=3, reason="tracks readers"))
    tiny = gallery.pictures.send(SendPicture(), drawing()).url
    pictured = ADDED | {"preview_url": tiny, "details": {"screenshots": [{"url": tiny}]}}
    gallery.themes.create(CreateTheme(name="Tiny", target="wiki", custom_css="", **pictured))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folder]:
    folder = Folder(tmp_path_factory.mktemp("pages"))
    with open_gallery(settings_of(database="memory:", access="open", gallery_title="The wall")) as gallery:
        stock(gallery)
        published: Path = folder.path / "published"
        gallery.publication.publish(FolderGalleryFiles(published))
    folder.start()
    yield folder
    folder.stop()


@pytest.fixture
def address(folder: Folder) -> str:
    return f"{folder.address}published/"


def test_a_work_its_effects_and_its_instructions_fit_on_one_screen(look: Look, address: str) -> None:
    page = look(f"{address}themes/1/", viewport={"width": 1280, "height": 800}, permissions=CLIPBOARD)
    assert page.title() == "Dawn · The wall"
    expect(page.get_by_role("heading", level=1)).to_have_text("Dawn")
    for seen in ("Install", "Ann"):
        link = page.get_by_role("link", name=seen, exact=True).first
        assert link.evaluate("each => each.getBoundingClientRect().bottom") < 800
    assert page.get_by_role("link", name="Install").evaluate("link => link.href") == f"{address}themes/1.user.css"
    assert page.locator(".effects li").all_inner_texts() == [
        *("Contacts i.example, which learns your IP address", "Styles text fields, and can react to what you type"),
    ]
    expect(page.locator(".work .initials")).to_have_text("D")  # its picture cannot be loaded
    page.get_by_role("button", name="Copy CSS").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == CSS
    page.evaluate("navigator.share = undefined")
    page.get_by_role("button", name="Share").click()
    becomes(page, "navigator.clipboard.readText().then((text) => text === location.href)")
    page.locator(".more .card a").first.click()
    page.get_by_role("link", name="Ann", exact=True).first.click()
    page.wait_for_url(f"{address}authors/1/")
    expect(page.locator(".card")).to_have_count(3)
    page.keyboard.press("Escape")
    page.wait_for_url(address)


def test_long_css_is_fetched_from_its_file_for_copying(look: Look, address: str) -> None:
    page = look(f"{address}themes/2/", permissions=CLIPBOARD)
    page.get_by_role("button", name="Copy CSS").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").strip() == LONG.strip()
    page.locator("summary").click()
    expect(page.locator("pre")).to_contain_text("a { color: red }")


def test_without_a_script_everything_can_be_read(look: Look, address: str) -> None:
    page = look(f"{address}themes/1/", java_script_enabled=False)
    text = page.locator("body").inner_text()
    for part in ("Dawn", "Ann", "Install", "Styles text fields", "How to use it", "Show the CSS", "More by the same"):
        assert part in text
    expect(page.get_by_role("button")).to_have_count(0)
    page.locator("summary").click()
    expect(page.locator("pre")).to_have_text(CSS)


def test_the_language_defaults_to_that_of_the_browser(look: Look, address: str) -> None:
    page = look(f"{address}themes/1/", locale="ru-RU")
    expect(page.get_by_role("link", name="Установить")).to_be_visible()
    assert page.locator("time").first.inner_text().split()[1].isalpha()
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("link", name="Install")).to_be_visible()
    page.goto(f"{address}authors/1/")
    expect(page.locator(".kicker")).to_have_text("Author")
    page.goto(address)
    assert page.evaluate("document.documentElement.lang") == "en"


def test_visited_pages_are_readable_offline(look: Look, folder: Folder, address: str) -> None:
    page = look(f"{address}themes/1/")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    for path in ("themes/1", "authors/1"):
        page.goto(f"{folder.address}published/{path}/")
    folder.stop()
    try:
        page.reload()
        expect(page.get_by_role("heading", level=1)).to_have_text("Ann")
        page.go_back()
        page.reload()
        expect(page.get_by_role("heading", level=1)).to_have_text("Dawn")
        page.get_by_role("button", name="Preview").click()
        expect(page.get_by_text("The preview did not load")).to_be_visible()
    finally:
        folder.start()


@pytest.mark.parametrize("options", SCHEMES)
def test_axe_finds_nothing_and_nothing_scrolls_sideways_at_320_px(
    look: Look, address: str, options: dict[str, str]
) -> None:
    for locale, width in WIDTHS.items():
        page = look(f"{address}checks/", locale=locale, viewport={"width": width, "height": 800}, **options)
        for path in VIEWS:
            page.goto(f"{address}{path}/")
            becomes(page, f"document.documentElement.lang === '{locale[:2]}'")
            assert_accessible(page, width)


def test_names_change_no_text_direction_and_markup_is_escaped(look: Look, address: str) -> None:
    page = look(f"{address}logos/1/")
    expect(page.get_by_role("heading", level=1)).to_have_text("<b>Crown</b>")
    page.goto(f"{address}themes/1/")
    sides = page.locator(".by bdi").evaluate_all(
        "([a, b]) => [a, b].map((each) => each.getBoundingClientRect().toJSON())"
    )
    assert sides[0]["right"] <= sides[1]["left"]
