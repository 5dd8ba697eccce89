"""Publication: the check of saved CSS, blocking, changed imports, and the view of the publication."""

import base64
import json
import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from logoadmin.domain.gallery.artworks import AmendLogo, AmendTheme, BlockLogo, GetLogo, GetTheme, ListLogos
from logoadmin.domain.kernel.kinds import LOGOS
from tests.console.driver import Person
from tests.console.service import Served

pytestmark = pytest.mark.slow("a browser")

SHEET = "https://styles.example/theme.css"


def verdict(page: Page) -> Locator:
    return page.get_by_role("region", name="What this CSS does")


def blocked(service: Served, logo_id: int) -> str | None:
    withdrawals = service.storage.read(lambda uow: uow.withdrawals.get_many(LOGOS.kind, [logo_id]))
    return withdrawals[0].reason if withdrawals else None


@pytest.mark.rule("contract L4")
def test_css_is_checked_while_typing_and_a_risk_links_to_its_position(console: Person, service: Served) -> None:
    css = "a { color: red }\n\n.😀 { color: blue } }\n"
    service.gallery.themes.amend(AmendTheme(theme_id=1, custom_css=css))
    page = console.page
    page.set_viewport_size({"width": 390, "height": 720})
    console.sign_in("themes/1")
    expect(verdict(page)).to_contain_text("Sites that use it contact no other host.")
    expect(verdict(page)).to_contain_text(f"{len(css.encode())} bytes.")
    risk = verdict(page).locator(".row", has_text="Something in it is not closed")
    risk.get_by_role("button", name="Line 3").press("Enter")
    editor = page.get_by_role("textbox", name="CSS")
    expect(editor).to_be_focused()
    expect(editor).to_be_in_viewport()
    page.keyboard.insert_text("/**/")
    expect(verdict(page)).to_contain_text(f"{len(css.encode()) + 4} bytes.")
    expect(risk.get_by_role("button", name="Line 3")).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_role("button", name="Saved", exact=True)).to_be_disabled()
    saved = service.gallery.themes.get(GetTheme(theme_id=1)).custom_css
    assert saved == css.replace("} }", "} /**/}")


@pytest.mark.rule("contract L3")
def test_a_logo_is_blocked_with_a_reason_and_undone_by_keyboard(console: Person, page: Page, service: Served) -> None:
    page.set_viewport_size({"width": 390, "height": 720})
    console.sign_in("logos/1")
    page.locator(".form [name=name]").fill("Unsaved")
    button = page.get_by_role("button", name="More actions")
    button.press("Enter")
    for key in ("ArrowDown", "End", "ArrowUp"):
        page.keyboard.press(key)
    expect(page.get_by_role("menuitem", name="Block")).to_be_focused()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Block")
    expect(dialog).to_contain_text("within a minute")
    reason = dialog.get_by_label("Reason")
    expect(reason).to_be_focused()
    reason.fill("Copies a <b>competitor</b>,\nand their name")
    console.press(dialog.get_by_role("button", name="Block"))
    expect(page.locator(".notice")).to_contain_text("Blocked")
    expect(button).to_be_focused()
    assert blocked(service, 1) == "Copies a <b>competitor</b>, and their name"
    newest = page.locator(".change-words").first
    expect(newest).to_have_text("admin blocked the logo Logo 1: Copies a <b>competitor</b>, and their name")
    # Unsaved input stays, and no conflict is reported.
    expect(page.locator(".form [name=name]")).to_have_value("Unsaved")
    expect(page.locator(".form [name=active]")).not_to_be_checked()
    expect(page.locator(".band-warning")).to_have_count(0)
    page.locator(".notice-action").press("Enter")
    expect(newest).to_have_text("admin undid the block of the logo Logo 1")
    expect(page.locator(".form [name=active]")).to_be_checked()
    assert blocked(service, 1) is None
    page.keyboard.press("Control+s")
    expect(page.locator(".notice", has_text="Saved")).to_be_visible()
    assert service.gallery.logos.get(GetLogo(logo_id=1)).name == "Unsaved"


@pytest.mark.rule("contract L5")
def test_imports_are_copied_into_the_form_on_a_phone(console: Person, page: Page, service: Served) -> None:
    service.gallery.themes.amend(AmendTheme(theme_id=1, custom_css=f"@import url({SHEET}) print;\ni {{ top: 0 }}"))
    page.set_viewport_size({"width": 390, "height": 720})
    console.sign_in("themes/1")
    part = page.locator(".verdict")
    part.get_by_role("button", name="Copy the imports").click()
    expect(page.locator(".notice")).to_have_count(0)
    expect(part.get_by_text("The server responds with status")).to_be_visible()
    service.origins.sheets[SHEET] = "body { color: red }"
    part.get_by_role("button", name="Copy the imports").click()
    expect(part).to_contain_text("Copied 1 stylesheet:")
    expect(part.get_by_role("listitem")).to_have_text([SHEET])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.keyboard.press("Control+s")
    expect(page.locator(".notice", has_text="Saved")).to_be_visible()
    css = service.gallery.themes.get(GetTheme(theme_id=1)).custom_css
    assert css.startswith(f"@media print {{\n/*! from {SHEET} sha256-")
    assert css.endswith("body { color: red }\n/*! end */\n}\ni { top: 0 }")


@pytest.mark.rule("contract L3", "contract L5", "contract L4")
def test_lists_show_and_find_unpublished_works(console: Person, page: Page, service: Served) -> None:
    late = "@import url(https://late.example/a.css);"
    service.gallery.themes.amend(AmendTheme(theme_id=2, custom_css=late, active=True))
    service.gallery.themes.amend(AmendTheme(theme_id=3, custom_css="input { color: red }", active=True))
    service.gallery.logos.block(BlockLogo(logo_id=1, reason="It covers the sign-in form"))
    console.sign_in("")
    attention = page.locator(".matters li")
    expect(attention.nth(0)).to_have_text("Sites do not get 1 active theme")
    expect(attention.nth(1)).to_have_text("1 theme has risky CSS")
    attention.nth(0).get_by_role("link").click()
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator(".card .state")).to_have_text("Left out")
    expect(page.locator(".card .state")).to_have_attribute("title", re.compile("imports a style sheet"))
    console.filter("State", "Risky")
    expect(page.locator(".card .card-name")).to_have_text(["Theme 3"])
    # Activating in bulk skips blocked works, and reports them.
    console.open("logos?active=no&q=Logo")
    page.get_by_role("button", name="Select all").click()
    page.get_by_role("button", name="Activate", exact=True).click()
    expect(page.locator(".notice", has_text="1 blocked record was left out")).to_be_visible()
    expect(page.locator(".notice", has_text="Activated")).to_be_visible()
    assert [logo.logo_id for logo in service.gallery.logos.list(ListLogos(active=False, q="Logo"))] == [1]
    assert blocked(service, 1) == "It covers the sign-in form"
    console.open("logos?look=table&state=blocked")
    row = page.locator("tbody tr", has_text="Logo 1")
    expect(row.locator(".state")).to_have_text("Blocked")
    expect(row.locator(".state")).to_have_attribute("title", "It covers the sign-in form")
    row.get_by_role("link").click()
    page.get_by_role("button", name="Lift the block").click()
    page.get_by_role("dialog").get_by_role("button", name="Lift the block").click()
    expect(page.locator(".notice")).to_contain_text("Activated")
    assert blocked(service, 1) is None


@pytest.mark.rule("contract J3", "contract L1")
def test_the_overview_starts_with_the_tasks_and_reports_sites_that_lag_behind(console: Person, service: Served) -> None:
    service.gallery.logos.amend(AmendLogo(logo_id=2, custom_css="position: fixed; inset: 0"))
    page = console.page

    def fall_behind(route: Route) -> None:
        payload = json.dumps({"version": 1, "issued": service.clock.now(), "expires": service.clock.now() + 86_400})
        route.fulfill(json={"payload": base64.b64encode(payload.encode()).decode()})

    page.route("**/gallery/latest.json", fall_behind)
    console.sign_in()
    expect(page.locator(".matters li").first).to_have_text("1 logo has risky CSS")
    card = page.locator(".panel")
    expect(card).to_contain_text(re.compile(r"Sites get .?\d+ logos and \d+ themes?.?\."))
    expect(card).to_contain_text("Readers accept it until")
    expect(card.locator(".remark")).to_have_text("Sites do not get the latest changes yet.")
    expect(card.get_by_role("link", name="See the page")).to_have_attribute("href", f"{service.address}/gallery/")
    page.unroute("**/gallery/latest.json")
    card.get_by_role("button", name="Publish now").click()
    expect(card.locator(".remark")).to_have_count(0)
