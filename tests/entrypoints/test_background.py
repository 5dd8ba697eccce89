"""The sweep and the notices in the background of an application (contract C3, O9, R6)."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest
from starlette.types import Message

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api import background
from logoadmin.entrypoints.http_api.app import http_application
from logoadmin.entrypoints.http_api.dispatch import Dispatch
from tests.domain.identity.sign_ins import ANN, refreshing
from tests.gallery import FrozenClock, gallery_on, stock

pytestmark = pytest.mark.rule("contract C3")

AT_ONCE: Final = dict.fromkeys(background.REGULAR_WORK, 0.0)


@pytest.fixture
def swept(clock: FrozenClock) -> tuple[LogoAdmin, Callable[[], int]]:
    """A gallery with sessions that have expired, and how many are left."""
    storage = MemoryStorage()
    gallery = gallery_on(storage, clock)
    stock(gallery)
    for _ in range(120):
        gallery.sessions.refresh(refreshing(gallery.sessions.sign_in(ANN)))
    clock.pass_by(400 * 86_400)
    return gallery, lambda: len(storage.read(lambda uow: uow.identity.sessions.of_user(7)))


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not is_so():
            await asyncio.sleep(0)


@asynccontextmanager
async def lifespan_of(app: Callable[..., Awaitable[Any]]) -> AsyncIterator[None]:
    """Run the lifespan of an application."""
    received: asyncio.Queue[Message] = asyncio.Queue()
    sent: asyncio.Queue[Message] = asyncio.Queue()
    task = asyncio.ensure_future(app({"type": "lifespan"}, received.get, sent.put))
    await received.put({"type": "lifespan.startup"})
    assert await sent.get() == {"type": "lifespan.startup.complete"}
    yield
    await received.put({"type": "lifespan.shutdown"})
    assert await sent.get() == {"type": "lifespan.shutdown.complete"}
    await task
    assert asyncio.all_tasks() == {asyncio.current_task()}


def test_the_lifespan_of_an_application_sweeps(swept: tuple[LogoAdmin, Callable[[], int]]) -> None:
    gallery, left = swept

    async def live() -> None:
        async with lifespan_of(http_application(gallery, work=AT_ONCE)):
            await until(lambda: left() == 0)

    asyncio.run(live())


def test_a_mounted_application_sweeps_from_its_first_request_on(
    swept: tuple[LogoAdmin, Callable[[], int]],
) -> None:
    gallery, left = swept

    async def request() -> None:
        scope = {"type": "http", "method": "GET", "path": "/livez", "raw_path": b"/livez", "query_string": b""}
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        async def receive() -> Message:
            return {"type": "http.request"}

        await http_application(gallery, work=AT_ONCE)({**scope, "headers": []}, receive, send)
        assert sent[0]["status"] == 200
        await until(lambda: left() == 0)

    asyncio.run(request())


def test_a_closed_gallery_is_not_swept(swept: tuple[LogoAdmin, Callable[[], int]]) -> None:
    gallery, _ = swept
    gallery.close()

    async def sweep() -> None:
        async with asyncio.timeout(20):
            await background.repeat(gallery, Dispatch(gallery), background.remove_expired_records)

    asyncio.run(sweep())


class _Receivers:
    """Receivers that accept what they get."""

    def __init__(self) -> None:
        self.got: list[str] = []

    def post(self, url: str, content: bytes, *, seconds: float) -> int:
        assert seconds < 60
        self.got.append(f"{url} {json.loads(content)['event']}")
        return 204


@pytest.mark.rule("contract R6")
def test_an_application_sends_notices_while_it_is_served(clock: FrozenClock) -> None:
    receivers = _Receivers()
    gallery = gallery_on(MemoryStorage(), clock, receivers=receivers, notify_urls=["https://hook.test/"])
    stock(gallery)
    clock.pass_by(11)

    async def live() -> None:
        async with lifespan_of(http_application(gallery, work=AT_ONCE)):
            await until(lambda: bool(receivers.got))

    asyncio.run(live())
    assert receivers.got == ["https://hook.test/ proposal.waiting"]
