"""Every way to set a password or to grant a scope to a user or role needs a recent sign-in (contract O3)."""

import json
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any, Final

import pytest

from logoadmin.domain.changes.bulk_changes import ApplyChanges
from logoadmin.domain.changes.history import ListChanges, Revert, RevertRequest
from logoadmin.domain.changes.import_export import ImportRecords
from logoadmin.domain.identity.roles import AmendRole, CreateRole
from logoadmin.domain.identity.users import AmendUser, CreateUser, RemoveUser, SetPassword
from logoadmin.domain.kernel.access import ANONYMOUS, OWNER, Caller, Owner
from logoadmin.domain.kernel.errors import NotAuthenticated, NotPermitted, RecentSignInRequired
from logoadmin.domain.logo_admin import LogoAdmin
from tests.domain.identity.sign_ins import ADMIN, caller
from tests.gallery import ADMIN_PASSWORD, CHEAP_PASSWORDS, FrozenClock, exported

pytestmark = pytest.mark.rule("contract O3")

HASH: Final = CHEAP_PASSWORDS.hash("another one").hash
Way = Callable[[LogoAdmin, Caller], object]


def bulk(*changes: dict[str, Any]) -> Way:
    return lambda gallery, who: [*gallery.bulk.apply(ApplyChanges(changes=changes), who)]  # type: ignore[arg-type]  # they become changes


def imported(**line: Any) -> Way:
    return lambda gallery, who: gallery.import_export.load(ImportRecords(), [json.dumps(line)], who)


def user(user_id: int, role_id: int, **values: Any) -> dict[str, Any]:
    return {
        "kind": "user",
        "user_id": user_id,
        "username": f"user {user_id}",
        "avatar": None,
        "role_id": role_id,
        **values,
    }


def undone(request_id: str) -> Way:
    return lambda gallery, who: [*gallery.changes.revert_request(RevertRequest(request_id=request_id), who)]


def change_undone(gallery: LogoAdmin, who: Caller) -> object:
    (change,) = gallery.changes.list(ListChanges(request_id="demoted"))
    return gallery.changes.revert(Revert(change_id=change.change_id), who)


# Role 2 is that of administrators, role 3 that of painters; user 7 has the first role, user 8 lost the second.
GRANTS: Final[dict[str, Way]] = {
    "a password": lambda gallery, who: gallery.users.set_password(SetPassword(user_id=7, password="another one"), who),
    "a role": lambda gallery, who: gallery.users.amend(AmendUser(user_id=7, role_id=2), who),
    "a role with less": lambda gallery, who: gallery.users.amend(AmendUser(user_id=7, role_id=3), who),
    "a scope": lambda gallery, who: gallery.roles.amend(AmendRole(role_id=1, scope=("logos:write",)), who),
    "a new role": lambda gallery, who: gallery.roles.create(CreateRole(name="full", scope=("*",)), who),
    "one scope more": lambda gallery, who: gallery.roles.amend(
        AmendRole(role_id=3, scope=("logos:write", "themes:write", "users:read")), who
    ),
    "a role in bulk": bulk({"kind": "user", "id": 7, "version": 99, "set": {"role_id": 2}}),
    "a scope in bulk": bulk({"kind": "role", "id": 1, "version": 99, "set": {"scope": ["*"]}}),
    "a new user with a role": lambda gallery, who: gallery.users.create(
        CreateUser(user_id=9, username="nine", role_id=2, password="a password"), who
    ),
    "a new user with a role in bulk": bulk(
        {"kind": "user", "create": {"user_id": 9, "username": "nine", "password": "a password"}},
        {"kind": "user", "id": 9, "version": 99, "set": {"role_id": 2}},
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
    "a new user": lambda gallery, who: gallery.users.create(
        CreateUser(user_id=9, username="nine", password="a password"), who
    ),
    "a new user in bulk": bulk(
        {"kind": "user", "create": {"user_id": 9, "username": "nine", "password": "a password"}}
    ),
    "a new role": lambda gallery, who: gallery.roles.create(CreateRole(name="empty", scope=()), who),
    "a name": lambda gallery, who: gallery.users.amend(AmendUser(user_id=7, username="anna"), who),
    "the role again": lambda gallery, who: gallery.users.amend(AmendUser(user_id=7, role_id=1), who),
    "a scope less": lambda gallery, who: gallery.roles.amend(AmendRole(role_id=3, scope=("logos:write",)), who),
    "a role's name": lambda gallery, who: gallery.roles.amend(AmendRole(role_id=3, name="draughtsman"), who),
    "a removal": lambda gallery, who: gallery.users.remove(RemoveUser(user_id=7), who),
    "the own password": lambda gallery, who: gallery.users.set_password(
        SetPassword(user_id=2_000_000_000, password="another one", current_password=ADMIN_PASSWORD), who
    ),
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
    with pytest.raises(RecentSignInRequired):
        way(gallery, admin)
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
def test_callers_without_a_session_are_not_asked(gallery_with_history: LogoAdmin, way: Way, who: Caller) -> None:
    # Without a token, only some of them are open to anybody.
    with nullcontext() if who is OWNER else suppress(NotAuthenticated, NotPermitted):
        way(gallery_with_history, who)
