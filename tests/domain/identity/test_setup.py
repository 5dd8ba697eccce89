"""The first start (contract H3)."""

import pytest

from logoadmin import AmendRole, ListRoles, ListUsers, LogoAdmin, Role, SetPassword, TablesMissing, User
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.adapters.system_environment import SystemRandomness
from logoadmin.domain.identity.first_start import (
    first_start,
    key_files_since,
    rotate_token_keys,
    start_with_key_files,
    stored_token_keys,
)
from logoadmin.domain.identity.new_passwords import NewPasswords
from tests.gallery import CHEAP_PASSWORDS, NOW, FrozenClock, exported, failure, gallery_on

RANDOMNESS = SystemRandomness()


def start(storage: MemoryStorage, clock: FrozenClock, password: str | None = None) -> str | None:
    return storage.write(lambda uow: first_start(uow, NewPasswords(CHEAP_PASSWORDS, None), RANDOMNESS, clock, password))


@pytest.mark.rule("contract H3", "contract A12")
def test_the_first_start_makes_two_roles_and_an_administrator(gallery: LogoAdmin) -> None:
    roles = [Role(1, "member", ("proposals:write",), NOW), Role(2, "admin", ("*",), NOW)]
    assert list(gallery.roles.list(ListRoles())) == roles
    assert list(gallery.users.list(ListUsers())) == [User(2_000_000_000, "admin", None, 2, NOW)]


@pytest.mark.rule("contract H3")
@pytest.mark.parametrize("given", ["given", None])
def test_a_generated_password_is_shown_once(storage: MemoryStorage, clock: FrozenClock, given: str | None) -> None:
    shown = start(storage, clock, given)
    assert (shown is None) == (given is not None)
    password = given or shown or ""
    assert given or len(password) >= 32
    assert CHEAP_PASSWORDS.verify(storage.read(lambda uow: uow.identity.passwords.get(2_000_000_000)), password)
    assert start(storage, clock) is None


@pytest.mark.rule("contract H3")
@pytest.mark.parametrize("password", [None, "another"])
def test_starting_again_changes_nothing(storage: MemoryStorage, clock: FrozenClock, password: str | None) -> None:
    start(storage, clock, "given")
    gallery = gallery_on(storage, clock, started=False)
    gallery.roles.amend(AmendRole(role_id=1, name="guest", scope=("logos:write",)))
    gallery.users.set_password(SetPassword(user_id=2_000_000_000, password="changed"))
    before, keys = exported(gallery), stored_token_keys(storage)
    clock.pass_by(1000)
    assert start(storage, clock, password) is None
    assert exported(gallery) == before
    assert stored_token_keys(storage) == keys


@pytest.mark.rule("contract H3", "contract C2")
def test_the_first_start_makes_two_keys_for_tokens(storage: MemoryStorage, clock: FrozenClock) -> None:
    assert stored_token_keys(storage) == ()
    start(storage, clock)
    keys = stored_token_keys(storage)
    assert len(set(keys)) == 2
    assert all(len(key.encode()) >= 32 for key in keys)
    other = MemoryStorage()
    start(other, clock)
    assert not set(stored_token_keys(other)) & set(keys)


@pytest.mark.rule("contract C2")
def test_a_rotation_signs_with_the_next_key(storage: MemoryStorage, clock: FrozenClock) -> None:
    assert failure(rotate_token_keys, storage, RANDOMNESS, FrozenClock()) is TablesMissing
    start(storage, clock)
    current, following = stored_token_keys(storage)
    rotate_token_keys(storage, RANDOMNESS, FrozenClock())
    signing, newest, previous = stored_token_keys(storage)
    assert (signing, previous) == (following, current)
    assert newest not in (current, following)
    rotate_token_keys(storage, RANDOMNESS, FrozenClock())
    assert stored_token_keys(storage)[0] == newest
    assert stored_token_keys(storage)[2] == following
    start(storage, clock)
    assert stored_token_keys(storage)[0] == newest


@pytest.mark.rule("contract C2", "contract K7")
def test_the_first_start_with_key_files_is_remembered(storage: MemoryStorage) -> None:
    assert key_files_since(storage) is None
    assert [start_with_key_files(storage, now) for now in (1_000, 5_000, 995)] == [1_000] * 3
    assert key_files_since(storage) == 1_000
    # With a clock that was ahead: the keys in storage are not trusted again when that time arrives.
    assert [start_with_key_files(storage, now) for now in (100, 1_000)] == [0, 0]
