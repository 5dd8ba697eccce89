"""Refusals by the service or its proxy: explained in the right place, without loss of input."""

import json
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.console.driver import AGAIN, Person, looking
from tests.console.service import Served

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract J4")]

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
        else:
            found = body()
            kind = "text/html" if isinstance(found, str) else "application/json"
            text = found if isinstance(found, str) else json.dumps(found)
            route.fulfill(status=status, body=text, content_type=kind, headers=headers)

    page.route("**/api/**", answer)


def fields_of(console: Person, operation: str) -> list[str]:
    """Return the fields that the interface has for an operation."""
    document = console.page.request.get(f"{console.service.address}/openapi.json").json()
    for path in document["paths"].values():
        for each in path.values():
            if each["operationId"] == operation:
                schema = each["requestBody"]["content"]["application/json"]["schema"]
                reference = schema.get("$ref", "").rpartition("/")[2]
                whole = document["components"]["schemas"][reference] if reference else schema
                # Not fields of the record, and a suspension, which is not in the form.
                others = {"amend_user": "active"}.get(operation, "unblock")
                # The form has the members of the details instead.
                return [name for name in whole["properties"] if name not in (others, "details")]
    raise AssertionError(operation)


def fill(page: Page, values: dict[str, str]) -> Locator:
    """Fill in the form that has these fields, and return it."""
    form = page.locator("#work form")
    for name in values:
        form = form.filter(has=page.locator(f"[name='{name}']:not([hidden])"))
    for name, value in values.items():
        form.locator(f"[name='{name}']").fill(value)
    return form


def test_every_problem_of_a_form_is_shown_at_its_field_which_gets_the_focus(console: Person) -> None:
    page = console.page
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


def test_required_fields_are_marked_and_a_hint_stays_with_an_error(console: Person) -> None:
    page = console.page
    console.sign_in("logos/new")
    expect(page.locator(".form > .hint").first).to_have_text("Fields with an asterisk (*) are required.")
    marked = page.locator(".label.required")
    expect(marked).to_have_text(["Name", "Target", "Picture"])
    mark = "each => getComputedStyle(each, '::after').content"
    assert "*" in marked.first.evaluate(mark)
    # Screen readers announce it because of the attribute.
    for name in ("name", "target", "preview_url"):
        expect(page.locator(f".form [name={name}]")).to_have_attribute("required", "")
    expect(page.get_by_role("combobox", name="Authors")).not_to_have_attribute("required", "")
    page.get_by_role("button", name="Create", exact=True).click()
    target = page.locator(".field-target")
    expect(target.locator(".problem")).to_have_text("Please fill this in.")
    expect(target.locator(".hint")).to_contain_text("such as forum")
    expect(target.locator("input")).to_have_accessible_description(
        "Please fill this in. The part of the site that it is for, such as forum."
    )
    console.open("users/7")
    expect(marked).to_have_text(["Name"])


def test_rate_limited_users_see_the_delay_and_retry_by_a_click(chromium: Browser, service: Served) -> None:
    with looking(chromium, service) as person:
        page = person.page
        person.sign_in("logos/1")
        name = page.locator(".form [name=name]")
        name.fill("In time")
        # A proxy responds with its own text, in HTML.
        refuse(page, 429, lambda: "<h1>429 Too Many Requests</h1>", **{"Retry-After": "3"})
        page.get_by_role("button", name="Save", exact=True).click()
        note = page.locator(".notice.failed")
        button = note.get_by_role("button", name="Try again")
        person.waits(AGAIN, note, button)
        button.click(force=True)
        expect(name).to_have_value("In time")
        expect(note).to_contain_text(AGAIN[2])
        page.unroute_all()
        button.click()
        expect(page.locator(".notice.done")).to_be_visible()
        expect(note).to_have_count(0)


def test_an_oversized_request_is_reported_at_the_longest_text_which_is_kept(console: Person) -> None:
    page = console.page
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
