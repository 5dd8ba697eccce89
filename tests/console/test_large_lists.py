"""Lists that are too long to be read at once: the service filters, sorts and pages them (contract E2, E3, E5)."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from logoadmin.domain.changes.acts import ListActs
from logoadmin.domain.changes.bulk_changes import MOST_CHANGES, ApplyChanges, BulkChange
from logoadmin.domain.gallery.artworks import ListLogos
from logoadmin.domain.kernel.act_log import ActOrigin
from tests.console.driver import Person, looking
from tests.console.external_hosts import PICTURES
from tests.console.service import Served, served

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract J6")]

_NEW = {"preview_url": f"https://{PICTURES}/1.svg", "target": "shop", "custom_css": ""}


def add(service: Served, count: int) -> None:
    """Add logos to the gallery, in thousands."""
    for first in range(0, count, 1000):
        names = [f"Mark {number:04}" for number in range(first, first + 1000)]
        changes = [BulkChange.model_validate({"kind": "logo", "create": _NEW | {"name": name}}) for name in names]
        service.gallery.bulk.apply(ApplyChanges(changes=tuple(changes)))


@pytest.fixture(scope="module")
def large() -> Iterator[Served]:
    """A gallery with more than 5,000 logos."""
    with served() as service:
        add(service, 5000)
        yield service


@pytest.fixture
def person(chromium: Browser, large: Served) -> Iterator[Person]:
    with looking(chromium, large) as found:
        yield found


def test_a_large_list_is_read_in_pages_and_searched_filtered_and_sorted_by_the_service(person: Person) -> None:
    page = person.page
    asked = list[dict[str, list[str]]]()

    def note(url: str) -> None:
        if urlsplit(url).path == "/api/logos":
            asked.append(parse_qs(urlsplit(url).query))

    person.sign_in("import")
    expect(page.locator("h1")).to_be_visible()
    page.on("request", lambda request: note(request.url))
    person.open("logos?look=table")
    found, names = page.locator(".found"), page.locator("tbody .cell-link")
    expect(found).to_have_text("First 200")
    expect(names.first).to_have_text("Mark 4999")
    versions = {"versions": ["true"]}
    assert asked == [versions, {"sort": ["id"], "order": ["desc"], "limit": ["200"]} | versions]
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(found).to_have_text("First 400")
    assert asked[-1]["after"] == [str(47 + 4800 + 1)]

    page.get_by_role("searchbox").fill("mark 43")
    expect(found).to_have_text("100 found")
    page.get_by_role("searchbox").fill("")
    page.get_by_role("columnheader", name="Name").get_by_role("button").click()
    expect(names.first).to_have_text(re.compile("onerror"))
    assert (asked[-1]["sort"], asked[-1]["order"]) == (["name"], ["asc"])
    person.filter("Target", "shop")
    expect(names.first).to_have_text("Mark 0000")
    assert [query for query in asked if query == versions] == [versions]


def test_back_to_a_large_list_restores_its_rows_and_many_are_changed_at_once(person: Person) -> None:
    page, logos = person.page, person.service.gallery.logos
    person.sign_in("logos?order=name&target=shop")
    found = page.locator(".found")
    expect(found).to_have_text("First 200")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(found).to_have_text("First 400")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight - 400)")
    card = page.get_by_role("link", name="Mark 0395", exact=True)
    page.locator(".card").filter(has=card).get_by_role("checkbox").click()
    card.click()
    expect(page.locator("h1")).to_have_text("Mark 0395")
    page.go_back()
    expect(found).to_have_text("1 selected")
    expect(card).to_be_in_viewport()
    page.get_by_role("button", name="Activate", exact=True).click()
    expect(page.locator(".notice")).to_contain_text("Activated")
    expect(page.locator(".card").filter(has=card).locator(".state")).to_have_count(0)
    assert [logo.name for logo in logos.list(ListLogos(active=True)) if logo.name.startswith("Mark")] == ["Mark 0395"]


@pytest.mark.rule("contract G5")
def test_more_changes_than_a_request_has_are_one_act_with_one_undo(console: Person) -> None:
    add(console.service, 1000)
    page, gallery = console.page, console.service.gallery
    before = {logo.logo_id: logo.active for logo in gallery.logos.list(ListLogos())}
    count = list(before.values()).count(False)
    assert count > MOST_CHANGES
    console.sign_in("logos")
    expect(page.locator(".found")).to_have_text("1,047 found")
    page.keyboard.press("Control+a")
    expect(page.locator(".found")).to_have_text("1,047 selected")
    page.get_by_role("button", name="Activate", exact=True).click()
    notice = page.locator(".notice").filter(has_text="Activated")
    expect(notice).to_be_visible()
    assert all(logo.active for logo in gallery.logos.list(ListLogos()))
    (act,) = gallery.acts.list(ListActs(order="desc", limit=1))
    assert (act.origin, act.count, act.active) == (ActOrigin.CONSOLE, count, True)
    notice.get_by_role("button", name="Undo").click()
    expect(page.locator(".notice").filter(has_text="Undone")).to_be_visible()
    assert {logo.logo_id: logo.active for logo in gallery.logos.list(ListLogos())} == before
