"""Every view and state in all appearances: axe, forced colours, letters, styles and screenshots (contract J5)."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, CDPSession, Page, expect

from logoadmin.domain.changes.bulk_changes import BulkChange
from logoadmin.domain.changes.proposal_commands import DeclineProposal
from logoadmin.domain.gallery.artworks import GetTheme
from logoadmin.domain.kernel.records import Kind
from tests.console.conftest import CONSOLE
from tests.console.driver import APPEARANCES, LANGUAGES, SCHEMES, VIEWS, WIDTHS, Appearance, Person, looking
from tests.console.service import MEMBER, OWN, Served, admit, new_logo, submit
from tests.console.states import STATES
from tests.gallery import ADMIN_PASSWORD
from tests.options import OPTIONS

pytestmark = pytest.mark.slow("a browser")


AXE: Final = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
# The frame of the preview is a foreign site, and has its own test. Of forced colours the system knows
# the contrast; axe reads those of before.
RUN: Final = """
axe.run({exclude: ["iframe"]}, {
  iframes: false, preload: false, resultTypes: ["violations"],
  rules: {"target-size": {enabled: true}, "color-contrast": {enabled: !matchMedia("(forced-colors: active)").matches}},
}).then(({violations}) =>
  violations.flatMap(({id, nodes}) => nodes.map((node) => `${id} ${node.target}: ${node.failureSummary}`)))
"""

KEYS: Final = [
    key
    for source in (CONSOLE / "texts" / "en").glob("*.js")
    for key in re.findall(r'(?m)^  "(\w+\.[^"]+)":', source.read_text("utf-8"))
]
# The texts shown as keys, as when a view starts before its words have loaded.
WORDLESS: Final = """(keys) => {
  const known = new Set(keys);
  const names = ["title", "aria-label", "placeholder", "aria-description"];
  const said = [...document.querySelectorAll("body *")].flatMap((each) => [
    ...names.map((name) => each.getAttribute(name)),
    ...[...each.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data),
  ]);
  return said.filter((text) => known.has(text?.trim()));
}"""


def findings(page: Page) -> list[str]:
    """Let axe read what is shown, where the policy of the page allows no script of ours."""
    session: CDPSession = page.context.new_cdp_session(page)
    options = {"awaitPromise": True, "allowUnsafeEvalBlockedByCSP": True}
    for source in (RUN,) if page.evaluate("'axe' in globalThis") else (AXE, RUN):
        asked = options | {"expression": source, "returnByValue": source is RUN}
        answer: dict[str, Any] = session.send("Runtime.evaluate", asked)
        assert "exceptionDetails" not in answer, answer
    session.detach()
    found: list[str] = answer["result"]["value"]
    return found


@pytest.fixture
def still(chromium: Browser, service: Served) -> Iterator[Person]:
    """A person with reduced motion."""
    with looking(chromium, service, reduced_motion="reduce") as person:
        yield person


def appearances_of(number: int) -> tuple[Appearance, Appearance]:
    """Return how the view with a number is looked at, and how else for a release.

    Among all views, each two of a width, a scheme, a language and forced colours come together.
    """
    width, scheme, language = number % 3, number % 2, number // 2 % 2
    return (
        Appearance(WIDTHS[width], SCHEMES[scheme], LANGUAGES[language], forced=number % 5 == 0),
        Appearance(WIDTHS[width - 1], SCHEMES[1 - scheme], LANGUAGES[1 - language]),
    )


@pytest.mark.rule("contract J3")
def test_every_view_is_among_the_tested_ones() -> None:
    paths = re.findall(r'\{ path: "([^"]*)"', (CONSOLE / "views.js").read_text("utf-8"))
    looked_at = [view.partition("?")[0] for view in VIEWS]
    assert len(paths) > 20
    for path in paths:
        assert any(re.fullmatch(re.sub(r":\w+", r"\\d+", path), view) for view in looked_at), path


# The focused element outside of the sidebar, if a bar covers it.
_COVERED: Final = """() => {
  const { left, top, width, height } = document.activeElement.getBoundingClientRect();
  const there = document.elementFromPoint(Math.max(left, 0) + width / 2, top + height / 2);
  if (!there?.closest(".sidebar, .review-actions, .strip") || there.contains(document.activeElement)) return null;
  return document.activeElement.closest(".sidebar") ? null : document.activeElement.outerHTML;
}"""


@pytest.mark.rule("contract J5")
def test_no_bar_covers_what_has_the_focus_or_a_menu_on_a_phone(still: Person) -> None:
    admit(still.service.gallery)
    submit(still.service.gallery, new_logo("Sunrise"))
    page = still.page
    still.sign_in()
    still.see(Appearance(360, "light", "en"))
    for path in ("settings", "history", "submissions/1"):
        still.open(path)
        still.settle()
        for _ in range(30):
            page.keyboard.press("Tab")
            assert page.evaluate(_COVERED) is None, path
    still.open("logos")
    page.locator(".card .select").first.check()
    page.locator(".strip summary").click()
    for item in page.locator(".strip .menu-box .button").all():
        expect(item).to_be_in_viewport(ratio=1)


# Which of two appearances is used: each change is checked in one of them.
WAYS: Final = pytest.mark.parametrize("way", [0, pytest.param(1, marks=pytest.mark.release)])


@pytest.mark.rule("contract J5")
@WAYS
@pytest.mark.parametrize("part", [0, 1])
def test_axe_finds_nothing_in_any_view_and_no_view_scrolls_sideways(still: Person, part: int, way: int) -> None:
    found = {}
    still.open()
    for appearance in appearances_of(part):
        still.see(appearance)
        still.open()
        still.settle()
        found["sign-in", appearance] = findings(still.page)
    still.see(APPEARANCES[0])
    still.sign_in()
    half = len(VIEWS) // 2 + 1
    for number, path in [*enumerate(VIEWS)][part * half :][:half]:
        still.open(path)
        still.settle()
        appearance = appearances_of(number)[way]
        found[path, appearance] = complaints(still, appearance)
    assert {where: those for where, those in found.items() if those} == {}


# Nothing to the left of a page can be scrolled into view.
_FITS: Final = """document.documentElement.scrollWidth <= innerWidth
  && [...document.querySelectorAll("[role=menu]")].every((menu) => menu.getBoundingClientRect().left >= 0)"""


def too_wide(person: Person, appearance: Appearance) -> list[str]:
    """Return whether a page is cut off or scrolls sideways: as it is, on a small phone, and with large letters."""
    wide = []
    for width, letters in ((appearance.width, 16), (320, 16), (360, 32)):
        person.see(replace(appearance, width=width))
        person.enlarge(letters)
        person.settle()
        if not person.becomes(_FITS, seconds=2):
            wide.append(f"more than {width} pixels with letters of {letters}")
    person.enlarge(16)
    return wide


# The sizes of all letters, and the height of a row of a list.
_SIZES: Final = """[...new Set([
  ...[...document.querySelectorAll("body, body *")].map((each) => parseFloat(getComputedStyle(each).fontSize)),
  document.querySelector(".card, .table tbody tr")?.getBoundingClientRect().height ?? 0,
])].sort()"""


@pytest.mark.rule("contract J5")
def test_all_letters_and_lists_grow_with_the_font_size_of_the_browser(still: Person) -> None:
    still.sign_in()
    for path in ("", "logos", "logos?look=table", "themes/1", "users", "roles/3", "history", "settings"):
        still.open(path)
        still.settle()
        usual = still.page.evaluate(_SIZES)
        assert len(usual) > 1
        still.enlarge(24)
        large = ", ".join(str(size * 1.5) for size in usual)
        assert still.becomes(f"({_SIZES}).join() === [{large}].join()"), (path, usual, still.page.evaluate(_SIZES))
        still.enlarge(16)


def complaints(person: Person, appearance: Appearance) -> list[str]:
    """Look at what is shown in another way; return what is wrong with it."""
    person.see(appearance)
    person.settle()
    assert len(KEYS) > 500
    return [*findings(person.page), *person.page.evaluate(WORDLESS, KEYS), *too_wide(person, appearance)]


@pytest.mark.rule("contract J5", "contract R4")
def test_axe_finds_nothing_in_submissions_and_in_the_views_of_members(still: Person) -> None:
    """In turns narrow and dark in Russian, and wide and light in English."""
    gallery = still.service.gallery
    admit(gallery)
    version = gallery.themes.get(GetTheme(theme_id=OWN)).version
    css = "body { position: fixed; background: url(https://tracker.example/x.svg) }"
    change = BulkChange(kind=Kind.THEME, id=OWN, version=version, set={"custom_css": css})
    submit(gallery, change, new_logo("Sunrise"), title="Two at once", note="Both belong together")
    submit(gallery, new_logo("Declined"))
    gallery.proposals.decline(DeclineProposal(proposal_id=2, reason="Hard to read on dark pages"))
    queue = ("submissions", "submissions?state=declined", "submissions/1", "submissions/2", "submissions/1/changes/0")
    found = {}
    for user, paths in {
        ("admin", ADMIN_PASSWORD): (*queue, "submissions?only=risks"),
        MEMBER: ("works", "submit", "submissions/1", "submissions/1/changes/0", "works/logos/1"),
    }.items():
        still.sign_in(username=user[0], password=user[1])
        for number, path in enumerate(paths):
            still.open(path)
            still.settle()
            appearance = Appearance(1280, "light", "en") if number % 2 else Appearance(320, "dark", "ru")
            found[user[0], path] = complaints(still, appearance)
    assert {where: those for where, those in found.items() if those} == {}


@pytest.mark.rule("contract J5")
@WAYS
def test_axe_finds_nothing_in_states_of_views(still: Person, way: int) -> None:
    still.sign_in()
    found = {}
    wide, narrow = (Appearance(1280, "light", "en"), Appearance(1280, "dark", "ru")), Appearance(320, "dark", "ru")
    appearances = (wide[0], narrow, replace(narrow, scheme="light", language="en"), wide[1])
    for state, become in enumerate(STATES):
        become(still)
        appearance = appearances[(way + 2 * state) % 4]
        still.see(appearance)
        found[become.__name__] = [*findings(still.page), *too_wide(still, appearance)]
        still.see(APPEARANCES[0])
        still.page.goto("about:blank")
    assert {state: those for state, those in found.items() if those} == {}


# The visible signs of a state in forced colours: lines and text.
_LINES: Final = """(element) => {
  const { outlineStyle, outlineWidth, outlineColor, borderTopWidth, borderTopColor, color } = getComputedStyle(element);
  return [outlineStyle === "none" ? "" : outlineWidth + outlineColor, borderTopWidth + borderTopColor, color];
}"""
# The background of a switch, and whether the system adjusts its colours.
_FILLING: Final = "(e) => [getComputedStyle(e).backgroundColor, getComputedStyle(e).forcedColorAdjust]"


@pytest.mark.rule("contract J4", "contract J5")
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
            assert page.locator(one).first.evaluate(_LINES) != page.locator(other).first.evaluate(_LINES), one
        person.open("logos/1")
        switch = page.get_by_role("switch")
        on = switch.evaluate(_FILLING)
        switch.click()
        expect(switch).not_to_be_checked()
        assert switch.evaluate(_FILLING) != on
        switch.click()
        # The preview of the site has the colours of the site.
        site = page.frame_locator(".preview-frame").locator("body")
        expect(site).to_have_css("forced-color-adjust", "none")
        save = page.locator(".record-save")
        forbidden = save.evaluate(_LINES)
        page.get_by_label("Name").fill("")
        expect(save).not_to_have_attribute("aria-disabled", "true")
        assert save.evaluate(_LINES) != forbidden
        field = page.get_by_label("Name")
        page.get_by_role("combobox", name="Target").focus()
        usual = field.evaluate(_LINES)
        page.keyboard.press("Control+s")
        expect(field).to_have_attribute("aria-invalid", "true")
        page.get_by_role("combobox", name="Target").focus()
        assert field.evaluate(_LINES) != usual


@pytest.mark.rule("contract J5")
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


FOLDER: Final = OPTIONS.get("LOGOADMIN_TEST_PICTURES")


@pytest.mark.release
@pytest.mark.rule("contract J3")
def test_screenshots_of_every_view_are_taken(still: Person, tmp_path: Path) -> None:
    """A few show that it is possible; with a folder, all are taken."""
    folder = Path(FOLDER or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    views, states, appearances = (VIEWS, STATES, APPEARANCES) if FOLDER else (VIEWS[:2], STATES[-1:], APPEARANCES[::11])
    opened: dict[str, Callable[[], object]] = {"sign-in": still.open}
    opened |= {re.sub(r"\W", "-", path or "overview"): partial(still.sign_in, path) for path in views}
    opened |= {state.__name__.replace("_", "-"): partial(state, still) for state in states}
    still.open()
    for name, become in opened.items():
        still.see(APPEARANCES[0])
        become()
        for each in appearances:
            still.see(each)
            still.settle()
            file = folder / f"{name}-{each.width}-{each.scheme}-{each.language}.png"
            still.page.screenshot(path=file, animations="disabled")
    assert len(list(folder.glob("*.png"))) >= len(appearances) * len(opened)
    assert still.service.external_hosts.pictures
