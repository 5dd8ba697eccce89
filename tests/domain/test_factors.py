"""Second factors: enrolling, signing in with them, and removing them (contract O1, O2)."""

from typing import Any

import pytest
from pyotp import TOTP

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.access import SignedIn
from logoadmin.domain.model.errors import NotFound, SecondFactorRequired, SignInRefused
from logoadmin.domain.model.factors import NewFactor, NewTotp
from logoadmin.domain.model.sessions import Tokens
from logoadmin.domain.services.factor_commands import ConfirmTotp, EnrolTotp, ListUserFactors, SignInWithFactor
from tests.domain.sign_ins import ANN, caller, works
from tests.gallery import NOW, FrozenClock


def code_of(totp: NewTotp, now: int) -> str:
    return TOTP(totp.secret).at(now)


def enrol(gallery: LogoAdmin, who: SignedIn, now: int = NOW) -> tuple[NewTotp, NewFactor]:
    totp = gallery.factors.enrol_totp(EnrolTotp(name="Phone"), who)
    return totp, gallery.factors.confirm_totp(ConfirmTotp(factor_id=totp.factor_id, code=code_of(totp, now)), who)


def challenge(gallery: LogoAdmin) -> SecondFactorRequired:
    with pytest.raises(SecondFactorRequired) as required:
        gallery.sessions.sign_in(ANN)
    return required.value


def second(gallery: LogoAdmin, required: SecondFactorRequired, **answer: Any) -> Tokens:
    return gallery.factors.sign_in(SignInWithFactor(grant_type="second_factor", challenge=required.challenge, **answer))


@pytest.mark.rule("contract O1", "contract O2")
def test_a_code_of_the_app_signs_in_after_the_password(stocked: LogoAdmin, clock: FrozenClock) -> None:
    who = caller(stocked, stocked.sessions.sign_in(ANN))
    totp, factor = enrol(stocked, who)
    assert (factor.kind, factor.name, factor.created_at, len(set(factor.recovery_codes or ()))) == (
        "totp",
        "Phone",
        NOW,
        10,
    )
    clock.pass_by(30)
    required = challenge(stocked)
    assert required.factors == ("totp", "recovery_code")
    tokens = second(stocked, required, totp=code_of(totp, clock.now()))
    assert works(stocked, tokens)
    with pytest.raises(SignInRefused):
        second(stocked, required, totp=code_of(totp, clock.now() + 30))


@pytest.mark.rule("contract O1")
def test_administrators_see_the_factors_of_others(stocked: LogoAdmin) -> None:
    who = caller(stocked, stocked.sessions.sign_in(ANN))
    stocked.factors.enrol_totp(EnrolTotp(name="Not confirmed"), who)
    _, factor = enrol(stocked, who)
    assert [each.factor_id for each in stocked.factors.list_of_user(ListUserFactors(user_id=who.user_id))] == [
        factor.factor_id
    ]
    with pytest.raises(NotFound):
        stocked.factors.list_of_user(ListUserFactors(user_id=999))
