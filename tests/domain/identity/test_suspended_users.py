"""Suspended users: the effects of a suspension, and who may end it (contract D, B4, C5, O3)."""

from typing import Final

import pytest

from logoadmin import Conflict, InvalidToken, NotPermitted, RecentSignInRequired, Revert, SignInForbidden, SignInRefused
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes.acts import ListActs
from logoadmin.domain.changes.import_export import ImportRecords
from logoadmin.domain.identity.one_time_sign_in import CreateLink, SignInWithLink
from logoadmin.domain.identity.sign_in_events import ListEvents
from logoadmin.domain.identity.users import AmendUser, CreateUser, FindUser, GetUser, ListUsers, SetPassword
from logoadmin.domain.kernel.access import ActingAs, Policy
from logoadmin.domain.kernel.records import Kind
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.ports.storage import Storage
from tests.domain.identity.sign_ins import ADMIN, ANN, caller, key_of, refresh, works, works_as_key
from tests.gallery import ADMIN_ID, ANN_PASSWORD, FrozenClock, exported, failure, gallery_on, history, signed_in, stock

pytestmark = pytest.mark.rule("contract D")

ANN_ID: Final = 7
SUSPENDED: Final = AmendUser(user_id=ANN_ID, active=False)
ACTIVE: Final = AmendUser(user_id=ANN_ID, active=True)


def test_a_suspension_ends_sessions_and_keys_for_good(storage: Storage) -> None:
    gallery = stock(gallery_on(storage, FrozenClock(), Policy.GUARDED))
    gallery.users.amend(AmendUser(user_id=ANN_ID, role_id=2))
    tokens = gallery.sessions.sign_in(ANN)
    key = key_of(gallery, caller(gallery, tokens), "users:read")
    assert works_as_key(gallery, key)
    suspended = gallery.users.amend(SUSPENDED)
    assert (suspended.active, suspended.username, suspended.role_id) == (False, "ann", 2)
    assert gallery.users.get(GetUser(user_id=ANN_ID)) == suspended == gallery.users.find(FindUser(username="ann"))
    assert [user.user_id for user in gallery.users.list(ListUsers()) if not user.active] == [ANN_ID]
    with pytest.raises(SignInForbidden, match=r"^This user is suspended$"):
        gallery.sessions.sign_in(ANN)
    assert failure(refresh, gallery, tokens) is InvalidToken
    assert (works(gallery, tokens), works_as_key(gallery, key)) == (False, False)
    gallery.users.amend(ACTIVE)
    assert (works(gallery, tokens), works_as_key(gallery, key)) == (False, False)
    assert works(gallery, gallery.sessions.sign_in(ANN))


@pytest.mark.rule("contract O9")
def test_a_suspension_and_its_end_are_events_with_their_actor(stocked: LogoAdmin) -> None:
    admin = caller(stocked, stocked.sessions.sign_in(ADMIN))
    stocked.users.amend(AmendUser(user_id=ADMIN_ID, username="Ada"), admin)
    key = key_of(stocked, admin, "users:write")
    for command in (SUSPENDED, SUSPENDED, ACTIVE):  # of which the second changes nothing
        stocked.users.amend(command, admin)
    stocked.users.amend(SUSPENDED, key)
    stocked.users.amend(ACTIVE)
    found = stocked.events.list(ListEvents(user_id=ANN_ID, order="asc"))
    assert [(each.event, each.user_id, each.by_user_id, each.by_user_name) for each in found] == [
        ("suspended", ANN_ID, ADMIN_ID, "Ada"),
        ("suspension_ended", ANN_ID, ADMIN_ID, "Ada"),
        ("suspended", ANN_ID, ADMIN_ID, "Ada"),
        ("suspension_ended", ANN_ID, None, None),
    ]


def test_a_suspension_is_revealed_only_to_the_right_password(stocked: LogoAdmin) -> None:
    stocked.users.amend(SUSPENDED)
    assert failure(stocked.sessions.sign_in, ANN.model_copy(update={"password": f"{ANN_PASSWORD}?"})) is SignInRefused


def test_a_suspended_user_cannot_sign_in_another_way(stocked: LogoAdmin) -> None:
    mia = CreateLink(user_id=1042, username="Mia")
    admin = caller(stocked, stocked.sessions.sign_in(ADMIN))
    link = stocked.links.create(mia, admin).link
    stocked.users.amend(AmendUser(user_id=mia.user_id, active=False))
    with pytest.raises(SignInRefused):  # it ended with the suspension
        stocked.links.sign_in(SignInWithLink(link=link))
    with pytest.raises(Conflict, match=r"^User 1042 is suspended$"):
        stocked.links.create(mia, admin)
    assert failure(stocked.users.get, GetUser(user_id=mia.user_id), ActingAs(mia.user_id)) is NotPermitted
    stocked.users.amend(SUSPENDED)
    stocked.users.set_password(SetPassword(user_id=ANN_ID, password=ANN_PASSWORD))
    assert failure(stocked.sessions.sign_in, ANN) is SignInForbidden


@pytest.mark.rule("contract G", "contract I1")
def test_history_and_exports_have_active_only_for_suspended_users(stocked: LogoAdmin) -> None:
    usual = exported(stocked)
    stocked.users.amend(SUSPENDED)
    change = history(stocked)[-1]
    assert change.before is not None
    assert change.after == {**change.before, "active": False}
    assert "active" not in change.before
    lines = exported(stocked)
    (line,) = [line for line in lines if line not in usual]
    assert '"active": false' in line
    stocked.changes.revert(Revert(change_id=change.change_id))
    assert exported(stocked) == usual
    assert [act.active for act in stocked.acts.list(ListActs(order="desc", limit=2))] == [True, False]
    undone = history(stocked)[-1]
    assert (undone.before, undone.after) == (change.after, change.before)
    assert stocked.import_export.load(ImportRecords(), lines).counts[Kind.USER].amended == 1
    assert not stocked.users.get(GetUser(user_id=ANN_ID)).active
    assert stocked.import_export.load(ImportRecords(), usual).counts[Kind.USER].amended == 1
    assert stocked.users.get(GetUser(user_id=ANN_ID)).active


@pytest.mark.rule("contract B4", "contract O3")
def test_suspending_requires_the_rights_of_the_user_and_reactivating_a_recent_sign_in(
    stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock
) -> None:
    manager = signed_in(storage, "users:read", "users:write")
    importer, active = signed_in(storage, "*", user_id=501), exported(stocked)
    with pytest.raises(NotPermitted):  # of more rights
        stocked.users.amend(AmendUser(user_id=ADMIN_ID, active=False), manager)
    stocked.users.amend(SUSPENDED, manager)
    assert stocked.users.amend(ACTIVE, manager).active
    suspended = stocked.users.amend(SUSPENDED, manager)
    clock.pass_by(601)
    assert failure(stocked.users.amend, ACTIVE, manager) is RecentSignInRequired
    assert failure(stocked.changes.revert, Revert(change_id=suspended.version), manager) is RecentSignInRequired
    assert failure(stocked.import_export.load, ImportRecords(), active, importer) is RecentSignInRequired
    assert stocked.users.amend(AmendUser(user_id=ANN_ID, username="anna"), manager).username == "anna"


@pytest.mark.rule("contract C5")
def test_a_key_reactivates_only_users_with_the_rights_of_new_users(stocked: LogoAdmin) -> None:
    key = key_of(stocked, caller(stocked, stocked.sessions.sign_in(ADMIN)), "*")
    stocked.users.create(CreateUser(user_id=8, username="bob", password="correct horse"))
    for user_id in (ANN_ID, 8):
        stocked.users.amend(AmendUser(user_id=user_id, active=False), key)
    stocked.users.amend(AmendUser(user_id=8, active=True), key)
    stocked.users.amend(AmendUser(user_id=ANN_ID, role_id=2))
    assert failure(stocked.users.amend, ACTIVE, key) is NotPermitted
