"""The search over everything: records of all kinds, views and actions, limited to the rights of the user."""

import pytest
from playwright.sync_api import Page, expect

from tests.console.driver import Person
from tests.console.service import PAINTER

pytestmark = pytest.mark.slow("a browser")


def search(page: Page, text: str) -> None:
    """Open the search and type; what matches arrives from the lists at once and from the service a little later."""
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search everything")).to_be_focused()
    page.keyboard.type(text)


@pytest.mark.rule("contract J4")
def test_a_record_of_any_kind_is_found_by_name_or_number_from_everywhere(console: Person) -> None:
    console.sign_in("account")
    page = console.page
    options = page.get_by_role("option")
    for text, title, name in (
        *(("logo 27", "Logos", "Logo 27"), ("#12", "Themes", "Theme 12"), ("ben", "Authors", "Ben")),
        *(("paint", "Users", "painter"), ("painters", "Roles", "painters")),
    ):
        search(page, text)
        expect(page.get_by_role("group", name=title).get_by_role("option").filter(has_text=name).first).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    search(page, "27")
    expect(options.filter(has_text="Logo 27")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Logo 27")
    expect(page.locator("h1")).to_be_focused()
    # Records that were opened come first where nothing is typed; a click in a field of the form does not matter.
    page.get_by_label("Name").click()
    search(page, "")
    expect(page.get_by_role("group", name="Recent").get_by_role("option")).to_have_text(["Logo 27#27"])
    page.keyboard.type("nothing has this name")
    expect(page.get_by_role("dialog")).to_contain_text("No results")
    expect(page.get_by_role("dialog").get_by_role("combobox")).to_have_attribute("aria-expanded", "false")


@pytest.mark.rule("contract J2", "contract J4")
def test_views_and_actions_are_found_and_only_those_that_the_user_may_use(console: Person) -> None:
    name, password = PAINTER
    console.sign_in(username=name, password=password)
    page = console.page
    page.set_viewport_size({"width": 390, "height": 760})
    page.get_by_role("button", name="Search", exact=True).click()
    field = page.get_by_role("combobox")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for text, shown in (
        *(("new", ["New logo"]), ("role", []), ("users", []), ("dark", ["Theme: Dark"])),
        ("keyboard", ["Keyboard shortcuts"]),
    ):
        field.fill(text)
        expect(page.get_by_role("option")).to_have_text(shown)
        expect(page.get_by_role("dialog").get_by_role("status")).to_have_text(
            f"{len(shown)} found" if shown else "No results"
        )
    assert [url for url in asked if "/api/users" in url or "/api/roles" in url] == []
    field.fill("dark")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    search(page, "import")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Import and export")
    search(page, "sign out")
    page.keyboard.press("Enter")
    expect(page.locator(".sign-in")).to_be_visible()
