"""An empty gallery: what it offers to begin with, to those who may add to it and to those who may not."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from logoadmin.domain.identity import users
from logoadmin.domain.identity.roles import CreateRole
from logoadmin.domain.identity.sign_in_rules import SignInRules
from tests.console.driver import looking
from tests.console.service import served
from tests.gallery import ADMIN_ID, ADMIN_PASSWORD

pytestmark = pytest.mark.slow("a browser")

READER = ("reader", "the reader's password")


@pytest.mark.rule("contract J2", "contract J3")
def test_an_empty_gallery_greets_with_three_ways_to_begin(chromium: Browser, tmp_path: Path) -> None:
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
        # The first start made an administrator, which nobody has to undo.
        expect(page.get_by_role("button", name="Undo")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for name, title in (("Create the first logo", "New logo"), ("Invite a colleague", "New user")):
            person.press(doors.filter(has_text=name))
            expect(heading).to_have_text(title)
            page.go_back()
            expect(heading).to_have_text("Welcome")
        person.press(doors.filter(has_text="Import a file"))
        file = tmp_path / "first.jsonl"
        file.write_text(json.dumps({"kind": "author", "user_id": 101, "username": "Ann"}))
        page.locator("input[type=file]").set_input_files(file)
        page.get_by_role("button", name="Import 1 record").click()
        expect(page.get_by_role("heading", name="1 record was imported")).to_be_visible()
        person.open()
        expect(heading).to_have_text("Overview")


@pytest.mark.rule("contract J2")
def test_who_may_not_add_to_an_empty_gallery_reads_why_every_way_is_closed(chromium: Browser) -> None:
    with served(is_filled=False) as service:
        name, password = READER
        service.gallery.users.create(users.CreateUser(user_id=7, username=name, password=password))
        role = service.gallery.roles.create(CreateRole(name="reader", scope=()))
        service.gallery.users.amend(users.AmendUser(user_id=7, role_id=role.role_id))
        with looking(chromium, service) as person:
            page = person.page
            person.sign_in(username=name, password=password)
            expect(page.locator("#work")).to_contain_text("appear here as soon as someone adds them")
            expect(page.locator("#work").get_by_role("link")).to_have_count(0)
            reasons = [f"You need the \u2068{scope}:write\u2069 permission" for scope in ("logos", "logos", "users")]
            expect(page.locator(".door")).to_contain_text(reasons)


@pytest.mark.rule("contract O4", "contract O5")
def test_of_a_factor_and_a_password_that_are_due_the_password_comes_first(chromium: Browser) -> None:
    """With the first password a session may do nothing else, so the other order would lead nowhere."""
    required = SignInRules(second_factor="required")
    with served(is_filled=False, sign_in=required) as service, looking(chromium, service) as person:
        page, heading = person.page, person.page.get_by_role("heading", level=1)
        service.storage.write(lambda uow: uow.secrets.put("generated_password", str(ADMIN_ID)))
        person.open()
        page.get_by_label("User name").fill("admin")
        page.get_by_label("Password").fill(ADMIN_PASSWORD)
        page.keyboard.press("Enter")
        expect(heading).to_have_text("Choose your own password")
        page.get_by_label("New password").fill("long and rare 7!")
        page.keyboard.press("Enter")
        expect(heading).to_have_text("Set up a second step")
