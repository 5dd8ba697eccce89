"""The last administrator who can sign in is never locked out (contract B4, O4, O6)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from pyotp import TOTP

from logoadmin import AmendRole, AskPasskey, BeginPasskey, CreateRole, ImportRecords, Revert, SignIn, SignInWithFactor
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.changes.notices import Notices
from logoadmin.domain.identity.factors import ConfirmTotp, EnrolTotp, RemoveFactor, RemoveUserFactors
from logoadmin.domain.identity.sign_in_rules import SecondFactorPolicy, SignInRules, Ways
from logoadmin.domain.identity.users import AmendUser, RemoveUser, SetPassword
from logoadmin.domain.kernel.access import ALL_RIGHTS, Policy, SignedIn
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import Conflict, LogoAdminError, NotPermitted, SecondFactorRequired
from logoadmin.domain.kernel.kinds import ROLES, USERS
from logoadmin.domain.kernel.records import PasswordHash, User
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork, close, identity_in
from logoadmin.domain.logo_admin import LogoAdmin, auditing
from logoadmin.domain.public_url import LOCAL
from logoadmin.ports.identity_storage import Session
from logoadmin.ports.sign_in_storage import Factor, Identity
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.conftest import STORAGES
from tests.domain.identity.sign_ins import key_of
from tests.domain.identity.test_passkeys import enrolment, sign_in
from tests.gallery import ADMIN_ID, ADMIN_PASSWORD, NOW, FrozenClock, ask, failure, gallery_on, history, signed_in
from tests.options import LONG
from tests.passkeys import Authenticator, encoded

pytestmark = pytest.mark.rule("contract B4", "contract O4")

ISSUER: Final = "https://issuer.test"
PASSWORD, PASSKEY, AT_ISSUER = Ways(True, False), Ways(False, True), Ways(False, False, ISSUER)
EVERY: Final = Ways(True, True, ISSUER)


def factor(factor_id: int, user_id: int = ADMIN_ID, kind: str = "passkey") -> Factor:
    credential = f"credential {factor_id}" if kind == "passkey" else None
    return Factor(factor_id, user_id, "passkey" if credential else "totp", "x", NOW, "", credential, 0, True, None)


def remove_factors(uow: UnitOfWork, *user_ids: int) -> None:
    for user_id in user_ids:
        for factor in uow.identity.factors.of_user(user_id):
            uow.identity.factors.remove(factor.factor_id, user_id)


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
def test_the_last_usable_factor_of_the_last_administrator_cannot_be_removed(
    ways: Ways, stranded_without_passkey: bool, stranded_without_app: bool, storage: MemoryStorage, clock: FrozenClock
) -> None:
    gallery_with(ways, storage, clock)
    for factor_id, is_stranded in ((1, stranded_without_passkey), (2, stranded_without_app)):
        storage.write(lambda uow: remove_factors(uow, ADMIN_ID))
        enrol(storage, factor(1), factor(2, kind="totp"))
        before = storage.read(lambda uow: uow.identity.factors.of_user(ADMIN_ID))
        if is_stranded:
            with pytest.raises(Conflict, match="no user who holds"):
                change(storage, ways, removes(factor_id))
        else:
            change(storage, ways, removes(factor_id))
        assert (storage.read(lambda uow: uow.identity.factors.of_user(ADMIN_ID)) == before) == is_stranded


@pytest.mark.parametrize("ways", [EVERY, PASSWORD, PASSKEY, AT_ISSUER])
def test_an_administrator_may_go_if_another_can_sign_in(ways: Ways, storage: MemoryStorage, clock: FrozenClock) -> None:
    gallery = gallery_with(ways, storage, clock)
    if ways.passkey:
        enrol(storage, factor(1))
    know(storage)
    gallery.import_export.load(ImportRecords(), [user_line(2)])
    assert failure(gallery.users.remove, RemoveUser(user_id=ADMIN_ID)) is Conflict
    assert failure(gallery.users.amend, AmendUser(user_id=ADMIN_ID, role_id=1)) is Conflict
    assert failure(gallery.roles.amend, AmendRole(role_id=2, scope=())) is Conflict
    know(storage, 9, "https://other.test")
    assert failure(gallery.users.remove, RemoveUser(user_id=ADMIN_ID)) is Conflict
    if ways is PASSWORD:
        storage.write(lambda uow: uow.identity.passwords.set(9, PasswordHash("x")))
    elif ways is AT_ISSUER:
        know(storage, 9)
    else:
        enrol(storage, factor(2, 9))
    gallery.users.remove(RemoveUser(user_id=ADMIN_ID))
    assert gallery.has_administrator()
    assert failure(gallery.users.remove, RemoveUser(user_id=9)) is Conflict


@pytest.mark.parametrize("kind", STORAGES)
def test_two_administrators_cannot_both_leave_at_once(request: pytest.FixtureRequest, kind: str) -> None:
    """One of them loses their passkey while the other does as well, or is demoted."""
    storage: Storage = request.getfixturevalue(f"{kind}_storage")
    gallery = gallery_with(PASSKEY, storage, FrozenClock())
    gallery.import_export.load(ImportRecords(), [user_line(2)])
    for number, other in enumerate((RemoveUserFactors(user_id=9), AmendUser(user_id=9, role_id=1)) * 3):
        gallery.users.amend(AmendUser(user_id=9, role_id=2))
        storage.write(lambda uow: remove_factors(uow, ADMIN_ID, 9))
        enrol(storage, factor(2 * number + 1), factor(2 * number + 2, 9))
        with ThreadPoolExecutor(2) as threads:
            found = threads.map(partial(failure, ask, gallery), [RemoveUserFactors(user_id=ADMIN_ID), other])
            assert {*found} == {None, Conflict}
        assert gallery.has_administrator()


@pytest.mark.rule("contract C5")
def test_a_key_cannot_give_rights_to_users_without_a_password(storage: MemoryStorage, clock: FrozenClock) -> None:
    """Their sessions, such as those opened by a link, would outlive the key."""
    gallery = gallery_with(EVERY, storage, clock)
    writer = signed_in(storage, "users:write", "logos:write", user_id=500)
    role = gallery.roles.create(CreateRole(name="painter", scope=("logos:write",)))
    gallery.import_export.load(ImportRecords(), [user_line(1)])
    raised = AmendUser(user_id=9, role_id=role.role_id)
    assert failure(gallery.users.amend, raised, key_of(gallery, writer, "users:write", "logos:write")) is NotPermitted
    gallery.users.amend(raised, writer)


NEW_PASSWORD: Final = "another password"
USER_IDS: Final = st.sampled_from([ADMIN_ID, 1, 2])
WAYS: Final = st.builds(Ways, st.booleans(), st.booleans(), st.sampled_from([None, ISSUER]))
POLICIES: Final = st.sampled_from(["optional", "required"])
COMMANDS: Final = (
    st.builds(AmendUser, user_id=USER_IDS, role_id=st.sampled_from([1, 2]))
    | st.builds(AmendRole, role_id=st.sampled_from([1, 2]), scope=st.sampled_from([(), ("*",), ("users:write",)]))
    | st.builds(RemoveUser, user_id=USER_IDS)
)


class NeverStranded(RuleBasedStateMachine):
    """Administrators and others gain and lose factors, passwords, roles and settings."""

    def __init__(self) -> None:
        super().__init__()
        self.storage, self.clock = MemoryStorage(), FrozenClock()
        self.passwords = {ADMIN_ID: ADMIN_PASSWORD}
        self.secrets: dict[int, str] = {}
        self.devices: dict[str, Authenticator] = {}
        self.sessions = 0
        self.ways = Ways()
        self.gallery: LogoAdmin = gallery_on(self.storage, self.clock, Policy.GUARDED)
        for user_id in (1, 2):
            self.add(user_id)

    # The credentials that users have.

    def add(self, user_id: int) -> None:
        line = f'{{"kind": "user", "user_id": {user_id}, "username": "user {user_id}", "avatar": null, "role_id": 2}}'
        self.gallery.import_export.load(ImportRecords(), [line])

    def session(self, user_id: int) -> SignedIn:
        """Return a user who has just signed in, by any method."""
        self.sessions += 1
        name, now = f"session {self.sessions}", self.clock.now()
        if self.exists(user_id):
            self.storage.write(lambda uow: uow.identity.sessions.add(Session(name, user_id, now, now + 3600)))
        return SignedIn(user_id, name)

    def exists(self, user_id: int) -> bool:
        return self.storage.read(lambda uow: uow.records(USERS).get(user_id)) is not None

    def factors(self, user_id: int) -> tuple[Factor, ...]:
        return self.storage.read(lambda uow: uow.identity.factors.of_user(user_id))

    def administrators(self) -> list[User]:
        def work(uow: UnitOfWork) -> list[User]:
            all_: dict[int, bool] = {role.role_id: "*" in role.scope for role in uow.records(ROLES).page(-1, 99)}
            return [user for user in uow.records(USERS).page(-1, 99) if all_[user.role_id]]

        return self.storage.read(work)

    def gets_in(self, user: User) -> bool:
        """Try to sign a user in with every credential except recovery codes."""
        self.clock.pass_by(30)  # for the next code of each app
        for factor in self.factors(user.user_id):
            if factor.credential is not None and self.ways.passkey and self.uses(self.devices[factor.credential]):
                return True
        if self.ways.password and user.user_id in self.passwords and self.knows_password(user):
            return True
        identities = self.storage.read(lambda uow: uow.identity.identities.of_user(user.user_id))
        return any(identity.issuer == self.ways.issuer for identity in identities)

    def uses(self, device: Authenticator) -> bool:
        asked = self.gallery.passkeys.options(AskPasskey())
        return bool(self.gallery.passkeys.sign_in(sign_in(asked.challenge, device.get(asked.options))))

    def knows_password(self, user: User) -> bool:
        command = SignIn(username=user.username, password=self.passwords[user.user_id])
        try:
            return bool(self.gallery.sessions.sign_in(command))
        except SecondFactorRequired as required:
            challenge, kinds = required.challenge, required.factors
        apps = [factor for factor in self.factors(user.user_id) if factor.kind == "totp" and factor.confirmed]
        if "totp" not in kinds:
            assert not apps
            return False
        code = TOTP(self.secrets[apps[0].factor_id]).at(self.clock.now())
        return bool(self.gallery.factors.sign_in(SignInWithFactor(challenge=challenge, totp=code)))

    # What happens.

    def does(self, work: Callable[[], object]) -> None:
        """Make a change through the interface, refused or not: it locks nobody out."""
        before = self.gallery.has_administrator()
        with suppress(LogoAdminError):
            work()
        # A restored user, as after an undo, has no password.
        self.passwords = {id_: password for id_, password in self.passwords.items() if self.exists(id_)}
        assert self.gallery.has_administrator() or not before, "nobody who may do everything gets in any more"

    @rule(user_id=USER_IDS)
    def enrols_app(self, user_id: int) -> None:
        def work() -> None:
            who = self.session(user_id)
            made = self.gallery.factors.enrol_totp(EnrolTotp(name="Phone"), who)
            self.secrets[made.factor_id] = made.secret
            code = TOTP(made.secret).at(self.clock.now())
            self.gallery.factors.confirm_totp(ConfirmTotp(factor_id=made.factor_id, code=code), who)

        self.does(work)

    @rule(user_id=USER_IDS)
    def enrols_passkey(self, user_id: int) -> None:
        def work() -> None:
            who, device = self.session(user_id), Authenticator(site=LOCAL)
            begun = self.gallery.passkeys.begin(BeginPasskey(), who)
            self.devices[encoded(device.credential_id)] = device
            self.gallery.passkeys.enrol(enrolment(begun.challenge, device.create(begun.options)), who)

        self.does(work)

    @rule(user_id=USER_IDS, which=st.integers(0, 3))
    def removes_own(self, user_id: int, which: int) -> None:
        factors = self.factors(user_id)
        if factors:
            command = RemoveFactor(factor_id=factors[which % len(factors)].factor_id)
            self.does(lambda: self.gallery.factors.remove(command, self.session(user_id)))

    @rule(user_id=USER_IDS, by=st.none() | USER_IDS)
    def loses_all_factors(self, user_id: int, by: int | None) -> None:
        command = RemoveUserFactors(user_id=user_id)
        if by is None:
            self.does(lambda: self.gallery.factors.remove_all(command))
        else:
            self.does(lambda: self.gallery.factors.remove_all(command, self.session(by)))

    @rule(user_id=USER_IDS)
    def gets_password(self, user_id: int) -> None:
        def work() -> None:
            self.gallery.users.set_password(SetPassword(user_id=user_id, password=NEW_PASSWORD))
            self.passwords[user_id] = NEW_PASSWORD

        self.does(work)

    @rule(user_id=USER_IDS)
    def comes_from_the_issuer(self, user_id: int) -> None:
        if self.exists(user_id):
            identity = Identity(ISSUER, f"sub {user_id}", user_id, "[]")
            self.storage.write(lambda uow: uow.identity.identities.put(identity))

    @rule(commands=st.lists(COMMANDS, min_size=1, max_size=3))
    def rights_change(self, commands: list[Command]) -> None:
        for command in commands:
            self.does(partial(ask, self.gallery, command))

    @rule(back=st.integers(0, 5))
    def is_undone(self, back: int) -> None:
        last = history(self.gallery)[-1].change_id
        self.does(lambda: self.gallery.changes.revert(Revert(change_id=max(1, last - back))))

    @rule(ways=WAYS, policy=POLICIES)
    def settings_change(self, ways: Ways, policy: SecondFactorPolicy) -> None:
        """Settings cannot be refused; ``serve`` and ``doctor`` report that they lock everybody out."""
        rules = SignInRules(second_factor=policy, ways=ways)
        self.ways = ways
        passkeys: Any = None if ways.passkey else "Passkeys are switched off"
        self.gallery = gallery_on(
            self.storage, self.clock, Policy.GUARDED, started=False, sign_in=rules, passkeys=passkeys
        )

    @invariant()
    def check_whether_an_administrator_can_sign_in(self) -> None:
        assert self.gallery.has_administrator() == any(map(self.gets_in, self.administrators()))


TestNeverStranded = NeverStranded.TestCase
TestNeverStranded.settings = settings(stateful_step_count=40 if LONG else 25, max_examples=200 if LONG else 10)
