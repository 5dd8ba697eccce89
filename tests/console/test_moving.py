"""From one record to another: in the order of the list, to a copy, to a new one; and out of unsaved input."""

import re

import pytest
from playwright.sync_api import Page, expect

from logoadmin.domain.gallery.artworks import GetLogo, LinkLogoAuthor, ListLogos
from tests.console.driver import Person

pytestmark = pytest.mark.slow("a browser")


def name(page: Page) -> str:
    """Return the name in the form, once there is one."""
    return page.get_by_label("Name", exact=True).input_value()


@pytest.mark.rule("contract J6")
def test_a_record_leads_to_the_next_and_the_previous_one_of_its_list(console: Person) -> None:
    console.sign_in("logos?q=logo+3&order=name")
    page = console.page
    page.get_by_role("link", name="Logo 30", exact=True).click()
    heading, place = page.locator("h1"), page.locator(".neighbours")
    expect(heading).to_have_text("Logo 30")
    expect(place).to_contain_text("2 of 11")
    page.keyboard.press("j")
    expect(heading).to_have_text("Logo 31")
    expect(heading).to_be_focused()
    page.get_by_role("button", name="Previous").click()
    expect(heading).to_have_text("Logo 30")
    expect(place).to_contain_text("2 of 11")
    page.keyboard.press("k")
    expect(heading).to_have_text("Logo 3")
    first = page.get_by_role("button", name="This is the first one")
    expect(first).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("k")
    # Letters that are typed are no keys.
    page.get_by_label("Name", exact=True).press("j")
    expect(heading).to_have_text("Logo 3")
    page.keyboard.press("Backspace")
    way = page.get_by_role("navigation", name="Breadcrumbs")
    expect(way.locator("[aria-current=page]")).to_have_text("Logo 3")
    way.get_by_role("link", name="Logos").click()
    expect(page).to_have_url(re.compile(r"/logos\?q=logo\+3&order=name$"))
    # Without a list, by id.
    console.open("users/7")
    expect(heading).to_have_text("painter")
    page.set_viewport_size({"width": 390, "height": 760})
    page.get_by_role("button", name="Next").click()
    expect(heading).to_have_text("admin")
    expect(page.get_by_role("button", name="This is the last one")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.rule("contract J6")
def test_a_copy_begins_unsaved_with_the_authors_and_is_marked(console: Person) -> None:
    console.sign_in("logos/3")
    page, gallery = console.page, console.service.gallery
    gallery.logos.link(LinkLogoAuthor(logo_id=3, author_id=1))
    page.reload()
    expect(page.locator(".author-chosen")).to_have_count(2)
    page.keyboard.press("d")
    expect(page.locator("h1")).to_have_text("New logo")
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    assert name(page) == "Logo 3 (copy)"
    expect(page.locator("input[name=target]")).to_have_value("market")
    expect(page.locator(".author-chosen")).to_have_count(2)
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Themes").click()
    dialog = page.get_by_role("dialog", name="Discard unsaved changes?")
    expect(dialog.get_by_role("button", name="Keep editing")).to_be_focused()
    page.keyboard.press("Enter")
    assert name(page) == "Logo 3 (copy)"
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Themes").click()
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text("Themes")
    [copy] = [logo for logo in gallery.logos.list(ListLogos()) if logo.name == "Logo 3 (copy)"]
    original = gallery.logos.get(GetLogo(logo_id=3))
    assert (copy.authors, copy.custom_css, copy.target) == (original.authors, original.custom_css, original.target)


@pytest.mark.rule("contract J6")
def test_a_new_record_is_begun_by_a_key_and_keys_are_listed(console: Person) -> None:
    console.sign_in("authors/2")
    page = console.page
    expect(page.locator("h1")).to_have_text("Ben")
    page.keyboard.press("n")
    field = page.get_by_label("Name", exact=True)
    expect(field).to_be_focused()
    page.get_by_role("button", name="Create", exact=True).click()
    expect(field).to_be_focused()
    page.keyboard.type("Carla")
    page.get_by_label("Site user ID").fill("910")
    page.keyboard.press("Control+s")
    expect(page.locator("h1")).to_have_text("Carla")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_contain_text("Next record")
