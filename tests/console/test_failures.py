"""Refusals, outages, slow responses and sign-outs: explained in the right place, without loss of input."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import APIResponse, Browser, Locator, Page, Route, expect

from logoadmin.domain.gallery.artworks import GetLogo
from tests.console.driver import AGAIN, Person, looking
from tests.console.service import Served
from tests.gallery import ADMIN_PASSWORD

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract J4", "contract J6")]


# For each form: its path, the values required to send it, the requests that send it, and its button.
FORMS: Final = {
    "create_logo": ("logos/new", {"name": "N", "preview_url": "http://i.example/n.svg", "target": "t"}, "Create"),
    "amend_theme": ("themes/1", {"name": "N"}, "Save"),
    "create_author": ("authors/new", {"user_id": "900", "username": "N"}, "Create"),
    "create_role": ("roles/new", {"name": "N"}, "Create"),
    "create_user": ("users/new", {"user_id": "900", "username": "N", "password": "secret enough"}, "Create"),
    "amend_user": ("users/7", {"username": "N"}, "Save"),
    "set_password": ("account", {"new-password": "secret enough"}, "Change the password"),
    "create_key": ("account", {"name": "N"}, "Create key"),
}


def refuse(page: Page, status: int, body: Callable[[], Any], **headers: str) -> None:
    """Refuse every write but those of the session."""

    def answer(route: Route) -> None:
        request = route.request
        if request.method == "GET" or urlsplit(request.url).path.endswith(("/token", "/revoke")):
            route.fallback()
        elif isinstance(found := body(), str):
            route.fulfill(status=status, body=found, content_type="text/html", headers=headers)
        else:
            route.fulfill(status=status, json=found, headers=headers)

    page.route("**/api/**", answer)


def fields_of(console: Person, operation: str) -> list[str]:
    """Return the fields that the interface has for an operation."""
    document = console.page.request.get(f"{console.service.address}/openapi.json").json()
    operations = (each for path in document["paths"].values() for each in path.values())
    (found,) = (each for each in operations if each["operationId"] == operation)
    schema = found["requestBody"]["content"]["application/json"]["schema"]
    whole = document["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], schema)
    # Not fields of the record, and a suspension, which is not in the form.
    others = {"amend_user": "active"}.get(operation, "unblock")
    # The form has the members of the details instead.
    return [name for name in whole["properties"] if name not in (others, "details")]


def fill(page: Page, values: dict[str, str]) -> Locator:
    """Fill in the form that has these fields, and return it."""
    form = page.locator("#work form")
    for name in values:
        form = form.filter(has=page.locator(f"[name='{name}']:not([hidden])"))
    for name, value in values.items():
        form.locator(f"[name='{name}']").fill(value)
    return form


def test_every_problem_of_a_form_is_shown_at_its_field_which_gets_the_focus(console: Person, page: Page) -> None:
    page.on("dialog", lambda dialog: dialog.accept())
    wrong: list[str] = []

    def problems() -> Any:
        return {"detail": [{"loc": ["body", name], "msg": f"Not this {name}", "type": "other"} for name in wrong]}

    console.sign_in("import")
    refuse(page, 422, problems)
    for operation, (path, values, button) in FORMS.items():
        console.open(path)
        if operation == "create_key":
            page.get_by_role("button", name="New key").click()
        form = fill(page, values)
        send = page.get_by_role("button", name=button, exact=True)
        names = fields_of(console, operation)
        for name in names:
            wrong[:] = [name]
            send.click()
            there = form.locator(".field:has(.problem)", has_text=f"Not this {name}")
            expect(there.locator(":focus").first).to_be_visible()
            expect(form.locator(".problem")).to_have_count(1)
        # The first of several on the page has the focus, and no input is lost.
        wrong[:] = reversed(names)
        send.click()
        expect(form.locator(".problem")).to_have_count(len(names))
        first = form.locator("[aria-invalid=true]").first
        assert first.evaluate("each => each.contains(document.activeElement)"), operation
        for name, value in values.items():
            expect(form.locator(f"[name='{name}']:not([hidden])")).to_have_value(value)
        expect(page.locator(".complaint")).to_have_count(0)


def test_rate_limited_users_see_the_delay_and_retry_by_a_click(console: Person, page: Page) -> None:
    console.sign_in("logos/1")
    name = page.locator(".form [name=name]")
    name.fill("In time")
    # A proxy responds with its own text, in HTML.
    refuse(page, 429, lambda: "<h1>429 Too Many Requests</h1>", **{"Retry-After": "3"})
    page.get_by_role("button", name="Save", exact=True).click()
    note = page.locator(".notice.failed")
    button = note.get_by_role("button", name="Try again")
    console.waits(AGAIN, note, button)
    button.click(force=True)
    expect(name).to_have_value("In time")
    expect(note).to_contain_text(AGAIN[2])
    page.unroute_all()
    button.click()
    expect(page.locator(".notice.done")).to_be_visible()
    expect(note).to_have_count(0)


def test_an_oversized_request_is_reported_at_the_longest_text_which_is_kept(console: Person, page: Page) -> None:
    console.sign_in("themes/1")
    box, problem = page.get_by_role("textbox", name="CSS"), page.locator(".field-css .problem")
    expect(box).to_have_attribute("contenteditable", "true")
    # With HTML from a proxy, and with a text of the service.
    for sent in ("<h1>413</h1>", {"detail": "Body …"}):
        box.focus()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.insert_text("/* " + "x" * 2500 + " */")
        refuse(page, 413, lambda: sent)  # noqa: B023 (called before the next one)
        page.get_by_role("button", name="Save", exact=True).click()
        expect(problem).to_contain_text("With this text of 3 KB, all of it is too large for the service")
        expect(box).to_be_focused()
        expect(box).to_contain_text("xxx")
        # It is mended.
        page.unroute_all()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.insert_text("h1 { color: red }")
        expect(problem).to_have_count(0)
    page.keyboard.press("ControlOrMeta+s")
    expect(page.locator(".notice.done")).to_be_visible()


OUT_OF_REACH = {"detail": "Cannot connect to the database server at db.example:3306"}


@pytest.fixture
def timed(chromium: Browser, service: Served) -> Iterator[Person]:
    """A window with a clock that a test can advance."""
    with looking(chromium, service, permissions=["clipboard-read", "clipboard-write"]) as person:
        person.page.clock.install()
        yield person


def test_a_save_without_a_response_shows_progress_and_is_retried_under_the_same_id(timed: Person) -> None:
    timed.sign_in("logos/3")
    page = timed.page
    page.get_by_label("Name", exact=True).fill("Slowly saved")
    held = timed.hold("**/api/logos/3", "PATCH")
    save = page.get_by_role("button", name=re.compile(r"^Sav(?:e|ing…)$"))
    save.click()
    expect(save).to_have_attribute("aria-busy", "true")
    expect(save).to_have_text("Saving…")
    # An idle control does not look busy.
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


def test_offline_a_view_waits_for_the_connection_and_then_loads(console: Person, page: Page) -> None:
    console.sign_in("logos")
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


@pytest.mark.parametrize(("status", "words"), [(429, "Too many requests."), (503, "unavailable just now.")])
def test_a_read_is_retried_after_the_delay_requested_by_the_service(timed: Person, status: int, words: str) -> None:
    timed.sign_in("import")
    page, banner = timed.page, timed.page.locator(".banner")
    refused = {"status": status, "json": OUT_OF_REACH, "headers": {"Retry-After": "9"}}
    page.route("**/api/users**", lambda route: route.fulfill(**refused))
    page.get_by_role("link", name="People").click()
    unread = page.locator(".empty")
    expect(unread).to_contain_text(words)
    timed.catch("Try again in", unread)
    expect(banner).to_contain_text(["The database does not respond"] if status == 503 else [])
    page.unroute_all()
    page.clock.run_for(10_000)
    expect(page.locator("tbody tr").first).to_be_visible()
    expect(banner).to_have_count(0)


def test_signing_out_in_this_or_another_tab_loses_no_input(console: Person, page: Page) -> None:
    console.sign_in("logos/3")
    name = page.get_by_label("Name", exact=True)
    name.fill("Half done")
    console.sign_out()
    page.get_by_role("dialog").get_by_role("button", name="Keep editing").click()
    expect(name).to_have_value("Half done")

    other = console.another_tab()
    console.open("settings", other)
    console.sign_out(other)
    expect(other.get_by_label("Password")).to_be_visible()
    page.get_by_role("dialog").get_by_label("Password").fill(ADMIN_PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(name).to_have_value("Half done")
    page.get_by_role("button", name="Save").click()


def test_discarded_changes_are_never_saved(console: Person) -> None:
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
    held = console.hold("**/api/authors/2", "PATCH")
    with page.expect_request("**/api/authors/2"):
        page.keyboard.press("ControlOrMeta+s")
    page.get_by_role("navigation", name="Breadcrumbs").get_by_role("link", name="Authors").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    expect(page.locator("h1")).to_have_text("Authors")
    held[0].abort()
    expect(failed).to_contain_text("whether your changes were saved")
    expect(failed.get_by_role("button", name="Try again")).to_have_count(0)


@pytest.mark.rule("contract J2")
def test_signing_out_during_a_refresh_ends_the_session_and_stops_writes(console: Person, page: Page) -> None:
    console.sign_in("logos/3")
    held: list[tuple[Route, APIResponse]] = []
    writes: list[str] = []

    def answer(route: Route) -> None:
        if route.request.url.endswith("/api/auth/token"):
            held.append((route, route.fetch()))
        elif route.request.method == "PATCH":
            writes.append(route.request.method)
            route.fulfill(status=401, json={"detail": "Couldn't validate credentials"})
        else:
            route.continue_()

    page.route("**/api/**", answer)
    page.get_by_label("Name", exact=True).fill("Half done")
    page.get_by_role("button", name="Save").click()
    while not held:
        page.wait_for_timeout(20)
    console.sign_out()
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
