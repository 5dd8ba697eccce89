"""The history: searching, reading and undoing changes (contract G, J3, J4)."""

import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from logoadmin.domain.changes import bulk_changes, history, import_export, proposal_commands
from logoadmin.domain.gallery import artworks, authors, picture_commands
from logoadmin.domain.identity import users
from logoadmin.domain.kernel.access import ActingAs, Caller, Occasion, Owner, Source
from logoadmin.domain.logo_admin import LogoAdmin
from tests.console.driver import LANGUAGES, Appearance, Person
from tests.console.service import PAINTER, Served, admit, new_logo, submit
from tests.console.test_kept_pictures import drawing
from tests.gallery import ARTWORK

pytestmark = pytest.mark.slow("a browser")


WEEK = 7 * 86_400


def token_of(console: Person, username: str, password: str) -> dict[str, str]:
    """Return the header of a new session."""
    credentials = {"username": username, "password": password}
    tokens = console.page.request.post(f"{console.service.address}/api/auth/token", data=credentials).json()
    return {"Authorization": f"Bearer {tokens['access_token']}"}


@pytest.mark.rule("contract J3", "contract J4", "contract G2")
def test_the_removal_of_a_logo_is_found_and_undone_with_its_authors(console: Person) -> None:
    page, gallery, clock = console.page, console.service.gallery, console.service.clock
    gallery.logos.link(artworks.LinkLogoAuthor(logo_id=7, author_id=2))
    before = gallery.logos.get(artworks.GetLogo(logo_id=7))
    clock.pass_by(-WEEK)
    console.page.request.delete(f"{console.service.address}/api/logos/7", headers=token_of(console, *PAINTER))
    day = datetime.fromtimestamp(clock.now()).strftime("%Y-%m-%d")
    clock.pass_by(WEEK)
    gallery.authors.create(authors.CreateAuthor(user_id=9000, username="Somebody since"))
    console.sign_in("history")
    rows = page.locator(".changes > .change")
    expect(rows.first).to_contain_text("A program on the server created the author Somebody since")

    for label, typed in (("Record", "Logos"), ("Action", "Removed")):
        console.reach(page.get_by_label(label, exact=True))
        page.keyboard.type(typed)
    for label in ("From", "To"):
        page.get_by_label(label, exact=True).fill(day)
        page.get_by_label(label, exact=True).press("Enter")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("painter removed the logo Logo 7")
    expect(rows.locator("time").first).to_contain_text("last week, ")
    assert rows.locator("time").first.get_attribute("title")
    assert f"since={day}" in page.url

    console.press(rows.get_by_role("button", expanded=False).first)
    expect(rows.locator(".fields")).to_contain_text("Ben")
    expect(rows.locator(".diff")).to_contain_text("background: url(")
    console.press(rows.get_by_role("button", name="Undo"))
    expect(page.locator(".notice")).to_contain_text("Undone")
    assert gallery.logos.get(artworks.GetLogo(logo_id=7)) == before
    page.get_by_role("button", name="Clear filters").click()
    expect(rows.first).to_contain_text("admin restored the logo Logo 7")


@pytest.mark.rule("contract J3")
def test_dates_are_formatted_and_parsed_in_the_language_of_the_console(console: Person, page: Page) -> None:
    console.sign_in("history")
    console.see(Appearance(390, "light", "en"))
    year = datetime.fromtimestamp(console.service.clock.now()).year

    def enter(label: str, typed: str, shown: str) -> None:
        field = page.get_by_label(label, exact=True)
        field.fill(typed)
        field.press("Enter")
        expect(field).to_have_value(re.compile(shown))

    enter("From", "11/22/2025", "Nov 22, 2025")
    assert "since=2025-11-22" in page.url
    enter("From", "may 3", f"May 3, {year}")
    for wrong in ("22/11/2025", "Feb 30, 2025", "yesterday", "1 2 3 4", "1/1/1969"):
        enter("From", wrong, wrong)
        expect(page.get_by_role("alert")).to_contain_text("Enter a date, such as")
        assert f"since={year}-05-03" in page.url
    console.see(Appearance(320, "dark", "ru"))
    for typed, shown in (("22.11.2025", "22 нояб. 2025"), ("3 мая 2025", "3 мая 2025"), ("май 4 25", "4 мая 2025")):
        enter("По", typed, shown)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.rule("contract J3", "contract G4")
def test_the_changes_of_a_request_are_one_entry_and_undone_at_once(console: Person) -> None:
    page, gallery = console.page, console.service.gallery
    gallery.authors.create(authors.CreateAuthor(user_id=9000, username="Before"))
    load(*({"author_id": n, "user_id": n, "username": f"Author {n}"} for n in range(500, 620)))(
        gallery, by(console.service, "import")
    )
    gallery.authors.create(authors.CreateAuthor(user_id=9001, username="After"))
    console.sign_in("history")
    rows = page.locator(".day > .changes > .change")
    expect(rows.nth(1)).to_contain_text("admin imported 120 records")
    expect(rows.nth(2)).to_contain_text("created the author Before")

    rows.nth(1).get_by_role("button", expanded=False).first.click()
    page.get_by_role("link", name="Show all 120 changes on a page of their own").click()
    expect(rows).to_have_count(50)
    # A newly opened view restores its scroll position once more.
    for _ in range(100):
        if rows.count() == 120:
            break
        page.mouse.wheel(0, 10_000)
        page.wait_for_timeout(100)
    expect(rows).to_have_count(120)
    expect(rows.last).to_contain_text("Author 500")

    page.mouse.wheel(0, -20_000)
    page.locator(".view-actions").get_by_role("button", name="Undo all").click()
    dialog = page.get_by_role("dialog", name="Undo all 120 changes?")
    dialog.get_by_role("button", name="Undo").click()
    expect(page.locator(".notice").last).to_contain_text("Undone")
    names = {each.username for each in gallery.authors.list(authors.ListAuthors())}
    assert names & {"Before", "After", "Author 500"} == {"Before", "After"}
    expect(page.locator(".view-actions").get_by_role("link", name="Undone")).to_be_visible()
    expect(rows.get_by_role("button", name="Undo")).to_have_count(0)
    expect(rows.first.get_by_role("link", name="Undone")).to_be_visible()
    page.locator(".notice").get_by_role("button", name="Undo").last.click()
    expect(page.locator(".notice").last).to_contain_text("Redone")
    assert len([*gallery.authors.list(authors.ListAuthors(q="Author "))]) == 120


@pytest.mark.rule("contract J4", "contract G2")
def test_a_later_change_is_reported_with_a_link_to_it(console: Person) -> None:
    page, gallery = console.page, console.service.gallery
    gallery.logos.amend(artworks.AmendLogo(logo_id=1, name="Elk"))
    console.sign_in("history?kind=logo&id=1")
    named = page.locator(".change").filter(has_text="changed the name of the logo Elk")
    expect(named).to_be_visible()
    gallery.logos.amend(artworks.AmendLogo(logo_id=1, custom_css="color: red"))
    named.get_by_role("button", name="Undo").click()
    expect(named.get_by_role("alert")).to_contain_text("again since: A program on the server changed the CSS")
    named.get_by_role("alert").get_by_role("link").click()
    expect(page.locator("h1")).to_contain_text("Change")
    expect(page.locator(".diff")).to_contain_text("color: red")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".notice")).to_contain_text("Undone")
    assert gallery.logos.get(artworks.GetLogo(logo_id=1)).custom_css.startswith("background")


@pytest.mark.rule("contract G5", "contract J3")
def test_a_version_is_compared_with_the_current_one_and_restored_as_a_new_change(console: Person) -> None:
    page, gallery = console.page, console.service.gallery
    gallery.logos.amend(artworks.AmendLogo(logo_id=1, name="Elk", custom_css="color: red;\nwidth: 1px"))
    was = gallery.logos.get(artworks.GetLogo(logo_id=1))
    gallery.logos.amend(artworks.AmendLogo(logo_id=1, name="Moose"))
    gallery.logos.amend(artworks.AmendLogo(logo_id=1, custom_css="color: red;\nwidth: 2px"))
    gallery.logos.link(artworks.LinkLogoAuthor(logo_id=1, author_id=3))
    console.sign_in("logos/1")
    lines = page.locator(".record-history .change")
    lines.nth(0).get_by_role("button").first.press("Enter")
    expect(lines.nth(0)).to_contain_text("This is what it is now.")
    lines.nth(3).get_by_role("button").first.press("Enter")
    version = lines.nth(3)
    expect(version.locator("dt")).to_have_text(["Name", "CSS", "Authors"])
    expect(version.locator(".was-is")).to_contain_text(re.compile("Elk.*Moose"))
    expect(version.locator(".diff del")).to_have_text(["width: 1px"])
    expect(version.locator(".diff ins")).to_have_text(["width: 2px"])
    expect(version.locator(".diff-word")).to_have_text(["1px", "2px"])
    # Each as the site looks with it.
    for label in ("Then", "Now"):
        expect(version.get_by_role("region", name=f"Preview: {label}").locator("iframe")).to_be_visible()
    console.press(version.get_by_role("button", name="Restore this version"))
    expect(page.locator(".notice")).to_contain_text("Restored ")
    now = gallery.logos.get(artworks.GetLogo(logo_id=1))
    assert (now.name, now.custom_css) == (was.name, was.custom_css)
    assert [each.author_id for each in now.authors] == [each.author_id for each in was.authors]
    expect(page.get_by_label("Name", exact=True)).to_have_value("Elk")
    page.locator(".notice").get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Moose")


# ruff: noqa: RUF001 (texts in Russian)


ADMIN_ID: Final = 2_000_000_000
REASON: Final = "It covers the sign-in form"
Act = Callable[[LogoAdmin, Caller], object]
# The act, the address of the record that it changes, and its sentence in both languages.
Acts = dict[str, tuple[Act, str, str, str]]
THEME: Final = "theme&id=13"
ARTWORK_VALUES: Final[dict[str, Any]] = {**ARTWORK, "name": "Dusk"}


def by(gallery: Served, act: str) -> Caller:
    request = act.replace(" ", "-")
    if act.startswith("typed"):
        return Owner(request, Occasion(Source.COMMAND_LINE))
    if act == "program":
        return Owner(request)
    return ActingAs(ADMIN_ID, request_id=request, signed_in_at=gallery.clock.now(), occasion=Occasion(Source.CONSOLE))


def theme(**values: Any) -> Act:
    return lambda gallery, caller: gallery.themes.amend(artworks.AmendTheme(theme_id=13, **values), caller)


def block(reason: str) -> Act:
    return lambda gallery, caller: gallery.themes.block(artworks.BlockTheme(theme_id=13, reason=reason), caller)


def undo(request: str) -> Act:
    return lambda gallery, caller: gallery.changes.revert_request(history.RevertRequest(request_id=request), caller)


def author(name: str) -> Act:
    return lambda gallery, caller: gallery.authors.amend(authors.AmendAuthor(author_id=1, username=name), caller)


def bulk(*changes: dict[str, Any]) -> Act:
    def apply(gallery: LogoAdmin, caller: Caller) -> None:
        with_versions: Any = [
            {"kind": "logo", "id": id_, "version": gallery.logos.get(artworks.GetLogo(logo_id=id_)).version, **each}
            for id_, each in enumerate(changes, 1)
        ]
        gallery.bulk.apply(bulk_changes.ApplyChanges(changes=with_versions), caller)

    return apply


def load(*lines: dict[str, Any]) -> Act:
    return lambda gallery, caller: gallery.import_export.load(
        import_export.ImportRecords(), [json.dumps({"kind": "author", **line}) for line in lines], caller
    )


def remove_picture(gallery: LogoAdmin, caller: Caller) -> None:
    kept = gallery.pictures.send(picture_commands.SendPicture(), drawing(90)).picture
    gallery.pictures.remove(picture_commands.RemovePicture(picture=kept), caller)


def apply_proposal(gallery: LogoAdmin, caller: Caller) -> None:
    proposal = submit(gallery, new_logo("Comet")).proposal_id
    gallery.proposals.apply(proposal_commands.ApplyProposal(proposal_id=proposal), caller)


# fmt: off
IRIS: Final[dict[str, Any]] = {"user_id": 9, "username": "iris", "password": "the password of iris"}
NEW_PASSWORD: Final = users.SetPassword(user_id=9, password="another one of iris")
ACTS: Final[Acts] = {
    "create": (lambda its, by: its.themes.create(artworks.CreateTheme(**ARTWORK_VALUES), by), THEME,
        "admin created the theme Dusk", "admin: создание темы Dusk"),
    "amend": (theme(name="Dawn", target="wiki"), THEME,
        "admin changed the name and the target of the theme Dawn", "admin: изменение названия и места у темы Dawn"),
    "link": (lambda its, by: its.themes.link(artworks.LinkThemeAuthor(theme_id=13, author_id=1), by), THEME,
        "admin credited the theme Dawn to Ann", "admin: у темы Dawn указан автор Ann"),
    "block": (block(REASON), THEME,
        f"admin blocked the theme Dawn: {REASON}", f"admin: блокировка темы Dawn. {REASON}"),
    "unblock": (theme(active=True, unblock=True), THEME,
        "admin activated the theme Dawn and lifted its block", "admin: включение темы Dawn и снятие блокировки"),
    "undo unblock": (undo("unblock"), THEME, f"admin undid lifting the block of the theme Dawn: {REASON}",
        f"admin: отмена снятия блокировки темы Dawn. {REASON}"),
    "remove": (lambda its, by: its.themes.remove(artworks.RemoveTheme(theme_id=13), by), THEME,
        "admin removed the theme Dawn", "admin: удаление темы Dawn"),
    "user": (lambda its, by: its.users.create(users.CreateUser(**IRIS), by), "user&id=9",
        "admin created the user iris", "admin: создание пользователя iris"),
    "password": (lambda its, by: its.users.set_password(NEW_PASSWORD, by), "user&id=9",
        "admin set a new password for iris", "admin: новый пароль для iris"),
    "suspend": (lambda its, by: its.users.amend(users.AmendUser(user_id=9, active=False), by), "user&id=9",
        "admin suspended the user iris", "admin: приостановка доступа пользователя iris"),
    "picture": (remove_picture, "picture", "admin removed the picture", "admin: удаление картинки"),
    "import": (load(*({"author_id": n, "user_id": n, "username": f"New {n}"} for n in (900, 901))), "",
        "admin imported 2 records", "admin: импортированы 2 записи"),
    "apply": (apply_proposal, "logo&id=48", "admin created the logo Comet as submitted by mira",
        "admin: создание логотипа Comet по заявке mira"),
    "bulk": (bulk(*[{"set": {"target": "wiki"}}] * 2), "",
        "admin changed the target of 2 logos", "admin: изменение места, 2 логотипа"),
    "bulk block": (bulk(*[{"block": {"reason": REASON}}] * 2), "",
        f"admin blocked 2 logos: {REASON}", f"admin: блокировка, 2 логотипа. {REASON}"),
    "typed": (author("Anna"), "author&id=1",
        "Command line changed the name of the author Anna", "Командная строка: изменение имени у автора Anna"),
    "program": (author("Ann"), "author&id=1", "A program on the server changed the name of the author Ann",
        "Программа на сервере: изменение имени у автора Ann"),
}
# fmt: on


def plain(text: str) -> str:
    """Return a sentence without the marks that isolate names in it."""
    return re.sub("[\u2066-\u2069]", "", " ".join(text.split()))


@pytest.mark.rule("contract G5", "contract J3")
def test_every_kind_of_act_has_a_sentence(console: Person, service: Served, page: Page) -> None:
    """In the history, the overview and the history of its record, in both languages."""
    admit(service.gallery)
    for name, (act, *_) in ACTS.items():
        act(service.gallery, by(service, name))
    newest = [sentence for _, *sentence in ACTS.values()][::-1]
    words = page.locator(".changes > .change > .change-item > .disclosure .change-words")

    def read(at_most: int) -> list[str]:
        expect(words.nth(min(at_most, len(ACTS)) - 1)).to_be_visible()
        return [plain(each) for each in words.all_inner_texts()]

    console.sign_in("history")
    for view in ("history", ""):
        console.open(view)
        for place, language in enumerate(LANGUAGES, 1):
            console.see(Appearance(1280, "light", language))
            for shown, said in zip(read(8), newest, strict=False):
                assert said[place] in shown
    for record in dict.fromkeys(said[0] for said in newest if said[0]):
        console.open(f"history?kind={record}")
        for place, language in enumerate(LANGUAGES, 1):
            console.see(Appearance(1280, "light", language))
            expect(words.first).to_be_visible()
            of_record = [said[place] for said in newest if said[0] == record]
            shown = " | ".join(read(1))
            assert [said for said in of_record if said not in shown] == []
