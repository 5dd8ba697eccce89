"""Signing in with a second factor, and attacks on it (contract O2)."""

import pytest

from logoadmin import Anonymous, ListFactors, ListSessions, LogoAdmin, Refresh, RemoveFactor, RemoveUser, Revoke, SignIn
from logoadmin.adapters.argon2_passwords import Argon2Passwords
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.identity.second_step import SignInWithFactor
from logoadmin.domain.identity.sign_in_rules import SignInRules, Ways
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.records import PasswordHash
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
from tests.domain.identity.sign_ins import ADMIN, ANN, caller, refresh, works
from tests.gallery import NOW, FrozenClock, failure, gallery_on

pytestmark = pytest.mark.rule("contract O2")

WRONG = SignIn(username="ann", password="wrong")


@pytest.mark.rule("contract O1")
def test_a_password_and_a_code_sign_in(stocked: LogoAdmin, clock: FrozenClock) -> None:
    """ASVS 6.3.3: two factors, one of which proves possession."""
    who, totp, codes = enrolled(stocked)
    with pytest.raises(errors.SignInRefused, match="Incorrect username or password"):
        stocked.sessions.sign_in(WRONG)
    second, _ = enrol(stocked, who)
    clock.pass_by(STEP)
    tokens = second_step(stocked, challenged(stocked), totp=code_of(totp, clock.now()))
    assert works(stocked, tokens)
    assert works(stocked, refresh(stocked, tokens))
    second_step(stocked, challenged(stocked), totp=code_of(second, clock.now()))
    other = second_step(stocked, challenged(stocked), recovery_code=codes[0].lower().replace("-", " "))
    sessions = stocked.sessions.list(ListSessions(), caller(stocked, other))
    assert sorted(session.factor for session in sessions) == ["recovery_code", "totp", "totp", "totp"]
    listed = stocked.factors.list(ListFactors(), caller(stocked, other))
    assert {factor.last_used_at for factor in listed} == {clock.now()}


@pytest.mark.parametrize("given", [{}, {"totp": "000000", "recovery_code": "0"}])
def test_the_second_step_takes_exactly_one_proof(given: dict[str, str]) -> None:
    with pytest.raises(errors.InvalidInput):
        SignInWithFactor(challenge="x", **given)  # type: ignore[arg-type]  # fields


def test_a_factor_that_is_enrolled_while_a_password_is_verified_counts(
    stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock
) -> None:
    who = caller(stocked, stocked.sessions.sign_in(ANN))

    class Meanwhile(Argon2Passwords):
        def verify(self, hash_: PasswordHash | None, password: str) -> bool:
            enrol(stocked, who)
            return super().verify(hash_, password)

    slow = gallery_on(storage, clock, hasher=Meanwhile(8, 1), started=False)
    assert failure(slow.sessions.sign_in, ANN) is errors.SignInRefused
    assert challenged(stocked).factors == ("totp", "recovery_code")


def test_the_first_step_renews_an_outdated_hash(stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    _, _, codes = enrolled(stocked)
    stronger = Argon2Passwords(16, 1)
    gallery = gallery_on(storage, clock, hasher=stronger, started=False)
    required = challenged(gallery)
    renewed = storage.read(lambda uow: uow.identity.passwords.get(7))
    assert renewed is not None
    assert not stronger.needs_rehash(renewed)
    assert works(gallery, second_step(gallery, required, recovery_code=codes[0]))


@pytest.mark.rule("contract O1")
def test_a_code_signs_in_once_and_invalidates_earlier_codes(stocked: LogoAdmin, clock: FrozenClock) -> None:
    """ASVS 6.5.1: replayed codes, with the same challenge and with another one."""
    _, totp, _ = enrolled(stocked)
    assert is_refused(stocked, challenged(stocked), totp=code_of(totp, NOW))  # it confirmed the app
    clock.pass_by(10 * STEP)
    earlier, code, later = (code_of(totp, clock.now() + shift) for shift in (-STEP, 0, STEP))
    used = challenged(stocked)
    second_step(stocked, used, totp=code)
    assert is_refused(stocked, used, totp=code)
    assert is_refused(stocked, used, totp=later)
    for replayed in (code, earlier):
        assert is_refused(stocked, challenged(stocked), totp=replayed)
    assert not is_refused(stocked, challenged(stocked), totp=later)


@pytest.mark.rule("contract O1")
def test_a_recovery_code_is_used_once_and_so_is_a_challenge(stocked: LogoAdmin) -> None:
    """ASVS 6.5.1."""
    _, _, codes = enrolled(stocked)
    used = challenged(stocked)
    assert is_refused(stocked, used, recovery_code="0000")
    second_step(stocked, used, recovery_code=codes[0])
    assert is_refused(stocked, used, recovery_code=codes[1])
    for code in codes[1:]:
        assert not is_refused(stocked, challenged(stocked), recovery_code=code)
    required = challenged(stocked)
    assert required.factors == ("totp",)
    assert all(is_refused(stocked, required, recovery_code=code) for code in codes[:5])


def test_a_challenge_is_not_a_token(stocked: LogoAdmin) -> None:
    """As Bearer token, as refresh token, and to end a session."""
    who, _, _ = enrolled(stocked)
    challenge = challenged(stocked).challenge
    assert failure(stocked.sessions.caller, challenge) is errors.InvalidToken
    assert failure(stocked.sessions.refresh, Refresh(refresh_token=challenge)) is errors.InvalidToken
    assert not stocked.sessions.revoke(Revoke(refresh_token=challenge)).ended
    assert stocked.factors.list(ListFactors(), who)


def test_a_challenge_is_for_its_user(stocked: LogoAdmin) -> None:
    """The challenge of another user, with the caller's own code."""
    _, ann, ann_codes = enrolled(stocked)
    _, admin, admin_codes = enrolled(stocked, ADMIN)
    of_ann, of_admin = challenged(stocked), challenged(stocked, ADMIN)
    assert is_refused(stocked, of_admin, totp=code_of(ann, NOW + STEP))
    assert is_refused(stocked, of_admin, recovery_code=ann_codes[0])
    assert is_refused(stocked, of_ann, totp=code_of(admin, NOW + STEP))
    assert is_refused(stocked, of_ann, recovery_code=admin_codes[0])
    assert caller(stocked, second_step(stocked, of_ann, recovery_code=ann_codes[0])).user_id == 7


def test_changes_of_factors_and_removal_of_the_user_invalidate_an_unfinished_sign_in(stocked: LogoAdmin) -> None:
    who, _, codes = enrolled(stocked)
    required = challenged(stocked)
    second, _ = enrol(stocked, who)
    assert is_refused(stocked, required, recovery_code=codes[0])
    required = challenged(stocked)
    stocked.factors.remove(RemoveFactor(factor_id=second.factor_id), who)
    assert is_refused(stocked, required, recovery_code=codes[0])
    assert not is_refused(stocked, challenged(stocked), recovery_code=codes[0])
    required = challenged(stocked)
    stocked.users.remove(RemoveUser(user_id=7))
    assert is_refused(stocked, required, recovery_code=codes[1])


@pytest.mark.rule("contract O7")
def test_switching_passwords_off_invalidates_an_unfinished_sign_in(
    stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock
) -> None:
    _, _, codes = enrolled(stocked)
    required = challenged(stocked)
    later = gallery_on(storage, clock, started=False, sign_in=SignInRules(ways=Ways(password=False)))
    assert failure(second_step, later, required, recovery_code=codes[0]) is errors.SignInForbidden
    assert not is_refused(stocked, required, recovery_code=codes[0])


def is_limited(gallery: LogoAdmin, command: SignIn = ANN, client: Anonymous | None = None) -> bool:
    return failure(gallery.sessions.sign_in, command, client or Anonymous()) is errors.TooManySignIns


def test_a_right_password_alone_resets_no_limits(stocked: LogoAdmin) -> None:
    """Each step counts towards the name: attackers with the password get no more attempts than others."""
    _, totp, codes = enrolled(stocked)
    wrong = wrong_code(totp, NOW)
    for _ in range(5):
        assert is_refused(stocked, challenged(stocked), totp=wrong)
    assert is_limited(stocked)
    with pytest.raises(errors.TooManySignIns) as limited:
        stocked.sessions.sign_in(WRONG)
    assert limited.value.retry_after == 300
    elsewhere = Anonymous("192.0.2.9")
    assert works(
        stocked, second_step(stocked, challenged(stocked, client=elsewhere), elsewhere, recovery_code=codes[0])
    )


def test_the_second_step_is_limited_and_a_full_sign_in_resets_the_failures(stocked: LogoAdmin) -> None:
    _, _, codes = enrolled(stocked)
    for code in codes[:3]:
        required = challenged(stocked)
        assert all(is_refused(stocked, required, recovery_code="0") for _ in range(8))
        second_step(stocked, required, recovery_code=code)
    required = challenged(stocked)
    assert all(is_refused(stocked, required, recovery_code="0") for _ in range(9))
    assert failure(second_step, stocked, required, recovery_code=codes[3]) is errors.TooManySignIns


@pytest.mark.rule("contract O1")
def test_codes_cannot_be_guessed_with_the_password_and_many_addresses(stocked: LogoAdmin, clock: FrozenClock) -> None:
    """ASVS 6.3.1: at most 20 wrong codes for a user and hour, from anywhere."""
    _, totp, codes = enrolled(stocked)
    clock.pass_by(STEP)
    wrong = wrong_code(totp, clock.now())

    def from_elsewhere(number: int, **answer: str) -> bool:
        client = Anonymous(f"192.0.2.{number}")
        return is_refused(stocked, challenged(stocked, client=client), client, **answer)

    assert all(from_elsewhere(number, totp=wrong) for number in range(20))
    with pytest.raises(errors.TooManySignIns) as limited:
        from_elsewhere(20, totp=code_of(totp, clock.now()))
    assert limited.value.retry_after == 3600
    assert not from_elsewhere(21, recovery_code=codes[0])
    with pytest.raises(errors.TooManySignIns):  # which a sign-in does not reset
        from_elsewhere(22, totp=code_of(totp, clock.now()))
    clock.pass_by(3600)
    assert not from_elsewhere(23, totp=code_of(totp, clock.now()))


@pytest.mark.rule("contract O1", "contract K7")
def test_right_codes_do_not_count_and_the_clock_extends_no_limit(stocked: LogoAdmin, clock: FrozenClock) -> None:
    _, totp, _ = enrolled(stocked)
    for _ in range(30):
        clock.pass_by(STEP)
        assert not is_refused(stocked, challenged(stocked), totp=code_of(totp, clock.now()))
    clock.pass_by(10**8)
    wrong = wrong_code(totp, clock.now())
    for number in range(20):
        client = Anonymous(f"192.0.2.{number}")
        assert is_refused(stocked, challenged(stocked, client=client), client, totp=wrong)
    clock.pass_by(-(10**8) + STEP)
    assert not is_refused(stocked, challenged(stocked), totp=code_of(totp, clock.now()))
