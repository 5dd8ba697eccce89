"""What sites get of the gallery: the check of saved CSS, blocking, changed imports, and the view of the publication."""

import ast
import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from logoadmin.domain.publication.pins.pins import CheckThemePins, GetThemePins
from playwright.sync_api import Locator, Page, Route, expect

from logoadmin.domain.gallery.artworks import AmendLogo, AmendTheme, BlockLogo, GetLogo, GetTheme
from logoadmin.domain.kernel.kinds import LOGOS
from tests.console.conftest import CONSOLE, Module
from tests.console.driver import Person
from tests.console.service import Served

pytestmark = pytest.mark.slow("a browser")

SHEET = "https://styles.example/theme.css"


def verdict(page: Page) -> Locator:
    return page.get_by_role("region", name="What this CSS does")


def blocked(service: Served, logo_id: int) -> str | None:
    withdrawal = service.storage.read(lambda uow: uow.publication.withdrawals.get(LOGOS.kind, logo_id))
    return None if withdrawal is None else withdrawal.reason


@pytest.mark.rule("contract L4")
def test_css_is_judged_while_it_is_written_and_a_risk_leads_to_its_place(console: Person, service: Served) -> None:
    css = "a { color: red }\n\n.😀 { color: blue } }\n"
    service.gallery.themes.amend(AmendTheme(theme_id=1, custom_css=css))
    page = console.page
    page.set_viewport_size({"width": 390, "height": 720})
    console.sign_in("themes/1")
    expect(verdict(page)).to_contain_text("Sites that use it contact no other host.")
    expect(verdict(page)).to_contain_text(f"{len(css.encode())} bytes.")
    risk = verdict(page).locator(".row", has_text="Something in it is not closed")
    risk.get_by_role("button", name="Line 3").focus()
    page.keyboard.press("Enter")
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
    editor.focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text("a { color: red }")
    page.keyboard.press("Control+s")
    expect(verdict(page)).to_contain_text("Nothing in it needs attention.")


@pytest.mark.rule("contract L4", "contract J3")
def test_a_risk_leads_to_its_place_in_the_text_area_and_the_editor_keeps_it(console: Person, service: Served) -> None:
    css = "a { color: red }\n\n.😀 { color: blue } }\n"
    service.gallery.themes.amend(AmendTheme(theme_id=1, custom_css=css))
    page = console.page
    held: list[Route] = []
    page.route("**/css_code.js", lambda route: held.append(route))
    console.sign_in("themes/1")
    verdict(page).get_by_role("button", name="Line 3").press("Enter")
    editor = page.get_by_role("textbox", name="CSS")
    expect(editor).to_be_focused()
    page.keyboard.insert_text("/*1*/")
    for route in held:
        route.continue_()
    expect(page.locator("textarea.css-editor-plain")).to_have_count(0)
    expect(editor).to_be_focused()
    page.keyboard.insert_text("/*2*/")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("button", name="Saved", exact=True)).to_be_disabled()
    saved = service.gallery.themes.get(GetTheme(theme_id=1)).custom_css
    assert saved == css.replace("} }", "} /*1*//*2*/}")


@pytest.mark.rule("contract L4")
def test_the_last_verdict_stays_while_the_service_is_away(console: Person, service: Served) -> None:
    service.gallery.themes.amend(AmendTheme(theme_id=1, custom_css="a { color: red }"))
    page = console.page
    console.sign_in("themes/1")
    expect(verdict(page)).to_contain_text("16 bytes.")
    page.route("**/api/css/verdict", lambda route: route.abort())
    page.get_by_role("textbox", name="CSS").focus()
    page.keyboard.press("ControlOrMeta+End")
    page.keyboard.insert_text("@import '//i.example';")
    expect(verdict(page).get_by_role("status")).to_have_text("The service does not answer. This is its last answer.")
    expect(verdict(page)).to_contain_text("16 bytes.")
    page.unroute("**/api/css/verdict")
    page.keyboard.insert_text(" ")
    expect(verdict(page)).to_contain_text("Sites that use it contact i.example.")
    expect(verdict(page)).to_contain_text("39 bytes.")
    expect(verdict(page).get_by_role("status")).to_have_count(0)


@pytest.mark.rule("contract L3")
def test_a_logo_is_blocked_with_a_reason_and_undone_by_keyboard(console: Person, service: Served) -> None:
    page = console.page
    page.set_viewport_size({"width": 390, "height": 720})
    console.sign_in("logos/1")
    page.locator(".form [name=name]").fill("Unsaved")
    button = page.get_by_role("button", name="More actions")
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem", name="Duplicate")).to_be_focused()
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(page.get_by_role("menu")).to_have_count(0)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("menuitem", name="Block")).to_be_focused()
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
    expect(page.locator(".band-warning")).to_have_count(0)
    page.locator(".notice-action").focus()
    page.keyboard.press("Enter")
    expect(newest).to_have_text("admin undid the block of the logo Logo 1")
    expect(page.locator(".form [name=active]")).to_be_checked()
    assert blocked(service, 1) is None
    page.keyboard.press("Control+s")
    expect(page.locator(".notice", has_text="Saved")).to_be_visible()
    assert service.gallery.logos.get(GetLogo(logo_id=1)).name == "Unsaved"


def offer(service: Served, css: str) -> None:
    """Have the address of the import of a theme return another sheet, and the service know it."""
    service.origins.sheets[SHEET] = css
    service.gallery.pins.check(CheckThemePins(theme_id=1))


def pinned(service: Served) -> str | None:
    (pin,) = service.gallery.pins.list(GetThemePins(theme_id=1))
    return service.storage.read(lambda uow: uow.publication.pins.sheet(pin.sha256 or ""))


@pytest.mark.rule("contract L5")
def test_a_changed_import_is_seen_and_accepted_on_a_phone(console: Person, service: Served) -> None:
    service.gallery.themes.amend(AmendTheme(theme_id=1, custom_css=f"@import url({SHEET});"))
    page = console.page
    page.set_viewport_size({"width": 390, "height": 720})
    console.sign_in("themes/1")
    page.locator(".form [name=name]").fill("Unsaved")
    imports = page.get_by_role("list", name="Imported stylesheets")
    check, accept = (page.get_by_role("button", name=name) for name in ("Check now", "Accept the change"))
    expect(imports).to_contain_text("Not pinned yet.")
    check.click()
    expect(imports).to_contain_text("Not pinned, so sites do not get this record.")
    expect(imports).to_contain_text("styles.example")
    service.origins.sheets[SHEET] = "body { color: red }"
    check.click()
    expect(imports).to_contain_text("Pinned. Last checked")
    expect(page.locator(".notice", has_text="No imported stylesheet has changed.")).to_be_visible()
    expect(accept).to_have_count(0)
    service.origins.sheets[SHEET] = f"body {{ color: blue }}\n/* {'long ' * 40}*/"
    check.click()
    expect(imports.locator("del")).to_have_text("body { color: red }")
    expect(imports.locator(".diff-removed .diff-sign")).to_have_text("\u2212")
    expect(imports.locator(".diff-added .diff-sign").first).to_have_text("+")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert pinned(service) == "body { color: red }"
    # Only the sheet that was shown is accepted.
    offer(service, "body { color: green }")
    accept.focus()
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Accept the change").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("It has changed again.")
    expect(imports.locator("ins")).to_have_text(["body { color: green }"])
    assert pinned(service) == "body { color: red }"
    accept.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text("The change contacts no new host and brings no new risk.")
    page.get_by_role("dialog").get_by_role("button", name="Accept the change").press("Enter")
    newest = page.locator(".change-words").first
    expect(newest).to_have_text("admin accepted changed imports of the theme Theme 1")
    expect(accept).to_have_count(0)
    assert pinned(service) == "body { color: green }"
    page.locator(".disclosure-head").first.click()
    expect(page.locator(".disclosure-body .members").first).to_contain_text(f"{SHEET} (")
    page.locator(".notice-action").click()
    expect(newest).to_have_text("admin undid accepting changed imports of the theme Theme 1")
    expect(accept).to_be_visible()
    assert pinned(service) == "body { color: red }"
    page.locator(".form [name=name]").press("Control+s")
    expect(page.locator(".notice", has_text="Saved")).to_be_visible()
    assert service.gallery.themes.get(GetTheme(theme_id=1)).name == "Unsaved"


@pytest.mark.rule("contract L3")
def test_a_block_has_its_reason_which_can_be_changed_and_is_lifted_after_a_question(
    console: Person, service: Served
) -> None:
    service.gallery.logos.block(BlockLogo(logo_id=1, reason="It covers the sign-in form"))
    page = console.page
    console.sign_in("logos/1")
    banner = page.locator(".band")
    expect(banner).to_contain_text("It covers the sign-in form")
    banner.get_by_role("button", name="Change the reason").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Reason")).to_have_value("It covers the sign-in form")
    dialog.get_by_label("Reason").fill("It covers everything")
    dialog.get_by_role("button", name="Block").click()
    expect(banner).to_contain_text("It covers everything")
    banner.get_by_role("button", name="Lift the block…").press("Enter")
    question = page.get_by_role("dialog", name="Lift the block of")
    expect(question).to_contain_text("again. It was blocked for this reason: \u2068It covers everything\u2069")
    question.get_by_role("button", name="Cancel").click()
    assert blocked(service, 1) == "It covers everything"
    banner.get_by_role("button", name="Lift the block…").click()
    question.get_by_role("button", name="Lift the block").click()
    expect(banner).to_have_count(0)
    expect(page.locator(".change-words").first).to_have_text("admin activated the logo Logo 1 and lifted its block")
    expect(page.locator(".form [name=active]")).to_be_checked()
    assert blocked(service, 1) is None


def reasons() -> Iterator[str]:
    """Yield every reason for which a sheet cannot be pinned, as the source words it, with 5 for each value."""
    source = CONSOLE.parents[1]
    for path in (*source.glob("domain/publication/pins/*.py"), *source.glob("adapters/httpcore_outgoing/*.py")):
        yield from reasons_in(path)


def reasons_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id="OutgoingError"), args=[_, reason]):
                yield from texts(reason)
            case ast.Assign(targets=[ast.Name(id="reason")], value=reason):
                yield from texts(reason)
            case ast.FunctionDef(name="_refused"):
                yield from (
                    text for each in ast.walk(node) if isinstance(each, ast.Return) for text in texts(each.value)
                )
            case ast.AnnAssign(target=ast.Name(id="NOT_ASKED"), value=reason):
                yield from texts(reason)


def texts(value: ast.expr | None) -> list[str]:
    match value:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=parts):
            return ["".join(str(each.value) if isinstance(each, ast.Constant) else "5" for each in parts)]
        case ast.IfExp(body=one, orelse=other):
            return [*texts(one), *texts(other)]
    return []


@pytest.mark.rule("contract J4", "contract L5")
def test_every_reason_for_which_a_sheet_is_not_pinned_is_known_in_the_language_of_the_console(module: Module) -> None:
    words = "parts/publication/pin_failure.js", "failureWords"
    found = {*reasons()}
    assert len(found) > 30
    # Without loaded texts, a text is its key.
    assert [each for each in found if not module(*words, [each]).startswith("pin.")] == []
    assert module(*words, ["late.example: cannot be reached"]) == "pin.of"
    assert module(*words, ["An imported style sheet cannot be pinned: [::1]: cannot be reached"]) == "pin.of"
    assert module(*words, ["late.example: something new"]) == "late.example: something new"


@pytest.mark.rule("contract L3", "contract L5")
def test_a_band_above_the_form_has_what_to_do_about_its_state(console: Person, service: Served) -> None:
    service.gallery.themes.amend(AmendTheme(theme_id=1, custom_css=f"@import url({SHEET});", active=True))
    for css in ("a {}", "b {}"):
        offer(service, css)
    late = "https://late.example/a.css"
    service.gallery.themes.amend(AmendTheme(theme_id=2, custom_css=f"@import url({late});", active=True))
    page = console.page
    console.sign_in("themes/1")
    band = page.locator(".band")
    expect(band).to_contain_text("Look at the difference below the CSS")
    band.get_by_role("button", name="Show the imports").press("Enter")
    expect(page.locator(".imports")).to_be_focused()
    expect(page.get_by_role("button", name="Accept the change")).to_be_in_viewport()
    console.open("themes/2")
    expect(band).to_contain_text("Correct its address in the CSS")
    again = band.get_by_role("button", name="Try again")
    again.click()
    expect(page.locator(".notice.failed")).to_contain_text("Sites still do not get it.")
    service.origins.sheets[late] = "a { color: red }"
    again.click()
    expect(band).to_have_count(0)
    expect(page.locator(".record-facts")).not_to_contain_text("Left out")


@pytest.mark.rule("contract L3", "contract L5", "contract L4")
def test_lists_show_and_find_what_sites_do_not_get(console: Person, service: Served) -> None:
    service.gallery.themes.amend(AmendTheme(theme_id=1, custom_css=f"@import url({SHEET});", active=True))
    for css in ("a {}", "b {}"):
        offer(service, css)
    late = "@import url(https://late.example/a.css);"
    service.gallery.themes.amend(AmendTheme(theme_id=2, custom_css=late, active=True))
    service.gallery.themes.amend(AmendTheme(theme_id=3, custom_css="input { color: red }", active=True))
    service.gallery.logos.block(BlockLogo(logo_id=1, reason="It covers the sign-in form"))
    page = console.page
    console.sign_in("")
    attention = page.locator(".matters li")
    expect(attention.nth(0)).to_have_text("Sites do not get 1 active theme")
    expect(attention.nth(1)).to_have_text("1 theme imports a stylesheet that has changed")
    expect(attention.nth(2)).to_have_text("1 theme has risky CSS")
    attention.nth(0).get_by_role("link").click()
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator(".card .state")).to_have_text("Left out")
    expect(page.locator(".card .state")).to_have_attribute("title", re.compile("late.example"))
    console.filter("State", "Import changed")
    expect(page.locator(".card .card-name")).to_have_text(["Theme 1"])
    console.filter("State", "Risky")
    expect(page.locator(".card .card-name")).to_have_text(["Theme 3"])
    console.open("themes/2")
    expect(page.locator(".band")).to_contain_text("late.example")
    console.open("logos?look=table&state=blocked")
    row = page.locator("tbody tr", has_text="Logo 1")
    expect(row.locator(".state")).to_have_text("Blocked")
    expect(row.locator(".state")).to_have_attribute("title", "It covers the sign-in form")
    row.get_by_role("link").click()
    expect(page.locator("h1")).to_have_text("Logo 1")
    page.get_by_role("button", name="Lift the block").click()
    page.get_by_role("dialog").get_by_role("button", name="Lift the block").click()
    expect(page.locator(".notice")).to_contain_text("Activated")
    assert blocked(service, 1) is None
    page.go_back()
    expect(page.locator("tbody tr", has_text="Logo 1")).to_have_count(0)


@pytest.mark.rule("contract L3")
def test_activating_many_leaves_blocked_ones_out_and_says_so(console: Person, service: Served) -> None:
    for logo_id in (1, 2):
        service.gallery.logos.amend(AmendLogo(logo_id=logo_id, active=False))
    service.gallery.logos.block(BlockLogo(logo_id=1, reason="Spam"))
    page = console.page
    console.sign_in("logos?active=no&q=Logo")
    expect(page.locator(".state-blocked")).to_have_text("Blocked")
    page.get_by_role("button", name="Select all").click()
    page.get_by_role("button", name="Activate", exact=True).click()
    expect(page.locator(".notice", has_text="1 blocked record was left out")).to_be_visible()
    expect(page.locator(".notice", has_text="Activated")).to_be_visible()
    assert blocked(service, 1) == "Spam"
    assert not service.gallery.logos.get(GetLogo(logo_id=1)).active
    assert service.gallery.logos.get(GetLogo(logo_id=2)).active


@pytest.mark.rule("contract L4", "contract L5")
def test_both_copies_of_a_changed_import_can_be_looked_at_and_new_risks_are_named(
    console: Person, service: Served
) -> None:
    service.gallery.themes.amend(AmendTheme(theme_id=1, custom_css=f"@import url({SHEET});"))
    offer(service, "input { color: rgb(1, 2, 3) } body { color: rgb(1, 2, 3) }")
    offer(
        service,
        "input, body { color: rgb(4, 5, 6) } i { position: fixed; inset: 0; background: url(https://evil.example/x) }",
    )
    page = console.page
    console.sign_in("themes/1")
    news = page.get_by_role("list", name="New with the change:").get_by_role("listitem")
    expect(news).to_have_text(["Sites that use it also contact \u2068evil.example\u2069.", "It can cover the page."])
    frame = page.frame_locator("iframe.preview-frame")
    page.get_by_role("button", name="Preview the pinned copy").click()
    expect(frame.locator("body")).to_have_css("color", "rgb(1, 2, 3)")
    page.get_by_role("button", name="Preview the offered copy").click()
    expect(frame.locator("body")).to_have_css("color", "rgb(4, 5, 6)")
    page.get_by_role("button", name="Preview the offered copy").click()
    expect(frame.locator("body")).not_to_have_css("color", "rgb(4, 5, 6)")
    page.get_by_role("button", name="Accept the change").click()
    question = page.get_by_role("dialog")
    expect(question).to_contain_text("evil.example")
    expect(question).to_contain_text("It can cover the page.")
    question.get_by_role("button", name="Cancel").click()
    assert "rgb(1, 2, 3)" in (pinned(service) or "")


@pytest.mark.rule("contract J3", "contract L1")
def test_the_overview_begins_with_what_to_do_and_says_when_sites_are_behind(console: Person, service: Served) -> None:
    service.gallery.logos.amend(AmendLogo(logo_id=2, custom_css="position: fixed; inset: 0"))
    page = console.page

    def fall_behind(route: Route) -> None:
        payload = json.dumps({"version": 1, "issued": service.clock.now(), "expires": service.clock.now() + 86_400})
        route.fulfill(json={"payload": base64.b64encode(payload.encode()).decode()})

    page.route("**/gallery/latest.json", fall_behind)
    console.sign_in()
    expect(page.locator(".matters li").first).to_have_text("1 logo has risky CSS")
    expect(page.locator("#work h2")).to_have_text(["Needs attention", "What sites have", "Latest changes"])
    card = page.locator(".panel")
    expect(card).to_contain_text(re.compile(r"Sites get .?\d+ logos and \d+ themes?.?\."))
    expect(card).to_contain_text("Readers accept it until")
    expect(card.locator(".remark")).to_have_text("Sites do not get the latest changes yet.")
    expect(card.get_by_role("link", name="See the page")).to_have_attribute("href", f"{service.address}/gallery/")
    page.unroute("**/gallery/latest.json")
    card.get_by_role("button", name="Publish now").click()
    expect(card.locator(".remark")).to_have_count(0)
