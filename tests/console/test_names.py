"""Names that are invisible, and names that overlap adjacent text (contract J3)."""

import re

import pytest
from playwright.sync_api import expect
from pydantic import BaseModel

from logoadmin.domain.gallery import artworks, authors
from logoadmin.domain.identity import users
from tests.console.driver import Person
from tests.console.external_hosts import PICTURES
from tests.console.submissions import admit, new_logo, submit
from tests.gallery import ARTWORK

pytestmark = pytest.mark.slow("a browser")

BLANK = "\u3164\u200b\u2800 "


@pytest.mark.rule("contract J3")
def test_a_name_without_visible_characters_has_a_clickable_label(console: Person) -> None:
    page, gallery = console.page, console.service.gallery
    # Such names are now refused; older ones remain.
    older = BaseModel.model_copy  # validates nothing
    gallery.logos.amend(older(artworks.AmendLogo(logo_id=7, name="x"), update={"name": BLANK}))
    gallery.authors.amend(older(authors.AmendAuthor(author_id=1, username="x"), update={"username": BLANK}))
    gallery.logos.link(artworks.LinkLogoAuthor(logo_id=7, author_id=1))
    console.sign_in("logos?order=oldest")
    expect(page.get_by_role("link", name="(no visible name) \u20687\u2069")).to_be_visible()
    page.get_by_role("link", name="(no visible name) \u20687\u2069").click()
    expect(page.locator("h1")).to_have_text("(no visible name) \u20687\u2069")
    expect(page).to_have_title(re.compile("^\\(no visible name\\) \u20687\u2069 · "))
    expect(page.locator("form")).to_contain_text("(no visible name) \u20681\u2069")
    expect(page.locator(".record-history")).to_contain_text("the logo (no visible name)")
    page.keyboard.press("Control+k")
    page.get_by_role("dialog").get_by_role("combobox").fill("visible name")
    expect(page.get_by_role("dialog").get_by_role("option").first).to_contain_text("(no visible name)")
    console.open("authors")
    page.get_by_role("link", name="(no visible name)").click()
    expect(page.locator("h1")).to_contain_text("(no visible name)")


@pytest.mark.rule("contract O7")
def test_lookalike_names_are_marked(console: Person) -> None:
    alike, mixed = "Looks like the name of another user", "Mixes scripts"
    page, gallery = console.page, console.service.gallery
    names = ["\u0430dmin", "\u0416\u0430\u043d", "日本Ken", "Zoe\u0438"]  # with a Cyrillic letter, and with another one
    for number, name in enumerate(names):
        gallery.users.create(
            users.CreateUser(user_id=900 + number, username=name, avatar=None, password="some password")
        )
    console.sign_in("users")
    marks = {
        name: page.locator(".person", has=page.get_by_text(name, exact=True)).locator(".name-mark") for name in names
    }
    expect(marks["\u0430dmin"]).to_have_attribute("title", re.compile(f"{alike}.*admin.*{mixed}"))
    expect(marks["Zoe\u0438"]).to_have_attribute("title", re.compile(f"^{mixed}"))
    expect(marks["\u0416\u0430\u043d"]).to_have_count(0)
    expect(marks["日本Ken"]).to_have_count(0)
    # On the user's own page in words, and in the history.
    page.get_by_text("\u0430dmin", exact=True).click()
    expect(page.locator("p.name-mark")).to_contain_text(re.compile(f"{alike}.*admin.*{mixed}"))
    gallery.users.amend(users.AmendUser(user_id=900, role_id=2))
    gallery.acting_as(900).users.amend(users.AmendUser(user_id=902, username="Ken"))
    console.open("history")
    expect(page.locator(".change-words .who .name-mark").first).to_have_attribute(
        "title", re.compile(f"{alike}.*admin.*{mixed}")
    )


@pytest.mark.rule("contract J3")
def test_a_right_to_left_name_does_not_reverse_a_list_of_names(console: Person) -> None:
    page, gallery = console.page, console.service.gallery
    name = "נועה ברק"
    hebrew = gallery.authors.create(authors.CreateAuthor(user_id=900, username=name)).author_id
    made = gallery.logos.create(
        artworks.CreateLogo(**ARTWORK | {"name": "Both", "preview_url": f"https://{PICTURES}/a.png"})
    ).logo_id
    for author in (hebrew, 1):
        gallery.logos.link(artworks.LinkLogoAuthor(logo_id=made, author_id=author))
    console.sign_in("logos")
    card = page.locator(".card", has=page.get_by_role("link", name="Both", exact=True))
    expect(card.locator(".card-about")).to_have_text(f"forum · \u2068{name}\u2069, Ann")


@pytest.mark.rule("contract J5")
def test_the_longest_name_of_a_user_fits_next_to_their_role(console: Person) -> None:
    page, gallery = console.page, console.service.gallery
    longest = users.CreateUser(user_id=900, username="W" * 64, avatar=None, role_id=3, password="some password")
    gallery.users.create(longest)
    console.sign_in("roles/3")
    expect(page.locator(".person-link")).to_have_count(2)
    for width in (1280, 320):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.rule("contract O7", "contract R4")
def test_names_of_authors_and_submitters_are_marked_in_lists_the_queue_and_the_history(console: Person) -> None:
    page, gallery = console.page, console.service.gallery
    admit(gallery)
    gallery.users.create(users.CreateUser(user_id=901, username="MIRA", password="some password"))
    gallery.authors.create(authors.CreateAuthor(user_id=902, username="Mira S\u043el"))  # with a Cyrillic letter
    submit(gallery, new_logo("Aurora"))
    console.sign_in("authors")
    mark = page.get_by_role("row").filter(has_text="Mira Sol").locator(".name-mark")
    expect(mark).to_have_attribute("title", re.compile("Looks like the name of another author: .*Mira S\u043el"))
    for view in ("submissions", "submissions/1"):
        console.open(view)
        mark = page.locator(".who .name-mark").first
        expect(mark).to_have_attribute("title", re.compile("Looks like the name of another user: .*MIRA"))
    console.open("history")
    expect(page.locator(".what .name-mark").first).to_have_attribute("title", re.compile("another author.*Mixes"))
