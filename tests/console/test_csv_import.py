"""CSV files at the import: their columns, problems by line and column, and what would change in which record."""

import csv
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from logoadmin.domain.gallery import artworks, authors
from tests.console.conftest import Module
from tests.console.driver import Person, looking
from tests.console.parts import PNG
from tests.console.service import Served

pytestmark = pytest.mark.slow("a browser")

RECORDS = "parts/import/csv_records.js"
LOGOS = """\ufeffName;Place;Active;Picture;Authors;Style;Nonsense\r
"Night; market";forum;yes;https://i.example/1.svg;Ann, Ben;"color: red;\r
width: 3px";a\r
Fair;market;no;https://i.example/2.svg;2;;b\r
"""


def choose(page: Page, file: Path, content: bytes | str) -> None:
    """Give a file to the import."""
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    page.locator("input[type=file]").set_input_files(file)


def field_of(page: Page, head: str) -> Locator:
    return page.get_by_label(f"Field of the column \u2068{head}\u2069", exact=True)


def logos(service: Served) -> list[Any]:
    return list(service.gallery.logos.list(artworks.ListLogos()))


@pytest.mark.rule("contract J3", "contract J7")
def test_a_csv_file_is_matched_by_the_names_of_its_columns_checked_and_imported(
    console: Person, tmp_path: Path
) -> None:
    page, before = console.page, len(logos(console.service))
    console.sign_in("import")
    expect(page.locator(".drop")).to_contain_text("JSON Lines up to 64 MB, CSV up to 16 MB")
    choose(page, tmp_path / "new logos.csv", LOGOS)
    heading = page.get_by_role("heading", name="Match the columns")
    expect(heading).to_be_focused()
    assert page.locator("tbody select").evaluate_all("all => all.map((each) => each.value)") == [
        *("name", "target", "active", "preview_url", "author_ids", "custom_css", "")
    ]
    expect(page.locator("tbody tr").first).to_contain_text("Night; market")
    # A field is in one column; without it, new records lack it.
    field_of(page, "Nonsense").select_option("target")
    expect(field_of(page, "Place")).to_have_value("")
    field_of(page, "Nonsense").select_option("")
    check = page.get_by_role("button", name="Check")
    expect(check).to_have_attribute("aria-disabled", "true")
    expect(page.locator(".remark")).to_contain_text("New records also need: \u2068Target")
    field_of(page, "Place").select_option("target")
    console.press(check)
    expect(page.get_by_role("heading", name="2 records can be imported")).to_be_focused()
    ahead = page.get_by_role("region", name="Record by record")
    expect(ahead.get_by_role("listitem")).to_have_count(2)
    expect(ahead.get_by_role("listitem").first).to_contain_text("Night; market")
    page.get_by_role("button", name="Import 2 records").click()
    expect(page.get_by_role("heading", name="2 records were imported")).to_be_visible()
    night, fair = logos(console.service)[before:]
    assert (night.name, night.target, night.active) == ("Night; market", "forum", True)
    assert night.custom_css == "color: red;\nwidth: 3px"
    assert [each.username for each in night.authors] == ["Ann", "Ben"]
    assert [each.author_id for each in fair.authors] == [2]


@pytest.mark.rule("contract J3", "contract I4")
def test_problems_of_csv_name_the_line_and_the_column_and_are_mended_in_place(console: Person, tmp_path: Path) -> None:
    page, before = console.page, len(logos(console.service))
    console.sign_in("import")
    text = (
        "Title,Section,Shown,Image,Authors\n\n"
        'A,forum,perhaps,https://i.example/1.svg,"Nobody\nAnn"\n'
        "B,forum,yes,no address,Ann,too much\n"
    )
    choose(page, tmp_path / "logos.csv", text)
    page.get_by_role("button", name="Check").click()
    bad = page.locator(".bad-line")
    expect(page.get_by_role("heading", name="2 lines cannot be imported")).to_be_visible()
    assert bad.locator("button").all_inner_texts() == ["Line 3", "Line 5"]
    expect(bad.first).to_contain_text("Column \u2068Authors\u2069: \u2068There is no author named \u2068Nobody")
    expect(bad.first).to_contain_text("Column \u2068Shown\u2069: \u2068This should be true or false.")
    expect(bad.last).to_contain_text("There are more cells than the \u20685\u2069 columns.")
    expect(bad.last).to_contain_text("Column \u2068Image\u2069: \u2068This should be an address")
    expect(bad.last.locator("code")).to_have_text("B,forum,yes,no address,Ann,too much")
    bad.last.get_by_role("button").click()
    page.keyboard.insert_text("B,forum,yes,https://i.example/3.svg,Ann")
    lines = page.get_by_label("The lines")
    lines.fill(lines.input_value().replace("perhaps", "no").replace("Nobody\n", ""))
    page.keyboard.press("Control+s")
    expect(page.get_by_role("heading", name="2 records can be imported")).to_be_visible()
    # A quote without an end would swallow everything after it.
    lines.fill('Title,Section,Shown,Image,Authors\nA,forum,no,https://i.example/1.svg,"Ann\n')
    page.keyboard.press("Control+s")
    expect(bad).to_contain_text("A cell in quotes begins here and has no end.")
    assert len(logos(console.service)) == before


@pytest.mark.rule("contract J3")
def test_an_exported_list_comes_back_changed_by_a_spreadsheet_and_shows_what_would_change(
    chromium: Browser, service: Served, tmp_path: Path
) -> None:
    with looking(chromium, service, locale="ru-RU", viewport={"width": 390, "height": 800}) as person:
        page = person.page
        service.gallery.authors.create(authors.CreateAuthor(user_id=900, username="=1+1; 2"))
        service.gallery.logos.link(artworks.LinkLogoAuthor(logo_id=3, author_id=10))
        person.sign_in("logos")
        with page.expect_download() as download:
            page.get_by_role("button", name="Экспорт CSV").click()
        text = Path(download.value.path()).read_bytes().decode()
        assert len(list(csv.reader(text.splitlines(keepends=True), delimiter=";"))) == 1 + len(logos(service))
        person.open("import")
        choose(page, tmp_path / "logos.csv", text.replace("Logo 7;", "Logo VII;"))
        page.get_by_role("button", name="Проверить").click()
        ahead = page.get_by_role("region", name="По записям")
        entry = ahead.get_by_role("listitem")
        expect(entry).to_have_count(1)
        expect(entry).to_contain_text("Logo VII")
        expect(entry).to_contain_text("Название")
        entry.locator("summary").click()
        expect(entry.locator("del")).to_contain_text("Logo 7")
        expect(entry.locator("ins")).to_contain_text("Logo VII")
        ahead.get_by_role("combobox").select_option("unchanged")
        expect(ahead.get_by_role("listitem")).to_have_count(46)
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
        ("letter.txt", "Dear all\nthis is a letter, and no list", "There are no records in this file."),
    ):
        choose(page, tmp_path / name, content)
        expect(alert).to_contain_text(said)
        expect(page.locator(".bad-line")).to_have_count(0)
        expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    assert sent == []
    # Spreadsheets of older systems write other encodings.
    choose(page, tmp_path / "authors.csv", "Имя;ID\nЁлки;70\n".encode("utf-16"))
    expect(page.locator("tbody tr").first).to_contain_text("Ёлки")


@pytest.mark.rule("contract J3")
@pytest.mark.parametrize(
    ("heads", "kind", "columns"),
    [
        (["author_id", "username", "user_id"], "author", ["id", "username", "user_id"]),
        (["Имя", "ID на сайте"], "author", ["username", "user_id"]),
        (["ID", "Название", "Место", "Включён", "Картинка", "Авторы", "CSS", "Создано (UTC)"], "logo",
         ["id", "name", "target", "active", "preview_url", "author_ids", "custom_css", "created_at"]),
        (["author_id", "logo_id", "name"], "logo", ["author_ids", "id", "name"]),
        (["theme_id", "Name", "Target", "Name"], "theme", ["id", "name", "target", ""]),
    ],
)  # fmt: skip
def test_columns_are_guessed_in_both_languages(module: Module, heads: list[str], kind: str, columns: list[str]) -> None:
    assert module(RECORDS, "guessedKind", [heads, "file.csv"]) == kind
    assert module(RECORDS, "guessedColumns", [kind, heads]) == columns
