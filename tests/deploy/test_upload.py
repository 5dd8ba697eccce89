"""deploy/logoadmin-upload copies a published folder in the order that readers rely on."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

pytestmark = [pytest.mark.server("a process for each upload"), pytest.mark.rule("contract K6")]

SCRIPT: Final = Path(__file__).parents[2] / "deploy/logoadmin-upload"
HASH: Final = "0123456789abcdef"
NAMED: Final = {
    *(f"12-{HASH}.json", f"withdrawn-{HASH}.json", f"css/{HASH * 4}.css"),
    *(PICTURES := (f"pictures/{HASH * 4}.webp", f"pictures/{HASH * 4}-320.webp")),
}
PAGE: Final = ["page-list.js", "page.js", "page-work.css", "page.css", "index.html"]
PAGES: Final = {"logos/1/index.html", "themes/a.b/index.html", "authors/1/index.html", "checks/index.html"}
FEEDS: Final = ["feed.xml", "sitemap.xml"]
STYLES: Final = {"logos/1.user.css", "themes/1.user.css"}
PUBLISHED: Final = {*NAMED, *PAGE, *PAGES, *FEEDS, *STYLES, "reader.js", "latest.json"}
NOTES: Final = {".publication.json", f".12-{HASH}.json.x7", f"css/.{HASH * 4}.css.x7"}
# The part of aws that the script uses: filters, of which the last that matches counts, patterns whose * matches slashes
# and --size-only. It logs each file with its header fields, and can fail at a file or publish in the meantime.
AWS: Final = """
import fnmatch, os, sys
from pathlib import Path
s3, command, source, target, *options = sys.argv[1:]
assert (s3, target[:11]) == ("s3", "s3://bucket"), sys.argv
store = Path(os.environ["STORE"])
filters, fields, flags, words = [], {}, [], iter(options)
for word in words:
    if word in ("--include", "--exclude"):
        filters.append((word, next(words)))
    elif word in ("--size-only", "--delete"):
        flags.append(word)
    else:
        fields[word] = next(words)
assert set(fields) == {"--content-type", "--cache-control", "--endpoint-url"}, fields
def is_sent(name):
    return ([how for how, pattern in filters if fnmatch.fnmatch(name, pattern)] or ["--include"])[-1] == "--include"
if command == "sync":
    names = [str(path.relative_to(source)) for path in sorted(Path(source).rglob("*")) if path.is_file()]
    copies = [(Path(source, name), f"{target[12:]}/{name}") for name in names if is_sent(name)]
else:
    copies = [(Path(source), target[12:])]
for path, name in copies:
    if command == "sync" and (store / name).exists():
        there, here = (store / name).stat(), path.stat()
        if there.st_size == here.st_size and ("--size-only" in flags or there.st_mtime >= here.st_mtime):
            continue
    if os.environ.get("FAILS_AT", "?") in name:
        sys.exit("aws: cannot connect")
    (store / name).parent.mkdir(parents=True, exist_ok=True)
    (store / name).write_bytes(path.read_bytes())
    with (store / "log").open("a") as log:
        print(name, fields["--content-type"], fields["--cache-control"], sep="|", file=log)
if "--delete" in flags:
    for path in (store / target[12:]).rglob("*.*"):
        name = str(path.relative_to(store / target[12:]))
        if is_sent(name) and not Path(source, name).exists():
            path.unlink()
if "PUBLISHES" in os.environ:
    Path(os.environ["PUBLISHES"], "latest.json").write_text("a later pointer")
"""


class Store:
    """A folder that is published, and the store."""

    def __init__(self, root: Path) -> None:
        self.folder, self.store, self.programs = root / "gallery", root / "store", root / "bin"
        for directory in (self.store, self.programs):
            directory.mkdir(parents=True)
        (self.programs / "aws").write_text(f"#!{sys.executable}\n{AWS}")
        (self.programs / "aws").chmod(0o755)
        for name in PUBLISHED | NOTES:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(f"the content of {name}")

    def upload(self, **environment: str) -> int:
        path = f"{self.programs}:{os.environ['PATH']}"
        command = [str(SCRIPT), str(self.folder), "s3://bucket/gallery", "--endpoint-url", "https://store.example"]
        environment = {**os.environ, "PATH": path, "STORE": str(self.store), **environment}
        return subprocess.run(command, env=environment, check=False, timeout=60, capture_output=True).returncode

    def sent(self) -> list[list[str]]:
        """Return the uploads since the last call: name, type and caching of each file."""
        log = self.store / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        log.write_text("")
        return [line.removeprefix("gallery/").split("|") for line in lines]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_the_pointer_is_uploaded_last_and_every_file_is_cacheable_for_its_lifetime(store: Store) -> None:
    assert store.upload() == 0
    sent = store.sent()
    names = [name for name, *_ in sent]
    assert (set(names), len(names), names[-1]) == (PUBLISHED, len(PUBLISHED), "latest.json")
    kinds = {name: (media_type, cached.removeprefix("public, max-age=")) for name, media_type, cached in sent}
    text, brief, forever = "; charset=utf-8", "300", "31536000, immutable"
    assert kinds.pop("latest.json") == ("application/json", "60, stale-if-error=604800")
    assert kinds.pop("reader.js") == (f"text/javascript{text}", "86400")
    assert [kinds.pop(name) for name in FEEDS] == [("application/atom+xml", brief), ("application/xml", brief)]
    expected = {".html": (f"text/html{text}", brief), ".js": (f"text/javascript{text}", brief)}
    expected |= {".json": ("application/json", forever), ".webp": ("image/webp", forever)}
    for name, kind in kinds.items():
        sheet = (f"text/css{text}", forever if name in NAMED else brief)
        assert kind == (sheet if name.endswith(".css") else expected[Path(name).suffix]), name
    after = len(PAGES) + len(FEEDS) + 1
    assert names[-after - len(PAGE) : -after] == PAGE


def test_a_second_run_does_not_upload_immutable_files_again(store: Store) -> None:
    store.upload()
    store.sent()
    assert store.upload() == 0
    assert [name for name, *_ in store.sent()] == ["reader.js", *PAGE, *FEEDS, "latest.json"]


@pytest.mark.parametrize("name", ["reader.js", PAGE[0], FEEDS[0], *map(min, (NAMED, STYLES, PAGES))])
def test_after_a_failure_readers_keep_the_earlier_pointer(store: Store, name: str) -> None:
    assert store.upload(FAILS_AT=name) != 0
    assert not (store.store / "gallery/latest.json").exists()
    assert store.upload() == 0


def test_a_pointer_published_meanwhile_waits_for_the_next_upload(store: Store) -> None:
    """Its files may not be there yet."""
    assert store.upload(PUBLISHES=str(store.folder)) == 0
    assert (store.store / "gallery/latest.json").read_text() == "the content of latest.json"
    assert store.upload() == 0
    assert (store.store / "gallery/latest.json").read_text() == "a later pointer"


@pytest.mark.rule("contract P5", "contract Q3")
def test_removed_pictures_and_styles_are_deleted_and_changed_styles_uploaded(store: Store) -> None:
    store.upload()
    store.sent()
    removed = (PICTURES[0], "logos/1.user.css")
    for name in removed:
        (store.folder / name).unlink()
    (store.folder / "themes/1.user.css").write_text("another content")
    assert store.upload() == 0
    assert [(store.store / "gallery" / name).exists() for name in (*removed, PICTURES[1])] == [False, False, True]
    assert (store.store / "gallery/themes/1.user.css").read_text() == "another content"
    assert [name for name, *_ in store.sent() if "user.css" in name] == ["themes/1.user.css"]
