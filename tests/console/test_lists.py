"""The lists of logos, themes and authors, by mouse, by keyboard alone, and while others change them (contract J3)."""

import re
import time

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from logoadmin.domain.changes.acts import ListActs
from logoadmin.domain.changes.bulk_changes import MOST_CHANGES, ApplyChanges
from logoadmin.domain.gallery import artworks, authors
from logoadmin.domain.kernel.act_log import ActOrigin
from logoadmin.domain.kernel.records import Logo
from tests.console.driver import Person, looking
from tests.console.service import PICTURES

pytestmark = pytest.mark.slow("a browser")


def _card(page: Page, name: str) -> Locator:
    return page.locator(".card").filter(has=page.get_by_role("link", name=name, exact=True))


def _active(console: Person) -> set[str]:
    return {logo.name for logo in console.service.gallery.logos.list(artworks.ListLogos(active=True))}


def _eleven_selected(console: Person) -> tuple[set[str], set[str]]:
    """Sign in and select some logos; return the names of the active ones, and of those that are selected."""
    console.sign_in("logos?q=logo 1&order=name&look=table")
    expect(console.page.locator(".found")).to_have_text("11 found")
    before = _active(console)
    console.page.get_by_role("button", name="Select all").click()
    return before, {name for name in before if name.startswith("Logo 1")}


@pytest.mark.rule("contract J3", "contract J4")
def test_logos_are_found_changed_in_bulk_and_undone_by_keyboard_alone(console: Person, page: Page) -> None:
    press = page.keyboard.press
    console.sign_in("logos?order=oldest")
    expect(_card(page, "Logo 1")).to_be_visible()
    press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    press("/")
    page.keyboard.type("logo 2")
    expect(page.locator(".found")).to_have_text("11 found")
    press("Escape")
    expect(page.locator(".found")).to_have_text("47 found")
    page.keyboard.type("logo")
    expect(page.locator(".found")).to_have_text("40 found")
    console.reach(page.locator("[data-focus][tabindex='0']"))
    before = _active(console)
    press("x")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        press(key)
    expect(page.get_by_role("link", name="Logo 8", exact=True)).to_be_focused()
    press("Shift+X")
    expect(page.locator(".found")).to_have_text("8 selected")
    page.get_by_role("button", name="Deactivate").press("Enter")
    expect(page.locator(".notice")).to_contain_text("Deactivated 7")
    assert before - _active(console) == {f"Logo {n}" for n in (1, 2, 3, 4, 6, 7, 8)}
    page.get_by_role("button", name="Undo").press("Enter")
    expect(page.locator(".notice")).to_contain_text("Undone")
    assert _active(console) == before
    # To the end and back: the focus is never lost, though its card leaves the view.
    page.locator("[data-focus][tabindex='0']").focus()
    for key in ("End", "Home", "End"):
        press(key)
        page.wait_for_timeout(200)
    expect(page.get_by_role("link", name="Logo 40", exact=True)).to_be_focused()
    expect(page.get_by_role("link", name="Logo 40", exact=True)).to_be_in_viewport()
    press("Enter")
    expect(page).to_have_url(re.compile("/logos/40$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Logo 40")
    page.go_back()
    expect(page.locator(".found")).to_have_text("40 found")


@pytest.mark.rule("contract J4")
def test_the_focus_stays_in_the_list_after_a_bulk_change_and_its_undo_by_shortcut(console: Person) -> None:
    page, press = console.page, console.page.keyboard.press
    before, chosen = _eleven_selected(console)
    strip = page.get_by_role("region", name="Selected")
    undone = page.locator(".notice", has_text="Undone")
    strip.get_by_role("button", name="Deactivate").press("Enter")
    undo = page.locator(".notice").get_by_role("button", name="Undo")
    expect(undo).to_have_attribute("aria-keyshortcuts", "Control+Z")
    expect(strip).to_be_focused()
    assert before - _active(console) == chosen
    undo.press("Enter")
    expect(undone).to_be_visible()
    expect(strip).to_be_focused()
    assert _active(console) == before
    undone.get_by_role("button", name="Close").click()

    # The same with a confirmation in between, and with the shortcut.
    press("Control+a")
    strip.get_by_role("button", name="Remove").press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Remove").press("Enter")
    expect(page.locator(".notice", has_text="Removed 11")).to_be_visible()
    expect(strip).to_be_focused()
    # Closing a notice loses nothing.
    page.locator(".notice").get_by_role("button", name="Close").press("Enter")
    expect(strip).to_be_focused()
    press("Control+z")
    expect(undone).to_be_visible()
    expect(page.locator(".found")).to_have_text("11 found")
    assert _active(console) == before


@pytest.mark.rule("contract F1", "contract J6")
def test_conflicting_changes_to_selected_themes_are_named_and_the_rest_is_changed_on_request(console: Person) -> None:
    page, themes = console.page, console.service.gallery.themes
    console.sign_in("themes?order=name")
    expect(page.locator(".found")).to_have_text("12 found")
    page.get_by_role("button", name="Select all").click()
    themes.amend(artworks.AmendTheme(theme_id=2, custom_css="a { color: red }"))
    themes.remove(artworks.RemoveTheme(theme_id=3))
    page.get_by_role("button", name="Activate", exact=True).click()
    failed = page.locator(".notice.failed")
    expect(failed).to_contain_text("Somebody else has changed \u2068Theme 2\u2069 meanwhile.")
    expect(failed).to_contain_text("removed \u2068Theme 3\u2069. Nothing was changed.")
    assert not any(theme.active for theme in themes.list(artworks.ListThemes()))
    failed.get_by_role("button", name="Continue with the other 10").click()
    expect(page.locator(".notice", has_text="Activated 10")).to_be_visible()
    assert {theme.theme_id for theme in themes.list(artworks.ListThemes()) if not theme.active} == {2}


@pytest.mark.rule("contract J6", "contract J4", "contract J7", "contract A20", "contract F3")
@pytest.mark.parametrize("is_done", [True, False])
def test_a_bulk_change_is_one_retriable_request_with_one_lasting_undo(console: Person, is_done: bool) -> None:
    page = console.page
    before, chosen = _eleven_selected(console)
    asked: list[str] = []

    def lose(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) > 1:
            route.continue_()
        elif is_done:
            route.fetch()
            route.abort()
        else:
            route.fulfill(status=503, json={"detail": "Cannot connect to the database server at x"})

    page.route("**/api/changes", lose)
    page.on("request", lambda request: asked.append(request.url) if "/api/logos/" in request.url else None)
    page.get_by_role("button", name="Deactivate").click()
    failed = page.locator(".notice.failed")
    expect(failed).to_contain_text("are left")
    failed.get_by_role("button", name="Try again").click()
    expect(page.locator(".notice", has_text=f"Deactivated {len(chosen)}")).to_be_visible()
    assert len(asked) == 2
    assert before - _active(console) == chosen
    # It outlives its notice: the history has one entry, which undoes all.
    page.get_by_role("link", name="History", exact=True).click()
    entry = page.locator(".change").first
    expect(entry).to_contain_text(str(len(chosen)))
    entry.get_by_role("button", name="Undo").click()
    page.get_by_role("dialog").get_by_role("button", name="Undo").click()
    expect(page.locator(".notice", has_text="Undone")).to_be_visible()
    assert _active(console) == before


@pytest.mark.rule("contract J6")
def test_the_target_and_authors_of_many_artworks_are_changed_by_keyboard(console: Person) -> None:
    page, press, logos = console.page, console.page.keyboard.press, console.service.gallery.logos
    _eleven_selected(console)

    def edit(name: str) -> None:
        press("Control+a")  # because an action clears the selection
        page.locator(".menu summary", has_text="Edit").press("Enter")
        page.get_by_role("button", name=name).press("Enter")
        expect(page.get_by_role("dialog")).to_contain_text("11 records")

    def of_eleven() -> list[Logo]:
        return [*logos.list(artworks.ListLogos(q="Logo 1"))]

    edit("Set target")
    page.get_by_role("dialog").get_by_label("Target").fill("wiki")
    page.get_by_role("dialog").get_by_label("Why?").fill("The wiki is new")
    press("Enter")
    expect(page.locator(".notice")).to_contain_text("Set the target of 11")
    (act,) = [each for each in console.service.gallery.acts.list(ListActs()) if each.note]
    assert (act.note, act.count) == ("The wiki is new", 11)
    assert {logo.target for logo in of_eleven()} == {"wiki"}
    edit("Add author")
    page.get_by_role("dialog").get_by_label("Author").select_option("Ann")
    page.get_by_role("dialog").get_by_role("button", name="Add author").click()
    expect(page.locator(".notice")).to_contain_text("Ann")
    assert all(1 in [author.author_id for author in logo.authors] for logo in of_eleven())


@pytest.mark.rule("contract J6", "contract J8")
def test_the_table_is_sorted_by_its_headers_and_shift_selects_a_range(
    console: Person, page: Page, chromium: Browser
) -> None:
    console.service.gallery.logos.amend(artworks.AmendLogo(logo_id=7, target="wiki"))
    # After a view whose styles could reach the buttons.
    console.sign_in("submissions")
    page.get_by_role("link", name="Logos").click()
    looks = [page.get_by_role("button", name=name) for name in ("Grid", "Table")]
    assert len({look.evaluate("each => each.getBoundingClientRect().top") for look in looks}) == 1
    with page.expect_response(lambda response: response.request.method == "PUT" and response.ok):
        looks[1].click()
    with looking(chromium, console.service) as person:
        person.sign_in("logos")  # the layout follows the user
        expect(person.page.locator("thead th")).to_have_count(6)
    heads, names = page.locator("thead th"), page.locator("tbody .cell-link")
    expect(heads).to_have_text(["Name", "Target", "Authors", "State", "Changed", "ID"])
    expect(page.locator("tbody .picture").first).to_be_visible()
    by_name, by_change = (page.get_by_role("columnheader", name=name) for name in ("Name", "Changed"))
    by_name.get_by_role("button").click()
    expect(by_name).to_have_attribute("aria-sort", "ascending")
    expect(page).to_have_url(re.compile("order=name"))
    by_change.get_by_role("button").click()
    expect(by_name).to_have_attribute("aria-sort", "none")
    expect(by_change).to_have_attribute("aria-sort", "descending")
    expect(names.first).to_have_text("Logo 7")
    expect(page.locator("tbody tr").first.locator("time")).to_be_visible()
    by_name.get_by_role("button").click()
    expect(names.nth(9)).to_be_visible()

    # With Shift, clicks and arrow keys select rows.
    names.nth(1).click(modifiers=["Shift"])
    names.nth(3).click(modifiers=["Shift"])
    expect(page.locator(".found")).to_have_text("3 selected")
    names.nth(3).focus()
    page.keyboard.press("Shift+ArrowDown")
    expect(page.locator(".found")).to_have_text("4 selected")
    expect(names.nth(4)).to_be_focused()


@pytest.mark.rule("contract J6")
def test_artworks_are_found_by_a_host_in_their_css_and_by_time_of_change(console: Person) -> None:
    page, logos = console.page, console.service.gallery.logos
    logos.amend(artworks.AmendLogo(logo_id=7, custom_css="background: url(https://Far.example:81/a.svg)"))
    console.sign_in("logos?look=table")
    console.filter("Host in the CSS", "far.example")
    expect(page.locator("tbody .cell-link")).to_have_text(["Logo 7"])
    chips = page.locator(".filter-chips")
    expect(chips).to_contain_text("far.example")
    console.filter("Target", "forum")
    expect(chips.get_by_role("button")).to_have_count(2)
    chips.get_by_role("button").first.press("Enter")
    expect(chips.get_by_role("button")).to_have_count(1)
    expect(chips.get_by_role("button")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".filters summary")).to_be_focused()
    expect(page.locator(".found")).to_have_text("47 found")
    console.filter("Changed", "Last 24 hours")
    expect(page.locator(".found")).to_have_text("47 found")
    page.clock.install(time=time.time() + 2 * 86_400)
    page.reload()
    expect(page.locator(".found")).to_have_text("0 found")
    page.get_by_role("button", name="Show all").click()
    expect(page.locator(".found")).to_have_text("47 found")


@pytest.mark.rule("contract J6", "contract G5")
def test_changes_beyond_the_limit_of_a_request_are_one_act_with_one_undo(console: Person) -> None:
    page, gallery = console.page, console.service.gallery
    new = {"preview_url": f"http://{PICTURES}/1.svg", "target": "shop", "custom_css": ""}
    changes = [{"kind": "logo", "create": new | {"name": f"Mark {number}"}} for number in range(1000)]
    tuple(gallery.bulk.apply(ApplyChanges.model_validate({"changes": changes})))
    before = _active(console)
    count = 1047 - len(before)
    assert count > MOST_CHANGES
    console.sign_in("logos")
    expect(page.locator(".found")).to_have_text("1,047 found")
    page.keyboard.press("Control+a")
    expect(page.locator(".found")).to_have_text("1,047 selected")
    page.get_by_role("button", name="Activate", exact=True).click()
    notice = page.locator(".notice").filter(has_text="Activated")
    notice.hover()  # otherwise it goes after ten seconds
    assert len(_active(console)) > len(before)
    assert not [*gallery.logos.list(artworks.ListLogos(active=False))]
    (act,) = gallery.acts.list(ListActs(order="desc", limit=1))
    assert (act.origin, act.count, act.active) == (ActOrigin.CONSOLE, count, True)
    notice.get_by_role("button", name="Undo").click()
    expect(page.locator(".notice").filter(has_text="Undone")).to_be_visible(timeout=60_000)
    assert _active(console) == before


def _row(page: Page, name: str) -> Locator:
    return page.locator("tbody tr").filter(has=page.get_by_role("link", name=name, exact=True))


def _makers(console: Person, logo_id: int) -> list[str]:
    return [each.username for each in console.service.gallery.logos.get(artworks.GetLogo(logo_id=logo_id)).authors]


def _names(console: Person) -> set[str]:
    return {each.username for each in console.service.gallery.authors.list(authors.ListAuthors())}


@pytest.mark.rule("contract J3", "contract J6")
def test_the_works_of_authors_are_counted_sorted_and_filtered(console: Person, page: Page) -> None:
    console.service.gallery.authors.create(authors.CreateAuthor(user_id=900, username="Idle"))
    console.sign_in("authors")
    expect(_row(page, "Idle").locator("td").nth(1)).to_have_text("0")
    page.get_by_role("columnheader", name="Works").get_by_role("button").click()
    names = page.locator("tbody .cell-link")
    expect(names.last).to_have_text("Idle")
    assert int(page.locator("tbody tr td:nth-child(2)").first.inner_text()) > 1
    console.filter("Works", "Without works")
    expect(names).to_have_text(["Idle"])


@pytest.mark.rule("contract J7", "contract J3")
def test_merging_authors_is_one_act_with_one_undo(console: Person, page: Page) -> None:
    # By both, and both ways round.
    for logo_id, author_ids in ((46, (2, 1)), (47, (1, 2))):
        for author_id in author_ids:
            console.service.gallery.logos.link(artworks.LinkLogoAuthor(logo_id=logo_id, author_id=author_id))
    before = {number: _makers(console, number) for number in range(1, 48)}
    acts = len([*console.service.gallery.acts.list(ListActs())])
    console.sign_in("authors")
    _row(page, "Ann").get_by_role("checkbox").check()
    expect(page.get_by_role("button", name="Merge")).to_have_attribute("aria-disabled", "true")
    _row(page, "Ben").get_by_role("checkbox").check()
    page.get_by_role("button", name="Merge").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox").select_option(label=dialog.get_by_role("option", name="Ann").inner_text())
    expect(dialog.get_by_role("status")).to_contain_text("get the author")
    dialog.get_by_role("button", name="Merge").click()
    expect(page.locator(".notice", has_text="Merged")).to_be_visible()
    assert "Ben" not in _names(console)
    for number, makers in before.items():
        merged = ["Ann" if each == "Ben" else each for each in makers]
        assert _makers(console, number) == list(dict.fromkeys(merged))
    assert len([*console.service.gallery.acts.list(ListActs())]) == acts + 1
    page.get_by_role("link", name="Overview").click()
    expect(page.locator(".change-words").first).to_contain_text(
        re.compile("^admin changed .* logos.*, and removed 1 author")
    )
    page.keyboard.press("Control+z")
    expect(page.locator(".notice", has_text="Undone")).to_be_visible()
    assert {number: _makers(console, number) for number in before} == before
    assert "Ben" in _names(console)


@pytest.mark.rule("contract J7", "contract J4")
def test_a_work_that_is_credited_during_a_merge_keeps_its_author(console: Person) -> None:
    console.sign_in("authors/2")
    page, logos = console.page, console.service.gallery.logos
    console.act("Merge into another author")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox").select_option("1")
    expect(dialog.get_by_role("status")).to_be_visible()
    late = next(number for number in range(1, 48) if "Ben" not in _makers(console, number))
    credit = artworks.LinkLogoAuthor(logo_id=late, author_id=2)
    page.route("**/api/changes", lambda route: (logos.link(credit), route.continue_()), times=1)
    dialog.get_by_role("button", name="Merge").click()
    failed = page.locator(".notice", has_text="Nothing was merged")
    expect(failed).to_be_visible()
    assert "Ben" in _makers(console, late)
    failed.get_by_role("button", name="Try again").click()
    expect(page.locator(".notice", has_text="Merged")).to_be_visible()
    assert "Ann" in _makers(console, late)
