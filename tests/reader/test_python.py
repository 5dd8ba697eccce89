"""The Python reader passes all stories (contract L6)."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from logoadmin import reader
from logoadmin.reader import download
from logoadmin.reader.gallery import Gallery
from tests.reader.hostile_server import HostileServer
from tests.reader.stories import STORIES
from tests.reader.vectors import Observed, Step, Story, compare, folder, publish, shown_by

pytestmark = [pytest.mark.server("a server in a thread"), pytest.mark.rule("contract L6")]


@pytest.mark.parametrize("story", STORIES, ids=folder)
def test_the_python_reader_passes_every_story(
    story: Story, server: HostileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = publish(server, story)
    monkeypatch.setattr(download, "SECONDS", story.seconds or download.SECONDS)
    if story.broken_store:
        tmp_path.joinpath("store").write_text("This is not a folder.", "utf-8")
    player = PythonPlayer(url, tmp_path / "store")
    for number, step in enumerate(story.steps):
        monkeypatch.setattr("time.time", lambda now=step.now: now)
        server.begin(folder(story), number)
        observed = player.play(step, story, opens=step.opens or number == 0)
        compare(step.seen, observed, server.requests(folder(story))[number], f"{story.name}, step {number + 1}")


class PythonPlayer:
    """Plays the steps of one story with the reader in Python."""

    def __init__(self, url: str, store: Path) -> None:
        self._url = url
        self._store = store
        self._gallery: Gallery | None = None
        self._events: list[dict[str, Any]] = []

    def play(self, step: Step, story: Story, *, opens: bool) -> Observed:
        """Open the gallery or check it, and return the observation."""
        if step.spoil:
            self._spoil(step.spoil)
        self._events.clear()
        changed, error = None, ""
        try:
            if opens:
                self._gallery = None
                keys = [key.jwk for key in step.keys or story.keys]
                self._gallery = reader.open(self._url, key=keys[0] if len(keys) == 1 else keys, store=self._store)
                self._gallery.on("withdrawn", self._events.extend)
                if step.checks:
                    with suppress(reader.ReaderError):
                        self._gallery.check()
                    self._events.clear()
            elif self._gallery is not None:
                changed = self._gallery.check()
        except reader.ReaderError as problem:
            error = str(problem)
        return {**shown_by(self._gallery, self._events), "changed": changed, "error": error}

    def _spoil(self, how: str) -> None:
        for file in self._store.iterdir():
            content = file.read_bytes()
            spoiled = {
                "rubbish": bytes([1, 2, 3, 255]),
                "truncated": content[: len(content) // 2],
                "altered": content.replace(b"logo 1", b"logo X"),
                "missing": content if file.name == "state" else b"",
            }
            file.write_bytes(spoiled[how])
