"""Networks in which nobody can lock a user out from elsewhere (contract C1)."""

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.identity import users
from logoadmin.domain.identity.one_time_sign_in import CreateSignInCode, SignInWithCode
from logoadmin.domain.identity.records import Tokens
from logoadmin.domain.identity.sessions import Refresh, SignIn
from logoadmin.domain.identity.sign_in_limits import (
    MOST_NETWORKS,
    attempt,
    is_known_network,
    limits_of,
    remember_network,
)
from logoadmin.domain.identity.sign_in_rules import SignInRules
from logoadmin.domain.kernel.access import Anonymous
from logoadmin.domain.kernel.errors import SignInRefused, TooManySignIns
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.ports.storage import UnitOfWork
from tests.domain.identity.second_factors import answering, challenged, code_of, enrolled
from tests.gallery import ANN_PASSWORD, FrozenClock, gallery_on

pytestmark = pytest.mark.rule("contract C1")

DAY = 86_400
ANN = SignIn(username="ann", password=ANN_PASSWORD)
HOME, MOBILE, NEW = Anonymous("198.51.100.1"), Anonymous("2001:db8:0:1::1"), Anonymous("2001:db8:0:ff::1")
RULES = SignInRules(event_days=180)


@pytest.fixture
def gallery(storage: MemoryStorage, clock: FrozenClock) -> LogoAdmin:
    found = gallery_on(storage, clock, sign_in=RULES)
    found.users.create(users.CreateUser(user_id=7, username="ann", avatar=None, password=ANN_PASSWORD))
    return found


def fails(gallery: LogoAdmin, client: Anonymous) -> bool:
    """Return whether a wrong password is judged; otherwise there were too many."""
    try:
        gallery.sessions.sign_in(SignIn(username="ann", password="wrong"), client)
    except SignInRefused:
        return True
    except TooManySignIns:
        return False
    raise AssertionError


def attack(storage: MemoryStorage, clock: FrozenClock, username: str = "ann") -> int:
    """Use up the limits of a name, and of the /48 around MOBILE; return how many guesses were judged."""
    origins = [f"2001:db8:0:{number:x}::2" for number in range(256, 768)]
    origins += [f"203.0.113.{number}" for number in range(100)]

    def guess(uow: UnitOfWork) -> int:
        return sum(attempt(uow, limits_of(origin, username), clock.now()) is None for origin in origins)

    return storage.write(guess)


def refused(gallery: LogoAdmin, client: Anonymous) -> bool:
    try:
        gallery.sessions.sign_in(ANN, client)
    except TooManySignIns:
        return True
    return False


def refresh(gallery: LogoAdmin, tokens: Tokens, client: Anonymous) -> Tokens:
    return gallery.sessions.refresh(Refresh(refresh_token=tokens.refresh_token), client)


def test_known_networks_lock_nobody_out(gallery: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    for client in (HOME, MOBILE):
        gallery.sessions.sign_in(ANN, client)
    clock.pass_by(100 * DAY)
    assert attack(storage, clock) == 100
    assert refused(gallery, NEW)
    assert refused(gallery, Anonymous("198.51.100.2"))
    for client in (HOME, MOBILE, Anonymous("2001:db8:0:1::abcd")):
        assert not refused(gallery, client)
    # Guesses from there meet the limit of that network alone.
    assert [fails(gallery, HOME) for _ in range(11)] == [True] * 10 + [False]


def test_a_session_makes_networks_known_to_its_user_until_events_are_forgotten(
    gallery: LogoAdmin, storage: MemoryStorage, clock: FrozenClock
) -> None:
    gallery.users.create(users.CreateUser(user_id=8, username="mallory", avatar=None, password=ANN_PASSWORD))
    tokens = gallery.sessions.sign_in(ANN, HOME)
    gallery.sessions.sign_in(SignIn(username="mallory", password=ANN_PASSWORD), NEW)
    refresh(gallery, tokens, MOBILE)
    assert attack(storage, clock) == 100
    assert not refused(gallery, MOBILE)
    assert refused(gallery, NEW)
    clock.pass_by(180 * DAY)
    assert attack(storage, clock) == 100
    assert refused(gallery, HOME)


def test_a_second_step_meets_them_and_works_where_the_network_is_known(
    gallery: LogoAdmin, storage: MemoryStorage, clock: FrozenClock
) -> None:
    _, totp, _ = enrolled(gallery, ANN, clock.now())
    clock.pass_by(60)
    required = challenged(gallery, ANN, HOME)
    gallery.factors.sign_in(answering(required, totp=code_of(totp, clock.now())), HOME)
    clock.pass_by(60)
    elsewhere, at_home = challenged(gallery, ANN, NEW), challenged(gallery, ANN, HOME)
    # The right passwords stay counted, at HOME the one before it was known.
    assert attack(storage, clock) == 98
    step = answering(elsewhere, totp=code_of(totp, clock.now()))
    with pytest.raises(TooManySignIns):
        gallery.factors.sign_in(step, NEW)
    gallery.factors.sign_in(answering(at_home, totp=code_of(totp, clock.now())), HOME)


@pytest.mark.rule("contract O6")
def test_the_way_back_is_open_under_an_attack(gallery: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    code = gallery.sign_in_codes.create(CreateSignInCode(user_id=7)).code
    assert attack(storage, clock) == 100
    assert refused(gallery, NEW)
    command = SignInWithCode(username="ann", code=code)
    assert gallery.sign_in_codes.sign_in(command, NEW).access_token


def test_the_networks_of_a_user_are_bounded(storage: MemoryStorage, clock: FrozenClock) -> None:
    now = clock.now()

    def roam(uow: UnitOfWork) -> None:
        for number in range(MOST_NETWORKS + 5):
            remember_network(uow, 7, f"2001:db8:0:{number:x}::1", now, 1)

    def known(number: int, at: int) -> bool:
        return storage.read(lambda uow: is_known_network(uow, 7, f"2001:db8:0:{number:x}::", at))

    storage.write(roam)
    assert known(MOST_NETWORKS - 1, now)
    assert not known(MOST_NETWORKS, now)
    assert not known(0, now + DAY)
    storage.write(lambda uow: remember_network(uow, 7, f"2001:db8:0:{MOST_NETWORKS:x}::1", now + DAY, 1))
    assert known(MOST_NETWORKS, now + DAY)
