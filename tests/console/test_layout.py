"""Layout: columns of tables, and single-column pages with a rail."""

import pytest
from playwright.sync_api import expect

from tests.console.driver import Appearance, Person

pytestmark = pytest.mark.slow("a browser")

_EDGES = """(table) => {
  const head = table.querySelector("th:first-child");
  const start = head.getBoundingClientRect().left + parseFloat(getComputedStyle(head).paddingLeft);
  return [start, table.querySelector("td:first-child .picture").getBoundingClientRect().left];
}"""
_WIDTHS = "(table) => [...table.querySelectorAll('th')].map((head) => head.getBoundingClientRect().width)"


@pytest.mark.rule("contract J3")
def test_headers_align_with_their_columns_and_no_column_jumps(console: Person) -> None:
    console.sign_in("logos?look=table")
    console.see(Appearance(1280, "light", "en"))
    console.settle()
    table = console.page.locator(".table")
    head, picture = table.evaluate(_EDGES)
    assert head == pytest.approx(picture, abs=1)
    widths = table.evaluate(_WIDTHS)
    console.page.locator("tbody tr").nth(1).hover()
    console.page.locator("tbody .select").nth(1).check()
    assert table.evaluate(_WIDTHS) == widths
    console.page.mouse.wheel(0, 1200)
    console.settle()
    assert table.evaluate(_WIDTHS) == widths


@pytest.mark.rule("contract J3")
def test_the_rail_links_to_sections_and_marks_the_current_one(console: Person) -> None:
    console.sign_in("account")
    console.see(Appearance(1280, "light", "en"))
    console.settle()
    rail = console.page.get_by_role("navigation", name="On this page")
    column = console.page.locator(".railed-column").bounding_box()
    assert column is not None
    assert column["width"] == 720
    sessions = rail.get_by_role("button", name="Sessions")
    sessions.click()
    expect(sessions).to_have_attribute("aria-current", "location")
    expect(rail.locator("[aria-current]")).to_have_count(1)
    heading = console.page.get_by_role("heading", name="Sessions")
    expect(heading).to_be_focused()
    expect(heading).to_be_in_viewport()
    console.see(Appearance(390, "light", "en"))
    expect(rail).to_be_hidden()


@pytest.mark.rule("contract J8")
def test_a_phone_keeps_its_own_list_layout(console: Person) -> None:
    console.sign_in("logos")
    page = console.page
    page.get_by_role("button", name="Table").click()
    expect(page.locator("table")).to_be_visible()
    console.see(Appearance(390, "light", "en"))
    console.open("logos")
    expect(page.locator(".card").first).to_be_visible()
    console.see(Appearance(1280, "light", "en"))
    console.open("logos")
    expect(page.locator("table")).to_be_visible()


def test_css_without_spaces_makes_no_phone_scroll_sideways(console: Person) -> None:
    page = console.page
    page.route("**/css_code.js", lambda route: route.abort())
    console.sign_in("themes/new")
    console.see(Appearance(320, "light", "en"))
    css = page.get_by_role("textbox", name="CSS")
    expect(css).to_have_js_property("tagName", "TEXTAREA")
    css.fill("a{background:url(" + "x" * 200 + ")}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.rule("contract J5")
def test_a_phone_shows_names_and_order_of_a_table_in_full(console: Person) -> None:
    console.sign_in("themes?look=table")
    console.see(Appearance(320, "light", "en"))
    name = console.page.get_by_role("link", name="Theme 12")
    expect(name).to_be_visible()
    assert name.evaluate("(link) => link.scrollWidth <= link.clientWidth")
    order = console.page.get_by_role("combobox", name="Order").bounding_box()
    assert order is not None
    assert order["width"] >= 120
