"""The rules of :mod:`logoadmin.ports.identity_storage` and for stored responses, over every adapter."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from logoadmin.domain.identity.first_start import key_files_since, start_with_key_files
from logoadmin.domain.identity.records import ServiceKey
from logoadmin.domain.kernel.access import Rights
from logoadmin.domain.kernel.limits import MAX_ID
from logoadmin.ports.history_storage import StoredResponse
from logoadmin.ports.identity_storage import Count, Session
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.contracts.steps import Step, add, role, session, update, user, write, write_and_fail


def alive(storage: Storage) -> list[str]:
    def look(uow: UnitOfWork) -> list[str]:
        owners = {"one": 1, "two": 1, "three": 1, "bens": 2}
        rightful = [name for name, user_id in owners.items() if uow.identity.sessions.rights(name, user_id)]
        assert rightful == [name for name in owners if uow.identity.sessions.refresh_token(f"token {name}")]
        return rightful

    return storage.read(look)


@pytest.mark.rule("contract B5")
def test_rights_are_the_current_rights_of_the_role(signed_in: Storage) -> None:
    def rights(uow: UnitOfWork) -> object:
        return uow.identity.sessions.rights("one", 1)

    editor = Rights(
        1, frozenset(("a", "logos:write")), signed_in_at=1_000, ends_at=2_000, factor="password", username="ann"
    )
    assert signed_in.read(rights) == signed_in.snapshot(rights) == signed_in.write(rights) == editor
    write(signed_in, update(role(1, "editor", ("*",))))
    assert signed_in.read(rights) == replace(editor, scope=frozenset(("*",)))
    others = (("one", 2), ("ONE", 1), ("none", 1), ("one", 3))
    assert signed_in.read(lambda uow: [uow.identity.sessions.rights(*other) for other in others]) == [None] * 4


@pytest.mark.rule("contract C2", "contract K7")
def test_the_first_start_with_key_files_is_remembered(storage: Storage) -> None:
    assert key_files_since(storage) is None
    assert [start_with_key_files(storage, now) for now in (1_000, 5_000, 995)] == [1_000] * 3
    assert key_files_since(storage) == 1_000
    # With a clock that was ahead: the keys in storage are not trusted again when that time arrives.
    assert [start_with_key_files(storage, now) for now in (100, 1_000)] == [0, 0]


@pytest.mark.rule("contract J8")
def test_preferences_are_replaced(signed_in: Storage) -> None:
    def stored() -> list[str | None]:
        return signed_in.read(lambda uow: [uow.identity.preferences.get(user_id) for user_id in (1, 2, 3)])

    def set_(user_id: int, text: str) -> None:
        signed_in.write(lambda uow: uow.identity.preferences.set(user_id, text))

    text = '{"view": "🦊\\u0000"}' + " " * 16_000
    for given in (text, text, "{}"):
        set_(1, given)
        assert stored() == [given, None, None]
    set_(2, text)
    write_and_fail(signed_in, lambda uow: uow.identity.preferences.set(2, "{}"))
    assert stored() == ["{}", text, None]


@pytest.mark.rule("contract C3")
def test_sessions_end_with_their_refresh_tokens(signed_in: Storage) -> None:
    assert signed_in.write(lambda uow: [*map(uow.identity.sessions.end, ("one", "one", "TWO"))]) == [True, False, False]
    assert alive(signed_in) == ["two", "three", "bens"]
    write(signed_in, lambda uow: uow.identity.sessions.end_all(1, keep="two"))
    assert alive(signed_in) == ["two", "bens"]
    write(signed_in, lambda uow: uow.identity.sessions.end_all(1))
    assert alive(signed_in) == ["bens"]


@pytest.mark.rule("contract C6")
def test_sessions_of_a_user_are_listed_by_start_and_id_with_all_fields(signed_in: Storage) -> None:
    def of(user_id: int) -> tuple[Session, ...]:
        return signed_in.read(lambda uow: uow.identity.sessions.of_user(user_id))

    earlier = Session("zero", 1, 999, 2_000, 1_500, "2001:db8::" + "f" * 54, "🖼" * 256, "recovery_code")
    later = Session("a later one", 1, 1_001, 2**53 - 1)
    write(signed_in, lambda uow: uow.identity.sessions.add(later), lambda uow: uow.identity.sessions.add(earlier))
    others = (*(session(name, 1) for name in ("one", "three", "two")), later)
    assert (of(1), of(2), of(3)) == ((earlier, *others), (session("bens", 2),), ())
    renewed = replace(earlier, created_at=1, expires_at=3, refreshed_at=2, factor="totp")
    write(signed_in, lambda uow: uow.identity.sessions.update(renewed))
    assert of(1) == (renewed, *others)
    rights = signed_in.read(lambda uow: uow.identity.sessions.rights("zero", 1))
    assert rights is not None
    assert (rights.signed_in_at, rights.factor) == (1, "totp")


@pytest.mark.rule("contract C3")
def test_expired_sessions_end_and_prolonged_ones_do_not(signed_in: Storage) -> None:
    def prolong(uow: UnitOfWork) -> None:
        uow.identity.sessions.update(session("two", 1, 2_001))
        uow.identity.sessions.use_refresh_token("token two", 1_500)

    write(signed_in, prolong, lambda uow: uow.identity.sessions.forget_expired(1_999, 99))
    assert alive(signed_in) == ["one", "two", "three", "bens"]
    write_and_fail(signed_in, lambda uow: uow.identity.sessions.forget_expired(9_999, 99))
    assert alive(signed_in) == ["one", "two", "three", "bens"]
    write(signed_in, lambda uow: uow.identity.sessions.forget_expired(2_000, 99))
    assert alive(signed_in) == ["two"]
    assert signed_in.read(lambda uow: uow.identity.sessions.refresh_token("token two")) == (
        session("two", 1, 2_001),
        1_500,
    )


@pytest.mark.rule("contract C3", "contract F3")
def test_sessions_and_stored_responses_can_be_made_to_expire_earlier(signed_in: Storage) -> None:
    answers = [StoredResponse(f"hash {number}", "", 1_000 * number) for number in range(1, 4)]
    write(signed_in, *(lambda uow, a=a: uow.stored_responses.add(a) for a in answers))
    write(signed_in, lambda uow: uow.identity.sessions.update(session("two", 1, 3_000)))

    def ends(uow: UnitOfWork) -> list[int]:
        sessions = [uow.identity.sessions.refresh_token(f"token {name}") for name in ("one", "two")]
        stored = [uow.stored_responses.get(answer.key_hash) for answer in answers]
        return [*(found[0].expires_at for found in sessions if found), *(found.expires_at for found in stored if found)]

    def expire_by(latest: int, most: int) -> list[Callable[[UnitOfWork], object]]:
        return [
            lambda uow: uow.identity.sessions.expire_by(latest, most),
            lambda uow: uow.stored_responses.expire_by(latest, most),
        ]

    write(signed_in, *expire_by(3_000, 99))
    write_and_fail(signed_in, *expire_by(1_500, 99))
    assert signed_in.read(ends) == [2_000, 3_000, 1_000, 2_000, 3_000]
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
        tokens = sum(uow.identity.sessions.refresh_token(hash_) is not None for hash_ in [*hashes, "token three"])
        stored = [
            s
            for s, owner in (("three", 1), ("bens", 2), ("one", 1), ("two", 1))
            if uow.identity.sessions.rights(s, owner)
        ]
        return tokens, stored

    write(signed_in, begin)
    for expected in (
        (4, ["three", "bens", "one", "two"]),
        (2, ["three", "bens", "one", "two"]),
        (0, ["three", "bens", "one", "two"]),
        (0, ["one", "two"]),  # the one without tokens and another one are removed; a third one has lost its token
        (0, ["two"]),
        (0, []),
    ):
        write(signed_in, lambda uow: uow.identity.sessions.forget_expired(2_000, 2))
        assert signed_in.read(left) == expected


@pytest.mark.rule("contract C3")
def test_refresh_tokens_remember_that_they_were_used(signed_in: Storage) -> None:
    def found(uow: UnitOfWork) -> object:
        return uow.identity.sessions.refresh_token("token one")

    assert signed_in.read(found) == signed_in.write(found) == (session("one", 1), None)
    write(
        signed_in,
        lambda uow: uow.identity.sessions.use_refresh_token("token one", 7),
        lambda uow: uow.identity.sessions.add_refresh_token("newer", "one"),
    )
    assert signed_in.read(found) == signed_in.write(found) == (session("one", 1), 7)
    assert signed_in.read(lambda uow: uow.identity.sessions.refresh_token("newer")) == (session("one", 1), None)
    assert signed_in.read(lambda uow: uow.identity.sessions.refresh_token("TOKEN one")) is None


# Service keys


def key(key_id: int, scope: tuple[str, ...] = ("logos:write",), expires_at: int | None = None) -> ServiceKey:
    return ServiceKey(key_id, f"key {key_id}", scope, 1_700_000_000, expires_at, None)


def add_keys(user_id: int, *keys: ServiceKey) -> Step:
    def step(uow: UnitOfWork) -> None:
        for key in keys:
            uow.identity.keys.add(key, user_id, f"hash {key.key_id}")

    return step


def keys_of(storage: Storage, user_id: int) -> tuple[ServiceKey, ...]:
    return storage.read(lambda uow: uow.identity.keys.of_user(user_id))


@pytest.mark.rule("contract C5")
def test_service_keys_are_found_with_the_current_rights_of_their_user(signed_in: Storage) -> None:
    longest = ServiceKey(MAX_ID, "🂡" * 64, tuple(f"{number:064}" for number in range(64)), 0, 2**53 - 1, 2**53 - 1)
    write(
        signed_in,
        lambda uow: uow.identity.keys.add(key(1), 1, "hash"),
        lambda uow: uow.identity.keys.add(key(2, ()), 2, "Hash"),
        lambda uow: uow.identity.keys.add(longest, 2, "h" * 128),
    )

    def found(key_hash: str) -> object:
        def find(uow: UnitOfWork) -> object:
            return uow.identity.keys.find(key_hash)

        answer = signed_in.read(find)
        assert signed_in.snapshot(find) == signed_in.write(find) == answer
        return answer

    rights = frozenset(("logos:write", "a"))
    assert found("hash") == (key(1), Rights(1, rights, username="ann"))
    assert found("Hash") == (key(2, ()), Rights(2, rights, username="ben"))
    assert found("h" * 128) == (longest, Rights(2, rights, username="ben"))
    assert found("HASH") is None
    write(signed_in, add(role(2)), update(user(1, "ann", role_id=2)))
    assert found("hash") == (key(1), Rights(1, frozenset(), username="ann"))
    write(signed_in, update(role(2, "member", ("*",))))
    assert found("hash") == (key(1), Rights(1, frozenset("*"), username="ann"))


@pytest.mark.rule("contract C5")
def test_a_service_key_records_its_last_use_and_its_times_can_be_changed(signed_in: Storage) -> None:
    used = replace(key(1), created_at=2_000, expires_at=3_000, last_used_at=1_800_000_000)
    write(signed_in, add_keys(1, key(1), key(2)), lambda uow: uow.identity.keys.update(used))
    assert keys_of(signed_in, 1) == (used, key(2))
    found = signed_in.read(lambda uow: uow.identity.keys.find("hash 1"))
    assert found is not None
    assert found[0] == used


@pytest.mark.rule("contract C5")
def test_a_user_cannot_end_a_service_key_of_another_user(signed_in: Storage) -> None:
    def ends(key_id: int, user_id: int) -> object:
        return write(signed_in, lambda uow: uow.identity.keys.remove(key_id, user_id))

    write(signed_in, add_keys(1, key(1)), add_keys(2, key(2)))
    assert (ends(2, 1), ends(9, 1)) == (False, False)
    assert keys_of(signed_in, 2) == (key(2),)
    assert (ends(2, 2), ends(2, 2)) == (True, False)
    assert signed_in.read(lambda uow: uow.identity.keys.find("hash 2")) is None
    assert keys_of(signed_in, 1) == (key(1),)


# Stored responses and attempts


@pytest.mark.rule("contract F3")
def test_stored_responses_are_kept_until_they_expire(storage: Storage) -> None:
    answers = [StoredResponse(f"hash {number}", "🂡" * 300_000 if number else "", 1_000 + number) for number in range(4)]
    write(storage, *(lambda uow, a=a: uow.stored_responses.add(a) for a in answers))

    def stored() -> list[StoredResponse | None]:
        return [storage.read(lambda uow, a=a: uow.stored_responses.get(a.key_hash)) for a in answers]  # type: ignore[misc]  # has a default

    assert stored() == answers
    assert storage.read(lambda uow: uow.stored_responses.get("HASH 1")) is None
    write(storage, lambda uow: uow.stored_responses.forget_expired(999, 99))
    assert stored() == answers
    write(storage, lambda uow: uow.stored_responses.forget_expired(1_001, 99))
    assert stored() == [None, None, *answers[2:]]
    write_and_fail(storage, lambda uow: uow.stored_responses.forget_expired(9_999, 99))
    write_and_fail(storage, lambda uow: uow.stored_responses.add(answers[0]))
    assert stored() == [None, None, *answers[2:]]
    write(storage, lambda uow: uow.stored_responses.add(replace(answers[0], expires_at=2**53 - 1)))
    assert stored()[0] == replace(answers[0], expires_at=2**53 - 1)
    write_and_fail(storage, lambda uow: uow.stored_responses.forget("hash 2"))
    write(storage, *(lambda uow, name=name: uow.stored_responses.forget(name) for name in ("hash 0", "HASH 2", "none")))
    assert stored() == [None, None, *answers[2:]]


@pytest.mark.rule("contract C1")
def test_counts_are_stored_taken_back_and_removed(storage: Storage) -> None:
    def counts(uow: UnitOfWork) -> list[tuple[int, int]]:
        return [uow.identity.counts.get(counted) for counted in ("ann", "Ann", "ann ", "🂡" * 64)]

    assert storage.read(counts) == [(0, 0)] * 4
    write(
        storage,
        lambda uow: uow.identity.counts.put({"ann": Count(1, 1_000)}),
        lambda uow: uow.identity.counts.put({"Ann": Count(2, 2_000)}),
        lambda uow: uow.identity.counts.put({"🂡" * 64: Count(MAX_ID, 2**53 - 1)}),
        lambda uow: uow.identity.counts.put({"ann": Count(3, 1_000)}),
        lambda uow: uow.identity.counts.put({"ann": Count(3, 1_000)}),
    )
    assert storage.read(counts) == storage.write(counts) == [(3, 1_000), (2, 2_000), (0, 0), (MAX_ID, 2**53 - 1)]
    write(storage, lambda uow: uow.identity.counts.forget_ended(999, 99))
    assert storage.read(counts)[0] == (3, 1_000)
    write(storage, lambda uow: uow.identity.counts.forget_ended(1_000, 99))
    assert storage.read(counts) == [(0, 0), (2, 2_000), (0, 0), (MAX_ID, 2**53 - 1)]
    forgiven = ["Ann", "🂡" * 64, "none"]
    write_and_fail(storage, lambda uow: uow.identity.counts.take_back(forgiven, "Ann"))
    write(storage, lambda uow: uow.identity.counts.take_back(forgiven, "Ann"))
    write(storage, lambda uow: uow.identity.counts.take_back(["Ann"]))  # none is left
    assert storage.read(counts) == [(0, 0), (0, 2_000), (0, 0), (MAX_ID - 1, 2**53 - 1)]
    assert storage.read(lambda uow: uow.identity.counts.several(["none", "Ann"])) == ((0, 0), (0, 2_000))


# Secrets


@pytest.mark.rule("contract C2")
def test_secrets_are_stored_and_replaced_separately(storage: Storage) -> None:
    def found(uow: UnitOfWork) -> object:
        return uow.secrets.get("token_key"), uow.secrets.get("Token_key")

    def replaced(name: str, value: str) -> Step:
        return lambda uow: uow.secrets.put(name, value)

    assert storage.read(found) == (None, None)
    write(storage, lambda uow: uow.secrets.put("token_key", "🗝" * 1000), lambda uow: uow.secrets.put("Token_key", ""))
    assert storage.read(found) == ("🗝" * 1000, "")
    for _ in range(2):
        write(storage, replaced("token_key", "c"))
        assert storage.read(found) == ("c", "")
    write_and_fail(storage, replaced("Token_key", "x"))
    assert storage.read(found) == ("c", "")
    several = storage.read(lambda uow: uow.secrets.several(("token_key", "Token_key", "none")))
    assert several == {"token_key": "c", "Token_key": ""}
    assert write(storage, replaced("missing", "a"), lambda uow: uow.secrets.get("missing")) == "a"
