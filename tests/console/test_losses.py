"""Unsaved input is not lost by another click, another tab or an outage."""

import pytest
from playwright.sync_api import APIResponse, Route, expect

from logoadmin.domain.gallery.artworks import GetLogo
from tests.console.driver import Person
from tests.console.service import PAINTER
from tests.gallery import ADMIN_PASSWORD

pytestmark = pytest.mark.slow("a browser")


@pytest.mark.rule("contract J4")
def test_signing_out_in_this_or_another_tab_loses_no_input(console: Person) -> None:
    console.sign_in("logos/3")
    page = console.page
    name = page.get_by_label("Name", exact=True)
    name.fill("Half done")
    page.locator(".personal summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("dialog").get_by_role("button", name="Keep editing").click()
    expect(name).to_have_value("Half done")

    other = console.another_tab()
    console.open("settings", other)
    other.locator(".personal summary").click()
    other.get_by_role("button", name="Sign out").click()
    expect(other.get_by_label("Password")).to_be_visible()
    page.get_by_role("dialog").get_by_label("Password").fill(ADMIN_PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(name).to_have_value("Half done")
    page.get_by_role("button", name="Save").click()
    undo = page.locator(".notice-action")
    expect(undo).to_be_visible()
    # The next user sees no trace of it.
    page.locator(".personal summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("User name").fill(PAINTER[0])
    page.get_by_label("Password").fill(PAINTER[1])
    page.keyboard.press("Enter")
    expect(page.locator(".personal-name")).to_have_text(PAINTER[0])
    expect(undo).to_have_count(0)


@pytest.mark.rule("contract J4")
def test_discarded_changes_are_never_saved_and_a_password_is_set_as_typed(console: Person) -> None:
    console.sign_in("logos/3")
    page, gallery = console.page, console.service.gallery
    failed = page.locator(".notice.failed")
    page.get_by_label("Name", exact=True).fill("Abandoned")
    console.service.storage.go_away()
    page.keyboard.press("ControlOrMeta+s")
    expect(failed.get_by_role("button", name="Try again")).to_be_visible()
    page.get_by_role("navigation", name="Breadcrumbs").get_by_role("link", name="Logos").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    expect(page.locator("h1")).to_have_text("Logos")
    expect(failed).to_have_count(0)
    console.service.storage.come_back()
    expect(page.locator(".banner")).to_be_hidden(timeout=10_000)
    assert gallery.logos.get(GetLogo(logo_id=3)).name == "Logo 3"

    # A response that arrives after leaving offers nothing either.
    page.get_by_role("link", name="Authors").click()
    page.get_by_role("link", name="Ben").click()
    page.get_by_label("Name").fill("Abandoned")
    held: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == "PATCH":
            held.append(route)
        else:
            route.fallback()

    page.route("**/api/authors/2", hold)
    with page.expect_request("**/api/authors/2"):
        page.keyboard.press("ControlOrMeta+s")
    way_back = page.get_by_role("navigation", name="Breadcrumbs").get_by_role("link", name="Authors")
    way_back.click()
    page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    expect(way_back).to_have_count(0)
    held[0].abort()
    expect(failed).to_contain_text("whether your changes were saved")
    expect(failed.get_by_role("button", name="Try again")).to_have_count(0)
    page.unroute_all()

    console.open("users/7")
    password = page.get_by_label("New password")
    password.fill("first thought")
    page.route("**/password", lambda route: route.abort())
    page.get_by_role("button", name="Set the password").click()
    again = failed.get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    password.fill("second thought")
    with page.expect_request("**/password") as sent:
        again.click()
    assert sent.value.post_data_json == {"password": "second thought"}


@pytest.mark.rule("contract J2")
def test_signing_out_during_a_refresh_ends_the_session_and_stops_writes(console: Person) -> None:
    console.sign_in("logos/3")
    page = console.page
    held: list[tuple[Route, APIResponse]] = []
    writes: list[str] = []

    def answer(route: Route) -> None:
        if route.request.url.endswith("/api/auth/token"):
            held.append((route, route.fetch()))
        elif route.request.method == "PATCH" and not writes:
            writes.append(route.request.method)
            route.fulfill(status=401, json={"detail": "Couldn't validate credentials"})
        else:
            writes.extend([route.request.method] if route.request.method == "PATCH" else [])
            route.continue_()

    page.route("**/api/**", answer)
    page.get_by_label("Name", exact=True).fill("Half done")
    page.get_by_role("button", name="Save").click()
    while not held:
        page.wait_for_timeout(20)
    page.locator(".personal summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    expect(page.get_by_label("Password")).to_be_visible()
    route, response = held.pop()
    route.fulfill(response=response)
    page.wait_for_timeout(500)
    assert page.evaluate("sessionStorage.getItem('logoadmin.refresh')") is None
    assert writes == ["PATCH"]
    expect(page.locator(".banner")).to_have_count(0)
    page.reload()
    expect(page.get_by_label("Password")).to_be_visible()
