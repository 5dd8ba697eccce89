"""The change log: every change of a record is in the history (contract F1, G)."""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest

import logoadmin
from logoadmin import CreateLink, LogoAdmin, SignInWithCode, SignInWithFactor, SignInWithLink, SignInWithPasskey
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes import bulk_changes as bulk
from logoadmin.domain.changes import history as changes
from logoadmin.domain.changes import import_export
from logoadmin.domain.changes import proposal_commands as proposals
from logoadmin.domain.gallery import artworks, authors
from logoadmin.domain.identity import factors, passkeys, roles, sessions, users
from logoadmin.domain.identity import service_keys as keys
from logoadmin.domain.kernel.access import OWNER, Caller, Owner, Source
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import LogoAdminError, NotModified
from logoadmin.domain.kernel.kinds import KINDS, USERS
from logoadmin.domain.kernel.limits import Origin
from logoadmin.domain.kernel.records import Change, Kind, User, version_of
from logoadmin.domain.kernel.unit_of_work import SettingsInHistory
from logoadmin.domain.publication import shared_settings as settings
from logoadmin.domain.publication.css import css_service as css
from logoadmin.ports import storage as ports
from tests.gallery import (
    ADMIN_ID,
    ANN_PASSWORD,
    ARTWORK,
    ASKED,
    CHEAP_PASSWORDS,
    DETAILED,
    NOW,
    STOCKED_PICTURE,
    FrozenClock,
    add_session,
    ask,
    failure,
    history,
    if_none_match,
    problems,
    recorded,
    sample,
    signed_in,
)

G = pytest.mark.rule("contract G")
F1 = pytest.mark.rule("contract F1")
pytestmark = G

HASH: Final = CHEAP_PASSWORDS.hash("imported").hash
ANN: Final = {"user_id": 7, "username": "ann", "avatar": "a.png", "role_id": 1, "created_at": NOW}
PAINTER: Final = {"role_id": 3, "name": "painter", "scope": ["logos:write", "themes:write"], "created_at": NOW}
DETAILS: Final = {"details": DETAILED["details"]}
AUTHOR: Final = {"author_id": 1, "user_id": 101, "username": "Ann", "created_at": NOW}


def artwork(kind: str, id_: int = 1, authors: tuple[int, ...] = (1,), **values: Any) -> dict[str, Any]:
    links = [{f"{kind}_author_id": link, "author_id": author} for link, author in enumerate(authors, 1)]
    return {f"{kind}_id": id_, **ARTWORK, **values, "created_at": NOW, "authors": links}


Snapshot = dict[str, Any] | None


@dataclass(frozen=True)
class Row:
    """What a command leaves in the history of a stocked gallery."""

    action: str
    id: int
    before: Snapshot
    after: Snapshot
    origin: Origin | None = None
    undoes: int | None = None
    submitter_id: int | None = None


# fmt: off
# Written by hand: the action of each command that changes a record.
TABLE: Final[dict[type[Command], Row]] = {
    users.CreateUser: Row("user.created", 8, None,
        {"user_id": 8, "username": "ben", "avatar": "b.png", "role_id": 1, "created_at": NOW}),
    CreateLink: Row("user.created", 1042, None,
        {"user_id": 1042, "username": "Mia", "avatar": None, "role_id": 1, "created_at": NOW}),
    users.AmendUser: Row("user.amended", 7, ANN, ANN | {"username": "anna", "avatar": None, "role_id": 3}),
    users.RemoveUser: Row("user.removed", 7, ANN, None),
    users.RemoveAvatar: Row("user.amended", 7, ANN, ANN | {"avatar": None}),
    users.SetPassword: Row("user.password_set", 7, ANN, ANN),
    roles.CreateRole: Row("role.created", 4, None,
        {"role_id": 4, "name": "editor", "scope": ["logos:write"], "created_at": NOW}),
    roles.AmendRole: Row("role.amended", 3, PAINTER, PAINTER | {"name": "brush", "scope": []}),
    roles.RemoveRole: Row("role.removed", 3, PAINTER, None),
    authors.CreateAuthor: Row("author.created", 3, None,
        {"author_id": 3, "user_id": 103, "username": "Cyd", "created_at": NOW}),
    authors.AmendAuthor: Row("author.amended", 1, AUTHOR, AUTHOR | {"user_id": 104, "username": "Dan"}),
    authors.RemoveAuthor: Row("author.removed", 1, AUTHOR | {
        "logos": [{"logo_author_id": 1, "logo_id": 1}], "themes": [{"theme_author_id": 1, "theme_id": 1}],
    }, None),
    artworks.CreateTheme: Row("theme.created", 2, None, artwork("theme", 2, (), **DETAILS)),
    artworks.AmendTheme: Row("theme.amended", 1, artwork("theme"), artwork("theme", name="Boreal", **DETAILS)),
    artworks.BlockTheme: Row("theme.blocked", 1, artwork("theme"),
        artwork("theme", active=False, blocked="It covers the sign-in form")),
    artworks.RemoveTheme: Row("theme.removed", 1, artwork("theme"), None),
    artworks.LinkThemeAuthor: Row("theme.linked", 1, artwork("theme"), artwork("theme", authors=(1, 2))),
    artworks.UnlinkThemeAuthor: Row("theme.unlinked", 1, artwork("theme"), artwork("theme", authors=())),
    artworks.RemoveThemeAuthor: Row("theme.unlinked", 1, artwork("theme"), artwork("theme", authors=())),
    artworks.CreateLogo: Row("logo.created", 2, None, artwork("logo", 2, (), **DETAILS)),
    artworks.AmendLogo: Row("logo.amended", 1, artwork("logo"), artwork("logo", name="Boreal", **DETAILS)),
    artworks.BlockLogo: Row("logo.blocked", 1, artwork("logo"),
        artwork("logo", active=False, blocked="It covers the sign-in form")),
    artworks.RemoveLogo: Row("logo.removed", 1, artwork("logo"), None),
    artworks.LinkLogoAuthor: Row("logo.linked", 1, artwork("logo"), artwork("logo", authors=(1, 2))),
    artworks.UnlinkLogoAuthor: Row("logo.unlinked", 1, artwork("logo"), artwork("logo", authors=())),
    artworks.RemoveLogoAuthor: Row("logo.unlinked", 1, artwork("logo"), artwork("logo", authors=())),
    settings.AmendSettings: Row("settings.amended", 1, {"picture_hosts": []},
        {"picture_hosts": ["i.example", "*.img.example:8443"], "gallery_title": "Our logos",
         "gallery_home": "https://www.example/", "gallery_mark": STOCKED_PICTURE, "gallery_accent": "#3355cc",
         "gallery_targets": {"forum": {"name": "Forum", "documents": ['domain("forum.example")']}},
         "submission_rules": "Logos are 300 pixels wide."}),
    changes.Revert: Row("author.removed", 2,
        {"author_id": 2, "user_id": 102, "username": "Ben", "created_at": NOW, "logos": [], "themes": []},
        None, Origin.UNDO, 7),
    changes.RevertRequest: Row("author.removed", 2,
        {"author_id": 2, "user_id": 102, "username": "Ben", "created_at": NOW, "logos": [], "themes": []},
        None, Origin.UNDO, 7),
    bulk.ApplyChanges: Row("author.amended", 1,
        {"author_id": 1, "user_id": 101, "username": "Ann", "created_at": NOW},
        {"author_id": 1, "user_id": 101, "username": "Cyd", "created_at": NOW}, Origin.BULK),
    proposals.ApplyProposal: Row("logo.amended", 1, artwork("logo"), artwork("logo", target="wiki"), Origin.PROPOSAL,
        submitter_id=ADMIN_ID),
    import_export.ImportRecords: Row("author.created", 9, None,
        {"author_id": 9, "user_id": 109, "username": "Ida", "created_at": NOW}, Origin.IMPORT),
}

# fmt: on
# Written by hand as well: the commands that change no record.
UNRECORDED: Final = """
    SignIn SignInWithFactor SignInWithPasskey SignInWithCode SignInWithLink ShowWays Refresh Revoke WhoAmI
    ListSessions RemoveSession ListUserSessions RemoveUserSession RemoveUserSessions ListKeys CreateKey RemoveKey
    ListFactors EnrolTotp ConfirmTotp RemoveFactor ListUserFactors RemoveUserFactors CountRecoveryCodes
    MakeRecoveryCodes AskPasskey BeginPasskey EnrolPasskey CreateSignInCode ListEvents GetPreferences SetPreferences
    ListUsers GetUser FindUser ListRoles GetRole
    ListAuthors GetAuthor ListAuthorLogos ListAuthorThemes ListThemes GetTheme ListThemeAuthors ListLogos GetLogo
    ListLogoAuthors SendPicture GetPicture ListPictures
    GetThemeCss GetLogoCss JudgeCss ReadUserStyle InlineCss RenderText GetSettings ShowPublication
    ProposeChanges ListProposals GetProposal AmendProposal DeclineProposal WithdrawProposal GetNotices MarkNoticesSeen
    ListChanges ListActs ExportRecords
"""
# Impossible in a stocked gallery: users have no factor, and there is no challenge.
UNMET: Final = {
    *(css.InlineCss, factors.ConfirmTotp, factors.RemoveFactor, factors.MakeRecoveryCodes, SignInWithFactor),
    *(passkeys.EnrolPasskey, SignInWithPasskey, SignInWithCode, SignInWithLink),
}


def do(gallery: LogoAdmin, kind: type[Command], caller: Caller = OWNER) -> Any:
    if kind is import_export.ImportRecords:
        line = json.dumps({"kind": "author", "author_id": 9, "user_id": 109, "username": "Ida"})
        return gallery.import_export.load(import_export.ImportRecords(), [line], caller)
    return ask(gallery, sample(kind), caller)


def versions(storage: MemoryStorage) -> dict[tuple[Kind, int], int]:
    def work(uow: ports.UnitOfWork) -> dict[tuple[Kind, int], int]:
        pages: dict[Kind, Any] = {kind: uow.records(row) for kind, row in KINDS.items()}
        records = {
            (kind, getattr(record, f"{kind}_id")): version_of(record)
            for kind, repository in pages.items()
            for record in repository.page(-1, 500)
        }
        return {**records, (Kind.SETTINGS, 1): SettingsInHistory(uow.changes).get(1).version}

    return storage.read(work)


def lists(gallery: LogoAdmin) -> dict[Kind, int]:
    listing = {call: command for command, (call, _) in ASKED.items()}
    commands = {kind: listing[f"{row.plural}.list"]() for kind, row in KINDS.items()}
    return {kind: ask(gallery, command).version for kind, command in commands.items()}


@pytest.mark.parametrize("kind", TABLE)
def test_a_change_has_its_actor_action_time_and_both_states(
    stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock, kind: type[Command]
) -> None:
    row = TABLE[kind]
    known = len(history(stocked))
    caller = replace(signed_in(storage, "*", user_id=500), request_id="request 5")
    if row.action.endswith("created"):
        row = replace(row, after={**(row.after or {}), "created_at": NOW + 60})
    if row.action == "role.created":  # the caller has a separate role
        row = replace(row, id=5, after={**(row.after or {}), "role_id": 5})
    clock.pass_by(60)
    do(stocked, kind, caller)
    (change,) = history(stocked)[known:]
    made = Kind(row.action.partition(".")[0]), row.id, row.before, row.after
    expected = Change(known + 1, NOW + 60, 500, row.action, *made, "request 5", origin=row.origin, undoes=row.undoes)
    submitter: dict[str, Any] = {"submitter_id": row.submitter_id, "submitter_name": row.submitter_id and "admin"}
    assert change == replace(expected, source=Source.INTERFACE, user_name="user 500", **submitter)


@F1
@pytest.mark.parametrize("kind", TABLE)
def test_a_change_raises_only_the_versions_of_its_record_and_its_list(
    stocked: LogoAdmin, storage: MemoryStorage, kind: type[Command]
) -> None:
    before, lists_before = versions(storage), lists(stocked)
    do(stocked, kind)
    change = history(stocked)[-1]
    after, lists_after = versions(storage), lists(stocked)
    shown = {(change.kind, change.id)}
    kinds = {change.kind} & {*KINDS}  # the settings are in no list
    if change.kind is Kind.AUTHOR:  # artworks show their authors
        kinds |= {Kind.LOGO, Kind.THEME}
        if change.id == 1:
            shown |= {(Kind.LOGO, 1), (Kind.THEME, 1)}
    assert {record for record in before | after if before.get(record) != after.get(record)} == shown
    assert all(after[record] == change.change_id for record in shown if record in after)
    assert {kind_ for kind_ in KINDS if lists_before[kind_] != lists_after[kind_]} == kinds
    assert all(lists_after[kind_] == change.change_id for kind_ in kinds)


def test_every_command_is_classified_as_changing_records_or_not() -> None:
    # A removed picture is not a record; see tests/contracts/gallery/test_pictures.py.
    known = [*(kind.__name__ for kind in TABLE), *UNRECORDED.split(), "RemovePicture"]
    assert sorted(known) == sorted(kind.__name__ for kind in ASKED)


@pytest.mark.parametrize("kind", [kind for kind in ASKED if kind.__name__ in UNRECORDED.split()])
def test_commands_that_change_no_record_are_not_in_the_history(
    stocked: LogoAdmin, storage: MemoryStorage, kind: type[Command]
) -> None:
    caller = signed_in(storage, "*")
    stocked.keys.create(keys.CreateKey(name="script", scope=()), caller)
    add_session(storage, 7)
    before = history(stocked), versions(storage), lists(stocked)
    try:
        do(stocked, kind, caller)
    except LogoAdminError:  # The tokens, codes and ids of the table are invalid, and the proposal is not the caller's.
        assert kind in {sessions.Refresh, proposals.WithdrawProposal, *UNMET}
    assert (history(stocked), versions(storage), lists(stocked)) == before


NOTHING: Final[list[Command]] = [
    *(users.AmendUser(user_id=7), users.AmendUser(user_id=7, username="ann", avatar="a.png", role_id=1)),
    *(users.RemoveAvatar(user_id=ADMIN_ID), roles.AmendRole(role_id=3)),
    roles.AmendRole(role_id=3, name="painter", scope=("logos:write", "themes:write")),
    *(authors.AmendAuthor(author_id=1), authors.AmendAuthor(author_id=1, user_id=101, username="Ann")),
    *(artworks.AmendLogo(logo_id=1, **ARTWORK), artworks.AmendTheme(theme_id=1, **ARTWORK)),
    *(artworks.LinkLogoAuthor(logo_id=1, author_id=1), artworks.LinkThemeAuthor(theme_id=1, author_id=1)),
    *(settings.AmendSettings(), settings.AmendSettings(picture_hosts=())),
]


@F1
@pytest.mark.parametrize("command", NOTHING, ids=lambda command: type(command).__name__)
def test_commands_without_effect_have_no_history(stocked: LogoAdmin, storage: MemoryStorage, command: Command) -> None:
    before = history(stocked), versions(storage), lists(stocked)
    ask(stocked, command)
    assert (history(stocked), versions(storage), lists(stocked)) == before


@pytest.mark.rule("contract C4")
def test_no_password_and_no_hash_is_ever_in_the_history(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    for kind in TABLE:
        try:
            do(stocked, kind)
        except LogoAdminError:
            continue
    stocked.users.create(users.CreateUser(user_id=21, username="new", password="hunter2-hunter2"))
    stocked.users.set_password(users.SetPassword(user_id=21, password="hunter3-hunter3"))
    hash_ = storage.read(lambda uow: uow.identity.passwords.get(21))
    assert hash_ is not None
    line = {"kind": "user", "user_id": 21, "username": "n", "avatar": None, "role_id": 1, "password_hash": HASH}
    stocked.import_export.load(import_export.ImportRecords(), [json.dumps(line)])
    stocked.users.remove(users.RemoveUser(user_id=21))
    said = repr(history(stocked)) + repr([vars(storage)["_tables"].changes])
    for secret in ("hunter2", "hunter3", ANN_PASSWORD, hash_.hash, HASH, "argon2"):
        assert secret not in said
    fields = {name for change in history(stocked) for name in {**(change.before or {}), **(change.after or {})}}
    assert not [name for name in fields if "password" in name]
    assert "version" not in fields


def test_changes_by_a_key_are_attributed_to_its_creator(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    made = stocked.keys.create(keys.CreateKey(name="script", scope=("*",)), signed_in(storage, "*", user_id=500))
    stocked.logos.remove(artworks.RemoveLogo(logo_id=1), stocked.sessions.caller(made.key))
    assert history(stocked)[-1].user_id == 500


@pytest.mark.rule("contract H6")
@pytest.mark.parametrize("request_id", ["", "r" * 129, "a\0b", "\ud800", b"r", 5, UUID(int=5)])
def test_an_invalid_request_id_is_refused(stocked: LogoAdmin, request_id: Any) -> None:
    before = history(stocked)
    assert [*problems(do, stocked, authors.CreateAuthor, Owner(request_id))] == [("request_id",)]
    assert history(stocked) == before
    do(stocked, authors.CreateAuthor, Owner("r" * 128))
    assert history(stocked)[-1].request_id == "r" * 128


def test_successive_changes_of_a_record_in_a_request_are_one_change(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    known = len(history(stocked))
    lines = [
        {"kind": "logo", "logo_id": 1, **ARTWORK, "name": "new", "author_ids": [2, 1]},
        {"kind": "logo", "logo_id": 1, **ARTWORK, "name": "newer", "author_ids": [2]},
        {"kind": "user", "user_id": 7, "username": "x", "avatar": None, "role_id": 1, "password_hash": HASH},
        {"kind": "logo", "logo_id": 1, **ARTWORK, "name": "newest", "author_ids": [2]},
    ]
    stocked.import_export.load(import_export.ImportRecords(), map(json.dumps, lines))
    first, user, second = history(stocked)[known:]
    assert (first.action, user.action, second.action) == ("logo.amended", "user.amended", "logo.amended")
    assert first.before == artwork("logo")
    assert first.after == second.before
    assert first.after is not None
    assert second.after is not None
    assert (first.after["name"], second.after["name"]) == ("newer", "newest")
    assert [link["author_id"] for link in first.after["authors"]] == [2]
    assert versions(storage)[Kind.LOGO, 1] == second.change_id
    assert versions(storage)[Kind.USER, 7] == user.change_id


def changed_by(gallery: LogoAdmin, caller: Caller) -> int:
    """Change an author; return the id of the change."""
    gallery.authors.amend(authors.AmendAuthor(author_id=1, username=f"by {gallery.changes.version()}"), caller)
    return gallery.changes.version()


def test_a_change_has_the_current_name_of_its_user(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    change_id = changed_by(stocked, signed_in(storage, "authors:write"))

    def shown() -> str | None:
        (change,) = stocked.changes.list(changes.ListChanges(after=change_id - 1, limit=1)).first
        return change.user_name

    assert shown() == "user 500"
    stocked.users.amend(users.AmendUser(user_id=500, username="Eve"))
    assert shown() == "Eve"
    stocked.users.remove(users.RemoveUser(user_id=500))
    assert shown() is None


def test_undoing_returns_the_name(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    caller = signed_in(storage, "authors:write")
    change_id = changed_by(stocked, caller)
    assert stocked.changes.revert(changes.Revert(change_id=change_id), caller).user_name == "user 500"
    changed_by(stocked, replace(caller, request_id="renamed"))
    command = changes.RevertRequest(request_id="renamed")
    undone = stocked.changes.revert_request(command, replace(caller, request_id="undone"))
    assert [change.user_name for change in undone] == ["user 500"]


@F1
@pytest.mark.parametrize("where", [{}, {"kind": Kind.AUTHOR}, {"kind": Kind.AUTHOR, "id": 1}])
def test_a_new_name_is_a_new_version(stocked: LogoAdmin, storage: MemoryStorage, where: dict[str, Any]) -> None:
    command = changes.ListChanges(**where)
    changed_by(stocked, signed_in(storage, "authors:write"))
    version = stocked.changes.list(command).version
    assert failure(stocked.changes.list, if_none_match(command, version)) is NotModified
    stocked.users.amend(users.AmendUser(user_id=500, username="Eve"))
    assert stocked.changes.list(if_none_match(command, version)).version > version


# The modules that write audited records without the change log, because they implement it.
RAW: Final = {
    # The published gallery names the author of blocked work.
    r"\blinks_in\(\w+, |uow_of\(self\)\.links\(": {"gallery/audited_artworks.py", "publication/publication_service.py"},
    # A new hash of the same password is not a change of the user.
    r"\bpasswords\.set\(": {"identity/accounts.py", "identity/second_step.py", "identity/sessions.py"},
    # An unconfirmed factor cannot sign in.
    r"\bfactors\.remove(_all)?\(": {"identity/factors.py", "identity/totp.py"},
    r"\bwithdrawals\.(put|drop)\(": {"publication/files/withdrawals.py"},
}
# For each way to ports that use cases do not get: its context, and the other modules that use it.
OWNERS: Final = {
    "identity_in": ("identity", {"changes/import_lines.py"}),
    "secrets_in": ("identity", set[str]()),
    "links_in": ("gallery", {"publication/publication_service.py"}),
    "stored_pictures_in": ("gallery", {"publication/shared_settings.py"}),
    "repositories_in": ("gallery", {"changes/proposal_views.py", "changes/proposals.py"}),
    "withdrawals_in": ("publication", set[str]()),
    "(proposals_in|notices_in|member_notices_in|rehearse)": ("changes", set[str]()),
    "change_log_of": ("changes", {"gallery/pictures.py"}),
}


def modules_with(pattern: str) -> set[str]:
    domain = Path(logoadmin.__file__).parent / "domain"
    texts = {path.relative_to(domain).as_posix(): path.read_text(encoding="utf-8") for path in domain.rglob("*.py")}
    return {name for name, text in texts.items() if re.search(pattern, text) and not name.startswith("kernel/")}


@pytest.mark.parametrize("port", OWNERS)
def test_a_context_uses_only_its_own_ports(port: str) -> None:
    context, others = OWNERS[port]
    assert {name for name in modules_with(rf"\b{port}\(") if not name.startswith(f"{context}/")} == others


@pytest.mark.parametrize("raw", RAW)
def test_only_the_change_log_writes_to_audited_repositories(raw: str) -> None:
    assert modules_with(raw) == RAW[raw]


def test_a_missing_record_is_not_changed(storage: MemoryStorage) -> None:
    with pytest.raises(LookupError, match="User 9 is to be changed"):
        storage.write(recorded(lambda uow: uow.records(USERS).update(User(9, "eve", None, 1, NOW)), NOW))
