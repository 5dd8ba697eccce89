"""The history in the console: who did what, found by filters in the address, and undone (contract J3, J4)."""

import json
import re
import urllib.request
from datetime import datetime
from typing import Any

import pytest
from playwright.sync_api import expect

from logoadmin.domain.gallery import artworks, authors
from tests.console.driver import Appearance, Person
from tests.console.service import PAINTER, Served
from tests.gallery import ADMIN_PASSWORD

pytestmark = pytest.mark.slow("a browser")

WEEK = 7 * 86_400


def asked(service: Served, method: str, path: str, token: str = "", body: dict[str, Any] | str | None = None) -> Any:
    """Make a request, with JSON or with lines, and return the JSON of the response."""
    text = body if body is None or isinstance(body, str) else json.dumps(body)
    headers = {"Content-Type": "application/jsonl" if text is body else "application/json"}
    headers |= {"Authorization": f"Bearer {token}"} if token else {}
    content = None if text is None else text.encode()
    request = urllib.request.Request(f"{service.address}/api/{path}", content, headers, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def removed_by_the_painter(service: Served, logo_id: int) -> None:
    username, password = PAINTER
    token = asked(service, "POST", "auth/token", body={"username": username, "password": password})["access_token"]
    asked(service, "DELETE", f"logos/{logo_id}", token)


@pytest.mark.rule("contract J3", "contract J4", "contract G2")
@pytest.mark.parametrize("by_keyboard", [False, True])
def test_who_removed_a_logo_last_week_is_found_and_it_comes_back_with_its_authors(
    console: Person, by_keyboard: bool
) -> None:
    page, gallery, clock = console.page, console.service.gallery, console.service.clock
    gallery.logos.link(artworks.LinkLogoAuthor(logo_id=7, author_id=2))
    before = gallery.logos.get(artworks.GetLogo(logo_id=7))
    clock.pass_by(-WEEK)
    removed_by_the_painter(console.service, 7)
    day = datetime.fromtimestamp(clock.now()).strftime("%Y-%m-%d")
    clock.pass_by(WEEK)
    gallery.authors.create(authors.CreateAuthor(user_id=9000, username="Somebody since"))
    console.sign_in("history")
    rows = page.locator(".changes > .change")
    expect(rows.first).to_contain_text("A program on the server created the author Somebody since")

    kind, action, since, until = (page.get_by_label(label, exact=True) for label in ("Record", "Action", "From", "To"))
    if by_keyboard:
        console.reach(kind)
        page.keyboard.type("Logos")
        console.reach(action)
        page.keyboard.type("Removed")
    else:
        kind.select_option("Logos")
        action.select_option("Removed")
    for date in (since, until):
        date.fill(day)
        date.press("Enter")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("painter removed the logo Logo 7")
    expect(rows.locator("time").first).to_contain_text("last week, ")
    assert rows.locator("time").first.get_attribute("title")
    assert f"since={day}" in page.url
    page.reload()
    expect(rows).to_have_count(1)

    opener, undo = rows.get_by_role("button", expanded=False).first, rows.get_by_role("button", name="Undo")
    console.press(opener, by_keyboard)
    expect(rows.locator(".fields")).to_contain_text("Ben")
    expect(rows.locator(".diff")).to_contain_text("background: url(")
    console.press(undo, by_keyboard)
    expect(page.locator(".notice")).to_contain_text("Undone")
    after = gallery.logos.get(artworks.GetLogo(logo_id=7))
    assert after == before
    page.get_by_role("button", name="Clear filters").click()
    expect(rows.first).to_contain_text("admin restored the logo Logo 7")


@pytest.mark.rule("contract J3")
def test_dates_are_written_and_read_in_the_language_of_the_console(console: Person) -> None:
    page = console.page
    console.sign_in("history")
    console.see(Appearance(390, "light", "en"))
    since = page.get_by_label("From", exact=True)
    year = datetime.fromtimestamp(console.service.clock.now()).year
    for typed, date, shown in [
        ("11/22/2025", "2025-11-22", "Nov 22, 2025"),
        ("22 november 25", "2025-11-22", "Nov 22, 2025"),
        ("2025-02-28", "2025-02-28", "Feb 28, 2025"),
        ("may 3", f"{year}-05-03", f"May 3, {year}"),
    ]:
        since.fill(typed)
        since.press("Enter")
        expect(since).to_have_value(shown)
        assert f"since={date}" in page.url
    for wrong in ("22/11/2025", "Feb 30, 2025", "yesterday", "1 2 3 4", "1/1/1969"):
        since.fill(wrong)
        since.press("Enter")
        expect(since).to_have_attribute("aria-invalid", "true")
        expect(page.get_by_role("alert")).to_contain_text("Enter a date, such as")
        expect(since).to_have_value(wrong)
        assert f"since={year}-05-03" in page.url
    since.fill("")
    since.press("Enter")
    expect(page.get_by_role("alert")).to_have_count(0)
    assert "since" not in page.url
    console.see(Appearance(320, "dark", "ru"))
    since = page.get_by_label("По", exact=True)
    for typed, shown in [
        ("22.11.2025", "22 нояб. 2025"),
        ("3 мая 2025", "3 мая 2025"),
        ("май 4 25", "4 мая 2025"),
    ]:
        since.fill(typed)
        since.press("Enter")
        expect(since).to_have_value(re.compile(shown))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # The calendar of the browser is a click away.
    page.get_by_role("button", name="Открыть календарь").first.click()
    page.keyboard.press("Escape")


@pytest.mark.rule("contract J3", "contract G4")
def test_all_that_one_request_did_is_one_entry_and_is_undone_at_once(console: Person) -> None:
    page, gallery = console.page, console.service.gallery
    gallery.authors.create(authors.CreateAuthor(user_id=9000, username="Before"))
    lines = [
        json.dumps({"kind": "author", "author_id": n, "user_id": n, "username": f"Author {n}"}) for n in range(500, 620)
    ]
    token = asked(console.service, "POST", "auth/token", body={"username": "admin", "password": ADMIN_PASSWORD})
    asked(console.service, "POST", "import", token["access_token"], "\n".join(lines))
    gallery.authors.create(authors.CreateAuthor(user_id=9001, username="After"))
    console.sign_in("history")
    rows = page.locator(".day > .changes > .change")
    expect(rows.nth(1)).to_contain_text("admin imported 120 records")
    expect(rows.nth(2)).to_contain_text("created the author Before")

    rows.nth(1).get_by_role("button", expanded=False).first.click()
    page.get_by_role("link", name="Show all 120 changes on a page of their own").click()
    expect(rows).to_have_count(50)
    # A view that has just come scrolls to its own place once more.
    for _ in range(100):
        if rows.count() == 120:
            break
        page.mouse.wheel(0, 10_000)
        page.wait_for_timeout(100)
    expect(rows).to_have_count(120)
    expect(rows.last).to_contain_text("Author 500")

    page.mouse.wheel(0, -20_000)
    # What undid one of them undid none of the others.
    rows.first.get_by_role("button", name="Undo").click()
    expect(page.locator(".view-actions").get_by_role("link", name="Changed since")).to_be_visible()
    expect(rows.nth(1).get_by_role("button", name="Undo")).to_be_visible()
    page.locator(".notice").get_by_role("button", name="Undo").click()
    expect(page.locator(".notice").last).to_contain_text("Redone")
    page.locator(".view-actions").get_by_role("button", name="Undo all").click()
    dialog = page.get_by_role("dialog", name="Undo all 120 changes?")
    dialog.get_by_role("button", name="Undo").click()
    expect(page.locator(".notice").last).to_contain_text("Undone")
    names = {each.username for each in gallery.authors.list(authors.ListAuthors())}
    assert {"Before", "After"} <= names
    assert "Author 500" not in names
    expect(page.locator(".view-actions").get_by_role("link", name="Undone")).to_be_visible()
    expect(rows.get_by_role("button", name="Undo")).to_have_count(0)
    expect(rows.first.get_by_role("link", name="Undone")).to_be_visible()
    page.locator(".notice").get_by_role("button", name="Undo").last.click()
    expect(page.locator(".view-actions").get_by_role("button", name="Undo all")).to_be_visible()
    assert len([*gallery.authors.list(authors.ListAuthors(q="Author "))]) == 120
    console.open("history")
    sentences = rows.locator(".disclosure-head > .change-words")
    expect(sentences.nth(0)).to_contain_text("admin redid changes of 120 records")
    expect(sentences.nth(1)).to_contain_text("admin undid an import of 120 records")
    # An undone undo cannot be undone again, and the import can.
    expect(rows.nth(1).get_by_role("link", name="Undone")).to_be_visible()
    expect(rows.nth(1).get_by_role("button", name="Undo")).to_have_count(0)
    expect(rows.filter(has_text="admin imported 120 records").get_by_role("button", name="Undo all")).to_be_visible()


@pytest.mark.rule("contract J4", "contract G2")
def test_a_later_change_is_reported_with_a_link_to_it(console: Person) -> None:
    page, gallery = console.page, console.service.gallery
    gallery.logos.amend(artworks.AmendLogo(logo_id=1, name="Elk"))
    console.sign_in("history?kind=logo&id=1")
    named = page.locator(".change").filter(has_text="changed the name of the logo Elk")
    expect(named).to_be_visible()
    gallery.logos.amend(artworks.AmendLogo(logo_id=1, custom_css="color: red"))
    named.get_by_role("button", name="Undo").click()
    expect(named.get_by_role("alert")).to_contain_text("again since: A program on the server changed the CSS")
    named.get_by_role("alert").get_by_role("link").click()
    expect(page.locator("h1")).to_contain_text("Change")
    expect(page.locator(".diff")).to_contain_text("color: red")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".notice")).to_contain_text("Undone")
    # The focus was on a button that is not offered any more.
    expect(page.locator(".undoable").get_by_role("link", name="Undone")).to_be_focused()
    assert gallery.logos.get(artworks.GetLogo(logo_id=1)).custom_css.startswith("background")


@pytest.mark.rule("contract G5", "contract J3")
def test_a_version_is_seen_against_now_and_restored_as_a_new_change(console: Person) -> None:
    page, gallery = console.page, console.service.gallery
    gallery.logos.amend(artworks.AmendLogo(logo_id=1, name="Elk", custom_css="color: red;\nwidth: 1px"))
    was = gallery.logos.get(artworks.GetLogo(logo_id=1))
    gallery.logos.amend(artworks.AmendLogo(logo_id=1, name="Moose"))
    gallery.logos.amend(artworks.AmendLogo(logo_id=1, custom_css="color: red;\nwidth: 2px"))
    gallery.logos.link(artworks.LinkLogoAuthor(logo_id=1, author_id=3))
    console.sign_in("logos/1")
    lines = page.locator(".record-history .change")
    lines.nth(0).get_by_role("button").first.press("Enter")
    expect(lines.nth(0)).to_contain_text("This is what it is now.")
    lines.nth(3).get_by_role("button").first.press("Enter")
    version = lines.nth(3)
    expect(version.locator("dt")).to_have_text(["Name", "CSS", "Authors"])
    expect(version.locator(".was-is")).to_contain_text(re.compile("Elk.*Moose"))
    expect(version.locator(".diff del")).to_have_text(["width: 1px"])
    expect(version.locator(".diff ins")).to_have_text(["width: 2px"])
    expect(version.locator(".diff-word")).to_have_text(["1px", "2px"])
    # Each as the site looks with it.
    for label in ("Then", "Now"):
        expect(version.get_by_role("region", name=f"Preview: {label}").locator("iframe")).to_be_visible()
    console.press(version.get_by_role("button", name="Restore this version"))
    expect(page.locator(".notice")).to_contain_text("Restored ")
    now = gallery.logos.get(artworks.GetLogo(logo_id=1))
    assert (now.name, now.custom_css) == (was.name, was.custom_css)
    assert [each.author_id for each in now.authors] == [each.author_id for each in was.authors]
    expect(page.get_by_label("Name", exact=True)).to_have_value("Elk")
    page.locator(".notice").get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Moose")
    # What somebody changes meanwhile stays.
    version.get_by_role("button").first.press("Enter")
    expect(version.get_by_role("button", name="Restore this version")).to_be_visible()
    gallery.logos.amend(artworks.AmendLogo(logo_id=1, name="Deer"))
    version.get_by_role("button", name="Restore this version").click()
    expect(page.get_by_role("alert")).to_contain_text("Somebody else has changed this")
    assert gallery.logos.get(artworks.GetLogo(logo_id=1)).name == "Deer"


@pytest.mark.rule("contract G5")
def test_the_reason_for_a_removal_is_kept_in_the_history(console: Person) -> None:
    page = console.page
    console.sign_in("logos")
    page.locator(".card").nth(0).get_by_role("checkbox").click()
    page.locator(".card").nth(1).get_by_role("checkbox").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    dialog = page.get_by_role("dialog")
    # A reason is optional, and Enter removes nothing.
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    dialog.get_by_label("Why?").fill("Asked for by Ann")
    page.keyboard.press("Enter")
    dialog.get_by_role("button", name="Remove").click()
    expect(page.locator(".notice")).to_contain_text("Removed")
    console.open("logos/1")
    console.act("Remove")
    dialog.get_by_label("Why?").fill("A copy of another")
    dialog.get_by_role("button", name="Remove").click()
    expect(page.locator(".notice")).to_contain_text("Removed")
    console.open("history")
    acts = page.locator(".day > .changes > .change")
    expect(acts.nth(0).locator(".act-note")).to_have_text("A copy of another")
    expect(acts.nth(1).locator(".act-note")).to_have_text("Asked for by Ann")
