"""A moderator's day: filtering the queue and deciding several submissions at once (contract R4)."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from logoadmin.domain.changes.proposal_commands import AmendProposal, ApplyProposal, GetProposal
from logoadmin.domain.gallery.artworks import AmendLogo, ListLogos
from logoadmin.domain.identity.users import CreateUser
from logoadmin.domain.logo_admin import LogoAdmin
from tests.console.driver import Person, looking
from tests.console.service import Served
from tests.console.submissions import OWN, admit, new_logo, own_logo, submit
from tests.gallery import ADMIN_ID

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract R4")]

NEWCOMER_ID = 2001
TRACKING = "background: url(https://tracker.example/x.svg)"
COVERING = "position: fixed; inset: 0"


@pytest.fixture
def gallery(service: Served) -> LogoAdmin:
    """A gallery in which five submissions wait: three of a member, one of a newcomer and one of the administrator."""
    admit(service.gallery)
    gallery = service.gallery
    gallery.users.create(CreateUser(user_id=NEWCOMER_ID, username="nora", password="a long password"))
    gallery.proposals.apply(ApplyProposal(proposal_id=submit(gallery, new_logo("Before")).proposal_id))
    submit(gallery, new_logo("Tracking", custom_css=TRACKING))
    submit(gallery, new_logo("Covering", custom_css=COVERING))
    submit(gallery, own_logo(gallery, name="Redrawn"))
    submit(gallery, new_logo("Newcomer"), user_id=NEWCOMER_ID)
    submit(gallery, new_logo("Ours"), user_id=ADMIN_ID)
    return gallery


def titles(page: Page) -> Locator:
    return page.locator(".submissions .submission-title")


def choose(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_role("checkbox", name=f"Select \u2068{name}\u2069").click()


def state(gallery: LogoAdmin, proposal_id: int) -> str:
    return gallery.proposals.get(GetProposal(proposal_id=proposal_id)).state.value


def states(gallery: LogoAdmin) -> str:
    """Return the first letters of the states of those that waited."""
    return "".join(state(gallery, proposal_id)[0] for proposal_id in range(2, 7))


def test_chips_filter_the_queue_and_the_navigation_through_it(console: Person, gallery: LogoAdmin) -> None:
    page = console.page
    submit(gallery, new_logo("Later"), user_id=NEWCOMER_ID)
    console.sign_in("submissions")
    page.get_by_role("button", name="With risks").click()
    expect(titles(page)).to_have_text(["Tracking", "Covering"])
    page.get_by_role("button", name="First work").click()
    expect(titles(page)).to_have_text(["Newcomer", "Ours", "Later"])
    # Back, and a bookmark, keep it; the next one is the next of these.
    titles(page).first.click()
    expect(page.locator(".neighbours")).to_contain_text("1 of 3")
    page.keyboard.press("j")
    expect(page.locator("#work h1")).to_have_text("Ours")
    page.keyboard.press("j")
    expect(page.locator("#work h1")).to_have_text("Later")
    page.keyboard.press("a")
    expect(page.locator("#work h1")).to_have_text("Newcomer")
    page.get_by_role("navigation").last.get_by_role("link", name="Submissions").click()
    # A submission of the newcomer was applied.
    expect(titles(page)).to_have_text(["Ours"])
    page.get_by_role("button", name="Mine").click()
    expect(titles(page)).to_have_text(["Ours"])
    page.get_by_role("button", name="Applied").click()
    expect(page.locator(".empty")).to_be_visible()
    page.get_by_role("button", name="Mine").click()
    expect(titles(page)).to_have_text(["Later", "Before"])


def test_several_submissions_are_applied_at_once_and_failures_have_reasons(console: Person, gallery: LogoAdmin) -> None:
    page = console.page
    page.clock.install()
    console.sign_in("submissions")
    choose(page, "Tracking", "Redrawn", "Newcomer")
    # Each new host or risk is named once, before anything happens.
    page.keyboard.press("a")
    expect(page.get_by_role("dialog").locator("li")).to_have_text(
        ["\u2068Tracking\u2069: \u2068It contacts \u2068tracker.example\u2069.\u2069"]
    )
    page.keyboard.press("Escape")
    expect(page.locator(".strip .found")).to_have_text("3 selected")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.get_by_role("button", name="Apply", exact=True)).to_be_enabled()
    page.keyboard.press("a")
    page.get_by_role("dialog").get_by_role("button", name="Apply").click()
    expect(page.locator(".notice")).to_contain_text("3 submissions will be applied in 10 seconds")
    expect(titles(page)).to_have_text(["Covering", "Ours"])
    page.clock.run_for(5_000)
    assert states(gallery) == "wwwww"
    # The record of one of them changes meanwhile.
    gallery.logos.amend(AmendLogo(logo_id=OWN, name="Renamed meanwhile"))
    page.clock.run_for(6_000)
    failed = page.locator(".notice.failed")
    expect(failed).to_contain_text("1 submission was not applied. \u2068Redrawn\u2069: ")
    expect(failed).to_contain_text("Logo 1")
    expect(page.locator(".notice.done")).to_contain_text("Applied 2 submissions")
    assert states(gallery) == "awwaw"
    expect(titles(page)).to_have_text(["Covering", "Redrawn", "Ours"])
    # One undo covers everything that was applied.
    page.keyboard.press("Control+z")
    expect(titles(page)).to_have_count(5)
    assert states(gallery) == "wwwww"
    assert not list(gallery.logos.list(ListLogos(q="Newcomer")))


def test_several_submissions_are_declined_with_a_reason_after_ten_seconds_to_undo(
    console: Person, gallery: LogoAdmin
) -> None:
    page = console.page
    page.clock.install()
    console.sign_in("submissions")
    page.locator(".submission-row").first.focus()
    page.keyboard.press("x")
    page.keyboard.press("Shift+ArrowDown")
    expect(page.locator(".strip .found")).to_have_text("2 selected")

    def decline() -> None:
        page.keyboard.press("r")
        expect(page.get_by_role("dialog").get_by_role("heading")).to_have_text("Decline 2 submissions?")
        page.get_by_role("dialog").get_by_role("textbox").fill("Please without that")
        page.keyboard.press("Control+Enter")
        expect(page.locator(".notice").last).to_contain_text("2 submissions will be declined in 10 seconds")

    decline()
    page.get_by_role("button", name="Undo").click()
    expect(titles(page)).to_have_count(5)
    page.clock.run_for(15_000)
    assert states(gallery) == "wwwww"
    choose(page, "Tracking", "Covering")
    decline()
    with page.expect_response("**/3/decline"):
        page.clock.run_for(10_500)
    expect(page.locator(".notice")).to_contain_text("Declined 2 submissions")
    assert states(gallery) == "ddwww"
    # Pending decisions are sent when the page unloads.
    choose(page, "Redrawn", "Newcomer")
    decline()
    page.goto("about:blank")
    for _ in range(100):
        if states(gallery) == "ddddw":
            break
        page.wait_for_timeout(50)
    assert states(gallery) == "ddddw"


def test_only_listed_submissions_are_decided_in_bulk(console: Person, gallery: LogoAdmin) -> None:
    page = console.page
    page.clock.install()
    console.sign_in("submissions")
    choose(page, "Redrawn", "Newcomer")
    change = new_logo("Newcomer", custom_css=TRACKING)
    gallery.acting_as(NEWCOMER_ID).proposals.amend(AmendProposal(proposal_id=5, changes=(change,)))
    page.keyboard.press("a")
    expect(page.locator(".notice.failed")).to_contain_text("changed or decided 1 submission meanwhile")
    expect(page.locator(".notice.done")).to_contain_text("Redrawn\u2069 will be applied in 10 seconds")
    expect(page.locator(".mark")).to_have_count(3)
    with page.expect_response("**/4/apply"):
        page.clock.run_for(10_500)
    expect(page.locator(".notice.done")).to_contain_text("Applied \u2068Redrawn")
    assert states(gallery) == "wwaww"


def test_a_phone_shows_the_number_of_waiting_submissions(
    chromium: Browser, service: Served, gallery: LogoAdmin
) -> None:
    assert states(gallery) == "wwwww"
    with looking(chromium, service, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True) as person:
        person.sign_in("logos")
        page = person.page
        expect(page.locator(".sidebar-work .sidebar-count")).to_be_visible()
        expect(page).to_have_title(re.compile(r"^\(5\) Logos · "))
        page.get_by_role("link", name="Submissions").tap()
        choose(page, "Redrawn", "Newcomer")
        for name in ("Apply", "Decline…"):
            button = page.get_by_role("button", name=name, exact=True).bounding_box()
            assert button is not None
            assert button["y"] > 844 * 0.6
            assert button["height"] >= 44
        page.get_by_role("button", name="Apply", exact=True).tap()
        expect(page.locator(".notice")).to_contain_text("2 submissions will be applied")
        # It cannot be undone from another view.
        page.get_by_role("link", name="Logos").tap()
        expect(page.locator(".notice.done")).to_contain_text("Applied 2 submissions")
        expect(page.locator(".sidebar-work .sidebar-count")).to_have_text("3")
    assert states(gallery) == "wwaaw"
