"""``logoadmin.reader`` keeps the promises of the contract (contract L6)."""

import re
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin import reader
from logoadmin.adapters.memory_gallery_files import MemoryGalleryFiles
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.gallery.artworks import AmendTheme, CreateTheme
from logoadmin.domain.gallery.picture_commands import SendPicture
from logoadmin.reader.download import Downloaded
from logoadmin.reader.folder import FolderStore, MemoryStore, Store
from logoadmin.reader.gallery import Gallery
from tests.gallery import ARTWORK, PIXEL, FrozenClock, gallery_on
from tests.reader.hostile_server import HostileServer
from tests.reader.publisher import NOW, POINTER, A, Answer, Files
from tests.reader.samples import DETAILS, LONG, ONE, SHEETS, TWO

pytestmark = [pytest.mark.server("a server in a thread"), pytest.mark.rule("contract L6")]

STYLES: Files = {path: Answer(sheet) for path, sheet in SHEETS.items()}
Serve = Callable[[Files], None]


@pytest.fixture
def serve(server: HostileServer, monkeypatch: pytest.MonkeyPatch) -> Serve:
    monkeypatch.setattr("time.time", lambda: NOW + 100)

    def serve(files: Files) -> None:
        server.publish("gallery", files)

    return serve


@pytest.fixture
def url(server: HostileServer, serve: Serve) -> str:
    """The address of a gallery with files."""
    serve({**ONE.files(), **STYLES})
    return f"{server.address}/gallery"


def ids(records: list[dict[str, Any]]) -> list[int]:
    return [record.get("logo_id") or record["theme_id"] for record in records]


def test_records_are_returned_as_copies_with_their_authors_and_by_target(url: str) -> None:
    gallery = reader.open(url, key=A.jwk)
    assert ids(gallery.logos()) == [1, 2]
    assert ids(gallery.logos(target="wiki")) == [2]
    assert gallery.themes(target="elsewhere") == []
    logo = gallery.get("logo", 1)
    assert logo is not None
    assert (logo["authors"][0]["username"], logo["custom_css"], logo["author_ids"]) == ("Ann", "", [1])
    logo["name"] = "changed"
    assert gallery.logos()[0]["name"] == "logo 1"
    assert [logo.get("details") for logo in gallery.logos()] == [DETAILS, None]
    assert [gallery.get(kind, 99) for kind in ("logo", "user")] == [None, None]
    assert gallery.latest["version"] == 1


def test_concurrent_checks_share_one_request(server: HostileServer, url: str, serve: Serve) -> None:
    gallery = reader.open(url, key=A.jwk)
    serve({**TWO.files(), POINTER: Answer(TWO.pointer(), delay=0.3)})
    found: list[bool] = []
    threads = [threading.Thread(target=lambda: found.append(gallery.check())) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 5
    assert [path for path in server.requests("gallery")[0] if path.startswith(POINTER)] == [f"{POINTER}?"]
    assert gallery.check() is False


def test_listeners_are_called_for_updates_until_removed(url: str, serve: Serve) -> None:
    gallery = reader.open(url, key=A.jwk)
    heard: list[Any] = []
    gallery.on("change", heard.append)
    gallery.on("withdrawn", lambda entries: heard.extend(each["reason"] for each in entries))
    stop = gallery.on("change", heard.append)
    stop()
    stop()
    serve(TWO.files())
    gallery.check()
    assert heard == ["malware", 2]


def test_a_listener_can_neither_break_nor_await_a_check(
    url: str, serve: Serve, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    gallery = reader.open(url, key=A.jwk, store=tmp_path)
    heard: list[bool] = []

    def fail(_: object) -> None:
        raise KeyError("the listener's own")

    gallery.on("withdrawn", fail)
    gallery.on("withdrawn", lambda _: heard.append(gallery.check()))
    serve(TWO.files())
    assert gallery.check() is True
    assert heard == [False]
    assert "A listener of a published gallery failed" in caplog.text
    serve({})
    assert reader.open(url, key=A.jwk, store=tmp_path).latest["version"] == 2


def test_a_program_does_not_overwrite_newer_state_in_a_shared_folder(url: str, serve: Serve, tmp_path: Path) -> None:
    first, second = (reader.open(url, key=A.jwk, store=tmp_path) for _ in range(2))
    serve(TWO.files())
    first.check()
    stored = (tmp_path / "state").read_bytes()
    serve(ONE.files())
    assert second.check() is True  # the news that the first one stored
    assert second.check() is False
    assert (second.latest["version"], (tmp_path / "state").read_bytes()) == (2, stored)


def test_a_check_reports_updates_of_background_and_failed_checks_once(
    url: str, serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader.open(url, key=A.jwk, store=tmp_path)
    serve(TWO.files())
    monkeypatch.setattr("time.time", lambda: NOW + 700)
    gallery = reader.open(url, key=A.jwk, store=tmp_path)
    for thread in threading.enumerate():
        if thread.name == "logoadmin reader":
            thread.join()
    assert ids(gallery.logos()) == [1, 3]
    assert [gallery.check(), gallery.check()] == [True, False]
    serve(ONE.files())
    other = reader.open(url, key=A.jwk)
    serve({POINTER: TWO.files()[POINTER]})
    with pytest.raises(reader.ReaderError, match="HTTP 404"):
        other.check()
    assert ids(other.logos()) == [1]  # what the pointer blocks is gone
    serve(TWO.files())
    assert [other.check(), other.check()] == [True, False]


def test_errors_name_the_file_and_the_reason(url: str, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(reader.ReaderError, match=r"^key: not a JWK$"):
        reader.open(url, key=[A.jwk, {}])
    gallery = reader.open(url, key=A.jwk)
    for content in (b"", b"null", b"[]", b'{"payload":"e30"}'):
        serve({POINTER: Answer(content)})
        with pytest.raises(reader.ReaderError, match=r"^latest\.json: malformed$"):
            gallery.check()
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(reader.ReaderError, match="run pip install httpx2"):
        reader.open(url, key=A.jwk)


class EndingStore:
    """Lets the program end at a write."""

    def __init__(self, store: Store, writes: int) -> None:
        self._store, self._writes = store, writes

    def get(self, name: str) -> bytes | None:
        return self._store.get(name)

    def set(self, name: str, content: bytes) -> None:
        if not self._writes:
            raise KeyboardInterrupt
        self._writes -= 1
        self._store.set(name, content)


@pytest.mark.parametrize(("writes", "version", "logos"), [(0, 1, [1, 2]), (1, 2, [1]), (2, 2, [1]), (3, 2, [1, 3])])
def test_a_program_killed_at_any_write_restarts_with_a_consistent_state(
    url: str, serve: Serve, writes: int, version: int, logos: list[int]
) -> None:
    store = MemoryStore()
    Gallery(url, (A.jwk,), store)
    serve(TWO.files())
    ended = Gallery(url, (A.jwk,), EndingStore(store, writes))
    try:
        assert ended.check() is True
    except KeyboardInterrupt:
        assert writes < 3
    serve({})
    again = Gallery(url, (A.jwk,), store)
    assert (again.latest["version"], ids(again.logos())) == (version, logos)


def test_long_css_is_downloaded_once_and_not_if_withdrawn(url: str, serve: Serve, tmp_path: Path) -> None:
    gallery = reader.open(url, key=A.jwk, store=tmp_path)
    theme, blocked = gallery.get("theme", 1), gallery.get("logo", 2)
    assert theme is not None
    assert "custom_css" not in theme
    assert gallery.css(theme) == LONG.decode()
    serve({})
    assert reader.open(url, key=A.jwk, store=tmp_path).css(theme) == LONG.decode()
    others = (gallery.get("logo", 1), gallery.get("theme", 2), None)
    assert [gallery.css(each) for each in others] == ["", "h1 {}", None]
    for file in tmp_path.glob("*.css"):
        file.write_bytes(b"h1{}")
    with pytest.raises(reader.ReaderError, match="HTTP 404"):
        gallery.css(theme)
    serve({path: Answer(b"h1{}") for path in SHEETS})
    with pytest.raises(reader.ReaderError, match="wrong content"):
        gallery.css(theme)
    with pytest.raises(reader.ReaderError, match="unexpected path"):
        gallery.css({**theme, "custom_css_file": {"sha256": "../latest", "size": 4}})
    serve(TWO.files())
    gallery.check()
    assert gallery.css(blocked) is None


def test_the_folder_has_only_files_with_known_names(tmp_path: Path) -> None:
    for name in ("../state", "/etc/passwd", "", "a/b"):
        with pytest.raises(ValueError, match="not the name of a file"):
            FolderStore(tmp_path).get(name)


def test_a_failed_write_leaves_the_stored_file_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    store = FolderStore(tmp_path / "store")
    store.set("state", b"one")
    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(f"os.{name}", fail)
            store.set("state", b"two")
        assert store.get("state") == b"one"
    assert [file.name for file in (tmp_path / "store").iterdir()] == ["state"]
    store.set("state", b"two")
    assert store.get("state") == b"two"


@given(st.data())
def test_a_damaged_file_is_refused_or_makes_no_difference(data: st.DataObject) -> None:
    """After any damage, a reader has one of the two versions, and never a record of neither."""
    files = {path: answer.body for path, answer in {**ONE.files(), **TWO.files()}.items()}
    serving = ONE.files()[POINTER].body

    def download(_: str, path: str, *, most: int, **__: object) -> Downloaded:
        body = serving if path == POINTER else files[path]
        if len(body) > most:
            raise reader.ReaderError("too large")
        return Downloaded(body, None)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("logoadmin.reader.gallery.download", download)
        patch.setattr("time.time", lambda: NOW + 100)
        gallery = Gallery("https://gallery.example", (A.jwk,), MemoryStore())
        one, two = gallery.logos(), list(TWO.logos)
        damaged = data.draw(st.sampled_from([POINTER, *TWO.files()]))
        body = bytearray(files[damaged])
        start = data.draw(st.integers(0, len(body)))
        body[start : start + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=9))
        files[damaged] = bytes(body)
        serving = files[POINTER]
        with suppress(reader.ReaderError):
            gallery.check()
        names = [(logo["logo_id"], logo["name"]) for logo in gallery.logos()]
        assert names in [[(logo["logo_id"], logo["name"]) for logo in logos] for logos in (one, one[:1], two)]


@pytest.mark.rule("contract P2")
def test_published_long_css_and_pictures_are_read_and_verified(server: HostileServer, serve: Serve) -> None:
    published, files = gallery_on(MemoryStorage(), FrozenClock()), MemoryGalleryFiles()
    picture = published.pictures.send(SendPicture(), PIXEL)
    css = ["a { content: '\u00e9' } " * count for count in (1, 200)]
    for each in css:
        published.themes.create(CreateTheme(**ARTWORK | {"custom_css": each, "preview_url": picture.url}))
    published.publication.publish(files)
    serve({name: Answer(content) for name, content in files.files.items()})
    url, keys = f"{server.address}/gallery", published.publication.public_keys()
    gallery = reader.open(url, key=keys)
    gallery.verify()
    assert [gallery.css(theme) for theme in gallery.themes()] == css
    assert gallery.themes()[0]["picture"]["width"] == picture.width
    for missing, theme_id in ((r"css/[0-9a-f]{64}\.css", 2), (r"pictures/[0-9a-f]{64}-320\.webp", 1)):
        serve({name: Answer(content) for name, content in files.files.items() if not re.fullmatch(missing, name)})
        with pytest.raises(reader.ReaderError, match=rf"^{missing}: HTTP 404, of theme {theme_id}$"):
            reader.open(url, key=keys).verify()


@pytest.mark.rule("contract L1")
def test_a_reader_with_an_earlier_index_finds_its_css_for_two_weeks(server: HostileServer, serve: Serve) -> None:
    clock, files = FrozenClock(), MemoryGalleryFiles()
    published = gallery_on(MemoryStorage(), clock)
    css = "a { color: red } " * 200
    published.themes.create(CreateTheme(**ARTWORK | {"custom_css": css}))

    def publish_and_serve() -> None:
        published.publication.publish(files)
        serve({name: Answer(content) for name, content in files.files.items()})

    publish_and_serve()
    keys = published.publication.public_keys()
    earlier = [reader.open(f"{server.address}/gallery", key=keys) for _ in range(3)]
    themes = [gallery.get("theme", 1) for gallery in earlier]
    for day in (20, 34, 35):
        clock.time = NOW + day * 86_400
        published.themes.amend(AmendTheme(theme_id=1, custom_css=f"{css} /* {day} */"))
        publish_and_serve()
        gallery, theme = earlier.pop(), themes.pop()
        if day < 35:
            assert gallery.css(theme) == css, day
        else:
            with pytest.raises(reader.ReaderError, match="HTTP 404"):
                gallery.css(theme)
