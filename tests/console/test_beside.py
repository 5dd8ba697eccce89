"""Records next to their lists, and navigation between them (contract J4, J6)."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from logoadmin.domain.gallery.artworks import GetLogo, LinkLogoAuthor, ListLogos
from tests.console.driver import Person

pytestmark = pytest.mark.slow("a browser")


@pytest.fixture
def wide(console: Person) -> Person:
    """A window with room for a record beside its list."""
    console.page.set_viewport_size({"width": 1280, "height": 800})
    return console


def _beside(page: Page) -> Locator:
    return page.locator(".sheet")


def _heading(page: Page) -> Locator:
    return _beside(page).get_by_role("heading", level=1)


def _open(page: Page, name: str) -> None:
    """Click on the row of a record."""
    page.locator("tbody tr").filter(has=page.get_by_role("link", name=name, exact=True)).locator("td").nth(1).click()


@pytest.mark.rule("contract J6")
def test_a_click_on_a_row_opens_the_record_next_to_the_list_which_shows_saved_values(wide: Person) -> None:
    wide.sign_in("logos?look=table&order=oldest&q=logo+1")
    page = wide.page
    _open(page, "Logo 11")
    expect(_heading(page)).to_have_text("Logo 11")
    expect(_heading(page)).to_be_focused()
    expect(page).to_have_url(re.compile(r"/logos/11\?look=table&order=oldest&q=logo\+1$"))
    expect(page.locator("tr[aria-current]")).to_contain_text("Logo 11")
    _beside(page).get_by_label("Name").fill("Logo 1 again")
    page.keyboard.press("Control+s")
    expect(page.locator("tbody").get_by_role("link", name="Logo 1 again")).to_be_visible()
    # The choices of the list, made meanwhile, stay when the record is closed.
    page.get_by_role("searchbox").fill("logo 1 a")
    expect(page.locator("tbody .cell-link")).to_have_count(1)
    _heading(page).focus()
    page.keyboard.press("Escape")
    expect(_beside(page)).to_have_count(0)
    expect(page.get_by_role("link", name="Logo 1 again")).to_be_focused()
    expect(page).to_have_url(re.compile(r"/logos\?look=table&order=oldest&q=logo\+1\+a$"))


@pytest.mark.rule("contract J6")
def test_space_opens_a_record_next_to_the_list_and_arrow_keys_move_on(wide: Person) -> None:
    wide.sign_in("logos?look=table&order=oldest")
    page, press = wide.page, wide.page.keyboard.press
    page.get_by_role("link", name="Logo 2", exact=True).focus()
    press("Space")
    expect(_heading(page)).to_have_text("Logo 2")
    expect(page.get_by_role("link", name="Logo 2", exact=True)).to_be_focused()
    press("ArrowDown")
    press("ArrowDown")
    expect(_heading(page)).to_have_text("Logo 4")
    expect(page.get_by_role("link", name="Logo 4", exact=True)).to_be_focused()
    press("Space")
    expect(_beside(page)).to_have_count(0)
    expect(page.get_by_role("link", name="Logo 4", exact=True)).to_be_focused()
    # Cards do so as well; after any number of records, Back closes it.
    wide.open("logos?look=grid&order=oldest")
    page.get_by_role("link", name="Logo 1", exact=True).focus()
    press("Space")
    expect(_heading(page)).to_have_text("Logo 1")
    press("ArrowRight")
    expect(_heading(page)).to_have_text("Logo 2")
    press("j")
    expect(_heading(page)).to_have_text("Logo 3")
    page.go_back()
    expect(_beside(page)).to_have_count(0)
    expect(page).to_have_url(re.compile(r"/logos\?look=grid&order=oldest$"))
    page.go_forward()
    expect(_heading(page)).to_have_text("Logo 3")


@pytest.mark.rule("contract J6", "contract J4")
def test_unsaved_input_next_to_a_list_is_never_lost_without_confirmation(wide: Person) -> None:
    wide.sign_in("logos?look=table&order=oldest")
    page = wide.page
    _open(page, "Logo 3")
    name = _beside(page).get_by_label("Name")
    name.fill("Half done")
    question = page.get_by_role("dialog")

    for leave in (
        lambda: _open(page, "Logo 4"),
        _beside(page).get_by_role("button", name="Close", exact=True).click,
        _beside(page).get_by_role("button", name="Open the whole page").click,
        page.go_back,
    ):
        leave()
        expect(question).to_be_visible()
        question.get_by_role("button", name="Keep editing").click()
        expect(question).to_have_count(0)
        expect(name).to_have_value("Half done")
    _open(page, "Logo 4")
    question.get_by_role("button", name="Save").click()
    expect(_heading(page)).to_have_text("Logo 4")
    assert wide.service.gallery.logos.get(GetLogo(logo_id=3)).name == "Half done"


@pytest.mark.rule("contract J6")
def test_a_record_links_to_the_next_and_the_previous_one_of_its_list(console: Person, page: Page) -> None:
    console.sign_in("logos?q=logo+3&order=name")
    page.get_by_role("link", name="Logo 30", exact=True).click()
    heading, place = page.locator("h1"), page.locator(".neighbours")
    expect(heading).to_have_text("Logo 30")
    expect(place).to_contain_text("2 of 11")
    page.keyboard.press("j")
    expect(heading).to_have_text("Logo 31")
    expect(heading).to_be_focused()
    page.get_by_role("button", name="Previous").click()
    expect(heading).to_have_text("Logo 30")
    expect(place).to_contain_text("2 of 11")
    page.keyboard.press("k")
    expect(heading).to_have_text("Logo 3")
    first = page.get_by_role("button", name="This is the first one")
    expect(first).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("k")
    # Typed letters are not shortcuts.
    page.get_by_label("Name", exact=True).press("j")
    expect(heading).to_have_text("Logo 3")
    page.keyboard.press("Backspace")
    way = page.get_by_role("navigation", name="Breadcrumbs")
    expect(way.locator("[aria-current=page]")).to_have_text("Logo 3")
    way.get_by_role("link", name="Logos").click()
    expect(page).to_have_url(re.compile(r"/logos\?q=logo\+3&order=name$"))


@pytest.mark.rule("contract J6")
def test_a_copy_starts_unsaved_with_the_authors_and_is_marked(console: Person) -> None:
    console.sign_in("logos/3")
    page, gallery = console.page, console.service.gallery
    gallery.logos.link(LinkLogoAuthor(logo_id=3, author_id=1))
    page.reload()
    expect(page.locator(".author-chosen")).to_have_count(2)
    page.keyboard.press("d")
    expect(page.locator("h1")).to_have_text("New logo")
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Logo 3 (copy)")
    expect(page.locator("input[name=target]")).to_have_value("market")
    expect(page.locator(".author-chosen")).to_have_count(2)
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Themes").click()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text("Themes")
    (copy,) = gallery.logos.list(ListLogos(q="Logo 3 (copy)"))
    original = gallery.logos.get(GetLogo(logo_id=3))
    assert (copy.authors, copy.custom_css, copy.target) == (original.authors, original.custom_css, original.target)
