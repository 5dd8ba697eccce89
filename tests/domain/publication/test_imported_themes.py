"""Themes that consist of one import, as a third of the samples do: copies never change (contract L5)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest

import logoadmin
from logoadmin.domain.changes.history import ListChanges, RevertRequest
from logoadmin.domain.gallery.artworks import CreateTheme, GetTheme
from logoadmin.domain.kernel.access import ANONYMOUS, ActingAs, Owner
from logoadmin.domain.kernel.errors import NotAuthenticated, NotPermitted
from logoadmin.domain.kernel.records import FIRST_ADMIN_ID
from logoadmin.domain.publication.css.css_service import ArtworkImports, UseCopies
from logoadmin.domain.publication.files.pointer import parsed
from tests.answering import Answer, Request, answering
from tests.gallery import ADMIN_PASSWORD, ARTWORK

pytestmark = [pytest.mark.server("a web server in a thread"), pytest.mark.rule("contract L5")]

THEMES: Final = 12


@dataclass
class Origin:
    """A host with style sheets.

    Attributes:
        revision: what its sheets say.
    """

    revision: str = "first"
    address: str = ""

    def answer(self, request: Request) -> Answer:
        if request.path == "/theme-base.css":
            return Answer(f"a {{ --is: {self.revision} }}".encode())
        sheet = f"@import 'theme-base.css';body {{ --is: {self.revision}; background: url(i.png) }}"
        return Answer(sheet.encode()) if request.path.startswith("/theme") else Answer(status=404)


@pytest.fixture
def origin() -> Iterator[Origin]:
    origin = Origin()
    with answering(origin.answer) as server:
        origin.address = f"http://{server.host}"
        yield origin


def published(gallery: logoadmin.LogoAdmin) -> dict[str, Any]:
    """Return the themes that readers get, by name, with their CSS."""
    publication = gallery.publication.generate()
    index = json.loads(publication.files[parsed(publication.pointer).index["path"]])
    return {each["name"]: each["custom_css"] for each in index["themes"]}


def test_copied_themes_do_not_change_with_their_origin(origin: Origin) -> None:
    with logoadmin.connect(access="open", admin_password=ADMIN_PASSWORD, outgoing_hosts=["127.0.0.1"]) as gallery:
        for number in range(THEMES):
            css = f"@import url({origin.address}/theme{number}.css);"
            gallery.themes.create(CreateTheme(**ARTWORK | {"name": f"Theme {number}", "custom_css": css}))
        gone = {"name": "Gone", "custom_css": f"@import url({origin.address}/gone.css);"}
        gallery.themes.create(CreateTheme(**ARTWORK | gone))
        assert published(gallery) == {}
        imports, caller = ArtworkImports(gallery.css), Owner("copies")
        # The copies are not user input: nothing verifies their stated origin.
        with pytest.raises(NotAuthenticated):
            imports.use(UseCopies(artworks=()), ANONYMOUS)
        with pytest.raises(NotPermitted):
            imports.use(UseCopies(artworks=()), ActingAs(FIRST_ADMIN_ID))
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
