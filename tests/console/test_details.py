"""The details of an artwork: form, differences and concurrent edits (contract S1, S2)."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from logoadmin.domain.gallery.artworks import AmendLogo, GetLogo
from logoadmin.domain.kernel.details import Details
from tests.console.conftest import Module
from tests.console.driver import Person
from tests.console.service import PICTURES, Served
from tests.console.test_artwork import done
from tests.console.test_kept_pictures import drawing, give, png

pytestmark = pytest.mark.slow("a browser")

STYLE = """/* ==UserStyle==
@name Aurora
@namespace example.org
@version 2.1
@description Northern lights
@author Ann, Nobody Here
@license CC-BY-4.0
@homepageURL https://aurora.example
@var color accent "Accent" #123456
@odd thing
==/UserStyle== */
@-moz-document domain("wiki.example") { a { color: var(--accent) } }
"""
# Pastes a text into an element.
_PASTE = """(element, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  const how = { clipboardData, bubbles: true, composed: true, cancelable: true };
  element.dispatchEvent(new ClipboardEvent("paste", how));
}"""
SHOTS = ({"url": f"http://{PICTURES}/2.svg", "alt": "A thread"}, {"url": f"http://{PICTURES}/3.svg"})


def details(service: Served, logo_id: int = 1) -> dict[str, object]:
    return service.gallery.logos.get(GetLogo(logo_id=logo_id)).details.members()


def describe(service: Served, **members: object) -> None:
    """Change the details of the first logo behind the back of the browser."""
    service.gallery.logos.amend(AmendLogo(logo_id=1, details=Details.model_validate(members)))


def field(page: Page, label: str) -> Locator:
    return page.locator(".form").get_by_label(label, exact=True)


def more(page: Page) -> None:
    """Open the rarely needed fields."""
    page.locator(".rare > summary").click()


@pytest.mark.rule("contract S1")
def test_details_are_edited_by_keyboard_and_undone_at_once(console: Person, service: Served, page: Page) -> None:
    console.sign_in("logos/1")
    description = page.locator("[name='details.description']")
    description.focus()
    page.keyboard.insert_text("Northern\nlights")
    page.keyboard.press("Enter")
    expect(description).to_have_value("Northern lights")
    expect(page.locator(".counted")).to_have_text("15 of 500")
    page.keyboard.press("Tab")
    for text in ("Dark", "Enter", "winter,a   b,", "oops,", "Backspace"):
        page.keyboard.press(text) if text in ("Enter", "Backspace") else page.keyboard.type(text)
    expect(page.locator(".tags li")).to_have_text(["dark", "winter", "a b"])
    expect(page.locator("[name='details.licence']")).to_have_count(0)
    more(page)
    for name, value in (("licence", "CC-BY-4.0"), ("version", "2.1"), ("text", "A *calm* one.")):
        page.locator(f"[name='details.{name}']").fill(value)
    page.keyboard.press("ControlOrMeta+s")
    done(page, "Saved")
    assert details(service) == {
        "description": "Northern lights",
        "text": "A *calm* one.",
        "licence": "CC-BY-4.0",
        "version": "2.1",
        "tags": ["dark", "winter", "a b"],
    }
    page.locator(".notice").get_by_role("button", name="Undo").click()
    expect(page.locator("[name='details.version']")).to_have_value("")


@pytest.mark.rule("contract S1")
def test_screenshots_are_uploaded_described_reordered_and_removed(console: Person, service: Served, page: Page) -> None:
    describe(service, screenshots=SHOTS)
    console.sign_in("logos/1")
    more(page)
    shots = page.locator(".screenshot")
    expect(shots).to_have_count(2)
    page.locator(".field-screenshots input[type=file]").set_input_files(png("a.png", drawing(10)))
    expect(shots).to_have_count(3)
    field(page, "What screenshot 3 shows").fill("A post")
    page.get_by_role("button", name="Move screenshot 3 up").click()
    page.get_by_role("button", name="Remove screenshot 1").click()
    page.keyboard.press("ControlOrMeta+s")
    done(page, "Saved")
    kept = service.gallery.logos.get(GetLogo(logo_id=1)).details.screenshots
    assert kept
    assert [each.alt for each in kept] == ["A post", None]
    assert kept[0].url.startswith(f"{service.gallery.public_url.base}/pictures/")


@pytest.mark.rule("contract S1", "contract J2")
def test_a_text_is_previewed_as_the_service_renders_it(console: Person, page: Page, module: Module) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    describe(console.service, text=f"## Use\n\n1. *calm*\n\n[a](https://a.example) [b](javascript:alert) {hostile}")
    console.sign_in("logos/1")
    more(page)
    page.get_by_role("button", name="Preview", exact=True).click()
    shown = page.locator(".rendered")
    expect(shown.locator("h3")).to_have_text("Use")
    expect(shown.locator("ol em")).to_have_text("calm")
    expect(shown.locator("a")).to_have_count(1)
    expect(shown.locator("a")).to_have_attribute("rel", "nofollow ugc noopener noreferrer")
    expect(shown).to_contain_text(hostile)
    # Even if the service let something through.
    let_through = '<script>x</script><a href="javascript:x" onclick="y">z</a>'
    nodes = str(module("parts/artwork/details_fields.js", "nodesOf", [let_through]))
    assert ("onclick" in nodes, "href" in nodes) == (False, False)


@pytest.mark.rule("contract E3", "contract S2")
def test_lists_search_words_and_tags_and_change_tags_and_licences_in_bulk(console: Person) -> None:
    service, page = console.service, console.page
    describe(service, description="Northern lights", tags=["dark", "calm"])
    service.gallery.logos.amend(AmendLogo(logo_id=2, details=Details(tags=("dark",))))
    console.sign_in("logos?look=table&tag=dark")
    names = page.locator("tbody .cell-selectable")
    expect(names).to_have_count(2)
    page.get_by_role("searchbox").fill("NORTHERN")
    expect(names).to_have_count(1)
    page.get_by_role("searchbox").fill("")
    expect(names).to_have_count(2)

    def edit(item: str) -> None:
        page.get_by_role("button", name="Select all").click()
        page.locator(".menu summary", has_text="Edit").click()
        page.get_by_role("button", name=item).click()

    for item, value, said in (("Set licence", "MIT", "Set the licence"), ("Add tags", "Winter, dark", "Tagged")):
        edit(item)
        page.get_by_role("dialog").locator(".input").first.fill(value)
        page.get_by_role("dialog").get_by_role("button", name=item).click()
        done(page, said)
    edit("Add tags")
    tags = page.get_by_role("dialog").locator(".input").first
    for refused, words in (
        (f"calm, {'x' * 33}", "No. 2: .*at most 32"),
        ("a,b,c,d,e,f,g,h,i", "more than 10 tags: .*Logo 1"),
    ):
        tags.fill(refused)
        tags.press("Enter")
        expect(tags).to_have_accessible_description(re.compile(words))
        expect(tags).to_be_focused()
    page.keyboard.press("Escape")
    page.locator(".menu summary", has_text="Edit").click()
    page.get_by_role("button", name="Remove tag").click()
    page.get_by_role("dialog").locator("select").select_option("calm")
    page.get_by_role("dialog").get_by_role("button", name="Remove tag").click()
    done(page, "Removed the tag")
    assert details(service) == {"description": "Northern lights", "licence": "MIT", "tags": ["dark", "winter"]}
    assert details(service, 2) == {"licence": "MIT", "tags": ["dark", "winter"]}


@pytest.mark.rule("contract S3")
def test_a_dropped_or_pasted_user_style_fills_the_form_and_reports_losses(console: Person, page: Page) -> None:
    console.sign_in("themes/new")
    name, target = field(page, "Name"), field(page, "Target")
    name.fill("Mine")
    give(name, "drop", "aurora.user.css", STYLE.encode(), "text")
    outcome = page.locator(".field-css [role=status]")
    expect(outcome).to_contain_text("Name, Target, Authors, Description, Home page, Licence, Version, and CSS")
    for lost in (
        "\u2068odd\u2069 is not",
        "only the default values are kept: \u2068accent",
        "gallery: \u2068Nobody Here",
    ):
        expect(outcome).to_contain_text(lost)
    expect(name).to_have_value("Aurora")
    expect(target).to_have_value("wiki.example")
    expect(page.locator(".author-chosen")).to_contain_text("Ann")
    expect(page.locator("[name='details.description']")).to_have_value("Northern lights")
    editor = page.get_by_role("textbox", name="CSS")
    expect(editor).to_contain_text("--accent: #123456")
    expect(editor).not_to_contain_text("UserStyle")
    outcome.get_by_role("button", name="Undo").click()
    expect(name).to_have_value("Mine")
    expect(page.locator(".author-chosen")).to_have_count(0)
    expect(editor).not_to_contain_text("accent")
    editor.evaluate(_PASTE, STYLE.replace("@odd thing", "@preprocessor stylus"))
    expect(outcome).to_contain_text("is written for \u2068stylus\u2069. Compile it to CSS first")
    expect(editor).not_to_contain_text("accent")
    editor.evaluate(_PASTE, STYLE)
    expect(name).to_have_value("Aurora")
