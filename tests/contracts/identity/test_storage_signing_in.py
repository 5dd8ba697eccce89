"""The rules of :mod:`logoadmin.ports.sign_in_storage`, over every adapter."""

from dataclasses import replace
from functools import partial
from typing import Any, Final

import pytest

from logoadmin.domain.identity.records import CountedEvent, EventName, ServiceKey, SignInEvent
from logoadmin.domain.identity.sign_in_rules import Ways
from logoadmin.domain.kernel.kinds import USERS
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.domain.kernel.records import PasswordHash
from logoadmin.ports.sign_in_storage import Challenge, ChallengePurpose, Factor, Identity
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.contracts.steps import Step, add, at_once, remove, role, user, write, write_and_fail

HOUR: Final = 3_600
NOON: Final = 1_800_000_000 - 1_800_000_000 % HOUR
LATEST: Final = 2**53 - 1


@pytest.fixture
def people(storage: Storage) -> Storage:
    """A storage with the users 1 and 2."""
    write(storage, add(role(), user(1, "ann"), user(2, "ben")))
    return storage


def totp(factor_id: int, user_id: int = 1, *, confirmed: bool = False) -> Factor:
    return Factor(factor_id, user_id, "totp", f"phone {factor_id}", 1_000, "encrypted", None, 0, confirmed, None)


def passkey(factor_id: int, credential: str, user_id: int = 1) -> Factor:
    return Factor(factor_id, user_id, "passkey", "🔑" * 64, LATEST, "🔑" * 999, credential, 2**32, True, LATEST)


def key(key_id: int) -> ServiceKey:
    return ServiceKey(key_id, f"key {key_id}", (), 1_000, None, None)


def add_factors(*factors: Factor) -> Step:
    def step(uow: UnitOfWork) -> None:
        for factor in factors:
            uow.identity.factors.add(factor)

    return step


def factors_of(storage: Storage, *user_ids: int) -> list[tuple[Factor, ...]]:
    return storage.read(lambda uow: [uow.identity.factors.of_user(user_id) for user_id in user_ids])


# Factors


@pytest.mark.rule("contract O1")
def test_factors_of_a_user_are_listed_by_id_unchanged(people: Storage) -> None:
    longest = passkey(MAX_ID, "c" * 1_364)
    write(people, add_factors(totp(3), longest, totp(1, confirmed=True), totp(2, 2)))
    assert factors_of(people, 1, 2, 3) == [(totp(1, confirmed=True), totp(3), longest), (totp(2, 2),), ()]
    stored = people.write(lambda uow: uow.identity.factors.of_user(1))
    assert [type(factor.confirmed) for factor in stored] == [bool] * 3


@pytest.mark.rule("contract O1")
def test_a_passkey_is_found_by_exactly_its_credential(people: Storage) -> None:
    longest = "c" * 1_364
    write(people, add_factors(totp(1), passkey(2, "abc"), passkey(3, "ABC", 2), passkey(4, longest)))

    def found(credential: str) -> int | None:
        factor = people.read(lambda uow: uow.identity.factors.find_credential(credential))
        return None if factor is None else factor.factor_id

    assert [found(credential) for credential in ("abc", "ABC", longest)] == [2, 3, 4]
    assert [found(credential) for credential in ("", "aBC", "abc ", longest[1:], "None")] == [None] * 5


@pytest.mark.rule("contract O1")
def test_factors_are_confirmed_and_used(people: Storage) -> None:
    write(people, add_factors(totp(1), totp(2), passkey(3, "c")))
    confirmed = replace(totp(1, confirmed=True), secret="under another key", counter=7, last_used_at=1_001)
    used = replace(passkey(3, "c"), counter=2**40, last_used_at=1_002)
    updates = [lambda uow, each=each: uow.identity.factors.update(each) for each in (confirmed, used)]
    write_and_fail(people, *updates)
    assert factors_of(people, 1) == [(totp(1), totp(2), passkey(3, "c"))]
    write(people, *updates, *updates)
    assert factors_of(people, 1) == [(confirmed, totp(2), used)]


@pytest.mark.rule("contract O1")
def test_a_factor_is_removed_only_for_its_own_user(people: Storage) -> None:
    def removed(factor_id: int, user_id: int) -> object:
        return write(people, lambda uow: uow.identity.factors.remove(factor_id, user_id))

    write(people, add_factors(totp(1), totp(2), passkey(3, "c"), totp(4, 2)))
    write_and_fail(people, *(lambda uow, each=each: uow.identity.factors.remove(*each) for each in ((1, 1), (4, 2))))
    assert [removed(*pair) for pair in ((4, 1), (9, 1), (1, 1), (1, 1))] == [False, False, True, False]
    assert factors_of(people, 1, 2) == [(totp(2), passkey(3, "c")), (totp(4, 2),)]
    assert [removed(*pair) for pair in ((2, 1), (3, 1), (3, 1), (4, 3))] == [True, True, False, False]
    assert factors_of(people, 1, 2) == [(), (totp(4, 2),)]
    write(people, add_factors(passkey(5, "c", 2)))


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


# Recovery codes


@pytest.mark.rule("contract O1", "contract O2")
def test_a_recovery_code_is_used_once_by_its_user(people: Storage) -> None:
    def left() -> list[int]:
        return people.read(lambda uow: [uow.identity.recovery_codes.left(user_id) for user_id in (1, 2, 3)])

    def used(user_id: int, code_hash: str) -> object:
        return write(people, lambda uow: uow.identity.recovery_codes.use(user_id, code_hash))

    assert left() == [0, 0, 0]
    write(
        people,
        lambda uow: uow.identity.recovery_codes.replace(1, [*"abcdefghij"]),
        lambda uow: uow.identity.recovery_codes.replace(2, ["h" * 128, "A"]),
    )
    assert left() == [10, 2, 0]
    write_and_fail(
        people,
        lambda uow: uow.identity.recovery_codes.use(1, "a"),
        lambda uow: uow.identity.recovery_codes.replace(2, ()),
    )
    assert left() == [10, 2, 0]
    assert [used(*pair) for pair in ((1, "A"), (2, "a"), (1, "a "), (1, "a"), (1, "a"))] == [*[False] * 3, True, False]
    assert left() == [9, 2, 0]
    write(people, lambda uow: uow.identity.recovery_codes.replace(1, ["new"]))
    assert [used(1, "b"), used(2, "h" * 128), left()] == [False, True, [1, 1, 0]]


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


# Challenges


def challenge(name: str, user_id: int | None = 1, purpose: ChallengePurpose = "link") -> Challenge:
    return Challenge(name, purpose, user_id, "🔑" * 4_000, 2_000)


@pytest.mark.rule("contract O2")
def test_a_challenge_is_used_once(people: Storage) -> None:
    stored = [challenge("c" * 128), challenge("C", None, "used"), challenge("c", 2, "sign_in_code")]
    write(people, *(lambda uow, each=each: uow.identity.challenges.add(each) for each in stored))

    def current() -> list[Challenge | None]:
        return [people.read(lambda uow, each=each: uow.identity.challenges.get(each.challenge_hash)) for each in stored]  # type: ignore[misc]  # has a default

    assert current() == stored
    write_and_fail(people, lambda uow: uow.identity.challenges.take("c"))
    assert current() == stored
    used = people.write(lambda uow: [*map(uow.identity.challenges.take, ("c", "c", "C ", "C", "none"))])
    assert used == [True, False, False, True, False]
    assert current() == [stored[0], None, None]


@pytest.mark.rule("contract O2")
def test_the_challenges_of_a_user_are_dropped_for_one_purpose_or_for_all(people: Storage) -> None:
    stored = [challenge("one"), challenge("two", 1, "sign_in_code"), challenge("bens", 2), challenge("any", None)]
    write(people, *(lambda uow, each=each: uow.identity.challenges.add(each) for each in stored))

    def left() -> list[str]:
        names = [each.challenge_hash for each in stored]
        return people.read(lambda uow: [name for name in names if uow.identity.challenges.get(name)])

    write(people, lambda uow: uow.identity.challenges.drop(1, "used"))
    assert left() == ["one", "two", "bens", "any"]
    write(people, lambda uow: uow.identity.challenges.drop(1, "link"))
    assert left() == ["two", "bens", "any"]
    write(people, lambda uow: uow.identity.challenges.drop(1), lambda uow: uow.identity.challenges.drop(1))
    assert left() == ["bens", "any"]


@pytest.mark.rule("contract O2")
def test_a_challenge_is_new_once(people: Storage) -> None:
    first, other = challenge("first", None), challenge("other", None)

    def add(uow: UnitOfWork) -> list[bool]:
        return [uow.identity.challenges.add_once(each) for each in (first, replace(first, expires_at=1), other)]

    assert people.write(add) == [True, False, True]
    assert people.write(add) == [False] * 3
    assert people.read(lambda uow: uow.identity.challenges.get(first.challenge_hash)) == first


@pytest.mark.rule("contract O2")
def test_expired_challenges_are_removed_in_limited_batches(people: Storage) -> None:
    stored = [replace(challenge(f"{number}", None), expires_at=2_000 + number) for number in range(4)]
    write(people, *(lambda uow, each=each: uow.identity.challenges.add(each) for each in stored))

    def number() -> int:
        names = [each.challenge_hash for each in stored]
        return people.read(lambda uow: sum(uow.identity.challenges.get(name) is not None for name in names))

    for now, expected in ((1_999, 4), (2_002, 2), (2_002, 1), (2_002, 1), (2_003, 0)):
        write(people, lambda uow, now=now: uow.identity.challenges.forget_expired(now, 2))  # type: ignore[misc]  # has a default
        assert number() == expected


# Identities


@pytest.mark.rule("contract O7")
def test_an_identity_is_found_by_exactly_its_issuer_and_subject(people: Storage) -> None:
    longest = Identity("https://issuer.test/" + "i" * 2_028, "s" * 255, 2, '["' + "g" * 70_000 + '"]')
    stored = [
        *(Identity("https://b.test", "Sub", 1, "[]"), Identity("https://b.test", "sub", 1, "[]")),
        *(Identity("https://a.test", "sub", 1, "[]"), longest),
    ]
    write(people, *(lambda uow, each=each: uow.identity.identities.put(each) for each in stored))

    def found(issuer: str, subject: str) -> Identity | None:
        return people.read(lambda uow: uow.identity.identities.find(issuer, subject))

    assert [found(each.issuer, each.subject) for each in stored] == stored
    others = ("https://b.test SUB", "https://B.test sub", "https://b.test sub ", "https://b.testsub ")
    assert [found(*other.split(" ", 1)) for other in others] == [None] * 4
    of = people.read(lambda uow: [uow.identity.identities.of_user(user_id) for user_id in (1, 2, 3)])
    assert of == [(stored[2], stored[0], stored[1]), (longest,), ()]
    moved = replace(stored[0], user_id=2, groups='["admins"]', refused=True)
    write_and_fail(people, lambda uow: uow.identity.identities.put(moved))
    assert found("https://b.test", "Sub") == stored[0]
    write(people, lambda uow: uow.identity.identities.put(moved), lambda uow: uow.identity.identities.put(moved))
    assert found("https://b.test", "Sub") == moved
    accounts = people.read(lambda uow: [uow.identity.passwords.account(user_id) for user_id in (1, 2, 3)])
    assert [account is not None and account.refused for account in accounts] == [False, True, False]


# Who can sign in


@pytest.mark.rule("contract B4", "contract O4")
def test_users_can_sign_in_by_the_enabled_ways(people: Storage) -> None:
    issuer = "https://issuer.test"

    def can(ways: Ways) -> list[bool]:
        def ask(uow: UnitOfWork) -> list[bool]:
            of_users = [uow.identity.passwords.can_user_sign_in(user_id, ways) for user_id in range(1, 6)]
            assert [uow.identity.passwords.can_sign_in(role_id, ways) for role_id in range(2, 6)] == of_users[1:]
            assert uow.identity.passwords.can_sign_in(1, ways) is of_users[0]
            return of_users

        assert people.read(ask) == people.write(ask)
        return people.read(ask)

    write(people, *(add(role(id_, f"role {id_}")) for id_ in range(2, 6)), remove(USERS, 2))
    write(people, *(add(user(id_, f"user {id_}", role_id=id_)) for id_ in range(2, 6)))
    every = Ways(password=True, passkey=True, issuer=issuer)
    assert can(every) == [False] * 5
    write(
        people,
        lambda uow: uow.identity.passwords.set(1, PasswordHash("x")),
        add_factors(passkey(1, "a", 2), totp(2, 1, confirmed=True), totp(3, 5, confirmed=True)),
        add_factors(replace(passkey(4, "b", 5), confirmed=False)),
        lambda uow: uow.identity.identities.put(Identity(issuer, "sub", 3, "[]")),
        lambda uow: uow.identity.identities.put(Identity("https://other.test", "sub", 4, "[]")),
    )
    assert can(every) == [True, True, True, False, False]
    assert can(Ways(password=True, passkey=False)) == [True, False, False, False, False]
    assert can(Ways(password=False, passkey=True)) == [False, True, False, False, False]
    assert can(Ways(password=False, passkey=False, issuer=issuer)) == [False, False, True, False, False]
    assert can(Ways(password=False, passkey=False, issuer="HTTPS://issuer.test")) == [False] * 5
    assert can(Ways(password=False, passkey=False)) == [False] * 5


@pytest.mark.rule("contract B4", "contract O4")
@pytest.mark.parametrize(
    ("factors", "can_without_passkeys"),
    [
        *(([], True), ([totp(1, confirmed=True)], True), ([totp(1), replace(passkey(2, "a"), confirmed=False)], True)),
        *(([passkey(1, "a")], False), ([passkey(1, "a"), totp(2)], False)),
        ([passkey(1, "a"), totp(2, confirmed=True)], True),
        ([passkey(1, "a"), passkey(2, "b"), totp(3, user_id=2, confirmed=True)], False),
    ],
)
def test_a_password_is_not_enough_if_the_second_factor_is_an_unusable_passkey(
    people: Storage, factors: list[Factor], can_without_passkeys: bool
) -> None:
    write(people, lambda uow: uow.identity.passwords.set(1, PasswordHash("x")), add_factors(*factors))

    def can(ways: Ways) -> bool:
        by_role, by_id = people.read(
            lambda uow: (uow.identity.passwords.can_sign_in(1, ways), uow.identity.passwords.can_user_sign_in(1, ways))
        )
        assert by_role == by_id
        return by_id

    assert can(Ways(password=True, passkey=True))
    assert can(Ways(password=True, passkey=False)) == can_without_passkeys


# Removed users


@pytest.mark.rule("contract D", "contract C5", "contract J8", "contract O1", "contract O9")
def test_everything_but_events_is_removed_with_the_user(people: Storage) -> None:
    def all_of(uow: UnitOfWork) -> list[object]:
        return [
            [(uow.identity.factors.of_user(id_), uow.identity.recovery_codes.left(id_)) for id_ in (1, 2)],
            [uow.identity.identities.of_user(id_) for id_ in (1, 2)],
            [uow.identity.challenges.get(f"challenge {id_}") is None for id_ in (1, 2)],
            [uow.identity.keys.of_user(id_) for id_ in (1, 2)],
            [uow.identity.keys.find(f"hash {id_}") is None for id_ in (1, 2)],
            [uow.identity.preferences.get(id_) for id_ in (1, 2)],
            [len(uow.identity.events.page(99, 99, id_)) for id_ in (1, 2)],
        ]

    def enrol(user_id: int) -> Step:
        def step(uow: UnitOfWork) -> None:
            uow.identity.factors.add(totp(user_id, user_id))
            uow.identity.recovery_codes.replace(user_id, [f"code of {user_id}"])
            uow.identity.challenges.add(challenge(f"challenge {user_id}", user_id))
            uow.identity.identities.put(Identity("https://issuer.test", f"{user_id}", user_id, "[]"))
            uow.identity.keys.add(key(user_id), user_id, f"hash {user_id}")
            uow.identity.preferences.set(user_id, "{}")
            uow.identity.events.add(SignInEvent(user_id, 1_000, "signed_in", user_id, "name"))

        return step

    write(people, enrol(1), enrol(2))
    both = people.read(all_of)
    write_and_fail(people, remove(USERS, 1))
    assert people.read(all_of) == both
    write(people, remove(USERS, 1), add(user(1, "eve")))
    assert people.read(all_of) == [
        [((), 0), ((totp(2, 2),), 1)],
        [(), (Identity("https://issuer.test", "2", 2, "[]"),)],
        [True, False],
        [(), (key(2),)],
        [True, False],
        [None, "{}"],
        [1, 1],
    ]


# Events


def event(event_id: int, at: int = NOON, name: EventName = "sign_in_refused", **values: Any) -> SignInEvent:
    return SignInEvent(event_id, at, name, **{"user_id": 1, "user_name": "ann", "address": "192.0.2.1", **values})


def add_events(*events: SignInEvent) -> Step:
    def step(uow: UnitOfWork) -> None:
        for event in events:
            uow.identity.events.add(event)

    return step


def page(storage: Storage, after: int = MAX_ID, limit: int = 99, user_id: int | None = None) -> tuple[SignInEvent, ...]:
    return storage.read(lambda uow: uow.identity.events.page(after, limit, user_id))


@pytest.mark.rule("contract O9")
def test_events_are_listed_newest_first_for_all_users_or_one(storage: Storage) -> None:
    name, client = "🂡" * 64, ("2001:db8::" + "f" * 54, "🖼" * 256)
    longest = SignInEvent(7, LATEST, "recovery_codes_made", MAX_ID, name, *client, "f" * 32, MAX_ID, MAX_ID, name)
    unknown = SignInEvent(3, -1, "sign_in_refused", None)
    events = [event(1), event(2, user_id=2), unknown, event(4), event(5, NOON - 99), event(6, user_id=0), longest]
    write(storage, add_events(*events))
    assert page(storage) == (longest, *events[5::-1])
    pages = {(7, 2): [6, 5], (5, 9): [4, 3, 2, 1], (1, 9): [], (0, 9): []}
    assert {args: [each.event_id for each in page(storage, *args)] for args in pages} == pages
    of_users = {1: [5, 4, 1], 2: [2], 0: [6], 3: []}
    assert {id_: [each.event_id for each in page(storage, 9, 9, id_)] for id_ in of_users} == of_users
    assert page(storage, 5, 1, 1) == (event(4),)
    oldest_first = [(-1, 2, None), (5, 9, None), (7, 9, None), (-1, 9, 1), (1, 1, 1)]
    assert [
        [each.event_id for each in storage.read(lambda uow, args=args: uow.identity.events.page(*args, order="asc"))]  # type: ignore[misc]  # has a default
        for args in oldest_first
    ] == [[1, 2], [6, 7], [], [1, 4, 5], [4]]
    write_and_fail(storage, add_events(event(8)))
    assert page(storage, limit=1) == (longest,)


@pytest.mark.rule("contract O9", "contract C3")
def test_events_belong_to_the_user_that_a_change_created(storage: Storage) -> None:
    def count(user_since: int) -> bool:
        return storage.write(
            lambda uow: uow.identity.events.count("sign_in_refused", 1, "192.0.2.1", NOON, 0, user_since)
        )

    write(storage, add_events(event(1)), lambda uow: uow.identity.events.add(event(2), 57))
    assert [count(user_since) for user_since in (57, 57, 58)] == [True, True, False]
    for since, expected in ((None, [(2, 3), (1, 1)]), (0, [(1, 1)]), (57, [(2, 3)]), (58, [])):
        found = storage.read(lambda uow, since=since: uow.identity.events.page(9, 9, 1, user_since=since))  # type: ignore[misc]  # has a default
        assert [(each.event_id, each.count) for each in found] == expected


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
        counted = storage.write(partial(_count_at, at))
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


@pytest.mark.rule("contract O9")
def test_old_events_are_removed_in_limited_batches(storage: Storage) -> None:
    write(storage, add_events(event(1, 100), event(2, 99), event(3, 98), event(4, 97), event(5, 200)))
    for at, expected in ((97, 5), (100, 3), (100, 2), (100, 2), (101, 1)):
        write(storage, lambda uow, at=at: uow.identity.events.forget_before(at, 2))  # type: ignore[misc]  # has a default
        assert len(page(storage)) == expected
    assert page(storage) == (event(5, 200),)


def _count_at(at: int, uow: UnitOfWork) -> bool:
    return uow.identity.events.count("sign_in_refused", None, None, NOON + at, 60)
