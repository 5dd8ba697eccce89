"""Lists as CSV files: what the list shows, all of it, and nothing that a spreadsheet would execute."""

import csv
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from logoadmin.domain.gallery import authors
from tests.console.conftest import Module
from tests.console.driver import Person, looking
from tests.console.service import Served

pytestmark = pytest.mark.slow("a browser")

EXPORT = "Export CSV"
FORMULAS = ('=HYPERLINK("http://evil.example")', "+1", "-1", "@SUM(A1)", "\t=1", "\uff1d1", "'=1", "''+1")


def exported(page: Page, name: str = EXPORT) -> tuple[str, str]:
    """Return the name and the text of the file."""
    with page.expect_download() as download:
        page.get_by_role("button", name=name).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes().decode()


@pytest.mark.rule("contract J3")
def test_a_list_is_exported_with_its_filters_in_its_order(console: Person) -> None:
    console.sign_in("logos?target=market&active=yes&order=name&q=logo+1")
    page = console.page
    expect(page.locator(".card").first).to_be_visible()
    shown = page.locator(".card-name").all_inner_texts()
    name, text = exported(page)
    assert name.startswith("logos-")
    assert name.endswith(".csv")
    assert text.startswith("\ufeffID,Name,Target,Active,Picture,Authors,CSS,Created (UTC)\r\n")
    head, *rows = csv.reader(text.removeprefix("\ufeff").splitlines())
    assert [row[1] for row in rows] == shown
    assert {row[2] for row in rows} == {"market"}
    expect(page.locator(".notice")).to_have_text(f"{len(shown)} records are in the CSV file")
    assert len(head) == len(rows[0]) == 8


@pytest.mark.rule("contract J3")
def test_what_spreadsheets_execute_has_an_apostrophe_which_the_import_removes(console: Person, module: Module) -> None:
    for number, formula in enumerate(FORMULAS):
        console.service.gallery.authors.create(authors.CreateAuthor(user_id=900 + number, username=formula))
    console.sign_in("authors?order=id")
    _, text = exported(console.page)
    cells = [row[1] for row in csv.reader(text.removeprefix("\ufeff").splitlines())][-len(FORMULAS) :]
    assert cells == [f"'{each}" for each in FORMULAS]
    assert [module("parts/csv/csv.js", "plain", [each]) for each in cells] == [*FORMULAS]
    assert module("parts/csv/csv.js", "plain", ["'twas"]) == "'twas"


@pytest.mark.rule("contract J3", "contract E2")
def test_all_pages_of_a_long_list_are_fetched_with_progress_and_can_be_stopped(
    chromium: Browser, service: Served
) -> None:
    for number in range(1, 1501):
        service.gallery.authors.create(authors.CreateAuthor(user_id=5000 + number, username=f"Author {number}"))
    with looking(chromium, service, locale="ru-RU") as person:
        page = person.page
        person.sign_in("authors")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url) if "limit=1000" in request.url else None)
        _, text = exported(page, "Экспорт CSV")
        assert len(text.splitlines()) == 1 + 9 + 1500
        assert text.startswith("\ufeffID;Имя;ID на сайте;")
        assert len(asked) == 2
        # The second page does not come, so there is time to look.
        page.route("**/api/authors?*after=*", lambda _: None)
        page.get_by_role("button", name="Экспорт CSV").click()
        dialog = page.get_by_role("dialog", name="Экспорт CSV")
        expect(dialog).to_contain_text("Прочитано 1\u00a0000 записей")
        dialog.get_by_role("button", name="Остановить").click()
        expect(dialog).to_have_count(0)
        expect(page.get_by_role("button", name="Экспорт CSV")).to_be_enabled()
        page.unroute_all(behavior="ignoreErrors")
