"""reader.js passes all stories in Firefox (contract L6)."""

import json

import pytest

from tests import firefox
from tests.options import LONG
from tests.reader.hostile_server import HostileServer
from tests.reader.observed import compare_all, publish
from tests.reader.publisher import Answer
from tests.reader.stories import STORIES
from tests.reader.test_javascript import HERE, READER

_PLAY = """
import { playAll } from "/harness.js";
import { open } from "/reader.js";

const { address, stories } = %s;
const show = (title) => (found) => Object.assign(document, { title }).body.append(JSON.stringify(found));
playAll(open, address, stories).then(show("done"), (error) => show("failed")(String(error)));
"""


@pytest.mark.slow("a browser is started")
@pytest.mark.release
@pytest.mark.rule("contract L6")
def test_reader_js_in_firefox_passes_every_story(server: HostileServer) -> None:
    # All of them run in Chromium.
    stories = STORIES if LONG else STORIES[::4]
    for story in stories:
        publish(server, story)
    asked = {"address": server.address, "stories": [story.script() for story in stories]}
    pages = {file.name: file.read_bytes() for file in (READER, HERE / "harness.js")}
    pages["play.js"] = (_PLAY % json.dumps(asked)).encode()
    pages["index.html"] = b"<!doctype html><title>Reader</title><body><script type=module src=/play.js></script>"
    server.pages.update((name, Answer(content)) for name, content in pages.items())
    with firefox.started("", {}) as fox:
        fox.open(f"{server.address}/index.html")
        fox.becomes("document.title !== 'Reader'")
        found = fox.run("document.body.textContent")
        assert fox.run("document.title") == "done", found
    compare_all(server, stories, json.loads(found), cached=True)
