"""The settings that administrators make for everybody, and the targets that they describe (contract J8, Q3)."""

from dataclasses import replace
from typing import Any

import pytest

from logoadmin import AmendSettings, BulkChange, Change, ExportRecords, GetSettings, Kind, LogoAdmin, SharedSettings
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes.history import ListChanges, Revert, RevertRequest
from logoadmin.domain.kernel.access import OWNER, Source
from logoadmin.domain.kernel.errors import Conflict, InvalidInput, InvalidLines, NotModified, NotPermitted, Outdated
from logoadmin.ports.storage import UnitOfWork
from tests.gallery import NOW, ask, exported, failure, imported, problems, signed_in

pytestmark = pytest.mark.rule("contract J8")

HOSTS = ("i.example", "*.img.example:8443")


def get(gallery: LogoAdmin) -> tuple[tuple[str, ...], int]:
    found = gallery.settings.get(GetSettings())
    return found.picture_hosts, found.version


def amend(gallery: LogoAdmin, *hosts: str, request_id: str | None = None) -> SharedSettings:
    return gallery.settings.amend(AmendSettings(picture_hosts=hosts), replace(OWNER, request_id=request_id))


def test_there_are_no_shared_settings_before_the_first_change(stocked: LogoAdmin) -> None:
    assert get(stocked) == ((), 0)
    assert stocked.settings.amend(AmendSettings()) == SharedSettings()
    assert get(stocked) == ((), 0)


def test_changed_settings_are_stored_and_in_the_history(stocked: LogoAdmin) -> None:
    known = stocked.changes.version()
    amended = amend(stocked, *HOSTS, HOSTS[0])
    assert (amended.picture_hosts, amended.version) == (HOSTS, known + 1) == get(stocked)
    amend(stocked)
    assert get(stocked) == ((), known + 2)
    none: dict[str, Any] = {"picture_hosts": []}
    hosts = {"picture_hosts": [*HOSTS]}
    assert [*stocked.changes.list(ListChanges(kind=Kind.SETTINGS, id=1))] == [
        Change(known + n, NOW, None, "settings.amended", Kind.SETTINGS, 1, before, after, None, source=Source.PROGRAM)
        for n, before, after in ((1, none, hosts), (2, hosts, none))
    ]


def test_a_change_is_undone_alone_or_with_its_request(stocked: LogoAdmin) -> None:
    first = amend(stocked, *HOSTS, request_id="hosts 1").version
    stocked.changes.revert(Revert(change_id=first))
    assert get(stocked) == ((), first + 1)
    stocked.changes.revert(Revert(change_id=first + 1))
    assert get(stocked) == (HOSTS, first + 2)
    amend(stocked, "a.example", request_id="hosts 2")
    (undone,) = stocked.changes.revert_request(RevertRequest(request_id="hosts 2"))
    assert (undone.kind, undone.undoes) == (Kind.SETTINGS, first + 3)
    assert get(stocked) == (HOSTS, first + 4)
    amend(stocked, "b.example")
    for command in (RevertRequest(request_id="hosts 1"), Revert(change_id=first)):
        with pytest.raises(Conflict, match=f"^Settings 1 was changed since, by change {first + 5}$"):
            ask(stocked, command)


def test_shared_settings_are_changed_only_in_the_expected_version(stocked: LogoAdmin) -> None:
    def in_version(*versions: int) -> AmendSettings:
        return AmendSettings(picture_hosts=HOSTS, if_match=frozenset(versions))

    with pytest.raises(Outdated, match=r"^Settings 1 was changed since$"):
        stocked.settings.amend(in_version(1, 2))
    version = stocked.settings.amend(in_version(0)).version
    assert failure(stocked.settings.amend, in_version(0, version - 1)) is Outdated
    assert get(stocked) == (HOSTS, version)
    assert failure(stocked.settings.get, GetSettings(if_none_match=frozenset({version}))) is NotModified


def test_only_administrators_change_shared_settings_or_undo_changes(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    number = amend(stocked, *HOSTS, request_id="hosts 4").version
    editor = signed_in(storage, "logos:write", "users:write", "changes:read", user_id=500)
    assert stocked.settings.get(GetSettings(), editor).picture_hosts == HOSTS
    for command in (AmendSettings(picture_hosts=()), Revert(change_id=number), RevertRequest(request_id="hosts 4")):
        assert failure(ask, stocked, command, editor) is NotPermitted
    assert get(stocked) == (HOSTS, number)


NO_HOSTS = (
    *("a; script-src *", "'none'; script-src *", "https://i.example", "*", "*.", "*.*.a", "", "a b", "a,b", "a/b"),
    *("[::1]", "I.example", "a\n", "a\r\nx: y", "я.example", "i.example.", ".example", "a..b", "a:", "a:x", "a@b"),
)
NO_COLOURS = ("red", "#35c", "#3355cg", "#3355cc ", "")

FORUM: dict[str, Any] = {"name": "The forum", "documents": ['domain("forum.example")'], "logo": ".site-logo, #x"}
ALL_SITES: dict[str, Any] = {"name": "All sites", "own": True}
NO_DOCUMENTS = (
    *("", "forum.example", "domain()", 'domain("")', 'domain("a"', 'domain("a'),
    *('domain("a") {', 'domain("a")}', 'domain("a"), domain("b")', 'media("a")', "*", 'domain("a"; "b")'),
    *('domain("a\\a b")', 'domain("a")/*', '"a"', "url(a", "url(a b)", 'regexp("a" "b")', 'domain("a\nb")'),
)
NO_SELECTORS = (
    *("", " ", "a {", "a }", "a { color: red }", "a; b", "@media", "a /* b", "/* a */", "a )", ":is(a", '[x="a'),
    *("<!-- a", "a -->", ":is(a { })", "[x='a\nb']"),
)
# Each with the place and the type or message of its problem.
NO_TARGETS: tuple[tuple[Any, tuple[str | int, ...], str], ...] = (
    *((target, (), "value_error") for target in ({"name": "a"}, FORUM | {"own": True}, ALL_SITES | {"logo": ".a"})),
    (ALL_SITES | {"own": False}, ("own",), "literal_error"),
    (FORUM | {"documents": []}, ("documents",), "too_short"),
    (FORUM | {"documents": ["domain(a)"] * 101}, ("documents",), "too_long"),
    (FORUM | {"documents": "a"}, ("documents",), "list_type"),
    (FORUM | {"colour": "red"}, ("colour",), "extra_forbidden"),
    (FORUM | {"name": " "}, ("name",), "string_pattern_mismatch"),
    (7, (), "dict_type"),
    *(
        (FORUM | {"documents": [each]}, ("documents", 0), "Input should be url(), url-prefix(), domain() or regexp()")
        for each in NO_DOCUMENTS
    ),
    *((FORUM | {"logo": each}, ("logo",), "Input should be a selector, such as .site-logo") for each in NO_SELECTORS),
)


@pytest.mark.rule("contract Q3")
@pytest.mark.parametrize(
    ("field", "value", "place", "problem"),
    [
        *(("picture_hosts", ("i.example", host), (1,), "string_pattern_mismatch") for host in NO_HOSTS),
        ("picture_hosts", ("a" * 262,), (0,), "string_too_long"),
        ("picture_hosts", (7,), (0,), "string_type"),
        *(("picture_hosts", hosts, (), "list_type") for hosts in ("i.example", None)),
        ("picture_hosts", ("a.example",) * 65, (), "too_long"),
        ("gallery_title", "", (), "string_too_short"),
        ("gallery_title", "a\nb", (), "string_pattern_mismatch"),
        ("gallery_title", "x" * 65, (), "string_too_long"),
        ("gallery_home", "javascript:alert(1)", (), "url_parsing"),
        ("gallery_home", "https://ann:secret@www.example/", (), "url_parsing"),
        *(("gallery_accent", accent, (), "string_pattern_mismatch") for accent in NO_COLOURS),
        ("gallery_mark", "https://gallery.example/pictures/a.webp", (), "string_pattern_mismatch"),
        ("submission_rules", "x" * 4_001, (), "string_too_long"),
        *(("gallery_targets", {"forum": target}, ("forum", *place), problem) for target, place, problem in NO_TARGETS),
        ("gallery_targets", dict.fromkeys(map(str, range(201)), FORUM), (), "too_long"),
    ],
)
def test_values_unusable_on_a_page_or_in_its_policy_are_refused(
    field: str, value: Any, place: tuple[str | int, ...], problem: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        AmendSettings(**{field: value})
    (found,) = refused.value.problems
    assert found.loc == (field, *place)
    assert problem == found.type or found.msg.startswith(problem)


@pytest.mark.rule("contract Q3")
@pytest.mark.parametrize("id_", ["", "x" * 65, "a\0"])
def test_an_invalid_target_id_is_refused(id_: str) -> None:
    assert [loc[0] for loc in problems(AmendSettings, gallery_targets={id_: FORUM})] == ["gallery_targets"]


@pytest.mark.rule("contract Q3")
def test_targets_are_stored_in_canonical_form(stocked: LogoAdmin) -> None:
    canonical = {
        "url-prefix( 'https://wiki.example/' )": 'url-prefix("https://wiki.example/")',
        "url(https://a.example/x)": 'url("https://a.example/x")',
        'URL("https://a.example/x")': 'url("https://a.example/x")',
        "domain(a.example)": 'domain("a.example")',
        r'regexp("https://a\\.example/.*")': r'regexp("https://a\\.example/.*")',
        r'domain( "a\22 ) { } b" )': r'domain("a\") { } b")',
    }
    most = [f'domain("s{number}.forum.example")' for number in range(94)]
    given: Any = {"forum": FORUM | {"documents": [*canonical, *most]}, "all": ALL_SITES}
    given |= {f"{number}": FORUM for number in range(198)}
    amended = stocked.settings.amend(AmendSettings(gallery_targets=given))
    assert amended.gallery_targets == given | {"forum": FORUM | {"documents": [*canonical.values(), *most]}}
    assert stocked.settings.get(GetSettings()) == amended


def test_shared_settings_are_not_exported_nor_changed_in_bulk(stocked: LogoAdmin) -> None:
    amend(stocked, *HOSTS)
    assert not any("i.example" in line for line in exported(stocked))
    assert Kind.SETTINGS not in imported(stocked).counts
    kinds: Any = (Kind.SETTINGS, "settings")
    for kind in kinds:
        assert failure(ExportRecords, kind=(kind,)) is InvalidInput
        assert failure(BulkChange, kind=kind, id=1, version=0, set={}) is InvalidInput
    with pytest.raises(InvalidLines) as raised:
        imported(stocked, {"kind": "settings", "picture_hosts": []})
    (problem,) = raised.value.lines[0].problems
    assert problem.msg == "Kind should be one of role, user, author, theme, logo"


def test_settings_that_a_newer_program_added_are_ignored(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    def add(uow: UnitOfWork) -> None:
        after = {"picture_hosts": [*HOSTS], "stars": 5}
        number = uow.changes.last_id() + 1
        uow.changes.add([Change(number, NOW, None, "settings.amended", Kind.SETTINGS, 1, {}, after, None)])

    storage.write(add)
    assert get(stocked)[0] == HOSTS


def test_settings_of_the_page_are_stored_with_the_hosts_and_can_be_undone(stocked: LogoAdmin) -> None:
    amend(stocked, *HOSTS)
    rules = "Logos are 300 pixels wide.\n\nNo pictures of others." + "!" * 3_950
    amended = stocked.settings.amend(
        AmendSettings(gallery_title="Ours", gallery_home="", gallery_accent="#A03000", submission_rules=rules)
    )
    assert amended == SharedSettings(HOSTS, "Ours", "", gallery_accent="#a03000", submission_rules=rules)
    assert stocked.settings.get(GetSettings()) == amended
    stocked.settings.amend(AmendSettings(gallery_title=None))
    assert stocked.settings.get(GetSettings()) == SharedSettings(
        HOSTS, None, "", gallery_accent="#a03000", submission_rules=rules
    )
    stocked.changes.revert(Revert(change_id=stocked.changes.version()))
    assert stocked.settings.get(GetSettings()) == amended
