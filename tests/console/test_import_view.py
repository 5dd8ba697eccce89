"""Importing and exporting files of lines and CSV (contract I4, J3, J4)."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from logoadmin.domain.gallery import authors
from tests.console.driver import Person
from tests.console.parts import PNG
from tests.console.service import PAINTER, Served

pytestmark = pytest.mark.slow("a browser")


GOOD = '{"kind": "author", "author_id": 500, "user_id": 500, "username": "Zoë"}'
MENDED = '{"kind": "author", "author_id": 501, "user_id": 501, "username": "Yan"}'
TWO_BAD = "\n".join([GOOD, '{"kind": "author", "author_id": 501, "user_id": "x", "username": "Yan"}', "", "no JSON"])


def names(service: Served) -> list[str]:
    return [each.username for each in service.gallery.authors.list(authors.ListAuthors())]


def choose(console: Person, text: str) -> None:
    file = FilePayload(name="lines.jsonl", mimeType="application/jsonl", buffer=text.encode())
    console.page.locator("input[type=file]").set_input_files(file)


def press(console: Person, name: str) -> None:
    button = console.page.get_by_role("button", name=name, exact=True)
    expect(button).to_be_visible()
    console.press(button)


@pytest.mark.rule("contract J3", "contract J4", "contract I4", "contract G4")
def test_a_file_with_two_bad_lines_is_chosen_again_imported_and_undone_by_keyboard(console: Person) -> None:
    page, before = console.page, names(console.service)
    console.sign_in("import")
    choose(console, TWO_BAD)
    expect(page.get_by_role("heading", name="2 lines cannot be imported")).to_be_visible()
    whole_number = "Line 2.*Site user ID \\(user_id\\): This should be a whole number."
    bad = [re.compile(whole_number, re.DOTALL), re.compile("Line 4.*This line is not valid JSON.", re.DOTALL)]
    expect(page.locator(".bad-line")).to_have_text(bad)
    assert names(console.service) == before

    choose(console, f"{GOOD}\n{MENDED}\n")
    expect(page.get_by_role("heading", name="2 records can be imported")).to_be_focused()
    assert names(console.service) == before

    press(console, "Import 2 records")
    expect(page.get_by_role("heading", name="2 records were imported")).to_be_focused()
    expect(page.get_by_role("list", name="Result")).to_contain_text("Authors\u2069: 2 new, 0 changed, 0 unchanged")
    assert names(console.service) == [*before, "Zoë", "Yan"]

    press(console, "Undo all")
    dialog = page.get_by_role("dialog", name="Undo all 2 changes?")
    expect(dialog).to_be_visible()
    console.press(dialog.get_by_role("button", name="Undo"))
    expect(page.locator(".outcome")).to_contain_text("The import was undone")
    assert names(console.service) == before


@pytest.mark.rule("contract J4", "contract F3")
def test_an_import_without_a_response_is_retried_on_click_runs_once_and_can_be_undone(console: Person) -> None:
    page, storage, before = console.page, console.service.storage, names(console.service)
    console.sign_in("import")
    storage.go_away()
    choose(console, GOOD)
    expect(page.get_by_role("alert")).to_contain_text("The file was only being tried, so nothing was changed.")
    storage.come_back()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("button", name="Import 1 record")).to_be_visible()

    # The response is lost after the import ran.
    page.route("**/api/import", lambda route: (route.fetch(), route.abort())[0], times=1)
    page.get_by_role("button", name="Import 1 record").click()
    expect(page.locator(".notice")).to_contain_text("whether this was saved")
    page.locator(".notice").get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", name="1 record was imported")).to_be_visible()
    assert names(console.service) == [*before, "Zoë"]
    page.locator(".notice").last.get_by_role("button", name="Undo").click()
    expect(page.locator(".outcome")).to_contain_text("The import was undone")
    assert names(console.service) == before


@pytest.mark.rule("contract J2", "contract J3", "contract I4")
def test_an_export_has_the_kinds_a_user_may_read_and_an_import_those_they_may_write(
    console: Person, page: Page
) -> None:
    # The save dialog belongs to the browser, not to the console.
    page.add_init_script("window.showSaveFilePicker = undefined")
    username, password = PAINTER
    console.sign_in("settings", username=username, password=password)
    page.get_by_role("link", name="Bring records in").click()
    expect(page.locator("h1")).to_have_text("Import and export")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    kinds = Counter(json.loads(line)["kind"] for line in Path(download.value.path()).read_text().splitlines())
    assert kinds == {"author": 9, "theme": 12, "logo": 47}
    expect(page.get_by_text("The file is complete.")).to_be_visible()

    # They may change only logos: other kinds in a file are refused by name.
    choose(console, GOOD)
    expect(page.get_by_role("alert")).to_contain_text("records in it that you may not change: ")
    expect(page.get_by_role("alert")).to_contain_text("Authors")


CZECH = "username;user_id\r\nDvořáková;5000\r\n"


def give_file(page: Page, file: Path, content: bytes | str) -> None:
    """Give a file to the import."""
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    page.locator("input[type=file]").set_input_files(file)


@pytest.mark.rule("contract J3", "contract I4")
def test_the_encoding_of_a_csv_file_is_chosen_by_its_first_rows(console: Person, tmp_path: Path) -> None:
    page, before = console.page, names(console.service)
    console.sign_in("import")
    give_file(page, tmp_path / "authors.csv", CZECH.encode("cp1250"))
    rows = page.get_by_role("region", name="First rows")
    expect(rows).to_contain_text("Dvoøáková")
    expect(page.get_by_label("Records")).to_have_value("author")
    page.get_by_label("Encoding").select_option("windows-1250")
    expect(rows).to_contain_text("Dvořáková")
    page.get_by_role("button", name="Check").click()
    page.get_by_role("button", name="Import 1 record").click()
    expect(page.get_by_role("heading", name="1 record was imported")).to_be_focused()
    assert names(console.service) == [*before, "Dvořáková"]


@pytest.mark.rule("contract J3", "contract J4", "contract I4", "contract A21")
def test_a_file_that_can_never_be_imported_gets_one_message(console: Person, page: Page, tmp_path: Path) -> None:
    console.sign_in("import")
    alert, sent = page.get_by_role("alert"), []
    page.on("request", lambda request: sent.append(request) if "/api/import" in request.url else None)
    for name, content, said in (
        ("picture.jsonl", PNG, "not a text file"),
        ("list.csv.gz", b"\x1f\x8b\x08,;name", "not a text file"),
        ("book.xlsx", b"PK\x03\x04\0\0", "This is a spreadsheet. Save it as CSV"),
        ("list.json", '[{"kind": "author"}]', "This is a JSON list."),
        ("nothing.csv", "\ufeff\n", "There are no records in this file."),
        ("letter.txt", "Dear all\nthis is a letter and no list", "There are no records in this file."),
        ("whole.jsonl", bytes(64 * 1024 * 1024 + 1), "larger than 64 MB"),
    ):
        give_file(page, tmp_path / name, content)
        expect(alert).to_contain_text(said)
        expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    assert sent == []
    give_file(page, tmp_path / "authors.csv", "Имя;ID\nЁлки;70\n".encode("utf-16"))
    expect(page.get_by_role("region", name="First rows")).to_contain_text("Ёлки")
