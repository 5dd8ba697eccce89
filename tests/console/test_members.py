"""The member's side: own works, submitting from a phone, decisions, and nothing else (contract R2, R4)."""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from logoadmin.domain.changes import proposal_commands as proposals
from logoadmin.domain.changes.proposal_commands import ApplyProposal, DeclineProposal, Proposal
from logoadmin.domain.gallery.artworks import AmendLogo, BlockTheme, GetLogo, ListLogos, RemoveLogo
from logoadmin.domain.identity.users import CreateUser
from logoadmin.domain.kernel.access import ActingAs
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.shared_settings import AmendSettings
from tests.console.driver import Person, looking, with_page
from tests.console.service import MEMBER, MEMBER_ID, OWN, PICTURES, Served, new_logo, submit
from tests.console.test_kept_pictures import drawing, give
from tests.console.test_proposals import PHONE

pytestmark = pytest.mark.slow("a browser")

NAME, PASSWORD = MEMBER


def latest(gallery: LogoAdmin) -> Proposal:
    listed = next(iter(gallery.proposals.list(proposals.ListProposals(order="desc"))))
    return gallery.proposals.get(proposals.GetProposal(proposal_id=listed.proposal_id))


def send(page: Page) -> None:
    page.get_by_role("button", name="Submit for review").click()


@pytest.mark.rule("contract R4")
def test_a_declined_submission_is_edited_on_a_phone_and_applied(
    chromium: Browser, service: Served, gallery: LogoAdmin
) -> None:
    with looking(chromium, service, **PHONE) as person:
        person.sign_in(username=NAME, password=PASSWORD)
        page = person.page
        expect(page.locator("#work h1")).to_have_text("My works")
        page.locator(".sidebar").get_by_role("link", name="Submit", exact=True).tap()
        expect(page.locator(".logo-css")).to_be_visible()
        send(page)
        expect(page.locator(".field .problem")).to_have_count(3)  # missing values are reported at their fields
        page.get_by_label("Name", exact=True).fill("Sunrise")
        page.get_by_role("combobox", name="Target").fill("forum")
        give(page.locator(".picture-drop"), "drop", "a.png", drawing(20))
        picture = page.locator(".picture-drop img")
        expect(picture).to_have_attribute("src", re.compile("/pictures/"))
        page.get_by_label("Note to the reviewers").fill("My first one")
        send(page)
        expect(page.locator("#work h1")).to_have_text("Sunrise")
        expect(page.locator(".submission-waiting")).to_be_visible()
        proposal = latest(gallery)
        assert (proposal.title, proposal.note) == ("Sunrise", "My first one")
        gallery.proposals.decline(DeclineProposal(proposal_id=proposal.proposal_id, reason="Too dark"))
        page.locator(".sidebar").get_by_role("link", name="My works").tap()
        row = page.locator(".submission-row", has_text="Sunrise")
        expect(row.locator(".tag")).to_have_text("Declined")
        expect(row.locator(".submission-reason")).to_contain_text("Too dark")
        row.get_by_role("link", name="Change and submit again").tap()
        expect(page.locator(".remark")).to_contain_text("Too dark")
        page.get_by_label("Name", exact=True).fill("Bright sunrise")
        expect(picture).to_be_visible()
        dark = picture.get_attribute("src") or ""
        give(page.locator("form"), "drop", "b.png", drawing(200))
        expect(picture).not_to_have_attribute("src", dark)
        send(page)
        expect(page.locator(".submission-waiting")).to_be_visible()
        gallery.proposals.apply(ApplyProposal(proposal_id=proposal.proposal_id))
        person.open("submit")
        entry = page.locator(".sidebar").get_by_role("link", name="My works New decision")
        expect(entry.locator(".dot")).to_be_visible()
        entry.tap()
        row = page.locator(".submission-row", has_text="Bright sunrise")
        expect(row.locator(".tag")).to_have_text("Published")
        expect(row.locator(".dot")).to_be_visible()
        expect(page.locator(".sidebar .dot")).to_have_count(0)
    (logo,) = gallery.logos.list(ListLogos(q="Bright sunrise"))
    assert (logo.active, logo.preview_url in logo.custom_css) == (True, True)
    assert [author.username for author in logo.authors] == ["Mira Sol"]


@pytest.mark.rule("contract R4", "contract J2")
def test_a_member_has_no_other_views(console: Person, page: Page, gallery: LogoAdmin) -> None:
    submit(gallery, new_logo("Mine"))
    # A read that ends because the page is left draws no pictures.
    held = console.hold("**/api/publication", "GET")
    with page.expect_response(re.compile(r"/api/authors/\d+/themes")):
        console.sign_in("works", username=NAME, password=PASSWORD)
    console.open("submit")
    expect(page.locator("#work h1")).to_be_visible()
    assert (len(held) > 0, console.service.external_hosts.pictures) == (True, [])
    page.unroute_all()
    gallery.users.create(CreateUser(user_id=2001, username="Other", password="a long password"))
    submit(gallery, new_logo("Not mine"), user_id=2001)
    expect(page.locator(".sidebar-links a")).to_have_text(["My works", "Submit"])
    console.open("submissions")
    expect(page.locator("#work h1")).to_have_text("My works")
    expect(page.locator(".submission-title", has_text="Mine")).to_be_visible()
    expect(page.locator(".submission-title", has_text="Not mine")).to_have_count(0)
    expect(page.locator(".sidebar-count")).to_have_count(0)
    console.settle()
    console.open("logos")
    expect(page.locator(".empty")).to_contain_text("This view does not exist")


@pytest.mark.rule("contract R4")
def test_a_member_proposes_a_change_of_their_work_and_withdraws_it(console: Person, gallery: LogoAdmin) -> None:
    page = console.page
    console.sign_in(username=NAME, password=PASSWORD)
    page.get_by_role("link", name="Logo 1").click()
    button = page.get_by_role("button", name="Submit for review")
    expect(button).to_have_attribute("aria-disabled", "true")
    page.get_by_label("Name", exact=True).fill("Redrawn")
    gallery.logos.amend(AmendLogo(logo_id=OWN, target="wiki"))
    button.click()
    expect(page.get_by_role("alert")).to_contain_text("Somebody changed this")
    # Sent twice by keys, and again because the response was lost, it is one submission.
    held = console.hold("**/api/proposals", "POST")
    for _ in range(2):
        page.keyboard.press("ControlOrMeta+s")
        expect(button).to_have_attribute("aria-busy", "true")
    (lost,) = held
    lost.fetch()
    lost.abort()
    expect(page.locator(".notice.failed")).to_contain_text("Connection lost")
    page.unroute_all()
    button.click()
    expect(page.locator(".was-is ins")).to_have_text(re.compile("Redrawn"))
    expect(page.locator(".notice.failed")).to_have_count(0)
    assert (latest(gallery).proposal_id, latest(gallery).changes[0].set) == (1, {"name": "Redrawn"})
    page.get_by_role("button", name="Withdraw").click()
    page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    expect(page.locator(".submission-withdrawn")).to_be_visible()
    assert latest(gallery).state.value == "withdrawn"
    assert gallery.logos.get(GetLogo(logo_id=OWN)).name == "Logo 1"


@pytest.mark.rule("contract R4", "contract R7")
def test_the_list_of_a_member_has_one_entry_and_state_per_work(console: Person, page: Page, gallery: LogoAdmin) -> None:
    for number, name in enumerate(("Waiting one", "Declined one", "Withdrawn one", "Applied one", "Removed one"), 1):
        assert submit(gallery, new_logo(name)).proposal_id == number
    gallery.proposals.decline(DeclineProposal(proposal_id=2, reason="Too dark"))
    gallery.proposals.withdraw(proposals.WithdrawProposal(proposal_id=3), ActingAs(MEMBER_ID))
    for number in (4, 5):
        gallery.proposals.apply(ApplyProposal(proposal_id=number))
    (removed,) = gallery.logos.list(ListLogos(q="Removed one"))
    gallery.logos.remove(RemoveLogo(logo_id=removed.logo_id))
    gallery.themes.block(BlockTheme(theme_id=OWN, reason="It covers the page"))
    page.route(re.compile("/console/works$"), with_page)
    console.sign_in("works", username=NAME, password=PASSWORD)
    rows = page.locator(".submission-row")
    expect(rows).to_have_count(7)
    assert {row.locator("a").first.inner_text(): row.locator(".tag").inner_text() for row in rows.all()} == {
        "Waiting one": "Waiting",
        "Declined one": "Declined",
        "Withdrawn one": "Withdrawn",
        "Applied one": "Published",
        "Removed one": "Removed",
        "Logo 1": "Published",
        "Theme 1": "Blocked",
    }
    expect(rows.filter(has_text="Theme 1").locator(".submission-reason")).to_contain_text("It covers the page")
    # The edits of the reviewer are in the submission, and another change starts here.
    applied = rows.filter(has_text="Applied one")
    expect(applied.locator("a.submission-title")).to_have_attribute("href", re.compile("/submissions/4$"))
    published = applied.get_by_role("link", name="On the page")
    expect(published).to_have_attribute("href", re.compile(r"/gallery/logos/\d+/$"))
    expect(rows.get_by_role("link", name="On the page")).to_have_count(2)
    new = rows.filter(has=page.locator(".dot")).locator("a.submission-title")
    assert sorted(new.all_inner_texts()) == ["Applied one", "Declined one", "Removed one", "Theme 1"]
    expect(page.locator(".sidebar .dot")).to_have_count(0)


@pytest.mark.rule("contract R2", "contract R4", "contract J8")
def test_the_form_starts_with_the_picture_and_offers_the_targets(console: Person, gallery: LogoAdmin) -> None:
    page = console.page
    targets: dict[str, Any] = {"forum": {"name": "The forum", "documents": ['domain("forum.example")']}}
    gallery.settings.amend(AmendSettings(submission_rules="Your own work.\nNo <b>others</b>", gallery_targets=targets))
    console.sign_in("submit", username=NAME, password=PASSWORD)
    expect(page.locator(".submit-rules")).to_contain_text("Your own work.\nNo <b>others</b>")
    expect(page.locator(".submit-rules")).to_contain_text("PNG, JPEG, GIF or WebP")
    labels = page.locator("form > .field > .label")
    expect(labels.first).to_contain_text("Picture")
    assert [each.split()[0] for each in labels.all_inner_texts()] == [
        *("Picture", "Name", "Target", "Description", "Licence", "Tags", "CSS", "Note")
    ]
    # A single option is preselected, and leaving loses nothing.
    expect(page.locator("select[name=target]")).to_have_value("forum")
    page.get_by_role("button", name="Theme").click()
    page.get_by_label("Name", exact=True).fill("Sunrise")
    send(page)
    expect(page.get_by_role("button", name="Choose a file")).to_be_focused()
    page.get_by_role("button", name="Give its address instead").click()
    page.locator("[name=preview_url]").fill(f"http://{PICTURES}/sunrise.svg")
    expect(page.locator(".picture-drop img")).to_be_visible()
    page.get_by_role("button", name="Logo").click()
    page.get_by_role("dialog").get_by_role("button", name="Keep editing").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Sunrise")
    targets["wiki"] = {"name": "Wiki", "documents": ['domain("wiki.example")']}
    gallery.settings.amend(AmendSettings(gallery_targets=targets))
    page.get_by_role("button", name="Logo").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    expect(page.locator("select[name=target] option")).to_have_text(["Choose…", "The forum", "Wiki"])
    # The preview shows the targets that the gallery has.
    expect(page.get_by_role("group", name="Target").get_by_role("button")).to_have_text(["The forum", "Wiki"])
    send(page)
    expect(page.locator(".field-choice .problem")).to_be_visible()
