"""Single-use sign-in codes for users who lost a password or factor, and attacks on them (contract O6)."""

from typing import Final

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.identity.factors import ConfirmTotp
from logoadmin.domain.identity.one_time_sign_in import CODE_SECONDS, CreateSignInCode, SignInWithCode
from logoadmin.domain.identity.records import Tokens
from logoadmin.domain.identity.second_step import SignInWithFactor
from logoadmin.domain.identity.service_keys import CreateKey
from logoadmin.domain.identity.sessions import ListSessions, Refresh, WhoAmI
from logoadmin.domain.identity.sign_in_rules import SignInRules, Ways
from logoadmin.domain.identity.users import SetPassword
from logoadmin.domain.kernel import errors
from logoadmin.domain.kernel.access import ANONYMOUS, Anonymous, Caller, Policy, SignedIn
from logoadmin.domain.logo_admin import LogoAdmin
from tests.domain.identity.second_factors import enrol
from tests.domain.identity.sign_ins import ADMIN, ANN, caller, works
from tests.gallery import ADMIN_ID, NOW, FrozenClock, WatchedStorage, gallery_on, if_match, signed_in, stock

pytestmark = pytest.mark.rule("contract O6")

ANN_ID: Final = 7
HERE: Final = Anonymous("192.0.2.1", user_agent="Firefox")
FOR_ANN: Final = CreateSignInCode(user_id=ANN_ID)


def typed(code: str, username: str = "ann") -> SignInWithCode:
    return SignInWithCode(username=username, code=code)


def made(gallery: LogoAdmin, user_id: int = ANN_ID) -> str:
    return gallery.sign_in_codes.create(CreateSignInCode(user_id=user_id)).code


def sign_in(gallery: LogoAdmin, code: str, username: str = "ann", client: Caller = ANONYMOUS) -> Tokens:
    return gallery.sign_in_codes.sign_in(typed(code, username), client)


def refused(gallery: LogoAdmin, code: str, username: str = "ann") -> None:
    """Check that a code is refused with the text of a wrong password."""
    with pytest.raises(errors.SignInRefused, match=r"^Incorrect username or code$"):
        sign_in(gallery, code, username)


# Effects


def test_a_code_signs_in_once_and_ends_other_sessions(stocked: LogoAdmin, storage: MemoryStorage) -> None:
    """ASVS 6.4.1: it cannot become a long-term secret."""
    before = stocked.sessions.sign_in(ANN)
    enrol(stocked, caller(stocked, before))
    admin = stocked.sessions.sign_in(ADMIN)
    new = stocked.sign_in_codes.create(FOR_ANN)
    assert (new.user_id, new.expires_at) == (ANN_ID, NOW + 600)
    assert new.code not in repr(new)
    assert works(stocked, before)  # it takes effect when it is used
    tokens = sign_in(stocked, new.code, client=HERE)
    assert works(stocked, tokens)
    assert not works(stocked, before)
    assert works(stocked, admin)
    (session,) = stocked.sessions.list(ListSessions(), caller(stocked, tokens))
    assert (session.factor, session.address, session.user_agent) == ("sign_in_code", "192.0.2.1", "Firefox")
    events = storage.read(lambda uow: uow.identity.events.page(2**31, 3, ANN_ID))
    assert [(event.event, event.address, event.factor) for event in events] == [
        ("signed_in", "192.0.2.1", "sign_in_code"),
        ("session_ended", "192.0.2.1", None),
        ("sign_in_code_made", None, None),
    ]
    refused(stocked, new.code)
    (last,) = storage.read(lambda uow: uow.identity.events.page(2**31, 1, ANN_ID))
    assert (last.event, last.count) == ("sign_in_refused", 1)
    assert new.code not in str((last, *events))


def test_a_new_code_and_a_new_password_end_the_codes_before_them(stocked: LogoAdmin) -> None:
    first, second = made(stocked), made(stocked)
    refused(stocked, first)
    assert works(stocked, sign_in(stocked, second))
    third = made(stocked)
    stocked.users.set_password(SetPassword(user_id=ANN_ID, password="another"))
    refused(stocked, third)


@pytest.mark.parametrize("ways", [Ways(False, True), Ways(False, False), Ways(False, False, "https://issuer.test")])
def test_a_code_works_where_passwords_are_switched_off(ways: Ways, storage: MemoryStorage, clock: FrozenClock) -> None:
    gallery = gallery_on(storage, clock, Policy.GUARDED, sign_in=SignInRules(ways=ways))
    assert works(gallery, sign_in(gallery, made(gallery, ADMIN_ID), "admin"))


# Attacks


@pytest.mark.rule("contract K7", "contract O6")
@pytest.mark.parametrize(
    ("seconds", "is_valid"),
    [(0, True), (599, True), (600, False), (601, False), (86_400, False), (-10, True), (-11, False), (-3600, False)],
)
def test_a_code_is_valid_for_ten_minutes_even_if_a_clock_was_ahead(
    stocked: LogoAdmin, clock: FrozenClock, seconds: int, is_valid: bool
) -> None:
    code = made(stocked)
    clock.pass_by(seconds)
    if is_valid:
        assert works(stocked, sign_in(stocked, code))
    else:
        refused(stocked, code)


def test_a_wrong_code_is_refused_and_leaves_the_code_of_another_user(stocked: LogoAdmin) -> None:
    of_admin = made(stocked, ADMIN_ID)
    made(stocked)
    rubbish = ("0", "0" * 24, "-", "%", "' OR 1=1 --", "é" * 24, "7KQ2-M4ZT-9A0C-X3HV-BN5E-R8WD")
    for code, name in (*((each, "nobody") for each in rubbish), *((each, "ann") for each in rubbish)):
        refused(stocked, code, name)
        stocked.sign_in_codes.sign_in(typed(made(stocked), "ann"))  # which resets the failures
    for name in ("ann", "nobody", "Ann", "ann ", "admin ", "ADMIN"):
        refused(stocked, of_admin, name)
    assert works(stocked, sign_in(stocked, of_admin, "admin"))


def test_a_code_is_not_accepted_as_another_kind_of_secret(stocked: LogoAdmin, clock: FrozenClock) -> None:
    who = caller(stocked, stocked.sessions.sign_in(ANN))
    totp, factor = enrol(stocked, who)
    assert factor.recovery_codes is not None
    for recovery_code in factor.recovery_codes[:2]:
        refused(stocked, recovery_code)
    code = made(stocked)
    with pytest.raises(errors.SignInRefused):
        stocked.factors.sign_in(SignInWithFactor(challenge=code, recovery_code=code))
    with pytest.raises(errors.InvalidToken):
        stocked.sessions.caller(code)
    with pytest.raises(errors.InvalidToken):
        stocked.sessions.refresh(Refresh(refresh_token=code))
    with pytest.raises(errors.InvalidInput):
        stocked.factors.confirm_totp(ConfirmTotp(factor_id=totp.factor_id, code=code), who)
    clock.pass_by(1)
    assert works(stocked, sign_in(stocked, code))


@pytest.mark.rule("contract C1", "contract O6")
def test_wrong_codes_count_towards_the_limits_until_a_right_one_resets_them(stocked: LogoAdmin) -> None:
    code = made(stocked)
    for _ in range(9):
        with pytest.raises(errors.SignInRefused):
            sign_in(stocked, "wrong", client=HERE)
    assert works(stocked, sign_in(stocked, code, client=HERE))
    code = made(stocked)
    for username in ("ann", "nobody"):
        for _ in range(10):
            with pytest.raises(errors.SignInRefused):
                sign_in(stocked, "wrong", username, HERE)
        with pytest.raises(errors.TooManySignIns):
            sign_in(stocked, code, username, HERE)
    with pytest.raises(errors.TooManySignIns):
        stocked.sessions.sign_in(ANN, HERE)
    assert works(stocked, sign_in(stocked, code, client=Anonymous("198.51.100.7")))


def test_unknown_names_cost_the_same_work(storage: MemoryStorage, clock: FrozenClock) -> None:
    """A refusal reads the same rows, and hashes no password, whether or not the user and a code exist."""
    watched = WatchedStorage(storage)
    gallery = gallery_on(watched, clock)
    stock(gallery)
    ways = []
    for username, has_code in (("ann", True), ("ann", False), ("nobody", False)):
        if has_code:
            made(gallery)
        watched.asked.clear()
        refused(gallery, "wrong", username)
        ways.append(watched.asked[:])
        storage.write(lambda uow: uow.identity.challenges.drop(ANN_ID))
    assert ways[0] == ways[1] == ways[2]


@pytest.mark.rule("contract B4", "contract C5", "contract O3", "contract O6")
def test_a_program_creates_codes_only_for_callers_who_may_set_the_password(
    stocked: LogoAdmin, storage: MemoryStorage, clock: FrozenClock
) -> None:
    manager = signed_in(storage, "users:write", user_id=500)
    painter = signed_in(storage, "logos:write", user_id=600)
    admin = caller(stocked, stocked.sessions.sign_in(ADMIN))

    def may(command: CreateSignInCode, who: Caller) -> type[errors.LogoAdminError] | None:
        try:
            stocked.sign_in_codes.create(command, who)
        except errors.LogoAdminError as error:
            return type(error)
        return None

    for user_id, who, error in (
        *((ANN_ID, manager, None), (600, manager, errors.NotPermitted), (ADMIN_ID, manager, errors.NotPermitted)),
        *((ANN_ID, painter, errors.NotPermitted), (600, painter, errors.NotPermitted), (600, admin, None)),
        (12, admin, errors.NotFound),
    ):
        assert may(CreateSignInCode(user_id=user_id), who) is error, (user_id, who)
    key = stocked.sessions.caller(stocked.keys.create(CreateKey(name="script", scope=("*",)), admin).key)
    for user_id in (ANN_ID, ADMIN_ID):
        assert may(CreateSignInCode(user_id=user_id), key) is errors.NotPermitted
    with pytest.raises(errors.LogoAdminError, match="was changed since"):
        stocked.sign_in_codes.create(if_match(FOR_ANN, 99_999))
    clock.pass_by(601)
    assert may(FOR_ANN, admin) is errors.RecentSignInRequired
    assert isinstance(admin, SignedIn)
    assert stocked.sessions.me(WhoAmI(), admin).user_id == ADMIN_ID  # everything else still works
    assert CODE_SECONDS == 600
