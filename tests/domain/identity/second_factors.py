"""Enrolling second factors and signing in with them, for tests."""

from typing import Any

import pytest
from pyotp import TOTP

from logoadmin import ConfirmTotp, EnrolTotp, LogoAdmin, NewFactor, NewTotp, SignIn, SignInWithFactor, Tokens
from logoadmin.domain.kernel.access import ANONYMOUS, Caller, SignedIn
from logoadmin.domain.kernel.errors import SecondFactorRequired, SignInRefused
from tests.domain.identity.sign_ins import ANN, caller
from tests.gallery import NOW

STEP = 30


def code_of(totp: NewTotp, now: int) -> str:
    return TOTP(totp.secret).at(now)


def wrong_code(totp: NewTotp, now: int) -> str:
    """Return a code that an app shows neither now nor within two minutes."""
    shown = {code_of(totp, now + shift * STEP) for shift in range(-4, 5)}
    return next(code for code in map("{:06}".format, range(10)) if code not in shown)


def enrol(gallery: LogoAdmin, who: Caller, now: int = NOW) -> tuple[NewTotp, NewFactor]:
    totp = gallery.factors.enrol_totp(EnrolTotp(name="Phone"), who)
    return totp, gallery.factors.confirm_totp(ConfirmTotp(factor_id=totp.factor_id, code=code_of(totp, now)), who)


def enrolled(gallery: LogoAdmin, command: SignIn = ANN, now: int = NOW) -> tuple[SignedIn, NewTotp, tuple[str, ...]]:
    """Sign a user in and enrol their first app; return the session, the app and the recovery codes."""
    who = caller(gallery, gallery.sessions.sign_in(command))
    totp, factor = enrol(gallery, who, now)
    return who, totp, factor.recovery_codes or ()


def challenged(gallery: LogoAdmin, command: SignIn = ANN, client: Caller = ANONYMOUS) -> SecondFactorRequired:
    with pytest.raises(SecondFactorRequired) as required:
        gallery.sessions.sign_in(command, client)
    return required.value


def answering(required: SecondFactorRequired, **answer: Any) -> SignInWithFactor:
    return SignInWithFactor(challenge=required.challenge, **answer)


def second_step(
    gallery: LogoAdmin, required: SecondFactorRequired, client: Caller = ANONYMOUS, **answer: Any
) -> Tokens:
    return gallery.factors.sign_in(answering(required, **answer), client)


def is_refused(gallery: LogoAdmin, required: SecondFactorRequired, client: Caller = ANONYMOUS, **answer: Any) -> bool:
    try:
        second_step(gallery, required, client, **answer)
    except SignInRefused:
        return True
    return False
