"""The application inside another one, and its regular work in the background (contract C3, H6, O9, R6)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final
from urllib.parse import urljoin

import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Message
from starlette.websockets import WebSocketDisconnect

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery.authors import CreateAuthor
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api import background
from logoadmin.entrypoints.http_api.app import http_application
from logoadmin.entrypoints.http_api.dispatch import Dispatch
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from tests.asgi import AppClient, answer_of, scope_of
from tests.domain.changes.test_notices import Receivers
from tests.domain.identity.sign_ins import ANN, refreshing
from tests.gallery import NOW, FrozenClock, gallery_on, stock
from tests.sample_requests import READ_ONLY

pytestmark = pytest.mark.rule("contract H6", "spec §Versioning", "contract C3")

AUTHOR = {"author_id": 1, "user_id": 101, "username": "Ann", "created_at": NOW}


def in_starlette(app: ASGIApp) -> ASGIApp:
    return Starlette(routes=[Mount("/gallery", app), Route("/", lambda _: PlainTextResponse("host"))])


def in_fastapi(app: ASGIApp) -> ASGIApp:
    host = FastAPI()
    host.mount("/gallery", app)
    host.add_api_route("/", lambda: PlainTextResponse("host"))
    return host


@pytest.mark.rule("contract A5")
def test_a_command_can_be_the_body_of_a_fastapi_route(gallery: LogoAdmin) -> None:
    host = FastAPI()

    @host.post("/authors")
    def create(command: CreateAuthor) -> int:
        return gallery.authors.create(command).author_id

    with TestClient(host) as client:
        refused = client.post("/authors", json={"user_id": "7", "x": 1})
        assert refused.status_code == 422
        assert [(*entry["loc"], entry["type"]) for entry in refused.json()["detail"]] == [
            ("body", "user_id", "int_type"),
            ("body", "username", "missing"),
            ("body", "x", "extra_forbidden"),
        ]
        assert client.post("/authors", json={"user_id": 7, "username": "Eve"}).json() == 3


@pytest.fixture(params=[in_starlette, in_fastapi], ids=["starlette", "fastapi"])
def mounted(request: pytest.FixtureRequest, app: ASGIApp) -> Iterator[TestClient]:
    with TestClient(request.param(app)) as client:
        yield client


def test_every_path_is_under_the_prefix(mounted: TestClient) -> None:
    assert mounted.get("/gallery/api/authors/1").json() == AUTHOR
    assert mounted.post("/gallery/api/authors", json={"user_id": 5, "username": "x"}).status_code == 201
    assert mounted.get("/").text == "host"
    assert mounted.get("/api/authors/1").status_code == 404


def test_the_document_has_the_prefix_of_the_paths(mounted: TestClient) -> None:
    document = mounted.get("/gallery/openapi.json").json()
    assert set(document["paths"]) == {operation.path for operation in OPERATIONS}
    assert [server["url"] for server in document["servers"]] == ["/gallery"]
    scheme = document["components"]["securitySchemes"]["password"]
    # A URL there counts from where the document is (OpenAPI 3.1, Relative References in URLs).
    sign_in = urljoin("http://host/gallery/openapi.json", scheme["flows"]["password"]["tokenUrl"])
    assert sign_in == "http://host/gallery/api/auth/token"


def test_other_pages_are_found_and_those_of_the_host_are_kept(app: ASGIApp, mounted: TestClient) -> None:
    assert mounted.get("/").text == "host"
    for path in READ_ONLY[1:]:  # the document names the prefix
        found, itself = mounted.get(f"/gallery{path}"), AppClient(app).get(path, follow_redirects=True)
        assert (found.status_code, found.content) == (200, itself.content), path
        assert found.url.path == f"/gallery{itself.url.path}"
    assert mounted.get("/livez").status_code == 404


def test_the_host_keeps_its_lifespan(app: ASGIApp) -> None:
    began: list[str] = []

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        began.append("began")
        yield
        began.append("ended")

    host = Starlette(routes=[Mount("/gallery", app)], lifespan=lifespan)
    with TestClient(host) as client:
        assert client.get("/gallery/api/authors/1").status_code == 200
    assert began == ["began", "ended"]


def test_a_websocket_is_refused(app: ASGIApp, mounted: TestClient) -> None:
    for client, path in ((mounted, "/gallery/api/logos"), (TestClient(app), "/api/logos"), (TestClient(app), "/x")):
        with pytest.raises(WebSocketDisconnect), client.websocket_connect(path):
            pass


# The sweep and the notices.

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
async def lifespan_of(app: ASGIApp) -> AsyncIterator[None]:
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


@asynccontextmanager
async def mounted_and_asked(app: ASGIApp) -> AsyncIterator[None]:
    """Make a first request to an application whose lifespan does not run."""
    assert (await answer_of(app, scope_of("GET", "/livez"))).status_code == 200
    yield


@pytest.mark.parametrize("running", [lifespan_of, mounted_and_asked])
async def test_an_application_sweeps_while_it_lives_or_from_its_first_request_on(
    swept: tuple[LogoAdmin, Callable[[], int]], running: Callable[[ASGIApp], AbstractAsyncContextManager[None]]
) -> None:
    gallery, left = swept
    async with running(http_application(gallery, work=AT_ONCE)):
        await until(lambda: left() == 0)


async def test_a_closed_gallery_is_not_swept(swept: tuple[LogoAdmin, Callable[[], int]]) -> None:
    gallery, _ = swept
    gallery.close()
    async with asyncio.timeout(20):
        await background.repeat(gallery, Dispatch(gallery), background.remove_expired_records)


async def test_a_fault_is_logged_and_does_not_end_the_work(
    swept: tuple[LogoAdmin, Callable[[], int]], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gallery, _ = swept

    def fail() -> None:
        raise RuntimeError

    monkeypatch.setattr(gallery, "sweep", fail)
    task = asyncio.create_task(background.repeat(gallery, Dispatch(gallery), background.remove_expired_records))
    await until(lambda: bool(caplog.messages))
    assert not task.done()
    task.cancel()
    assert caplog.messages == ["Cannot remove expired records"]


@pytest.mark.rule("contract R6")
async def test_an_application_sends_notices_while_it_is_served(clock: FrozenClock) -> None:
    receivers = Receivers()
    gallery = gallery_on(MemoryStorage(), clock, receivers=receivers, notify_urls=["https://hook.test/"])
    stock(gallery)
    clock.pass_by(11)
    async with lifespan_of(http_application(gallery, work=AT_ONCE)):
        await until(lambda: bool(receivers.got))
    assert receivers.events("https://hook.test/") == ["proposal.waiting"]
