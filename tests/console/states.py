"""States of views in use, examined in addition to the views themselves."""

import re
from collections.abc import Callable
from typing import Final

from playwright.sync_api import FilePayload, expect
from pyotp import TOTP

from logoadmin.domain.gallery.artworks import AmendLogo, AmendTheme, BlockTheme
from logoadmin.domain.kernel.details import Details
from tests.console.driver import Person
from tests.console.service import PICTURES


def _choose(console: Person, name: str, content: bytes) -> None:
    console.open("import")
    file = FilePayload(name=name, mimeType="text/plain", buffer=content)
    console.page.locator("input[type=file]").set_input_files(file)


def show_bad_lines(console: Person) -> None:
    _choose(console, "a.jsonl", b'{"kind": "author", "user_id": "x"}\n{')
    expect(console.page.locator(".bad-line")).to_have_count(2)


def read_a_csv_file(console: Person) -> None:
    _choose(console, "logos.csv", b"Name;Place;Sort\nWinter;forum;1\n")
    expect(console.page.locator(".first-rows")).to_contain_text("Winter")


def ask_for_keys(console: Person) -> None:
    console.open("logos")
    console.settle()
    console.page.keyboard.press("?")
    expect(console.page.get_by_role("dialog")).to_be_visible()


def search_everything(console: Person) -> None:
    console.open("logos/1")
    console.settle()
    console.page.keyboard.press("Control+k")
    console.page.get_by_role("dialog").get_by_role("combobox").fill("lo")
    expect(console.page.get_by_role("listbox").get_by_role("option").nth(3)).to_be_visible()


def write_at_once(console: Person) -> None:
    console.open("logos/1")
    page = console.page
    page.get_by_label("Name").fill("Mine")
    console.service.gallery.logos.amend(AmendLogo(logo_id=1, name="Theirs"))
    page.keyboard.press("Control+s")
    expect(page.locator("dialog .merge-field")).to_have_count(1)


def look_at_all_fields(console: Person) -> None:
    shot = {"url": f"http://{PICTURES}/2.svg", "alt": "A thread"}
    details = Details.model_validate({"text": "1. *calm*", "tags": ["dark"], "screenshots": [shot], "origin": "old-1"})
    console.service.gallery.themes.amend(AmendTheme(theme_id=2, details=details))
    console.open("themes/2")
    console.page.locator(".rare > summary").click()
    console.page.locator(".rare").get_by_role("button").nth(1).click()
    expect(console.page.locator(".rendered em, .screenshot")).to_have_count(2)


def leave_unsaved(console: Person) -> None:
    console.open("authors/1")
    page = console.page
    page.locator("input[name=username]").fill("Annette")
    page.get_by_role("link", name="Logos").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def send_nothing(console: Person) -> None:
    console.open("logos/new")
    console.page.get_by_label("Name").fill("x")
    console.page.keyboard.press("Control+s")
    expect(console.page.locator("[aria-invalid=true]").first).to_be_visible()


def find_nothing(console: Person) -> None:
    console.open("logos?q=nothing+has+this+name")
    expect(console.page.locator(".empty")).to_be_visible()


def select_some(console: Person) -> None:
    console.open("logos")
    console.page.locator(".card-name").first.press("x")


def look_beside_the_list(console: Person) -> None:
    console.open("themes?look=table")
    page = console.page
    page.locator(".cell-link").first.press("Space")
    expect(page.locator(".record-head h1")).to_be_visible()


def edit_many(console: Person) -> None:
    select_some(console)
    console.page.locator(".menu summary", has_text=re.compile("Edit|Изменить")).click()
    console.page.locator(".menu-box .button").first.click()
    expect(console.page.get_by_role("dialog")).to_be_visible()


def merge_authors(console: Person) -> None:
    console.open("authors")
    page = console.page
    for row in (1, 2):
        page.locator("tbody tr").nth(row).get_by_role("checkbox").check()
    page.locator(".strip").get_by_role("button").nth(1).click()
    expect(page.get_by_role("dialog").get_by_role("status")).to_be_visible()


def ask_for_more(console: Person) -> None:
    console.page.set_viewport_size({"width": 320, "height": 640})
    console.open("history")
    console.page.get_by_role("button", name="More").click()
    expect(console.page.get_by_role("dialog", name="More").get_by_role("link", name="People")).to_be_visible()


def compare_versions(console: Person) -> None:
    console.service.gallery.logos.amend(AmendLogo(logo_id=1, name="Renamed", custom_css="color: red"))
    console.open("logos/1")
    console.page.locator(".record-history .disclosure-head").nth(1).click()
    expect(console.page.locator(".record-history .diff")).to_be_visible()
    # Where the click scrolled to, a bar that stays on screen may cover half of a button.
    console.page.evaluate("scrollTo(0, 0)")


def ask_why_to_block(console: Person) -> None:
    console.open("logos/3")
    console.act("Block")
    dialog = console.page.get_by_role("dialog")
    dialog.locator(".danger").click()
    expect(dialog.locator(".problem")).to_be_visible()


def ask_for_other_actions(console: Person) -> None:
    console.open("roles/3")
    console.page.get_by_role("button", name="More actions").click()
    expect(console.page.get_by_role("menuitem", name="Remove").get_by_text("In use")).to_be_visible()


def create_a_missing_author(console: Person) -> None:
    console.open("logos/3")
    console.page.get_by_role("combobox", name="Authors").fill("Zora")
    console.page.locator(".offers").get_by_role("button").click()
    dialog = console.page.get_by_role("dialog")
    dialog.locator(".primary").click()
    expect(dialog.locator(".problem")).to_be_visible()


def look_at_copied_imports(console: Person) -> None:
    sheet, service = "https://styles.example/theme.css", console.service
    css = f"@import url({sheet});@import url(https://late.example/a.css);"
    service.gallery.themes.amend(AmendTheme(theme_id=2, custom_css=css))
    service.origins.sheets[sheet] = "body { color: red }"
    service.gallery.themes.block(BlockTheme(theme_id=2, reason="It covers the sign-in form"))
    console.open("themes/2")
    console.page.locator(".verdict .button", has_text=re.compile("Copy the imports|Скопировать импорты")).click()
    expect(console.page.locator(".verdict .problem")).to_be_visible()
    expect(console.page.locator(".band")).to_be_visible()


def hand_over_a_password(console: Person) -> None:
    console.open("users/new")
    console.page.get_by_label("Name").fill("Newcomer")
    console.page.keyboard.press("Control+s")
    expect(console.page.get_by_role("dialog").get_by_label("Password")).to_be_visible()


def enrol_an_app(console: Person) -> None:
    console.open("account")
    page = console.page
    page.get_by_role("button", name="Authenticator app").click()
    page.get_by_label("Code from the app").fill("12")
    page.keyboard.press("Enter")
    expect(page.locator(".problem")).to_be_visible()


def keep_recovery_codes(console: Person) -> None:
    enrol_an_app(console)
    page = console.page
    secret = page.locator(".secret").inner_text().replace("\n", "")
    page.get_by_label("Code from the app").fill(TOTP(secret).at(console.service.clock.now()))
    page.keyboard.press("Enter")
    expect(page.locator(".printed li")).to_have_count(10)


def be_without_a_database(console: Person) -> None:
    console.page.set_viewport_size({"width": 1280, "height": 800})
    console.open("logos")
    console.settle()
    console.service.storage.go_away()
    console.page.get_by_role("link", name="People").click()
    expect(console.page.locator(".banner")).to_be_visible()


STATES: Final[tuple[Callable[[Person], None], ...]] = (
    show_bad_lines, read_a_csv_file, ask_for_keys, search_everything, write_at_once,
    leave_unsaved, send_nothing, find_nothing, select_some, edit_many,
    look_beside_the_list, look_at_all_fields, ask_for_more, compare_versions, ask_why_to_block, ask_for_other_actions,
    create_a_missing_author, merge_authors, look_at_copied_imports,
    hand_over_a_password, enrol_an_app, keep_recovery_codes,
    be_without_a_database,
)  # fmt: skip
