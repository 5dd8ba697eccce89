"""Second factors required of every user with write access (contract O4)."""

import pytest

from logoadmin import ConfirmTotp, CountRecoveryCodes, EnrolTotp, ListFactors, MakeRecoveryCodes, RemoveFactor, WhoAmI
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.identity import passkeys, sessions
from logoadmin.domain.identity.roles import AmendRole
from logoadmin.domain.identity.service_keys import CreateKey
from logoadmin.domain.identity.sign_in_rules import SecondFactorPolicy, SignInRules
from logoadmin.domain.identity.users import AmendUser, GetUser
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.access import PUBLIC, Policy, Scope, SignedIn
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.ports.identity_storage import Session
from tests.domain.identity.second_factors import challenged, code_of, enrol, enrolled, second_step
from tests.domain.identity.sign_ins import ADMIN, ANN, caller, refresh
from tests.domain.undone import error_of
from tests.gallery import ADMIN_ID, ASKED, NOW, FrozenClock, failure, gallery_on, right_to, stock

pytestmark = pytest.mark.rule("contract O4")


def under(storage: MemoryStorage, clock: FrozenClock, policy: SecondFactorPolicy) -> LogoAdmin:
    """Return a service on the same storage under a setting."""
    return gallery_on(storage, clock, started=False, sign_in=SignInRules(second_factor=policy))


@pytest.fixture
def required(stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> LogoAdmin:
    """A stocked gallery where a second factor is required."""
    del stocked
    return under(storage, clock, "required")


def is_restricted(gallery: LogoAdmin, who: SignedIn) -> bool:
    if not gallery.sessions.me(WhoAmI(), who).must_enrol:
        gallery.users.get(GetUser(user_id=who.user_id), who)
        return False
    with pytest.raises(errors.EnrolmentRequired, match=r"^A second factor must be enrolled$"):
        gallery.users.get(GetUser(user_id=who.user_id), who)
    return True


def signed_in(gallery: LogoAdmin) -> SignedIn:
    return caller(gallery, gallery.sessions.sign_in(ADMIN))


def test_a_session_can_only_enrol_until_it_has_a_factor(required: LogoAdmin, clock: FrozenClock) -> None:
    who = signed_in(required)
    assert is_restricted(required, who)
    clock.pass_by(601)
    assert failure(required.factors.enrol_totp, EnrolTotp(name="Phone"), who) is errors.RecentSignInRequired
    with pytest.raises(errors.EnrolmentRequired):  # a sign-in would not be enough
        required.keys.create(CreateKey(name="script", scope=()), who)
    who, other = signed_in(required), signed_in(required)
    _, factor = enrol(required, who, clock.now())
    assert len(factor.recovery_codes or ()) == 10
    assert not is_restricted(required, who)
    with pytest.raises(errors.InvalidToken):  # the first factor ends the other sessions
        is_restricted(required, other)


# Written by hand; everything else is refused. Public reads need no token, and are as before.
ALLOWED = {
    *(ListFactors, EnrolTotp, ConfirmTotp, CountRecoveryCodes, MakeRecoveryCodes, passkeys.BeginPasskey),
    *(passkeys.EnrolPasskey, sessions.WhoAmI, sessions.Revoke),
}


@pytest.mark.parametrize("policy", list(Policy))
def test_a_session_that_must_enrol_can_do_nothing_else(clock: FrozenClock, policy: Policy) -> None:
    """Even with every right."""
    gallery = stock(gallery_on(MemoryStorage(), clock, policy, sign_in=SignInRules(second_factor="required")))
    who = signed_in(gallery)
    for kind in (kind for kind in ASKED if right_to(kind) != PUBLIC):
        error = error_of(gallery, kind, who)
        assert isinstance(error, errors.EnrolmentRequired) == (kind not in ALLOWED), kind
        assert not isinstance(error, errors.NotPermitted) or isinstance(error, errors.EnrolmentRequired), kind


@pytest.mark.parametrize(
    "scope", [(), ("changes:read",), ("proposals:write",), ("users:read", "roles:read"), ("forum:write",)]
)
def test_read_only_users_need_no_factor(required: LogoAdmin, scope: tuple[str, ...]) -> None:
    who = caller(required, required.sessions.sign_in(ANN))
    required.roles.amend(AmendRole(role_id=1, scope=scope))
    assert not is_restricted(required, who)


@pytest.mark.parametrize(
    "scope", [each for each in Scope if each == "*" or (each.endswith("s:write") and each != "proposals:write")]
)
def test_a_new_write_scope_requires_a_factor_at_once(required: LogoAdmin, scope: Scope) -> None:
    who = caller(required, required.sessions.sign_in(ANN))
    assert not is_restricted(required, who)
    required.roles.amend(AmendRole(role_id=1, scope=("changes:read", scope.value)))
    assert is_restricted(required, who)
    with pytest.raises(errors.EnrolmentRequired):
        required.keys.create(CreateKey(name="stronger", scope=(scope.value,)), who)


def test_the_setting_applies_to_open_sessions_but_not_to_keys_or_the_issuer(
    stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock
) -> None:
    tokens = stocked.sessions.sign_in(ADMIN)
    made = stocked.keys.create(CreateKey(name="script", scope=("*",)), caller(stocked, tokens))
    session = Session("at the issuer", ADMIN_ID, NOW, NOW + 3600, factor="issuer")
    storage.write(lambda uow: uow.identity.sessions.add(session))
    assert not is_restricted(stocked, caller(stocked, tokens))
    on, off = under(storage, clock, "required"), under(storage, clock, "optional")
    assert is_restricted(on, caller(on, tokens))
    assert is_restricted(on, caller(on, refresh(on, tokens)))
    assert not is_restricted(off, caller(off, tokens))
    assert not is_restricted(on, SignedIn(ADMIN_ID, session.session_id))
    on.users.amend(AmendUser(user_id=7, avatar=None), on.sessions.caller(made.key))


def test_the_last_factor_can_be_removed_while_one_is_required(required: LogoAdmin, clock: FrozenClock) -> None:
    _, totp, _ = enrolled(required, ADMIN)
    clock.pass_by(3600)
    fresh = caller(required, second_step(required, challenged(required, ADMIN), totp=code_of(totp, clock.now())))
    required.factors.remove(RemoveFactor(factor_id=totp.factor_id), fresh)
    assert is_restricted(required, fresh)
    assert failure(required.factors.remove, RemoveFactor(factor_id=totp.factor_id), fresh) is errors.EnrolmentRequired
    fresh = signed_in(required)
    enrol(required, fresh, clock.now())
    assert not is_restricted(required, fresh)
