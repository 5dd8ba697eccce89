"""Many changes as one request (contract J7)."""

from dataclasses import replace
from typing import Any

import pytest

from logoadmin import OWNER, Caller, Change, CreateAuthor, ListActs, LogoAdmin, Owner, Policy, RevertRequest, SignIn
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes import bulk_changes
from logoadmin.domain.changes.bulk_changes import MOST_CHANGES, ApplyChanges
from logoadmin.domain.gallery.artworks import GetLogo, ListLogos
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.limits import Origin
from tests.gallery import ARTWORK, FrozenClock, exported, failure, gallery_on, signed_in

pytestmark = pytest.mark.rule("contract J7")

# In a stocked gallery: the last changes of these records.
LOGO = {"kind": "logo", "id": 1, "version": 9}
AUTHOR = {"kind": "author", "id": 1, "version": 6}
ROLE = {"kind": "role", "id": 3, "version": 4}
USER = {"kind": "user", "id": 7, "version": 5}
CYD = {"kind": "author", "create": {"user_id": 103, "username": "Cyd"}}
BEN = {"kind": "user", "create": {"user_id": 8, "username": "ben", "password": "ben's password"}}
EXTRA = "extra_forbidden"


def command_for(*changes: Any, **more: Any) -> ApplyChanges:
    return ApplyChanges(changes=changes, **more)


def apply(gallery: LogoAdmin, *changes: dict[str, Any], caller: Caller = OWNER) -> list[Change]:
    return list(gallery.bulk.apply(command_for(*changes), caller))


def test_all_kinds_of_changes_are_one_request_and_one_undo(stocked: LogoAdmin) -> None:
    before = exported(stocked, hashes=False)
    made = apply(
        stocked,
        LOGO | {"set": {"active": False, "target": "wiki", "author_ids": [2, 1]}},
        CYD,
        {"kind": "theme", "create": {**ARTWORK, "author_ids": [2]}},
        BEN,
        ROLE | {"set": {"scope": []}},
        USER | {"remove": True},
        caller=Owner("bulk"),
    )
    actions = ["logo.amended", "author.created", "theme.created", "user.created", "role.amended", "user.removed"]
    assert [change.action for change in made] == actions
    assert {(change.request_id, change.origin) for change in made} == {("bulk", Origin.BULK)}
    logo = stocked.logos.get(GetLogo(logo_id=1))
    assert (logo.active, logo.target, [author.author_id for author in logo.authors]) == (False, "wiki", [2, 1])
    stocked.sessions.sign_in(SignIn(username="ben", password="ben's password"))
    tuple(stocked.changes.revert_request(RevertRequest(request_id="bulk")))
    assert exported(stocked, hashes=False) == before


def test_the_removal_of_a_changed_record_is_a_separate_change(stocked: LogoAdmin) -> None:
    before, latest = exported(stocked, hashes=False), stocked.changes.version() + 9
    made = apply(
        stocked,
        AUTHOR | {"set": {"username": "Cyd"}},
        AUTHOR | {"version": latest, "remove": True},
        USER | {"remove": True},
        {"kind": "user", "create": {"user_id": 7, "username": "ben", "password": "ben's password"}},
        {"kind": "user", "id": 7, "version": latest, "remove": True},
        caller=Owner("bulk"),
    )
    actions = ["author.amended", "author.removed", "user.removed", "user.created", "user.removed"]
    assert [change.action for change in made] == actions
    assert [(change.before is None, change.after is None) for change in made] == [
        (change.action.endswith("created"), change.action.endswith("removed")) for change in made
    ]
    tuple(stocked.changes.revert_request(RevertRequest(request_id="bulk")))
    assert exported(stocked, hashes=False) == before


def test_the_version_of_a_list_covers_the_records_in_it(stocked: LogoAdmin) -> None:
    assert apply(stocked, LOGO | {"set": {"author_ids": [1], "active": True}}) == []  # the current values
    version = stocked.logos.list(ListLogos()).version
    apply(stocked, LOGO | {"version": version, "set": {"target": "wiki"}})
    assert failure(apply, stocked, LOGO | {"version": version, "remove": True}) is errors.Outdated


@pytest.mark.parametrize(
    ("bad", "error", "text"),
    [
        (LOGO | {"id": 99, "set": {}}, errors.NotFound, "Change 1: Logo 99 not found"),
        (LOGO | {"version": 8, "remove": True}, errors.Outdated, "Change 1: Logo 1 "),
        (LOGO | {"set": {"author_ids": [1, 99]}}, errors.NotFound, "Change 1: Author 99 not found"),
        ({"kind": "logo", "create": {**ARTWORK, "author_ids": [99]}}, errors.NotFound, "Change 1: Author 99 not found"),
        (AUTHOR | {"set": {"username": "Ben"}}, errors.DuplicateUpdate, "Change 1: Duplicate entry 'Ben' for key 'us"),
        (CYD, errors.DuplicateEntry, "Change 1: Duplicate entry"),
        (ROLE | {"id": 1, "version": 1, "remove": True}, errors.Conflict, "Change 1: Role 1 is the role of new users"),
    ],
)
def test_the_first_invalid_change_is_reported_and_nothing_is_done(
    stocked: LogoAdmin, bad: dict[str, Any], error: type[errors.LogoAdminError], text: str
) -> None:
    last, before = stocked.changes.version(), exported(stocked, hashes=False)
    with pytest.raises(error) as raised:
        apply(stocked, CYD, bad, LOGO | {"id": 98, "remove": True})
    assert type(raised.value) is error
    assert str(raised.value).startswith(text)
    assert (stocked.changes.version(), exported(stocked, hashes=False)) == (last, before)


@pytest.mark.rule("contract A19", "contract B4")
@pytest.mark.parametrize(
    ("scope", "bad"),
    [
        ("logos:write", AUTHOR | {"set": {"username": "Cyd"}}),
        ("users:write", ROLE | {"set": {"name": "brush"}}),
        ("roles:write", ROLE | {"set": {"scope": ["users:write"]}}),
        ("roles:write", {"kind": "role", "create": {"name": "new", "scope": ["*"]}}),
        ("users:write", {"kind": "user", "id": 7, "version": 5, "set": {"role_id": 2}}),
        ("users:write", {"kind": "user", "id": 2_000_000_000, "version": 3, "remove": True}),
        ("logos:write", {"kind": "user", "create": {"user_id": 8, "username": "ben", "password": "x"}}),
    ],
)
def test_each_change_requires_the_rights_of_its_own_operation(
    stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock, scope: str, bad: dict[str, Any]
) -> None:
    caller, last = signed_in(storage, scope), stocked.changes.version()
    guarded = gallery_on(storage, clock, Policy.GUARDED, started=False)
    with pytest.raises(errors.NotPermitted, match=r"^Change 0: Not enough permissions$"):
        apply(guarded, bad, caller=caller)
    assert stocked.changes.version() == last


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        ({"kind": "badge", "remove": True}, [(("kind",), "literal_error")]),
        ("logo", [((), "dict_type")]),
        ({"kind": "logo"}, [((), "value_error")]),
        (LOGO | {"set": {}, "remove": True}, [((), "value_error")]),
        ({"kind": "logo", "set": {}}, [(("id",), "missing"), (("version",), "missing")]),
        (LOGO | {"set": {"name": "", "x": 1}}, [(("set", "x"), EXTRA), (("set", "name"), "string_too_short")]),
        (LOGO | {"set": {"author_ids": [-1]}}, [(("set", "author_ids", 0), "greater_than_equal")]),
        (AUTHOR | {"set": {"author_ids": [1]}}, [(("set", "author_ids"), EXTRA)]),
        (LOGO | {"set": {"logo_id": 2, "if_match": [3]}}, [(("set", "logo_id"), EXTRA), (("set", "if_match"), EXTRA)]),
        ({"kind": "author", "create": {}}, [(("create", "user_id"), "missing"), (("create", "username"), "missing")]),
        (CYD | {"id": 1}, [(("create",), "value_error")]),
        (AUTHOR | {"block": {"reason": "Spam"}}, [(("block",), "value_error")]),
    ],
)
def test_problems_have_their_location(change: Any, problems: list[tuple[tuple[Any, ...], str]]) -> None:
    with pytest.raises(errors.InvalidInput) as raised:
        command_for(CYD, change)
    found = [(problem.loc, problem.type) for problem in raised.value.problems]
    assert sorted(map(str, found)) == sorted(str((("changes", 1, *loc), type_)) for loc, type_ in problems)


def test_a_request_has_at_most_a_thousand_changes(stocked: LogoAdmin) -> None:
    def changes(count: int) -> list[dict[str, Any]]:
        return [{"kind": "logo", "create": ARTWORK} for _ in range(count)]

    assert len(apply(stocked, *changes(MOST_CHANGES))) == MOST_CHANGES
    assert len([*stocked.logos.list(ListLogos())]) == MOST_CHANGES + 1
    with pytest.raises(errors.TooManyChanges, match=r"^A request can have at most 1,000 changes$"):
        apply(stocked, *changes(MOST_CHANGES + 1))


def test_changes_that_continue_a_request_are_one_act_with_one_undo(stocked: LogoAdmin) -> None:
    before, first = exported(stocked, hashes=False), LOGO | {"set": {"active": False}}
    apply(stocked, first, caller=Owner("many"))
    made = stocked.bulk.apply(command_for(AUTHOR | {"set": {"username": "Eve"}}, CYD, continues="many"), Owner("later"))
    assert [change.request_id for change in made] == ["many", "many"]
    acts = {act.request_id: act for act in stocked.acts.list(ListActs(limit=50))}
    assert "later" not in acts
    assert acts["many"].actions == {"logo.amended": 1, "author.amended": 1, "author.created": 1}
    tuple(stocked.changes.revert_request(RevertRequest(request_id="many")))
    assert exported(stocked, hashes=False) == before


@pytest.mark.parametrize("before", ["undone", "of somebody else", "no bulk change", "followed by another", "unknown"])
def test_changes_that_cannot_continue_a_request_are_a_separate_act(
    stocked: LogoAdmin, storage: MemoryStorage, before: str
) -> None:
    if before == "no bulk change":
        stocked.authors.create(CreateAuthor(user_id=105, username="Fay"), Owner("first"))
    elif before != "unknown":
        apply(stocked, CYD, caller=Owner("first"))
    if before == "undone":
        tuple(stocked.changes.revert_request(RevertRequest(request_id="first"), Owner("undo")))
    elif before == "followed by another":
        stocked.authors.create(CreateAuthor(user_id=104, username="Dan"), Owner("meanwhile"))
    caller = replace(signed_in(storage, "*"), request_id="later") if before == "of somebody else" else Owner("later")
    made = stocked.bulk.apply(command_for(LOGO | {"set": {"active": False}}, continues="first"), caller)
    assert [change.request_id for change in made] == ["later"]


def test_a_dry_run_returns_the_changes_and_stores_nothing(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    changes: list[Any] = [LOGO | {"set": {"active": False, "author_ids": [2, 1]}}, CYD, BEN, USER | {"remove": True}]
    caller = signed_in(storage, "*")
    before, last = exported(stocked), stocked.changes.version()
    tried = [*stocked.bulk.apply(command_for(*changes, dry_run=True), caller)]
    assert (exported(stocked), stocked.changes.version()) == (before, last)
    assert {change.user_name for change in tried} == {"user 500"}
    assert tried == apply(stocked, *changes, caller=caller)


def test_a_dry_run_with_a_long_response_is_refused(stocked: LogoAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_changes, "MOST_TEXT", 1_000)
    change = LOGO | {"set": {"custom_css": "x" * 1_001}}
    with pytest.raises(errors.TooManyChanges, match="send fewer of them at once"):
        stocked.bulk.apply(command_for(change, dry_run=True))
    assert len(apply(stocked, change)) == 1
