"""Every sentence of :mod:`logoadmin.domain.identity.sign_in_limits` (contract C1)."""

from ipaddress import IPv6Address
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.identity.sessions import SignIn
from logoadmin.domain.identity.sign_in_limits import attempt, limits_of, succeeded, take_back, wider_network
from logoadmin.domain.kernel.access import Anonymous, network_of
from logoadmin.domain.kernel.errors import SignInRefused, TooManySignIns
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.ports.storage import Storage
from tests.gallery import ANN_PASSWORD, FrozenClock

pytestmark = pytest.mark.rule("contract C1")

HERE, THERE = "192.0.2.1", "192.0.2.2"


class Limits:
    """The limits on a storage, at the time of a clock."""

    def __init__(self, storage: Storage, clock: FrozenClock) -> None:
        self.storage, self.clock = storage, clock

    def attempt(self, username: str | None, origin: str, totp_of: int | None = None) -> None:
        limits = limits_of(origin, username, totp_of)
        wait = self.storage.write(lambda uow: attempt(uow, limits, self.clock.now()))
        if wait is not None:
            raise TooManySignIns(wait)

    def succeeded(self, username: str | None, origin: str, totp_of: int | None = None) -> None:
        self.storage.write(lambda uow: succeeded(uow, limits_of(origin, username, totp_of)))

    def take_back(self, username: str | None, origin: str) -> None:
        self.storage.write(lambda uow: take_back(uow, limits_of(origin, username)))


@pytest.fixture
def limits(storage: MemoryStorage, clock: FrozenClock) -> Limits:
    return Limits(storage, clock)


def tries(limits: Limits, username: str, origin: str, most: int = 1000) -> int:
    """Fail to sign in until it is refused; return how often it was not."""
    for number in range(most):
        try:
            limits.attempt(username, origin)
        except TooManySignIns:
            return number
    return most


def test_a_refusal_states_how_long_to_wait(limits: Limits, clock: FrozenClock) -> None:
    tries(limits, "ann", HERE)
    for passed, wait in ((0, 300), (1, 299), (298, 1)):
        clock.pass_by(passed)
        with pytest.raises(TooManySignIns) as caught:
            limits.attempt("ann", HERE)
        assert caught.value.retry_after == wait
    clock.pass_by(1)
    assert tries(limits, "ann", HERE) == 10


def test_a_place_may_try_a_hundred_times_whatever_the_names(limits: Limits) -> None:
    spellings = ["ann", "Ann", "ann ", "a/nn", "ann/", "", "é", "😀", "a" * 64, "\0", "192.0.2.1"]
    assert sum(tries(limits, name, HERE) for name in spellings) == 100
    assert sum(tries(limits, f"user {number}", HERE, 1) for number in range(200)) == 0
    assert tries(limits, "ann", THERE) == 10


def test_a_success_takes_back_its_own_attempt_from_the_place_and_no_other(limits: Limits) -> None:
    for number in range(200):
        limits.attempt(f"user {number}", HERE)
        limits.succeeded(f"user {number}", HERE)
    for number in range(99):
        limits.attempt(f"user {number}", HERE)
    limits.attempt("own", HERE)
    limits.succeeded("own", HERE)
    limits.attempt("last", HERE)
    with pytest.raises(TooManySignIns):
        limits.attempt("one too many", HERE)


def test_a_right_password_alone_takes_back_only_its_attempt_from_the_place(limits: Limits) -> None:
    """ASVS 6.3.1: a known password gives no fresh guesses of the second factor."""
    for _ in range(10):
        limits.attempt("ann", HERE)
        limits.take_back(None, HERE)
    assert tries(limits, "ann", HERE) == 0
    assert sum(tries(limits, f"user {number}", HERE) for number in range(20)) == 100


def test_an_attempt_that_names_nobody_counts_for_its_place_alone(limits: Limits) -> None:
    for _ in range(100):
        limits.attempt(None, HERE)
    with pytest.raises(TooManySignIns):
        limits.attempt(None, HERE)
    with pytest.raises(TooManySignIns):
        limits.attempt("ann", HERE)
    limits.attempt(None, THERE)


def places(count: int) -> list[str]:
    return [f"198.51.100.{number}" for number in range(count)]


def test_name_and_place_are_not_mixed_up(limits: Limits) -> None:
    tries(limits, "a/b", "c")
    assert tries(limits, "a", "b/c") == 10
    assert tries(limits, "c", "a/b") == 10


def test_a_subscriber_of_ipv6_is_one_place_and_an_ipv4_address_within_ipv6_is_itself(limits: Limits) -> None:
    assert sum(tries(limits, "ann", f"2001:db8::{number:x}", 1) for number in range(200)) == 10
    assert tries(limits, "ann", "2001:db8:0:1::1") == 10
    tries(limits, "ann", HERE)
    assert tries(limits, "ann", f"::ffff:{HERE}") == 0
    assert tries(limits, "ann", f"::ffff:{THERE}") == 10


def subnets(prefix: str, count: int) -> list[str]:
    """Return addresses in different /64s of a prefix that ends with a colon."""
    return [f"{prefix}{number:x}::1" for number in range(count)]


def test_who_has_many_networks_of_ipv6_meets_the_limits_of_the_wider_ones(limits: Limits) -> None:
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


def test_stored_attempts_reveal_neither_name_nor_address(limits: Limits, storage: MemoryStorage) -> None:
    tries(limits, "ann-with-a-name", HERE, 1)
    kept = repr(vars(storage)["_tables"].sign_in_attempts)
    assert "ann-with-a-name" not in kept
    assert HERE not in kept


@given(origin=st.text() | st.just("\ud800") | st.from_regex(r"[0-9a-f:.%/]{0,45}"), username=st.text(max_size=64))
def test_a_place_may_have_any_name(origin: str, username: str) -> None:
    storage = MemoryStorage()
    limits = Limits(storage, FrozenClock())
    assert tries(limits, username, origin) == 10
    assert all(len(counted) <= 64 for counted in vars(storage)["_tables"].sign_in_attempts)


@given(st.ip_addresses(v=6), st.ip_addresses(v=6))
def test_wider_networks_contain_the_narrower_ones(one: IPv6Address, other: IPv6Address) -> None:
    networks = [
        (network_of(str(each)), *(wider_network(str(each), length) for length in (56, 48))) for each in (one, other)
    ]
    for narrow, wide in pairwise(zip(*networks, strict=True)):
        assert narrow[0] != narrow[1] or wide[0] == wide[1]


def test_a_sign_in_forgets_the_failures_before_it(stocked: LogoAdmin) -> None:
    def wrong(username: str, times: int) -> None:
        for _ in range(times):
            with pytest.raises(SignInRefused):
                stocked.sessions.sign_in(SignIn(username=username, password="wrong"), Anonymous(HERE))

    for _ in range(3):
        wrong("ann", 9)
        stocked.sessions.sign_in(SignIn(username="ann", password=ANN_PASSWORD), Anonymous(HERE))
    for username in ("ann", "nobody"):  # whether there is such a user makes no difference
        wrong(username, 10)
        with pytest.raises(TooManySignIns):
            wrong(username, 1)
