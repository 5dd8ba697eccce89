"""The queue of submissions: reviewing one by one or several at once, editing and undoing (contract R4)."""

import re
from typing import Final

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from logoadmin.domain.changes.bulk_changes import BulkChange
from logoadmin.domain.changes.history import ListChanges
from logoadmin.domain.changes.proposal_commands import AmendProposal, ApplyProposal, GetProposal, ListProposals
from logoadmin.domain.gallery.artworks import AmendLogo, AmendTheme, GetLogo, GetTheme, ListLogos
from logoadmin.domain.identity.users import CreateUser
from logoadmin.domain.kernel.kinds import picture_path
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.shared_settings import AmendSettings
from tests.console.driver import Person, looking
from tests.console.service import MEMBER_ID, OWN, PICTURES, Served, admit, new_logo, own_logo, submit
from tests.gallery import ADMIN_ID
from tests.services import comes_true

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract R4")]


PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}

# Applies, and presses Cancel before the dialog has been painted, as a quick key on a busy machine does.
CANCELLED_AT_ONCE: Final = """() => new Promise((done) => {
  new MutationObserver((_, observer) => {
    const cancel = document.querySelector("dialog[open] button");
    if (!cancel) return;
    observer.disconnect();
    cancel.click();
    done();
  }).observe(document.body, { childList: true, subtree: true });
  document.querySelector('[aria-keyshortcuts="A"]').click();
})"""


def states(gallery: LogoAdmin) -> str:
    """Return the first letters of the states of all submissions."""
    return "".join(each.state.value[0] for each in gallery.proposals.list(ListProposals()))


def named(gallery: LogoAdmin, name: str) -> list[str]:
    return [logo.name for logo in gallery.logos.list(ListLogos(q=name))]


def test_the_queue_shows_its_length_and_each_submission_what_it_changes(console: Person, gallery: LogoAdmin) -> None:
    page = console.page
    submit(gallery, new_logo("Sunrise"), note="Drawn on Sunday")
    css = "background: url(https://tracker.example/x.svg);\nposition: fixed; inset: 0"
    other = f"http://{PICTURES}/other.svg"
    submit(gallery, own_logo(gallery, name="Redrawn", preview_url=other, custom_css=css))
    forum = {"name": "The forum", "documents": ['domain("forum.example")']}
    gallery.settings.amend(AmendSettings(gallery_targets={"forum": forum}))
    console.sign_in()
    waiting = page.locator("#work section").first.get_by_role("link", name="2 submissions wait for a decision")
    expect(page.locator("#work section").first.locator(".submission-title")).to_have_text(["Sunrise", "Redrawn"])
    expect(page.locator(".sidebar-count")).to_have_text("2")
    waiting.click()
    expect(page).to_have_title(re.compile(r"^\(2\) Submissions · "))
    expect(page.locator(".submission-title")).to_have_text(["Sunrise", "Redrawn"])
    expect(page.locator(".mark")).to_have_text(["tracker.example", "Can cover the page"])
    expect(page.locator(".submission-about").first).to_contain_text("1 logo · mira")
    expect(page.locator(".submission-line").first).to_contain_text("First work")
    page.get_by_role("link", name="Redrawn").click()
    expect(page.locator(".pictures img")).to_have_count(2)
    expect(page.locator(".news .warned")).to_have_text(
        [re.compile("contact tracker.example"), re.compile("It can cover the page. Line")]
    )
    expect(page.locator("iframe.preview-frame")).to_have_count(2)
    expect(page.locator(".diff-added")).to_have_count(2)
    expect(page.locator(".was-is ins")).to_contain_text("Redrawn")
    expect(page.locator("aside h2")).to_have_text("Others by \u2068mira\u2069")
    expect(page.locator("aside .submission-title")).to_have_text(["Sunrise"])
    # New hosts and risks are confirmed once, with Cancel first.
    page.keyboard.press("a")
    expect(page.get_by_role("dialog").locator("li")).to_have_text(
        ["It contacts \u2068tracker.example\u2069.", "It can cover the page."]
    )
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert states(gallery) == "ww"
    page.evaluate(CANCELLED_AT_ONCE)
    expect(page.get_by_role("button", name="Apply")).to_have_attribute("aria-disabled", "false")
    page.keyboard.press("a")
    page.get_by_role("dialog").get_by_role("button", name="Apply").click()
    expect(page.locator(".notice")).to_contain_text("Applied")
    expect(page.locator("blockquote")).to_have_text("Drawn on Sunday")
    expect(page.locator("#work dl")).to_contain_text("The forum")
    # A submission of the submitter is applied now.
    expect(page.locator(".submission-facts")).not_to_contain_text("First work")


def test_the_summary_of_the_css_has_only_new_hosts_and_risks(console: Person, gallery: LogoAdmin) -> None:
    news = console.page.locator(".news")

    def submit_theme(css: str) -> None:
        version = gallery.themes.get(GetTheme(theme_id=OWN)).version
        change = BulkChange(kind=Kind.THEME, id=OWN, version=version, set={"custom_css": css})
        submit(gallery, change, title="A theme")

    submit_theme("input { color: red }")
    console.sign_in("submissions/1")
    expect(news.locator(".warned")).to_have_text([re.compile("It changes how input fields look. Line")])
    gallery.themes.amend(AmendTheme(theme_id=OWN, custom_css="input { color: red }"))
    submit_theme("input { color: red } a { color: red }")
    console.open("submissions/2")
    expect(news).to_contain_text("no new host and brings no new risk")
    expect(news.locator(".hint")).to_have_text("As before: It changes how input fields look.")
    # A host is not trusted for a picture of the submitter, as if it were one of the gallery.
    picture = f"https://spy.example/{picture_path('0' * 64)}"
    submit(gallery, own_logo(gallery, preview_url=picture, custom_css="background: url(https://spy.example/seen.png)"))
    console.open("submissions/3")
    expect(news.locator(".warned .host-name")).to_have_text("spy.example")
    # The picture itself is shown, as every picture is.
    console.settle()
    assert {*console.service.external_hosts.strays} <= {"spy.example:443"}
    console.service.external_hosts.forget()


def test_ten_waiting_submissions_are_reviewed_by_keyboard_alone(console: Person, gallery: LogoAdmin) -> None:
    page, keyboard = console.page, console.page.keyboard
    for number in range(10):
        submit(gallery, new_logo(f"Work {number:02}"))
    # In pages of four, as if there were many more.
    paged = "**/api/proposals?*limit=500*"
    page.route(paged, lambda route: route.continue_(url=route.request.url.replace("=500", "=4")))
    console.sign_in("submissions")
    expect(page.locator(".submission-row")).to_have_count(10)
    keyboard.press("j")
    for number in range(10):
        expect(page.locator("#work h1")).to_have_text(f"Work {number:02}")
        if number % 5 < 3:
            keyboard.press("a")
        elif number % 5 == 3:
            keyboard.press("r")
            expect(page.locator("dialog textarea")).to_be_focused()
            keyboard.type("The name is taken")
            keyboard.press("Control+Enter")
            expect(page.locator("dialog")).to_have_count(0)
        else:
            keyboard.press("e")
            console.reach(page.get_by_label("Name", exact=True))
            keyboard.press("End")
            keyboard.type("!")
            keyboard.press("Control+s")
    expect(page.locator(".empty")).to_contain_text("No submissions are waiting")
    page.get_by_role("link", name="Logos", exact=True).press("Enter")  # pending decisions are sent
    expect(page.locator(".card").first).to_be_visible()
    assert states(gallery) == "aaadaaaada"
    assert [name[5:] for name in named(gallery, "Work ")] == ["00", "01", "02", "04!", "05", "06", "07", "09!"]


@pytest.mark.rule("contract R3")
def test_an_undone_submission_waits_for_a_decision_again(console: Person, page: Page, gallery: LogoAdmin) -> None:
    submit(gallery, new_logo("Sunrise"))
    console.sign_in("submissions/1")
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.locator(".notice")).to_contain_text("Applied")
    assert named(gallery, "Sunrise") == ["Sunrise"]
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".remark")).to_contain_text(re.compile("^admin undid this .* It waits for a decision again"))
    expect(page.locator(".submission-waiting").first).to_be_visible()
    assert named(gallery, "Sunrise") == []
    page.get_by_role("link", name="See what was undone").click()
    expect(page.locator(".change-words").first).to_contain_text("Sunrise")


def test_declining_a_submission_is_sent_when_it_can_no_longer_be_undone(console: Person, gallery: LogoAdmin) -> None:
    page = console.page
    for name in ("First", "Second"):
        submit(gallery, new_logo(name))
    page.clock.install()
    console.sign_in("submissions/1")

    def decline(reason: str) -> None:
        page.get_by_role("button", name="Decline…").click()
        page.get_by_role("dialog").get_by_role("textbox").fill(reason)
        page.get_by_role("dialog").get_by_role("button", name="Decline", exact=True).click()

    decline("Too small")
    expect(page.locator("#work h1")).to_have_text("Second")
    expect(page.locator(".notice")).to_contain_text("will be declined in 10 seconds")
    page.keyboard.press("Control+z")
    expect(page.locator("#work h1")).to_have_text("First")
    page.clock.run_for(15_000)
    assert states(gallery) == "ww"
    # The reason is still there, to be edited, also after Escape.
    for kept in ("Too small", "Too small, and"):
        page.get_by_role("button", name="Decline…").click()
        expect(page.get_by_role("dialog").get_by_role("textbox")).to_have_value(kept)
        page.get_by_role("dialog").get_by_role("textbox").fill("Too small, and")
        page.keyboard.press("Escape")
    decline("Too small")
    expect(page.locator("#work h1")).to_have_text("Second")
    with page.expect_response("**/decline"):
        page.clock.run_for(10_500)
    assert states(gallery) == "dw"
    # Signing out sends it before the session ends.
    decline("Too large")
    expect(page.locator(".notice").last).to_contain_text("will be declined in 10 seconds")
    held = console.hold("**/decline", "POST")
    with page.expect_request("**/decline"):
        console.sign_out()
    page.wait_for_timeout(200)
    held[0].continue_()
    expect(page.get_by_label("Password")).to_be_visible()
    assert states(gallery) == "dd"


def test_a_decision_after_that_of_another_reviewer_is_refused_visibly(
    console: Person, page: Page, gallery: LogoAdmin
) -> None:
    submit(gallery, new_logo("Sunrise"))
    console.sign_in("submissions/1")
    expect(page.locator("#work h1")).to_have_text("Sunrise")
    gallery.proposals.apply(ApplyProposal(proposal_id=1))
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.locator(".submission-applied")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("Somebody changed or decided this meanwhile")


def test_a_submission_is_edited_and_applied_at_once(console: Person, page: Page, gallery: LogoAdmin) -> None:
    submit(gallery, own_logo(gallery, name="Redrawn", custom_css="color: red"))
    console.sign_in("submissions/1")
    # A record changed since is named, and the conflict resolved.
    gallery.logos.amend(AmendLogo(logo_id=OWN, name="Renamed meanwhile"))
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Logo 1")
    page.get_by_role("button", name="Edit…").click()
    page.get_by_label("Name", exact=True).fill("")
    page.get_by_role("button", name="Apply with these changes").click()
    expect(page.locator(".field .problem")).to_be_visible()
    page.get_by_label("Name", exact=True).fill("Redrawn well")
    # If applying fails, the changes are kept, and the submission offers it again.
    page.route("**/apply", lambda route: route.fulfill(status=503, json={"detail": "Database unavailable"}))
    page.get_by_role("button", name="Apply with these changes").click()
    expect(page.locator(".notice", has_text="Saved. Look at it again")).to_be_visible()
    expect(page).to_have_url(re.compile("/submissions/1$"))
    page.unroute("**/apply")
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.locator(".notice", has_text="Applied")).to_be_visible()
    logo = gallery.logos.get(GetLogo(logo_id=OWN))
    assert (logo.name, logo.custom_css) == ("Redrawn well", "color: red")
    mended = gallery.proposals.get(GetProposal(proposal_id=1)).changes[0]
    assert (mended.submitted or {})["name"] == "Redrawn"
    change = next(iter(gallery.changes.list(ListChanges(order="desc"))))
    assert (change.origin, change.submitter_id) == ("proposal", MEMBER_ID)


NEWCOMER_ID = 2001
TRACKING = "background: url(https://tracker.example/x.svg)"


@pytest.fixture
def five(service: Served) -> LogoAdmin:
    """A gallery in which five submissions wait: three of a member, one of a newcomer and one of the administrator."""
    admit(service.gallery)
    gallery = service.gallery
    gallery.users.create(CreateUser(user_id=NEWCOMER_ID, username="nora", password="a long password"))
    gallery.proposals.apply(ApplyProposal(proposal_id=submit(gallery, new_logo("Before")).proposal_id))
    submit(gallery, new_logo("Tracking", custom_css=TRACKING))
    submit(gallery, new_logo("Covering", custom_css="position: fixed; inset: 0"))
    submit(gallery, own_logo(gallery, name="Redrawn"))
    submit(gallery, new_logo("Newcomer"), user_id=NEWCOMER_ID)
    submit(gallery, new_logo("Ours"), user_id=ADMIN_ID)
    return gallery


def titles(page: Page) -> Locator:
    return page.locator(".submissions .submission-title")


def choose(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_role("checkbox", name=f"Select \u2068{name}\u2069").click()


def letters(gallery: LogoAdmin) -> str:
    """Return the states of those that waited."""
    return states(gallery)[1:]


def test_chips_filter_the_queue_and_the_navigation_through_it(console: Person, page: Page, five: LogoAdmin) -> None:
    submit(five, new_logo("Later"), user_id=NEWCOMER_ID)
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


def test_several_submissions_are_applied_at_once_and_failures_have_reasons(console: Person, five: LogoAdmin) -> None:
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
    assert letters(five) == "wwwww"
    # The record of one of them changes meanwhile.
    five.logos.amend(AmendLogo(logo_id=OWN, name="Renamed meanwhile"))
    page.clock.run_for(6_000)
    failed = page.locator(".notice.failed")
    expect(failed).to_contain_text("1 submission was not applied. \u2068Redrawn\u2069: ")
    expect(failed).to_contain_text("Logo 1")
    expect(page.locator(".notice.done")).to_contain_text("Applied 2 submissions")
    assert letters(five) == "awwaw"
    expect(titles(page)).to_have_text(["Covering", "Redrawn", "Ours"])
    # One undo covers everything that was applied.
    page.keyboard.press("Control+z")
    expect(titles(page)).to_have_count(5)
    assert letters(five) == "wwwww"
    assert not list(five.logos.list(ListLogos(q="Newcomer")))


def test_several_submissions_are_declined_with_a_reason_after_ten_seconds_to_undo(
    console: Person, page: Page, five: LogoAdmin
) -> None:
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
    assert letters(five) == "wwwww"
    choose(page, "Tracking", "Covering")
    decline()
    with page.expect_response("**/3/decline"):
        page.clock.run_for(10_500)
    expect(page.locator(".notice")).to_contain_text("Declined 2 submissions")
    assert letters(five) == "ddwww"
    # Pending decisions are sent when the page unloads.
    choose(page, "Redrawn", "Newcomer")
    decline()
    page.goto("about:blank")
    comes_true(lambda: letters(five) == "ddddw")


def test_only_listed_submissions_are_decided_in_bulk(console: Person, page: Page, five: LogoAdmin) -> None:
    page.clock.install()
    console.sign_in("submissions")
    choose(page, "Redrawn", "Newcomer")
    change = new_logo("Newcomer", custom_css=TRACKING)
    five.acting_as(NEWCOMER_ID).proposals.amend(AmendProposal(proposal_id=5, changes=(change,)))
    page.keyboard.press("a")
    expect(page.locator(".notice.failed")).to_contain_text("changed or decided 1 submission meanwhile")
    expect(page.locator(".notice.done")).to_contain_text("Redrawn\u2069 will be applied in 10 seconds")
    expect(page.locator(".mark")).to_have_count(3)
    with page.expect_response("**/4/apply"):
        page.clock.run_for(10_500)
    expect(page.locator(".notice.done")).to_contain_text("Applied \u2068Redrawn")
    assert letters(five) == "wwaww"


@pytest.mark.usefixtures("five")
def test_a_phone_shows_the_number_of_waiting_submissions(chromium: Browser, service: Served) -> None:
    with looking(chromium, service, **PHONE) as person:
        person.sign_in("logos")
        page = person.page
        expect(page.locator(".sidebar-work .sidebar-count")).to_be_visible()
        expect(page).to_have_title(re.compile(r"^\(5\) Logos · "))
        page.get_by_role("link", name="Submissions").tap()
        choose(page, "Redrawn", "Newcomer")
        for name in ("Apply", "Decline…"):
            button = page.get_by_role("button", name=name, exact=True)
            y, height = button.evaluate("each => [each.getBoundingClientRect().y, each.getBoundingClientRect().height]")
            assert (y > 844 * 0.6, height >= 44) == (True, True), name
        page.get_by_role("button", name="Apply", exact=True).tap()
        expect(page.locator(".notice")).to_contain_text("2 submissions will be applied")
