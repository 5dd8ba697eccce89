"""The preview of a change of a role (contract J7)."""

import pytest

from logoadmin import AmendUser, ApplyChanges, BulkChange, CreateUser, GetUser, ImportRecords, Kind, ListChanges, Role
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.identity.roles import AffectedUser, AmendRole, GetRole, RoleEffect
from logoadmin.domain.kernel.errors import Conflict, DuplicateUpdate, InvalidInput, NotFound, NotPermitted, Outdated
from logoadmin.domain.logo_admin import LogoAdmin
from tests.gallery import FrozenClock, gallery_on, if_match, signed_in, stock

pytestmark = pytest.mark.rule("contract J7")


@pytest.fixture
def stocked(storage: MemoryStorage) -> LogoAdmin:
    """A gallery in which users 7 and 8 have role 3."""
    gallery = stock(gallery_on(storage, FrozenClock()))
    gallery.users.create(CreateUser(user_id=8, username="eve", password="a password"))
    for user_id in (7, 8):
        gallery.users.amend(AmendUser(user_id=user_id, role_id=3))
    gallery.roles.amend(AmendRole(role_id=3, name="painter", scope=("logos:write", "themes:write")))
    return gallery


def test_a_preview_lists_gains_and_losses_by_user_and_changes_nothing(stocked: LogoAdmin) -> None:
    before, known = stocked.roles.get(GetRole(role_id=3)), stocked.changes.version()
    after = ("logos:write", "shop:orders", "authors:write")
    effect = stocked.roles.preview(AmendRole(role_id=3, name="brush", scope=after))
    users = tuple(
        AffectedUser(user_id, name, ("shop:orders", "authors:write"), ("themes:write",))
        for user_id, name in ((7, stocked.users.get(GetUser(user_id=7)).username), (8, "eve"))
    )
    assert effect == RoleEffect(Role(3, "brush", after, before.created_at), users)
    assert stocked.roles.get(GetRole(role_id=3)) == before
    assert stocked.changes.version() == known
    assert stocked.roles.amend(AmendRole(role_id=3, name="brush", scope=after, dry_run=True)) == effect.role
    assert stocked.changes.version() == known == stocked.changes.list(ListChanges()).version


def test_users_who_neither_gain_nor_lose_are_omitted(stocked: LogoAdmin) -> None:
    for values in ({}, {"name": "brush"}, {"scope": ("themes:write", "logos:write")}):
        assert stocked.roles.preview(AmendRole(role_id=3, **values)).users == ()
    # Everything includes each scope.
    (first, _) = stocked.roles.preview(AmendRole(role_id=3, scope=("*", "logos:write"))).users
    assert (first.gains, first.loses) == (("*",), ())


def test_a_preview_is_refused_like_the_change_itself(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    editor = signed_in(storage, "users:read", "logos:write", user_id=500)
    keeper = signed_in(storage, "roles:write", "themes:write", "logos:write", user_id=501)
    refused = [
        (AmendRole(role_id=3, name="x"), editor, NotPermitted),
        (AmendRole(role_id=3, scope=("*",)), keeper, NotPermitted),
        (AmendRole(role_id=2, scope=()), keeper, NotPermitted),
        (AmendRole(role_id=99, name="x"), keeper, NotFound),
        (if_match(AmendRole(role_id=3, name="x"), 0), keeper, Outdated),
        (AmendRole(role_id=3, name="member"), keeper, DuplicateUpdate),
    ]
    for command, caller, error in refused:
        for call in (stocked.roles.preview, stocked.roles.amend):
            with pytest.raises(error):
                call(command, caller)
    for call in (stocked.roles.preview, stocked.roles.amend):
        with pytest.raises(Conflict, match="would leave no user who holds"):
            call(AmendRole(role_id=2, scope=("users:read",)))
    assert len(stocked.roles.preview(AmendRole(role_id=3, scope=()), keeper).users) == 2


def test_bulk_changes_have_no_preview_option(stocked: LogoAdmin) -> None:
    version = stocked.roles.get(GetRole(role_id=3)).version
    change = BulkChange(kind=Kind.ROLE, id=3, version=version, set={"dry_run": True})
    with pytest.raises(InvalidInput) as raised:
        stocked.bulk.apply(ApplyChanges(changes=(change,)))
    assert [problem.type for problem in raised.value.problems] == ["extra_forbidden"]


def test_a_preview_lists_every_user_of_a_large_role(stocked: LogoAdmin) -> None:
    ids = range(1000, 1600)
    lines = (
        f'{{"kind": "user", "user_id": {id_}, "username": "user {id_}", "avatar": null, "role_id": 3}}' for id_ in ids
    )
    stocked.import_export.load(ImportRecords(), lines)
    found = stocked.roles.preview(AmendRole(role_id=3, scope=())).users
    assert [user.user_id for user in found] == [7, 8, *ids]
