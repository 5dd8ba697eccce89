"""Calling the core from an event loop: sharing and giving up calls (contract A20, E1)."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, TypeVar

import httpx2
import pytest

from logoadmin.adapters.argon2_passwords import Argon2Passwords
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery.authors import CreateAuthor, ListAuthors
from logoadmin.domain.kernel.access import Anonymous, Caller, KeyHolder, Policy, SignedIn
from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.domain.kernel.lists import Listing
from logoadmin.domain.kernel.records import Author, PasswordHash
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api import dispatch as module
from logoadmin.entrypoints.http_api.dispatch import Dispatch, Work
from logoadmin.entrypoints.http_api.endpoints import _asker
from logoadmin.entrypoints.http_api.http_error import HttpError
from logoadmin.entrypoints.http_api.request import Request, request_of
from logoadmin.entrypoints.http_api.response_cache import DataVersion
from logoadmin.ports.storage import UnitOfWork
from tests.asgi import clients_of
from tests.entrypoints.conftest import bearer
from tests.gallery import ADMIN_PASSWORD, FrozenClock, WatchedStorage, gallery_on

Answer = TypeVar("Answer")

WITHIN: Final = 10.0


class SlowStorage(WatchedStorage):
    """A storage whose reads wait until they may go on, distinguishable from one that does not wait."""

    def __init__(self) -> None:
        super().__init__(MemoryStorage())
        self.waits = True
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.reading = threading.Event()

    def read(self, work: Callable[[UnitOfWork], Answer]) -> Answer:
        answer = super().read(work)
        self.reading.set()
        assert self.may_go_on.wait(WITHIN)
        return answer

    def data_version(self) -> int | None:
        return None


@pytest.fixture
def storage() -> Iterator[SlowStorage]:
    """A storage that blocks, and is released at the end."""
    made = SlowStorage()
    yield made
    made.may_go_on.set()


@pytest.fixture
def slow(storage: SlowStorage, clock: FrozenClock) -> LogoAdmin:
    return gallery_on(storage, clock, Policy.OPEN)


def new_request(deadline: float | None = None) -> Request:
    request = request_of({"method": "GET", "path": "/", "query_string": b"", "headers": []})
    request.deadline = deadline
    return request


async def until(event: threading.Event) -> None:
    """Wait for a thread without blocking the event loop."""
    assert await asyncio.to_thread(event.wait, WITHIN)


@pytest.mark.rule("contract E1")
async def test_a_version_requested_after_a_check_began_gets_a_new_check(storage: SlowStorage, slow: LogoAdmin) -> None:
    calls = Dispatch(slow)
    storage.may_go_on.clear()
    data_version = DataVersion(slow, calls)
    early = asyncio.ensure_future(data_version.of(new_request()))
    await until(storage.reading)
    slow.authors.create(CreateAuthor(user_id=1, username="Ann"))
    late = asyncio.ensure_future(data_version.of(new_request()))
    await asyncio.sleep(0)
    storage.may_go_on.set()
    assert await early is not await late is await data_version.of(new_request())


@pytest.mark.rule("contract H6")
def test_a_read_that_was_waiting_when_its_event_loop_ended_does_not_fail_later_ones(slow: LogoAdmin) -> None:
    dispatch, may_go_on = Dispatch(slow), threading.Event()

    async def read(call: Callable[[], Answer]) -> Answer:
        return await dispatch.reading_once("list", call, asyncio.get_running_loop().time() + WITHIN)

    async def end_early() -> None:
        for _ in range(2):
            reading = asyncio.create_task(read(partial(may_go_on.wait, WITHIN)))
            await asyncio.sleep(0.01)
            assert not reading.done()

    asyncio.run(end_early())
    may_go_on.set()
    assert asyncio.run(read(lambda: 1)) == 1


@pytest.mark.rule("contract A20")
async def test_a_call_cancelled_in_the_queue_never_runs_and_a_running_one_keeps_its_slot(
    slow: LogoAdmin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TIMEOUT", 0.2)
    done: list[object] = []
    calls, may_end = Dispatch(slow), threading.Event()

    def hang() -> None:
        done.append("begun")
        may_end.wait(WITHIN)

    hanging = [asyncio.ensure_future(calls.run(Work.HASHING, hang)) for _ in range(2)]
    await asyncio.sleep(0.05)
    waiting = asyncio.ensure_future(calls.run(Work.HASHING, done.append, "waiting"))
    hanging[0].cancel()  # its client went away
    refused = await asyncio.gather(*hanging, waiting, return_exceptions=True)
    assert [type(error) for error in refused] == [asyncio.CancelledError, HttpError, HttpError]
    with pytest.raises(HttpError, match="The request took too long; try again later"):
        await calls.run(Work.HASHING, done.append, "late")
    assert await calls.run(Work.READING, abs, -1) == 1
    may_end.set()
    await calls.run(Work.HASHING, done.append, "last")
    assert done == ["begun", "begun", "last"]


@pytest.mark.rule("contract A20")
async def test_a_late_storage_call_is_an_unavailable_database(slow: LogoAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TIMEOUT", 0.05)
    calls, may_end = Dispatch(slow), threading.Event()
    for work in (Work.READING, Work.WRITING):
        with pytest.raises(StorageUnavailable):
            await calls.run(work, may_end.wait, WITHIN)
    may_end.set()


@pytest.mark.rule("contract A20")
async def test_a_slow_read_blocks_only_its_own_thread(storage: SlowStorage) -> None:
    storage.concurrent_reads = 3
    calls, may_end = Dispatch(gallery_on(storage, FrozenClock())), threading.Event()
    slow = [asyncio.ensure_future(calls.run(Work.READING, may_end.wait, WITHIN)) for _ in range(2)]
    quick = [calls.run(Work.READING, abs, number) for number in range(20)]
    assert await asyncio.wait_for(asyncio.gather(*quick), 1) == list(range(20))
    assert not any(task.done() for task in slow)
    may_end.set()
    await asyncio.gather(*slow)


@pytest.mark.rule("contract E1", "contract E3")
async def test_searches_block_nothing_else(slow: LogoAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    list_, searching, may_end = slow.authors.list, threading.Event(), threading.Event()

    def slow_list(command: ListAuthors, caller: Caller) -> Listing[Author]:
        if command.q is not None:
            searching.set()
            may_end.wait(WITHIN)
        return list_(command, caller)

    slow.authors.create(CreateAuthor(user_id=5, username="Ann"))
    monkeypatch.setattr(slow.authors, "list", slow_list)
    async with clients_of(slow) as (client,):

        async def ask(path: str) -> httpx2.Response:
            return await asyncio.wait_for(client.get(path), 1)

        await ask("/api/authors?limit=5")  # in the cache from now on
        searches = [asyncio.ensure_future(client.get(f"/api/authors?q={number}")) for number in range(9)]
        await until(searching)
        for path in ("/api/authors?limit=5", "/api/authors?limit=6", "/api/authors?user_id=5", "/api/authors/1"):
            assert (await ask(path)).status_code == 200, path
        assert not any(search.done() for search in searches)
        may_end.set()
        assert {(await search).status_code for search in searches} == {200}


@pytest.mark.rule("contract A20", "contract H4")
async def test_a_slow_call_starts_in_time_or_never(slow: LogoAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLOW_WAIT", 0.1)
    calls, may_end = Dispatch(slow), threading.Event()
    made: list[str] = []
    first = asyncio.create_task(calls.run(Work.SLOW, may_end.wait, WITHIN, turn="import"))
    await asyncio.sleep(0)
    with pytest.raises(HttpError) as caught:
        await calls.run(Work.SLOW, made.append, "late", turn="import")
    assert (caught.value.status, caught.value.headers) == (503, {"retry-after": "1"})
    assert caught.value.detail == "Too many concurrent long requests; try again later"
    may_end.set()
    assert await first  # it continued, though it took longer than the limit for waiting
    await calls.run(Work.SLOW, made.append, "after", turn="import")
    assert made == ["after"]


@pytest.mark.rule("contract H4", "contract L4", "contract P1")
@pytest.mark.parametrize("work", [Work.SLOW, Work.PICTURES])
async def test_a_caller_has_one_slow_call_at_a_time_and_does_not_delay_others(work: Work) -> None:
    running, twice, go_on = list[str](), list[str](), threading.Event()

    def wait(caller: str) -> None:
        twice.extend(caller for each in running if each == caller)
        running.append(caller)
        assert go_on.wait(WITHIN)
        running.remove(caller)

    calls = Dispatch(gallery_on(MemoryStorage(), FrozenClock()))
    attacks = [asyncio.create_task(calls.run(work, wait, "attacker", turn="attacker")) for _ in range(50)]
    attacks[1].cancel()
    await asyncio.sleep(0.05)
    for other in Work:
        assert await asyncio.wait_for(calls.run(other, abs, -1, turn="other"), WITHIN) == 1
    assert running == ["attacker"]
    attacks[0].cancel()  # the client went away, its call goes on
    await asyncio.sleep(0.05)
    assert running == ["attacker"]
    go_on.set()
    await asyncio.wait_for(asyncio.gather(*attacks, return_exceptions=True), WITHIN)
    assert twice == []


class SlowPasswords(Argon2Passwords):
    """Hashes a password more slowly than a call may take."""

    def hash(self, password: str) -> PasswordHash:
        time.sleep(0.3)
        return super().hash(password)


@pytest.mark.server("calls that take long")
@pytest.mark.rule("contract A20", "contract J7")
async def test_a_request_with_many_new_passwords_may_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TIMEOUT", 0.2)
    gallery = gallery_on(MemoryStorage(), FrozenClock(), hasher=SlowPasswords(8, 1))
    headers = bearer(gallery, "admin", ADMIN_PASSWORD)
    users = [{"user_id": number, "username": f"{number}", "password": "ann's password"} for number in (1, 2, 3)]
    changes = [{"kind": "user", "create": user} for user in users[1:]]
    async with clients_of(gallery) as (client,):
        assert (await client.post("/api/users", json=users[0], headers=headers)).status_code == 503
        assert (await client.post("/api/changes", json={"changes": changes}, headers=headers)).status_code == 200


@pytest.mark.rule("contract L5")
@pytest.mark.parametrize(
    ("caller", "asker"),
    [
        (SignedIn(1042, "s", None, "192.0.2.1"), 1042),
        (KeyHolder("hash"), "2001:db8::/64"),
        (Anonymous("2001:db8::7"), "2001:db8::/64"),
    ],
)
def test_requests_to_other_hosts_are_limited_by_user_or_else_by_network(caller: Caller, asker: object) -> None:
    scope = {"method": "POST", "path": "/", "query_string": b"", "headers": []}
    request = request_of({**scope, "client": ("2001:db8::7", 1)})
    assert _asker(caller, request) == asker


@pytest.mark.rule("contract A20")
async def test_without_free_threads_the_service_is_busy(slow: LogoAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def no_thread(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    calls = Dispatch(slow)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", no_thread)
        with pytest.raises(HttpError, match="Too many concurrent requests; try again later"):
            await calls.run(Work.SLOW, made.append, "refused", turn="import")
    await asyncio.wait_for(calls.run(Work.SLOW, made.append, "after", turn="import"), WITHIN)
    assert made == ["after"]
