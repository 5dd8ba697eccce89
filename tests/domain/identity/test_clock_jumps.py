"""After a clock that ran a day ahead is corrected, nothing outlasts its term (contract K7)."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Final

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery.authors import CreateAuthor, ListAuthors
from logoadmin.domain.identity.service_keys import CreateKey, ListKeys
from logoadmin.domain.identity.sessions import WhoAmI
from logoadmin.domain.identity.sign_in_limits import count_or_wait, limits_of
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
def test_no_caller_waits_longer_than_one_window(storage: MemoryStorage, clock: FrozenClock, jump: int) -> None:
    def waits() -> list[int]:
        tried = [
            storage.write(lambda uow: count_or_wait(uow.identity.counts, limits_of("here", "ann"), clock.now()))
            for _ in range(11)
        ]
        return [seconds for seconds in tried if seconds is not None]

    clock.pass_by(jump)
    assert waits() == [300]
    clock.pass_by(-jump)
    assert all(seconds <= 300 for seconds in waits())
    clock.pass_by(300)
    assert waits() == [300]


@pytest.mark.rule("contract F3")
def test_a_response_stored_during_a_clock_jump_is_replayed_for_a_day(stocked: LogoAdmin, clock: FrozenClock) -> None:
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


@pytest.mark.rule("contract C5")
@pytest.mark.parametrize("expires_in", [600, None])
def test_a_key_created_during_a_clock_jump_lasts_its_full_term_from_first_use(
    stocked: LogoAdmin, clock: FrozenClock, expires_in: int | None
) -> None:
    with a_day_ahead(clock):
        ann = stocked.sessions.caller(stocked.sessions.sign_in(ANN).access_token)
        made = stocked.keys.create(CreateKey(name="script", scope=(), expires_in=expires_in), ann)
    key = stocked.sessions.caller(made.key)
    for passed in (0, 300, 299):
        clock.pass_by(passed)
        stocked.sessions.me(WhoAmI(), key)
    (listed,) = stocked.keys.list(ListKeys(), ann)
    assert (listed.created_at, listed.last_used_at) == (clock.now() - 599, clock.now())
    clock.pass_by(1)
    with pytest.raises(InvalidToken) if expires_in else nullcontext():
        stocked.sessions.me(WhoAmI(), key)


@pytest.mark.rule("contract C5")
def test_use_of_a_key_after_a_clock_jump_is_recorded(stocked: LogoAdmin, clock: FrozenClock) -> None:
    ann = stocked.sessions.caller(stocked.sessions.sign_in(ANN).access_token)
    key = stocked.sessions.caller(stocked.keys.create(CreateKey(name="script", scope=()), ann).key)
    with a_day_ahead(clock):
        stocked.sessions.me(WhoAmI(), key)
    stocked.sessions.me(WhoAmI(), key)
    assert [listed.last_used_at for listed in stocked.keys.list(ListKeys(), ann)] == [clock.now()]
