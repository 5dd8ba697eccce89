"""Long responses: shared, of one moment, within bounds, and sent in slices (contract E1, K8)."""

import asyncio
import gzip
import json
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, TypeVar

import pytest
from starlette.types import ASGIApp, Message

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery.artworks import AmendLogo
from logoadmin.domain.kernel.kinds import LOGOS
from logoadmin.domain.kernel.limits import MAX_CUSTOM_CSS
from logoadmin.domain.kernel.lists import Listing
from logoadmin.domain.kernel.records import Logo
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.app import http_application
from logoadmin.entrypoints.http_api.renderer import LongResponses
from logoadmin.entrypoints.http_api.response import SLICE, Response
from logoadmin.ports.storage import UnitOfWork
from tests.asgi import AppClient, ask, clients_of, nothing_more, scope_of
from tests.gallery import NOW, FrozenClock, WatchedStorage, gallery_on, recorded

Answer = TypeVar("Answer")

pytestmark = pytest.mark.rule("contract E1")

TEXT = "".join(map(chr, range(0x400, 0x4FF)))  # two bytes each
STYLES: dict[str, list[str]] = {
    "light": [""] * 700,
    "heavy": ["\x01🂡" * (MAX_CUSTOM_CSS // 2)] * 3,
    "mixed": ["", TEXT * 1000, "", "", TEXT * 100, *["x" * 300] * 300, TEXT * 1000, ""],
    "one, then a heavy one": ["", TEXT * 1000],
    "almost too heavy": ["x" * 65_400] * 4,
    "escapes": ["\x01" * 30_000] * 9,
}


@pytest.fixture
def storage() -> WatchedStorage:
    return WatchedStorage(MemoryStorage())


@pytest.fixture
def gallery(storage: WatchedStorage) -> LogoAdmin:
    return gallery_on(storage, FrozenClock())


@pytest.fixture
def app(gallery: LogoAdmin) -> ASGIApp:
    return http_application(gallery)


@pytest.fixture
def client(app: ASGIApp) -> AppClient:
    return AppClient(app, base_url="http://localhost")


def fill(storage: WatchedStorage, styles: list[str]) -> list[dict[str, Any]]:
    logos = [Logo(id_, f"logo {id_}", "http://a", "t", css, False, (), NOW) for id_, css in enumerate(styles, 1)]

    def work(uow: AuditedUnitOfWork) -> None:
        for logo in logos:
            uow.records(LOGOS).add(logo)

    storage.write(recorded(work, NOW))
    names = ("logo_id", "name", "preview_url", "target", "custom_css", "active", "created_at")
    return [{"authors": [], **{name: getattr(logo, name) for name in names}} for logo in logos]


@pytest.mark.rule("contract E2", "contract K8")
@pytest.mark.parametrize("kind", STYLES)
def test_lists_of_any_size_are_complete(client: AppClient, app: ASGIApp, storage: WatchedStorage, kind: str) -> None:
    logos = fill(storage, STYLES[kind])
    for _ in range(2):
        answer = client.get("/api/logos")
        assert (answer.status_code, answer.json()) == (200, logos)
        assert client.get("/api/logos", headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
        assert client.head("/api/logos").headers["etag"] == answer.headers["etag"]
        assert client.get(f"/api/logos/{len(logos)}").json() == logos[-1]
        assert client.get("/api/logos?after=1").json() == logos[1:]
        compressed = ask(app, "GET", "/api/logos", headers=[("accept-encoding", "gzip")])
        assert int(compressed.header("content-length") or 0) == len(compressed.body) < len(answer.content)
        assert json.loads(gzip.decompress(compressed.body)) == logos
    seen: list[Any] = []
    path = "/api/logos?limit=3"
    while path and len(seen) < 30:
        page = client.get(path)
        seen += page.json()
        path = page.links.get("next", {}).get("url", "")
    assert seen == logos[:30]


@pytest.mark.rule("contract F1", "contract K8")
@pytest.mark.parametrize("path", ["/api/logos", "/api/logos/1"])
def test_a_response_is_sent_in_slices_which_no_change_interrupts(
    app: ASGIApp, client: AppClient, gallery: LogoAdmin, storage: WatchedStorage, path: str
) -> None:
    fill(storage, [TEXT * 1000] * 20)
    before = client.get(path)
    bodies: list[bytes] = []
    more: list[bool] = []

    async def send(message: Message) -> None:
        bodies.append(message.get("body", b""))
        more.append(message.get("more_body", True))
        if len(bodies) == 3:
            gallery.logos.amend(AmendLogo(logo_id=1, name="another"))

    async def request() -> None:
        await app(scope_of("GET", path), nothing_more, send)

    asyncio.run(request())
    assert (b"".join(bodies), max(map(len, bodies)), SLICE) == (before.content, SLICE, 65_536)
    assert more == [True] * (len(more) - 1) + [False]
    after = client.get(path)
    assert b'"another"' in after.content
    assert after.headers["etag"] != before.headers["etag"]


def test_a_list_beyond_the_limit_is_refused_and_its_pages_are_not(gallery: LogoAdmin, storage: WatchedStorage) -> None:
    logos = fill(storage, STYLES["light"])
    client = AppClient(http_application(gallery, max_list=50_000), base_url="http://localhost")
    for encoding in ("identity", "gzip"):
        refused = client.get("/api/logos", headers={"accept-encoding": encoding})
        assert (refused.status_code, refused.json()) == (413, {"detail": "This list is too long; use limit"})
    assert client.get("/api/logos?limit=500").json() == logos[:500]
    assert client.get("/api/logos?after=600").json() == logos[600:]


@pytest.mark.rule("contract A20")
async def test_one_list_is_rendered_at_a_time_for_all_its_requests(
    gallery: LogoAdmin, storage: WatchedStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(storage, STYLES["light"])
    rendering, most, read, go_on = 0, 0, 0, threading.Event()
    snapshot = storage.snapshot

    def slow(work: Callable[[UnitOfWork], Answer]) -> Answer:
        nonlocal rendering, most, read
        rendering, read = rendering + 1, read + 1
        most = max(most, rendering)
        assert go_on.wait(10)
        rendering -= 1
        return snapshot(work)

    monkeypatch.setattr(storage, "snapshot", slow)
    async with clients_of(gallery) as (client,):
        paths = ["/api/logos", "/api/logos?order=desc"] * 5
        lists = [asyncio.ensure_future(client.get(path)) for path in paths]
        await asyncio.sleep(0.1)
        assert (await client.get("/api/logos/1")).status_code == 200  # waits for none of them
        go_on.set()
        bodies = {(await each).content for each in lists}
        assert sorted(len(json.loads(body)) for body in bodies) == [700, 700]
    assert (most, read) == (1, 2)


@pytest.mark.rule("contract A20")
def test_a_database_failure_midway_is_a_503(
    gallery: LogoAdmin, client: AppClient, storage: WatchedStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    logos = fill(storage, STYLES["light"])
    at_one_moment = Listing.at_one_moment

    def cut(pages: Iterator[Any]) -> Iterator[Any]:
        yield from islice(pages, 2)
        raise gallery.timed_out(writing=False)

    def fail(listing: Listing[Any], write: Callable[[Iterator[Any]], Any]) -> Any:
        return at_one_moment(listing, lambda pages: write(cut(pages)))

    with monkeypatch.context() as patch:
        patch.setattr(Listing, "at_one_moment", fail)
        assert client.get("/api/logos").status_code == 503
    assert client.get("/api/logos").json() == logos


def test_stored_responses_are_bounded() -> None:
    responses, version = LongResponses(100_000), object()
    for number in range(3):  # the oldest goes when another one needs its room
        responses.keep(number, version, Response(200, [], bytes(80_000)))
    assert [number for number in range(3) if responses.get(number, version)] == [1, 2]
    assert responses.get(2, object()) is None  # of another version of the records
