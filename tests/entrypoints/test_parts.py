"""Answers in parts: readers share them, hold no more than a chunk, and get what is whole or nothing (contract E1)."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.types import ASGIApp

import logoadmin
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.audit.unit_of_work import AuditedUnitOfWork
from logoadmin.domain.model.access import OWNER
from logoadmin.domain.model.errors import Conflict
from logoadmin.domain.model.kinds import LOGOS
from logoadmin.domain.model.limits import MAX_CUSTOM_CSS
from logoadmin.domain.model.lists import Place
from logoadmin.domain.model.records import Logo
from logoadmin.entrypoints.http_api.app import http_application
from logoadmin.entrypoints.http_api.data_version import DataVersion
from logoadmin.entrypoints.http_api.dispatch import Dispatch
from logoadmin.entrypoints.http_api.parts import CHUNK, ChunkedBody, Part, PartCache, RenderContext, new_part_cache
from tests.asgi import AppClient
from tests.gallery import NOW, FrozenClock, WatchedStorage, gallery_on, recorded

pytestmark = pytest.mark.rule("contract E1")

TEXT = "".join(map(chr, range(0x400, 0x4FF)))  # two bytes each


class Book:
    """An answer of three parts: a short one, a long one, and another short one."""

    def __init__(self, parts: PartCache, version: object = None) -> None:
        self.contents = [b"[1", b"," + bytes(5 * CHUNK // 2), b",3]"]
        self.made: list[int] = []
        gallery = gallery_on(MemoryStorage(), FrozenClock())
        dispatch = Dispatch(gallery)
        self.context = RenderContext(parts, DataVersion(gallery, dispatch), dispatch.reading, "book", version)

    def make(self, place: Place) -> Part:
        self.made.append(place.after)
        last = place.after == len(self.contents) - 1
        return Part(self.contents[place.after], None if last else Place(place.after + 1, 1))

    def chunks(self) -> ChunkedBody:
        return ChunkedBody(self.make, Place(0, 1), self.context)

    def read(self) -> list[bytes]:
        async def read() -> list[bytes]:
            return [chunk async for chunk in self.chunks()]

        return asyncio.run(read())


def test_an_answer_comes_in_chunks_whatever_its_parts() -> None:
    book = Book(new_part_cache())
    assert b"".join(book.read()) == b"".join(book.contents)
    assert [len(chunk) for chunk in book.read()] == [2, CHUNK, CHUNK, CHUNK // 2 + 1, 3]
    assert book.made == [0, 1, 2]  # and was there for the second reader


def test_what_is_no_longer_there_is_made_again() -> None:
    book = Book(new_part_cache(0))

    async def read() -> bytes:
        found = b""
        async for chunk in book.chunks():
            found += chunk
            book.context.parts.put("another", Part(b"", None), 0)
        return found

    assert asyncio.run(read()) == b"".join(book.contents)
    assert book.made == [0, 1, 1, 1, 2]


def test_a_long_record_that_was_changed_while_it_was_read_is_never_half_of_each() -> None:
    parts = new_part_cache(0)
    book = Book(parts)

    async def read() -> None:
        async for chunk in book.chunks():
            if len(chunk) == CHUNK:
                parts.put("another", Part(b"", None), 0)
                book.contents[1] = b"," + b"x" * (5 * CHUNK // 2)

    with pytest.raises(Conflict):
        asyncio.run(read())


# Over HTTP.


@pytest.fixture
def storage() -> WatchedStorage:
    return WatchedStorage(MemoryStorage())


@pytest.fixture
def app(storage: WatchedStorage) -> ASGIApp:
    return http_application(gallery_on(storage, FrozenClock()))


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


STYLES: dict[str, list[str]] = {
    "light": [""] * 700,
    "heavy": ["\x01🂡" * (MAX_CUSTOM_CSS // 2)] * 5,
    "mixed": ["", TEXT * 1000, "", "", TEXT * 100, *["x" * 300] * 300, TEXT * 1000, ""],
    "one, then a heavy one": ["", TEXT * 1000],
    "almost too heavy": ["x" * 65_400] * 4,
    "escapes": ["\x01" * 30_000] * 9,
}


@pytest.mark.rule("contract E2")
@pytest.mark.parametrize("kind", STYLES)
def test_lists_of_any_weight_are_whole(client: AppClient, storage: WatchedStorage, kind: str) -> None:
    logos = fill(storage, STYLES[kind])
    for _ in range(2):
        answer = client.get("/api/logos")
        assert (answer.status_code, answer.json()) == (200, logos)
        assert client.get("/api/logos", headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
        assert client.head("/api/logos").headers["etag"] == answer.headers["etag"]
        assert client.get(f"/api/logos/{len(logos)}").json() == logos[-1]
        assert client.get("/api/logos?after=1").json() == logos[1:]
    seen: list[Any] = []
    path = "/api/logos?limit=3"
    while path and len(seen) < 30:
        page = client.get(path)
        seen += page.json()
        path = page.links.get("next", {}).get("url", "")
    assert seen == logos[:30]


@pytest.mark.rule("contract G")
def test_the_history_of_heavy_records_is_whole(client: AppClient, storage: WatchedStorage) -> None:
    fill(storage, STYLES["heavy"])
    token = client.post("/api/auth/token", json={"username": "admin", "password": "correct horse battery"}).json()[
        "access_token"
    ]
    changes = client.get("/api/changes", headers={"Authorization": f"Bearer {token}"}).json()
    assert [len(change["after"].get("custom_css", "")) for change in changes][-5:] == [MAX_CUSTOM_CSS] * 5


def test_who_reads_the_same_version_shares_what_was_read(client: AppClient, storage: WatchedStorage) -> None:
    fill(storage, STYLES["light"])
    first = client.get("/api/logos")
    storage.asked.clear()
    assert client.get("/api/logos").content == first.content
    assert len(storage.asked) <= 5  # for the version alone, at each part
    fill(storage, ["changed"])
    assert client.get("/api/logos").json()[0]["custom_css"] == "changed"


def send_all(app: ASGIApp, path: str, sent: Callable[[dict[str, Any]], object]) -> None:
    """Send a request, and what is answered one message after the other."""
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [], "root_path": ""}

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(3600)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent(message)

    asyncio.run(app({**scope, "http_version": "1.1", "scheme": "http", "server": ("a", 80)}, receive, send))  # type: ignore[arg-type]  # any coroutine


@pytest.mark.parametrize("path", ["/api/logos", "/api/logos/1"])
def test_no_message_is_longer_than_a_chunk(app: ASGIApp, storage: WatchedStorage, path: str) -> None:
    fill(storage, STYLES["heavy"])
    lengths: list[int] = []
    send_all(app, path, lambda message: lengths.append(len(message.get("body", b""))))
    assert max(lengths) == CHUNK
    assert sum(lengths) > 1_000_000


def test_a_short_list_is_sent_at_once_and_a_long_one_by_records(app: ASGIApp, storage: WatchedStorage) -> None:
    logos = fill(storage, STYLES["light"])
    bodies: list[bytes] = []
    send_all(app, "/api/logos", lambda message: bodies.append(message.get("body", b"")))
    whole = b"".join(bodies)
    assert json.loads(whole) == logos
    at = 0
    for body in bodies[1:-2]:
        at += len(body)
        assert whole[at : at + 2] in (b",{", b"]")


@pytest.mark.rule("contract F1")
def test_a_long_record_is_of_the_version_that_its_head_says(
    storage: WatchedStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = new_part_cache(0)
    monkeypatch.setattr("logoadmin.entrypoints.http_api.app.new_part_cache", lambda: parts)
    gallery = gallery_on(storage, FrozenClock())
    fill(storage, [TEXT * 1000])

    def change(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            gallery.logos.amend(logoadmin.AmendLogo(logo_id=1, name="another"), OWNER)
            parts.put("another", Part(b"", None), 0)

    with pytest.raises(Conflict):
        send_all(http_application(gallery), "/api/logos/1", change)
