"""The published gallery: served under any prefix, and while its folder changes or fails (contract L1, L2)."""

import asyncio
import gzip
import hashlib
import logging
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp, Message

import logoadmin
from logoadmin.adapters.memory_gallery_files import MemoryGalleryFiles
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery.artworks import AmendLogo
from logoadmin.domain.kernel.errors import StartError, StorageUnavailable
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.files.pointer import Pointer, file_entry, parsed, signed
from logoadmin.domain.publication.publication_records import POINTER, Published
from logoadmin.entrypoints import publisher as module
from logoadmin.entrypoints.http_api.app import Paths
from logoadmin.entrypoints.http_api.background import Background
from logoadmin.entrypoints.http_api.endpoints import AppContext
from logoadmin.entrypoints.http_api.gallery import PAGE_POLICY, PublishedFolder, PublishedGallery
from logoadmin.entrypoints.publisher import Publisher
from logoadmin.ports.metrics import Metrics
from tests.asgi import AppClient, AppResponse, answer_of, scope_of
from tests.gallery import ADMIN_PASSWORD, FrozenClock, WatchedStorage, gallery_on
from tests.series import samples
from tests.services import comes_true

pytestmark = pytest.mark.rule("contract L1", "contract L2")


def served(app: ASGIApp, **options: Any) -> AppClient:
    """Return a client of an application, as soon as its gallery is published."""
    client = AppClient(app, **options)
    comes_true(partial(is_published, client))
    return client


def is_published(client: AppClient, folder: str = "/gallery/") -> bool:
    return client.get(f"{folder}latest.json").status_code == 200


@pytest.mark.rule("contract H6")
def test_the_published_gallery_is_served_under_any_prefix(gallery: LogoAdmin) -> None:
    app = logoadmin.asgi(gallery)
    mounted = AppClient(Starlette(routes=[Mount("/inside/gallery", app), Mount("/gallery", app)]))
    proxied = AppClient(app, root_path="/gallery")
    for client, folder in (
        (mounted, "/inside/gallery/gallery/"),
        (mounted, "/gallery/gallery/"),
        (proxied, "/gallery/gallery/"),
    ):
        comes_true(partial(is_published, client, folder))
        assert client.get(folder.removesuffix("gallery/") + "api/logos").status_code == 200
        assert client.get(folder + "nothing.json").json() == {"detail": "Not Found"}


def test_serving_the_published_gallery_can_be_switched_off(gallery: LogoAdmin) -> None:
    client = AppClient(logoadmin.asgi(gallery, published=False))
    assert client.get("/gallery/latest.json").status_code == 404
    assert client.get("/api/logos").status_code == 200


@pytest.mark.rule("contract K2")
def test_generations_are_counted() -> None:
    with logoadmin.connect(access="open", admin_password=ADMIN_PASSWORD) as own:
        before = samples(logoadmin.metrics(own))
        assert before["logoadmin_gallery_generated_timestamp_seconds"] == 0
        client = served(logoadmin.asgi(own))
        for _ in range(3):
            client.get("/gallery/latest.json")
        comes_true(lambda: samples(logoadmin.metrics(own))["logoadmin_gallery_generated_timestamp_seconds"] > 0)
        found = samples(logoadmin.metrics(own))
    assert found['logoadmin_gallery_generations_total{outcome="ok"}'] == 1
    assert found['logoadmin_gallery_generations_total{outcome="failed"}'] == 0
    assert abs(found["logoadmin_gallery_generated_timestamp_seconds"] - time.time()) < 60
    assert found['logoadmin_gallery_left_out{reason="import"}'] == 0


def test_an_unusable_folder_is_logged_once_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with logoadmin.connect(access="open", gallery_dir=str(tmp_path / "mine"), admin_password=ADMIN_PASSWORD) as own:
        client = AppClient(logoadmin.asgi(own))
        with caplog.at_level(logging.ERROR):
            assert client.get("/gallery/latest.json").status_code == 503
            failed = 'logoadmin_gallery_generations_total{outcome="failed"}'
            comes_true(lambda: samples(logoadmin.metrics(own))[failed] > 1)
        (record,) = [each for each in caplog.records if each.name == "logoadmin.http"]
        said = f"The gallery cannot be published into {tmp_path}/mine: The folder holds other files, such as notes.txt"
        assert record.getMessage().startswith(said)


# A folder with invented files, and the application that serves it.

READER = b"export const open = () => {}; " * 50
SHEET = b"a { color: red } " * 100


class FakeKey:
    jwk: Mapping[str, str] = {"crv": "Ed25519", "kty": "OKP", "x": "AA"}

    def sign(self, content: bytes) -> bytes:
        return hashlib.sha512(content).digest()


class CountedFiles(MemoryGalleryFiles):
    """Files in memory, into which a test publishes.

    Attributes:
        version: the last change; issued: when the pointer is issued.
        indexes: the names of all indexes, in order.
        looks: how often somebody asked for a stamp; reads: the names of the files that were read.
        fault: is raised by reading.
    """

    def __init__(self) -> None:
        super().__init__()
        self.version, self.issued = 12, 1_800_000_000
        self.indexes: list[str] = []
        self.looks, self.reads = 0, list[str]()
        self.fault: Exception | None = None

    def publish_change(self) -> None:
        self.version += 1
        self.publish()

    def publish(self, *, keep: bool = True) -> None:
        """Publish the version; without ``keep``, delete all other files."""
        version = self.version
        index = b'{"logos":[%s]}' % b",".join(b'{"logo_id":%d}' % number for number in range(version, version + 400))
        withdrawn = b'{"withdrawn":[]}'
        named, gone = hashed(f"{version}", index), hashed("withdrawn", withdrawn)
        pointer = Pointer(
            gallery="g",
            epoch=0,
            version=version,
            issued=self.issued,
            expires=self.issued + 100,
            index=file_entry(named, index),
            withdrawn=file_entry(gone, withdrawn),
        )
        self.indexes.append(named)
        if not keep:
            self.files.clear()
        self.files |= {named: index, gone: withdrawn, "reader.js": READER}
        self.files[f"css/{hashlib.sha256(SHEET).hexdigest()}.css"] = SHEET
        self.files[POINTER] = signed(pointer, [FakeKey()])

    def read(self, name: str) -> bytes | None:
        self.reads.append(name)
        if self.fault is not None:
            raise self.fault
        return super().read(name)

    def stamp(self, name: str) -> Any:
        self.looks += 1
        found: Hashable = super().stamp(name)
        return found


def hashed(stem: str, content: bytes) -> str:
    return f"{stem}-{hashlib.sha256(content).hexdigest()[:16]}.json"


class IdlePublisher:
    """Publishes nothing, and records when it starts and stops."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def start(self) -> None:
        self.calls.append("start")

    def close(self) -> None:
        self.calls.append("close")


class FolderReader:
    """Requests files, one after the other or at once, all in one event loop."""

    def __init__(self, files: MemoryGalleryFiles) -> None:
        """Request files of a process that publishes nothing itself."""
        gallery = cast(LogoAdmin, SimpleNamespace(waits=True, concurrent_reads=1, metrics=Metrics()))
        context = AppContext(gallery, (), 0, from_sockets=True)
        self.publisher = IdlePublisher()
        published = PublishedGallery(PublishedFolder(files), cast(Any, self.publisher), Metrics())
        self.app: ASGIApp = Paths(context, [], [], Background(gallery, context.dispatch, {}), published)
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self.loop = self._runner.get_loop()

    def close(self) -> None:
        """End the process, with whatever it does in the background."""
        self._runner.close()

    def ask(self, name: str = "latest.json", method: str = "GET", **headers: str) -> AppResponse:
        return self.loop.run_until_complete(self.response(name, method, **headers))

    def ask_at_once(self, count: int, name: str = "latest.json") -> list[AppResponse]:
        async def all_of_them() -> list[AppResponse]:
            return await asyncio.gather(*(self.response(name) for _ in range(count)))

        return self.loop.run_until_complete(all_of_them())

    async def response(self, name: str, method: str = "GET", **headers: str) -> AppResponse:
        """Return the response to a request."""
        named = [(field.replace("_", "-"), value) for field, value in headers.items()]
        path = name if name.startswith("/") else f"/gallery/{name}"
        return await asyncio.wait_for(answer_of(self.app, scope_of(method, path, named)), 30)


SHEET_NAME: Final = f"css/{hashlib.sha256(SHEET).hexdigest()}.css"
PICTURE: Final = f"pictures/{'0' * 64}.webp"


@pytest.fixture
def files() -> CountedFiles:
    made = CountedFiles()
    made.publish()
    return made


@pytest.fixture
def reader(files: CountedFiles) -> Iterator[FolderReader]:
    made = FolderReader(files)
    yield made
    made.close()


def tag(response: AppResponse) -> str:
    found = response.header("etag")
    assert found is not None
    return found


def test_before_the_first_publication_everything_is_an_uncacheable_503() -> None:
    empty = CountedFiles()
    reader = FolderReader(empty)
    for name in ("latest.json", f"12-{'0' * 16}.json", "reader.js"):
        refused = reader.ask(name)
        assert (refused.status_code, refused.header("retry-after")) == (503, "1")
        assert (refused.header("cache-control"), refused.header("access-control-allow-origin")) == ("no-store", "*")
        assert refused.json() == {"detail": "The gallery is not published yet; try again in a few seconds"}
    empty.publish()
    assert reader.ask().status_code == 200
    reader.close()


@pytest.mark.rule("contract Q1")
@pytest.mark.parametrize(
    ("name", "status", "refresh", "text"),
    [
        ("", 503, "1", "The gallery is not published yet; try again in a few seconds"),
        ("themes/12/", 404, None, "There is no such page"),
    ],
)
def test_visitors_get_an_error_page(
    files: CountedFiles, name: str, status: int, refresh: str | None, text: str
) -> None:
    reader = FolderReader(files if status == 404 else CountedFiles())
    page = reader.ask(name, Accept="text/html,application/xhtml+xml")
    assert (page.status_code, page.header("refresh"), page.header("cache-control")) == (status, refresh, "no-store")
    assert f"<p>{text}</p>" in page.text
    assert '<a href="/gallery/">' in page.text
    assert page.header("content-security-policy") == PAGE_POLICY
    reader.close()


def test_a_rush_after_a_change_reads_the_pointer_once(files: CountedFiles, reader: FolderReader) -> None:
    before = reader.ask()
    files.publish_change()
    files.reads.clear()
    responses = reader.ask_at_once(200)
    assert {tag(each) for each in responses} == {tag(responses[0])}
    assert tag(before) != tag(responses[0])
    assert files.reads.count("latest.json") == 1


def test_a_folder_that_cannot_be_read_keeps_the_last_pointer(
    files: CountedFiles, reader: FolderReader, caplog: pytest.LogCaptureFixture
) -> None:
    before = reader.ask()
    files.publish_change()
    files.fault = OSError(5, "Input/output error")
    with caplog.at_level(logging.ERROR):
        assert tag(reader.ask()) == tag(before)
    assert "Input/output error" in caplog.text
    files.fault = None
    assert tag(reader.ask()) != tag(before)


def test_a_damaged_pointer_does_not_replace_the_last_one(
    files: CountedFiles, reader: FolderReader, caplog: pytest.LogCaptureFixture
) -> None:
    before = reader.ask()
    for content in (b"damaged", b"damaged again"):
        files.files[POINTER] = content
        assert (reader.ask().status_code, tag(reader.ask())) == (200, tag(before))
    assert caplog.text.count("cannot be read") == 2
    fresh = FolderReader(files)
    assert [fresh.ask().status_code for _ in range(2)] == [503, 503]
    assert caplog.text.count("cannot be read") == 3
    fresh.close()
    files.publish_change()
    assert tag(reader.ask()) != tag(before)


def test_a_file_that_cannot_be_read_is_not_reported_as_missing(files: CountedFiles, reader: FolderReader) -> None:
    names = ("latest.json", SHEET_NAME, "reader.js")
    files.fault = OSError(24, "Too many open files")
    for name in names:
        failed = reader.ask(name)
        assert failed.status_code == 503
        assert (failed.header("retry-after"), failed.header("cache-control")) == ("1", "no-store")
    assert reader.ask("css/none.css").status_code == 404
    files.fault = None
    assert {reader.ask(name).status_code for name in names} == {200}


def test_files_of_earlier_pointers_are_served_while_they_exist(files: CountedFiles, reader: FolderReader) -> None:
    for _ in range(12):
        files.publish_change()
        reader.ask()
    assert {reader.ask(name).status_code for name in files.indexes} == {200}
    first = files.indexes[0]
    files.version += 1
    files.publish(keep=False)
    reader.ask()
    assert [reader.ask(name).status_code for name in (first, files.indexes[-1], "reader.js")] == [404, 200, 200]


@pytest.mark.rule("contract P5")
def test_a_picture_taken_down_is_gone_without_the_pointer(files: CountedFiles, reader: FolderReader) -> None:
    files.write(PICTURE, b"RIFF" + bytes(5000))
    assert reader.ask(PICTURE).status_code == 200
    files.remove(PICTURE)
    assert reader.ask(PICTURE).status_code == 404


@pytest.mark.rule("contract H6")
def test_publishing_runs_with_the_application_or_from_the_first_request(files: CountedFiles) -> None:
    reader = FolderReader(files)
    reader.ask("/api/logos")
    assert reader.publisher.calls == []
    for _ in range(2):
        reader.ask("reader.js")
    assert reader.publisher.calls == ["start"]
    whole = FolderReader(files)
    at_the_end: list[list[str]] = []

    async def receive() -> Message:
        at_the_end.append([*whole.publisher.calls])
        return {}

    async def send(_: Message) -> None:
        pass

    whole.loop.run_until_complete(whole.app({"type": "lifespan"}, receive, send))
    assert at_the_end == [[], ["start"]]
    assert whole.publisher.calls == ["start", "close"]
    for each in (reader, whole):
        each.close()


ODD: Final = (
    *(".", "..", "/gallery", "/gallery//latest.json", "..%2flatest.json", "%2e%2e/latest.json"),
    *("css%2f" + "0" * 64 + ".css", "css%2F" + "0" * 64 + ".css"),
    *("latest.json/", "LATEST.JSON", "Latest.json", "latest.json%00", "latest.json%0a", "latest.json;a"),
    *(".publication.json", ".lease", "mine.txt", "12-0.json", "x" * 10_000, "css/" + "0" * 63 + "G.css"),
    *("12-" + "0" * 16 + ".json ", "\uff11\uff12-" + "0" * 16 + ".json", "from-11-" + "0" * 16 + ".json"),
)


def test_an_invalid_name_is_refused_without_disk_access(files: CountedFiles, reader: FolderReader) -> None:
    files.files |= {".lease": b"", ".publication.json": b"", "mine.txt": b""}
    for name in ODD:
        refused = reader.ask(name.encode().decode("latin-1"))
        assert (refused.status_code, refused.header("cache-control")) in {(404, "no-store"), (404, None)}, name
    assert (files.looks, files.reads) == (0, [])


def test_a_name_that_might_exist_later_is_an_uncacheable_404(reader: FolderReader) -> None:
    changing = ("themes/7", "themes/7/", "themes/..%2findex.html", "themes/", "logos/x.user.css", "themes/4.user.css")
    for name in (f"12-{'0' * 16}.json", f"withdrawn-{'0' * 16}.json", f"css/{'0' * 64}.css", *changing):
        refused = reader.ask(name)
        assert (refused.status_code, refused.header("cache-control")) == (404, "no-store")
        assert (refused.header("access-control-allow-origin"), refused.json()) == ("*", {"detail": "Not Found"})


BRIEFLY: Final = "public, max-age=300"
FOREVER: Final = "public, max-age=31536000, immutable"
TEXTS: Final = {name: f"text/{name}; charset=utf-8" for name in ("html", "css", "javascript")}
# The lifetime, the media type and the policy of each kind of file.
KINDS: Final = {
    "latest.json": ("public, max-age=60, stale-if-error=604800", "application/json", None),
    "reader.js": ("public, max-age=86400", TEXTS["javascript"], None),
    SHEET_NAME: (FOREVER, TEXTS["css"], None),
    "index": (FOREVER, "application/json", None),
    PICTURE: (FOREVER, "image/webp", "default-src 'none'; sandbox"),
    "index.html": (BRIEFLY, TEXTS["html"], PAGE_POLICY),
    "themes/12/index.html": (BRIEFLY, TEXTS["html"], PAGE_POLICY),
    "page.js": (BRIEFLY, TEXTS["javascript"], None),
    "page.css": (BRIEFLY, TEXTS["css"], None),
    "logos/1.user.css": (BRIEFLY, TEXTS["css"], None),
    "feed.xml": (BRIEFLY, "application/atom+xml", None),
    "sitemap.xml": (BRIEFLY, "application/xml", None),
}


@pytest.mark.rule("contract P2", "contract Q1", "contract Q2", "contract Q3", "contract Q5")
@pytest.mark.parametrize("name", KINDS)
def test_each_file_has_its_lifetime_for_all_origins(files: CountedFiles, reader: FolderReader, name: str) -> None:
    cache_control, media_type, policy = KINDS[name]
    path = files.indexes[-1] if name == "index" else name
    files.files.setdefault(path, b"content")
    got = reader.ask(path, Range="bytes=0-1")
    fields = ("cache-control", "content-type", "access-control-allow-origin", "x-content-type-options", "vary")
    assert got.status_code == 200
    assert [got.header(field) for field in fields] == [cache_control, media_type, "*", "nosniff", "Accept-Encoding"]
    assert got.header("content-security-policy") == policy
    assert got.header("cross-origin-resource-policy") == ("cross-origin" if name == PICTURE else None)
    assert got.header("referrer-policy") == ("no-referrer" if name.endswith(".html") else None)
    assert got.header("content-length") == str(len(got.body))
    head = reader.ask(path, "HEAD")
    assert (head.status_code, head.body, head.headers) == (200, b"", got.headers)
    unchanged = reader.ask(path, If_None_Match=tag(got))
    assert (unchanged.status_code, unchanged.body, unchanged.header("content-type")) == (304, b"", None)
    assert unchanged.header("cache-control") == cache_control


def test_long_files_are_compressed_once_and_each_coding_has_a_tag(files: CountedFiles, reader: FolderReader) -> None:
    name = files.indexes[-1]
    plain = reader.ask(name)
    zipped = reader.ask(name, Accept_Encoding="gzip")
    assert (zipped.header("content-encoding"), gzip.decompress(zipped.body)) == ("gzip", plain.body)
    assert tag(plain) != tag(zipped)
    for known in (plain, zipped):
        for accepted in ("identity", "gzip", "br", "br;q=0, gzip"):
            again = reader.ask(name, Accept_Encoding=accepted, If_None_Match=tag(known))
            assert (again.status_code, tag(again)) == (304, tag(known))
    refused = reader.ask(name, Accept_Encoding="br;q=0, gzip;q=0, *;q=0")
    assert refused.header("content-encoding") is None
    assert reader.ask("reader.js").body == READER


def test_only_reading_is_possible(reader: FolderReader) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        refused = reader.ask("latest.json", method)
        assert (refused.status_code, refused.header("allow")) == (405, "GET, HEAD")
    asked = {"Origin": "https://a.example", "Access_Control_Request_Method": "GET"}
    allowed = reader.ask("latest.json", "OPTIONS", **asked, Access_Control_Request_Headers="if-none-match")
    assert (allowed.status_code, allowed.header("access-control-allow-headers")) == (204, "If-None-Match")
    assert allowed.header("access-control-allow-origin") == "*"


# Publishing each change in the background, for the service and for ``publish --watch``.

URL: Final = "https://styles.example/a.css"


class Publishing:
    """A publisher that checks when a test tells it to, and its reports."""

    def __init__(self, gallery: LogoAdmin, held: ExitStack) -> None:
        self.files, self._held = MemoryGalleryFiles(), held
        self.found: list[Published] = []
        self.errors: list[Exception] = []
        self.publisher = Publisher(gallery, self.files, published=self.found.append, failed=self.errors.append)

    @property
    def version(self) -> int:
        """The version in the pointer, -1 without one."""
        content = self.files.read(POINTER)
        return -1 if content is None else parsed(content).version

    def look(self, seconds: float = 0) -> float:
        """Look once, as if some time had passed; return the pause until the next look."""
        self.publisher._compare_at -= seconds
        return self.publisher._attempt(self._held)


@pytest.fixture
def publishing(gallery: LogoAdmin) -> Iterator[Publishing]:
    with ExitStack() as held:
        made = Publishing(gallery, held)
        yield made
        made.publisher.close()


def test_a_change_is_published_at_the_next_check_and_no_change_costs_one_read(
    gallery: LogoAdmin, watched: WatchedStorage, publishing: Publishing
) -> None:
    publishing.look()
    assert publishing.version == gallery.changes.version()
    gallery.logos.amend(AmendLogo(logo_id=1, name="Elk"))
    assert publishing.look() == module._LOOK_EVERY <= 0.5
    assert publishing.version == gallery.changes.version()
    watched.asked.clear()
    for _ in range(5):
        publishing.look()
    assert watched.asked == ["read"] * 5
    assert [found.changed for found in publishing.found] == [True, True]


def test_updates_outside_the_history_are_noticed_within_ten_seconds(gallery: LogoAdmin, publishing: Publishing) -> None:
    publishing.look()
    gallery.publication.rotate_key()
    publishing.look(9)
    assert len(publishing.found) == 1
    publishing.look(1)
    assert [found.changed for found in publishing.found] == [True, True]


def test_a_failure_is_reported_and_retried(
    gallery: LogoAdmin, publishing: Publishing, monkeypatch: pytest.MonkeyPatch
) -> None:
    publishing.look()
    gallery.logos.amend(AmendLogo(logo_id=1, name="Elk"))
    publish: Callable[..., Published] = gallery.publication.publish
    faults = {StorageUnavailable("db:3306"): 1, StartError("held"): 1, OSError(28, "full"): 1, ZeroDivisionError(): 10}
    for fault, pause in faults.items():

        def fail(*_: Any, fault: Exception = fault, **__: Any) -> Published:
            raise fault

        monkeypatch.setattr(gallery.publication, "publish", fail)
        assert publishing.look() == pause
    assert publishing.errors == [*faults]
    monkeypatch.setattr(gallery.publication, "publish", publish)
    publishing.look()
    assert publishing.version == gallery.changes.version()


def test_the_publisher_stops_with_the_gallery(clock: FrozenClock) -> None:
    gallery = gallery_on(MemoryStorage(), clock)
    publishing = Publishing(gallery, ExitStack())
    publishing.publisher.start()
    comes_true(lambda: publishing.version >= 0)
    gallery.close()
    thread = publishing.publisher._publishing_thread
    assert thread is not None
    thread.join(30)
    assert (thread.is_alive(), publishing.errors) == (False, [])
