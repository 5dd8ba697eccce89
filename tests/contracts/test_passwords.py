"""Every sentence of :mod:`logoadmin.ports.passwords`, over every adapter."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings

from logoadmin.adapters.argon2_passwords import Argon2Passwords
from logoadmin.domain.records import PasswordHash
from logoadmin.ports.passwords import PasswordHasher
from tests.strategies import texts

pytestmark = pytest.mark.rule("contract C4")

# Each adapter, cheap first and then as an operator makes it stronger.
ADAPTERS: list[tuple[Callable[[], PasswordHasher], Callable[[], PasswordHasher]]] = [
    (lambda: Argon2Passwords(8, 1), lambda: Argon2Passwords(16, 2)),
]


@pytest.fixture(params=ADAPTERS, ids=["argon2"])
def adapter(request: pytest.FixtureRequest) -> tuple[PasswordHasher, PasswordHasher]:
    weak, strong = request.param
    return weak(), strong()


@pytest.fixture
def hasher(adapter: tuple[PasswordHasher, PasswordHasher]) -> PasswordHasher:
    return adapter[0]


@settings(max_examples=30)
@given(texts(1, 256), texts(1, 256))
def test_a_password_proves_itself_and_no_other(
    adapter: tuple[PasswordHasher, PasswordHasher], password: str, other: str
) -> None:
    hasher = adapter[0]
    hash_ = hasher.hash(password)
    assert hasher.verify(hash_, password)
    assert hasher.verify(hash_, other) == (password == other)


@pytest.mark.parametrize(
    ("password", "other"),
    [("a" * 256, "a" * 255), ("é", "e\u0301"), ("😀" * 256, "😀" * 255 + "😁"), ("a", "a\0"), ("a", "a "), ("A", "a")],
)
def test_passwords_are_compared_whole_and_exactly(hasher: PasswordHasher, password: str, other: str) -> None:
    assert not hasher.verify(hasher.hash(password), other)
    assert not hasher.verify(hasher.hash(other), password)


def test_two_hashes_of_a_password_are_not_alike(hasher: PasswordHasher) -> None:
    first, second = hasher.hash("password"), hasher.hash("password")
    assert first != second
    assert hasher.verify(first, "password")
    assert hasher.verify(second, "password")


def test_a_hash_does_not_show_the_password_and_is_not_shown(hasher: PasswordHasher) -> None:
    hash_ = hasher.hash("hunter2")
    assert "hunter2" not in hash_.sealed
    assert hash_.sealed not in f"{hash_} {hash_!r}"
    assert hash_.sealed.isascii()
    assert len(hash_.sealed) <= 256


@pytest.mark.rule("contract C1")
@pytest.mark.parametrize("password", ["nobody", "", "None", "x" * 256])
def test_where_there_is_no_hash_no_password_is_right(hasher: PasswordHasher, password: str) -> None:
    assert not hasher.verify(None, password)


@pytest.mark.parametrize(
    "sealed",
    ["", "x", "$argon2id$", "$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA", "$2b$12$" + "a" * 53, "é", "$argon2id$é\0"],
)
def test_a_hash_that_is_none_is_never_right(hasher: PasswordHasher, sealed: str) -> None:
    assert not hasher.verify(PasswordHash(sealed), "password")


def test_a_hash_is_outdated_when_a_stronger_one_would_be_made(adapter: tuple[PasswordHasher, PasswordHasher]) -> None:
    weak, strong = adapter
    assert strong.outdated(weak.hash("password"))
    assert not weak.outdated(weak.hash("password"))
    assert not strong.outdated(strong.hash("password"))
    assert strong.verify(weak.hash("password"), "password")


def test_hashes_are_argon2id_as_owasp_recommends_by_default() -> None:
    sealed = Argon2Passwords().hash("password").sealed
    assert sealed.startswith("$argon2id$v=19$m=19456,t=2,p=1$")


def test_several_threads_may_hash_at_once(hasher: PasswordHasher) -> None:
    def proves_itself(number: int) -> bool:
        hash_ = hasher.hash(str(number))
        return hasher.verify(hash_, str(number)) and not hasher.verify(hash_, f"{number}x")

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(proves_itself, range(40)))
