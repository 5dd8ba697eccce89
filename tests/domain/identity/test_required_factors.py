"""Second factors that everybody must have, or all administrators (contract O4)."""

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.identity.factors import passkeys
from logoadmin.domain.identity.factors.enrolment import enrol_by as enrol_by_of
from logoadmin.domain.identity.factors.factors import (
    ConfirmTotp,
    CountRecoveryCodes,
    EnrolTotp,
    ListFactors,
    MakeRecoveryCodes,
    RemoveFactor,
)
from logoadmin.domain.identity.roles import AmendRole
from logoadmin.domain.identity.service_keys import CreateKey
from logoadmin.domain.identity.sessions import sessions
from logoadmin.domain.identity.sessions.session_records import Tokens
from logoadmin.domain.identity.sessions.sessions import WhoAmI
from logoadmin.domain.identity.sign_in_rules import SecondFactorPolicy, SignInRules
from logoadmin.domain.identity.users import AmendUser, GetUser
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.access import PUBLIC, Policy, Scope, SignedIn
from logoadmin.domain.logo_admin import LogoAdmin
from tests.domain.identity.second_factors import challenged, code_of, enrol, enrolled, second_step
from tests.domain.identity.sign_ins import ADMIN, ANN, caller, refresh
from tests.domain.undone import error_of
from tests.gallery import ADMIN_ID, ASKED, NOW, FrozenClock, gallery_on, right_to, stock

pytestmark = pytest.mark.rule("contract O4")

DAY = 86_400
WEEK = 7 * DAY


def under(storage: MemoryStorage, clock: FrozenClock, policy: SecondFactorPolicy, days: int = 7) -> LogoAdmin:
    """Return a service on the same storage under a setting."""
    return gallery_on(storage, clock, started=False, sign_in=SignInRules(second_factor=policy, grace_days=days))


@pytest.fixture
def required(stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> LogoAdmin:
    """A stocked gallery where everybody must have a second factor."""
    del stocked
    return under(storage, clock, "required")


def enrol_by(gallery: LogoAdmin, tokens: Tokens) -> int | None:
    return gallery.sessions.me(WhoAmI(), caller(gallery, tokens)).enrol_by


def is_restricted(gallery: LogoAdmin, who: SignedIn) -> bool:
    try:
        gallery.users.get(GetUser(user_id=who.user_id), who)
    except errors.EnrolmentRequired as error:
        return str(error) == "A second factor must be enrolled"
    return False


def test_by_default_nobody_is_reminded(stocked: LogoAdmin) -> None:
    assert enrol_by(stocked, stocked.sessions.sign_in(ADMIN)) is None


def test_in_the_days_of_grace_there_is_nothing_but_a_reminder(required: LogoAdmin, clock: FrozenClock) -> None:
    for passed in (0, DAY, WEEK - DAY - 1):
        clock.pass_by(passed)
        tokens = required.sessions.sign_in(ADMIN)
        assert enrol_by(required, tokens) == NOW + WEEK
        assert not is_restricted(required, caller(required, tokens))
        required.users.amend(AmendUser(user_id=7, avatar=f"{passed}.png"), caller(required, tokens))


def test_afterwards_a_session_can_only_enrol(required: LogoAdmin, clock: FrozenClock) -> None:
    open_since = required.sessions.sign_in(ADMIN)
    clock.pass_by(WEEK - 1)
    assert not is_restricted(required, caller(required, refresh(required, open_since)))
    later = required.sessions.sign_in(ADMIN)
    clock.pass_by(1)
    assert is_restricted(required, caller(required, later))
    tokens = required.sessions.sign_in(ADMIN)
    assert enrol_by(required, tokens) == NOW + WEEK
    who = caller(required, tokens)
    assert is_restricted(required, who)
    _, factor = enrol(required, who, clock.now())
    assert len(factor.recovery_codes or ()) == 10
    assert enrol_by(required, tokens) is None
    assert not is_restricted(required, who)
    with pytest.raises(errors.InvalidToken):  # the first factor ends the other sessions
        is_restricted(required, caller(required, later))
    assert enrol_by(required, refresh(required, tokens)) is None


# Written by hand; everything else is refused. Public reads need no token, and are as before.
ALLOWED = {
    *(ListFactors, EnrolTotp, ConfirmTotp, CountRecoveryCodes, MakeRecoveryCodes, passkeys.BeginPasskey),
    *(passkeys.EnrolPasskey, sessions.WhoAmI, sessions.Revoke),
}


@pytest.mark.parametrize("policy", list(Policy))
def test_such_a_session_can_do_nothing_else(clock: FrozenClock, policy: Policy) -> None:
    """Even with every right."""
    gallery = gallery_on(MemoryStorage(), clock, policy, sign_in=SignInRules(second_factor="required", grace_days=0))
    stock(gallery)
    who = caller(gallery, gallery.sessions.sign_in(ADMIN))
    for kind in (kind for kind in ASKED if right_to(kind) != PUBLIC):
        error = error_of(gallery, kind, who)
        assert isinstance(error, errors.EnrolmentRequired) == (kind not in ALLOWED), kind
        assert not isinstance(error, errors.NotPermitted) or isinstance(error, errors.EnrolmentRequired), kind


@pytest.mark.parametrize(
    "scope", [(), ("changes:read",), ("proposals:write",), ("users:read", "roles:read"), ("forum:write",)]
)
def test_who_may_change_nothing_is_no_administrator(
    stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock, scope: tuple[str, ...]
) -> None:
    stocked.roles.amend(AmendRole(role_id=1, scope=scope))
    gallery = under(storage, clock, "required_for_admins", 0)
    assert enrol_by(gallery, gallery.sessions.sign_in(ANN)) is None


@pytest.mark.parametrize(
    "scope", [each for each in Scope if each == "*" or (each.endswith("s:write") and each != "proposals:write")]
)
def test_who_may_change_is_an_admin(
    stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock, scope: Scope
) -> None:
    stocked.roles.amend(AmendRole(role_id=1, scope=("changes:read", scope.value)))
    gallery = under(storage, clock, "required_for_admins", 0)
    tokens = gallery.sessions.sign_in(ANN)
    assert enrol_by(gallery, tokens) == NOW
    assert is_restricted(gallery, caller(gallery, tokens))


def test_a_new_role_counts_at_the_next_refresh(stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    gallery = under(storage, clock, "required_for_admins", 1)
    tokens = gallery.sessions.sign_in(ANN)
    stocked.users.amend(AmendUser(user_id=7, role_id=2))
    assert enrol_by(gallery, tokens) is None
    tokens = refresh(gallery, tokens)
    assert enrol_by(gallery, tokens) == NOW + DAY
    stocked.users.amend(AmendUser(user_id=7, role_id=1))
    assert enrol_by(gallery, refresh(gallery, tokens)) is None


def test_an_older_session_makes_no_stronger_key(stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    gallery = under(storage, clock, "required_for_admins", 0)
    stocked.roles.amend(AmendRole(role_id=1, scope=()))
    who = caller(gallery, gallery.sessions.sign_in(ANN))
    gallery.keys.create(CreateKey(name="nothing", scope=()), who)
    stocked.users.amend(AmendUser(user_id=7, role_id=2))
    with pytest.raises(errors.EnrolmentRequired):
        gallery.keys.create(CreateKey(name="everything", scope=("*",)), who)
    with pytest.raises(errors.EnrolmentRequired):
        gallery.keys.create(CreateKey(name="nothing", scope=()), who)
    # With some days of grace, it may.
    graceful = under(storage, clock, "required_for_admins", 1)
    graceful.keys.create(CreateKey(name="everything", scope=("*",)), who)


def test_switching_it_on_and_off_reaches_sessions_at_their_next_refresh(
    stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock
) -> None:
    tokens = stocked.sessions.sign_in(ADMIN)
    clock.pass_by(DAY)
    on = under(storage, clock, "required")
    tokens = refresh(stocked, tokens)
    assert enrol_by(on, tokens) is None
    tokens = refresh(on, tokens)
    assert enrol_by(on, tokens) == NOW + DAY + WEEK
    clock.pass_by(WEEK)
    assert is_restricted(on, caller(on, refresh(on, on.sessions.sign_in(ADMIN))))
    tokens = refresh(on, tokens)
    off = under(storage, clock, "optional")
    assert is_restricted(off, caller(off, tokens))  # for the lifetime of an access token at most
    tokens = refresh(off, tokens)
    assert not is_restricted(off, caller(off, tokens))
    # The grace was used up the first time.
    tokens = refresh(on, tokens)
    assert is_restricted(on, caller(on, tokens))


def test_more_days_of_grace_begin_as_before(stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    del stocked
    tokens = under(storage, clock, "required", 1).sessions.sign_in(ADMIN)
    clock.pass_by(3 * DAY)
    longer = under(storage, clock, "required", 30)
    assert enrol_by(longer, refresh(longer, tokens)) == NOW + 30 * DAY


def test_enrolling_and_removing_gains_no_grace(required: LogoAdmin, clock: FrozenClock) -> None:
    """The last factor is removed while one is required."""
    who, totp, codes = enrolled(required, ADMIN)
    clock.pass_by(2 * WEEK)
    tokens = second_step(required, challenged(required, ADMIN), totp=code_of(totp, clock.now()))
    assert enrol_by(required, tokens) is None
    fresh = caller(required, tokens)
    required.factors.remove(RemoveFactor(factor_id=totp.factor_id), fresh)
    tokens = refresh(required, tokens)
    assert enrol_by(required, tokens) == NOW + WEEK
    assert is_restricted(required, caller(required, tokens))
    assert is_restricted(required, caller(required, required.sessions.sign_in(ADMIN)))
    with pytest.raises(errors.EnrolmentRequired):
        required.factors.remove(RemoveFactor(factor_id=totp.factor_id), caller(required, tokens))
    enrol(required, caller(required, tokens), clock.now())
    assert not is_restricted(required, caller(required, tokens))
    assert codes
    assert who.user_id == ADMIN_ID


def test_who_is_restricted_must_be_recent(stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    del stocked
    gallery = under(storage, clock, "required", 0)
    who = caller(gallery, gallery.sessions.sign_in(ADMIN))
    clock.pass_by(601)
    with pytest.raises(errors.RecentSignInRequired):
        gallery.factors.enrol_totp(EnrolTotp(name="Phone"), who)
    with pytest.raises(errors.EnrolmentRequired):  # a sign-in would not be enough
        gallery.keys.create(CreateKey(name="script", scope=()), who)


def test_service_keys_are_not_concerned(stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    made = stocked.keys.create(CreateKey(name="script", scope=("*",)), caller(stocked, stocked.sessions.sign_in(ADMIN)))
    gallery = under(storage, clock, "required", 0)
    gallery.sessions.sign_in(ADMIN)
    gallery.users.amend(AmendUser(user_id=7, avatar=None), gallery.sessions.caller(made.key))


def test_a_sign_in_at_the_issuer_is_the_issuers_business(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    del stocked
    rules = SignInRules(second_factor="required", grace_days=0)
    tokens = storage.write(
        lambda uow: [enrol_by_of(uow, 7, (), factor, rules, NOW) for factor in ("issuer", "sign_in_code")]
    )
    assert tokens == [None, NOW]


@pytest.mark.rule("contract K7")
def test_no_grace_lasts_as_a_clock_was_ahead(stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    del stocked
    gallery = under(storage, clock, "required")
    clock.pass_by(10**8)
    tokens = gallery.sessions.sign_in(ADMIN)
    assert enrol_by(gallery, tokens) == NOW + 10**8 + WEEK
    clock.pass_by(-(10**8))
    tokens = refresh(gallery, tokens)
    assert enrol_by(gallery, tokens) == NOW + WEEK
    clock.pass_by(WEEK)
    assert is_restricted(gallery, caller(gallery, refresh(gallery, tokens)))
