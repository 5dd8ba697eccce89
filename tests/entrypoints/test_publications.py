"""What readers get at /gallery/ while the gallery changes, rushes come and the database goes (contract L1, L2)."""

import asyncio
import gzip
import hashlib
import logging
import threading
import time
from collections.abc import Iterator
from typing import Final

import brotli
import pytest

from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.entrypoints.http_api import publications as module
from tests.asgi import AppResponse
from tests.entrypoints.publishing import READER, SHEET, Publishing, Reader, hashed, index_of

pytestmark = pytest.mark.rule("contract L1", "contract L2")

AWAY: Final = StorageUnavailable("db:3306")
SHEET_NAME: Final = f"css/{hashlib.sha256(SHEET).hexdigest()}.css"


@pytest.fixture
def publishing() -> Publishing:
    return Publishing()


@pytest.fixture
def reader(publishing: Publishing, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    """A reader of a process that asks for changes at every request, unless the test says otherwise."""
    monkeypatch.setattr(module, "_INTERVAL", 0.0)
    monkeypatch.setattr(module, "_QUIET", 0.0)
    made = Reader(publishing)
    yield made
    made.close()


def index(publishing: Publishing) -> str:
    """Return the name of the current index."""
    return next(reversed(publishing.older))


def tag(response: AppResponse) -> str:
    """Return the entity tag of a response."""
    found = response.header("etag")
    assert found is not None
    return found


def test_a_rush_on_a_new_process_costs_one_generation(publishing: Publishing, reader: Reader) -> None:
    responses = reader.ask_at_once(500)
    assert {(each.status_code, each.body) for each in responses} == {(200, responses[0].body)}
    assert (publishing.generations, publishing.looks) == (1, 0)


def test_a_rush_after_a_change_costs_one_look_and_one_generation(publishing: Publishing, reader: Reader) -> None:
    before = reader.ask()
    publishing.version += 1
    responses = reader.ask_at_once(200)
    assert {tag(each) for each in responses} == {tag(responses[0])} != {tag(before)}
    assert (publishing.generations, publishing.looks) == (2, 1)


def test_polls_within_a_second_cost_no_look(
    publishing: Publishing, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_INTERVAL", 1.0)
    first = reader.ask()
    began = time.monotonic()
    for _ in range(200):
        assert reader.ask(If_None_Match=tag(first)).status_code == 304
    assert publishing.looks <= 1 + (time.monotonic() - began)
    assert publishing.generations == 1


def test_a_reader_that_leaves_takes_the_generation_from_nobody(publishing: Publishing, reader: Reader) -> None:
    publishing.may_go_on.clear()

    async def impatient_and_patient() -> AppResponse:
        leaving = asyncio.ensure_future(reader.response("latest.json"))
        await asyncio.sleep(0.05)
        staying = asyncio.ensure_future(reader.response("latest.json"))
        await asyncio.sleep(0.05)
        leaving.cancel()
        publishing.may_go_on.set()
        return await staying

    assert reader.loop.run_until_complete(impatient_and_patient()).status_code == 200
    assert publishing.generations == 1


def test_nobody_waits_long_for_a_slow_generation_if_there_is_an_earlier_one(
    publishing: Publishing, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.2)
    before = reader.ask()
    publishing.version += 1
    publishing.may_go_on.clear()
    began = time.monotonic()
    assert tag(reader.ask()) == tag(before)
    assert {tag(each) for each in reader.ask_at_once(50)} == {tag(before)}
    assert time.monotonic() - began < 5
    publishing.may_go_on.set()
    while tag(reader.ask()) == tag(before):
        time.sleep(0.01)
    assert publishing.generations == 2


def test_the_last_publication_outlives_the_database(publishing: Publishing, reader: Reader) -> None:
    before = reader.ask()
    publishing.fault = AWAY
    for _ in range(3):
        assert reader.ask().body == before.body
        assert reader.ask(index(publishing)).status_code == 200
    publishing.fault = None
    publishing.version += 1
    assert tag(reader.ask()) != tag(before)


def test_without_any_publication_an_outage_is_a_503_that_nobody_caches(publishing: Publishing, reader: Reader) -> None:
    publishing.fault = AWAY
    for name in ("latest.json", f"12-{'0' * 16}.json", "reader.js"):
        refused = reader.ask(name)
        assert (refused.status_code, refused.header("retry-after")) == (503, "1")
        assert (refused.header("cache-control"), refused.header("access-control-allow-origin")) == ("no-store", "*")
    publishing.fault = None
    assert reader.ask().status_code == 200


def test_an_unexpected_error_is_logged_once_and_not_met_by_every_reader(
    publishing: Publishing, reader: Reader, caplog: pytest.LogCaptureFixture
) -> None:
    publishing.fault = ZeroDivisionError("broken")
    with caplog.at_level(logging.ERROR):
        assert {each.status_code for each in [*reader.ask_at_once(50), reader.ask()]} == {500}
    assert (publishing.generations, len(caplog.records), publishing.metrics.failed) == (1, 1, 1)


def test_an_unexpected_error_keeps_the_earlier_publication(publishing: Publishing, reader: Reader) -> None:
    before = reader.ask()
    publishing.version += 1
    publishing.fault = ZeroDivisionError("broken")
    assert {tag(each) for each in [*reader.ask_at_once(50), reader.ask()]} == {tag(before)}
    assert (publishing.generations, publishing.looks) == (1, 1)


def test_files_of_earlier_pointers_are_still_served(publishing: Publishing, reader: Reader) -> None:
    names = []
    for _ in range(12):
        reader.ask()
        names += [
            index(publishing),
            hashed(f"from-{publishing.version - 1}", b'{"from":%d}' % (publishing.version - 1)),
        ]
        publishing.version += 1
    assert {reader.ask(name).status_code for name in names} == {200}


def test_a_process_that_starts_serves_the_indexes_of_others(publishing: Publishing, reader: Reader) -> None:
    reader.ask()
    earlier = index(publishing)
    body = reader.ask(earlier).body
    publishing.version += 1
    other = Reader(publishing)
    assert other.ask(earlier).body == body
    other.close()


def test_a_pointer_that_this_process_cannot_generate_in_time_is_not_replaced_by_an_older_one(
    publishing: Publishing, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.1)
    other = Reader(publishing)
    for each in (reader, other):
        each.ask()
    publishing.version += 1
    seen = tag(reader.ask())
    publishing.may_go_on.clear()
    kept = other.ask(If_None_Match=seen)
    assert (kept.status_code, kept.body, tag(kept)) == (304, b"", seen)
    assert kept.header("cache-control") == KINDS["latest.json"][0]
    assert other.ask().status_code == 200
    publishing.may_go_on.set()
    other.close()


def test_differences_that_another_process_named_are_looked_for_once_per_publication(
    publishing: Publishing, reader: Reader
) -> None:
    reader.ask()
    publishing.version += 1
    name = hashed("from-12", b"{}")
    publishing.differences[name] = b"{}"
    for unknown in range(3):
        assert reader.ask(hashed(f"from-{unknown}", b"none")).status_code == 404
    assert publishing.comparisons == 0
    for _ in range(3):
        assert reader.ask(name).body == b"{}"
        assert reader.ask(hashed("from-12", b"none")).status_code == 404
    assert publishing.comparisons == 1
    publishing.version += 1
    assert reader.ask(hashed("from-13", b"none")).status_code == 404
    assert (publishing.comparisons, reader.ask(name).body) == (2, b"{}")


def test_a_reader_with_a_newer_pointer_of_another_process_never_goes_back(
    publishing: Publishing, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Reader(publishing)
    for each in (reader, other):
        each.ask()
    monkeypatch.setattr(module, "_INTERVAL", 60.0)
    for each in (reader, other):
        each.ask()
    for change in ("version", "issued", "version"):
        setattr(publishing, change, getattr(publishing, change) + 1)
        reader.publications._next_look = 0.0  # for one of them, a second has passed
        seen = reader.ask()
        assert other.ask(If_None_Match=tag(seen)).status_code == 304
        assert other.ask(index(publishing)).status_code == 200
        assert tag(reader.ask(If_None_Match=tag(seen))) == tag(seen)
    looks = publishing.looks
    assert other.ask(If_None_Match='"12-1800000000-' + "0" * 24 + '"').status_code == 200
    assert publishing.looks == looks
    other.close()


def test_a_file_that_another_process_named_exists_here_at_once(
    publishing: Publishing, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader.ask()
    monkeypatch.setattr(module, "_INTERVAL", 60.0)
    reader.ask()
    publishing.version += 1
    named = index_of(publishing.made())  # as another process would
    assert reader.ask(named).status_code == 200


ODD: Final = (
    "",
    ".",
    "..",
    "/gallery",
    "/gallery//latest.json",
    "..%2flatest.json",
    "%2e%2e/latest.json",
    "css%2f" + "0" * 64 + ".css",
    "latest.json/",
    "LATEST.JSON",
    "Latest.json",
    "latest.json%00",
    "latest.json%0a",
    "latest.json;a",
    ".publication.json",
    "12-0.json",
    "12-" + "0" * 16 + ".json ",
    "\uff11\uff12-" + "0" * 16 + ".json",
    "x" * 10_000,
    "css/" + "0" * 63 + "G.css",
    "from--1-" + "0" * 16 + ".json",
)


@pytest.mark.parametrize("name", ODD)
def test_an_odd_name_is_no_file_and_costs_no_look(
    publishing: Publishing, reader: Reader, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    reader.ask()
    monkeypatch.setattr(module, "_INTERVAL", 60.0)
    reader.ask()
    looks = publishing.looks
    refused = reader.ask(name.encode().decode("latin-1"))
    assert (refused.status_code, refused.header("cache-control")) in {(404, "no-store"), (404, None)}
    assert publishing.looks == looks


def test_a_name_that_might_exist_is_a_404_that_nobody_caches(publishing: Publishing, reader: Reader) -> None:
    for name in (
        f"12-{'0' * 16}.json",
        f"from-11-{'0' * 16}.json",
        f"withdrawn-{'0' * 16}.json",
        f"css/{'0' * 64}.css",
    ):
        refused = reader.ask(name)
        assert (refused.status_code, refused.header("cache-control")) == (404, "no-store")
        assert refused.header("access-control-allow-origin") == "*"
        assert refused.json() == {"detail": "Not Found"}
    assert publishing.generations == 1


FOREVER: Final = "public, max-age=31536000, immutable"
KINDS: Final = {
    "latest.json": ("public, max-age=60, stale-if-error=604800", "application/json"),
    "reader.js": ("public, max-age=86400", "text/javascript; charset=utf-8"),
    SHEET_NAME: (FOREVER, "text/css; charset=utf-8"),
    "index": (FOREVER, "application/json"),
}


@pytest.mark.parametrize("name", KINDS)
def test_each_file_may_be_cached_as_long_as_it_lasts_and_read_by_all_pages(
    publishing: Publishing, reader: Reader, name: str
) -> None:
    cache_control, media_type = KINDS[name]
    reader.ask()
    path = index(publishing) if name == "index" else name
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


def test_long_files_are_compressed_once_and_each_coding_has_a_tag(publishing: Publishing, reader: Reader) -> None:
    reader.ask()
    name = index(publishing)
    plain = reader.ask(name)
    zipped = reader.ask(name, Accept_Encoding="gzip")
    assert (zipped.header("content-encoding"), gzip.decompress(zipped.body)) == ("gzip", plain.body)
    deadline = time.monotonic() + 30
    while (shortest := reader.ask(name, Accept_Encoding="gzip, br")).header("content-encoding") != "br":
        assert time.monotonic() < deadline
        reader.loop.run_until_complete(asyncio.sleep(0.02))
    assert brotli.decompress(shortest.body) == plain.body
    assert len({tag(each) for each in (plain, zipped, shortest)}) == 3
    for known in (plain, zipped, shortest):
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


def test_a_mass_edit_while_many_poll_never_names_a_file_that_is_missing(publishing: Publishing, reader: Reader) -> None:
    """Two processes answer the readers in turn, while a thread changes the gallery."""
    other = Reader(publishing)
    other.close()
    other.loop = reader.loop
    ended = threading.Event()

    def edit() -> None:
        while not ended.wait(0.002):
            publishing.version += 1

    async def read(number: int) -> None:
        processes = (reader, other)
        known, version = "", 0
        for turn in range(12):
            answered = await processes[(number + turn) % 2].response("latest.json", If_None_Match=known)
            if answered.status_code == 304:
                continue
            seen = int(tag(answered)[1:].partition("-")[0])
            assert seen >= version
            known, version = tag(answered), seen
            names = [name for name in reversed(publishing.older) if name.startswith(f"{seen}-")]
            fetched = await processes[(number + turn + 1) % 2].response(names[0])
            assert fetched.status_code == 200

    async def read_all() -> None:
        await asyncio.gather(*map(read, range(20)))

    thread = threading.Thread(target=edit)
    thread.start()
    try:
        reader.loop.run_until_complete(read_all())
    finally:
        ended.set()
        thread.join()
