"""The rules of :mod:`logoadmin.ports.identity_storage` and :mod:`logoadmin.ports.sign_in_storage`, over every adapter.

The random steps of ``tests/contracts/test_storage_agreement.py`` prove that the storages agree about everything else.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from logoadmin.domain.identity.records import CountedEvent, EventName, ServiceKey, SignInEvent
from logoadmin.domain.identity.sign_in_rules import Ways
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.kernel.records import PasswordHash
from logoadmin.ports.history_storage import StoredResponse
from logoadmin.ports.identity_storage import Count, Session
from logoadmin.ports.sign_in_storage import Challenge, Factor, Identity
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.contracts.steps import Step, add, at_once, remove, role, session, user, write, write_and_fail

HOUR: Final = 3_600
NOON: Final = 1_800_000_000 - 1_800_000_000 % HOUR
LATEST: Final = 2**53 - 1
BIG: Final = "\U0001f0a1"
ISSUER: Final = "https://issuer.test"


@pytest.fixture
def people(storage: Storage) -> Storage:
    write(storage, add(role(), user(1, "ann"), user(2, "ben")))
    return storage


def totp(factor_id: int, user_id: int = 1, *, confirmed: bool = False) -> Factor:
    return Factor(factor_id, user_id, "totp", f"phone {factor_id}", 1_000, "encrypted", None, 0, confirmed, None)


def passkey(factor_id: int, credential: str, user_id: int = 1, *, confirmed: bool = True) -> Factor:
    return Factor(factor_id, user_id, "passkey", BIG * 64, LATEST, BIG * 999, credential, 2**40, confirmed, LATEST)


def key(key_id: int) -> ServiceKey:
    return ServiceKey(key_id, f"key {key_id}", (), 1_000, None, None)


def challenge(name: str, user_id: int | None = 1, expires_at: int = 2_000) -> Challenge:
    return Challenge(name, "link", user_id, BIG * 4_000, expires_at)


def event(event_id: int, at: int = NOON, name: EventName = "sign_in_refused", **values: Any) -> SignInEvent:
    return SignInEvent(event_id, at, name, **{"user_id": 1, "user_name": "ann", "address": "192.0.2.1", **values})


def add_factors(*factors: Factor) -> Step:
    def step(uow: UnitOfWork) -> None:
        for factor in factors:
            uow.identity.factors.add(factor)

    return step


def add_events(*events: SignInEvent) -> Step:
    def step(uow: UnitOfWork) -> None:
        for event in events:
            uow.identity.events.add(event)

    return step


# All tables


CLIENT: Final = ("2001:db8::" + "f" * 54, BIG * 256)
LARGEST: Final = (
    Session("s" * 32, 1, 999, LATEST, LATEST, *CLIENT, "recovery_code"),
    '{"view": "🦊\\u0000"}' + " " * 16_000,
    ServiceKey(MAX_ID, BIG * 64, tuple(f"{number:064}" for number in range(64)), 0, LATEST, LATEST),
    Count(MAX_ID, LATEST),
    passkey(MAX_ID, "c" * 1_364),
    challenge("c" * 128, expires_at=LATEST),
    Identity("https://issuer.test/" + "i" * 2_028, "s" * 255, 1, '["' + "g" * 999 * 255 + '"]', refused=True),
    SignInEvent(7, LATEST, "recovery_codes_made", 1, BIG * 64, *CLIENT, "f" * 32, MAX_ID, MAX_ID, BIG * 64),
    StoredResponse("h" * 64, BIG * 300_000, LATEST),
    BIG * 1_000,
)


@pytest.mark.rule("contract C2", "contract C3", "contract C5", "contract C6", "contract F3", "contract J8")
@pytest.mark.rule("contract O1", "contract O7", "contract O9")
def test_the_largest_values_are_stored_unchanged_and_replace_others(people: Storage) -> None:
    session, preferences, key, count, factor, challenge, identity, event, response, secret = LARGEST

    def store(uow: UnitOfWork) -> None:
        uow.identity.sessions.add(replace(session, created_at=1, expires_at=1, refreshed_at=None, factor="password"))
        uow.identity.sessions.update(session)
        uow.identity.keys.add(replace(key, created_at=1, expires_at=None, last_used_at=None), 1, "h" * 128)
        uow.identity.keys.update(key)
        uow.identity.factors.add(replace(factor, secret="", counter=0, confirmed=False, last_used_at=None))
        uow.identity.factors.update(factor)
        for each in (replace(identity, user_id=2, groups="[]", refused=False), identity):
            uow.identity.identities.put(each)
        for text in ("{}", preferences):
            uow.identity.preferences.set(1, text)
        for each_count in (Count(1, 2), count):
            uow.identity.counts.put({BIG * 64: each_count})
        for value in ("", secret):
            uow.secrets.put("token_key", value)
        uow.identity.challenges.add(challenge)
        uow.identity.events.add(event)
        uow.stored_responses.add(response)

    def stored(uow: UnitOfWork) -> tuple[object, ...]:
        return (
            *uow.identity.sessions.of_user(1),
            uow.identity.preferences.get(1),
            *uow.identity.keys.of_user(1),
            uow.identity.counts.get(BIG * 64),
            *uow.identity.factors.of_user(1),
            uow.identity.challenges.get(challenge.challenge_hash),
            *uow.identity.identities.of_user(1),
            *uow.identity.events.page(MAX_ID, 9),
            uow.stored_responses.get(response.key_hash),
            uow.secrets.get("token_key"),
        )

    write(people, store)
    for found in (people.read(stored), people.snapshot(stored), people.write(stored)):
        assert repr(found) == repr(LARGEST)  # such as True, not 1
        assert found == LARGEST


# For each table whose rows have a text as key, how a row is stored and found by it.
FOUND: Final[dict[str, tuple[Callable[[UnitOfWork, str], object], Callable[[UnitOfWork, str], object]]]] = {
    "session": (
        lambda uow, text: uow.identity.sessions.add(session(text, 1)),
        lambda uow, text: uow.identity.sessions.rights(text, 1),
    ),
    "refresh token": (
        lambda uow, text: uow.identity.sessions.add_refresh_token(text, "a session"),
        lambda uow, text: uow.identity.sessions.refresh_token(text),
    ),
    "service key": (
        lambda uow, text: uow.identity.keys.add(key(uow.identity.keys.next_id()), 1, text),
        lambda uow, text: uow.identity.keys.find(text),
    ),
    "count": (
        lambda uow, text: uow.identity.counts.put({text: Count(1, 1_000)}),
        lambda uow, text: uow.identity.counts.get(text).number,
    ),
    "credential": (
        lambda uow, text: uow.identity.factors.add(passkey(uow.identity.factors.next_id(), text)),
        lambda uow, text: uow.identity.factors.find_credential(text),
    ),
    "recovery code": (
        lambda uow, text: uow.identity.recovery_codes.replace(1, [text]),
        lambda uow, text: uow.identity.recovery_codes.use(1, text),
    ),
    "challenge": (
        lambda uow, text: uow.identity.challenges.add(challenge(text)),
        lambda uow, text: uow.identity.challenges.take(text),
    ),
    "issuer": (
        lambda uow, text: uow.identity.identities.put(Identity(text, "sub", 1, "[]")),
        lambda uow, text: uow.identity.identities.find(text, "sub"),
    ),
    "subject": (
        lambda uow, text: uow.identity.identities.put(Identity(ISSUER, text, 1, "[]")),
        lambda uow, text: uow.identity.identities.find(ISSUER, text),
    ),
    "response": (
        lambda uow, text: uow.stored_responses.add(StoredResponse(text, "", 1_000)),
        lambda uow, text: uow.stored_responses.get(text),
    ),
    "secret": (lambda uow, text: uow.secrets.put(text, "x"), lambda uow, text: uow.secrets.get(text)),
}


@pytest.mark.rule("contract C2", "contract C3", "contract C5", "contract F3", "contract O1", "contract O2")
@pytest.mark.rule("contract O7")
@pytest.mark.parametrize(("store", "find"), FOUND.values(), ids=FOUND)
def test_rows_are_found_by_exactly_their_key(
    people: Storage, store: Callable[[UnitOfWork, str], object], find: Callable[[UnitOfWork, str], object]
) -> None:
    others = ("abc", "ABC", "Abc ", " Abc", "Ab", "", "None")
    write(people, lambda uow: uow.identity.sessions.add(session("a session", 1)), lambda uow: store(uow, "Abc"))
    assert people.write(lambda uow: [other for other in others if find(uow, other)]) == []
    assert people.write(lambda uow: find(uow, "Abc"))


# For each table whose rows expire, how one that expires at a time is stored and found, and how those are removed.
Batches = tuple[
    Callable[[UnitOfWork, int], object], Callable[[UnitOfWork, int], object], Callable[[UnitOfWork, int, int], int]
]
EXPIRING: Final[dict[str, Batches]] = {
    "counts": (
        lambda uow, at: uow.identity.counts.put({f"{at}": Count(1, at)}),
        lambda uow, at: uow.identity.counts.get(f"{at}").number,
        lambda uow, now, most: uow.identity.counts.forget_ended(now, most),
    ),
    "challenges": (
        lambda uow, at: uow.identity.challenges.add(challenge(f"{at}", None, at)),
        lambda uow, at: uow.identity.challenges.get(f"{at}"),
        lambda uow, now, most: uow.identity.challenges.forget_expired(now, most),
    ),
    "responses": (
        lambda uow, at: uow.stored_responses.add(StoredResponse(f"{at}", "", at)),
        lambda uow, at: uow.stored_responses.get(f"{at}"),
        lambda uow, now, most: uow.stored_responses.forget_expired(now, most),
    ),
    "events": (
        lambda uow, at: uow.identity.events.add(event(at, at)),
        lambda uow, at: uow.identity.events.page(at + 1, 1)[:1] == (event(at, at),),
        lambda uow, now, most: uow.identity.events.forget_before(now + 1, most),  # only those before that time
    ),
}


@pytest.mark.rule("contract C1", "contract F3", "contract O2", "contract O9")
@pytest.mark.parametrize(("store", "find", "forget"), EXPIRING.values(), ids=EXPIRING)
def test_expired_rows_are_removed_in_limited_batches(
    people: Storage,
    store: Callable[[UnitOfWork, int], object],
    find: Callable[[UnitOfWork, int], object],
    forget: Callable[[UnitOfWork, int, int], int],
) -> None:
    times = (2_002, 2_000, 2_003, 2_001)
    people.write(lambda uow: [store(uow, at) for at in times])
    for now, removed, left in ((1_999, 0, 4), (2_002, 2, 2), (2_002, 1, 1), (2_002, 0, 1), (2_003, 1, 0)):
        assert people.write(lambda uow, now=now: forget(uow, now, 2)) == removed  # type: ignore[misc]  # has a default
        assert people.read(lambda uow: sum(bool(find(uow, at)) for at in times)) == left


@pytest.mark.rule("contract C1", "contract C3", "contract F3", "contract O2")
def test_rows_remember_that_they_were_used_and_counts_are_taken_back(signed_in: Storage) -> None:
    used = challenge("used", None)
    assert signed_in.write(lambda uow: [uow.identity.challenges.add_once(used) for _ in range(2)]) == [True, False]
    write(signed_in, lambda uow: uow.identity.sessions.use_refresh_token("token one", 7))
    found = signed_in.read(
        lambda uow: [uow.identity.sessions.refresh_token(f"token {name}") for name in ("one", "two")]
    )
    assert found == [(session("one", 1), 7), (session("two", 1), None)]
    write(signed_in, lambda uow: uow.identity.counts.put({"ann": Count(3, 9), "ben": Count(2, 9), "eve": Count(0, 9)}))
    write(signed_in, lambda uow: uow.identity.counts.take_back(["ann", "ben", "eve", "none"], "ben"))
    counts = signed_in.read(lambda uow: uow.identity.counts.several(["none", "eve", "ben", "ann"]))
    assert counts == (Count(0, 0), Count(0, 9), Count(0, 9), Count(2, 9))
    write(signed_in, *(lambda uow, each=each: uow.stored_responses.add(StoredResponse(each, "", 1)) for each in "ab"))
    write(signed_in, lambda uow: uow.stored_responses.forget("a"))
    assert signed_in.read(lambda uow: [uow.stored_responses.get(each) is None for each in "ab"]) == [True, False]


@pytest.mark.rule("contract A2", "contract C5", "contract O1")
def test_ids_of_factors_events_and_keys_are_not_reused(people: Storage) -> None:
    def next_ones(uow: UnitOfWork) -> tuple[int, int, int]:
        ids = uow.identity.factors.next_id(), uow.identity.events.next_id(), uow.identity.keys.next_id()
        uow.identity.factors.add(totp(ids[0]))
        uow.identity.keys.add(key(ids[2]), 1, f"hash {ids[2]}")
        return ids

    assert write(people, next_ones, next_ones) == (2, 2, 2)
    write(people, *(lambda uow, id_=id_: uow.identity.factors.remove(id_, 1) for id_ in (1, 2)))
    write(people, lambda uow: uow.identity.keys.remove(2, 1))
    write_and_fail(people, next_ones)
    assert people.write(next_ones) == (3, 3, 3)
    write(people, remove(USERS, 1), add(user(1, "eve")))
    assert people.write(next_ones) == (4, 4, 4)


@pytest.mark.rule("contract O2")
def test_of_two_concurrent_requests_one_uses_a_code_or_challenge(people: Storage) -> None:
    for number in range(5):
        write(
            people,
            lambda uow: uow.identity.recovery_codes.replace(1, ["code", "other"]),
            lambda uow, number=number: uow.identity.challenges.add(challenge(f"{number}")),  # type: ignore[misc]  # has a default
        )

        def use(uow: UnitOfWork, number: int = number) -> tuple[bool, bool]:
            return uow.identity.recovery_codes.use(1, "code"), uow.identity.challenges.take(f"{number}")

        found = at_once(lambda: people.write(use), lambda: people.write(use))
        assert sorted(map(str, found)) == ["(False, False)", "(True, True)"]


# Sessions


@pytest.mark.rule("contract C6")
def test_sessions_of_a_user_are_listed_by_start_and_id(signed_in: Storage) -> None:
    early, late = Session("zero", 1, 999, 2_000), Session("a later one", 1, 1_001, 2_000)
    write(signed_in, *(lambda uow, each=each: uow.identity.sessions.add(each) for each in (late, early)))
    listed = signed_in.read(lambda uow: [uow.identity.sessions.of_user(user_id) for user_id in (1, 2, 3)])
    same_time = (session(name, 1) for name in ("one", "three", "two"))
    assert listed == [(early, *same_time, late), (session("bens", 2),), ()]


@pytest.mark.rule("contract C3", "contract F3")
def test_sessions_and_stored_responses_can_be_made_to_expire_earlier(signed_in: Storage) -> None:
    answers = [StoredResponse(f"hash {number}", "", 1_000 * number) for number in range(1, 4)]
    write(signed_in, *(lambda uow, a=a: uow.stored_responses.add(a) for a in answers))
    write(signed_in, lambda uow: uow.identity.sessions.update(session("two", 1, 3_000)))

    def ends(uow: UnitOfWork) -> list[int]:
        sessions = [uow.identity.sessions.refresh_token(f"token {name}") for name in ("one", "two")]
        stored = [uow.stored_responses.get(answer.key_hash) for answer in answers]
        return [*(found[0].expires_at for found in sessions if found), *(found.expires_at for found in stored if found)]

    def expire_by(latest: int, most: int) -> list[Step]:
        return [
            lambda uow: uow.identity.sessions.expire_by(latest, most),
            lambda uow: uow.stored_responses.expire_by(latest, most),
        ]

    write(signed_in, *expire_by(2_500, 99))
    assert signed_in.read(ends) == [2_000, 2_500, 1_000, 2_000, 2_500]
    write(signed_in, *expire_by(1_500, 1))
    assert sorted(signed_in.read(ends)[2:]) in ([1_000, 1_500, 2_000], [1_000, 1_500, 2_500])
    write(signed_in, *expire_by(1_500, 99))
    assert signed_in.read(ends) == [1_500, 1_500, 1_000, 1_500, 1_500]


@pytest.mark.rule("contract C3")
def test_tokens_of_expired_sessions_are_removed_in_limited_batches(signed_in: Storage) -> None:
    hashes = [f"{number} of three" for number in range(5)]

    def begin(uow: UnitOfWork) -> None:
        uow.identity.sessions.update(session("three", 1, 1_999))
        for hash_ in hashes:
            uow.identity.sessions.add_refresh_token(hash_, "three")

    def left(uow: UnitOfWork) -> tuple[int, list[str]]:
        tokens = [uow.identity.sessions.refresh_token(hash_) for hash_ in [*hashes, "token three"]]
        owners = {"three": 1, "bens": 2, "one": 1, "two": 1}
        return 6 - tokens.count(None), [name for name in owners if uow.identity.sessions.rights(name, owners[name])]

    every = ["three", "bens", "one", "two"]
    write(signed_in, begin)
    # In the fourth, the one without tokens and another one are removed; a third one has lost its token.
    for expected in ((4, every), (2, every), (0, every), (0, every[2:]), (0, every[3:]), (0, [])):
        write(signed_in, lambda uow: uow.identity.sessions.forget_expired(2_000, 2))
        assert signed_in.read(left) == expected


# Who can sign in


FULL: Final = Ways(password=True, passkey=True, issuer=ISSUER)
BY_PASSWORD, BY_PASSKEY = Ways(password=True, passkey=False), Ways(password=False, passkey=True)
AT_ISSUER: Final = Ways(password=False, passkey=False, issuer=ISSUER)
APP: Final = totp(1, confirmed=True)


def with_password(*factors: Factor) -> tuple[Step, ...]:
    return lambda uow: uow.identity.passwords.set(1, PasswordHash("x")), add_factors(*factors)


def at_issuer(issuer: str, **values: Any) -> Step:
    return lambda uow: uow.identity.identities.put(Identity(issuer, "sub", 1, "[]", **values))


@pytest.mark.rule("contract B4", "contract O4")
@pytest.mark.parametrize(
    ("steps", "open_ways"),
    [
        ((), []),
        ((add_factors(APP, passkey(2, "a", 2)),), []),
        ((add_factors(passkey(1, "a", confirmed=False)),), []),
        ((add_factors(passkey(1, "a")),), [FULL, BY_PASSKEY]),
        ((at_issuer(ISSUER),), [FULL, AT_ISSUER]),
        ((at_issuer(ISSUER), add_factors(passkey(1, "a")), at_issuer("https://other.test", refused=True)), []),
        ((at_issuer("HTTPS://issuer.test"),), []),
        (with_password(), [FULL, BY_PASSWORD]),
        (with_password(APP), [FULL, BY_PASSWORD]),
        (with_password(totp(1), passkey(2, "a", confirmed=False)), [FULL, BY_PASSWORD]),
        # A password is not enough if the second factor is a passkey that cannot be used.
        (with_password(passkey(2, "a"), totp(1), totp(3, 2, confirmed=True)), [FULL, BY_PASSKEY]),
        (with_password(passkey(2, "a"), APP), [FULL, BY_PASSWORD, BY_PASSKEY]),
    ],
)
def test_users_can_sign_in_by_the_enabled_ways(people: Storage, steps: tuple[Step, ...], open_ways: list[Ways]) -> None:
    write(people, add(role(2, "guest")), remove(USERS, 2), add(user(2, "ben", role_id=2)), *steps)

    def can(uow: UnitOfWork, ways: Ways) -> bool:
        by_role, by_id = (uow.identity.passwords.can_sign_in(1, ways), uow.identity.passwords.can_user_sign_in(1, ways))
        assert by_role == by_id
        return by_id

    every = (FULL, BY_PASSWORD, BY_PASSKEY, AT_ISSUER, Ways(password=False, passkey=False))
    for transaction in (people.read, people.write):
        assert transaction(lambda uow: [ways for ways in every if can(uow, ways)]) == open_ways


# Rows of users


def enrol(user_id: int) -> Step:
    """Return a step that adds a row of a user to each table."""

    def step(uow: UnitOfWork) -> None:
        uow.identity.factors.add(totp(user_id, user_id))
        uow.identity.recovery_codes.replace(user_id, [f"code of {user_id}"])
        uow.identity.challenges.add(challenge(f"challenge {user_id}", user_id))
        uow.identity.identities.put(Identity(ISSUER, f"{user_id}", user_id, "[]"))
        uow.identity.keys.add(key(user_id), user_id, f"hash {user_id}")
        uow.identity.preferences.set(user_id, "{}")
        uow.identity.events.add(SignInEvent(user_id, 1_000, "signed_in", user_id, "name"))
        for name in ("first", "second"):
            uow.identity.sessions.add(session(f"{name} of {user_id}", user_id))

    return step


def rows_of(uow: UnitOfWork, user_id: int) -> dict[str, int]:
    """Return the number of rows of a user in each table that has any."""
    numbers = {
        "factors": len(uow.identity.factors.of_user(user_id)),
        "codes": uow.identity.recovery_codes.left(user_id),
        "challenges": int(uow.identity.challenges.get(f"challenge {user_id}") is not None),
        "identities": len(uow.identity.identities.of_user(user_id)),
        "keys": len(uow.identity.keys.of_user(user_id)),
        "found keys": int(uow.identity.keys.find(f"hash {user_id}") is not None),
        "preferences": int(uow.identity.preferences.get(user_id) is not None),
        "events": len(uow.identity.events.page(99, 99, user_id)),
        "sessions": len(uow.identity.sessions.of_user(user_id)),
    }
    return {table: number for table, number in numbers.items() if number}


ROWS: Final = dict.fromkeys(("factors", "codes", "challenges", "identities", "keys", "found keys", "preferences"), 1)


@pytest.mark.rule("contract C3", "contract C5", "contract C6", "contract O1", "contract O2", "contract R5")
@pytest.mark.parametrize(
    ("change", "result", "left"),
    [
        (lambda uow: uow.identity.factors.remove(1, 2), False, {}),
        (lambda uow: uow.identity.factors.remove(1, 1), True, {"factors": 0}),
        (lambda uow: uow.identity.keys.remove(1, 2), False, {}),
        (lambda uow: uow.identity.keys.remove(1, 1), True, {"keys": 0, "found keys": 0}),
        (lambda uow: uow.identity.recovery_codes.use(2, "code of 1"), False, {}),
        (lambda uow: uow.identity.recovery_codes.use(1, "code of 1"), True, {"codes": 0}),
        (lambda uow: uow.identity.recovery_codes.replace(1, ["a", "b"]), None, {"codes": 2}),
        (lambda uow: uow.identity.challenges.take("challenge 1"), True, {"challenges": 0}),
        (lambda uow: uow.identity.challenges.drop(1, "sign_in_code"), None, {}),
        (lambda uow: uow.identity.challenges.drop(1, "link"), None, {"challenges": 0}),
        (lambda uow: uow.identity.challenges.drop(1), None, {"challenges": 0}),
        (lambda uow: uow.identity.sessions.end("first of 1"), True, {"sessions": 1}),
        (lambda uow: uow.identity.sessions.end("third of 1"), False, {}),
        (lambda uow: uow.identity.sessions.end_all(1, keep="first of 1"), None, {"sessions": 1}),
        (lambda uow: uow.identity.sessions.end_all(1), None, {"sessions": 0}),
    ],
)
def test_a_change_removes_only_named_rows(people: Storage, change: Step, result: object, left: dict[str, int]) -> None:
    every = ROWS | {"events": 1, "sessions": 2}
    write(people, enrol(1), enrol(2))
    write_and_fail(people, change)
    assert people.read(lambda uow: rows_of(uow, 1)) == every
    assert write(people, change) == result
    expected = {table: number for table, number in (every | left).items() if number}
    assert people.read(lambda uow: [rows_of(uow, user_id) for user_id in (1, 2)]) == [expected, every]


@pytest.mark.rule("contract D", "contract C5", "contract J8", "contract O1", "contract O9")
def test_everything_but_events_is_removed_with_the_user(people: Storage) -> None:
    write(people, enrol(1), enrol(2))
    both = people.read(lambda uow: [rows_of(uow, user_id) for user_id in (1, 2)])
    assert both == [ROWS | {"events": 1, "sessions": 2}] * 2
    write(people, remove(USERS, 1), add(user(1, "eve")))
    assert people.read(lambda uow: [rows_of(uow, user_id) for user_id in (1, 2)]) == [{"events": 1}, both[1]]


# Events


def page(
    storage: Storage, after: int = MAX_ID, limit: int = 99, user_id: int | None = None, **values: Any
) -> tuple[SignInEvent, ...]:
    return storage.read(lambda uow: uow.identity.events.page(after, limit, user_id, **values))


@pytest.mark.rule("contract O9")
def test_events_are_listed_newest_first_for_all_users_or_one(storage: Storage) -> None:
    unknown, latest = SignInEvent(3, -1, "sign_in_refused", None), event(7, LATEST, user_id=MAX_ID)
    events = [event(1), event(2, user_id=2), unknown, event(4), event(5, NOON - 99), event(6, user_id=0), latest]
    write(storage, add_events(*events))
    assert page(storage) == (*events[::-1],)
    pages: dict[tuple[int, ...], list[int]] = {(7, 2): [6, 5], (5, 9): [4, 3, 2, 1], (1, 9): [], (0, 9): []}
    pages |= {(5, 1, 1): [4], (9, 9, 1): [5, 4, 1], (9, 9, 2): [2], (9, 9, 0): [6], (9, 9, 3): []}
    assert {args: [each.event_id for each in page(storage, *args)] for args in pages} == pages
    pages = {(-1, 2): [1, 2], (5, 9): [6, 7], (7, 9): [], (-1, 9, 1): [1, 4, 5], (1, 1, 1): [4]}
    assert {args: [each.event_id for each in page(storage, *args, order="asc")] for args in pages} == pages


@pytest.mark.rule("contract O9", "contract C3")
def test_events_belong_to_the_user_that_a_change_created(storage: Storage) -> None:
    def count(user_since: int) -> bool:
        return storage.write(
            lambda uow: uow.identity.events.count("sign_in_refused", 1, "192.0.2.1", NOON, 0, user_since)
        )

    write(storage, add_events(event(1)), lambda uow: uow.identity.events.add(event(2), 57))
    assert [count(user_since) for user_since in (57, 57, 58)] == [True, True, False]
    for since, expected in ((None, [(2, 3), (1, 1)]), (0, [(1, 1)]), (57, [(2, 3)]), (58, [])):
        assert [(each.event_id, each.count) for each in page(storage, 9, 9, 1, user_since=since)] == expected


@pytest.mark.rule("contract O9")
def test_events_of_one_kind_user_and_address_are_counted_per_hour(storage: Storage) -> None:
    def count(
        name: CountedEvent = "sign_in_refused",
        user_id: int | None = 1,
        address: str | None = "192.0.2.1",
        at: int = NOON,
    ) -> bool:
        return storage.write(lambda uow: uow.identity.events.count(name, user_id, address, at))

    others = [event(2, name="signed_in"), event(3, user_id=None), event(4, address=None), event(5, NOON + HOUR)]
    assert not count()
    write(storage, add_events(event(1, NOON + 9), *others, event(6, NOON + 10)))
    assert [count(), count(at=NOON + HOUR - 1), count(user_id=None), count(address=None)] == [True] * 4
    assert [count(at=NOON - 1), count("sign_in_limited"), count(user_id=None, address=None)] == [False] * 3
    assert [count(address="192.0.2.10"), count(user_id=2), count(at=NOON + 2 * HOUR)] == [False] * 3
    assert [each.count for each in page(storage)] == [1, 1, 2, 2, 1, 3]
    assert page(storage)[-1] == replace(event(1, NOON + HOUR - 1), count=3)
    write_and_fail(storage, lambda uow: uow.identity.events.count("sign_in_refused", None, "192.0.2.1", NOON))
    assert [each.count for each in page(storage)] == [1, 1, 2, 2, 1, 3]


@pytest.mark.rule("contract O9")
def test_an_event_is_counted_again_only_after_some_seconds(storage: Storage) -> None:
    write(storage, add_events(event(1, NOON + 100, user_id=None, address=None)))
    for at, count in ((100, 1), (159, 1), (160, 2), (219, 2), (220, 3), (219, 4), (220, 4), (279, 5)):
        counted = storage.write(
            lambda uow, at=at: uow.identity.events.count("sign_in_refused", None, None, NOON + at, 60)  # type: ignore[misc]  # has a default
        )
        (only,) = page(storage)
        assert (counted, only.count) == (True, count)
    assert only.at == NOON + 279
    assert not storage.write(lambda uow: uow.identity.events.count("sign_in_refused", 1, None, NOON, 60))


@pytest.mark.rule("contract O9")
def test_the_rows_of_an_hour_are_numbered_up_to_a_limit(storage: Storage) -> None:
    hours = [NOON - 1, NOON, NOON, NOON + HOUR - 1, NOON + HOUR]
    write(storage, add_events(event(9, name="signed_in"), *(event(id_, at) for id_, at in enumerate(hours, 1))))
    for at, most, expected in ((NOON, 9, 3), (NOON + 1, 2, 2), (NOON - 1, 9, 1), (NOON - HOUR - 1, 9, 0)):
        found = storage.write(lambda uow, at=at, most=most: uow.identity.events.number("sign_in_refused", at, most))  # type: ignore[misc]  # has defaults
        assert found == expected
