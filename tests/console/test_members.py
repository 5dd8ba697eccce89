"""The member's side: own works, submitting from a phone, decisions, and nothing else (contract R2, R4)."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from logoadmin.domain.changes.proposal_commands import ApplyProposal, DeclineProposal, GetProposal, ListProposals
from logoadmin.domain.changes.proposal_records import Proposal
from logoadmin.domain.gallery.artworks import AmendLogo, BlockLogo, GetLogo, ListLogos, RemoveLogo
from logoadmin.domain.gallery.authors import ListAuthors
from logoadmin.domain.identity.users import CreateUser
from logoadmin.domain.logo_admin import LogoAdmin
from tests.console.driver import Appearance, Person, looking
from tests.console.service import Served
from tests.console.submissions import MEMBER, OWN, admit, new_logo, own_logo, submit
from tests.console.test_accessible import findings, too_wide, wordless
from tests.console.test_kept_pictures import drawing, give
from tests.console.test_proposals import PHONE

pytestmark = pytest.mark.slow("a browser")

NAME, PASSWORD = MEMBER


@pytest.fixture
def gallery(service: Served) -> LogoAdmin:
    admit(service.gallery)
    return service.gallery


def latest(gallery: LogoAdmin) -> Proposal:
    listed = next(iter(gallery.proposals.list(ListProposals(order="desc"))))
    return gallery.proposals.get(GetProposal(proposal_id=listed.proposal_id))


def send(page: Page) -> None:
    page.get_by_role("button", name="Submit for review").click()


@pytest.mark.rule("contract R4")
def test_a_member_submits_from_a_phone_is_declined_mends_it_and_is_applied(
    chromium: Browser, service: Served, gallery: LogoAdmin
) -> None:
    with looking(chromium, service, **PHONE) as person:
        person.sign_in(username=NAME, password=PASSWORD)
        page = person.page
        expect(page.locator("#work h1")).to_have_text("My works")
        page.locator(".sidebar").get_by_role("link", name="Submit", exact=True).tap()
        expect(page.locator(".logo-css")).to_be_visible()
        send(page)
        expect(page.locator(".field .problem")).to_have_count(3)  # what is missing is named at its field
        page.get_by_label("Name", exact=True).fill("Sunrise")
        page.get_by_role("combobox", name="Target").fill("forum")
        give(page.locator("[name=preview_url]"), "drop", "a.png", drawing(20))
        expect(page.locator("[name=preview_url]")).to_have_value(re.compile("/pictures/"))
        page.get_by_label("Note to the reviewers").fill("My first one")
        send(page)
        expect(page.locator("#work h1")).to_have_text("Sunrise")
        expect(page.locator(".submission-waiting")).to_be_visible()
        proposal = latest(gallery)
        assert (proposal.title, proposal.note) == ("Sunrise", "My first one")
        gallery.proposals.decline(DeclineProposal(proposal_id=proposal.proposal_id, reason="Too dark"))
        page.locator(".sidebar").get_by_role("link", name="My submissions").tap()
        expect(page.locator(".submission-reason")).to_contain_text("Too dark")
        page.locator(".submission-row").tap()
        expect(page.locator(".remark")).to_contain_text("Too dark")
        page.get_by_role("button", name="Change and submit again").tap()
        expect(page.locator(".remark")).to_contain_text("Too dark")
        page.get_by_label("Name", exact=True).fill("Bright sunrise")
        dark = page.locator("[name=preview_url]").input_value()
        give(page.locator("[name=preview_url]"), "drop", "b.png", drawing(200))
        expect(page.locator("[name=preview_url]")).not_to_have_value(dark)
        send(page)
        expect(page.locator(".submission-waiting")).to_be_visible()
        gallery.proposals.apply(ApplyProposal(proposal_id=proposal.proposal_id))
        person.open("works")
        expect(page.locator(".made a", has_text="Bright sunrise")).to_be_visible()
    logo = next(iter(gallery.logos.list(ListLogos(q="Bright sunrise"))))
    assert logo.active
    assert logo.preview_url in logo.custom_css
    assert [author.username for author in logo.authors] == ["Mira Sol"]


@pytest.mark.rule("contract R4")
def test_a_member_has_no_other_views(console: Person, gallery: LogoAdmin) -> None:
    page = console.page
    submit(gallery, new_logo("Mine"))
    gallery.users.create(CreateUser(user_id=2001, username="Other", password="a long password"))
    submit(gallery, new_logo("Not mine"), user_id=2001)
    console.sign_in(username=NAME, password=PASSWORD)
    expect(page.locator(".sidebar-links a")).to_have_text(["My works", "Submit", "My submissions"])
    page.get_by_role("link", name="My submissions").click()
    expect(page.locator(".submission-title")).to_have_text(["Mine"])
    expect(page.locator(".sidebar-count")).to_have_count(0)
    console.open("logos")
    expect(page.locator(".empty")).to_contain_text("There is no such view")
    page.keyboard.press("Control+k")
    page.get_by_role("dialog").get_by_role("combobox").fill("logo")
    expect(page.get_by_role("dialog").get_by_role("status")).to_be_visible()
    expect(page.get_by_role("dialog").get_by_role("option")).to_have_count(0)


@pytest.mark.rule("contract R4")
def test_a_member_proposes_a_change_of_an_own_work_and_withdraws_it(console: Person, gallery: LogoAdmin) -> None:
    page = console.page
    console.sign_in(username=NAME, password=PASSWORD)
    page.get_by_role("link", name="Logo 1").click()
    button = page.get_by_role("button", name="Submit for review")
    expect(button).to_have_attribute("aria-disabled", "true")
    page.get_by_label("Name", exact=True).fill("Redrawn")
    gallery.logos.amend(AmendLogo(logo_id=OWN, target="wiki"))
    button.click()
    expect(page.get_by_role("alert")).to_contain_text("Somebody changed this")
    button.click()
    expect(page.locator(".was-is ins")).to_have_text(re.compile("Redrawn"))
    change = latest(gallery).changes[0]
    assert change.set == {"name": "Redrawn"}
    page.get_by_role("button", name="Withdraw").click()
    page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    expect(page.locator(".submission-withdrawn")).to_be_visible()
    assert latest(gallery).state.value == "withdrawn"
    assert gallery.logos.get(GetLogo(logo_id=OWN)).name == "Logo 1"


@pytest.mark.rule("contract R4")
def test_a_member_without_an_author_record_proposes_one(console: Person, service: Served) -> None:
    page, gallery = console.page, service.gallery
    name, password = MEMBER
    gallery.users.create(CreateUser(user_id=2001, username=name, password=password))
    console.sign_in(username=name, password=password)
    page.get_by_role("link", name="Set up your author record").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value(name)
    page.get_by_label("Name", exact=True).fill("Mira Sol")
    send(page)
    expect(page.locator(".submission-waiting")).to_be_visible()
    gallery.proposals.apply(ApplyProposal(proposal_id=latest(gallery).proposal_id))
    assert [author.username for author in gallery.authors.list(ListAuthors(user_id=2001))] == ["Mira Sol"]
    console.open("works/author")
    page.get_by_label("Name", exact=True).fill("Mira S.")
    send(page)
    expect(page.locator(".was-is")).to_contain_text("Mira S.")


@pytest.mark.rule("contract R4")
def test_the_submitter_sees_what_a_reviewer_mended(console: Person, gallery: LogoAdmin) -> None:
    proposal = submit(gallery, own_logo(gallery, name="Redrawn"))
    console.sign_in("submissions/1/changes/0")
    console.page.get_by_label("Name", exact=True).fill("Redrawn well")
    console.page.keyboard.press("Control+s")
    expect(console.page.locator(".notice")).to_contain_text("Applied")
    assert gallery.proposals.get(GetProposal(proposal_id=proposal.proposal_id)).state.value == "applied"
    console.page.evaluate("sessionStorage.clear()")
    console.sign_in("submissions/1", username=NAME, password=PASSWORD)
    mended = console.page.locator("section", has_text="Edited by the reviewer").last
    expect(mended.locator("del")).to_contain_text("Redrawn")
    expect(mended.locator("ins")).to_contain_text("Redrawn well")


@pytest.mark.rule("contract R4")
def test_more_than_twenty_waiting_submissions_are_refused_in_words(console: Person, gallery: LogoAdmin) -> None:
    for number in range(20):
        submit(gallery, new_logo(f"Work {number}"))
    console.sign_in("works/logos/1", username=NAME, password=PASSWORD)
    console.page.get_by_label("Name", exact=True).fill("One more")
    send(console.page)
    expect(console.page.get_by_role("alert")).to_contain_text("You have 20 submissions waiting")


@pytest.mark.rule("contract J5", "contract R4")
def test_axe_finds_nothing_in_what_members_see(chromium: Browser, service: Served, gallery: LogoAdmin) -> None:
    declined = submit(gallery, new_logo("Declined"))
    gallery.proposals.decline(DeclineProposal(proposal_id=declined.proposal_id, reason="Hard to read on dark pages"))
    submit(gallery, own_logo(gallery, name="Redrawn"))
    found = {}
    paths = (
        "works",
        "submit",
        "submissions",
        "submissions/1",
        "submissions/1/changes/0",
        "works/logos/1",
        "works/author",
    )
    with looking(chromium, service, reduced_motion="reduce") as person:
        person.sign_in(username=NAME, password=PASSWORD)
        for number, path in enumerate(paths):
            person.open(path)
            person.settle()
            light, dark = Appearance(1280, "light", "en"), Appearance(320, "dark", "ru")
            for appearance in (light, dark) if number % 2 else (dark, light):
                person.see(appearance)
                person.settle()
                found[path, appearance] = [
                    *findings(person.page),
                    *wordless(person.page),
                    *too_wide(person, appearance),
                ]
    assert [(*where, those) for where, those in found.items() if those] == []


@pytest.mark.rule("contract R4", "contract P5")
def test_a_blocked_work_says_why_and_offers_a_change(console: Person, gallery: LogoAdmin) -> None:
    page = console.page
    submit(gallery, own_logo(gallery, name="Redrawn"))
    gallery.proposals.apply(ApplyProposal(proposal_id=1))
    gallery.logos.block(BlockLogo(logo_id=OWN, reason="It covers the page"))
    console.sign_in("works", username=NAME, password=PASSWORD)
    expect(page.locator(".made").first).to_contain_text("Blocked: \u2068It covers the page\u2069")
    console.open("submissions/1")
    expect(page.locator(".remark")).to_contain_text("Blocked: \u2068It covers the page\u2069")
    expect(page.locator(".submission-facts .tag")).to_have_text("Blocked")
    console.open("submissions")
    expect(page.locator(".submission-row .tag")).to_have_text("Blocked")
    expect(page.locator(".submission-row .submission-reason")).to_have_text("Blocked: \u2068It covers the page\u2069")
    console.open("submissions/1")
    page.get_by_role("link", name="Submit a change").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Redrawn")
    gallery.logos.remove(RemoveLogo(logo_id=OWN))
    console.open("submissions/1")
    expect(page.locator(".remark")).to_contain_text("This work is no longer in the gallery")
    page.locator(".remark").get_by_role("link").click()
    expect(page).to_have_url(re.compile("/console/submit$"))
