"""reader.js passes all stories in Node, in a page and in a service worker (contract L6)."""

import gzip
import json
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page

from logoadmin import reader
from tests.options import skip_without
from tests.reader import samples
from tests.reader.hostile_server import HostileServer
from tests.reader.publisher import NOW, A, Answer
from tests.reader.samples import encoded
from tests.reader.stories import STORIES
from tests.reader.vectors import Observed, compare_all, folder, publish

pytestmark = pytest.mark.rule("contract L6")

HERE: Final = Path(__file__).parent
READER: Final = Path(reader.__file__).with_name("reader.js")
NODES: Final = (str(HERE.parents[1] / ".venv-node/bin/node"), "node")
# In a worker, everything that it imports is loaded before it is registered.
_PLAY_IN_WORKER: Final = """
async (asked) => {
  await navigator.serviceWorker.register("/worker.js", { type: "module" });
  const { active } = await navigator.serviceWorker.ready;
  const { port1, port2 } = new MessageChannel();
  const reply = new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
  active.postMessage(asked, [port2]);
  return reply;
}
"""
_PLAY_IN_PAGE: Final = """
async ({ address, stories }) => {
  const [{ open }, { playAll }] = await Promise.all([import("/reader.js"), import("/harness.js")]);
  return playAll(open, address, stories);
}
"""


@pytest.fixture
def asked(server: HostileServer) -> Mapping[str, Any]:
    """What a player of stories needs; the server is at the start of each of them."""
    for story in STORIES:
        publish(server, story)
    return {"address": server.address, "stories": [story.script() for story in STORIES]}


@pytest.fixture
def page(server: HostileServer, chromium: Browser) -> Iterator[Page]:
    """An empty page of the server, with the reader next to it."""
    server.pages["index.html"] = Answer(b"<!doctype html><title>Reader</title>")
    for file in (READER, HERE / "harness.js", HERE / "worker.js"):
        server.pages[file.name] = Answer(file.read_bytes())
    with chromium.new_context() as context:
        page = context.new_page()
        page.goto(f"{server.address}/index.html")
        yield page


def run_in_node(directory: Path, script: str, asked: Mapping[str, Any]) -> Any:
    """Run a script of this folder in Node, with a value as JSON on standard input; return the value that it prints."""
    node = next(filter(None, map(shutil.which, NODES)), None)
    if node is None:
        skip_without("NODE", "node is not installed: make tools/console/node_modules/ready")
    for file in (READER, HERE / "harness.js", HERE / script):
        shutil.copy(file, directory)
    directory.joinpath("package.json").write_text('{"type": "module"}', "utf-8")
    sent = json.dumps(asked)
    run = subprocess.run([node, script], input=sent, text=True, cwd=directory, timeout=120, capture_output=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_reader_js_is_small() -> None:
    assert len(gzip.compress(READER.read_bytes(), 6)) <= 4096


@pytest.mark.slow("a hundred stories, some of which wait for slow servers")
def test_reader_js_in_node_passes_every_story(server: HostileServer, asked: Mapping[str, Any], tmp_path: Path) -> None:
    compare_all(server, STORIES, run_in_node(tmp_path, "node.js", asked), cached=False)


def test_reader_js_in_node_keeps_the_contract(tmp_path: Path) -> None:
    sheets = encoded({path: Answer(content) for path, content in samples.SHEETS.items()})
    published = {"one": encoded(samples.ONE.files()), "two": encoded(samples.TWO.files()), "sheets": sheets}
    known = {"key": A.jwk, "now": NOW + 100, "details": samples.DETAILS}
    assert run_in_node(tmp_path, "behaviour.js", {**known, **published})


@pytest.mark.slow("a browser is started")
def test_reader_js_in_a_page_passes_every_story(server: HostileServer, asked: Mapping[str, Any], page: Page) -> None:
    observed: Mapping[str, Sequence[Observed]] = page.evaluate(_PLAY_IN_PAGE, asked)
    compare_all(server, STORIES, observed, cached=True)
    # The cache of the browser makes the request conditional.
    (unchanged,) = (story for story in STORIES if story.name == "nothing changed")
    assert server.requests(folder(unchanged))[1:] == [["latest.json?"], ["latest.json?"]]


@pytest.mark.slow("a browser is started")
def test_reader_js_in_a_worker_passes_every_story(server: HostileServer, asked: Mapping[str, Any], page: Page) -> None:
    reply = page.evaluate(_PLAY_IN_WORKER, asked)
    assert (reply.get("error"), reply["scope"], reply["document"]) == (None, "ServiceWorkerGlobalScope", "undefined")
    compare_all(server, STORIES, reply["found"], cached=True)


@pytest.mark.slow("a browser is started")
def test_a_page_of_another_origin_reads_without_a_preflight(server: HostileServer, chromium: Browser) -> None:
    """The server knows no OPTIONS: a preflight would fail."""
    url = server.publish("gallery", replace(samples.ONE, issued=int(time.time())).files())
    server.pages["reader.js"] = Answer(READER.read_bytes())
    server.pages["index.html"] = Answer(b"<!doctype html><title>Another site</title>")
    with HostileServer().running() as other, chromium.new_context() as context:
        other.pages.update(server.pages)
        page = context.new_page()
        page.goto(f"{other.address}/index.html")
        script = """async ([url, key]) => {
          const { open } = await import("/reader.js");
          const gallery = await open(url, { key });
          return [await gallery.check(), await gallery.check(), gallery.themes().length];
        }"""
        assert page.evaluate(script, [url, A.jwk]) == [False, False, 2]
    asked = [path for path in server.requests("gallery")[0] if path.startswith("latest")]
    assert asked == ["latest.json", "latest.json?", "latest.json?"]
