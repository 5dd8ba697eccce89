"""Calling the core from an event loop: sharing and giving up calls (contract A20, E1)."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any, Final, TypeVar

import httpx2
import pytest

from logoadmin.adapters.argon2_passwords import Argon2Passwords
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery.authors import CreateAuthor, ListAuthors
from logoadmin.domain.identity.sign_in.password import SignIn
from logoadmin.domain.kernel.access import Anonymous, Caller, KeyHolder, Policy, SignedIn
from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.domain.kernel.lists import Listing
from logoadmin.domain.kernel.records import Author, PasswordHash
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.css import judging as verdict
from logoadmin.entrypoints.http_api import dispatch as module
from logoadmin.entrypoints.http_api.dispatch import Dispatch
from logoadmin.entrypoints.http_api.endpoints import _asker
from logoadmin.entrypoints.http_api.errors import HttpError
from logoadmin.entrypoints.http_api.request import Request, request_of
from logoadmin.entrypoints.http_api.response_cache import DataVersion
from logoadmin.ports.storage import UnitOfWork
from tests.entrypoints.concurrent_clients import Clients, with_clients
from tests.gallery import ADMIN_PASSWORD, FrozenClock, WatchedStorage, gallery_on, stock

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
    """A storage that is made to wait, and let go at the end."""
    made = SlowStorage()
    yield made
    made.may_go_on.set()


@pytest.fixture
def slow(storage: SlowStorage, clock: FrozenClock) -> LogoAdmin:
    """A gallery on it."""
    return gallery_on(storage, clock, Policy.OPEN)


def new_request(deadline: float | None = None) -> Request:
    """Return a request without headers."""
    request = request_of({"method": "GET", "path": "/", "query_string": b"", "headers": []})
    request.deadline = deadline
    return request


async def until(event: threading.Event) -> None:
    """Wait for a thread without keeping the event loop."""
    assert await asyncio.to_thread(event.wait, WITHIN)


@pytest.mark.rule("contract E1")
def test_who_asks_for_the_version_after_a_look_began_gets_another(storage: SlowStorage, slow: LogoAdmin) -> None:
    async def run() -> None:
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

    asyncio.run(run())


@pytest.mark.rule("contract A20")
def test_a_call_given_up_before_its_turn_is_never_done(slow: LogoAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TIMEOUT", 0.2)
    done: list[str] = []

    async def run() -> None:
        calls = Dispatch(slow)
        begun, may_end = threading.Event(), threading.Event()

        def first() -> None:
            begun.set()
            may_end.wait(WITHIN)
            done.append("first")

        both = [asyncio.ensure_future(calls.session_writing.run(first))]
        await until(begun)
        both.append(asyncio.ensure_future(calls.session_writing.run(lambda: done.append("second"))))
        refused = await asyncio.gather(*both, return_exceptions=True)
        assert [type(error) for error in refused] == [StorageUnavailable, StorageUnavailable]
        may_end.set()
        await calls.session_writing.run(lambda: done.append("third"))

    asyncio.run(run())
    assert done == ["first", "third"]


@pytest.mark.rule("contract A20")
def test_a_slow_read_keeps_only_its_own_thread(storage: SlowStorage) -> None:
    storage.concurrent_reads = 3
    gallery = gallery_on(storage, FrozenClock())
    may_end = threading.Event()

    async def run() -> None:
        calls = Dispatch(gallery)
        slow = [asyncio.ensure_future(calls.reading.run(lambda: may_end.wait(WITHIN))) for _ in range(2)]
        quick = [calls.reading.run(partial(abs, number)) for number in range(20)]
        assert await asyncio.wait_for(asyncio.gather(*quick), 1) == list(range(20))
        assert not any(task.done() for task in slow)
        may_end.set()
        await asyncio.gather(*slow)

    asyncio.run(run())


@pytest.mark.rule("contract E1", "contract E3")
def test_searches_stand_in_the_way_of_nothing_else(slow: LogoAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    list_, searching, may_end = slow.authors.list, threading.Event(), threading.Event()

    def slow_list(command: ListAuthors, caller: Caller) -> Listing[Author]:
        if command.q is not None:
            searching.set()
            may_end.wait(WITHIN)
        return list_(command, caller)

    async def work(clients: Clients) -> None:
        (client,) = clients

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

    slow.authors.create(CreateAuthor(user_id=5, username="Ann"))
    monkeypatch.setattr(slow.authors, "list", slow_list)
    with_clients((slow,), work)


@pytest.mark.rule("contract A20")
def test_a_thread_that_could_not_be_started_is_started_for_the_next(
    slow: LogoAdmin, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def run() -> None:
        calls = Dispatch(slow)
        asking: list[Callable[[], Awaitable[object]]] = [
            lambda: calls.reading.run(lambda: "read"),
            lambda: calls.searching.run(lambda: "found"),
            lambda: calls.writing.run(lambda: "written"),
            lambda: calls.hashing.run(lambda: "hashed"),
            lambda: calls.parsing.run(lambda: "parsed"),
        ]
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", fail)
            for ask in asking:
                with pytest.raises(HttpError, match="Too many concurrent requests"):
                    await ask()
        assert [await ask() for ask in asking] == ["read", "found", "written", "hashed", "parsed"]

    asyncio.run(run())


@pytest.mark.rule("contract A20", "contract C1")
def test_who_waits_too_long_for_hashing_is_not_told_that_the_database_is_away(
    slow: LogoAdmin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TIMEOUT", 0.05)
    may_end = threading.Event()

    async def run() -> None:
        with pytest.raises(HttpError) as caught:
            await Dispatch(slow).hashing.run(lambda: may_end.wait(WITHIN))
        assert (caught.value.status, caught.value.detail) == (503, "Too many concurrent sign-ins; try again later")
        assert caught.value.headers == {"retry-after": "1"}

    try:
        asyncio.run(run())
    finally:
        may_end.set()


# Reads that wait at the same time.


@pytest.mark.rule("contract A20", "contract H4")
def test_what_takes_long_begins_in_time_or_never(slow: LogoAdmin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LONG_WAIT", 0.05)
    begun, may_end = threading.Event(), threading.Event()
    made: list[str] = []

    def long() -> str:
        begun.set()
        assert may_end.wait(WITHIN)
        return "done"

    async def ask() -> list[object]:
        dispatch = Dispatch(slow)
        first = asyncio.create_task(dispatch.long_writing.run(long))
        while not begun.is_set():
            await asyncio.sleep(0)
        late = await asyncio.gather(dispatch.long_writing.run(lambda: made.append("late")), return_exceptions=True)
        may_end.set()
        return [*late, await first, await dispatch.long_writing.run(lambda: "after")]

    refused, *others = asyncio.run(ask())
    assert isinstance(refused, HttpError)
    assert (refused.status, refused.detail) == (503, "Too many concurrent long requests; try again later")
    assert refused.headers == {"retry-after": "1"}
    assert (others, made) == (["done", "after"], [])  # the first went on, though it took longer than any may wait


class SlowPasswords(Argon2Passwords):
    """Hashes a password more slowly than a call may take."""

    def hash(self, password: str) -> PasswordHash:
        time.sleep(0.3)
        return super().hash(password)


@pytest.mark.server("calls that take long")
@pytest.mark.rule("contract A20", "contract J7")
def test_many_new_passwords_in_one_request_may_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TIMEOUT", 0.2)
    gallery = gallery_on(MemoryStorage(), FrozenClock(), hasher=SlowPasswords(8, 1))
    token = gallery.sessions.sign_in(SignIn(username="admin", password=ADMIN_PASSWORD)).access_token
    users = [{"user_id": number, "username": f"{number}", "password": "ann's password"} for number in (1, 2, 3)]
    changes = [{"kind": "user", "create": user} for user in users[1:]]

    async def work(clients: Clients) -> None:
        client, headers = clients[0], {"authorization": f"Bearer {token}"}
        assert (await client.post("/api/users", json=users[0], headers=headers)).status_code == 503
        assert (await client.post("/api/changes", json={"changes": changes}, headers=headers)).status_code == 200

    with_clients((gallery,), work)


# Judging CSS.


@pytest.mark.rule("contract L4")
def test_judging_keeps_no_read_waiting_and_is_two_at_a_time_and_one_for_each_caller() -> None:
    running: list[str] = []
    started: list[str] = []
    most: list[int] = []
    both, go_on = threading.Event(), threading.Event()

    def work(caller: str) -> str:
        running.append(caller)
        started.append(caller)
        most.append(len(running))
        if len(running) == 2:
            both.set()
        assert go_on.wait(WITHIN)
        running.remove(caller)
        return caller

    async def calls() -> None:
        dispatch = Dispatch(gallery_on(MemoryStorage(), FrozenClock()))

        async def ask(caller: str) -> None:
            assert await dispatch.judging.run_for(caller, partial(work, caller)) == caller

        attacks = [asyncio.create_task(ask("attacker")) for _ in range(5)]
        await asyncio.sleep(0)
        others = [asyncio.create_task(ask(name)) for name in ("other", "third")]
        assert await asyncio.wait_for(dispatch.reading.run(lambda: "read"), WITHIN) == "read"
        assert await asyncio.to_thread(both.wait, WITHIN)
        go_on.set()
        await asyncio.wait_for(asyncio.gather(*attacks, *others), WITHIN)

    asyncio.run(calls())
    assert max(most) == 2
    assert {"other", "third"} <= {*started[:4]}
    assert len(started) == 7


@pytest.mark.server("calls that take long")
@pytest.mark.rule("contract L4", "contract A20")
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/css/verdict", {"kind": "logo", "custom_css": "color: red"}),
        ("GET", "/api/publication", None),
        ("GET", "/api/logos/1/css", None),
        ("GET", "/api/logos/1/pins/copies", None),
    ],
)
def test_judging_for_longer_than_a_read_may_take_is_no_failure_of_the_database(
    method: str, path: str, body: dict[str, str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = MemoryStorage()
    monkeypatch.setattr(storage, "waits", True)
    gallery = gallery_on(storage, FrozenClock())
    stock(gallery)
    token = gallery.sessions.sign_in(SignIn(username="admin", password=ADMIN_PASSWORD)).access_token
    monkeypatch.setattr(module, "TIMEOUT", 0.2)
    find = verdict._findings

    def slow(*asked: Any) -> Any:
        time.sleep(0.3)
        return find(*asked)

    monkeypatch.setattr(verdict, "_findings", slow)

    async def work(clients: Clients) -> None:
        headers = {"authorization": f"Bearer {token}"}
        assert (await clients[0].request(method, path, json=body, headers=headers)).status_code == 200

    with_clients((gallery,), work)


@pytest.mark.rule("contract L5")
@pytest.mark.parametrize(
    ("caller", "asker"),
    [
        (SignedIn(1042, "s", None, "192.0.2.1"), 1042),
        (KeyHolder("hash"), "2001:db8::/64"),
        (Anonymous("2001:db8::7"), "2001:db8::/64"),
    ],
)
def test_who_asks_other_hosts_is_the_user_or_else_the_network(caller: Caller, asker: object) -> None:
    request = request_of(
        {"method": "POST", "path": "/", "query_string": b"", "headers": [], "client": ("2001:db8::7", 1)}
    )
    assert _asker(caller, request) == asker
