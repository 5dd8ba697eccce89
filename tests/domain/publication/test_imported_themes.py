"""Themes that are one import each, as a third of the samples: once copied, they stay what they are (contract L5)."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Final

import pytest

import logoadmin
from logoadmin.domain.changes.history import ListChanges, RevertRequest
from logoadmin.domain.gallery.artworks import CreateTheme, GetTheme
from logoadmin.domain.kernel.access import Owner
from logoadmin.domain.publication.css.css_service import ArtworkImports, UseCopies
from logoadmin.domain.publication.files.pointer import parsed
from tests.gallery import ADMIN_PASSWORD, ARTWORK

pytestmark = [pytest.mark.server("a web server in a thread"), pytest.mark.rule("contract L5")]

THEMES: Final = 12


class Origin(ThreadingHTTPServer):
    """A host with style sheets.

    Attributes:
        revision: what its sheets say.
    """

    daemon_threads = True
    revision = "first"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answering(BaseHTTPRequestHandler):
    server: Origin

    def do_GET(self) -> None:
        is_there = self.path.startswith("/theme")
        text = f"@import 'theme-base.css';body {{ --is: {self.server.revision}; background: url(i.png) }}"
        body = (text if self.path != "/theme-base.css" else f"a {{ --is: {self.server.revision} }}").encode()
        self.send_response(200 if is_there else 404)
        self.send_header("Content-Type", "text/css; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Log nothing."""


@pytest.fixture
def origin() -> Iterator[Origin]:
    with Origin() as origin:
        thread = Thread(target=origin.serve_forever)
        thread.start()
        yield origin
        origin.shutdown()
        thread.join()


def published(gallery: logoadmin.LogoAdmin) -> dict[str, Any]:
    """Return the themes that readers get, by name, with their CSS."""
    publication = gallery.publication.generate()
    index = json.loads(publication.files[parsed(publication.pointer).index["path"]])
    return {each["name"]: each["custom_css"] for each in index["themes"]}


def test_copied_themes_stay_what_they_are_whatever_their_origin_does(origin: Origin) -> None:
    with logoadmin.connect(access="open", admin_password=ADMIN_PASSWORD, outgoing_hosts=["127.0.0.1"]) as gallery:
        for number in range(THEMES):
            css = f"@import url({origin.address}/theme{number}.css);"
            gallery.themes.create(CreateTheme(**ARTWORK | {"name": f"Theme {number}", "custom_css": css}))
        gone = {"name": "Gone", "custom_css": f"@import url({origin.address}/gone.css);"}
        gallery.themes.create(CreateTheme(**ARTWORK | gone))
        assert published(gallery) == {}
        imports, caller = ArtworkImports(gallery.css), Owner("copies")
        found = [*imports.copies()]
        assert [(each.name, each.failed[0].reason) for each in found if each.failed] == [
            ("Gone", "127.0.0.1: responds with status 404")
        ]
        assert imports.use(UseCopies(artworks=tuple(found)), caller) == THEMES
        before = published(gallery)
        assert len(before) == THEMES
        assert f"url({origin.address}/i.png)" in before["Theme 0"]
        assert before["Theme 0"].count("--is: first") == 2
        origin.revision = "second"
        assert published(gallery) == before
        # One request is one entry in the history, and one undo.
        assert len([*gallery.changes.list(ListChanges(request_id="copies"))]) == THEMES
        gallery.changes.revert_request(RevertRequest(request_id="copies"))
        assert gallery.themes.get(GetTheme(theme_id=1)).custom_css.startswith("@import")
