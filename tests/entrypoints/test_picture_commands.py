"""``logoadmin pictures``, against a local server (contract P3, P4)."""

import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from PIL import Image
from starlette.requests import Request
from starlette.responses import Response

import logoadmin
from tests.entrypoints.command_line import Run
from tests.gallery import ARTWORK
from tests.mariadb import MariaDbServer
from tests.services import in_thread

DATABASE: Final = "sqlite:///logoadmin.db"


def png(shade: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (20, 10), (shade, 0, 0)).save(file, "PNG")
    return file.getvalue()


def noise() -> bytes:
    """Return a picture whose stored form takes more than 3 MiB."""
    file = io.BytesIO()
    Image.frombytes("RGB", (1500, 1500), random.Random(4).randbytes(1500 * 1500 * 3)).save(file, "PNG")
    return file.getvalue()


async def _origin(scope: Any, receive: Any, send: Any) -> None:
    shade = Request(scope).url.path.strip("/")
    if shade == "large":
        response = Response(noise())
    else:
        response = Response(png(int(shade))) if shade.isdecimal() else Response(status_code=404)
    await response(scope, receive, send)


@pytest.fixture
def origin(initialised: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A local host that the settings allow to ask."""
    del initialised
    monkeypatch.setenv("LOGOADMIN_OUTGOING_HOSTS", "127.0.0.1")
    with in_thread(_origin) as address:
        yield address


def urls() -> list[str]:
    with logoadmin.connect(DATABASE) as gallery:
        return [logo.preview_url for logo in gallery.logos.list(logoadmin.ListLogos())]


def create(*urls: str, active: bool = True) -> None:
    with logoadmin.connect(DATABASE) as gallery:
        for url in urls:
            gallery.logos.create(logoadmin.CreateLogo(**{**ARTWORK, "preview_url": url, "active": active}))


@pytest.mark.rule("contract P3")
def test_pictures_elsewhere_are_copied_as_one_request(origin: str, run: Run) -> None:
    before = [f"{origin}/1", f"{origin}/1", f"{origin}/2", f"{origin}/missing"]
    create(*before)
    create(f"{origin}/3", active=False)
    listed = run("pictures", "mirror", "--dry-run")
    assert (listed.code, listed.out.count("\n")) == (0, 4)
    assert urls() == [*before, f"{origin}/3"]
    done = run("pictures", "mirror")
    assert (done.code, done.out) == (1, "3 changed, 1 not copied\n")
    assert "Not copied: logo 4 (Aurora): The picture cannot be fetched: 127.0.0.1: " in done.err
    one, same, two, missing, inactive = urls()
    assert one == same != two
    assert "/pictures/" in one
    assert "/pictures/" in two
    assert (missing, inactive) == (before[3], f"{origin}/3")
    assert run("revert", "--request", done.request).code == 0
    assert urls() == [*before, f"{origin}/3"]


@pytest.mark.rule("contract P3")
@pytest.mark.slow("a server is started for it")
def test_a_picture_that_the_database_does_not_accept_stops_none_of_the_others(
    origin: str, run: Run, running: MariaDbServer
) -> None:
    running.empty()
    assert run("init", "--database", running.url).code == 0
    with logoadmin.connect(running.url) as gallery:
        for number, path in enumerate(("1", "large", "2")):
            artwork = {**ARTWORK, "name": f"A{number}", "preview_url": f"{origin}/{path}", "active": True}
            gallery.logos.create(logoadmin.CreateLogo(**artwork))
    running.execute("SET GLOBAL max_allowed_packet = 1048576")
    done = run("pictures", "mirror", "--database", running.url)
    assert (done.code, done.out) == (1, "2 changed, 1 not copied\n")
    assert "Not copied: logo 2 (A1): This is larger than the database server accepts: " in done.err
    assert done.err.count("\n") == 1


@pytest.mark.rule("contract P4")
def test_pictures_are_moved_as_files(initialised: None, run: Run, tmp_path: Path) -> None:
    del initialised
    with logoadmin.connect(DATABASE) as gallery:
        sent = {gallery.pictures.send(logoadmin.SendPicture(), png(shade)).picture for shade in (1, 2)}
        sent.add(gallery.pictures.send(logoadmin.SendPicture(), noise()).picture)
    listed = [json.loads(line) for line in run("pictures", "list").out.splitlines()]
    assert [each["picture"] for each in listed] == sorted(sent)
    assert all(each["named_by"] == [] and each["user_name"] is None for each in listed)
    folder = tmp_path / "exported"
    assert run("pictures", "export", str(folder)).out == "3 written\n"
    assert {path.name for path in folder.iterdir()} == {f"{picture}.webp" for picture in sent}
    assert run("pictures", "export", str(folder)).out == "0 written\n"
    (folder / "note.txt").write_text("refused")
    (folder / f"{'0' * 64}.webp").write_bytes(b"damaged")
    other = f"sqlite:///{tmp_path / 'other.db'}"
    assert run("init", "--database", other).code == 0
    moved = run("pictures", "import", str(folder), "--database", other)
    assert (moved.code, moved.out) == (1, "3 added, 2 refused\n")
    damaged, note = moved.err.splitlines()
    assert damaged.startswith(f"Refused: {'0' * 64}.webp: The file is not the picture that its name says")
    assert note.startswith("Refused: note.txt: it is not named as logoadmin pictures export names files")
    with logoadmin.connect(other) as gallery:
        assert {*gallery.pictures.stored()} == sent
