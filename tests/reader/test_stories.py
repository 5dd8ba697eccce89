"""All readers observe the same, whatever is done to them (contract L6)."""

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from logoadmin import reader
from logoadmin.reader import download
from logoadmin.reader.gallery import Gallery
from tests.options import skip_without
from tests.reader.hostile_server import HostileServer
from tests.reader.stories import STORIES
from tests.reader.vectors import ANY_ERROR, Seen, Step, Story

pytestmark = pytest.mark.rule("contract L6")

HERE = Path(__file__).parent
READER = Path(reader.__file__).with_name("reader.js")
NODES = (str(HERE.parents[1] / ".venv-node/bin/node"), "node")
Observed = Mapping[str, Any]


@pytest.fixture(scope="module")
def server() -> Iterator[HostileServer]:
    with HostileServer().running() as running:
        yield running


def folder(story: Story) -> str:
    return story.name.replace(" ", "-")


def publish(server: HostileServer, story: Story) -> str:
    return server.publish(folder(story), *(step.files for step in story.steps))


def compare(seen: Seen, observed: Observed, requests: list[str], where: str) -> None:
    """Compare what a reader observed with what it should have."""
    expected = json.loads(json.dumps(asdict(seen)))
    assert {**expected, "requests": 0} == {**observed, "error": expected["error"], "requests": 0}, where
    assert bool(observed["error"]) == bool(seen.error), (where, observed["error"])
    if seen.error != ANY_ERROR:
        assert observed["error"].endswith(seen.error), where
    if seen.requests is not None:
        assert requests == list(seen.requests), where


@pytest.mark.parametrize("story", STORIES, ids=folder)
def test_the_reader_in_python_lives_through_all_stories(
    story: Story, server: HostileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = publish(server, story)
    monkeypatch.setattr(download, "SECONDS", 1.5)
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
            elif self._gallery is not None:
                changed = self._gallery.check()
        except reader.ReaderError as problem:
            error = str(problem)
        gallery = self._gallery
        return {
            "version": gallery and gallery.latest["version"],
            "logos": [logo["logo_id"] for logo in gallery.logos()] if gallery else [],
            "themes": [theme["theme_id"] for theme in gallery.themes()] if gallery else [],
            "changed": changed,
            "error": error,
            "withdrawn": [[each["kind"], each["id"], each["severity"]] for each in self._events],
        }

    def _spoil(self, how: str) -> None:
        file = self._store / "state"
        content = file.read_bytes()
        spoiled = {
            "rubbish": bytes([1, 2, 3, 255]),
            "truncated": content[: len(content) // 2],
            "altered": content.replace(b"logo 1", b"logo X"),
        }
        file.write_bytes(spoiled[how])


def node() -> str:
    """Return the Node that the console is checked with, or another one."""
    found = next(filter(None, map(shutil.which, NODES)), None)
    if found is None:
        skip_without("NODE", "node is not installed: make tools/console/node_modules/ready")
    return found


def test_the_reader_in_node_lives_through_all_stories(server: HostileServer, tmp_path: Path) -> None:
    for story in STORIES:
        publish(server, story)
    for file in (READER, HERE / "harness.js", HERE / "node.js"):
        shutil.copy(file, tmp_path)
    tmp_path.joinpath("package.json").write_text('{"type": "module"}', "utf-8")
    asked = {"reader": "./reader.js", "address": server.address, "stories": [story.script() for story in STORIES]}
    run = subprocess.run(
        [node(), "node.js"], input=json.dumps(asked), text=True, cwd=tmp_path, timeout=120, capture_output=True
    )
    assert run.returncode == 0, run.stderr
    compare_all(server, json.loads(run.stdout))


def compare_all(server: HostileServer, observed: Mapping[str, list[Observed]]) -> None:
    for story in STORIES:
        steps = server.requests(folder(story))
        for number, step in enumerate(story.steps):
            where = f"{story.name}, step {number + 1}"
            compare(step.seen, observed[story.name][number], steps[number], where)
