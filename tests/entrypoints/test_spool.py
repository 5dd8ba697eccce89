"""Long responses in files: shared, of one moment, within a bound, and sent in chunks (contract E1, K8)."""

import asyncio
import gc
import gzip
import json
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from starlette.types import ASGIApp

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery.artworks import AmendLogo
from logoadmin.domain.kernel.kinds import LOGOS
from logoadmin.domain.kernel.limits import MAX_CUSTOM_CSS
from logoadmin.domain.kernel.records import Logo
from logoadmin.domain.kernel.unit_of_work import AuditedUnitOfWork
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api import spool
from logoadmin.entrypoints.http_api.app import http_application
from logoadmin.entrypoints.http_api.endpoints import AppContext
from logoadmin.entrypoints.http_api.errors import HttpError
from logoadmin.entrypoints.http_api.spool import CHUNK, LongResponses, Spool
from tests.asgi import AppClient, ask, nothing_more, scope_of
from tests.gallery import NOW, FrozenClock, WatchedStorage, gallery_on, recorded

pytestmark = pytest.mark.rule("contract E1")

MIB = 1024 * 1024
TEXT = "".join(map(chr, range(0x400, 0x4FF)))  # two bytes each
STYLES: dict[str, list[str]] = {
    "light": [""] * 700,
    "heavy": ["\x01🂡" * (MAX_CUSTOM_CSS // 2)] * 5,
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
def test_lists_of_any_weight_are_whole(client: AppClient, app: ASGIApp, storage: WatchedStorage, kind: str) -> None:
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


def send_all(app: ASGIApp, path: str, sent: Callable[[dict[str, Any]], object]) -> None:
    """Send a request, and pass on the response one message after the other."""

    async def send(message: Any) -> None:
        sent(message)

    async def request() -> None:
        await app(scope_of("GET", path), nothing_more, send)

    asyncio.run(request())


@pytest.mark.rule("contract K8")
@pytest.mark.parametrize("path", ["/api/logos", "/api/logos/1"])
def test_no_message_is_longer_than_a_chunk(app: ASGIApp, storage: WatchedStorage, path: str) -> None:
    fill(storage, STYLES["heavy"])
    lengths: list[int] = []
    send_all(app, path, lambda message: lengths.append(len(message.get("body", b""))))
    assert max(lengths) == CHUNK
    assert sum(lengths) > 1_000_000


@pytest.mark.rule("contract F1")
@pytest.mark.parametrize("path", ["/api/logos", "/api/logos/1"])
def test_a_change_cuts_no_reader_off_and_is_in_the_next_response(
    app: ASGIApp, client: AppClient, gallery: LogoAdmin, storage: WatchedStorage, path: str
) -> None:
    fill(storage, [TEXT * 1000] * 20)
    before = client.get(path)
    bodies: list[bytes] = []

    def change(message: dict[str, Any]) -> None:
        bodies.append(message.get("body", b""))
        if len(bodies) == 3:
            gallery.logos.amend(AmendLogo(logo_id=1, name="another"))

    send_all(app, path, change)
    assert b"".join(bodies) == before.content
    after = client.get(path)
    assert b'"another"' in after.content
    assert after.headers["etag"] != before.headers["etag"]


@pytest.mark.rule("contract A20")
def test_a_full_disk_is_a_503_and_leaves_nothing(
    client: AppClient, storage: WatchedStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    logos = fill(storage, STYLES["light"])
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "TemporaryFile", partial(open, "/dev/full", "r+b", buffering=0))
        answer = client.get("/api/logos")
        assert (answer.status_code, answer.json()) == (
            503,
            {"detail": "Too many concurrent long responses; try again later"},
        )
        assert answer.headers["retry-after"]
        assert client.get("/api/logos/1").status_code == 200
    assert client.get("/api/logos").json() == logos


def test_files_have_a_bound_together_for_which_those_that_nobody_reads_make_room() -> None:
    budget = LongResponses[Any](8 * MIB)
    lists, version = Spool("lists", budget=budget), object()
    others = [lists.open() for _ in range(4)]
    for number in range(10):  # the file of each goes when another one needs its room
        file = lists.open()
        file.write(b"x" * 1_500_000)
        budget.keep(number, version, file, file.size)
        del file
    assert [number for number in range(10) if budget.get(number, version)] == [8, 9]
    assert budget.get(9, object()) is None  # of another version of the records
    read: list[Any] = [budget.get(number, version) for number in (8, 9)]
    with pytest.raises(HttpError, match="Too many concurrent lists"):
        lists.open()
    assert [len(file.chunk(1_499_000)) for file in read] == [1_000, 1_000]
    read.clear()
    gc.collect()
    assert len([*others, *(lists.open() for _ in range(4))]) == 8


def test_a_file_that_is_closed_while_another_makes_room_does_not_wait_for_it_forever() -> None:
    budget = LongResponses[Any](2 * MIB)
    lists = Spool("lists", budget=budget)
    budget.keep(1, 1, lists.open(), MIB)
    making_room = threading.Thread(target=budget.claim, args=(2 * MIB,), daemon=True)
    with lists._lock:  # as where the garbage collector closes a file
        making_room.start()
        making_room.join(0.1)
        assert budget.lock.acquire(timeout=5)
        budget.lock.release()
    making_room.join(5)
    assert not making_room.is_alive()


def test_a_file_that_grows_beyond_the_bound_is_refused_and_its_room_is_free_again() -> None:
    budget = LongResponses[Any](3 * MIB)
    lists = Spool("lists", budget=budget)
    file = lists.open()
    assert sum(file.write(bytes(100_000)) for _ in range(31)) == 3_100_000
    with pytest.raises(HttpError):
        file.write(bytes(100_000))
    file.restart()
    file.close()
    file.close()  # a second time means nothing
    assert [lists.open() for _ in range(3)]


def test_imports_and_long_responses_share_the_space(gallery: LogoAdmin) -> None:
    context = AppContext(gallery, (), 60, from_sockets=False, spool_space=4 * MIB)
    uploads, exports = context.uploads._spool, context.exports
    upload = uploads.open("user 1")
    upload.write(bytes(3 * MIB))
    opened = exports.open()
    with pytest.raises(HttpError, match="Too many concurrent exports"):
        opened.write(bytes(2 * MIB))
    with pytest.raises(HttpError, match="Too many concurrent imports"):
        uploads.open("user 2")
    upload.close()
    assert uploads.open("user 2").write(bytes(2 * MIB))


@pytest.mark.rule("contract H4")
def test_a_spool_has_a_number_of_files_and_two_for_a_user(monkeypatch: pytest.MonkeyPatch) -> None:
    imports = Spool("imports", max_files=8)
    opened = [imports.open(number // 2) for number in range(8)]
    assert imports.is_full()
    with pytest.raises(HttpError, match="Too many concurrent imports"):
        imports.open(4)
    opened[0].close()
    opened[0] = imports.open(4)
    with pytest.raises(HttpError, match="Too many of your imports"):
        imports.check_share(1)

    def full(*_: object) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    for file in opened:
        file.close()
    with pytest.raises(HttpError):
        imports.open(1)
    assert not imports.is_full()


@pytest.mark.rule("contract A21", "contract I2")
def test_of_a_line_that_is_too_long_only_the_beginning_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "_LONGEST_LINE", 100)
    file = Spool("imports").open(1)
    file.write(b"x" * 350 + b"\n" + b"y" * 99 + b"\n" + b"z" * 100 + b"\nlast")
    assert list(file) == [b"x" * 100, b"y" * 99 + b"\n", b"z" * 100, b"last"]
