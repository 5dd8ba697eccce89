"""The list of authors: number of works, bulk removal and merging."""

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from logoadmin.domain.changes.acts import ListActs
from logoadmin.domain.gallery import artworks, authors
from tests.console.driver import Person

pytestmark = pytest.mark.slow("a browser")


def _row(page: Page, name: str) -> Locator:
    return page.locator("tbody tr").filter(has=page.get_by_role("link", name=name, exact=True))


def _makers(console: Person, logo_id: int) -> list[str]:
    return [each.username for each in console.service.gallery.logos.get(artworks.GetLogo(logo_id=logo_id)).authors]


def _names(console: Person) -> set[str]:
    return {each.username for each in console.service.gallery.authors.list(authors.ListAuthors())}


def _select(page: Page, *names: str) -> None:
    for name in names:
        _row(page, name).get_by_role("checkbox").check()


def _acts(console: Person) -> int:
    return len([*console.service.gallery.acts.list(ListActs())])


@pytest.mark.rule("contract J3", "contract J6")
def test_the_works_of_authors_are_counted_sorted_and_filtered(console: Person) -> None:
    console.service.gallery.authors.create(authors.CreateAuthor(user_id=900, username="Idle"))
    console.sign_in("authors")
    page = console.page
    expect(_row(page, "Idle").locator("td").nth(1)).to_have_text("0")
    page.get_by_role("columnheader", name="Works").get_by_role("button").click()
    names = page.locator("tbody .cell-link")
    expect(names.last).to_have_text("Idle")
    assert int(page.locator("tbody tr td:nth-child(2)").first.inner_text()) > 1
    console.filter("Works", "Without works")
    expect(names).to_have_text(["Idle"])
    _select(page, "Idle")
    page.get_by_role("button", name="Remove", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.locator(".notice")).to_contain_text("Removed")
    assert "Idle" not in _names(console)


@pytest.mark.rule("contract J7", "contract J3")
def test_merging_authors_is_one_act_with_one_undo(console: Person) -> None:
    # By both, and both ways round.
    for logo_id, author_ids in ((46, (2, 1)), (47, (1, 2))):
        for author_id in author_ids:
            console.service.gallery.logos.link(artworks.LinkLogoAuthor(logo_id=logo_id, author_id=author_id))
    before = {number: _makers(console, number) for number in range(1, 48)}
    acts = _acts(console)
    console.sign_in("authors")
    page = console.page
    _select(page, "Ann")
    expect(page.get_by_role("button", name="Merge")).to_have_attribute("aria-disabled", "true")
    _select(page, "Ben")
    page.get_by_role("button", name="Merge").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox").select_option(label=dialog.get_by_role("option", name="Ann").inner_text())
    expect(dialog.get_by_role("status")).to_contain_text("get the author")
    dialog.get_by_role("button", name="Merge").click()
    notice = page.locator(".notice", has_text="Merged")
    expect(notice).to_be_visible()
    assert "Ben" not in _names(console)
    for number, makers in before.items():
        merged = ["Ann" if each == "Ben" else each for each in makers]
        assert _makers(console, number) == list(dict.fromkeys(merged))
    assert _acts(console) == acts + 1
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
    late_credits = [artworks.LinkLogoAuthor(logo_id=late, author_id=2)]

    def credit(route: Route) -> None:
        if late_credits:
            logos.link(late_credits.pop())
        route.continue_()

    page.route("**/api/changes", credit)
    dialog.get_by_role("button", name="Merge").click()
    failed = page.locator(".notice", has_text="Nothing was merged")
    expect(failed).to_be_visible()
    assert "Ben" in _makers(console, late)
    failed.get_by_role("button", name="Try again").click()
    expect(page.locator(".notice", has_text="Merged")).to_be_visible()
    assert "Ann" in _makers(console, late)
