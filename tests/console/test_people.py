"""Users, roles, the account and names: effects shown before saving, and rights that cannot be granted."""

import re

import pytest
from playwright.sync_api import Page, expect

from logoadmin.domain.identity import roles, users
from logoadmin.domain.identity.sessions import SignIn
from tests.console.driver import Person
from tests.console.service import PAINTER, Served
from tests.gallery import ADMIN_ID, ADMIN_PASSWORD

pytestmark = pytest.mark.slow("a browser")

HEAD = ("head", "the head's password")


def add_head(service: Served) -> None:
    """Create a user who may only manage people and logos."""
    scope = ("users:read", "users:write", "roles:read", "roles:write", "logos:write", "proposals:write")
    role = service.gallery.roles.create(roles.CreateRole(name="heads", scope=scope))
    name, password = HEAD
    service.gallery.users.create(users.CreateUser(user_id=8, username=name, password=password))
    service.gallery.users.amend(users.AmendUser(user_id=8, role_id=role.role_id))


def scope_of(service: Served, username: str, password: str) -> str:
    return service.gallery.sessions.sign_in(SignIn(username=username, password=password)).scope


@pytest.mark.rule("contract J3")
def test_a_colleague_gets_a_role_for_logos_only_by_keyboard_alone(console: Person, page: Page) -> None:
    console.sign_in("roles")
    console.press(page.get_by_role("button", name="New role"))
    console.reach(page.get_by_label("Name", exact=True))
    page.keyboard.type("logo editors")
    logos = page.get_by_role("row", name=re.compile("^Logos")).get_by_role("checkbox")
    console.reach(logos)
    page.keyboard.press("Space")
    effect = page.get_by_role("status", name="What this changes")
    expect(effect).to_contain_text("Nobody has this role yet. Anyone who gets it:")
    expect(effect.get_by_role("listitem")).to_have_text(["May then \u2068change logos\u2069"])
    page.keyboard.press("Control+s")
    expect(page.locator("h1")).to_have_text("logo editors")

    console.press(page.get_by_role("link", name="People"))
    expect(page.locator("h1")).to_have_text("Users")
    console.press(page.get_by_role("button", name="New user"))
    console.reach(page.get_by_label("Name", exact=True))
    page.keyboard.type("Zoë")
    # The next free id, outside the range of the site.
    expect(page.get_by_label("Site user ID")).to_have_value(str(ADMIN_ID + 1))
    console.reach(page.get_by_label("Role"))
    page.keyboard.type("logo e")
    expect(page.locator(".role-field")).to_contain_text("May \u2068change logos\u2069.")
    proposed = page.get_by_label("Password", exact=True).input_value()
    console.reach(page.get_by_role("button", name="Generate"))
    page.keyboard.press("Space")
    password = page.get_by_label("Password", exact=True).input_value()
    assert len(password) == len(proposed) == 23
    assert password != proposed
    page.keyboard.press("Control+s")
    expect(page.locator("h1")).to_have_text("Zoë")
    # A generated password is shown once more, to be passed on.
    once = page.get_by_role("dialog", name="Zoë\u2069 can sign in now")
    expect(once.get_by_label("Password")).to_have_value(password)
    expect(once.get_by_role("button", name="Copy")).to_be_visible()
    page.keyboard.press("Escape")
    console.press(once.get_by_role("button", name="Done"))
    assert page.get_by_label("New password").input_value() == ""
    assert scope_of(console.service, "Zoë", password) == "logos:write"


@pytest.mark.rule("contract J4")
def test_every_password_field_is_described_for_password_managers(console: Person, page: Page) -> None:

    def described(*known: str) -> None:
        fields = page.locator("form [name=username], form [type=password], form .mono")
        expect(fields).to_have_count(len(known))
        assert fields.evaluate_all("all => all.map((each) => each.getAttribute('autocomplete'))") == [*known]

    console.open()
    described("username", "current-password")
    console.sign_in("account")
    described("username", "current-password", "new-password")
    # Password managers must not store a password under the name of another user.
    console.open("users/new")
    described("off", "new-password")


@pytest.mark.rule("contract J3")
def test_the_effect_of_a_role_on_users_is_shown_before_saving_and_can_be_undone(console: Person, page: Page) -> None:
    console.sign_in("roles/3")
    expect(page.locator(".people")).to_have_text(re.compile(PAINTER[0]))
    page.get_by_role("button", name="More actions").click()
    remove = page.get_by_role("menuitem", name="Remove", exact=True)
    expect(remove).to_have_attribute("title", re.compile(f"In use: move .*{PAINTER[0]}.* to another role first"))
    expect(remove.get_by_text("In use")).to_be_visible()
    page.get_by_role("row", name=re.compile("^Logos")).get_by_role("checkbox").uncheck()
    page.get_by_label("See who changed what").check()
    effect = page.get_by_role("status", name="What this changes")
    expect(effect).to_contain_text(PAINTER[0])
    expect(effect.get_by_role("listitem")).to_have_text(
        ["May then \u2068see the history\u2069", "May no longer \u2068change logos\u2069"]
    )
    page.get_by_role("button", name="Save").click()
    expect(effect).to_have_count(0)
    assert scope_of(console.service, *PAINTER) == "changes:read"
    page.locator(".notice").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("row", name=re.compile("^Logos")).get_by_role("checkbox")).to_be_checked()
    assert scope_of(console.service, *PAINTER) == "logos:write"


@pytest.mark.rule("contract R1", "contract J3")
def test_a_role_explains_its_rights_and_starts_as_member_moderator_or_administrator(console: Person) -> None:
    console.sign_in("roles/new")
    page = console.page
    rows = page.get_by_role("table").get_by_role("row")
    expect(rows.filter(has_text="Submissions")).to_contain_text(
        "Their submitters, and reviewers who may change everything in them"
    )
    expect(rows.filter(has_text="Everybody sees them").get_by_role("rowheader")).to_have_text(
        ["Logos", "Themes", "Authors"]
    )
    beginnings = page.get_by_role("group", name="Begin as")
    name = page.get_by_label("Name", exact=True)
    for beginning in ("Administrator", "Moderator"):
        beginnings.get_by_role("button", name=beginning).click()
        expect(beginnings.get_by_role("button", pressed=True)).to_have_text(beginning)
        expect(name).to_have_value(beginning)
    name.fill("Jury")
    beginnings.get_by_role("button", name="Moderator").click()
    expect(name).to_have_value("Jury")
    page.get_by_role("button", name="Create").click()
    expect(page.locator(".notice")).to_contain_text("Jury")
    (role,) = [each for each in console.service.gallery.roles.list(roles.ListRoles()) if each.name == "Jury"]
    assert {*role.scope} == {"logos:write", "themes:write", "authors:write", "users:read", "changes:read"}


@pytest.mark.rule("contract J2", "contract B4")
def test_rights_that_a_user_may_not_grant_are_disabled(console: Person, page: Page) -> None:
    add_head(console.service)
    console.sign_in("roles/new", username=HEAD[0], password=HEAD[1])
    themes = page.get_by_role("row", name=re.compile("^Themes")).get_by_role("checkbox")
    expect(themes).to_have_attribute("aria-disabled", "true")
    expect(themes).to_have_accessible_description("You do not hold this, so you cannot hand it out.")
    themes.click(force=True)
    expect(themes).not_to_be_checked()
    console.open("roles/2")
    expect(page.locator(".remark")).to_contain_text("This role holds rights that you do not: \u2068do everything")
    expect(page.get_by_label("Name", exact=True)).to_be_disabled()
    console.open(f"users/{ADMIN_ID}")
    expect(page.locator(".remark")).to_contain_text("admin\u2069 holds rights that you do not")
    expect(page.get_by_role("button", name="Set the password")).to_have_attribute("title", re.compile("do everything"))
    console.open("users/7")
    expect(page.get_by_role("option", name="admin")).to_be_disabled()
    expect(page.locator(".role-field")).to_contain_text("You cannot give \u2068admin\u2069")


@pytest.mark.rule("contract J3", "contract C5")
def test_a_key_is_shown_once_has_its_rights_and_can_be_removed(console: Person, page: Page) -> None:
    console.sign_in("account")
    page.get_by_role("button", name="New key").click()
    page.get_by_role("button", name="Create key").click()
    name = page.get_by_label("What is it for?")
    expect(name).to_be_focused()
    expect(name).to_have_accessible_description(re.compile("^Please fill this in. So that you know it again"))
    name.fill("nightly import")
    page.get_by_role("row", name=re.compile("^Authors")).get_by_role("checkbox").check()
    page.get_by_role("button", name="Create key").click()
    key = page.get_by_role("dialog").get_by_label("Key", exact=True).input_value()
    assert re.fullmatch(r"lga_[\w-]{43}", key)
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_role("button", name="New key")).to_be_focused()
    row = page.get_by_role("listitem").filter(has_text="nightly import")
    expect(row).to_contain_text("change authors")
    expect(row).to_contain_text("Never used")
    assert key not in page.content()
    row.get_by_role("button", name="End").click()
    page.get_by_role("dialog").get_by_role("button", name="End").click()
    expect(row).to_have_count(0)
    expect(page.get_by_role("button", name="New key")).to_be_focused()


@pytest.mark.rule("contract J3", "contract C6")
def test_the_session_of_a_lost_laptop_is_ended_by_keyboard_alone(console: Person, page: Page) -> None:
    laptop = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"
    body = {"username": "admin", "password": ADMIN_PASSWORD}
    page.request.post(f"{console.service.address}/api/auth/token", data=body, headers={"User-Agent": laptop})
    console.sign_in("account")
    heading = page.get_by_role("heading", name="Sessions", exact=True)
    rows = page.locator(".section").filter(has=heading).locator(".row")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text(re.compile(r"Chrome.* on .*Linux.*this one"))
    lost = rows.filter(has_text="Firefox\u2069 on \u2068Windows")
    expect(lost).to_contain_text("127.0.0.1")
    console.press(lost.get_by_role("button", name="End"))
    expect(page.locator(".notice")).to_contain_text("Ended: \u2068\u2068Firefox\u2069 on \u2068Windows")
    expect(rows).to_have_count(1)


@pytest.mark.rule("contract D", "contract J3")
def test_a_user_is_suspended_and_reactivated(console: Person, page: Page) -> None:
    service = console.service
    add_head(service)
    console.sign_in("users/8")
    console.act("Suspend")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Their name and their work stay.")
    dialog.get_by_role("button", name="Suspend").click()
    band = page.get_by_role("status").filter(has_text="is suspended and cannot sign in")
    expect(band).to_be_visible()
    expect(page.locator(".record-facts")).to_contain_text("Suspended")
    assert not service.gallery.users.get(users.GetUser(user_id=8)).active
    band.get_by_role("button", name="Let in again").click()
    expect(band).to_have_count(0)
    expect(page.locator("h1")).to_be_focused()
    assert scope_of(service, *HEAD)
    expect(page.locator(".change-words").first).to_contain_text("let the user head in again")


@pytest.mark.rule("contract O7")
def test_lookalike_names_are_marked(console: Person) -> None:
    alike, mixed = "Looks like the name of another user", "Mixes scripts"
    page, gallery = console.page, console.service.gallery
    names = ["\u0430dmin", "\u0416\u0430\u043d", "日本Ken", "Zoe\u0438"]  # with a Cyrillic letter, and with another one
    for number, name in enumerate(names, 900):
        gallery.users.create(users.CreateUser(user_id=number, username=name, password="some password"))
    console.sign_in("users")
    people = (page.locator(".person", has=page.get_by_text(name, exact=True)) for name in names)
    lookalike, other_script, japanese, mixture = (person.locator(".name-mark") for person in people)
    expect(lookalike).to_have_attribute("title", re.compile(f"{alike}.*admin.*{mixed}"))
    expect(mixture).to_have_attribute("title", re.compile(f"^{mixed}"))
    expect(other_script.or_(japanese)).to_have_count(0)
    # On the user's own page in words, and in the history.
    page.get_by_text("\u0430dmin", exact=True).click()
    expect(page.locator("p.name-mark")).to_contain_text(re.compile(f"{alike}.*admin.*{mixed}"))
