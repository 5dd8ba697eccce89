"""A record beside its list: opened, followed, edited and closed there, without the list being left."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from logoadmin.domain.gallery import artworks
from tests.console.driver import Appearance, Person

pytestmark = pytest.mark.slow("a browser")


@pytest.fixture
def console(console: Person) -> Person:
    """There is room for a record beside its list."""
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
def test_a_click_on_a_row_opens_the_record_beside_the_list_which_shows_the_saved_values(console: Person) -> None:
    console.sign_in("logos?look=table&order=oldest&q=logo+1")
    page = console.page
    _open(page, "Logo 11")
    expect(_heading(page)).to_have_text("Logo 11")
    expect(_heading(page)).to_be_focused()
    expect(page).to_have_url(re.compile(r"/logos/11\?look=table&order=oldest&q=logo\+1$"))
    expect(page).to_have_title(re.compile("^Logo 11 "))
    expect(page.locator("tr[aria-current]")).to_contain_text("Logo 11")
    for width, columns in ((2000, 3), (1500, 3), (1280, 2)):
        console.see(Appearance(width, "light", "en"))
        expect(page.locator("th:visible")).to_have_count(columns)
        assert page.locator(".table-frame").evaluate("(frame) => frame.scrollWidth <= frame.clientWidth")
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
    expect(page).to_have_title(re.compile("^Logos "))


@pytest.mark.rule("contract J6")
def test_space_shows_a_record_beside_the_list_where_the_arrow_keys_go_on(console: Person) -> None:
    console.sign_in("logos?look=table&order=oldest")
    page, press = console.page, console.page.keyboard.press
    page.get_by_role("link", name="Logo 2", exact=True).focus()
    press("Space")
    expect(_heading(page)).to_have_text("Logo 2")
    expect(page.get_by_role("link", name="Logo 2", exact=True)).to_be_focused()
    press("ArrowDown")
    press("ArrowDown")
    expect(_heading(page)).to_have_text("Logo 4")
    expect(page.get_by_role("link", name="Logo 4", exact=True)).to_be_focused()
    press("x")
    expect(page.locator(".found")).to_have_text("1 selected")
    press("Space")
    expect(_beside(page)).to_have_count(0)
    expect(page.get_by_role("link", name="Logo 4", exact=True)).to_be_focused()
    expect(page.locator(".found")).to_have_text("1 selected")
    # Cards do it as well; however many were shown there, Back closes it.
    console.open("logos?look=grid&order=oldest")
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
def test_input_beside_a_list_is_never_lost_without_a_question(console: Person) -> None:
    console.sign_in("logos?look=table&order=oldest")
    page = console.page
    _open(page, "Logo 3")
    name = _beside(page).get_by_label("Name")
    name.fill("Half done")
    question = page.get_by_role("dialog")

    def stays() -> None:
        expect(question).to_be_visible()
        question.get_by_role("button", name="Keep editing").click()
        expect(question).to_have_count(0)
        expect(name).to_have_value("Half done")

    _open(page, "Logo 4")
    stays()
    _beside(page).get_by_role("button", name="Close", exact=True).click()
    stays()
    _beside(page).get_by_role("button", name="Open the whole page").click()
    stays()
    page.go_back()
    stays()
    page.get_by_role("searchbox").fill("logo")
    expect(name).to_have_value("Half done")
    _open(page, "Logo 4")
    question.get_by_role("button", name="Save").click()
    expect(_heading(page)).to_have_text("Logo 4")
    assert console.service.gallery.logos.get(artworks.GetLogo(logo_id=3)).name == "Half done"


@pytest.mark.rule("contract J6")
def test_a_record_has_a_page_of_its_own_in_a_narrow_window_and_after_a_reload(console: Person) -> None:
    console.sign_in("authors")
    page = console.page
    for way in ("click", "Enter"):
        link = page.get_by_role("link", name="Ben", exact=True)
        link.click() if way == "click" else link.press(way)
        expect(_heading(page)).to_have_text("Ben")
        page.go_back()
        expect(_beside(page)).to_have_count(0)
    _open(page, "Ben")
    _beside(page).get_by_role("button", name="Open the whole page").click()
    expect(page.get_by_role("navigation", name="Breadcrumbs")).to_be_visible()
    expect(_beside(page)).to_have_count(0)
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Authors")
    _open(page, "Ben")
    expect(_heading(page)).to_have_text("Ben")
    page.reload()
    expect(page.get_by_role("navigation", name="Breadcrumbs")).to_be_visible()
    console.see(Appearance(1190, "light", "en"))
    console.open("authors")
    _open(page, "Ben")
    expect(page.get_by_role("navigation", name="Breadcrumbs")).to_be_visible()
    expect(_beside(page)).to_have_count(0)


@pytest.mark.rule("contract J6")
def test_a_record_that_is_removed_beside_its_list_leaves_both(console: Person) -> None:
    console.sign_in("logos?look=table&order=oldest")
    page = console.page
    _open(page, "Logo 3")
    expect(_heading(page)).to_have_text("Logo 3")
    console.act("Remove")
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(_beside(page)).to_have_count(0)
    expect(page.get_by_role("link", name="Logo 2", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Logo 3", exact=True)).to_have_count(0)
