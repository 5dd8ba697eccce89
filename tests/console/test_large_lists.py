"""Lists with more records than one request may change (contract J6, J7)."""

import pytest
from playwright.sync_api import expect

from logoadmin.domain.changes.acts import ListActs
from logoadmin.domain.changes.bulk_changes import MOST_CHANGES, ApplyChanges, BulkChange
from logoadmin.domain.gallery.artworks import ListLogos
from logoadmin.domain.kernel.act_log import ActOrigin
from tests.console.driver import Person
from tests.console.external_hosts import PICTURES
from tests.console.service import Served

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract J6")]

_NEW = {"preview_url": f"https://{PICTURES}/1.svg", "target": "shop", "custom_css": ""}


def add(service: Served, count: int) -> None:
    """Add logos to the gallery, in thousands."""
    for first in range(0, count, 1000):
        names = [f"Mark {number:04}" for number in range(first, first + 1000)]
        changes = [BulkChange.model_validate({"kind": "logo", "create": _NEW | {"name": name}}) for name in names]
        service.gallery.bulk.apply(ApplyChanges(changes=tuple(changes)))


@pytest.mark.rule("contract G5")
def test_changes_beyond_the_limit_of_a_request_are_one_act_with_one_undo(console: Person) -> None:
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
