"""Requests that are slow or get no response: progress, timeouts, and errors that name the true cause."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Route, expect

from logoadmin.domain.gallery.artworks import GetLogo
from tests.console.driver import Person, looking
from tests.console.service import Served

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract J6")]

OUT_OF_REACH = {"detail": "Cannot connect to the database server at db.example:3306"}


@pytest.fixture
def timed(chromium: Browser, service: Served) -> Iterator[Person]:
    """A window with a clock that a test can advance."""
    with looking(chromium, service, permissions=["clipboard-read", "clipboard-write"]) as person:
        person.page.clock.install()
        yield person


def hold(person: Person, pattern: str, method: str) -> list[Route]:
    """Leave matching requests without an answer."""
    held: list[Route] = []

    def keep(route: Route) -> None:
        if route.request.method == method:
            held.append(route)
        else:
            route.fallback()

    person.page.route(pattern, keep)
    return held


def test_a_save_without_a_response_shows_progress_and_is_retried_under_the_same_id(timed: Person) -> None:
    timed.sign_in("logos/3")
    page = timed.page
    page.get_by_label("Name", exact=True).fill("Slowly saved")
    held = hold(timed, "**/api/logos/3", "PATCH")
    save = page.get_by_role("button", name=re.compile(r"^Sav(?:e|ing…)$"))
    save.click()
    expect(save).to_have_attribute("aria-busy", "true")
    expect(save).to_have_text("Saving…")
    # What is idle does not look busy.
    page.get_by_role("button", name="More actions").click()
    remove = page.get_by_role("menuitem", name="Remove", exact=True)
    expect(remove).to_have_attribute("aria-disabled", "true")
    expect(remove).not_to_have_attribute("aria-busy", "true")
    working = page.locator(".working")
    page.clock.run_for(500)
    expect(working).to_have_text("Working…")
    page.clock.run_for(30_000)
    failed = page.locator(".notice.failed")
    expect(failed).to_contain_text("The service took too long to respond, so we can't tell whether this was saved")
    expect(save).not_to_have_attribute("aria-busy", "true")
    expect(working).to_have_count(0)
    page.unroute_all()
    with page.expect_request(lambda request: request.method == "PATCH") as again:
        failed.get_by_role("button", name="Try again").click()
    assert again.value.headers["x-request-id"] == held[0].request.headers["x-request-id"]
    expect(page.locator(".notice.done")).to_be_visible()
    assert timed.service.gallery.logos.get(GetLogo(logo_id=3)).name == "Slowly saved"


def test_offline_a_view_waits_for_the_connection_and_then_loads(console: Person) -> None:
    console.sign_in("logos")
    page = console.page
    console.settle()
    page.context.set_offline(True)
    page.get_by_role("link", name="People").click()
    work = page.locator("#work")
    expect(work).to_contain_text("This view can't be loaded without a connection")
    expect(work).not_to_contain_text("new version")
    banner = page.locator(".banner")
    expect(banner).to_contain_text("You're offline")
    expect(banner).to_contain_text("Saving will work again once the connection is back.")
    page.context.set_offline(False)
    expect(page.locator("h1")).to_have_text("Users")
    expect(page.locator("tbody .cell-link").first).to_be_visible()
    expect(banner).to_have_count(0)
    # A list that was read stays; a form that was not loaded comes with the connection.
    page.context.set_offline(True)
    page.get_by_role("link", name="Logos").click()
    expect(page.locator(".card").first).to_be_visible()
    page.get_by_role("link", name="Logo 40", exact=True).click()
    page.context.set_offline(False)
    expect(page.get_by_label("Name", exact=True)).to_have_value("Logo 40")


def test_an_error_shows_its_request_id_for_copying(timed: Person) -> None:
    timed.sign_in("import")
    page = timed.page

    def fail(route: Route) -> None:
        sent = route.request.headers.get("x-request-id", "request-of-a-read")
        route.fulfill(status=500, json={"detail": "Internal Server Error"}, headers={"X-Request-Id": sent})

    page.route("**/api/users**", fail)
    page.get_by_role("link", name="People").click()
    unread = page.locator(".empty")
    expect(unread).to_contain_text("Something went wrong in the service")
    expect(unread).to_contain_text("request-of-a-read")
    unread.get_by_role("button", name="Copy request ID").click()
    expect(unread.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "request-of-a-read"

    timed.open("logos/3")
    page.get_by_label("Name", exact=True).fill("Unsaved")
    page.route("**/api/logos/3", lambda route: fail(route) if route.request.method == "PATCH" else route.fallback())
    with page.expect_request(lambda request: request.method == "PATCH") as sent:
        page.keyboard.press("ControlOrMeta+s")
    expect(page.get_by_role("alert")).to_contain_text(sent.value.headers["x-request-id"])


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (429, {"detail": "Too many requests"}, "Too many requests."),
        (503, {"detail": "Too many concurrent exports; try again later"}, "The service is unavailable just now."),
        (503, OUT_OF_REACH, "The service is unavailable just now."),
    ],
)
def test_a_read_is_retried_after_the_delay_requested_by_the_service(
    timed: Person, status: int, body: dict[str, str], words: str
) -> None:
    timed.sign_in("import")
    page = timed.page
    page.route("**/api/users**", lambda route: route.fulfill(status=status, json=body, headers={"Retry-After": "9"}))
    page.get_by_role("link", name="People").click()
    unread = page.locator(".empty")
    expect(unread).to_contain_text(words)
    timed.catch("Try again in", unread)
    banner = page.locator(".banner")
    if body is OUT_OF_REACH:
        expect(banner).to_contain_text("The database does not respond")
    elif status == 503:
        expect(banner).to_contain_text("The service is unavailable just now")
    else:
        expect(banner).to_have_count(0)
    page.unroute_all()
    page.clock.run_for(10_000)
    expect(page.locator("tbody tr").first).to_be_visible()
    expect(banner).to_have_count(0)
