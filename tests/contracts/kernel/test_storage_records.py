# ruff: noqa: RUF001 (the tests need letters that look alike)
"""The rules of :mod:`logoadmin.ports.record_storage`, over every adapter."""

from collections.abc import Callable
from typing import Final

import pytest

from logoadmin.adapters.memory_storage import tables
from logoadmin.adapters.sql_storage import counters
from logoadmin.domain.kernel.errors import Conflict, DuplicateEntry, DuplicateUpdate
from logoadmin.domain.kernel.kinds import AUTHORS, LOGOS, ROLES, THEMES, USERS, AnyKind
from logoadmin.domain.kernel.limits import MAX_CUSTOM_CSS, MAX_ID
from logoadmin.domain.kernel.records import Author, Logo, PasswordHash, Role, StoredRecord, Theme, User
from logoadmin.ports.identity_storage import Account
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.contracts.steps import (
    Step,
    add,
    author,
    find,
    get,
    logo,
    page,
    remove,
    role,
    theme,
    update,
    user,
    write,
    write_and_fail,
)
from tests.gallery import add_user

# Names that some collation considers equal.
LOOK_ALIKES = (
    *("Ann", "ann", "ANN", "ánn", "ann ", "ann  ", " ann", "ann\t", "ann\n", "a\u0301nn", "Å", "\u212b", "A\u030a"),
    *("ß", "ss", "ſ", "s", "İ", "i", "ı", "I", "😀", "😁", "🂡", "ﬀ", "ff", "1", "１", "\u200b", "\u00ad"),
    *("''", '"', "\\", "%", "_", "\u0001", "\uffff", "\ue000", "\U0010ffff", "null", "0", "00", "あ", "ア", "ｱ"),
)


@pytest.mark.rule("contract A6")
def test_names_that_look_alike_are_different_names(storage: Storage) -> None:
    def keep(uow: UnitOfWork) -> None:
        for number, name in enumerate(LOOK_ALIKES):
            add_user(uow, user(number, name), PasswordHash(f"hash {number}"))
            add(author(number, username=name), role(number + 2, name))(uow)

    write(storage, add(role()), keep)
    found = storage.read(lambda uow: [uow.identity.passwords.account(name) for name in LOOK_ALIKES])
    hashes = [PasswordHash(f"hash {number}") for number in range(len(LOOK_ALIKES))]
    assert found == [Account(at, LOOK_ALIKES[at], frozenset(), hash_) for at, hash_ in enumerate(hashes)]
    kinds: tuple[tuple[AnyKind, int], ...] = ((USERS, -1), (AUTHORS, -1), (ROLES, 1))
    for kind, after in kinds:
        records = page(storage, kind, after)
        assert [getattr(record, kind.name_field) for record in records] == list(LOOK_ALIKES)
        assert [find(storage, kind, kind.name_field, name) for name in LOOK_ALIKES] == list(records)
        assert find(storage, kind, kind.name_field, "Nobody") is None


@pytest.mark.rule("spec §Limits", "contract A3", "contract D")
def test_the_longest_texts_of_the_largest_characters_are_stored(storage: Storage) -> None:
    big = Logo(MAX_ID, "🂡" * 128, "https://" + "🂡" * 2040, "🂡" * 64, "🂡" * MAX_CUSTOM_CSS, True, (), 2**53 - 1)
    someone = User(MAX_ID, "🂡" * 64, "🂡" * 4096, MAX_ID, 2**53 - 1)
    scope = tuple(f"{number:064}" for number in range(64))
    write(
        storage,
        add(big, Role(MAX_ID, "🂡" * 64, scope, 2**53 - 1)),
        lambda uow: add_user(uow, someone, PasswordHash("h" * 255)),
    )
    assert get(storage, LOGOS, MAX_ID) == big
    assert page(storage, LOGOS, -1, 10) == (big,)
    assert get(storage, USERS, MAX_ID) == someone
    assert get(storage, ROLES, MAX_ID) == Role(MAX_ID, "🂡" * 64, scope, 2**53 - 1)
    assert storage.read(lambda uow: uow.identity.passwords.get(MAX_ID)) == PasswordHash("h" * 255)


@pytest.mark.rule("spec §Limits")
def test_the_smallest_values_are_stored(storage: Storage) -> None:
    nothing = Theme(0, "", "", "", "", False, (), 0)
    write(storage, add(nothing, Role(0, "r", (), 0), User(0, "u", "", 0, 0), Author(0, 0, "a", 0)))
    assert get(storage, THEMES, 0) == nothing
    assert page(storage, USERS, -1, 1) == (User(0, "u", "", 0, 0),)
    assert get(storage, AUTHORS, 0) == Author(0, 0, "a", 0)
    assert get(storage, ROLES, 0) == Role(0, "r", (), 0)


ODD: Final = "a'n\"n😀"
EXISTING: Final = (
    *(role(), role(2, "admin", ("users:read", "*", "a")), user(1, "ann"), user(2, "ben")),
    *(author(1, 7, ODD), author(2, 8, "ben")),
)
# Records that collide with these, and the value and key in the error; of two keys, the number comes first.
ADDED: Final[tuple[tuple[StoredRecord, object, str], ...]] = (
    *((user(1, "ann"), 1, "user_id"), (user(3, "ann"), "ann", "username"), (role(3, "admin"), "admin", "name")),
    *((author(3, 7, "ben"), 7, "user_id"), (author(3, 9, ODD), ODD, "username")),
)
UPDATED: Final[tuple[tuple[StoredRecord, object, str], ...]] = (
    *((user(2, "ann"), "ann", "username"), (role(1, "admin"), "admin", "name")),
    *((author(2, 7, ODD), 7, "user_id"), (author(2, 8, ODD), ODD, "username")),
)


@pytest.mark.rule("spec §Endpoints 2", "spec §Endpoints 5", "spec §Endpoints 6", "spec §Endpoints 7", "spec §Rules 2")
@pytest.mark.rule("contract A6", "contract A7", "contract A8", "contract A11")
def test_a_duplicate_names_the_existing_key_and_the_write_continues(storage: Storage) -> None:
    renamed = (author(1, 9, "Ben"), role(1, "Admin", ("b", "a")))

    def work(uow: UnitOfWork) -> None:
        for step, error, rows in ((add, DuplicateEntry, ADDED), (update, DuplicateUpdate, UPDATED)):
            for record, value, key in rows:
                with pytest.raises(DuplicateEntry) as caught:
                    step(record)(uow)
                assert type(caught.value) is error
                assert str(caught.value) == f"Duplicate entry '{value}' for key '{key}'"
                assert (caught.value.value, caught.value.key) == (value, key)
                # It has no error text of the driver as its cause.
                assert caught.value.__cause__ is caught.value.__context__ is None
        update(*EXISTING, *renamed)(uow)

    write(storage, add(*EXISTING), work)
    assert page(storage, AUTHORS) == (renamed[0], EXISTING[5])
    assert page(storage, ROLES) == (renamed[1], EXISTING[1])
    assert page(storage, USERS) == EXISTING[2:4]


# The kinds with generated ids, each with a function that returns the record for an id.
COUNTED: dict[str, tuple[AnyKind, Callable[[int], StoredRecord]]] = {
    "role": (ROLES, lambda id_: role(id_, f"role {id_}")),
    "author": (AUTHORS, lambda id_: author(id_, id_)),
    "theme": (THEMES, theme),
    "logo": (LOGOS, logo),
}


@pytest.mark.rule("contract A2", "contract D", "contract I2")
@pytest.mark.parametrize(("kind", "record_of"), COUNTED.values(), ids=COUNTED)
def test_new_ids_follow_the_highest(storage: Storage, kind: AnyKind, record_of: Callable[[int], StoredRecord]) -> None:
    def next_one(uow: UnitOfWork) -> int:
        id_ = uow.records(kind).next_id()
        uow.records(kind).add(record_of(id_))
        return id_

    write_and_fail(storage, next_one, add(record_of(100)))  # ids of rolled-back work are free again
    assert write(storage, next_one) == 1
    assert write(storage, next_one, next_one) == 3
    write(storage, remove(kind, 3))
    assert write(storage, next_one) == 4
    write(storage, add(record_of(10), record_of(7)))
    assert write(storage, next_one) == 11
    assert write(storage, add(record_of(20)), next_one) == 21
    # A record with one of the last ids does not use up the others.
    write(storage, add(record_of(MAX_ID), record_of(2_000_000_001)))
    assert write(storage, next_one) == 22
    write(storage, add(record_of(2_000_000_000)), remove(kind, 2_000_000_001))
    assert write(storage, next_one) == 2_000_000_001


@pytest.mark.rule("contract A2")
def test_no_id_follows_the_last(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (tables, counters):
        monkeypatch.setattr(module, "MAX_ID", 1)
    assert write(storage, lambda uow: uow.records(LOGOS).next_id()) == 1
    write(storage, add(logo(1)))
    with pytest.raises(Conflict, match=r"^No logo_id is left$"):
        write(storage, lambda uow: uow.records(LOGOS).next_id())


@pytest.mark.rule("contract C1")
def test_the_classes_of_hashes_are_those_of_stored_hashes(storage: Storage) -> None:
    hashes = ["$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$a", "$argon2id$v=19$m=65536,t=3,p=16$c2FsdHNhbHQ$b", "one"]
    write(storage, add(role()), *[add_one(number, hash_) for number, hash_ in enumerate([*hashes, hashes[0]])])
    classes = {"$argon2id$v=19$m=8,t=1,p=1", "$argon2id$v=19$m=65536,t=3,p=16"}
    assert storage.read(lambda uow: uow.identity.passwords.classes()) == classes
    write(storage, lambda uow: uow.identity.passwords.set(1, PasswordHash(hashes[0])))
    assert storage.read(lambda uow: uow.identity.passwords.classes()) == {"$argon2id$v=19$m=8,t=1,p=1"}


def add_one(number: int, hash_: str) -> Step:
    return lambda uow: add_user(uow, user(number, f"user {number}"), PasswordHash(hash_))
