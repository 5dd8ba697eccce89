"""CSV files at the import and the export: the server reads and writes them, the console asks how (contract I4, J3)."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from logoadmin.domain.gallery import artworks, authors
from tests.console.driver import Person, looking
from tests.console.parts import PNG
from tests.console.service import Served

pytestmark = pytest.mark.slow("a browser")

CZECH = "username;user_id\r\nDvořáková;5000\r\n"


def choose(page: Page, file: Path, content: bytes | str) -> None:
    """Give a file to the import."""
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    page.locator("input[type=file]").set_input_files(file)


def names(service: Served) -> list[str]:
    return [each.username for each in service.gallery.authors.list(authors.ListAuthors())]


@pytest.mark.rule("contract J3", "contract I4")
def test_the_encoding_of_a_csv_file_is_chosen_by_its_first_rows(console: Person, tmp_path: Path) -> None:
    page, before = console.page, names(console.service)
    console.sign_in("import")
    choose(page, tmp_path / "authors.csv", CZECH.encode("cp1250"))
    rows = page.get_by_role("region", name="First rows")
    expect(rows).to_contain_text("Dvoøáková")
    expect(page.get_by_label("Records")).to_have_value("author")
    page.get_by_label("Encoding").select_option("windows-1250")
    expect(rows).to_contain_text("Dvořáková")
    page.get_by_role("button", name="Check").click()
    page.get_by_role("button", name="Import 1 record").click()
    expect(page.get_by_role("heading", name="1 record was imported")).to_be_focused()
    assert names(console.service) == [*before, "Dvořáková"]
    page.get_by_role("button", name="Undo all").click()
    page.get_by_role("dialog").get_by_role("button", name="Undo").click()
    expect(page.locator(".outcome")).to_contain_text("The import was undone")
    assert names(console.service) == before


@pytest.mark.rule("contract J3", "contract I4")
def test_what_the_server_says_about_a_csv_file_stands_at_its_lines(console: Person, tmp_path: Path) -> None:
    page, before = console.page, names(console.service)
    console.sign_in("import")
    bad = page.locator(".bad-line")
    head = "author_id,username,user_id\n"
    for text, said in (
        ("logo_id,name\n", ["Line 1These columns are missing: \u2068preview_url, target, custom_css, active, authors"]),
        ("author_id,rank\n", ["Line 1rank: This field does not exist."]),
        (head + '1,"A\nB",x\n2,,4\n', ["Line 2Site user ID (user_id): This should be a whole number.", "Line 4"]),
        (head + "1,A,2,3\n", ["Line 2There are more cells than columns."]),
        (head + '1,"A,2\n', ["Line 2A quotation mark does not match."]),
    ):
        choose(page, tmp_path / "file.csv", text)
        page.get_by_role("button", name="Check").click()
        expect(bad).to_have_count(len(said))
        for entry, words in zip(bad.all(), said, strict=True):
            expect(entry).to_contain_text(words)
    # What decodes as another encoding further on is named once.
    choose(page, tmp_path / "file.csv", (head + f"1,{'A' * 50},2\n" * 2_000).encode() + "2,Ёж,3\n".encode("cp1251"))
    page.get_by_role("button", name="Check").click()
    expect(bad).to_contain_text("The file has another encoding.")
    assert names(console.service) == before


@pytest.mark.rule("contract J3", "contract I4")
def test_an_export_comes_back_changed_by_a_spreadsheet(chromium: Browser, service: Served, tmp_path: Path) -> None:
    with looking(chromium, service, locale="ru-RU", viewport={"width": 390, "height": 800}) as person:
        page = person.page
        # The save dialog belongs to the browser, not to the console.
        page.add_init_script("window.showSaveFilePicker = undefined")
        person.sign_in("import")
        page.get_by_label("Формат").select_option("logo")
        with page.expect_download() as download:
            page.get_by_role("button", name="Скачать").click()
        assert download.value.suggested_filename.startswith("logos-")
        text = Path(download.value.path()).read_bytes().decode()
        before = service.gallery.logos.get(artworks.GetLogo(logo_id=7))
        text = text.replace("Logo 7,", "Logo VII,").replace(str(before.created_at), "28.11.2026 12:00")
        choose(page, tmp_path / "file.csv", text)
        expect(page.get_by_label("Записи")).to_have_value("logo")
        page.get_by_role("button", name="Проверить").click()
        expect(page.locator(".outcome li")).to_contain_text("изменённых — 1, без изменений — 46")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.rule("contract J3")
def test_what_is_no_list_of_records_is_one_message(console: Person, tmp_path: Path) -> None:
    page = console.page
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
    ):
        choose(page, tmp_path / name, content)
        expect(alert).to_contain_text(said)
        expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    assert sent == []
    choose(page, tmp_path / "authors.csv", "Имя;ID\nЁлки;70\n".encode("utf-16"))
    expect(page.get_by_role("region", name="First rows")).to_contain_text("Ёлки")
