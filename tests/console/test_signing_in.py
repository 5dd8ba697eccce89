"""Signing in: with every way that a service has, in place where a request needs it, and what comes before all else."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from logoadmin.domain.model.errors import SignInRefused
from logoadmin.domain.services.sessions import SignIn
from logoadmin.domain.services.users import SetPassword
from tests.console.driver import Person, looking
from tests.console.service import Served, served
from tests.gallery import ADMIN_ID, ADMIN_PASSWORD

pytestmark = pytest.mark.slow("a browser")


@pytest.fixture(scope="module")
def shared() -> Iterator[Served]:
    """A gallery for all these tests."""
    with served() as found:
        yield found


@pytest.fixture
def person(chromium: Browser, shared: Served) -> Iterator[Person]:
    """A window with nothing in it."""
    with looking(chromium, shared) as found:
        yield found


@pytest.mark.rule("contract O5", "contract J4")
def test_the_first_password_is_changed_before_anything_else(person: Person) -> None:
    page, service = person.page, person.service
    # As if nobody had given one at the first start.
    service.storage.write(lambda uow: uow.secrets.replace("generated_password", str(ADMIN_ID)))
    person.open("logos")
    page.get_by_label("User name").fill("admin")
    page.get_by_label("Password").fill(ADMIN_PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Choose your own password")
    expect(page.get_by_role("link")).to_have_count(0)
    # It was typed a moment ago; after a reload nobody knows it.
    expect(page.get_by_label("Current password")).to_have_count(0)
    page.reload()
    current = page.get_by_label("Current password")
    expect(current).to_be_focused()
    page.get_by_label("New password").fill("a password of my own")
    for typed, said in (("", "Please fill this in."), ("wrong", "This is not your current password.")):
        current.fill(typed)
        page.keyboard.press("Enter")
        expect(current).to_have_accessible_description(said)
        expect(current).to_be_focused()
    page.keyboard.type(ADMIN_PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Logos")
    expect(page.locator(".notice")).to_contain_text("Your password is changed.")
    with pytest.raises(SignInRefused):
        service.gallery.sessions.sign_in(SignIn(username="admin", password=ADMIN_PASSWORD))
    # As the other tests know it.
    service.gallery.users.set_password(SetPassword(user_id=ADMIN_ID, password=ADMIN_PASSWORD))
