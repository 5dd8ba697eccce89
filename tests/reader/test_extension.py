"""The extension of docs/extension and the programs of docs/read.md read a gallery as the page says (contract L6)."""

import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import BrowserContext, expect, sync_playwright

from logoadmin import reader
from tests.options import skip_without
from tests.reader.hostile_server import HostileServer
from tests.reader.publisher import A, Answer, Publication, artwork, long_css, withdrawal

pytestmark = pytest.mark.rule("contract L6")

READER: Final = Path(reader.__file__).with_name("reader.js")
EXTENSION: Final = Path(__file__).parents[2] / "docs/extension"
DOCS: Final = Path(__file__).parents[2] / "docs/read.md"
SHEET: Final = b"h1 { color: rgb(1, 2, 3) }"
GALLERY: Final = "https://gallery.example/gallery/"


def examples(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOCS.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture
def one() -> Publication:
    """A gallery of today with one theme, whose CSS is in a file of its own."""
    theme = artwork("theme", 1, **long_css(SHEET))
    return Publication(1, issued=int(time.time()), themes=[theme], sheets=[SHEET])


@pytest.fixture
def blocked(one: Publication) -> Publication:
    """The same gallery without its theme."""
    return replace(one, version=2, themes=[], withdrawn=[withdrawal("theme", 1, "malware", one.issued)])


def test_the_python_example_runs(
    server: HostileServer, one: Publication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    url = server.publish("gallery", one.files())
    monkeypatch.chdir(tmp_path)
    (program,) = examples("python")
    exec(compile(program.replace(GALLERY, url).replace("KEY", A.jwk["x"]), "docs/read.md", "exec"), {})
    assert capsys.readouterr().out.startswith(f"theme 1 {SHEET.decode()}")


@pytest.fixture
def extension(server: HostileServer, tmp_path: Path) -> Path:
    """The extension of the page, for this server. It checks again after a moment."""
    folder = tmp_path / "extension"
    folder.mkdir()
    words = {GALLERY: f"{server.address}/gallery/", "KEY": A.jwk["x"], "60_000": "200"}
    for file in EXTENSION.iterdir():
        text = file.read_text("utf-8")
        for old, new in words.items():
            text = text.replace(old, new)
        folder.joinpath(file.name).write_text(re.sub(r"https://(gallery|forum)\.example/", "http://127.0.0.1/", text))
    shutil.copy(READER, folder)
    return folder


@pytest.fixture
def browser_with_extension(extension: Path) -> Iterator[BrowserContext]:
    found = shutil.which("chromium")
    if found is None:
        skip_without("CHROMIUM", "chromium is not installed")
    with sync_playwright() as playwright:
        arguments = ["--headless=new", f"--load-extension={extension}", f"--disable-extensions-except={extension}"]
        context = playwright.chromium.launch_persistent_context(
            "", executable_path=found, headless=False, chromium_sandbox=False, args=arguments
        )
        yield context
        context.close()


@pytest.mark.slow("a browser is started")
def test_the_extension_applies_and_removes_a_theme(
    server: HostileServer, one: Publication, blocked: Publication, browser_with_extension: BrowserContext
) -> None:
    server.publish("gallery", one.files(), {"latest.json": Answer(blocked.pointer())}, {})
    # A policy of the site does not apply to the style of a content script.
    server.pages["index.html"] = Answer(b"<!doctype html><h1>Forum</h1>", policy="default-src 'self'")
    page = browser_with_extension.new_page()
    page.goto(f"{server.address}/index.html")
    expect(page.locator("h1")).to_have_css("color", "rgb(1, 2, 3)")
    # The theme is blocked, and nothing else of the publication can be downloaded; then the server is gone.
    server.begin("gallery", 1)
    (worker,) = browser_with_extension.service_workers
    worker.evaluate("chrome.alarms.create('check', { when: Date.now() })")
    expect(page.locator("h1")).to_have_css("color", "rgb(0, 0, 0)")
    server.begin("gallery", 2)
    page.reload()
    page.wait_for_timeout(500)
    expect(page.locator("h1")).to_have_css("color", "rgb(0, 0, 0)")
    assert page.locator("html > style").text_content() == ""
