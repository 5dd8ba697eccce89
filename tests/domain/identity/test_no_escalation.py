"""Nobody can raise their own privileges or remove the last administrator (contract B4)."""

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from logoadmin import AmendRole, CreateRole, ExportRecords, ImportRecords, LogoAdmin, RemoveRole, Revert, WhoAmI
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.identity.service_keys import CreateKey, RemoveKey
from logoadmin.domain.identity.users import AmendUser, CreateUser, GetUser, RemoveUser, SetPassword
from logoadmin.domain.kernel.access import OWNER, Caller, KeyHolder, Policy, SignedIn
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import Conflict, InvalidToken, LogoAdminError, NotPermitted
from logoadmin.domain.kernel.kinds import ROLES, USERS
from logoadmin.ports.identity_storage import Session
from logoadmin.ports.storage import Storage
from tests.domain.identity.sign_ins import key_of
from tests.gallery import (
    ADMIN_ID,
    CHEAP_PASSWORDS,
    NOW,
    SOME_PASSWORD,
    FrozenClock,
    ask,
    exported,
    failure,
    gallery_on,
    history,
    signed_in,
    stock,
)
from tests.options import LONG

B4 = pytest.mark.rule("contract B4")
pytestmark = B4

MANAGER: Final = ("users:read", "users:write", "roles:read", "roles:write", "changes:read")


@pytest.fixture
def gallery(storage: MemoryStorage, clock: FrozenClock) -> LogoAdmin:
    """A stocked gallery: role 3, painter, has more rights than a manager; user 7 is a member."""
    return stock(gallery_on(storage, clock, Policy.GUARDED))


@pytest.fixture
def manager(gallery: LogoAdmin, storage: MemoryStorage) -> SignedIn:
    """A caller who may change only users and roles: user 500 with role 4."""
    assert gallery
    return signed_in(storage, *MANAGER, user_id=500)


@pytest.fixture
def painter(manager: SignedIn, storage: MemoryStorage) -> SignedIn:
    """A caller with rights that the manager lacks: user 600 with role 5."""
    assert manager
    return signed_in(storage, "logos:write", user_id=600)


def refused(gallery: LogoAdmin, does: Callable[[], object], error: type[LogoAdminError] = NotPermitted) -> None:
    before = exported(gallery), history(gallery)
    with pytest.raises(error) as caught:
        does()
    assert type(caught.value) is error
    assert (exported(gallery), history(gallery)) == before


def last_change(gallery: LogoAdmin) -> int:
    return history(gallery)[-1].change_id


def admin(gallery: LogoAdmin, storage: Storage) -> SignedIn:
    """Return the administrator with a session."""
    assert gallery
    storage.write(lambda uow: uow.identity.sessions.add(Session("admin's", ADMIN_ID, NOW, NOW + 3600)))
    return SignedIn(ADMIN_ID, "admin's")


@pytest.mark.rule("contract C5")
@pytest.mark.parametrize("scope", [("logos:write",), ("*",), ("users:read", "forum:ban"), ("users", "**")])
def test_callers_cannot_grant_scopes_they_lack(gallery: LogoAdmin, manager: SignedIn, scope: tuple[str, ...]) -> None:
    """Neither to a role nor to a key."""
    refused(gallery, lambda: gallery.roles.create(CreateRole(name="new", scope=scope), manager))
    refused(gallery, lambda: gallery.roles.amend(AmendRole(role_id=4, scope=(*MANAGER, *scope)), manager))
    refused(gallery, lambda: gallery.roles.amend(AmendRole(role_id=1, scope=scope), manager))
    refused(gallery, lambda: gallery.keys.create(CreateKey(name="wide", scope=scope), manager))


def test_callers_may_grant_the_scopes_that_they_hold(gallery: LogoAdmin, manager: SignedIn) -> None:
    role = gallery.roles.create(CreateRole(name="reader", scope=("users:read", "roles:read")), manager)
    gallery.users.amend(AmendUser(user_id=7, role_id=role.role_id), manager)
    gallery.roles.amend(AmendRole(role_id=role.role_id, scope=MANAGER), manager)
    gallery.users.amend(AmendUser(user_id=7, role_id=1), manager)
    gallery.roles.remove(RemoveRole(role_id=role.role_id), manager)


def test_users_may_change_themselves_and_users_with_equal_rights(gallery: LogoAdmin, manager: SignedIn) -> None:
    gallery.users.amend(AmendUser(user_id=7, role_id=4), manager)
    for user_id in (7, 500):
        gallery.users.amend(AmendUser(user_id=user_id, username=f"renamed {user_id}"), manager)
        command = SetPassword(user_id=user_id, password="new", current_password=SOME_PASSWORD)
        gallery.users.set_password(command, manager)
    gallery.users.remove(RemoveUser(user_id=7), manager)
    gallery.users.amend(AmendUser(user_id=500, role_id=1), manager)
    assert failure(gallery.users.amend, AmendUser(user_id=500, role_id=4), manager) is NotPermitted


@pytest.mark.parametrize("access", Policy)
def test_a_token_without_rights_grants_nothing_under_any_policy(storage: MemoryStorage, access: Policy) -> None:
    gallery = stock(gallery_on(storage, FrozenClock(), access))
    nobody = signed_in(storage, user_id=500)
    refused(gallery, lambda: gallery.roles.amend(AmendRole(role_id=3, name="x"), nobody))
    refused(gallery, lambda: gallery.roles.amend(AmendRole(role_id=4, scope=("*",)), nobody))


@pytest.mark.rule("contract C5", "contract B5")
def test_a_key_has_its_scope_and_nothing_else(gallery: LogoAdmin, manager: SignedIn) -> None:
    key = key_of(gallery, manager, "users:write")
    gallery.users.amend(AmendUser(user_id=7, username="renamed"), key)
    refused(gallery, lambda: gallery.roles.create(CreateRole(name="x", scope=()), key))
    refused(gallery, lambda: gallery.users.get(GetUser(user_id=7), key))
    refused(gallery, lambda: gallery.users.get(GetUser(user_id=500), key))  # the account of its creator is not its own
    # Its creator has more rights than the key.
    refused(gallery, lambda: gallery.users.set_password(SetPassword(user_id=500, password="x"), key))
    refused(gallery, lambda: gallery.users.amend(AmendUser(user_id=7, role_id=4), key))


@pytest.mark.rule("contract C5", "contract B5")
def test_a_key_is_limited_to_the_current_scopes_of_its_creator(gallery: LogoAdmin, manager: SignedIn) -> None:
    key = key_of(gallery, manager, *MANAGER)
    assert gallery.sessions.me(WhoAmI(), key).scope == tuple(sorted(MANAGER))
    gallery.roles.amend(AmendRole(role_id=4, scope=("users:read", "logos:write")))
    assert gallery.sessions.me(WhoAmI(), key).scope == ("users:read",)
    refused(gallery, lambda: gallery.users.amend(AmendUser(user_id=7, username="x"), key))
    gallery.users.amend(AmendUser(user_id=500, role_id=1))
    assert gallery.sessions.me(WhoAmI(), key).scope == ()
    refused(gallery, lambda: gallery.users.get(GetUser(user_id=7), key))


@pytest.mark.rule("contract C5", "contract A19")
@pytest.mark.parametrize("end", ["expired", "removed", "maker removed", "maker restored", "never made"])
def test_expired_keys_do_not_authenticate(gallery: LogoAdmin, manager: SignedIn, clock: FrozenClock, end: str) -> None:
    key = key_of(gallery, manager, *MANAGER, expires_in=60)
    clock.pass_by(59)
    gallery.users.get(GetUser(user_id=7), key)
    if end == "expired":
        clock.pass_by(1)
    elif end == "removed":
        gallery.keys.remove(RemoveKey(key_id=1), manager)
    elif end.startswith("maker"):
        gallery.users.remove(RemoveUser(user_id=500))
        if end == "maker restored":
            gallery.changes.revert(Revert(change_id=last_change(gallery)))
            refused(gallery, lambda: gallery.users.get(GetUser(user_id=7), manager), InvalidToken)
    else:
        key = KeyHolder("0" * 64)
    refused(gallery, lambda: gallery.users.get(GetUser(user_id=7), key), InvalidToken)
    refused(gallery, lambda: gallery.users.amend(AmendUser(user_id=7, username="x"), key), InvalidToken)
    refused(gallery, lambda: gallery.sessions.me(WhoAmI(), key), InvalidToken)


def user_line(user_id: int, role_id: int, **values: str) -> str:
    line = {"kind": "user", "user_id": user_id, "username": f"user {user_id}", "avatar": None, "role_id": role_id}
    return json.dumps(line | values)


def role_line(role_id: int, *scope: str) -> str:
    return json.dumps({"kind": "role", "role_id": role_id, "name": f"role {role_id}", "scope": scope})


def loads(line: str) -> Callable[[LogoAdmin, Caller], object]:
    return lambda gallery, caller: gallery.import_export.load(ImportRecords(), [line], caller)


def asks(command: Command) -> Callable[[LogoAdmin, Caller], object]:
    return lambda gallery, caller: ask(gallery, command, caller)


HASH: Final = {"password_hash": CHEAP_PASSWORDS.hash("known to the script").hash}
# Ways to outlive a key: a user who can sign in with a password or scopes that the key granted. User
# 600 is its creator, 500 a manager, 7 a member; role 5 has every scope, 4 is for managers, 3 for painters.
LIVING_ON: Final[dict[str, Callable[[LogoAdmin, Caller], object]]] = {
    "its creator's password": asks(SetPassword(user_id=600, password="mine")),
    "its creator's hash": loads(user_line(600, 5, **HASH)),
    "its demoted creator's hash": loads(user_line(600, 1, **HASH)),
    "another's password": asks(SetPassword(user_id=500, password="mine")),
    "another's hash": loads(user_line(500, 4, **HASH)),
    "a new manager": loads(user_line(8, 4, **HASH)),
    "a promotion": asks(AmendUser(user_id=7, role_id=4)),
    "a promotion by import": loads(user_line(7, 4)),
    "another direction": asks(AmendUser(user_id=500, role_id=3)),
    "a scope": asks(AmendRole(role_id=4, scope=(*MANAGER, "logos:write"))),
    "a scope for all": asks(AmendRole(role_id=1, scope=("users:read",))),
    "a scope by import": loads(role_line(4, *MANAGER, "logos:write")),
    # Settings name the roles of new users and groups, and another role could get a freed name.
    "a role's name": asks(AmendRole(role_id=3, name="x")),
    "a role's removal": asks(RemoveRole(role_id=3)),
    "a key": asks(CreateKey(name="x", scope=())),
}


@pytest.mark.rule("contract C5")
@pytest.mark.parametrize("way", LIVING_ON)
def test_a_key_cannot_create_access_that_outlives_it(
    gallery: LogoAdmin, manager: SignedIn, storage: MemoryStorage, way: str
) -> None:
    assert manager
    key = key_of(gallery, signed_in(storage, "*", user_id=600), "*", expires_in=60)
    refused(gallery, lambda: LIVING_ON[way](gallery, key))


@pytest.mark.rule("contract C5", "contract G2")
@pytest.mark.parametrize("undone", [AmendUser(user_id=500, role_id=1), AmendRole(role_id=4, scope=())])
def test_a_key_cannot_create_access_that_outlives_it_by_undoing(
    gallery: LogoAdmin, manager: SignedIn, storage: MemoryStorage, undone: AmendUser | AmendRole
) -> None:
    assert manager
    key = key_of(gallery, signed_in(storage, "*", user_id=600), "*", expires_in=60)
    ask(gallery, undone)
    refused(gallery, lambda: gallery.changes.revert(Revert(change_id=last_change(gallery)), key))


@pytest.mark.rule("contract C5")
def test_keys_may_manage_users_with_fewer_rights(gallery: LogoAdmin, manager: SignedIn, storage: MemoryStorage) -> None:
    key = key_of(gallery, signed_in(storage, "*", user_id=600), "*")
    users = gallery.users
    users.create(CreateUser(user_id=8, username="ben", password="x"), key)
    users.set_password(SetPassword(user_id=8, password="y"), key)
    users.amend(AmendUser(user_id=8, username="benny", avatar="b.png"), key)
    gallery.roles.amend(AmendRole(role_id=4, scope=MANAGER[:2]), key)
    users.amend(AmendUser(user_id=manager.user_id, role_id=1), key)
    users.amend(AmendUser(user_id=ADMIN_ID, role_id=3), key)
    # Another caller gives them a password.
    loads(user_line(9, 4))(gallery, key)
    refused(gallery, lambda: users.set_password(SetPassword(user_id=9, password="x"), key))
    loads(role_line(9, "*"))(gallery, key)
    users.remove(RemoveUser(user_id=9), key)


@pytest.mark.rule("contract I2")
def test_only_administrators_import_everything_and_export_hashes(gallery: LogoAdmin, storage: MemoryStorage) -> None:
    scope = (*MANAGER, "authors:write", "themes:write", "logos:write")
    almost = signed_in(storage, *scope, user_id=500)
    line = json.dumps({"kind": "role", "role_id": 4, "name": "x", "scope": ["*"]})
    refused(gallery, lambda: gallery.import_export.load(ImportRecords(), [line], almost))
    refused(gallery, lambda: gallery.import_export.load(ImportRecords(dry_run=True), [line], almost))
    dump = partial(gallery.import_export.dump, ExportRecords(), lambda _: None)
    refused(gallery, lambda: dump(almost, with_password_hashes=True))
    narrow = key_of(gallery, admin(gallery, storage), *scope)
    refused(gallery, lambda: gallery.import_export.load(ImportRecords(), [line], narrow))


@pytest.mark.rule("contract G2")
def test_a_revert_gives_nobody_more_rights(gallery: LogoAdmin, manager: SignedIn, painter: SignedIn) -> None:
    undone = []
    for command in (
        *(AmendUser(user_id=painter.user_id, role_id=1), AmendUser(user_id=painter.user_id, role_id=5)),
        *(AmendRole(role_id=3, scope=()), AmendRole(role_id=3, scope=("logos:write",))),
        *(RemoveUser(user_id=painter.user_id), RemoveRole(role_id=3)),
    ):
        ask(gallery, command)
        undone.append(last_change(gallery))
    demoted, _, weakened, _, user_gone, role_gone = undone
    for change_id in (demoted, weakened, user_gone, role_gone):
        refused(gallery, partial(gallery.changes.revert, Revert(change_id=change_id), manager))
    gallery.users.remove(RemoveUser(user_id=7))
    gallery.changes.revert(Revert(change_id=last_change(gallery)), manager)  # a mere member


# The last user with every scope.


def demotion_by_import(gallery: LogoAdmin, caller: Caller, *, dry_run: bool = False) -> None:
    line = {"kind": "user", "user_id": ADMIN_ID, "username": "admin", "avatar": None, "role_id": 1}
    gallery.import_export.load(ImportRecords(dry_run=dry_run), [json.dumps(line)], caller)


LAST: Final[dict[str, Callable[[LogoAdmin, Caller], object]]] = {
    "removed": asks(RemoveUser(user_id=ADMIN_ID)),
    "demoted": asks(AmendUser(user_id=ADMIN_ID, role_id=3)),
    "suspended": asks(AmendUser(user_id=ADMIN_ID, active=False)),
    "role": asks(AmendRole(role_id=2, scope=("users:write",))),
    "import": demotion_by_import,
    "dry run": partial(demotion_by_import, dry_run=True),
    "revert": asks(Revert(change_id=3)),
}


@pytest.mark.parametrize("way", LAST)
@pytest.mark.parametrize("by", ["owner", "themselves", "key"])
def test_the_last_administrator_cannot_be_lost(gallery: LogoAdmin, storage: MemoryStorage, way: str, by: str) -> None:
    themselves = admin(gallery, storage)
    caller: Caller = OWNER if by == "owner" else themselves
    if by == "key":
        caller = key_of(gallery, themselves, "*")
    refused(gallery, lambda: LAST[way](gallery, caller), Conflict)


@pytest.mark.parametrize("way", [way for way in LAST if way != "dry run"])
def test_one_of_two_administrators_may_go_but_not_both(gallery: LogoAdmin, storage: MemoryStorage, way: str) -> None:
    other = signed_in(storage, "forum:ban", "*", user_id=500)
    LAST[way](gallery, other)
    refused(gallery, lambda: gallery.users.remove(RemoveUser(user_id=500), other), Conflict)
    refused(gallery, lambda: gallery.users.amend(AmendUser(user_id=500, role_id=1), other), Conflict)
    refused(gallery, lambda: gallery.roles.amend(AmendRole(role_id=4, scope=("forum:ban",)), other), Conflict)


def test_without_anyone_who_can_sign_in_there_is_no_last_administrator(clock: FrozenClock) -> None:
    gallery = gallery_on(MemoryStorage(), clock, started=False)
    lines = [role_line(2, "*"), role_line(1), user_line(8, 2), user_line(9, 2)]
    gallery.import_export.load(ImportRecords(), lines)
    gallery.users.amend(AmendUser(user_id=8, username="renamed", role_id=1))
    gallery.roles.amend(AmendRole(role_id=2, scope=("users:write",)))
    gallery.users.remove(RemoveUser(user_id=9))


def test_an_import_may_transfer_all_rights_to_another_user(gallery: LogoAdmin) -> None:
    lines = [
        {"kind": "user", "user_id": ADMIN_ID, "username": "admin", "avatar": None, "role_id": 1},
        {"kind": "user", "user_id": 7, "username": "ann", "avatar": None, "role_id": 2},
    ]
    gallery.import_export.load(ImportRecords(), map(json.dumps, lines))
    refused(gallery, lambda: gallery.users.remove(RemoveUser(user_id=7)), Conflict)


# Any command by any caller.

SCOPES: Final = ("*", "users:write", "roles:write", "logos:write", "authors:write", "forum:ban", "wiki:edit")
USER_IDS: Final = st.sampled_from([ADMIN_ID, 1, 2, 3, 4])
ROLE_IDS: Final = st.integers(1, 6)
SCOPE: Final = st.lists(st.sampled_from(SCOPES), max_size=3, unique=True).map(tuple)
CALLERS: Final = st.integers(0, 30)
COMMANDS: Final = (
    st.builds(CreateRole, name=st.integers(0, 9).map("new {}".format), scope=SCOPE)
    | st.builds(AmendRole, role_id=ROLE_IDS, scope=SCOPE)
    | st.builds(RemoveRole, role_id=ROLE_IDS)
    | st.builds(CreateUser, user_id=USER_IDS, username=st.integers(1, 4).map("user {}".format), password=st.just("pw"))
    | st.builds(AmendUser, user_id=USER_IDS, role_id=ROLE_IDS)
    | st.builds(RemoveUser, user_id=USER_IDS)
)


class Escalation(RuleBasedStateMachine):
    """Users with any roles do anything, with sessions and with keys.

    Scopes come only from callers that hold them: after each step, a changed record has no scope that neither it had
    before nor the caller holds.
    """

    def __init__(self) -> None:
        super().__init__()
        self.storage = MemoryStorage()
        self.clock = FrozenClock()
        self.gallery = gallery_on(self.storage, self.clock, Policy.GUARDED)
        self.callers: list[Caller] = []

    @initialize(roles=st.lists(SCOPE, min_size=4, max_size=4), of=st.lists(ROLE_IDS, min_size=4, max_size=4))
    def begin(self, roles: list[tuple[str, ...]], of: list[int]) -> None:
        for number, scope in enumerate(roles):
            self.gallery.roles.create(CreateRole(name=f"role {number}", scope=scope))
        for user_id, role_id in enumerate(of, 1):
            self.gallery.users.create(CreateUser(user_id=user_id, username=f"user {user_id}", password="pw"))
            self.gallery.users.amend(AmendUser(user_id=user_id, role_id=role_id))
        for user_id in (*range(1, 5), ADMIN_ID):
            self.session(user_id)

    def session(self, user_id: int) -> None:
        name = f"session {len(self.callers)}"
        self.storage.write(lambda uow: uow.identity.sessions.add(Session(name, user_id, NOW, NOW + 3600)))
        self.callers.append(SignedIn(user_id, name))

    def held_by_users(self) -> dict[int, frozenset[str]]:
        """Return the scope of each user, without that of proposals, with which nothing can be changed."""

        def work(uow: Any) -> dict[int, frozenset[str]]:
            users = uow.records(USERS).page(-1, 500)
            roles = {user.user_id: uow.records(ROLES).get(user.role_id) for user in users}
            return {id_: frozenset(role.scope) - {"proposals:write"} for id_, role in roles.items()}

        return self.storage.read(work)

    def held_by_roles(self) -> dict[int, frozenset[str]]:
        return self.storage.read(lambda uow: {r.role_id: frozenset(r.scope) for r in uow.records(ROLES).page(-1, 500)})

    def does(self, caller: int, command: Command) -> None:
        """Run a command of a caller, refused or not, and check the result."""
        who = self.callers[caller % len(self.callers)]
        try:
            scope = frozenset(self.gallery.sessions.me(WhoAmI(), who).scope)
        except InvalidToken:
            scope = frozenset()
        before = self.held_by_users(), self.held_by_roles()
        with suppress(LogoAdminError):
            made = ask(self.gallery, command, who)
            if isinstance(command, CreateKey):
                self.callers.append(self.gallery.sessions.caller(made.key))
        self.judge(scope, *zip(before, (self.held_by_users(), self.held_by_roles()), strict=True))

    @staticmethod
    def judge(scope: frozenset[str], *states: tuple[dict[int, frozenset[str]], dict[int, frozenset[str]]]) -> None:
        """Check that a caller with a scope could make the changes to users and roles."""
        if "*" in scope:
            return
        for before, after in states:
            for id_ in before.keys() | after.keys():
                was, is_ = before.get(id_), after.get(id_)
                if was != is_:
                    assert (was or frozenset()) <= scope, "somebody weaker changed it"
                    assert (is_ or frozenset()) <= scope, "it was handed out by somebody who does not hold it"

    @rule(given=st.lists(st.tuples(CALLERS, COMMANDS), min_size=1, max_size=4))
    def commands(self, given: list[tuple[int, Command]]) -> None:
        for caller, command in given:
            self.does(caller, command)

    @rule(caller=CALLERS, user_id=USER_IDS)
    def take_over(self, caller: int, user_id: int) -> None:
        """Setting the password of a user means becoming that user, who must not have more rights."""
        who = self.callers[caller % len(self.callers)]
        with suppress(LogoAdminError):
            mine = frozenset(self.gallery.sessions.me(WhoAmI(), who).scope)
            command = SetPassword(user_id=user_id, password="taken", current_password="taken")
            self.gallery.users.set_password(command, who)
            assert "*" in mine or self.held_by_users()[user_id] <= mine

    @rule(caller=CALLERS, scope=SCOPE)
    def create_key(self, caller: int, scope: tuple[str, ...]) -> None:
        before = len(self.callers)
        who = self.callers[caller % before]
        self.does(caller, CreateKey(name="key", scope=scope))
        if len(self.callers) > before:
            assert isinstance(who, SignedIn)
            mine, its = (set(self.gallery.sessions.me(WhoAmI(), c).scope) for c in (who, self.callers[-1]))
            assert "*" in mine or its <= mine

    @rule(caller=CALLERS, back=st.integers(0, 8))
    def revert(self, caller: int, back: int) -> None:
        self.does(caller, Revert(change_id=max(0, last_change(self.gallery) - back)))

    @rule(user_id=USER_IDS)
    def sign_in(self, user_id: int) -> None:
        if user_id in self.held_by_users():
            self.session(user_id)

    @invariant()
    def keys_have_no_more_scope_than_their_creator(self) -> None:
        held = self.held_by_users()
        for caller in self.callers:
            if isinstance(caller, KeyHolder):
                with suppress(InvalidToken):
                    me = self.gallery.sessions.me(WhoAmI(), caller)
                    assert "*" in held[me.user_id] or {*me.scope} - {"proposals:write"} <= held[me.user_id]


TestEscalation = Escalation.TestCase
TestEscalation.settings = settings(stateful_step_count=40, max_examples=200 if LONG else 12)
