"""The style sheets of the console: every rule applies, in whichever order views are opened."""

import re
from collections import defaultdict
from typing import Final

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.console.conftest import CONSOLE
from tests.console.driver import Person, looking
from tests.console.service import Served

SHEETS: Final = {path.stem: path.read_text("utf-8") for path in sorted((CONSOLE / "style").glob("*.css"))}
# Those of all views come first, in this order; views load the others, which stay.
_FIRST: Final = ("tokens", "base", "shell", "parts")
_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)
# What is visible of a state in forced colours: its lines and its text.
_LINES: Final = """(element) => {
  const { outlineStyle, outlineWidth, outlineColor, borderTopWidth, borderTopColor, color } = getComputedStyle(element);
  return [outlineStyle === "none" ? "" : outlineWidth + outlineColor, borderTopWidth + borderTopColor, color];
}"""


def selectors(sheet: str) -> list[str]:
    """Return all selectors of a sheet, each in one line; a list of them ends without a comma."""
    found = re.findall(r"([^{}]*)\{", _COMMENT.sub("", sheet))
    return [" ".join(each.split()) for text in found if not text.strip().startswith("@") for each in text.split(",")]


@pytest.mark.rule("contract J5")
def test_no_css_rule_is_invalid_or_depends_on_the_order_of_views() -> None:
    where = defaultdict(set)
    for name, sheet in SHEETS.items():
        bare = _COMMENT.sub("", sheet)
        assert bare.count("{") == bare.count("}"), name
        assert not re.search(r",\s*[{}]", bare), name
        for selector in selectors(sheet):
            if name not in _FIRST and selector not in ("from", "to"):
                where[selector].add(name)
    brought = re.findall(r"(?:styles:|STYLES =) \[([^\]]*)\]", (CONSOLE / "views.js").read_text("utf-8"))
    # A part that is loaded when first shown can load its own sheet.
    parts = {
        name
        for module in CONSOLE.rglob("*.js")
        for name in re.findall(r'loadStyle\("(\w+)"\)', module.read_text("utf-8"))
    }
    together = {frozenset(re.findall(r"\w+", names)) for names in [*brought, *parts]}
    apart = {each: names for each, names in where.items() if not any(names <= those for those in together)}
    assert apart == {}


def lines(locator: Locator) -> list[str]:
    found: list[str] = locator.evaluate(_LINES)
    return found


@pytest.mark.rule("contract J4", "contract J5")
@pytest.mark.slow("a browser")
def test_selected_inactive_and_disabled_states_are_visible_in_forced_colours(
    chromium: Browser, service: Served
) -> None:
    with looking(chromium, service, forced_colors="active", reduced_motion="reduce") as person:
        person.sign_in("logos")
        page = person.page
        page.locator(".card .select").nth(1).check()
        for one, other in [
            (".sidebar-link[aria-current]", ".sidebar-link:not([aria-current])"),
            (".segmented [aria-pressed=true]", ".segmented [aria-pressed=false]"),
            (".card.selected", ".card:not(.selected)"),
            (".strip .button[aria-disabled=true]", ".strip .button:not([aria-disabled=true])"),
        ]:
            assert lines(page.locator(one).first) != lines(page.locator(other).first), one
        person.open("logos/1")
        on = filling(page, ".switch:checked")
        page.get_by_role("switch").click()
        assert filling(page, ".switch:not(:checked)") != on
        page.get_by_role("switch").click()
        # The preview of the site has the colours of the site.
        site = page.frame_locator(".preview-frame").locator("body")
        expect(site).to_have_css("forced-color-adjust", "none")
        save = page.locator(".record-save")
        forbidden = lines(save)
        page.get_by_label("Name").fill("")
        expect(save).not_to_have_attribute("aria-disabled", "true")
        assert lines(save) != forbidden
        field = page.get_by_label("Name")
        page.get_by_role("combobox", name="Target").focus()
        usual = lines(field)
        page.keyboard.press("Control+s")
        expect(field).to_have_attribute("aria-invalid", "true")
        page.get_by_role("combobox", name="Target").focus()
        assert lines(field) != usual


def filling(page: Page, switch: str) -> tuple[str, str]:
    """Return the ground of a switch and what the system makes of it."""
    style = page.locator(switch).first.evaluate(
        "(e) => [getComputedStyle(e).backgroundColor, getComputedStyle(e).forcedColorAdjust]"
    )
    return style[0], style[1]


@pytest.mark.rule("contract J5")
@pytest.mark.slow("a browser")
def test_all_letters_of_the_texts_are_in_the_typeface(console: Person) -> None:
    letters = {letter for path in (CONSOLE / "texts").rglob("*.js") for letter in path.read_text("utf-8")} - {"\n"}
    console.sign_in("logos")
    head = console.page.get_by_role("heading", level=1)
    expect(head).to_have_text("Logos")
    head.evaluate("(head, letters) => { head.textContent = letters }", "".join(sorted(letters)))
    devtools = console.page.context.new_cdp_session(console.page)
    devtools.send("DOM.enable")
    devtools.send("CSS.enable")
    root = devtools.send("DOM.getDocument")["root"]["nodeId"]
    node = devtools.send("DOM.querySelector", {"nodeId": root, "selector": "h1"})["nodeId"]
    fonts = devtools.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
    assert [(font["familyName"], font["isCustomFont"]) for font in fonts] == [("Geist", True)]
