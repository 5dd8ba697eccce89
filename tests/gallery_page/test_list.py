"""The list of the page that visitors see: chips, order, and what stays in reach, in Chromium (contract Q1, Q2)."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from tests.console.parts import PNG
from tests.console.test_accessible import findings
from tests.gallery_page.conftest import Look
from tests.gallery_page.folder import NOW, Folder, dated, published, served
from tests.reader.publisher import DAY, artwork, author

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract Q1")]

TARGETS: Final = ("forum", "market", "wiki", "a.example", "b.example", "c.example", "d.example")
AUTHORS: Final = (author(1, "Ánn"), author(2, "Bob"))


def theme(number: int, **fields: Any) -> dict[str, Any]:
    return artwork("theme", number, number % 2 + 1, name=f"Theme {number}", **fields)


def themes() -> list[dict[str, Any]]:
    """Return 28 themes: seven for the first target, one for the last; the first three are dark, the first two calm."""
    targets = [target for place, target in enumerate(TARGETS) for _ in range(len(TARGETS) - place)]
    tags = {1: ["calm", "dark"], 2: ["calm", "dark"], 3: ["dark"], 8: ["dark"]}
    found = []
    for number, target in enumerate(targets, 1):
        description = {"description": "Évenings by the fire"} if number == 5 else {}
        details = description | ({"tags": tags[number]} if number in tags else {})
        found.append(theme(number, target=target, **({"details": details} if details else {})))
    return dated(*found)


def serving(root: Path, records: list[dict[str, Any]]) -> AbstractContextManager[Folder]:
    return served(root, published(authors=AUTHORS, logos=(), themes=records))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    with serving(tmp_path, themes()) as found:
        yield found


@pytest.fixture
def page(folder: Folder, look: Look) -> Page:
    opened = look(folder.address)
    expect(opened.locator(".card")).to_have_count(28)
    return opened


def names(page: Page) -> list[str]:
    return page.locator(".card .name").all_text_contents()


def chips(page: Page, group: str) -> list[str]:
    return [
        " ".join(text.split()) for text in page.get_by_role("group", name=group).get_by_role("button").all_inner_texts()
    ]


def test_the_search_in_descriptions_and_tags_ignores_case_and_accents(page: Page) -> None:
    search = page.get_by_role("searchbox")
    search.fill("EVENINGS fire")
    assert names(page) == ["Theme 5"]
    search.fill("calm bob")
    assert names(page) == ["Theme 1"]


def test_the_largest_targets_and_tags_are_chips_with_counts_that_can_be_combined(folder: Folder, page: Page) -> None:
    assert chips(page, "Targets") == [
        *("The forum 7", "market 6", "wiki 5", "a.example 4", "b.example 3"),
        "2 more targets",
    ]
    assert chips(page, "Tags") == ["#dark 4", "#calm 2"]
    page.get_by_role("button", name="#dark").click()
    assert names(page) == ["Theme 1", "Theme 2", "Theme 3", "Theme 8"]
    assert chips(page, "Targets")[:3] == ["The forum 3", "market 1", "wiki 0"]
    page.get_by_role("button", name="The forum").click()
    assert names(page) == ["Theme 1", "Theme 2", "Theme 3"]
    page.get_by_role("button", name="market").click()  # a work has one target: it is for any of those chosen
    assert names(page) == ["Theme 1", "Theme 2", "Theme 3", "Theme 8"]
    calm = page.get_by_role("button", name="#calm")
    calm.click()  # and it has all tags that are chosen
    assert names(page) == ["Theme 1", "Theme 2"]
    expect(calm).to_be_focused()
    expect(calm).to_have_attribute("aria-pressed", "true")
    assert page.url == f"{folder.address}#/?target=forum&target=market&tag=dark&tag=calm"
    page.reload()
    expect(page.locator(".card")).to_have_count(2)
    page.get_by_role("button", name="Clear search and filters").click()
    expect(page.locator(".card")).to_have_count(28)
    assert page.url == f"{folder.address}#/"


def test_other_targets_are_found_in_a_dialog(page: Page) -> None:
    more = page.get_by_role("button", name="2 more targets")
    more.click()
    dialog = page.get_by_role("dialog", name="Targets")
    expect(dialog.get_by_role("searchbox", name="Search targets")).to_be_focused()
    expect(dialog.get_by_role("checkbox")).to_have_count(7)
    assert findings(page) == []
    page.keyboard.type("D.EX")
    box = dialog.get_by_role("checkbox")
    expect(box).to_have_count(1)
    box.check()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert names(page) == ["Theme 28"]
    assert chips(page, "Targets")[0] == "d.example 1"
    expect(page.get_by_role("button", name="1 more target")).to_be_focused()


def test_the_order_is_newest_recently_updated_or_by_name(tmp_path: Path, look: Look) -> None:
    records = dated(theme(10), theme(2), theme(7))
    records[2]["updated_at"] = NOW + 60
    records[1]["updated_at"] = NOW - 3 * DAY
    with serving(tmp_path, records) as folder:
        page = look(folder.address)
        expect(page.locator(".card")).to_have_count(3)
        assert names(page) == ["Theme 10", "Theme 2", "Theme 7"]
        order = page.get_by_role("combobox", name="Order")
        order.select_option("updated")
        assert names(page) == ["Theme 7", "Theme 10", "Theme 2"]
        expect(page.locator(".card .when").first).to_contain_text("Updated")
        order.select_option("name")
        assert names(page) == ["Theme 2", "Theme 7", "Theme 10"]
        page.reload()
        expect(page.locator(".card")).to_have_count(3)
        assert names(page) == ["Theme 2", "Theme 7", "Theme 10"]


def test_after_a_few_hundred_works_a_button_loads_all_and_the_footer_stays_reachable(
    tmp_path: Path, look: Look
) -> None:
    records = dated(*(theme(number) for number in range(1, 501)))
    with serving(tmp_path, records) as folder:
        page = look(folder.address)
        expect(page.locator(".card")).to_have_count(240)
        page.get_by_role("button", name="Show all 500 works").press("Enter")
        expect(page.locator(".card")).to_have_count(500)
        expect(page.locator(":focus")).to_have_text("Theme 241")
        expect(page.get_by_role("button", name="Show all")).to_be_hidden()
        page.locator(".card").nth(400).scroll_into_view_if_needed()
        page.reload()
        expect(page.locator(".card")).to_have_count(500)
        expect(page.locator(".card").nth(400)).to_be_in_viewport()


@pytest.mark.rule("contract Q2")
def test_a_tiny_picture_on_another_host_is_at_most_three_times_its_size(tmp_path: Path, look: Look) -> None:
    records = dated(theme(1, preview_url="pictures/tiny.png"))
    with serving(tmp_path, records) as folder:
        (folder.path / "pictures/tiny.png").write_bytes(PNG)
        page = look(folder.address)
        picture = page.locator(".card img")
        expect(picture).to_have_attribute("width", "3")
        assert picture.evaluate("image => [image.clientWidth, image.clientHeight]") == [3, 3]


@pytest.mark.rule("contract Q2")
@pytest.mark.parametrize(("width", "locale"), [(390, "en-GB"), (320, "ru-RU")])
def test_on_a_phone_works_start_within_480_px_and_the_search_stays_visible(
    folder: Folder, look: Look, width: int, locale: str
) -> None:
    page = look(folder.address, viewport={"width": width, "height": 700}, locale=locale, is_mobile=True, has_touch=True)
    expect(page.locator(".card")).to_have_count(28)
    first = page.locator(".card").first.bounding_box()
    assert first is not None
    assert first["y"] <= 480
    page.evaluate("scrollTo(0, 2000)")
    expect(page.get_by_role("searchbox")).to_be_in_viewport()


@pytest.mark.rule("contract Q2")
def test_visitors_choose_their_language_and_light_or_dark(page: Page) -> None:
    page.get_by_role("combobox", name="Appearance").select_option("dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark == "oklch(0.195 0.013 265)"
    page.get_by_role("button", name="Русский").click()
    expect(page.get_by_role("searchbox", name="Название, автор или метка")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "ru"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("searchbox", name="Search names, authors and tags")).to_be_visible()
