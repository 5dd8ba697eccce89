"""Second factors: enrolling, listing and removing them, and the secrets at rest (contract O1)."""

import logging
from dataclasses import replace

import pytest

from logoadmin import CreateKey, ListedFactor, LogoAdmin, RemovedFactor, RemovedUserFactors, RemoveUser, SignedIn
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.adapters.system_environment import SystemRandomness
from logoadmin.domain.identity import factors
from logoadmin.domain.identity.factors import ConfirmTotp, EnrolTotp
from logoadmin.domain.identity.first_start import rotate_token_keys
from logoadmin.domain.kernel import errors
from tests.domain.identity.second_factors import (
    STEP,
    challenged,
    code_of,
    enrol,
    enrolled,
    is_refused,
    second_step,
    wrong_code,
)
from tests.domain.identity.sign_ins import ADMIN, ANN, caller, works
from tests.gallery import ADMIN_ID, NOW, FrozenClock, ask, failure, gallery_on, if_match, signed_in

pytestmark = pytest.mark.rule("contract O1")

OLD_KEY, NEW_KEY = "the first key that these tests use", "another key of at least 32 characters"


def left(gallery: LogoAdmin, who: SignedIn) -> int:
    return gallery.factors.recovery_codes(factors.CountRecoveryCodes(), who).left


def test_an_app_is_a_factor_once_it_is_confirmed(stocked: LogoAdmin, clock: FrozenClock) -> None:
    who = caller(stocked, stocked.sessions.sign_in(ANN))
    totp = stocked.factors.enrol_totp(EnrolTotp(name="Phone"), who)
    assert f"secret={totp.secret}&issuer=localhost" in totp.uri
    with pytest.raises(errors.InvalidInput) as refused:
        stocked.factors.confirm_totp(ConfirmTotp(factor_id=totp.factor_id, code=wrong_code(totp, NOW)), who)
    assert [(problem.loc, problem.msg) for problem in refused.value.problems] == [(("code",), "Incorrect code")]
    assert stocked.factors.list(factors.ListFactors(), who) == ()
    assert left(stocked, who) == 0
    assert failure(stocked.factors.make_recovery_codes, factors.MakeRecoveryCodes(), who) is errors.Conflict
    assert works(stocked, stocked.sessions.sign_in(ANN))
    clock.pass_by(STEP)
    confirming = ConfirmTotp(factor_id=totp.factor_id, code=code_of(totp, clock.now()))
    factor = stocked.factors.confirm_totp(confirming, who)
    listed = ListedFactor(totp.factor_id, "totp", "Phone", NOW, NOW + STEP)
    assert stocked.factors.list(factors.ListFactors(), who) == (listed,)
    assert (factor.factor_id, factor.name, len(set(factor.recovery_codes or ()))) == (totp.factor_id, "Phone", 10)
    assert left(stocked, who) == 10
    assert challenged(stocked).factors == ("totp", "recovery_code")
    # Only the first factor comes with codes.
    assert enrol(stocked, who, clock.now())[1].recovery_codes is None
    assert not is_refused(stocked, challenged(stocked), recovery_code=(factor.recovery_codes or ("",))[0])


@pytest.mark.parametrize(
    ("passed", "error"), [(600, None), (601, errors.NotFound), (-10, None), (-11, errors.NotFound)]
)
def test_a_secret_waits_ten_minutes_for_its_confirmation(
    stocked: LogoAdmin, clock: FrozenClock, passed: int, error: type[errors.LogoAdminError] | None
) -> None:
    who = caller(stocked, stocked.sessions.sign_in(ANN))
    totp = stocked.factors.enrol_totp(EnrolTotp(name="Phone"), who)
    clock.pass_by(passed)
    who = caller(stocked, stocked.sessions.sign_in(ANN))
    confirming = ConfirmTotp(factor_id=totp.factor_id, code=code_of(totp, clock.now()))
    if error is None:
        stocked.factors.confirm_totp(confirming, who)
    else:
        with pytest.raises(error):
            stocked.factors.confirm_totp(confirming, who)


def test_a_new_secret_replaces_one_that_was_not_confirmed(stocked: LogoAdmin) -> None:
    who = caller(stocked, stocked.sessions.sign_in(ANN))
    first, second = (stocked.factors.enrol_totp(EnrolTotp(name=name), who) for name in ("Phone", "Tablet"))
    assert first.secret != second.secret
    with pytest.raises(errors.NotFound):
        stocked.factors.confirm_totp(ConfirmTotp(factor_id=first.factor_id, code=code_of(first, NOW)), who)
    confirming = ConfirmTotp(factor_id=second.factor_id, code=code_of(second, NOW))
    stocked.factors.confirm_totp(confirming, who)
    with pytest.raises(errors.Conflict, match="confirmed already"):
        stocked.factors.confirm_totp(confirming, who)


def test_a_user_has_twenty_factors_at_most(stocked: LogoAdmin) -> None:
    who = caller(stocked, stocked.sessions.sign_in(ANN))
    made = [enrol(stocked, who)[1] for _ in range(20)]
    with pytest.raises(errors.Conflict, match="20 second factors"):
        enrol(stocked, who)
    stocked.factors.remove(factors.RemoveFactor(factor_id=made[7].factor_id), who)
    enrol(stocked, who)


def test_factors_are_of_their_user_alone(stocked: LogoAdmin) -> None:
    ann, totp, _ = enrolled(stocked)
    admin = caller(stocked, stocked.sessions.sign_in(ADMIN))
    waiting = stocked.factors.enrol_totp(EnrolTotp(name="Phone"), ann)
    assert stocked.factors.list(factors.ListFactors(), admin) == ()
    confirming = ConfirmTotp(factor_id=waiting.factor_id, code=code_of(waiting, NOW))
    for command in (factors.RemoveFactor(factor_id=totp.factor_id), confirming):
        assert failure(ask, stocked, command, admin) is errors.NotFound
    assert works(stocked, stocked.sessions.sign_in(ADMIN))


def test_removing_the_last_factor_removes_the_recovery_codes(stocked: LogoAdmin) -> None:
    who, first, codes = enrolled(stocked)
    second, _ = enrol(stocked, who)
    removed = stocked.factors.remove(factors.RemoveFactor(factor_id=first.factor_id), who)
    assert removed == RemovedFactor(first.factor_id)
    assert left(stocked, who) == 10
    stocked.factors.remove(factors.RemoveFactor(factor_id=second.factor_id), who)
    assert left(stocked, who) == 0
    assert works(stocked, stocked.sessions.sign_in(ANN))
    assert failure(stocked.factors.remove, factors.RemoveFactor(factor_id=second.factor_id), who) is errors.NotFound
    enrol(stocked, who)
    assert is_refused(stocked, challenged(stocked), recovery_code=codes[0])


def test_new_recovery_codes_replace_the_others(stocked: LogoAdmin) -> None:
    """ASVS 6.5.1: a replaced code counts as used."""
    who, _, old = enrolled(stocked)
    second_step(stocked, challenged(stocked), recovery_code=old[0])
    assert left(stocked, who) == 9
    new = stocked.factors.make_recovery_codes(factors.MakeRecoveryCodes(), who).recovery_codes
    assert (left(stocked, who), len({*old, *new})) == (10, 20)
    assert is_refused(stocked, challenged(stocked), recovery_code=old[1])
    assert not is_refused(stocked, challenged(stocked), recovery_code=new[1])


@pytest.mark.rule("contract B4")
def test_administrators_see_and_remove_all_factors_of_a_user(stocked: LogoAdmin) -> None:
    ann, first, codes = enrolled(stocked)
    second, _ = enrol(stocked, ann)
    stocked.factors.enrol_totp(EnrolTotp(name="not confirmed"), ann)
    admin, _, _ = enrolled(stocked, ADMIN)
    pending = challenged(stocked)
    seen = stocked.factors.list_of_user(factors.ListUserFactors(user_id=7), admin)
    assert [factor.factor_id for factor in seen] == [first.factor_id, second.factor_id]
    assert failure(stocked.factors.list_of_user, factors.ListUserFactors(user_id=999), admin) is errors.NotFound
    assert stocked.factors.remove_all(factors.RemoveUserFactors(user_id=7), admin) == RemovedUserFactors(7, 2)
    assert is_refused(stocked, pending, recovery_code=codes[0])
    tokens = stocked.sessions.sign_in(ANN)
    assert stocked.factors.list(factors.ListFactors(), caller(stocked, tokens)) == ()
    assert left(stocked, caller(stocked, tokens)) == 0
    with pytest.raises(errors.LogoAdminError):  # her sessions have ended
        stocked.factors.list(factors.ListFactors(), ann)
    # Who removes their own stays signed in.
    stocked.factors.remove_all(factors.RemoveUserFactors(user_id=admin.user_id), admin)
    assert stocked.factors.list(factors.ListFactors(), admin) == ()
    assert works(stocked, stocked.sessions.sign_in(ADMIN))


@pytest.mark.rule("contract B4")
def test_callers_with_fewer_rights_cannot_remove_a_users_factors(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    enrolled(stocked, ADMIN)
    helper = signed_in(storage, "users:write")
    with pytest.raises(errors.NotPermitted):
        stocked.factors.remove_all(factors.RemoveUserFactors(user_id=2_000_000_000), helper)
    with pytest.raises(errors.NotPermitted):
        stocked.factors.remove_all(factors.RemoveUserFactors(user_id=7), signed_in(storage, "users:read", user_id=501))
    assert challenged(stocked, ADMIN).factors == ("totp", "recovery_code")
    assert stocked.factors.remove_all(factors.RemoveUserFactors(user_id=7), helper).removed == 0
    assert failure(stocked.factors.remove_all, factors.RemoveUserFactors(user_id=8), helper) is errors.NotFound
    with pytest.raises(errors.Outdated):
        stocked.factors.remove_all(if_match(factors.RemoveUserFactors(user_id=7), 1), helper)


@pytest.mark.rule("contract O2", "contract C5")
def test_a_service_key_never_meets_a_second_factor(stocked: LogoAdmin) -> None:
    admin = caller(stocked, stocked.sessions.sign_in(ADMIN))
    made = stocked.keys.create(CreateKey(name="script", scope=("*",)), admin)
    enrol(stocked, admin)
    stocked.users.remove(RemoveUser(user_id=7), stocked.sessions.caller(made.key))


def test_the_stored_secret_of_a_user_is_not_a_factor_of_another(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    _, totp, _ = enrolled(stocked)
    enrolled(stocked, ADMIN)
    (anns,), (own,) = storage.read(lambda uow: [uow.identity.factors.of_user(user_id) for user_id in (7, ADMIN_ID)])
    storage.write(lambda uow: uow.identity.factors.update(replace(own, secret=anns.secret)))
    assert is_refused(stocked, challenged(stocked, ADMIN), totp=code_of(totp, NOW + STEP))


def test_a_secret_is_encrypted_with_the_first_key_at_its_next_use(storage: MemoryStorage, clock: FrozenClock) -> None:
    first = gallery_on(storage, clock, factor_keys=[OLD_KEY])
    _, totp, _ = enrolled(first, ADMIN)

    def encrypted() -> str:
        return storage.read(lambda uow: uow.identity.factors.of_user(2_000_000_000)[0].secret)

    def signs_in(*keys: str) -> bool:
        clock.pass_by(STEP)
        gallery = gallery_on(storage, clock, started=False, factor_keys=keys)
        return not is_refused(gallery, challenged(gallery, ADMIN), totp=code_of(totp, clock.now()))

    before = encrypted()
    for _ in range(3):  # the keys of tokens encrypt no factor
        rotate_token_keys(storage, SystemRandomness(), FrozenClock())
    assert signs_in(OLD_KEY)
    assert encrypted() == before
    assert not signs_in(NEW_KEY)
    assert signs_in(NEW_KEY, OLD_KEY)
    assert encrypted() != before
    assert not signs_in(OLD_KEY)
    assert signs_in(NEW_KEY)


def test_without_the_factor_key_recovery_codes_still_work_and_the_log_has_the_reason(
    storage: MemoryStorage, clock: FrozenClock, caplog: pytest.LogCaptureFixture
) -> None:
    _, totp, codes = enrolled(gallery_on(storage, clock, factor_keys=[OLD_KEY]), ADMIN)
    later = gallery_on(storage, clock, started=False, factor_keys=[NEW_KEY])
    clock.pass_by(STEP)
    with caplog.at_level(logging.ERROR, "logoadmin"):
        assert is_refused(later, challenged(later, ADMIN), totp=code_of(totp, clock.now()))
    message = f"Factor {totp.factor_id} cannot be used: no key in factor_key decrypts its secret"
    assert [record.getMessage() for record in caplog.records] == [message]
    assert not is_refused(later, challenged(later, ADMIN), recovery_code=codes[3])
