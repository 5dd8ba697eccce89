"""Every rule of :mod:`logoadmin.ports.passwords`, over every adapter."""

import base64
from unicodedata import normalize

import argon2 as argon2_cffi
import pytest
from hypothesis import given

from logoadmin.adapters.argon2_passwords import Argon2Passwords
from logoadmin.domain.kernel.records import PasswordHash
from tests.strategies import texts

pytestmark = pytest.mark.rule("contract C4")

# A cheap one, and one with a higher cost, as set by an operator.
WEAK, STRONG = Argon2Passwords(8, 1), Argon2Passwords(16, 2)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The hashes that Argon2 verifies; all of them match."""
    hashes: list[str] = []

    def verify(_: object, hash_: str, _password: str) -> bool:
        hashes.append(hash_)
        return True

    monkeypatch.setattr(argon2_cffi.PasswordHasher, "verify", verify)
    return hashes


@given(texts(1, 256), texts(1, 256))
def test_a_password_proves_itself(password: str, other: str) -> None:
    hash_ = WEAK.hash(password)
    assert WEAK.verify(hash_, password)
    assert WEAK.verify(hash_, other) == (normalize("NFC", password) == normalize("NFC", other))


@pytest.mark.parametrize(
    ("password", "other"),
    [("a" * 256, "a" * 255), ("ﬁ", "fi"), ("😀" * 256, "😀" * 255 + "😁"), ("a", "a\0"), ("a", "a "), ("A", "a")],
)
def test_passwords_are_compared_completely_and_exactly(password: str, other: str) -> None:
    assert not WEAK.verify(WEAK.hash(password), other)
    assert not WEAK.verify(WEAK.hash(other), password)


@pytest.mark.parametrize("password", ["pässwörd", "Ǻngström", "한국어", "ё" * 128])
def test_a_password_is_the_same_however_a_keyboard_composes_it(password: str) -> None:
    forms = [normalize("NFC", password), normalize("NFD", password)]
    for made in forms:
        older = PasswordHash(argon2_cffi.PasswordHasher(1, 8, 1).hash(made))
        for typed in forms:
            assert WEAK.verify(WEAK.hash(made), typed)
            assert WEAK.verify(older, typed)


def test_a_hash_does_not_show_the_password_and_is_not_shown() -> None:
    hash_ = WEAK.hash("hunter2")
    assert "hunter2" not in hash_.hash
    assert hash_.hash not in f"{hash_} {hash_!r}"
    assert hash_.hash.isascii()
    assert len(hash_.hash) <= 256


@pytest.mark.rule("contract C1")
@pytest.mark.parametrize("password", ["nobody", "", "None", "x" * 256])
def test_without_a_valid_hash_no_password_is_correct(password: str) -> None:
    assert not WEAK.verify(None, password)
    broken_ones = ("", "x", "$argon2id$", "$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA", "$2b$12$" + "a" * 53, "$argon2id$é\0")
    for broken in broken_ones:
        assert not WEAK.verify(PasswordHash(broken), password)


def argon2(memory: object = 19_456, passes: object = 2, lanes: object = 1, salt: int = 16, digest: int = 32) -> str:
    """Return a hash of this form, for which no password is known."""
    parts = [base64.b64encode(b"x" * length).decode().rstrip("=") for length in (salt, digest)]
    return f"$argon2id$v=19$m={memory},t={passes},p={lanes}${parts[0]}${parts[1]}"


@pytest.mark.rule("contract I2")
@pytest.mark.parametrize(
    "hash_",
    [
        # The costs of PHP, argon2-cffi and Django.
        *(argon2(65_536, 4, 1), argon2(65_536, 3, 4), argon2(102_400, 2, 8)),
        *(argon2(), argon2(131_072, 2), argon2(8, 1), argon2(128, 2_048, 16)),
        *(argon2(salt=8, digest=16), argon2(salt=64, digest=64)),
        *(argon2().replace("argon2id", "argon2i"), argon2().replace("argon2id", "argon2d")),
    ],
)
def test_a_hash_of_another_program_is_accepted_at_an_acceptable_cost(hash_: str) -> None:
    assert WEAK.refusal(PasswordHash(hash_)) is None


UNBEARABLE = [
    *(argon2(131_073, 1), argon2(131_072, 3), argon2(1_048_576, 1), argon2(4_294_967_295, 4_294_967_295)),
    *(argon2(8, 32_769), argon2(136, 1, 17), argon2(15, 1, 2), argon2(8, 0), argon2(0, 1), argon2(8, 1, 0)),
    *(argon2(-8, -1), argon2("9" * 100), argon2("\uff11\uff19"), argon2(" 8"), argon2(salt=7), argon2(salt=65)),
    *(argon2(digest=15), argon2(digest=65), argon2() + "AA", argon2() + "=", argon2() + "$", argon2() + "\n"),
    *(argon2().replace("eHh4", "e-_4"), argon2().replace("v=19", "v=20"), argon2().replace("argon2id", "argon2x"), ""),
    *("x", "$2b$12$" + "a" * 53, "é"),
]


@pytest.mark.rule("contract I2")
@pytest.mark.parametrize("hash_", UNBEARABLE)
def test_an_expensive_or_invalid_hash_is_neither_accepted_nor_run(hash_: str, run: list[str]) -> None:
    assert WEAK.refusal(PasswordHash(hash_)) is not None
    assert not WEAK.verify(PasswordHash(hash_), "password")
    assert [hash_[:26] for hash_ in run] == ["$argon2id$v=19$m=8,t=1,p=1"]  # as long as without a hash


def test_a_correct_password_is_refused_if_its_hash_would_not_be_accepted() -> None:
    costly = Argon2Passwords(131_080, 1)
    hash_ = costly.hash("password")
    assert costly.verify(hash_, "password")
    assert not WEAK.verify(hash_, "password")


@pytest.mark.parametrize(
    "hash_",
    [
        None,
        # Hashes of "password" by argon2-cffi at these costs; creating them takes as long as verifying them.
        "$argon2id$v=19$m=65536,t=3,p=4$zJ5n+4gWHx1brS7Qj912Qw$ti89fKElYxRRBQ7jQSB6lq7fNyJ9FQ6revPN5WvKMKU",
        "$argon2id$v=19$m=102400,t=2,p=8$WPBCMawLOotyv1wIwp30sw$NSTP8pCh2pVIi5aRSuEAJ1fcmDeae9HP8s9wKow+XIo",
    ],
    ids=["own", "argon2-cffi", "Django"],
)
def test_hashing_at_a_lower_cost_locks_nobody_out(hash_: str | None) -> None:
    made = Argon2Passwords().hash("password") if hash_ is None else PasswordHash(hash_)
    assert WEAK.verify(made, "password")


@pytest.mark.rule("contract I2")
def test_own_hashes_are_accepted_at_any_cost() -> None:
    for hasher in (WEAK, STRONG, Argon2Passwords(262_144, 1)):
        for other in (WEAK, STRONG):
            assert hasher.refusal(other.hash("password")) is None
    costly = Argon2Passwords(200_000, 4)
    assert costly.refusal(PasswordHash(argon2(200_000, 4))) is None
    assert costly.refusal(PasswordHash(argon2(200_001, 4))) is not None
    assert costly.refusal(PasswordHash(argon2(200_000, 5))) is not None


def test_a_hash_is_outdated_if_a_new_one_would_be_stronger() -> None:
    assert STRONG.needs_rehash(WEAK.hash("password"))
    assert not WEAK.needs_rehash(WEAK.hash("password"))
    assert not STRONG.needs_rehash(STRONG.hash("password"))
    assert STRONG.verify(WEAK.hash("password"), "password")


def test_hashes_are_argon2id_as_owasp_recommends_by_default() -> None:
    hash_ = Argon2Passwords().hash("password").hash
    assert hash_.startswith("$argon2id$v=19$m=19456,t=2,p=1$")


@pytest.mark.rule("contract C1")
def test_a_wrong_password_takes_the_time_of_every_class(run: list[str]) -> None:
    """Whether the user is unknown, or their hash is cheap, expensive or not accepted."""
    hasher, classes = Argon2Passwords(), [argon2(65_536, 3, 4).rsplit("$", 2)[0], "$argon2id$v=19$m=1,t=1,p=99", "$2b"]
    ours = argon2().rsplit("$", 2)[0]
    for stored in (None, PasswordHash(argon2()), PasswordHash(argon2(65_536, 3, 4)), PasswordHash("none")):
        run.clear()
        hasher.verify(stored, "wrong")
        hasher.verify_others(stored, classes, "wrong")
        assert sorted(hash_.rsplit("$", 2)[0] for hash_ in run) == sorted([ours, classes[0]])
    # If all hashes are of one class, nothing is run twice.
    run.clear()
    hasher.verify(None, "wrong")
    hasher.verify_others(None, [ours], "wrong")
    assert [hash_.rsplit("$", 2)[0] for hash_ in run] == [ours]


@pytest.mark.rule("contract C1")
def test_only_the_most_expensive_classes_are_run(run: list[str]) -> None:
    WEAK.verify_others(None, [f"$argon2id$v=19$m={memory},t=1,p=1" for memory in range(9, 99)], "x")
    assert len(run) == 4
    assert all(f"m={memory}," in hash_ for memory, hash_ in zip(range(98, 94, -1), run, strict=True))
