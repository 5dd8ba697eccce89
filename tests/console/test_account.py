"""The account in the console: second factors, recovery codes, and links by which members sign in (contract O1, R5)."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from pyotp import TOTP

from logoadmin.domain.identity.one_time_sign_in import CreateLink
from logoadmin.domain.kernel.access import SignedIn
from logoadmin.domain.publication import publication_records
from logoadmin.entrypoints.http_api.operations.identity import qr_svg
from tests.console.driver import Person, looking, plugged_in
from tests.console.service import PAINTER, Served, enrol_app, served
from tests.console.test_accessible import findings
from tests.gallery import ADMIN_ID, ADMIN_PASSWORD

pytestmark = pytest.mark.slow("a browser")


APP: Final = "Authenticator app"
_PATHS: Final = "paths => paths.map((path) => path.getAttribute('d'))"


def section(page: Page, title: str) -> Locator:
    return page.locator("section", has=page.get_by_role("heading", name=title, exact=True))


@pytest.mark.rule("contract O1", "contract J4")
def test_a_newcomer_enrols_an_app_and_keeps_the_codes_by_keyboard_alone_on_a_phone(
    chromium: Browser, service: Served
) -> None:
    with looking(chromium, service, viewport={"width": 390, "height": 844}) as console:
        console.sign_in("account")
        page = console.page
        console.press(page.get_by_role("button", name=APP))
        field = page.get_by_label("Code from the app")
        expect(field).to_be_focused()
        expect(field).to_have_attribute("autocomplete", "one-time-code")
        # The link, the picture and the text have the same content.
        link = page.locator(".on-phones a").get_attribute("href") or ""
        secret = re.sub(r"\s", "", page.locator(".secret").inner_text())
        assert f"secret={secret}" in link
        drawn = page.get_by_role("img", name="QR code").locator("path").evaluate_all(_PATHS)
        assert drawn == re.findall(r' d="([^"]+)"', qr_svg(link))
        code = TOTP(secret).at(service.clock.now())
        field.fill(f"{(int(code) + 1) % 1_000_000:06}")
        page.keyboard.press("Enter")
        expect(field).to_have_accessible_description(re.compile("This code is not correct"))
        expect(field).to_be_focused()
        field.fill(f"{code[:3]} {code[3:]}")
        page.keyboard.press("Enter")

        expect(page.get_by_role("heading", name="Keep your recovery codes")).to_be_focused()
        codes = page.locator(".printed li").all_inner_texts()
        assert len(set(codes)) == 10
        with page.expect_download() as download:
            console.press(page.get_by_role("button", name="Download"))
        head, saved = download.value.path().read_text("utf-8").split("\n\n")[:2]
        assert ("admin" in head, saved.split()) == (True, codes)
        done = page.get_by_role("button", name="Done")
        expect(done).to_have_attribute("aria-disabled", "true")
        expect(done).to_have_accessible_description("Keep your recovery codes first")
        console.reach(page.get_by_label("I have kept these codes"))
        page.keyboard.press("Space")
        console.press(done)
        card = section(page, "Two-step sign-in")
        expect(card.get_by_role("listitem")).to_contain_text([APP, "10 left"])
        assert console.becomes("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.rule("contract O1", "contract O8")
def test_a_passkey_is_created_at_the_public_url_linked_by_the_console(chromium: Browser, service: Served) -> None:
    with looking(chromium, service) as console:
        console.sign_in("account")
        way = console.page.get_by_role("button", name="Passkey")
        expect(way).to_have_attribute("aria-disabled", "true")
        expect(way).to_have_accessible_description(
            re.compile(f"Open the console at {service.gallery.public_url.base}/console/")
        )
    named = replace(service, address=service.gallery.public_url.base)
    with looking(chromium, named) as console:
        console.sign_in("account")
        page = console.page
        page.get_by_role("button", name="Passkey").click()
        name = page.get_by_label("Name", exact=True)
        expect(name).to_have_value("Chrome on Linux")
        create = page.get_by_role("button", name="Create passkey")
        name.fill("The key on my keyring")
        with plugged_in(page) as authenticator:
            create.click()
            page.get_by_label("I have kept these codes").check()
            page.get_by_role("button", name="Done").click()
            card = section(page, "Two-step sign-in")
            expect(card.get_by_role("listitem").first).to_contain_text("The key on my keyring")
            assert [each["rpId"] for each in authenticator.passkeys] == ["localhost"]
            # The same authenticator already has one.
            card.get_by_role("button", name="Add another").click()
            card.get_by_role("button", name="Passkey").click()
            create.click()
            expect(page.get_by_role("alert")).to_contain_text("already has a passkey")


@pytest.mark.rule("contract O1")
def test_recovery_codes_are_renewed_when_few_are_left_and_a_factor_is_removed(console: Person) -> None:
    console.sign_in("account")
    page, service = console.page, console.service
    # The first factor ends the user's other sessions, so the open one enrols it.
    (session,) = service.storage.read(lambda uow: uow.identity.sessions.of_user(ADMIN_ID))
    secret, codes = enrol_app(service, SignedIn(ADMIN_ID, session.session_id))
    hashes = [f"hash {number}" for number in range(3)]
    service.storage.write(lambda uow: uow.identity.recovery_codes.replace(ADMIN_ID, hashes))
    page.reload()
    card = section(page, "Two-step sign-in")
    expect(card).to_contain_text("Only 3 are left.")
    service.clock.pass_by(700)
    card.get_by_role("button", name="Make new ones").click()
    page.get_by_role("dialog").get_by_role("button", name="Make new ones").click()
    # The sign-in is too old for this; the request goes on after another one, with both steps.
    again = page.get_by_role("dialog", name="Confirm that it's you")
    again.get_by_label("Password").fill(ADMIN_PASSWORD)
    page.keyboard.press("Enter")
    again.get_by_role("textbox", name=re.compile("code", re.IGNORECASE)).fill(TOTP(secret).at(service.clock.now()))
    page.keyboard.press("Enter")
    shown = page.get_by_role("dialog", name="Recovery codes")
    expect(shown.locator(".printed li")).to_have_count(10)
    assert {*shown.locator(".printed li").all_inner_texts()}.isdisjoint(codes)
    # They are shown only now: Escape does not close the dialog.
    page.keyboard.press("Escape")
    shown.get_by_label("I have kept these codes").check()
    shown.get_by_role("button", name="Done").click()
    expect(card).to_contain_text("10 left")
    card.get_by_role("button", name="Remove").click()
    question = page.get_by_role("dialog")
    expect(question).to_contain_text("Your password alone will then sign you in")
    question.get_by_role("button", name="Remove").click()
    expect(page.locator(".notice")).to_contain_text(f"Removed \u2068{APP}")
    expect(card.get_by_role("button", name=APP)).to_be_visible()


@pytest.fixture
def linked() -> Iterator[Served]:
    with served(page=publication_records.Page("Winter gallery", "https://forum.example/start")) as found:
        yield found


def link_for(service: Served, username: str = "Mia") -> str:
    """Return a new link, at the address that the browser knows."""
    made = service.gallery.links.create(CreateLink(user_id=1042, username=username))
    return f"{service.address}/console/#link={made.link}"


def is_in(person: Person, name: str) -> None:
    expect(person.page.get_by_role("navigation", name="Views")).to_contain_text(name)


@pytest.mark.rule("contract Q2", "contract R5")
def test_a_link_opens_its_view_once_and_is_removed_from_the_address(chromium: Browser, linked: Served) -> None:
    with looking(chromium, linked) as person:
        page, link = person.page, link_for(linked).replace("#", "submit#")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(f"{request.url} {request.all_headers().get('referer')}"))
        page.goto(link)
        is_in(person, "Mia")
        expect(page.locator("h1")).to_have_text("Submit a work")
        assert page.url == f"{linked.address}/console/submit"
        assert asked
        assert not any(link.rpartition("=")[2] in each for each in asked)
        page.go_back()
        page.go_forward()
        is_in(person, "Mia")
    with looking(chromium, linked) as person:
        page = person.page
        page.goto(link)
        expect(page.get_by_role("heading", level=1)).to_have_text("This link no longer works")
        expect(page.get_by_role("link")).to_have_attribute("href", "https://forum.example/start")
        expect(page.get_by_label("Password")).to_have_count(0)
        assert findings(page) == []
        page.get_by_role("button", name="Other ways to sign in").click()
        expect(page.get_by_label("User name")).to_be_visible()


@pytest.mark.rule("contract R5")
def test_a_link_replaces_the_session_of_a_tab_only_with_consent(chromium: Browser, linked: Served) -> None:
    with looking(chromium, linked) as person:
        person.sign_in("logos")
        link = link_for(linked)
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
    with looking(chromium, linked) as person:
        person.sign_in("logos")
        person.page.goto("about:blank")
        person.page.goto(link)  # which was used
        person.page.get_by_role("button", name="Sign in with the link").click()
        expect(person.page.locator(".notice")).to_contain_text("This link was used before, or has expired.")
        is_in(person, "admin")


@pytest.mark.rule("contract J3", "contract R5")
def test_an_administrator_invites_a_member_by_link_twice(chromium: Browser, console: Person) -> None:
    service, page = console.service, console.page
    link = page.get_by_role("textbox", name="Link")

    def shown() -> str:
        address = link.input_value().replace(service.gallery.public_url.base, service.address)
        page.get_by_role("button", name="Done").click()
        return address

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
    expect(link).to_be_focused()
    assert findings(page) == []
    first = shown()
    expect(dialog).to_have_count(0)
    expect(begin).to_be_focused()
    expect(page.get_by_role("row").filter(has_text="Mia")).to_contain_text("member")
    page.get_by_role("link", name="Mia").click()
    console.act("New sign-in link")
    again = shown()
    assert again.rpartition("=")[2] not in page.content()
    with looking(chromium, service) as person:
        person.page.goto(first)  # which the second one replaced
        expect(person.page.get_by_role("heading", level=1)).to_have_text("This link no longer works")
        person.page.goto("about:blank")
        person.page.goto(again)
        is_in(person, "Mia")
        assert findings(person.page) == []
