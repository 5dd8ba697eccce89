"""Every sentence of :mod:`logoadmin.ports.sign_in_limits`, over every adapter."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from logoadmin.adapters.memory_sign_in_limits import MemorySignInLimits
from logoadmin.domain.errors import TooManySignIns
from logoadmin.ports.sign_in_limits import SignInLimits

pytestmark = pytest.mark.rule("contract C1")

ADAPTERS: list[Callable[[], SignInLimits]] = [MemorySignInLimits]
HERE, THERE = "192.0.2.1", "192.0.2.2"


@pytest.fixture(params=ADAPTERS, ids=["memory"])
def limits(request: pytest.FixtureRequest) -> SignInLimits:
    made: SignInLimits = request.param()
    return made


def tries(limits: SignInLimits, username: str, origin: str, most: int = 1000) -> int:
    """Fail to sign in until it is refused; return how often it was not."""
    for number in range(most):
        try:
            limits.attempt(username, origin)
        except TooManySignIns:
            return number
    return most


def test_a_name_may_be_tried_ten_times_from_one_place(limits: SignInLimits) -> None:
    assert tries(limits, "ann", HERE) == 10
    assert tries(limits, "ann", HERE) == 0


def test_it_says_how_long_to_wait(limits: SignInLimits) -> None:
    tries(limits, "ann", HERE)
    with pytest.raises(TooManySignIns) as caught:
        limits.attempt("ann", HERE)
    assert isinstance(caught.value.retry_after, int)
    assert 1 <= caught.value.retry_after <= 300


def test_others_and_elsewhere_are_not_kept_out(limits: SignInLimits) -> None:
    tries(limits, "ann", HERE)
    assert tries(limits, "ben", HERE) == 10
    assert tries(limits, "ann", THERE) == 10


def test_a_place_may_try_a_hundred_times_whatever_the_names(limits: SignInLimits) -> None:
    assert sum(tries(limits, f"user {number}", HERE) for number in range(20)) == 100
    assert tries(limits, "ann", THERE) == 10


def test_a_success_takes_back_the_failures_for_the_name(limits: SignInLimits) -> None:
    assert tries(limits, "ann", HERE, 9) == 9
    limits.attempt("ann", HERE)
    limits.succeeded("ann", HERE)
    assert tries(limits, "ann", HERE) == 10


def test_a_success_takes_back_its_own_attempt_from_the_place_and_no_other(limits: SignInLimits) -> None:
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


def test_other_spellings_are_other_names_but_come_from_the_same_place(limits: SignInLimits) -> None:
    spellings = ["ann", "Ann", "ann ", "a/nn", "ann/", "", "é", "😀", "a" * 64, "\0", "192.0.2.1"]
    assert sum(tries(limits, name, HERE) for name in spellings) == 100


def test_name_and_place_are_not_mixed_up(limits: SignInLimits) -> None:
    tries(limits, "a/b", "c")
    assert tries(limits, "a", "b/c") == 10
    assert tries(limits, "c", "a/b") == 10


def test_many_at_once_do_not_slip_through(limits: SignInLimits) -> None:
    def admitted(_: int) -> bool:
        return tries(limits, "ann", HERE, 1) == 1

    with ThreadPoolExecutor(16) as threads:
        assert sum(threads.map(admitted, range(200))) == 10


def test_a_subscriber_of_ipv6_is_one_place_and_an_ipv4_address_within_ipv6_is_itself(limits: SignInLimits) -> None:
    assert sum(tries(limits, "ann", f"2001:db8::{number:x}", 1) for number in range(200)) == 10
    assert tries(limits, "ann", "2001:db8:0:1::1") == 10
    tries(limits, "ann", HERE)
    assert tries(limits, "ann", f"::ffff:{HERE}") == 0
    assert tries(limits, "ann", f"::ffff:{THERE}") == 10


def test_a_place_that_is_refused_leaves_no_trace_of_the_names_it_tries(limits: SignInLimits) -> None:
    for number in range(200):
        tries(limits, f"user {number}", HERE, 1)
    assert tries(limits, "user 150", HERE) == 0
