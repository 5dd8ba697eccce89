"""Every kind of act, made through the service and read in the console (contract G5, J3)."""

# ruff: noqa: RUF001 (texts in Russian)

import json
import re
from collections.abc import Callable
from typing import Any, Final

import pytest
from playwright.sync_api import expect

from logoadmin.domain.changes import bulk_changes, history, import_export, proposal_commands
from logoadmin.domain.gallery import artworks, authors, pictures
from logoadmin.domain.identity import roles, users
from logoadmin.domain.kernel.access import ActingAs, Caller, Occasion, Owner, Source
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication import shared_settings
from tests.console.driver import LANGUAGES, Appearance, Person
from tests.console.service import Served
from tests.console.submissions import MEMBER_ID, admit, new_logo
from tests.console.test_kept_pictures import drawing
from tests.gallery import ARTWORK

pytestmark = pytest.mark.slow("a browser")

ADMIN_ID: Final = 2_000_000_000
REASON: Final = "It covers the sign-in form"
# The address of the record that an act changed, and its sentence in both languages.
Sentence = tuple[str, str, str]
ARTWORK_ACTS: Final[dict[str, Sentence]] = {
    "create": ("theme&id=13", "admin created the theme Dusk", "admin: создание темы Dusk"),
    "amend": (
        *("theme&id=13", "admin changed the name and the target of the theme Dawn"),
        "admin: изменение названия и места у темы Dawn",
    ),
    "same": ("theme&id=13", "admin changed the CSS of the theme Dawn", "admin: изменение CSS у темы Dawn"),
    "link": ("theme&id=13", "admin credited the theme Dawn to Ann", "admin: у темы Dawn указан автор Ann"),
    "unlink": ("theme&id=13", "admin removed Ann from the theme Dawn", "admin: у темы Dawn убран автор Ann"),
    "off": ("theme&id=13", "admin deactivated the theme Dawn", "admin: выключение темы Dawn"),
    "on": ("theme&id=13", "admin activated the theme Dawn", "admin: включение темы Dawn"),
    "block": (
        *("theme&id=13", f"admin blocked the theme Dawn: {REASON}"),
        f"admin: блокировка темы Dawn. {REASON}",
    ),
    "reason": ("theme&id=13", "admin blocked the theme Dawn: Spam", "admin: блокировка темы Dawn. Spam"),
    "unblock": (
        *("theme&id=13", "admin activated the theme Dawn and lifted its block"),
        "admin: включение темы Dawn и снятие блокировки",
    ),
    "undo unblock": (
        *("theme&id=13", "admin undid lifting the block of the theme Dawn: Spam"),
        "admin: отмена снятия блокировки темы Dawn. Spam",
    ),
    "undo that": ("theme&id=13", "admin undid the block of the theme Dawn", "admin: отмена блокировки темы Dawn"),
    "remove": ("theme&id=13", "admin removed the theme Dawn", "admin: удаление темы Dawn"),
    "undo remove": ("theme&id=13", "admin restored the theme Dawn", "admin: восстановление темы Dawn"),
    "undo the undo": (
        *("theme&id=13", "admin removed the theme Dawn by an undo"),
        "admin: удаление темы Dawn при отмене",
    ),
}
OTHER_ACTS: Final[dict[str, Sentence]] = {
    "role": ("role&id=4", "admin created the role editors", "admin: создание роли editors"),
    "rights": ("role&id=4", "admin changed the rights of the role editors", "admin: изменение прав у роли editors"),
    "user": ("user&id=9", "admin created the user iris", "admin: создание пользователя iris"),
    "user role": ("user&id=9", "admin changed the role of the user iris", "admin: изменение роли у пользователя iris"),
    "password": ("user&id=9", "admin set a new password for iris", "admin: новый пароль для iris"),
    "suspend": ("user&id=9", "admin suspended the user iris", "admin: приостановка доступа пользователя iris"),
    "admit": ("user&id=9", "admin let the user iris in again", "admin: возврат доступа пользователю iris"),
    "author": ("author&id=11", "admin created the author Eve", "admin: создание автора Eve"),
    "settings": (
        *("settings&id=1", "admin changed the title of the gallery of the settings"),
        "admin: изменение названия галереи у настроек",
    ),
    "picture": ("picture", "admin removed the picture", "admin: удаление картинки"),
    "import": ("", "admin imported 2 records", "admin: импортированы 2 записи"),
    "undo import": ("", "admin undid an import of 2 records", "admin: отменён импорт 2 записей"),
    "apply": (
        *("logo&id=48", "admin created the logo Comet as submitted by mira"),
        "admin: создание логотипа Comet по заявке mira",
    ),
    "bulk off": ("", "admin deactivated 2 logos", "admin: выключение, 2 логотипа"),
    "bulk": ("", "admin changed the target of 2 logos", "admin: изменение места, 2 логотипа"),
    "bulk block": ("", f"admin blocked 2 logos: {REASON}", f"admin: блокировка, 2 логотипа. {REASON}"),
    "bulk reasons": ("", "admin blocked 2 logos for several reasons", "блокировка по разным причинам, 2 логотипа"),
    "bulk unblock": ("", "admin lifted the block of 2 logos", "admin: снятие блокировки, 2 логотипа"),
    "bulk undo": ("", "admin undid changes of 2 records", "admin: отменены изменения 2 записей"),
    "typed": (
        *("author&id=1", "Command line changed the name of the author Anna"),
        "Командная строка: изменение имени у автора Anna",
    ),
    "typed import": (
        *("", "Command line changed the name of the author Zed"),
        "Командная строка: изменение имени у автора Zed",
    ),
    "program": (
        *("author&id=1", "A program on the server changed the name of the author Ann"),
        "Программа на сервере: изменение имени у автора Ann",
    ),
}


def by(gallery: Served, act: str) -> Caller:
    request = act.replace(" ", "-")
    if act.startswith("typed"):
        return Owner(request, Occasion(Source.COMMAND_LINE))
    if act == "program":
        return Owner(request)
    return ActingAs(ADMIN_ID, request_id=request, signed_in_at=gallery.clock.now(), occasion=Occasion(Source.CONSOLE))


def artwork_acts(gallery: LogoAdmin) -> dict[str, Callable[[Caller], object]]:
    def amend(**values: Any) -> Callable[[Caller], object]:
        return lambda caller: gallery.themes.amend(artworks.AmendTheme(theme_id=13, **values), caller)

    def block(reason: str) -> Callable[[Caller], object]:
        return lambda caller: gallery.themes.block(artworks.BlockTheme(theme_id=13, reason=reason), caller)

    def undo(request: str) -> Callable[[Caller], object]:
        return lambda caller: gallery.changes.revert_request(history.RevertRequest(request_id=request), caller)

    made: dict[str, Any] = {**ARTWORK, "name": "Dusk"}
    return {
        "create": lambda caller: gallery.themes.create(artworks.CreateTheme(**made), caller),
        "amend": amend(name="Dawn", target="wiki"),
        "same": amend(custom_css="a { color: red }"),
        "link": lambda caller: gallery.themes.link(artworks.LinkThemeAuthor(theme_id=13, author_id=1), caller),
        "unlink": lambda caller: gallery.themes.unlink(artworks.UnlinkThemeAuthor(theme_id=13, author_id=1), caller),
        "off": amend(active=False),
        "on": amend(active=True),
        "block": block(REASON),
        "reason": block("Spam"),
        "unblock": amend(active=True, unblock=True),
        "undo unblock": undo("unblock"),
        "undo that": undo("undo-unblock"),
        "remove": lambda caller: gallery.themes.remove(artworks.RemoveTheme(theme_id=13), caller),
        "undo remove": undo("remove"),
        "undo the undo": undo("undo-remove"),
    }


def other_acts(gallery: LogoAdmin) -> dict[str, Callable[[Caller], object]]:
    def bulk(*changes: dict[str, Any]) -> Callable[[Caller], object]:
        def apply(caller: Caller) -> None:
            with_versions: Any = [
                {"kind": "logo", "id": id_, "version": gallery.logos.get(artworks.GetLogo(logo_id=id_)).version, **each}
                for id_, each in enumerate(changes, 1)
            ]
            gallery.bulk.apply(bulk_changes.ApplyChanges(changes=with_versions), caller)

        return apply

    def load(*lines: dict[str, Any]) -> Callable[[Caller], object]:
        return lambda caller: gallery.import_export.load(
            import_export.ImportRecords(), [json.dumps({"kind": "author", **line}) for line in lines], caller
        )

    def undo(request: str) -> Callable[[Caller], object]:
        return lambda caller: gallery.changes.revert_request(history.RevertRequest(request_id=request), caller)

    def user(**values: Any) -> Callable[[Caller], object]:
        return lambda caller: gallery.users.amend(users.AmendUser(user_id=9, **values), caller)

    def author(author_id: int, name: str) -> Callable[[Caller], object]:
        command = authors.AmendAuthor(author_id=author_id, username=name)
        return lambda caller: gallery.authors.amend(command, caller)

    kept = gallery.pictures.send(pictures.SendPicture(), drawing(90)).picture
    submitted = gallery.acting_as(MEMBER_ID).proposals.propose(
        proposal_commands.ProposeChanges(title="A comet", changes=(new_logo("Comet"),))
    )
    iris: dict[str, Any] = {"user_id": 9, "username": "iris", "password": "the password of iris"}
    password = users.SetPassword(user_id=9, password="another one of iris")
    return {
        "role": lambda caller: gallery.roles.create(roles.CreateRole(name="editors", scope=()), caller),
        "rights": lambda caller: gallery.roles.amend(roles.AmendRole(role_id=4, scope=("logos:write",)), caller),
        "user": lambda caller: gallery.users.create(users.CreateUser(**iris), caller),
        "user role": user(role_id=4),
        "password": lambda caller: gallery.users.set_password(password, caller),
        "suspend": user(active=False),
        "admit": user(active=True),
        "author": lambda caller: gallery.authors.create(authors.CreateAuthor(user_id=66, username="Eve"), caller),
        "settings": lambda caller: gallery.settings.amend(shared_settings.AmendSettings(gallery_title="Elks"), caller),
        "picture": lambda caller: gallery.pictures.remove(pictures.RemovePicture(picture=kept), caller),
        "import": load(*({"author_id": n, "user_id": n, "username": f"New {n}"} for n in (900, 901))),
        "undo import": undo("import"),
        "apply": lambda caller: gallery.proposals.apply(
            proposal_commands.ApplyProposal(proposal_id=submitted.proposal_id), caller
        ),
        "bulk off": bulk({"set": {"active": False}}, {"set": {"active": False}}),
        "bulk": bulk({"set": {"target": "wiki"}}, {"set": {"target": "wiki"}}),
        "bulk block": bulk({"block": {"reason": REASON}}, {"block": {"reason": REASON}}),
        "bulk reasons": bulk({"block": {"reason": "One"}}, {"block": {"reason": "Other"}}),
        "bulk unblock": bulk(*[{"set": {"active": True, "unblock": True}}] * 2),
        "bulk undo": undo("bulk-unblock"),
        "typed": author(1, "Anna"),
        "typed import": load({"author_id": 2, "user_id": 102, "username": "Zed"}),
        "program": author(1, "Ann"),
    }


def plain(text: str) -> str:
    """Return a sentence without the marks that isolate names in it."""
    return re.sub("[\u2066-\u2069]", "", " ".join(text.split()))


@pytest.mark.rule("contract G5", "contract J3")
@pytest.mark.parametrize(("sentences", "acts_of"), [(ARTWORK_ACTS, artwork_acts), (OTHER_ACTS, other_acts)])
def test_every_kind_of_act_has_its_own_sentence(
    console: Person,
    sentences: dict[str, Sentence],
    acts_of: Callable[[LogoAdmin], dict[str, Callable[[Caller], object]]],
) -> None:
    """In the history, the overview and the history of its record, in both languages."""
    page, service = console.page, console.service
    admit(service.gallery)
    acts = acts_of(service.gallery)
    assert [*acts] == [*sentences]
    for act, make in acts.items():
        make(by(service, act))
    newest = [*sentences.values()][::-1]
    words = page.locator(".changes > .change > .change-item > .disclosure .change-words")

    def read(at_most: int) -> list[str]:
        expect(words.nth(min(at_most, len(sentences)) - 1)).to_be_visible()
        return [plain(each) for each in words.all_inner_texts()]

    console.sign_in("history")
    for place, language in enumerate(LANGUAGES, 1):
        for view in ("history", ""):
            console.open(view)
            console.see(Appearance(1280, "light", language))
            for shown, said in zip(read(8), newest, strict=False):
                assert said[place] in shown
        for record in dict.fromkeys(said[0] for said in newest if said[0]):
            console.open(f"history?kind={record}")
            console.see(Appearance(1280, "light", language))
            expect(words.first).to_be_visible()
            shown = " | ".join(read(1))
            assert [said[place] for said in newest if said[0] == record and said[place] not in shown] == []
