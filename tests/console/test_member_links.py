"""Members of the host site sign in to the console by a link (contract R5)."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from logoadmin.domain.identity.one_time_sign_in import CreateLink
from logoadmin.domain.publication.publication_records import Page
from tests.console.driver import Person, looking
from tests.console.service import PAINTER, Served, served
from tests.console.test_accessible import findings

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract R5")]


@pytest.fixture
def service() -> Iterator[Served]:
    with served(page=Page("Winter gallery", "https://forum.example/start")) as found:
        yield found


def link_for(service: Served, username: str = "Mia") -> str:
    """Return a new link, at the address that the browser knows."""
    made = service.gallery.links.create(CreateLink(user_id=1042, username=username))
    return f"{service.address}/console/#link={made.link}"


def is_in(person: Person, name: str) -> None:
    expect(person.page.get_by_role("navigation", name="Views")).to_contain_text(name)


def test_a_link_opens_the_console_once_and_is_removed_from_the_address(chromium: Browser, service: Served) -> None:
    with looking(chromium, service) as person:
        page, link = person.page, link_for(service)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(f"{request.url} {request.all_headers().get('referer')}"))
        page.goto(link)
        is_in(person, "Mia")
        secret = link.rpartition("=")[2]
        assert secret not in page.url
        assert asked
        assert not any(secret in each for each in asked)
        page.go_back()
        page.go_forward()
        is_in(person, "Mia")
    with looking(chromium, service) as person:
        page = person.page
        page.goto(link)
        expect(page.get_by_role("heading", level=1)).to_have_text("This link no longer works")
        expect(page.get_by_role("link")).to_have_attribute("href", "https://forum.example/start")
        expect(page.get_by_label("Password")).to_have_count(0)
        assert findings(page) == []
        page.get_by_role("button", name="Other ways to sign in").click()
        expect(page.get_by_label("User name")).to_be_visible()


@pytest.mark.rule("contract Q2")
def test_a_link_opens_its_view(chromium: Browser, service: Served) -> None:
    with looking(chromium, service) as person:
        person.page.goto(link_for(service).replace("#", "submit#"))
        expect(person.page.locator("h1")).to_have_text("Submit a work")
        assert person.page.url == f"{service.address}/console/submit"


def test_a_link_replaces_the_session_of_a_tab_only_with_consent(chromium: Browser, service: Served) -> None:
    with looking(chromium, service) as person:
        person.sign_in("logos")
        link = link_for(service)
        person.page.goto("about:blank")
        person.page.goto(link)
        dialog = person.page.get_by_role("dialog", name="Sign in as somebody else?")
        expect(dialog).to_contain_text(re.compile("You are signed in as .admin.[.]"))
        assert findings(person.page) == []
        dialog.get_by_role("button", name="Stay signed in").click()
        is_in(person, "admin")
        person.open()
        is_in(person, "admin")
        person.page.goto(link)  # which the browser does not load, because this is the address already
        dialog.get_by_role("button", name="Sign in with the link").click()
        is_in(person, "Mia")
    with looking(chromium, service) as person:
        person.sign_in("logos")
        person.page.goto("about:blank")
        person.page.goto(link)  # which was used
        person.page.get_by_role("button", name="Sign in with the link").click()
        expect(person.page.locator(".notice")).to_contain_text("This link was used before, or has expired.")
        is_in(person, "admin")


@pytest.mark.rule("contract J3")
def test_an_administrator_invites_a_member_by_link_twice(chromium: Browser, console: Person) -> None:
    service, page = console.service, console.page
    console.sign_in("users")
    begin = page.get_by_role("button", name="Invite")
    console.press(begin)
    dialog = page.get_by_role("dialog")
    name = dialog.get_by_role("textbox", name="Name")
    expect(name).to_be_focused()
    name.fill(PAINTER[0])
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("There is a user of this name.")
    name.fill("Mia")
    page.keyboard.press("Enter")
    link = page.get_by_role("textbox", name="Link")
    expect(link).to_be_focused()
    assert findings(page) == []
    first = link.input_value().replace(service.gallery.public_url.base, service.address)
    page.get_by_role("button", name="Done").click()
    expect(dialog).to_have_count(0)
    expect(begin).to_be_focused()
    expect(page.get_by_role("row").filter(has_text="Mia")).to_contain_text("member")
    page.get_by_role("link", name="Mia").click()
    console.act("New sign-in link")
    again = link.input_value().replace(service.gallery.public_url.base, service.address)
    page.get_by_role("button", name="Done").click()
    assert again.rpartition("=")[2] not in page.content()
    with looking(chromium, service) as person:
        person.page.goto(first)  # which the second one replaced
        expect(person.page.get_by_role("heading", level=1)).to_have_text("This link no longer works")
        person.page.goto("about:blank")
        person.page.goto(again)
        is_in(person, "Mia")
        assert findings(person.page) == []
