"""Limits on sign-ins, and known networks, from which attackers elsewhere lock nobody out (contract C1)."""

from collections.abc import Callable, Iterable
from ipaddress import IPv6Address
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin import CreateSignInCode, LogoAdmin, SetPassword, SignInRefused, SignInWithCode, Tokens, TooManySignIns
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.identity import users
from logoadmin.domain.identity.sessions import Refresh, SignIn
from logoadmin.domain.identity.sign_in_attempts import Attempt
from logoadmin.domain.identity.sign_in_limits import (
    MOST_NETWORKS,
    UserNetwork,
    limits_of,
    network_of_user,
    remember_network,
)
from logoadmin.domain.identity.sign_in_rules import NO_USER, SignInRules
from logoadmin.domain.kernel.access import Anonymous, network_of, networks_of
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.domain.identity.second_factors import answering, challenged, code_of, enrolled
from tests.domain.identity.sign_ins import ANN, caller, refreshing
from tests.gallery import ANN_PASSWORD, FrozenClock, failure, gallery_on

pytestmark = pytest.mark.rule("contract C1")

HERE, THERE = "192.0.2.1", "192.0.2.2"


class Limits:
    """The limits on a storage, at the time of a clock, for attempts of nobody known."""

    def __init__(self, storage: Storage, clock: FrozenClock) -> None:
        self.storage, self.clock = storage, clock

    def attempt(self, username: str | None, origin: str) -> Attempt:
        attempt = Attempt(self.storage, Anonymous(origin), networks_of(origin), self.clock.now())
        attempt.count(lambda _uow: (None, limits_of(attempt.networks, username)))
        return attempt

    def succeed(self, username: str | None, origin: str) -> None:
        attempt = self.attempt(username, origin)
        self.storage.write(lambda uow: attempt.succeed(uow, uow.identity.counts, -1, 1))


@pytest.fixture
def limits(storage: MemoryStorage, clock: FrozenClock) -> Limits:
    return Limits(storage, clock)


def tries(limits: Limits, username: str, origin: str, most: int = 1000) -> int:
    """Fail to sign in until limited; return the number of attempts before that."""
    attempts = (number for number in range(most) if failure(limits.attempt, username, origin) is TooManySignIns)
    return next(attempts, most)


def test_a_refusal_states_how_long_to_wait(limits: Limits, clock: FrozenClock) -> None:
    tries(limits, "ann", HERE)
    for passed, wait in ((0, 300), (1, 299), (298, 1)):
        clock.pass_by(passed)
        with pytest.raises(TooManySignIns) as caught:
            limits.attempt("ann", HERE)
        assert caught.value.retry_after == wait
    clock.pass_by(1)
    assert tries(limits, "ann", HERE) == 10


def test_a_network_has_a_hundred_attempts_across_all_names(limits: Limits) -> None:
    spellings = ["ann", "Ann", "ann ", "a/nn", "ann/", "", "é", "😀", "a" * 64, "\0", "192.0.2.1"]
    assert sum(tries(limits, name, HERE) for name in spellings) == 100
    assert sum(tries(limits, f"user {number}", HERE, 1) for number in range(200)) == 0
    assert tries(limits, "ann", THERE) == 10


def test_a_successful_sign_in_uncounts_only_its_own_attempt_for_the_network(limits: Limits) -> None:
    for number in range(200):
        limits.succeed(f"user {number}", HERE)
    for number in range(99):
        limits.attempt(f"user {number}", HERE)
    limits.succeed("own", HERE)
    limits.attempt("last", HERE)
    assert failure(limits.attempt, "one too many", HERE) is TooManySignIns


def test_a_right_password_alone_uncounts_only_its_attempt_for_the_network(limits: Limits) -> None:
    """ASVS 6.3.1: a known password gives no fresh guesses of the second factor."""
    for _ in range(10):
        limits.storage.write(limits.attempt("ann", HERE).take_back)
    assert tries(limits, "ann", HERE) == 0
    assert sum(tries(limits, f"user {number}", HERE) for number in range(20)) == 100


def test_an_attempt_without_a_name_counts_only_for_its_network(limits: Limits) -> None:
    for _ in range(100):
        limits.attempt(None, HERE)
    assert failure(limits.attempt, None, HERE) is TooManySignIns
    assert failure(limits.attempt, "ann", HERE) is TooManySignIns
    limits.attempt(None, THERE)


def places(count: int) -> list[str]:
    return [f"198.51.100.{number}" for number in range(count)]


@pytest.mark.rule("contract K7")
@pytest.mark.parametrize("jump", [1, 299, 300, 301, 86_400, 100 * 366 * 86_400])
def test_no_caller_waits_longer_than_a_window_after_a_clock_jump(limits: Limits, clock: FrozenClock, jump: int) -> None:
    def waits() -> int:
        tries(limits, "ann", HERE, 10)
        with pytest.raises(TooManySignIns) as caught:
            limits.attempt("ann", HERE)
        return caught.value.retry_after

    clock.pass_by(jump)
    assert waits() == 300
    clock.pass_by(-jump)
    assert waits() <= 300
    clock.pass_by(300)
    assert waits() == 300


def test_names_and_networks_are_counted_separately(limits: Limits) -> None:
    tries(limits, "a/b", "c")
    assert tries(limits, "a", "b/c") == 10
    assert tries(limits, "c", "a/b") == 10


def test_an_ipv6_subscriber_counts_as_one_network_and_a_mapped_ipv4_address_as_itself(limits: Limits) -> None:
    assert sum(tries(limits, "ann", f"2001:db8::{number:x}", 1) for number in range(200)) == 10
    assert tries(limits, "ann", "2001:db8:0:1::1") == 10
    tries(limits, "ann", HERE)
    assert tries(limits, "ann", f"::ffff:{HERE}") == 0
    assert tries(limits, "ann", f"::ffff:{THERE}") == 10


def subnets(prefix: str, count: int) -> list[str]:
    """Return addresses in different /64s of a prefix that ends with a colon."""
    return [f"{prefix}{number:x}::1" for number in range(count)]


def test_many_ipv6_networks_of_one_client_share_the_limits_of_wider_ones(limits: Limits) -> None:
    assert sum(tries(limits, "ann", place, 1) for place in subnets("2001:db8:0:", 256)) == 20  # a /56
    assert sum(tries(limits, "ann", place, 1) for place in subnets("2001:db8:0:1", 256)) == 20  # another one
    assert sum(tries(limits, "ann", place, 1) for place in subnets("2001:db8:0:2", 256)) == 0  # the /48
    assert tries(limits, "ben", "2001:db8:0:3::1") == 10
    assert tries(limits, "ann", "2001:db8:1::1") == 10


def test_a_name_is_limited_from_all_networks_together_for_an_hour(limits: Limits, clock: FrozenClock) -> None:
    assert sum(tries(limits, "ann", place, 1) for place in places(200)) == 100
    with pytest.raises(TooManySignIns) as caught:
        limits.attempt("ann", THERE)
    assert caught.value.retry_after == 3600
    assert tries(limits, "ben", THERE) == 10
    clock.pass_by(3600)
    assert tries(limits, "ann", THERE) == 10


@given(origin=st.text() | st.just("\ud800") | st.from_regex(r"[0-9a-f:.%/]{0,45}"), username=st.text(max_size=64))
def test_a_network_may_have_any_name(origin: str, username: str) -> None:
    storage = MemoryStorage()
    limits = Limits(storage, FrozenClock())
    assert tries(limits, username, origin) == 10
    assert all(len(counted) <= 64 for counted in vars(storage)["_tables"].counts)


@given(st.ip_addresses(v=6), st.ip_addresses(v=6))
def test_wider_networks_contain_the_narrower_ones(one: IPv6Address, other: IPv6Address) -> None:
    networks = [networks_of(str(each)) for each in (one, other)]
    for narrow, wide in pairwise(zip(*networks, strict=False)):  # IPv4 has no wider ones
        assert narrow[0] != narrow[1] or wide[0] == wide[1]


def test_a_sign_in_forgets_the_failures_before_it(gallery: LogoAdmin) -> None:
    def wrong(username: str, times: int) -> None:
        for _ in range(times):
            with pytest.raises(SignInRefused):
                gallery.sessions.sign_in(SignIn(username=username, password="wrong"), Anonymous(HERE))

    for _ in range(3):
        wrong("ann", 9)
        gallery.sessions.sign_in(SignIn(username="ann", password=ANN_PASSWORD), Anonymous(HERE))
    for username in ("ann", "nobody"):  # whether the user exists makes no difference
        wrong(username, 10)
        assert failure(wrong, username, 1) is TooManySignIns


DAY = 86_400
HOME, MOBILE, NEW = Anonymous("198.51.100.1"), Anonymous("2001:db8:0:1::1"), Anonymous("2001:db8:0:ff::1")
RULES = SignInRules(event_days=180)


@pytest.fixture
def gallery(storage: MemoryStorage, clock: FrozenClock) -> LogoAdmin:
    found = gallery_on(storage, clock, sign_in=RULES)
    found.users.create(users.CreateUser(user_id=7, username="ann", avatar=None, password=ANN_PASSWORD))
    return found


def fails(gallery: LogoAdmin, client: Anonymous) -> bool:
    """Return whether a wrong password is verified, not limited."""
    error = failure(gallery.sessions.sign_in, SignIn(username="ann", password="wrong"), client)
    assert error in (SignInRefused, TooManySignIns)
    return error is SignInRefused


def attack(storage: MemoryStorage, clock: FrozenClock, username: str = "ann") -> int:
    """Use up the limits of a name, and of the /48 around MOBILE; return the number of verified guesses."""
    origins = [f"2001:db8:0:{number:x}::2" for number in range(256, 768)]
    origins += [f"203.0.113.{number}" for number in range(100)]
    return sum(tries(Limits(storage, clock), username, origin, 1) for origin in origins)


def refused(gallery: LogoAdmin, client: Anonymous) -> bool:
    error = failure(gallery.sessions.sign_in, ANN, client)
    assert error in (None, TooManySignIns)
    return error is not None


def refresh(gallery: LogoAdmin, tokens: Tokens, client: Anonymous) -> Tokens:
    return gallery.sessions.refresh(Refresh(refresh_token=tokens.refresh_token), client)


def test_an_attack_locks_no_known_network_out(gallery: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    for client in (HOME, MOBILE):
        gallery.sessions.sign_in(ANN, client)
    clock.pass_by(100 * DAY)
    assert attack(storage, clock) == 100
    assert refused(gallery, NEW)
    assert refused(gallery, Anonymous("198.51.100.2"))
    for client in (HOME, MOBILE, Anonymous("2001:db8:0:1::abcd")):
        assert not refused(gallery, client)
    # Guesses from there count only towards the limit of that network.
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


def test_the_second_step_is_limited_except_from_known_networks(
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
    assert failure(gallery.factors.sign_in, step, NEW) is TooManySignIns
    gallery.factors.sign_in(answering(at_home, totp=code_of(totp, clock.now())), HOME)


@pytest.mark.rule("contract O6")
def test_account_recovery_works_during_attacks(gallery: LogoAdmin, storage: MemoryStorage, clock: FrozenClock) -> None:
    code = gallery.sign_in_codes.create(CreateSignInCode(user_id=7)).code
    assert attack(storage, clock) == 100
    assert refused(gallery, NEW)
    command = SignInWithCode(username="ann", code=code)
    assert gallery.sign_in_codes.sign_in(command, NEW).access_token


def test_the_networks_of_a_user_are_bounded(storage: MemoryStorage, clock: FrozenClock) -> None:
    now = clock.now()

    def network(uow: UnitOfWork, number: int) -> UserNetwork:
        return network_of_user(uow.changes, 7, network_of(f"2001:db8:0:{number:x}::1"))

    def known_until(uow: UnitOfWork, number: int) -> int:
        return uow.identity.counts.get(network(uow, number).counted).ends_at

    def roam(uow: UnitOfWork, numbers: Iterable[int], at: int) -> None:
        for number in numbers:
            remember_network(uow.identity.counts, network(uow, number), known_until(uow, number), at, 1)

    storage.write(lambda uow: roam(uow, range(MOST_NETWORKS + 5), now))
    first, last, beyond = storage.read(
        lambda uow: [known_until(uow, at) for at in (0, MOST_NETWORKS - 1, MOST_NETWORKS)]
    )
    assert (first, last, beyond) == (now + DAY, now + DAY, 0)
    storage.write(lambda uow: roam(uow, [MOST_NETWORKS], now + DAY))
    assert storage.read(lambda uow: known_until(uow, MOST_NETWORKS)) == now + 2 * DAY


def test_concurrent_sign_ins_add_a_network_once(limits: Limits, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("logoadmin.domain.identity.sign_in_limits.MOST_NETWORKS", 2)
    here, there = ([limits.attempt("ann", network) for _ in range(2)] for network in (HERE, THERE))

    def known_until(uow: UnitOfWork) -> list[int]:
        networks = (network_of_user(uow.changes, None, network) for network in (HERE, THERE))
        return [uow.identity.counts.get(network.counted).ends_at for network in networks]

    def succeed(uow: UnitOfWork) -> None:
        for attempt in (*here, *there):
            attempt.succeed(uow, uow.identity.counts, NO_USER, 1)

    limits.storage.write(succeed)
    assert limits.storage.read(known_until) == [limits.clock.now() + DAY] * 2


@pytest.mark.rule("contract H6")
def test_attempts_in_an_atomic_block_are_refused_because_a_failing_block_would_forget_them(gallery: LogoAdmin) -> None:
    tokens = gallery.sessions.sign_in(ANN)
    changed = SetPassword(user_id=7, password="another", current_password="guessed")
    calls: list[Callable[[LogoAdmin], object]] = [
        lambda bound: bound.sessions.sign_in(ANN),
        lambda bound: bound.sessions.refresh(refreshing(tokens)),
        lambda bound: bound.users.set_password(changed, caller(bound, tokens)),
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match="outside of the atomic block"):
            gallery.atomic(call)
