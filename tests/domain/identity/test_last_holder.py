"""The last user who holds everything and can sign in is never stranded (contract B4, O4)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes.import_export import ImportRecords
from logoadmin.domain.changes.notices import Notices
from logoadmin.domain.identity.factors import RemoveUserFactors
from logoadmin.domain.identity.roles import AmendRole, CreateRole
from logoadmin.domain.identity.service_keys import CreateKey
from logoadmin.domain.identity.sign_in_rules import SignInRules, Ways
from logoadmin.domain.identity.users import AmendUser, RemoveUser
from logoadmin.domain.kernel.access import ALL_RIGHTS, KeyHolder, Policy
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import Conflict, NotPermitted
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.records import PasswordHash
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, close, identity_in
from logoadmin.domain.logo_admin import LogoAdmin, auditing
from logoadmin.ports.sign_in_storage import Factor, Identity
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.conftest import STORAGES
from tests.gallery import ADMIN_ID, NOW, FrozenClock, ask, gallery_on, signed_in

pytestmark = pytest.mark.rule("contract B4", "contract O4")

ISSUER: Final = "https://issuer.test"
PASSWORD, PASSKEY, AT_ISSUER = Ways(True, False), Ways(False, True), Ways(False, False, ISSUER)
EVERY: Final = Ways(True, True, ISSUER)


def factor(factor_id: int, user_id: int = ADMIN_ID, kind: str = "passkey") -> Factor:
    credential = f"credential {factor_id}" if kind == "passkey" else None
    return Factor(factor_id, user_id, "passkey" if credential else "totp", "x", NOW, "", credential, 0, True, None)


def enrol(storage: Storage, *factors: Factor) -> None:
    def work(uow: UnitOfWork) -> None:
        for each in factors:
            uow.identity.factors.add(each)

    storage.write(work)


def know(storage: Storage, user_id: int = ADMIN_ID, issuer: str = ISSUER) -> None:
    storage.write(lambda uow: uow.identity.identities.put(Identity(issuer, f"sub {user_id}", user_id, "[]")))


def change(storage: Storage, ways: Ways, work: Callable[[AuditedUnitOfWork], object]) -> None:
    def done(uow: UnitOfWork) -> None:
        audited = AuditedUnitOfWork(uow, auditing(ways, Notices((), "")), NOW, None, ALL_RIGHTS)
        work(audited)
        close(audited)

    storage.write(done)


def removes(factor_id: int) -> Callable[[AuditedUnitOfWork], object]:
    def remove(uow: AuditedUnitOfWork) -> None:
        users = uow.records(USERS)
        users.note_possible_lockout(users.get_existing(ADMIN_ID))
        identity_in(uow).factors.remove(factor_id, ADMIN_ID)

    return remove


def user_line(role_id: int) -> str:
    """The user 9, who has no password."""
    return f'{{"kind": "user", "user_id": 9, "username": "x", "avatar": null, "role_id": {role_id}}}'


def gallery_with(ways: Ways, storage: Storage, clock: FrozenClock) -> LogoAdmin:
    return gallery_on(storage, clock, Policy.GUARDED, sign_in=SignInRules(ways=ways))


@pytest.mark.parametrize(
    ("ways", "stranded_without_passkey", "stranded_without_app"),
    [
        (EVERY, False, False),
        (PASSWORD, False, True),  # the password would lead to a passkey that cannot be used
        (PASSKEY, True, False),
        (AT_ISSUER, False, False),  # they could not sign in before either
    ],
)
def test_the_last_factor_that_lets_the_last_one_in_stays(
    ways: Ways, stranded_without_passkey: bool, stranded_without_app: bool, storage: MemoryStorage, clock: FrozenClock
) -> None:
    gallery_with(ways, storage, clock)
    for factor_id, is_stranded in ((1, stranded_without_passkey), (2, stranded_without_app)):
        storage.write(lambda uow: uow.identity.factors.remove_all(ADMIN_ID))
        enrol(storage, factor(1), factor(2, kind="totp"))
        before = storage.read(lambda uow: uow.identity.factors.of_user(ADMIN_ID))
        if is_stranded:
            with pytest.raises(Conflict, match="no user who holds"):
                change(storage, ways, removes(factor_id))
        else:
            change(storage, ways, removes(factor_id))
        assert (storage.read(lambda uow: uow.identity.factors.of_user(ADMIN_ID)) == before) == is_stranded


def test_somebody_else_who_gets_in_some_way_takes_their_place(storage: MemoryStorage, clock: FrozenClock) -> None:
    for ways in (EVERY, PASSWORD, PASSKEY, AT_ISSUER):
        storage = MemoryStorage()
        gallery = gallery_with(ways, storage, clock)
        if ways.passkey:
            enrol(storage, factor(1))
        know(storage)
        gallery.import_export.load(ImportRecords(), [user_line(2)])
        with pytest.raises(Conflict):
            gallery.users.remove(RemoveUser(user_id=ADMIN_ID))
        with pytest.raises(Conflict):
            gallery.users.amend(AmendUser(user_id=ADMIN_ID, role_id=1))
        with pytest.raises(Conflict):
            gallery.roles.amend(AmendRole(role_id=2, scope=()))
        know(storage, 9, "https://other.test")
        with pytest.raises(Conflict):
            gallery.users.remove(RemoveUser(user_id=ADMIN_ID))
        if ways is PASSWORD:
            storage.write(lambda uow: uow.identity.passwords.set(9, PasswordHash("x")))
        elif ways is AT_ISSUER:
            know(storage, 9)
        else:
            enrol(storage, factor(2, 9))
        gallery.users.remove(RemoveUser(user_id=ADMIN_ID))
        assert gallery.has_administrator()
        with pytest.raises(Conflict):
            gallery.users.remove(RemoveUser(user_id=9))


@pytest.mark.parametrize("kind", STORAGES)
def test_two_who_hold_everything_do_not_both_leave_at_once(request: pytest.FixtureRequest, kind: str) -> None:
    """Each is the last but for the other: one loses their passkey while the other does, or is demoted."""
    storage: Storage = request.getfixturevalue(f"{kind}_storage")
    gallery = gallery_with(PASSKEY, storage, FrozenClock())
    gallery.import_export.load(ImportRecords(), [user_line(2)])
    for number, other in enumerate((RemoveUserFactors(user_id=9), AmendUser(user_id=9, role_id=1)) * 3):
        gallery.users.amend(AmendUser(user_id=9, role_id=2))
        storage.write(lambda uow: (uow.identity.factors.remove_all(ADMIN_ID), uow.identity.factors.remove_all(9)))
        enrol(storage, factor(2 * number + 1), factor(2 * number + 2, 9))

        def run(command: Command) -> bool:
            try:
                ask(gallery, command)
            except Conflict:
                return False
            return True

        with ThreadPoolExecutor(2) as threads:
            assert sorted(threads.map(run, [RemoveUserFactors(user_id=ADMIN_ID), other])) == [False, True]
        assert gallery.has_administrator()


@pytest.mark.rule("contract C5")
@pytest.mark.parametrize("way", ["passkey", "issuer", "another issuer"])
def test_a_key_raises_nobody_who_has_no_password(storage: MemoryStorage, clock: FrozenClock, way: str) -> None:
    """What it grants would outlive it, as with a password."""
    gallery = gallery_with(EVERY, storage, clock)
    writer = signed_in(storage, "users:write", "logos:write", user_id=500)
    role = gallery.roles.create(CreateRole(name="painter", scope=("logos:write",)))
    made = gallery.keys.create(CreateKey(name="script", scope=("users:write", "logos:write")), writer)
    key = gallery.sessions.caller(made.key)
    assert isinstance(key, KeyHolder)
    gallery.import_export.load(ImportRecords(), [user_line(1)])
    raised = AmendUser(user_id=9, role_id=role.role_id)
    gallery.users.amend(raised, key)  # nobody can sign in as this user
    gallery.users.amend(AmendUser(user_id=9, role_id=1))
    if way == "passkey":
        enrol(storage, factor(1, 9))
    else:
        know(storage, 9, ISSUER if way == "issuer" else "https://other.test")
    with pytest.raises(NotPermitted):
        gallery.users.amend(raised, key)
    gallery.users.amend(raised, writer)
