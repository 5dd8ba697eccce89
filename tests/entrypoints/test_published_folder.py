"""What readers get of a folder while it changes, when rushes come and when the disk fails (contract L1, L2)."""

import gzip
import hashlib
import logging
from collections.abc import Iterator
from typing import Final

import pytest
from starlette.types import Message

from logoadmin.entrypoints.http_api.published_files import PAGE_POLICY
from tests.asgi import AppResponse
from tests.entrypoints.published_files import READER, SHEET, CountedFiles, Reader

pytestmark = pytest.mark.rule("contract L1", "contract L2")

SHEET_NAME: Final = f"css/{hashlib.sha256(SHEET).hexdigest()}.css"
PICTURE: Final = f"pictures/{'0' * 64}.webp"


@pytest.fixture
def files() -> CountedFiles:
    """A folder with a publication."""
    made = CountedFiles()
    made.publish()
    return made


@pytest.fixture
def reader(files: CountedFiles) -> Iterator[Reader]:
    """A reader of a process that looks for another pointer at every request."""
    made = Reader(files)
    yield made
    made.close()


def tag(response: AppResponse) -> str:
    """Return the entity tag of a response."""
    found = response.header("etag")
    assert found is not None
    return found


def test_before_the_first_publication_everything_is_an_uncacheable_503() -> None:
    empty = CountedFiles()
    reader = Reader(empty)
    for name in ("latest.json", f"12-{'0' * 16}.json", "reader.js"):
        refused = reader.ask(name)
        assert (refused.status_code, refused.header("retry-after")) == (503, "1")
        assert (refused.header("cache-control"), refused.header("access-control-allow-origin")) == ("no-store", "*")
        assert refused.json() == {"detail": "The gallery is not published yet; try again in a few seconds"}
    empty.publish()
    reader.folder.look_now()
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
def test_a_visitor_gets_an_error_page_with_a_link(
    files: CountedFiles, name: str, status: int, refresh: str | None, text: str
) -> None:
    reader = Reader(files if status == 404 else CountedFiles())
    page = reader.ask(name, Accept="text/html,application/xhtml+xml")
    assert (page.status_code, page.header("refresh"), page.header("cache-control")) == (status, refresh, "no-store")
    assert f"<p>{text}</p>" in page.text
    assert '<a href="/gallery/">' in page.text
    assert page.header("content-security-policy") == PAGE_POLICY
    reader.close()


def test_a_rush_after_a_change_reads_the_pointer_once(files: CountedFiles, reader: Reader) -> None:
    before = reader.ask()
    files.version += 1
    files.publish()
    files.reads.clear()
    responses = reader.ask_at_once(200)
    assert {tag(each) for each in responses} == {tag(responses[0])} != {tag(before)}
    assert files.reads.count("latest.json") == 1


def test_a_folder_that_cannot_be_read_keeps_the_last_pointer(
    files: CountedFiles, reader: Reader, caplog: pytest.LogCaptureFixture
) -> None:
    before = reader.ask()
    files.version += 1
    files.publish()
    files.fault = OSError(5, "Input/output error")
    with caplog.at_level(logging.ERROR):
        assert tag(reader.ask()) == tag(before)
    assert "Input/output error" in caplog.text
    files.fault = None
    assert tag(reader.ask()) != tag(before)
    files.files["latest.json"] = b"damaged"
    assert reader.ask().status_code == 200


def test_files_of_earlier_pointers_are_served_until_they_leave_the_folder(files: CountedFiles, reader: Reader) -> None:
    for _ in range(12):
        files.version += 1
        files.publish()
        reader.ask()
    assert {reader.ask(name).status_code for name in files.indexes} == {200}
    first = files.indexes[0]
    files.version += 1
    files.publish(keep=False)
    reader.ask()
    assert [reader.ask(name).status_code for name in (first, files.indexes[-1], "reader.js")] == [404, 200, 200]


@pytest.mark.rule("contract P2", "contract P5")
def test_a_picture_that_was_taken_down_is_gone_even_if_no_client_requests_the_pointer(
    files: CountedFiles, reader: Reader
) -> None:
    files.write(PICTURE, b"RIFF" + bytes(5000))
    got = reader.ask(PICTURE)
    assert (got.status_code, got.header("content-type"), got.header("cache-control")) == (200, "image/webp", FOREVER)
    assert got.header("content-security-policy") == "default-src 'none'; sandbox"
    assert got.header("cross-origin-resource-policy") == "cross-origin"
    files.remove(PICTURE)
    assert reader.ask(PICTURE).status_code == 404


@pytest.mark.rule("contract H6")
def test_publishing_runs_with_the_application_or_from_the_first_request(files: CountedFiles) -> None:
    reader = Reader(files)
    reader.ask("/api/logos")
    assert reader.publisher.calls == []
    for _ in range(2):
        reader.ask("reader.js")
    assert reader.publisher.calls == ["start"]
    whole = Reader(files)
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
    "css%2f" + "0" * 64 + ".css",
    *("latest.json/", "LATEST.JSON", "Latest.json", "latest.json%00", "latest.json%0a", "latest.json;a"),
    *(".publication.json", ".lease", "mine.txt", "12-0.json"),
    "12-" + "0" * 16 + ".json ",
    "\uff11\uff12-" + "0" * 16 + ".json",
    "x" * 10_000,
    "css/" + "0" * 63 + "G.css",
    "from-11-" + "0" * 16 + ".json",
)


def test_an_invalid_name_is_refused_without_disk_access(files: CountedFiles) -> None:
    reader = Reader(files, interval=60.0)
    reader.ask()
    looks = files.looks
    files.files |= {".lease": b"", ".publication.json": b"", "mine.txt": b""}
    for name in ODD:
        refused = reader.ask(name.encode().decode("latin-1"))
        assert (refused.status_code, refused.header("cache-control")) in {(404, "no-store"), (404, None)}, name
    assert files.looks == looks
    assert {*files.reads} <= {"latest.json", files.indexes[-1]}
    reader.close()


def test_a_name_that_might_exist_later_is_an_uncacheable_404(reader: Reader) -> None:
    for name in (*(f"12-{'0' * 16}.json", f"withdrawn-{'0' * 16}.json", f"css/{'0' * 64}.css"),):
        refused = reader.ask(name)
        assert (refused.status_code, refused.header("cache-control")) == (404, "no-store")
        assert refused.header("access-control-allow-origin") == "*"
        assert refused.json() == {"detail": "Not Found"}


FOREVER: Final = "public, max-age=31536000, immutable"
KINDS: Final = {
    "latest.json": ("public, max-age=60, stale-if-error=604800", "application/json"),
    "reader.js": ("public, max-age=86400", "text/javascript; charset=utf-8"),
    SHEET_NAME: (FOREVER, "text/css; charset=utf-8"),
    "index": (FOREVER, "application/json"),
}


@pytest.mark.parametrize("name", KINDS)
def test_each_file_is_cacheable_for_its_lifetime_and_readable_by_all_origins(
    files: CountedFiles, reader: Reader, name: str
) -> None:
    cache_control, media_type = KINDS[name]
    path = files.indexes[-1] if name == "index" else name
    got = reader.ask(path, Range="bytes=0-1")
    fields = ("cache-control", "content-type", "access-control-allow-origin", "x-content-type-options", "vary")
    assert got.status_code == 200
    assert [got.header(field) for field in fields] == [cache_control, media_type, "*", "nosniff", "Accept-Encoding"]
    assert got.header("content-length") == str(len(got.body))
    head = reader.ask(path, "HEAD")
    assert (head.status_code, head.body, head.headers) == (200, b"", got.headers)
    unchanged = reader.ask(path, If_None_Match=tag(got))
    assert (unchanged.status_code, unchanged.body, unchanged.header("content-type")) == (304, b"", None)
    assert unchanged.header("cache-control") == cache_control


def test_long_files_are_compressed_once_and_each_coding_has_a_tag(files: CountedFiles, reader: Reader) -> None:
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


def test_only_reading_is_possible(reader: Reader) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        refused = reader.ask("latest.json", method)
        assert (refused.status_code, refused.header("allow")) == (405, "GET, HEAD")
    asked = {"Origin": "https://a.example", "Access_Control_Request_Method": "GET"}
    allowed = reader.ask("latest.json", "OPTIONS", **asked, Access_Control_Request_Headers="if-none-match")
    assert (allowed.status_code, allowed.header("access-control-allow-headers")) == (204, "If-None-Match")
    assert allowed.header("access-control-allow-origin") == "*"
