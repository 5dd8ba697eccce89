"""The Python reader passes the test vectors of docs/read.md, which are those of the stories (contract L2, L6)."""

import base64
import json
from typing import Any, Final

import pytest

from logoadmin import reader
from logoadmin.reader.download import Downloaded
from logoadmin.reader.folder import MemoryStore
from logoadmin.reader.gallery import Gallery
from tests.reader.format_vectors import FOLDER, vectors
from tests.reader.vectors import shown_by

pytestmark = [pytest.mark.rule("contract L2"), pytest.mark.rule("contract L6")]

GROUPS: Final = [json.loads(file.read_text("utf-8")) for file in sorted(FOLDER.glob("*.json"))]
VECTORS: Final[list[dict[str, Any]]] = [vector for group in GROUPS for vector in group]


def test_the_stored_vectors_match_the_stories() -> None:
    stored = {file.name: file.read_text("utf-8") for file in FOLDER.iterdir()}
    assert stored == dict(vectors()), "python -m tests.reader.format_vectors"
    assert len({vector["name"] for vector in VECTORS}) == len(VECTORS) > 90


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"].replace(" ", "-"))
def test_the_python_reader_passes_every_vector(vector: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    store, gallery, seen = MemoryStore(), None, []
    for step in vector["steps"]:
        withdrawn: list[Any] = []
        found: dict[str, Any] = {"fails": False}
        monkeypatch.setattr("time.time", lambda now=step["now"]: now)
        monkeypatch.setattr("logoadmin.reader.gallery.download", downloads(step["files"]))
        try:
            if step["do"] == "open":
                gallery = None
                gallery = Gallery("https://gallery.example/gallery", tuple(step["keys"]), store)
            else:
                assert gallery is not None
                stop = gallery.on("withdrawn", withdrawn.extend)
                try:
                    found["new"] = gallery.check()
                finally:
                    stop()
        except reader.ReaderError:
            found["fails"] = True
        found |= shown_by(gallery, withdrawn)
        seen.append({name: value for name, value in found.items() if name in step["expect"]})
    assert seen == [step["expect"] for step in vector["steps"]]


def downloads(files: dict[str, Any]) -> Any:
    """Return a function that reads these files."""

    def download(_: str, path: str, *, most: int, headers: object) -> Downloaded:
        del headers
        if path not in files:
            raise reader.ReaderError(f"{path}: HTTP 404")
        content = files[path]
        body = content.encode() if isinstance(content, str) else base64.b64decode(content["base64"])
        if not isinstance(most, int) or len(body) > most:
            raise reader.ReaderError(f"{path}: too large")
        return Downloaded(body, None)

    return download
