"""What sites get of the gallery: the check of saved CSS, blocking, changed imports, and the view of the publication."""

import pytest
from playwright.sync_api import Locator, Page, expect

from logoadmin.domain.services.artworks import AmendTheme, GetTheme
from tests.console.driver import Person
from tests.console.service import Served

pytestmark = pytest.mark.slow("a browser")


def verdict(page: Page) -> Locator:
    return page.get_by_role("region", name="The saved CSS")


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
