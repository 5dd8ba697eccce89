"""Publishing files: the same on every adapter, with a failure or a kill at every step."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from logoadmin.adapters.folder_gallery_files import FolderGalleryFiles
from logoadmin.adapters.memory_gallery_files import MemoryGalleryFiles
from logoadmin.bootstrap import gallery_page
from logoadmin.domain.kernel.errors import StartError
from logoadmin.domain.publication.files.file_names import SPARE, STATE
from logoadmin.domain.publication.files.index import hashed_name, sha256
from logoadmin.domain.publication.files.pointer import Pointer, file_entry, parsed, signed
from logoadmin.domain.publication.files.publishing import Destination
from logoadmin.domain.publication.publication_records import POINTER, READER, GeneratedFile, Publication
from logoadmin.ports.gallery_files import GalleryFiles
from tests.options import LONG

pytestmark = pytest.mark.rule("contract L1")

DAY: Final = 86_400
NOW: Final = 1_800_000_000


def publication(
    version: int, now: int = NOW, days: int = 30, *, epoch: int = 0, gallery: str = "a", sheet: str = ""
) -> Publication:
    """Return a publication whose files depend only on the version."""
    withdrawn, style = b"withdrawn", (sheet or f"sheet {version}").encode()
    index = b'{"index":%d,"sha256":"%s"}' % (version, sha256(style).encode())
    files = {
        f"css/{sha256(style)}.css": style,
        f"{version}-{sha256(index)[:16]}.json": index,
        hashed_name("withdrawn", withdrawn): withdrawn,
        READER: b"reader",
    }
    _, first, second, _ = (file_entry(name, content) for name, content in files.items())
    pointer = Pointer(gallery, epoch, version, now, now + days * DAY, first, second)
    return Publication(version, signed(pointer, []), files)


PAGE: Final = gallery_page()


@pytest.fixture(params=["memory", "folder"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> GalleryFiles:
    return MemoryGalleryFiles() if request.param == "memory" else FolderGalleryFiles(tmp_path / "gallery")


def published(files: Any, what: Publication, now: int = NOW) -> None:
    with files.locked():
        Destination(files, PAGE, now).publish(what)


_KEPT: Final = {STATE, SPARE}


def content_of(files: GalleryFiles) -> dict[str, bytes]:
    return {name: files.read(name) or b"" for name in files.names() if name not in _KEPT}


@dataclass
class Failing:
    """Files that fail after some steps; ``torn`` leaves part of a file under a hidden name, like a kill."""

    inner: GalleryFiles
    steps: int
    torn: bool = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def write(self, name: str, content: bytes) -> None:
        folder, _, last = name.rpartition("/")
        hidden = f"{folder}/.{last}.ab12_xyz".removeprefix("/")
        self._step(lambda: self.inner.write(hidden, content[:3]) if self.torn else None)
        self.inner.write(name, content)

    def write_many(self, contents: Iterable[tuple[str, bytes]]) -> None:
        for name, content in contents:
            self.write(name, content)

    def touch(self, names: Iterable[str], at: int) -> None:
        self._step(lambda: None)
        self.inner.touch(names, at)

    def remove(self, name: str) -> None:
        self._step(lambda: None)
        self.inner.remove(name)

    def _step(self, leave: Callable[[], None]) -> None:
        if self.steps == 0:
            leave()
            raise OSError(28, "No space left on device")
        self.steps -= 1


def failures(files: GalleryFiles, what: Publication, now: int, *, torn: bool = False) -> Iterator[int]:
    """Publish with a failure after each number of steps, until it succeeds; yield after each failure."""
    for steps in range(100):
        try:
            published(Failing(files, steps, torn), what, now)
        except OSError:
            yield steps
        else:
            return
    pytest.fail("It never succeeds")


def assert_whole(files: GalleryFiles) -> Pointer:
    content = files.read(POINTER)
    assert content is not None
    pointer = parsed(content)
    for entry in (pointer.index, pointer.withdrawn):
        body = files.read(entry["path"])
        assert body is not None
        assert sha256(body) == entry["sha256"]
    assert files.read(f"css/{sha256(b'sheet %d' % pointer.version)}.css") is not None
    return pointer


def test_the_first_publication_writes_every_file(files: GalleryFiles) -> None:
    first = publication(1)
    published(files, first)
    assert content_of(files) == {**first.files, POINTER: first.pointer}


def test_an_unchanged_gallery_only_renews_its_pointer(files: GalleryFiles) -> None:
    published(files, publication(1))
    before = content_of(files)
    later = publication(1, NOW + 7)
    steps = Failing(files, 3)
    published(steps, later, NOW + 7)
    assert steps.steps == 0  # neither a file's time, nor the state and the pointer
    assert content_of(files) == {**before, POINTER: later.pointer}


@pytest.mark.parametrize(("days", "patience"), [(1, DAY // 2), (2, DAY), (30, DAY)])
def test_a_pointer_is_left_alone_for_a_day_or_half_its_validity(days: int, patience: int, files: GalleryFiles) -> None:
    published(files, publication(1, days=days))
    found = {at: Destination(files, PAGE, NOW + at).is_unchanged("") for at in (-1, 0, patience - 1, patience)}
    assert found == {-1: False, 0: True, patience - 1: True, patience: False}


def test_unreferenced_files_stay_for_two_weeks(files: GalleryFiles) -> None:
    first = publication(1)
    published(files, first)
    for day in (20, 40):  # the same files for longer than that
        published(files, publication(1, NOW + day * DAY), NOW + day * DAY)
    for day in (41, 42, 54):
        published(files, publication(day, NOW + day * DAY), NOW + day * DAY)
        assert first.files.items() <= content_of(files).items(), day
    end = NOW + 56 * DAY
    published(files, publication(99, end), end)
    kept = content_of(files)
    only_first = first.files.keys() - publication(99).files.keys()
    assert len(only_first) == 2
    assert not only_first & kept.keys()
    assert publication(42).files.items() <= kept.items()


def test_a_file_that_is_referenced_again_stays(files: GalleryFiles) -> None:
    for day, version in enumerate((1, 2, 1, 3)):
        published(files, publication(version, NOW + day * DAY, epoch=day), NOW + day * DAY)
    published(files, publication(3, NOW + 17 * DAY, epoch=9), NOW + 17 * DAY)
    assert publication(1).files.items() <= content_of(files).items()
    assert not {each for each in publication(2).files if each.startswith("css/")} & {*files.names()}


def test_a_damaged_file_is_written_again(files: GalleryFiles) -> None:
    first = publication(1)
    published(files, first)
    name = parsed(first.pointer).index["path"]
    files.write(name, b"inde")
    files.write(STATE, b"[" * 100_000)
    published(files, publication(1, NOW + 9), NOW + 9)
    assert files.read(name) == first.files[name]


@pytest.mark.parametrize("torn", [False, True])
def test_a_failure_at_any_step_leaves_a_complete_publication(torn: bool, files: GalleryFiles) -> None:
    published(files, publication(1))
    found = [
        (assert_whole(files).version, publication(1).files.items() <= content_of(files).items())
        for _ in failures(files, publication(2, NOW + DAY), NOW + DAY, torn=torn)
    ]
    assert len(found) > 2
    assert {*found} == {(1, True)}  # files from before a failure stay
    assert assert_whole(files).version == 2
    assert not any(name.endswith(".ab12_xyz") for name in files.names())


def test_a_failure_while_old_files_are_removed_leaves_the_new_publication(files: GalleryFiles) -> None:
    published(files, publication(1))
    later = NOW + 60 * DAY
    for _ in failures(files, publication(2, later), later):
        assert_whole(files)
    later += 31 * DAY
    published(files, publication(2, later), later)
    assert set(content_of(files)) - {STATE} == {*publication(2).files, POINTER}


@pytest.mark.parametrize("name", ["index.html", "notes.json", "12-ab.json", "css/a.css", "latest.json.bak"])
def test_a_folder_with_other_files_is_refused(name: str, files: GalleryFiles) -> None:
    with files.locked():
        files.write(name, b"mine")
    with pytest.raises(StartError, match="other files"):
        published(files, publication(1))
    assert content_of(files) == {name: b"mine"}


@pytest.mark.parametrize("content", [b"", b"{}", b'{"payload": "e30"}'])
def test_a_foreign_file_with_the_pointers_name_is_refused(content: bytes, files: GalleryFiles) -> None:
    with files.locked():
        files.write(POINTER, content)
    with pytest.raises(StartError, match="not that of a published gallery"):
        published(files, publication(1))
    assert content_of(files) == {POINTER: content}


def test_files_beside_a_publication_stay(files: GalleryFiles) -> None:
    published(files, publication(1))
    others = {
        "robots.txt": b"*",
        "css/mine.css": b"a{}",
        ".nojekyll": b"",
        ".robots.txt.ab12_xyz": b"",
        "12-a.json": b"",
    }
    for name, content in others.items():
        files.write(name, content)
    later = NOW + 90 * DAY
    published(files, publication(2, later), later)
    published(files, publication(3, 2 * later - NOW), 2 * later - NOW)
    assert others.items() <= content_of(files).items()


@pytest.mark.rule("contract L7")
def test_an_older_gallery_is_refused_and_a_restored_one_is_not(files: GalleryFiles) -> None:
    published(files, publication(5))
    with pytest.raises(StartError, match="restore --loaded"):
        published(files, publication(4))
    assert assert_whole(files).version == 5
    published(files, publication(4, epoch=9))
    assert assert_whole(files).version == 4


def test_two_processes_publish_concurrently(files: GalleryFiles) -> None:
    with files.locked(), pytest.raises(StartError, match="Another logoadmin publish"):
        published(files, publication(1))
    published(files, publication(1))


def test_one_process_has_the_lease_of_a_folder(tmp_path: Path) -> None:
    one, other = FolderGalleryFiles(tmp_path / "gallery"), FolderGalleryFiles(tmp_path / "gallery")
    lease = one.lease()
    assert lease is not None
    with lease:
        assert other.lease() is None
        published(other, publication(1))  # like logoadmin publish
    again = other.lease()
    assert again is not None
    with again:
        assert one.lease() is None


def test_a_replaced_file_has_a_different_stamp(files: GalleryFiles) -> None:
    assert files.stamp(POINTER) is None
    published(files, publication(1))
    first = files.stamp(POINTER)
    assert first == files.stamp(POINTER) is not None
    published(files, publication(2))
    assert files.stamp(POINTER) != first
    files.remove(POINTER)
    assert files.stamp(POINTER) is None


@pytest.mark.parametrize("name", [READER, STATE, "css"])
def test_nothing_is_written_through_a_link(name: str, tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "gallery", tmp_path / "elsewhere"
    files = FolderGalleryFiles(folder)
    published(files, publication(1))
    (folder / name).rename(elsewhere)
    (folder / name).symlink_to(elsewhere)
    before = content_of(FolderGalleryFiles(elsewhere)) if elsewhere.is_dir() else elsewhere.read_bytes()
    with pytest.raises(StartError, match="is a link"):
        published(files, publication(2, NOW + DAY), NOW + DAY)
    assert before == (content_of(FolderGalleryFiles(elsewhere)) if elsewhere.is_dir() else elsewhere.read_bytes())


def test_a_folder_may_itself_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "gallery").symlink_to("elsewhere")
    published(FolderGalleryFiles(tmp_path / "gallery"), publication(1))
    assert (tmp_path / "elsewhere" / POINTER).read_bytes() == publication(1).pointer


def test_two_pointers_in_one_second_have_different_times(tmp_path: Path) -> None:
    """Servers such as nginx derive entity tags from the second and the size."""
    files = FolderGalleryFiles(tmp_path / "gallery")
    seconds = []
    for version in range(1, 5):
        published(files, publication(version))
        seconds.append(int((tmp_path / "gallery" / POINTER).stat().st_mtime))
    assert len(set(seconds)) == 4


def test_files_are_public_and_their_folder_needs_a_parent(tmp_path: Path) -> None:
    folder = tmp_path / "gallery"
    before = os.umask(0o077)
    try:
        published(FolderGalleryFiles(folder), publication(1))
    finally:
        os.umask(before)
    modes = {path.relative_to(folder).as_posix(): path.stat().st_mode & 0o777 for path in folder.rglob("*")}
    assert {mode for name, mode in modes.items() if name != "css"} == {0o644}
    assert (modes["css"], folder.stat().st_mode & 0o777) == (0o755, 0o755)
    with pytest.raises(FileNotFoundError):
        published(FolderGalleryFiles(tmp_path / "no" / "gallery"), publication(1))


_KILLS: Final = 40 if LONG else 6
_PUBLISHING: Final = """
import sys
from pathlib import Path
from logoadmin.adapters.folder_gallery_files import FolderGalleryFiles
from tests.contracts.publication.test_gallery_files import NOW, publication, published

files = FolderGalleryFiles(Path(sys.argv[1]))
print("ready", flush=True)
for version in range(int(sys.argv[2]), 10**9):
    published(files, publication(version, NOW + version * 86_400), NOW + version * 86_400)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "gallery"


@pytest.mark.slow("kills processes")
def test_a_kill_at_any_time_leaves_a_complete_publication(folder: Path) -> None:
    files = FolderGalleryFiles(folder)
    version = 1
    published(files, publication(version))
    for kill in range(_KILLS):
        writer = subprocess.Popen(
            [sys.executable, "-c", _PUBLISHING, str(folder), str(version)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        with writer.stdout:
            assert writer.stdout.readline() == "ready\n"
            try:
                writer.wait(0.02 + kill * 0.284 / _KILLS)
            except subprocess.TimeoutExpired:
                writer.send_signal(signal.SIGKILL)
        assert writer.wait(10) == -signal.SIGKILL
        version = assert_whole(files).version
    assert version > 1
    published(files, publication(version + 1, NOW + (version + 1) * DAY), NOW + (version + 1) * DAY)
    left = [name for name in files.names() if name.rpartition("/")[2].startswith(".") and name not in _KEPT]
    assert left == []
    # Two weeks of publications, one a day, and the remains of killed ones.
    assert len(files.names()) < 3 * 15 + 2 * _KILLS


def test_a_full_disk_leaves_the_last_publication(folder: Path) -> None:
    files = FolderGalleryFiles(folder)
    published(files, publication(1))
    resource = pytest.importorskip("resource", reason="limits of processes are those of POSIX")
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, (4, 4)); {_PUBLISHING.strip()}"
    )
    del resource
    done = subprocess.run([sys.executable, "-c", code, str(folder), "2"], capture_output=True, text=True, check=False)
    assert "File too large" in done.stderr
    assert assert_whole(files).version == 1
    assert {name for name in files.names() if name.startswith(".")} == _KEPT


@pytest.mark.rule("contract Q3")
def test_many_files_are_written_like_single_ones(files: GalleryFiles) -> None:
    contents = {f"logos/{number}.user.css": b"%d" % number for number in range(100)}
    with files.locked():
        files.write("logos/1.user.css", b"before")
        files.write_many(contents.items())
    assert {name: files.read(name) for name in files.names()} == contents


@pytest.mark.rule("contract Q2", "contract Q3")
def test_after_a_failure_at_any_step_no_page_lacks_a_file(files: GalleryFiles) -> None:
    def with_page(version: int) -> Publication:
        made = publication(version)
        page = b'<script type="application/json" id="gallery">%d</script>' % version
        beside = {"page.js": b"script %d" % version, "page.css": b"sheet", "index.html": page}
        styles = [
            GeneratedFile(f"themes/{each}.user.css", f"{version}", lambda: b"%d" % version)
            for each in range(version, version + 3)
        ]
        return replace(made, files={**made.files, **beside}, made=[styles])

    published(files, with_page(1))
    for steps in count():
        try:
            published(Failing(files, steps), with_page(2 + steps))
            break
        except OSError:
            assert {"index.html", "page.js", "page.css", READER} <= {*files.names()}
            assert_whole(files)
    assert steps > 10
    last = steps + 2
    styles = {name: files.read(name) for name in files.names() if name.endswith(".user.css")}
    assert styles == {f"themes/{each}.user.css": b"%d" % last for each in range(last, last + 3)}
