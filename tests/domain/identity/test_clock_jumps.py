"""A clock that ran a day ahead and was put right leaves nothing that lasts longer than it was to (contract K7)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery.authors import CreateAuthor, ListAuthors
from logoadmin.domain.identity.records import ServiceKey
from logoadmin.domain.identity.service_keys import CreateKey, ListKeys
from logoadmin.domain.identity.sessions import WhoAmI
from logoadmin.domain.identity.sign_in_limits import attempt, limits_of
from logoadmin.domain.kernel.access import Caller, SignedIn
from logoadmin.domain.kernel.errors import DuplicateEntry, InvalidToken
from logoadmin.domain.logo_admin import LogoAdmin
from tests.domain.identity.sign_ins import ANN
from tests.gallery import FrozenClock, once

DAY: Final = 86_400


@contextmanager
def a_day_ahead(clock: FrozenClock) -> Iterator[None]:
    clock.pass_by(DAY)
    yield
    clock.pass_by(-DAY)


@pytest.mark.rule("contract C1", "contract K7")
@pytest.mark.parametrize("jump", [1, 299, 300, 301, DAY, 100 * 366 * DAY])
def test_nobody_ever_waits_longer_than_a_window(storage: MemoryStorage, clock: FrozenClock, jump: int) -> None:
    def waits() -> list[int]:
        tried = [storage.write(lambda uow: attempt(uow, limits_of("here", "ann"), clock.now())) for _ in range(11)]
        return [seconds for seconds in tried if seconds is not None]

    clock.pass_by(jump)
    assert waits() == [300]
    clock.pass_by(-jump)
    assert all(seconds <= 300 for seconds in waits())
    clock.pass_by(300)
    assert waits() == [300]


@pytest.mark.rule("contract F3")
def test_a_response_of_a_jump_is_replayed_for_a_day(stocked: LogoAdmin, clock: FrozenClock) -> None:
    def create(key: str, user_id: int) -> int:
        return stocked.authors.create(once(CreateAuthor(user_id=user_id, username=f"new {user_id}"), key)).author_id

    with a_day_ahead(clock):
        made = create("one", 901)
    assert create("one", 901) == made
    stocked.sweep()
    clock.pass_by(DAY - 1)
    assert create("one", 901) == made
    clock.pass_by(1)
    with pytest.raises(DuplicateEntry):
        create("one", 901)
    assert sum(author.user_id == 901 for author in stocked.authors.list(ListAuthors())) == 1


def key_made_ahead(gallery: LogoAdmin, clock: FrozenClock, expires_in: int | None) -> tuple[Caller, Caller]:
    """Return Ann, and who holds a key that she made a day ahead."""
    with a_day_ahead(clock):
        ann = gallery.sessions.caller(gallery.sessions.sign_in(ANN).access_token)
        made = gallery.keys.create(CreateKey(name="script", scope=(), expires_in=expires_in), ann)
    assert isinstance(ann, SignedIn)
    return ann, gallery.sessions.caller(made.key)


def only_key(gallery: LogoAdmin, ann: Caller) -> ServiceKey:
    (key,) = gallery.keys.list(ListKeys(), ann)
    return key


@pytest.mark.rule("contract C5")
def test_a_key_of_a_jump_lasts_from_its_first_use_as_long_as_it_was_to(stocked: LogoAdmin, clock: FrozenClock) -> None:
    _, key = key_made_ahead(stocked, clock, expires_in=600)
    for passed in (0, 300, 299):
        clock.pass_by(passed)
        stocked.sessions.me(WhoAmI(), key)
    clock.pass_by(1)
    with pytest.raises(InvalidToken):
        stocked.sessions.me(WhoAmI(), key)


@pytest.mark.rule("contract C5")
def test_a_key_without_an_end_has_none_after_a_jump(stocked: LogoAdmin, clock: FrozenClock) -> None:
    ann, key = key_made_ahead(stocked, clock, expires_in=None)
    stocked.sessions.me(WhoAmI(), key)
    found = only_key(stocked, ann)
    assert (found.created_at, found.expires_at, found.last_used_at) == (clock.now(), None, clock.now())


@pytest.mark.rule("contract C5")
def test_a_key_that_was_used_in_a_jump_is_seen_to_be_used_after_it(stocked: LogoAdmin, clock: FrozenClock) -> None:
    ann = stocked.sessions.caller(stocked.sessions.sign_in(ANN).access_token)
    key = stocked.sessions.caller(stocked.keys.create(CreateKey(name="script", scope=()), ann).key)
    with a_day_ahead(clock):
        stocked.sessions.me(WhoAmI(), key)
    stocked.sessions.me(WhoAmI(), key)
    assert only_key(stocked, ann).last_used_at == clock.now()
