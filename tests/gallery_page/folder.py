"""A published folder with the page that visitors see, behind a web server and under a path."""

import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Frame, Page

from logoadmin.adapters.folder_gallery_files import FolderGalleryFiles
from logoadmin.bootstrap import gallery_page
from tests.answering import serving
from tests.reader.publisher import DAY, A, Publication, artwork, author, long_css

SOURCE: Final = Path(__file__).parents[2] / "src/logoadmin"
NOW: Final = int(time.time())
SHEET: Final = b"body { color: red } " * 200
STACKED: Final = "Z" + "".join(map(chr, range(0x300, 0x340)))
TARGETS: Final = [{"id": "forum", "name": "The forum"}]
PICTURE: Final = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="8" height="5"><rect width="8" height="5" fill="red"/></svg>'
)

INVALID: Final = {"risk": "invalid"}
RISKS: Final = ("overlay", "input_styling", "animation")
AUTHORS: Final = (author(1, "Ánn"), author(2, "محمد"), author(3, STACKED[:64]))
LOGOS: Final = (
    artwork("logo", 1, 1, name="Dusk", custom_css="color: red"),
    artwork("logo", 2, 1, 2, name="شعار", target="market", css={"form": "declarations", "hosts": ["i.example"]}),
    artwork("logo", 3, 3, name=STACKED),
    artwork("logo", 4, name="<img src=x onerror=alert(1)>", css={"form": "declarations", "risks": [INVALID]}),
    artwork("logo", 5, 2, name="W" * 128),
)
THEMES: Final = (
    artwork("theme", 1, 1, name="Dawn", css={"form": "sheet", "risks": [{"risk": risk} for risk in RISKS]}),
    artwork("theme", 2, 2, name="Aurora", **long_css(SHEET)),
)


def dated(*records: dict[str, Any]) -> list[dict[str, Any]]:
    """Let the first record be the newest."""
    return [each | {"created_at": NOW - DAY * number} for number, each in enumerate(records)]


def published(version: int = 1, **members: Any) -> Publication:
    """Return a current publication, by default of the samples."""
    given: dict[str, Any] = {"authors": AUTHORS, "logos": dated(*LOGOS), "themes": dated(*THEMES)}
    given |= {"sheets": [SHEET], "issued": NOW - 60}
    return Publication(version, **(given | members))


class Folder:
    """The folder, and where it is served.

    Attributes:
        address: ends in a slash.
    """

    def __init__(self, root: Path) -> None:
        self._root, self.path = root, root / "some" / "gallery"
        self.path.mkdir(parents=True)
        shutil.copy(SOURCE / "reader/reader.js", self.path)
        (self.path / "pictures").mkdir()
        (self.path / "pictures/1.svg").write_bytes(PICTURE)
        shared = {"title": "The wall", "home": "/home", "submit": "/submit"}
        look = {"mark": None, "accent": None}
        values = {**shared, "demo": False, "report": "/report?{url}", "url": "", "path": "", "root": "", **look}
        data = {**shared, "targets": TARGETS, "keys": [A.jwk]}
        for name, content in gallery_page().files(values, data).items():
            (self.path / name).write_bytes(content)
        self._served, self._port = ExitStack(), 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}/some/gallery/"

    def publish(self, publication: Publication) -> None:
        """Write the files as the service does, the pointer last, so that browsers see the later of one second."""
        files = FolderGalleryFiles(self.path)
        for path, answer in sorted(publication.files().items(), key=lambda item: item[0] == "latest.json"):
            files.write(path, answer.body)

    def start(self) -> None:
        """Serve, at the same port as before if there was one."""
        self._port = self._served.enter_context(serving(self._root, self._port))

    def stop(self) -> None:
        self._served.close()


def becomes(page: Page | Frame, expression: str) -> None:
    """Wait until an expression is true in the page, whose policy forbids ``wait_for_function``."""
    end = time.monotonic() + 60
    while not page.evaluate(expression):
        assert time.monotonic() < end, expression
        page.wait_for_timeout(20)


@contextmanager
def served(root: Path, publication: Publication | None) -> Iterator[Folder]:
    """Publish into a new folder and serve it until the end."""
    folder = Folder(root)
    if publication is not None:
        folder.publish(publication)
    folder.start()
    try:
        yield folder
    finally:
        folder.stop()
