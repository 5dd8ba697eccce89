"""The shell: sessions, views, keys, search and the first run (contract J1 to J5)."""

import json
import re
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect

from tests.console.driver import Person, looking
from tests.console.service import PAINTER, Served, served
from tests.gallery import ADMIN_PASSWORD

pytestmark = pytest.mark.slow("a browser")


@pytest.mark.rule("contract J1", "contract J3")
def test_the_requested_view_opens_after_signing_in_reload_back_and_in_a_new_tab(console: Person, page: Page) -> None:
    console.open("logos?q=logo+1")
    console.enter("admin", "wrong")
    expect(page.get_by_role("alert")).to_have_text("The name or the password is wrong.")
    page.get_by_label("Password").fill(ADMIN_PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.locator(".card")).to_have_count(11)
    expect(page.get_by_role("searchbox")).to_have_value("logo 1")
    page.get_by_role("link", name="Authors").click()
    expect(page.locator("h1")).to_have_text("Authors")
    expect(page.locator("h1")).to_be_focused()
    page.go_back()
    expect(page.locator("h1")).to_have_text("Logos")
    expect(page.locator(".card")).to_have_count(11)
    page.reload()
    expect(page.locator(".card")).to_have_count(11)
    other = console.another_tab()
    console.open("authors/2", other)
    expect(other.locator("h1")).to_have_text("Ben")
    # An unknown address breaks no view.
    for path, words in {
        "logos/2147483647": "There is nothing with this number",
        "logos/2147483648": "This view does not exist",
        "users?order=__proto__": "painter",
    }.items():
        console.open(path)
        expect(page.locator("#work")).to_contain_text(words)


@pytest.mark.rule("contract J2", "contract C3")
def test_four_tabs_stay_signed_in(console: Person) -> None:
    console.sign_in("logos")
    with console.page.expect_popup() as opened:
        console.page.evaluate("window.open(location.href)")  # which copies sessionStorage, unlike a link
    tabs = [console.page, opened.value, console.another_tab(), console.another_tab()]
    for tab in tabs[2:]:
        console.open("logos", tab)
        expect(tab.locator(".sidebar")).to_be_visible()
    for _ in range(3):
        with ExitStack() as loaded:
            for tab in tabs:
                loaded.enter_context(tab.expect_event("load"))
            for tab in tabs:
                tab.evaluate("setTimeout(() => location.reload(), 50)")
        for tab in tabs:
            expect(tab.locator(".sidebar")).to_be_visible()
            expect(tab.locator(".card").first).to_be_visible()


# A tab that does nothing else until its request has a response.
_BUSY = """setTimeout(() => {
  const request = new XMLHttpRequest();
  request.open("GET", "/held", false);
  request.send();
})"""
# The storage of a tab, which survives a reload and is copied to a duplicate.
KEPT = "({ ...sessionStorage })"


def _refreshes(console: Person) -> list[str]:
    """Return a list that fills with the refresh tokens that any tab sends."""
    found: list[str] = []

    def note(request: Request) -> None:
        body = request.post_data_json if request.url.endswith("/api/auth/token") else None
        if body and "refresh_token" in body:
            found.append(body["refresh_token"])

    console.page.context.on("request", note)
    return found


@pytest.mark.rule("contract C3", "contract J2")
def test_a_refresh_whose_response_was_lost_is_retried_and_the_session_continues(console: Person, page: Page) -> None:
    console.sign_in("logos")
    refreshes = _refreshes(console)
    kept = page.evaluate(KEPT)["logoadmin.refresh"]
    page.route("**/api/auth/token", lambda route: (route.fetch(), route.abort()))
    page.reload()
    expect(page.get_by_role("status")).to_contain_text("cannot be reached just now")
    page.unroute_all()
    page.reload()
    expect(page.locator(".card").first).to_be_visible()
    page.reload()
    expect(page.locator(".card").first).to_be_visible()
    *lost, last = refreshes
    assert ({*lost}, len(lost) > 1, last != kept) == ({kept}, True, True)


@pytest.mark.rule("contract C3", "contract J2")
@pytest.mark.parametrize("other", ["awake", "busy", "asleep", "gone"])
def test_a_tab_asleep_for_an_hour_uses_the_tokens_of_other_tabs_and_sends_no_used_one(
    console: Person, page: Page, other: str
) -> None:
    console.sign_in("logos")
    asleep = console.another_tab()
    console.open("logos", asleep)
    expect(asleep.locator(".card").first).to_be_visible()
    old = asleep.evaluate(KEPT)
    asleep.goto("about:blank")
    console.service.clock.pass_by(3600)
    page.get_by_role("link", name="People", exact=True).click()
    expect(page.get_by_role("link", name=PAINTER[0])).to_be_visible()
    new = page.evaluate(KEPT)
    refreshes = _refreshes(console)
    asleep.add_init_script(f"Object.assign(sessionStorage, {json.dumps(old)})")
    held: list[Route] = []
    if other == "busy":
        page.route("**/held", lambda route: held.append(route))
        page.evaluate(_BUSY)
    elif other == "asleep":
        page.goto("about:blank")
    elif other == "gone":
        page.close()
    console.open("logos", asleep)
    if other != "awake":
        expect(asleep.locator(".sign-in")).to_be_visible()
    if other == "busy":
        held[0].fulfill()
    elif other == "asleep":
        page.go_back()
    if other != "gone":
        expect(asleep.locator(".card").first).to_be_visible()
        assert asleep.evaluate(KEPT) == page.evaluate(KEPT)
    assert old["logoadmin.refresh"] not in refreshes
    assert set(refreshes) <= {new["logoadmin.refresh"]}


@pytest.mark.rule("contract J2")
def test_tokens_are_only_in_memory_and_in_the_session_storage_of_the_tab(console: Person, page: Page) -> None:
    console.sign_in("logos")
    assert page.evaluate("Object.keys(sessionStorage).sort()") == ["logoadmin.refresh", "logoadmin.stamp"]
    assert page.evaluate("localStorage['logoadmin.newest'] === sessionStorage['logoadmin.stamp']")
    shared = page.evaluate("JSON.stringify(localStorage)")
    assert page.evaluate("sessionStorage['logoadmin.refresh']") not in shared
    assert "eyJ" not in shared  # as every access token begins
    assert page.evaluate("document.cookie") == ""
    console.sign_out()
    expect(page.locator(".sign-in")).to_be_visible()
    assert page.evaluate("Object.keys(sessionStorage)") == []
    assert page.evaluate("localStorage['logoadmin.newest']") is None


@pytest.mark.rule("contract J4")
def test_an_expired_session_asks_for_the_password_in_place_and_continues(console: Person, page: Page) -> None:
    console.sign_in("authors/2")
    page.get_by_label("Name").fill("Benjamin")
    console.service.clock.pass_by(100 * 86_400)
    page.keyboard.press("Control+s")
    dialog = page.get_by_role("dialog", name="Please sign in again")
    expect(dialog.get_by_label("Password")).to_be_focused()
    page.keyboard.type(ADMIN_PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Benjamin")
    expect(dialog).to_be_hidden()


@pytest.mark.rule("contract J4", "contract J5")
def test_the_console_works_in_russian_on_a_phone_with_controls_in_reach_of_the_thumb(
    chromium: Browser, service: Served
) -> None:
    phone = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "color_scheme": "dark"}
    with looking(chromium, service, locale="ru-RU", **phone) as russian:
        page, heading = russian.page, russian.page.locator("h1")
        russian.open()
        expect(heading).to_have_text("Вход")
        russian.sign_in()
        expect(heading).to_have_text("Обзор")
        # The bar within reach of the thumb is complete: nothing is cut off or outside the screen.
        for place in page.locator(".sidebar a:visible, .sidebar button:visible").all():
            box = place.evaluate("each => each.getBoundingClientRect().toJSON()")
            assert 0 <= box["left"] < box["right"] <= 320
        more = page.locator(".sidebar-more")
        more.click()
        # All of it is also in view on a low screen.
        assert page.get_by_role("dialog").evaluate("each => each.scrollHeight <= each.clientHeight")
        page.keyboard.press("Escape")
        expect(more).to_be_focused()
        page.keyboard.press("Enter")
        page.get_by_role("dialog").get_by_role("link", name="История").click()
        expect(heading).to_have_text("История")
        expect(heading).to_be_focused()
        expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.rule("contract J2")
def test_views_that_the_user_may_not_see_are_disabled_in_the_sidebar_with_the_reason(console: Person) -> None:
    name, password = PAINTER
    console.sign_in("logos", username=name, password=password)
    sidebar = console.page.locator(".sidebar")
    for title, scope in (("People", "users:read"), ("History", "changes:read")):
        link = sidebar.get_by_role("link", name=title, exact=True)
        expect(link).to_have_attribute("aria-disabled", "true")
        expect(link).to_have_accessible_description(re.compile(scope))
        link.click(force=True)
        expect(console.page.locator("h1")).to_have_text("Logos")
    expect(sidebar.get_by_role("link", name="Themes")).not_to_have_attribute("aria-disabled", "true")


def search(page: Page, text: str) -> None:
    """Open the search and type at once; what matches arrives from the lists, and from the service a little later."""
    page.keyboard.press("Control+k")
    page.keyboard.type(text)
    expect(page.get_by_role("combobox", name="Search everything")).to_have_value(text)


@pytest.mark.rule("contract J4")
def test_a_record_of_any_kind_is_found_by_name_or_number_from_everywhere(console: Person, page: Page) -> None:
    console.sign_in("account")
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


@pytest.mark.rule("contract J2", "contract J3")
def test_an_empty_gallery_offers_three_ways_to_start(chromium: Browser) -> None:
    with (
        served(is_filled=False) as service,
        looking(chromium, service, viewport={"width": 390, "height": 800}) as person,
    ):
        page = person.page
        person.sign_in()
        heading = page.get_by_role("heading", level=1)
        expect(heading).to_have_text("Welcome")
        doors = page.locator("#work").get_by_role("link")
        expect(doors.get_by_role("heading")).to_have_text(
            ["Import a file", "Create the first logo", "Invite a colleague"]
        )
        # The first start created an administrator, which is not offered to be undone.
        expect(page.get_by_role("button", name="Undo")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for name, title in (("Create the first logo", "New logo"), ("Invite a colleague", "New user")):
            person.press(doors.filter(has_text=name))
            expect(heading).to_have_text(title)
            page.go_back()
            expect(heading).to_have_text("Welcome")
        person.press(doors.filter(has_text="Import a file"))
        expect(heading).to_have_text("Import and export")
