"""The form of a logo or theme: authors, CSS, concurrent edits and failures (contract J4)."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from logoadmin.domain.changes.history import ListChanges
from logoadmin.domain.gallery.artworks import AmendLogo, GetLogo, RemoveLogo
from logoadmin.domain.gallery.authors import RemoveAuthor
from logoadmin.domain.identity.roles import AmendRole
from logoadmin.domain.kernel.records import Change, Logo
from tests.console.driver import Person, looking
from tests.console.service import PAINTER, PICTURES, Served

pytestmark = pytest.mark.slow("a browser")


@contextmanager
def another(chromium: Browser, service: Served, path: str) -> Iterator[Person]:
    """Let the painter look at a view in a browser of their own."""
    with looking(chromium, service) as painter:
        painter.sign_in(path, username=PAINTER[0], password=PAINTER[1])
        yield painter


def logo(service: Served, logo_id: int = 1) -> Logo:
    return service.gallery.logos.get(GetLogo(logo_id=logo_id))


def changes(service: Served, **filters: Any) -> list[Change]:
    return list(service.gallery.changes.list(ListChanges(**filters)))


def authors(service: Served, logo_id: int = 1) -> list[str]:
    return [author.username for author in logo(service, logo_id).authors]


def field(page: Page, name: str) -> Locator:
    return page.locator(f".form [name={name}]")


def write_css(page: Page, text: str) -> None:
    text_box = page.get_by_role("textbox", name="CSS")
    expect(text_box).to_have_attribute("contenteditable", "true")
    text_box.focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(text)


def done(page: Page, words: str) -> Locator:
    """Wait for a notice of success, and return its locator."""
    found = page.locator(".notice", has_text=words)
    expect(found).to_be_visible()
    return found


@pytest.mark.rule("contract J3", "contract J4")
def test_a_logo_is_edited_by_keyboard_alone_and_restored_by_one_undo(console: Person) -> None:
    service, page = console.service, console.page
    before = logo(service)
    console.sign_in("logos/1")
    expect(page.locator("h1")).to_have_text("Logo 1")
    name = field(page, "name")
    name.press("End")
    page.keyboard.type(" again")
    write_css(page, "color: red")
    frame = page.frame_locator(".preview-frame")
    expect(frame.locator(".with .logo").first).to_have_attribute("style", "color: red;")
    who = page.get_by_role("combobox", name="Authors")
    who.focus()
    page.keyboard.type("an")
    expect(page.get_by_role("option", name="Ann").first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(page.locator(".author-chosen")).to_have_count(2)
    for key in ("Shift+Tab", "Shift+Tab", "ArrowUp"):
        page.keyboard.press(key)
    expect(page.locator(".author-chosen", has=page.locator(":focus")).first).to_contain_text("Ann")
    page.keyboard.press("ControlOrMeta+s")
    note = done(page, "Saved")
    after = logo(service)
    assert (after.name, after.custom_css, authors(service)) == ("Logo 1 again", "color: red", ["Ann", "Ben"])
    note.get_by_role("button", name="Undo").press("Enter")
    done(page, "Undone")
    expect(name).to_have_value("Logo 1")
    expect(page.locator(".author-chosen")).to_have_count(1)
    assert replace(logo(service), version=before.version) == before


@pytest.mark.rule("contract J4")
def test_concurrent_edits_of_a_logo_in_two_browsers_lose_nothing(chromium: Browser, console: Person) -> None:
    service, page = console.service, console.page
    # Without the address of the picture, which depends on its content.
    service.gallery.logos.amend(AmendLogo(logo_id=1, custom_css="width: 120px"))
    began = logo(service)
    console.sign_in("logos/1")
    write_css(page, f"{began.custom_css};\ncolor: red")
    field(page, "target").fill("market")
    field(page, "name").fill("Mine")
    with another(chromium, service, "logos/1") as painter:
        theirs = painter.page
        expect(theirs.locator(".record-history")).to_contain_text("changes:read")
        field(theirs, "name").fill("Theirs")
        field(theirs, "preview_url").fill("http://i.example/other.svg")
        theirs.keyboard.press("ControlOrMeta+s")
        done(theirs, "Saved")
        page.keyboard.press("ControlOrMeta+s")
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("heading")).to_have_text("\u2068painter\u2069 changed this while you were writing")
        assert logo(service).name == "Theirs"
        names = dialog.get_by_role("group", name="Name")
        for text in ("Logo 1", "Theirs", "Mine"):
            expect(names).to_contain_text(text)
        # Only fields that both changed need a decision.
        save = dialog.get_by_role("button", name="Save selection")
        expect(save).to_have_attribute("aria-disabled", "true")
        expect(dialog.get_by_role("group", name="CSS").get_by_label("Yours")).to_be_checked()
        expect(dialog.get_by_role("group", name="Picture").get_by_label("Theirs")).to_be_checked()
        names.get_by_label("Yours").press("Space")
        save.press("Enter")
        done(page, "Saved")
    merged = logo(service)
    assert (merged.name, merged.target, merged.preview_url) == ("Mine", "market", "http://i.example/other.svg")
    assert merged.custom_css == f"{began.custom_css};\ncolor: red"


@pytest.mark.rule("contract J4")
def test_a_record_removed_meanwhile_is_recreated_with_the_unsaved_input(console: Person) -> None:
    service, page = console.service, console.page
    console.sign_in("logos/1")
    field(page, "name").fill("Typed")
    service.gallery.logos.remove(RemoveLogo(logo_id=1))
    page.keyboard.press("ControlOrMeta+s")
    told = page.get_by_role("alert")
    expect(told).to_contain_text("A program on the server removed it")
    expect(told).to_contain_text("What you typed is still here")
    expect(page.get_by_role("button", name="Save")).to_have_attribute("aria-disabled", "true")
    told.get_by_role("button", name="Restore").click()
    expect(told).to_be_hidden()
    expect(field(page, "name")).to_have_value("Typed")
    page.keyboard.press("ControlOrMeta+s")
    done(page, "Saved")
    assert logo(service).name == "Typed"
    assert authors(service) == ["Ben"]


@pytest.mark.rule("contract J4", "contract F3")
def test_a_write_without_a_response_is_retried_without_duplicates(console: Person, service: Served, page: Page) -> None:
    began = len(changes(service))
    console.sign_in("logos/new")
    field(page, "name").fill("New")
    field(page, "target").fill("forum")
    field(page, "preview_url").fill("http://i.example/new.svg")
    who = page.get_by_role("combobox", name="Authors")
    for typed in ("ben", "ann"):
        who.fill(typed)
        expect(page.get_by_role("option", name=typed).first).to_be_visible()
        who.press("Enter")
    page.route("**/api/changes", lambda route: (route.fetch(), route.abort()), times=2)
    page.get_by_role("button", name="Create", exact=True).click()
    for _ in range(2):
        page.locator(".notice.failed").get_by_role("button", name="Try again").click()
    done(page, "Saved")
    made = changes(service)[began:]
    assert [change.action for change in made] == ["logo.created"]  # with its authors
    assert authors(service, made[0].id) == ["Ben", "Ann"]
    expect(page).to_have_url(f"{service.address}/console/logos/{made[0].id}")
    # Although the response was lost, one click undoes everything.
    page.locator(".notice").get_by_role("button", name="Undo").click()
    done(page, "Undone")
    expect(page.get_by_role("alert")).to_contain_text("removed it")


@pytest.mark.rule("contract J4", "contract B5")
def test_errors_are_shown_at_their_fields_and_no_input_is_lost(chromium: Browser, console: Person) -> None:
    service, page = console.service, console.page
    console.sign_in("themes/1")
    expect(page.frame_locator(".preview-frame").get_by_role("navigation").first).to_be_visible()
    field(page, "name").fill("")
    field(page, "preview_url").fill("javascript:alert(1)")
    page.get_by_role("button", name="Save").click()
    expect(field(page, "name")).to_be_focused()
    expect(page.locator(".problem")).to_have_count(2)
    field(page, "name").fill("A theme")
    field(page, "preview_url").fill("http://i.example/theme.svg")
    # The author who is about to be credited is removed.
    page.get_by_role("combobox", name="Authors").fill("ann")
    page.keyboard.press("Enter")
    service.gallery.authors.remove(RemoveAuthor(author_id=1))
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".problem")).to_contain_text("somebody removed this author")
    page.get_by_role("button", name="Remove \u2068Ann\u2069").click()
    expect(page.locator(".author-chosen")).to_have_count(1)
    with another(chromium, service, "logos/3") as painter:
        theirs = painter.page
        field(theirs, "name").fill("Kept")
        service.gallery.roles.amend(AmendRole(role_id=3, scope=()))
        theirs.keyboard.press("ControlOrMeta+s")
        expect(theirs.get_by_role("alert")).to_contain_text("You may not do this any more")
        expect(theirs.get_by_role("alert")).to_contain_text("Nothing you typed is lost")
        expect(field(theirs, "name")).to_have_value("Kept")
        save = theirs.get_by_role("button", name="Save")
        expect(save).to_have_attribute("aria-disabled", "true")
        expect(save).to_have_attribute("title", re.compile("You need the"))
        assert logo(service, 3).name == "Logo 3"
        # A click notices the restored right, and the unsaved input can be saved.
        service.gallery.roles.amend(AmendRole(role_id=3, scope=("logos:write",)))
        save.click(force=True)
        expect(save).to_have_attribute("aria-disabled", "false")
        expect(theirs.get_by_role("alert")).to_have_count(0)
        save.click()
        done(theirs, "Saved \u2068Kept\u2069")
        assert logo(service, 3).name == "Kept"


@pytest.mark.rule("contract J3", "contract J4")
def test_a_missing_author_is_created_in_place(console: Person, service: Served, page: Page) -> None:
    console.sign_in("logos/3")
    field(page, "name").fill("By somebody new")
    combobox = page.locator(".combobox input")
    combobox.fill("Zo")
    button = page.locator(".offers").get_by_role("button", name=re.compile("^New author .*Zo"))
    expect(button).to_be_visible()
    combobox.press("Enter")
    dialog = page.get_by_role("dialog", name="New author")
    name, number = dialog.locator("[name=username]"), dialog.locator("[name=user_id]")
    expect(name).to_have_value("Zo")  # as it was typed
    expect(number).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog.locator(".problem")).to_have_count(1)
    expect(number).to_be_focused()
    number.fill("101")  # taken
    page.keyboard.press("ControlOrMeta+s")
    expect(dialog.get_by_role("alert")).to_be_visible()
    number.fill("9000")
    name.fill("Zoë")
    # A lost response creates nobody twice.
    page.route("**/api/authors", lambda route: (route.fetch(), route.abort()), times=1)
    page.keyboard.press("ControlOrMeta+s")
    expect(dialog.get_by_role("alert")).not_to_contain_text("101")
    page.keyboard.press("ControlOrMeta+s")
    expect(dialog).to_have_count(0)
    expect(combobox).to_be_focused()
    expect(page.locator(".author-chosen").last).to_contain_text("Zoë")
    assert logo(service, 3).name == "Logo 3"  # neither key has saved it
    page.keyboard.press("ControlOrMeta+s")
    expect(page.locator(".record-save > .icon")).to_be_visible()  # all is saved
    assert (logo(service, 3).name, authors(service, 3)[-1]) == ("By somebody new", "Zoë")


@pytest.mark.rule("contract J3", "contract R4")
def test_the_css_of_a_logo_is_generated_from_its_picture_until_it_is_edited(console: Person, page: Page) -> None:
    console.sign_in("logos/new")
    page.locator("[name=name]").fill("Comet")
    page.locator("[name=target]").fill("forum")
    picture = page.locator("[name=preview_url]")
    expect(page.get_by_text("its CSS is written for you")).to_be_visible()
    picture.fill(f"http://{PICTURES}/one.svg")  # of 160 by 80 pixels
    expect(page.get_by_label("Width, pixels")).to_have_value("72")
    expect(page.get_by_label("Height, pixels")).to_have_value("36")
    page.get_by_label("Width, pixels").fill("200")
    page.get_by_label("Position").select_option("Left")
    picture.fill(f"http://{PICTURES}/two.svg")
    page.keyboard.press("Control+s")
    expect(page.locator(".notice")).to_contain_text("Saved")

    saved = logo(console.service, 48).custom_css
    assert saved == f'background: url("http://{PICTURES}/two.svg") left / contain no-repeat; width: 200px; height: 36px'
    page.get_by_role("button", name="Edit the CSS").click()
    editor = page.get_by_role("textbox", name="CSS")
    editor.press("Control+End")
    page.keyboard.type("; opacity: 0.5")
    picture.fill(f"http://{PICTURES}/three.svg")
    expect(editor).to_contain_text("three.svg")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("button", name="Saved")).to_be_visible()
    assert logo(console.service, 48).custom_css == f"{saved.replace('two', 'three')}; opacity: 0.5"
    page.get_by_role("button", name="Write it from the picture").click()
    question = page.get_by_role("dialog", name="Replace your CSS?")
    question.get_by_role("button", name="Write it from the picture").click()
    expect(page.get_by_label("Height, pixels")).to_have_value("36")
