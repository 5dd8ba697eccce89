"""What sites get of the gallery: the check of saved CSS, blocking, changed imports, and the view of the publication."""

import pytest
from playwright.sync_api import Locator, Page, expect

from logoadmin.domain.model.kinds import LOGOS
from logoadmin.domain.services.artworks import AmendTheme, GetLogo, GetTheme
from tests.console.driver import Person
from tests.console.service import PAINTER, Served

pytestmark = pytest.mark.slow("a browser")


def verdict(page: Page) -> Locator:
    return page.get_by_role("region", name="The saved CSS")


def blocked(service: Served, logo_id: int) -> str | None:
    withdrawal = service.storage.read(lambda uow: uow.withdrawals.get(LOGOS.kind, logo_id))
    return None if withdrawal is None else withdrawal.reason


@pytest.mark.rule("contract L4")
def test_a_risk_of_saved_css_leads_to_its_place(console: Person, service: Served) -> None:
    css = "a { color: red }\n\n.😀 { color: blue } }\n"
    service.gallery.themes.amend(AmendTheme(theme_id=1, custom_css=css))
    page = console.page
    page.set_viewport_size({"width": 390, "height": 720})
    console.sign_in("themes/1")
    expect(verdict(page)).to_contain_text("This CSS contacts no other host.")
    expect(verdict(page)).to_contain_text(f"{len(css.encode())} bytes.")
    risk = verdict(page).locator(".row", has_text="It has mistakes")
    risk.get_by_role("button", name="Line 3").focus()
    page.keyboard.press("Enter")
    editor = page.get_by_role("textbox", name="CSS")
    expect(editor).to_be_focused()
    expect(editor).to_be_in_viewport()
    page.keyboard.insert_text("/**/")
    # The places are those of the text that was saved.
    expect(risk.get_by_role("button")).to_have_count(0)
    expect(verdict(page)).to_contain_text("It is checked again when you save.")
    page.keyboard.press("Control+s")
    expect(verdict(page)).to_contain_text(f"{len(css.encode()) + 4} bytes.")
    saved = service.gallery.themes.get(GetTheme(theme_id=1)).custom_css
    assert saved == css.replace("} }", "} /**/}")
    editor.focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text("a { color: red }")
    page.keyboard.press("Control+s")
    expect(verdict(page)).to_contain_text("Nothing in it needs attention.")


@pytest.mark.rule("contract L3")
def test_a_logo_is_blocked_with_a_reason_and_undone_by_keyboard(console: Person, service: Served) -> None:
    page = console.page
    page.set_viewport_size({"width": 390, "height": 720})
    console.sign_in("logos/1")
    page.locator(".form [name=name]").fill("Unsaved")
    button = page.locator(".view-actions").get_by_role("button", name="Block")
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Block")
    expect(dialog).to_contain_text("within a minute")
    reason = dialog.get_by_label("Reason")
    expect(reason).to_be_focused()
    for wrong, words in (("", "Please fill this in."), (" \n", "Please fill this in."), ("x" * 201, "1 character")):
        reason.fill(wrong)
        console.press(dialog.get_by_role("button", name="Block"))
        expect(dialog.locator(".problem")).to_contain_text(words)
        expect(reason).to_be_focused()
    reason.fill("Copies a <b>competitor</b>,\nand their name")
    console.press(dialog.get_by_role("button", name="Block"))
    expect(page.locator(".notice")).to_contain_text("Blocked")
    expect(button).to_be_focused()
    assert blocked(service, 1) == "Copies a <b>competitor</b>, and their name"
    newest = page.locator(".change-words").first
    expect(newest).to_have_text("admin blocked the logo Logo 1: Copies a <b>competitor</b>, and their name")
    # Unsaved input stays, and nobody else is said to have changed the record.
    expect(page.locator(".form [name=name]")).to_have_value("Unsaved")
    expect(page.locator(".form [name=active]")).not_to_be_checked()
    expect(page.locator(".remark-row")).to_have_count(0)
    page.locator(".notice-action").focus()
    page.keyboard.press("Enter")
    expect(newest).to_have_text("admin undid the block of the logo Logo 1")
    expect(page.locator(".form [name=active]")).to_be_checked()
    assert blocked(service, 1) is None
    page.keyboard.press("Control+s")
    expect(page.locator(".notice", has_text="Saved")).to_be_visible()
    assert service.gallery.logos.get(GetLogo(logo_id=1)).name == "Unsaved"


@pytest.mark.rule("contract J2", "contract L3")
def test_who_may_not_change_themes_sees_why_they_cannot_block_one(console: Person) -> None:
    console.sign_in("themes/1", username=PAINTER[0], password=PAINTER[1])
    button = console.page.locator(".view-actions").get_by_role("button", name="Block")
    expect(button).to_have_attribute("aria-disabled", "true")
    needed = "You need the \u2068themes:write\u2069 permission. Ask an administrator."
    expect(button).to_have_accessible_description(needed)
    button.click(force=True)
    expect(console.page.get_by_role("dialog")).to_have_count(0)
