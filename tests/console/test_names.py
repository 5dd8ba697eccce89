"""Names that are invisible, and names that overlap adjacent text (contract J3)."""

import re

import pytest
from playwright.sync_api import expect
from pydantic import BaseModel

from logoadmin.domain.gallery import artworks, authors
from logoadmin.domain.identity import users
from tests.console.driver import Person

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
