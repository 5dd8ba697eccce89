"""Commands that need a recent sign-in, such as every way to set a password or to grant a scope (contract O3)."""

import json
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any, Final

import pytest

from logoadmin import ConfirmTotp, CreateKey, EnrolTotp, ListFactors, MakeRecoveryCodes, RemoveFactor, RemoveUserFactors
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes.bulk_changes import ApplyChanges
from logoadmin.domain.changes.history import ListChanges, Revert, RevertRequest
from logoadmin.domain.changes.import_export import ImportRecords
from logoadmin.domain.gallery.picture_commands import RemovePicture
from logoadmin.domain.identity import passkeys
from logoadmin.domain.identity import service_keys as keys
from logoadmin.domain.identity.one_time_sign_in import CreateSignInCode, SignInWithCode
from logoadmin.domain.identity.roles import AmendRole, CreateRole
from logoadmin.domain.identity.sessions import WhoAmI
from logoadmin.domain.identity.sign_in_events import ListEvents
from logoadmin.domain.identity.users import AmendUser, CreateUser, RemoveUser, SetPassword
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.access import ANONYMOUS, OWNER, Caller, Owner, Policy, SignedIn
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.ports.storage import UnitOfWork
from tests.domain.identity.second_factors import STEP, challenged, code_of, enrol, enrolled, second_step
from tests.domain.identity.sign_ins import ADMIN, ANN, caller, refresh, works
from tests.domain.undone import error_of
from tests.gallery import (
    ADMIN_ID,
    ADMIN_PASSWORD,
    ASKED,
    CHEAP_PASSWORDS,
    FrozenClock,
    ask,
    exported,
    failure,
    gallery_on,
    once,
    right_to,
    stock,
)

pytestmark = pytest.mark.rule("contract O3")

# Every command that needs one, written by hand.
RECENT: Final[tuple[type[Command], ...]] = (
    *(keys.CreateKey, EnrolTotp, ConfirmTotp, RemoveFactor, RemoveUserFactors, MakeRecoveryCodes),
    *(passkeys.BeginPasskey, passkeys.EnrolPasskey, CreateSignInCode, RemovePicture),
)
# They are not about the caller.
OF_OTHERS: Final = (RemoveUserFactors, CreateSignInCode, RemovePicture)
EVERY: Final = {*RECENT}


def outcome(gallery: LogoAdmin, kind: type[Command], who: Caller) -> type[errors.LogoAdminError] | None:
    error = error_of(gallery, kind, who)
    return None if error is None else type(error)


def asked_again(gallery: LogoAdmin, who: Caller) -> set[type[Command]]:
    """Return the commands that require another sign-in."""
    return {kind for kind in RECENT if outcome(gallery, kind, who) is errors.RecentSignInRequired}


def signed_in(gallery: LogoAdmin) -> SignedIn:
    return caller(gallery, gallery.sessions.sign_in(ADMIN))


def test_these_commands_require_a_recent_sign_in() -> None:
    """ASVS 7.5.1 and 7.5.3."""
    assert {kind for kind in ASKED if right_to(kind).recent} == {*RECENT}


@pytest.mark.rule("contract K7")
@pytest.mark.parametrize("age", [0, 600, 601, 86_400, -10, -11, -86_400])
def test_a_sign_in_is_recent_for_ten_minutes(stocked: LogoAdmin, clock: FrozenClock, age: int) -> None:
    """ASVS 7.5.1. Clocks may differ by ten seconds."""
    admin = signed_in(stocked)
    clock.pass_by(age)
    assert asked_again(stocked, admin) == (set() if -10 <= age <= 600 else EVERY)


def test_a_sign_in_counts_only_for_its_session_and_a_refresh_does_not(stocked: LogoAdmin, clock: FrozenClock) -> None:
    """A new sign-in does not step up the old session."""
    tokens = stocked.sessions.sign_in(ADMIN)
    before = caller(stocked, tokens)
    clock.pass_by(601)
    assert asked_again(stocked, signed_in(stocked)) == set()
    assert asked_again(stocked, before) == asked_again(stocked, caller(stocked, refresh(stocked, tokens))) == EVERY
    with pytest.raises(errors.RecentSignInRequired, match=r"^A recent sign-in is required$"):
        stocked.keys.create(CreateKey(name="script", scope=()), before)


def test_callers_without_the_right_are_not_asked_to_sign_in_again(stocked: LogoAdmin, clock: FrozenClock) -> None:
    ann = caller(stocked, stocked.sessions.sign_in(ANN))
    clock.pass_by(601)
    assert asked_again(stocked, ann) == EVERY - {*OF_OTHERS}
    assert {outcome(stocked, kind, ann) for kind in OF_OTHERS} == {errors.NotPermitted}


@pytest.mark.parametrize("access", Policy)
def test_callers_without_a_session_are_never_asked(storage: MemoryStorage, clock: FrozenClock, access: Policy) -> None:
    """The owner, and anybody under ``open``, see no difference."""
    gallery = stock(gallery_on(storage, clock, access))
    clock.pass_by(601)
    for kind in RECENT:
        assert outcome(gallery, kind, ANONYMOUS) is errors.NotAuthenticated
        assert outcome(gallery, kind, OWNER) is (None if kind in OF_OTHERS else errors.NotAuthenticated)


@pytest.mark.rule("contract K7")
def test_a_clock_that_ran_ahead_makes_no_sign_in_recent(stocked: LogoAdmin, clock: FrozenClock) -> None:
    """Neither before nor after its refresh: its time is unknown."""
    clock.pass_by(86_400)
    tokens = stocked.sessions.sign_in(ADMIN)
    clock.pass_by(-86_400)
    # The token itself is valid again when the clock gets there, or after a refresh.
    ahead = stocked.sessions.caller(refresh(stocked, tokens).access_token)
    assert asked_again(stocked, ahead) == EVERY
    clock.pass_by(100)
    assert asked_again(stocked, ahead) == EVERY
    assert asked_again(stocked, signed_in(stocked)) == set()


def test_a_stored_response_is_not_returned_without_a_recent_sign_in(stocked: LogoAdmin, clock: FrozenClock) -> None:
    admin = signed_in(stocked)
    command = once(RemoveUserFactors(user_id=7), "the key of a request")
    clock.pass_by(590)
    removed = stocked.factors.remove_all(command, admin)
    assert stocked.factors.remove_all(command, admin) == removed
    clock.pass_by(11)
    assert failure(stocked.factors.remove_all, command, admin) is errors.RecentSignInRequired


def test_the_first_factor_ends_other_sessions_and_strengthens_its_own(stocked: LogoAdmin, clock: FrozenClock) -> None:
    other = stocked.sessions.sign_in(ANN)
    bystander = signed_in(stocked)
    who, totp, _ = enrolled(stocked)
    assert not works(stocked, other)
    assert failure(refresh, stocked, other) is errors.InvalidToken
    assert outcome(stocked, keys.CreateKey, bystander) is None
    # The session has just used the factor.
    stocked.factors.make_recovery_codes(MakeRecoveryCodes(), who)
    clock.pass_by(STEP)
    second = caller(stocked, second_step(stocked, challenged(stocked), totp=code_of(totp, clock.now())))
    # A second factor ends no session.
    clock.pass_by(STEP)
    enrol(stocked, second, clock.now())
    assert stocked.sessions.me(WhoAmI(), who).user_id == 7
    events = stocked.events.list(ListEvents(), who)
    assert [event.count for event in events if event.event == "session_ended"] == [1]


def test_with_a_factor_a_password_only_session_is_not_recent(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    """For example, a session from before factors ended sessions."""
    who, _, _ = enrolled(stocked, ADMIN)

    def forget(uow: UnitOfWork) -> None:
        (session,) = uow.identity.sessions.of_user(ADMIN_ID)
        uow.identity.sessions.update(replace(session, factor="password"))

    storage.write(forget)
    assert asked_again(stocked, who) == EVERY


@pytest.mark.parametrize("code", [True, False])
def test_a_session_by_sign_in_code_is_recent_even_with_a_factor(stocked: LogoAdmin, code: bool) -> None:
    """The operator vouches for users who lost their factor, or they could not enrol another one (contract O6)."""
    _, _, recovery = enrolled(stocked)
    if code:
        made = stocked.sign_in_codes.create(CreateSignInCode(user_id=7))
        tokens = stocked.sign_in_codes.sign_in(SignInWithCode(username="ann", code=made.code))
    else:
        tokens = second_step(stocked, challenged(stocked), recovery_code=recovery[0])
    (factor,) = stocked.factors.list(ListFactors(), caller(stocked, tokens))
    stocked.factors.remove(RemoveFactor(factor_id=factor.factor_id), caller(stocked, tokens))


# Every way to set a password or to grant a scope to a user or role.

HASH: Final = CHEAP_PASSWORDS.hash("another one").hash
Way = Callable[[LogoAdmin, Caller], object]


def bulk(*changes: dict[str, Any]) -> Way:
    return lambda gallery, who: [*gallery.bulk.apply(ApplyChanges(changes=changes), who)]  # type: ignore[arg-type]  # they become changes


def imported(**line: Any) -> Way:
    return lambda gallery, who: gallery.import_export.load(ImportRecords(), [json.dumps(line)], who)


def user(user_id: int, role_id: int, **values: Any) -> dict[str, Any]:
    named = {"kind": "user", "user_id": user_id, "username": f"user {user_id}"}
    return {**named, "avatar": None, "role_id": role_id, **values}


def undone(request_id: str) -> Way:
    return lambda gallery, who: [*gallery.changes.revert_request(RevertRequest(request_id=request_id), who)]


def change_undone(gallery: LogoAdmin, who: Caller) -> object:
    (change,) = gallery.changes.list(ListChanges(request_id="demoted"))
    return gallery.changes.revert(Revert(change_id=change.change_id), who)


def asks(command: Command) -> Way:
    return lambda gallery, who: ask(gallery, command, who)


NEW: Final[dict[str, Any]] = {"user_id": 9, "username": "nine", "password": "a password"}
# Role 2 is that of administrators, role 3 that of painters; user 7 has the first role, user 8 lost the second.
GRANTS: Final[dict[str, Way]] = {
    "a password": asks(SetPassword(user_id=7, password="another one")),
    "a role": asks(AmendUser(user_id=7, role_id=2)),
    "a role with less": asks(AmendUser(user_id=7, role_id=3)),
    "a scope": asks(AmendRole(role_id=1, scope=("logos:write",))),
    "a new role": asks(CreateRole(name="full", scope=("*",))),
    "one scope more": asks(AmendRole(role_id=3, scope=("logos:write", "themes:write", "users:read"))),
    "a role in bulk": bulk({"kind": "user", "id": 7, "version": 99, "set": {"role_id": 2}}),
    "a scope in bulk": bulk({"kind": "role", "id": 1, "version": 99, "set": {"scope": ["*"]}}),
    "a new user with a role": asks(CreateUser(**NEW, role_id=2)),
    "a new user with a role in bulk": bulk(
        {"kind": "user", "create": NEW}, {"kind": "user", "id": 9, "version": 99, "set": {"role_id": 2}}
    ),
    "a role in an import": imported(**user(7, 2)),
    "a new user with a role in an import": imported(**user(9, 2)),
    "a scope in an import": imported(kind="role", role_id=1, name="member", scope=["users:write"]),
    "a hash in an import": imported(**user(7, 1, password_hash=HASH)),
    "undoing a demotion": undone("demoted"),
    "undoing one change": change_undone,
    "undoing a removal": undone("removed"),
}
# Changes of users and roles that grant nothing.
OTHERS: Final[dict[str, Way]] = {
    "a new user": asks(CreateUser(**NEW)),
    "a new user in bulk": bulk({"kind": "user", "create": NEW}),
    "a new role": asks(CreateRole(name="empty", scope=())),
    "a name": asks(AmendUser(user_id=7, username="anna")),
    "the role again": asks(AmendUser(user_id=7, role_id=1)),
    "a scope less": asks(AmendRole(role_id=3, scope=("logos:write",))),
    "a role's name": asks(AmendRole(role_id=3, name="draughtsman")),
    "a removal": asks(RemoveUser(user_id=7)),
    "the own password": asks(SetPassword(user_id=ADMIN_ID, password="another one", current_password=ADMIN_PASSWORD)),
    "a user without a role in an import": imported(**user(9, 1)),
}
EACH_GRANT: Final = pytest.mark.parametrize("way", GRANTS.values(), ids=GRANTS)


@pytest.fixture
def gallery_with_history(stocked: LogoAdmin) -> LogoAdmin:
    stocked.users.create(CreateUser(user_id=8, username="eight", password="a password"))
    stocked.users.create(CreateUser(user_id=10, username="ten", password="a password"))
    for user_id in (8, 10):
        stocked.users.amend(AmendUser(user_id=user_id, role_id=2))
    stocked.users.amend(AmendUser(user_id=8, role_id=1), Owner("demoted"))
    stocked.users.remove(RemoveUser(user_id=10), Owner("removed"))
    return stocked


@EACH_GRANT
def test_an_old_sign_in_cannot_grant_rights(gallery_with_history: LogoAdmin, clock: FrozenClock, way: Way) -> None:
    gallery = gallery_with_history
    admin = caller(gallery, gallery.sessions.sign_in(ADMIN))
    clock.pass_by(601)
    before = exported(gallery)
    assert failure(way, gallery, admin) is errors.RecentSignInRequired
    assert exported(gallery) == before
    way(gallery, caller(gallery, gallery.sessions.sign_in(ADMIN)))
    assert exported(gallery) != before


@pytest.mark.parametrize("way", OTHERS.values(), ids=OTHERS)
def test_changes_that_grant_nothing_require_no_recent_sign_in(
    gallery_with_history: LogoAdmin, clock: FrozenClock, way: Way
) -> None:
    admin = caller(gallery_with_history, gallery_with_history.sessions.sign_in(ADMIN))
    clock.pass_by(601)
    way(gallery_with_history, admin)


@EACH_GRANT
@pytest.mark.parametrize("who", [OWNER, ANONYMOUS], ids=["the program", "nobody under open"])
def test_callers_without_a_session_may_grant(gallery_with_history: LogoAdmin, way: Way, who: Caller) -> None:
    # Without a token, only some of them are open to anybody.
    with nullcontext() if who is OWNER else suppress(errors.NotAuthenticated, errors.NotPermitted):
        way(gallery_with_history, who)
