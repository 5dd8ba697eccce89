"""The speed of the console in Chromium, against the targets of contract J5: ``make bench-console``.

It serves 3,470 generated logos, or the gallery in the file LOGOADMIN_GALLERY, from a temporary SQLite file, signs in
and prints each figure with its target. Only loopback is used. Frames depend on the machine: on a busy one, compare.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

from hatchling.builders.wheel import WheelBuilder
from playwright.sync_api import Browser, Page

from benchmarks.gallery import GALLERY_FILE, PASSWORD, import_gallery, write_gallery
from tests.browser import started

LOGOS: Final = 3470
ROUNDS: Final = 5

# Records when the first card exists after a page is requested.
_FIRST_CARD: Final = """
const look = () => {
  if (document.querySelector(".card")) globalThis.firstCard = performance.now();
  else requestAnimationFrame(look);
};
look();
"""
_AFTER_FILES: Final = """() => {
  const files = performance.getEntriesByType("resource").filter((each) => /\\/console\\/~/.test(each.name));
  return firstCard - Math.max(...files.filter((each) => each.responseEnd < firstCard).map((each) => each.responseEnd));
}"""
_FRAMES_TO_FILTER: Final = """(letter) => new Promise((done) => {
  const field = document.querySelector("input.search, .search input, input[type=search]");
  const before = document.querySelector(".found").textContent;
  field.value += letter;
  let frames = 0;
  const look = () => {
    frames += 1;
    if (document.querySelector(".found").textContent !== before || frames > 60) done(frames);
    else requestAnimationFrame(look);
  };
  field.dispatchEvent(new InputEvent("input", { bubbles: true, data: letter }));
  requestAnimationFrame(look);
})"""
_FRAMES_A_SECOND: Final = """(speed) => new Promise((done) => {
  const whole = document.documentElement.scrollHeight - innerHeight;
  const end = speed ? Math.min(whole, speed * 4) : whole;
  const began = performance.now();
  let frames = 0;
  const step = () => {
    frames += 1;
    const gone = performance.now() - began;
    scrollTo({ top: Math.min(end, (end * gone) / 4000), behavior: "instant" });
    if (gone < 4000) requestAnimationFrame(step);
    else done((frames * 1000) / gone);
  };
  requestAnimationFrame(step);
})"""
_OPEN_EDITOR: Final = """async (css) => {
  const files = document.querySelector('script[src$="/app.js"]').src.replace(/app\\.js$/, "");
  const { openCode } = await import(files + "parts/css/css_code.js");
  const host = Object.assign(document.createElement("div"), { className: "css-editor-code" });
  document.body.append(host);
  const began = performance.now();
  openCode({ host, kind: "sheet", value: css, label: "CSS", disabled: false, onInput: () => undefined });
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const took = performance.now() - began;
  host.remove();
  return took;
}"""


def main() -> None:
    """Measure, and print each figure with its target."""
    with tempfile.TemporaryDirectory() as directory, _served(Path(directory)) as address, started() as chromium:
        with chromium.new_context(viewport={"width": 1280, "height": 800}) as context:
            context.route(lambda url: not url.startswith(address), lambda route: route.abort())
            page = context.new_page()
            page.add_init_script(_FIRST_CARD)
            _sign_in(page, address)
            _measure(page, address)
        for path, mark in (("logos", 60), ("themes", 60), ("authors", 60), ("logos/1", 240)):
            _show(f"bytes of {path}, compressed", _kilobytes(chromium, address, path), "KB", f"<= {mark}")


def _measure(page: Page, address: str) -> None:
    first = []
    for _ in range(ROUNDS):
        page.goto(f"{address}/console/logos")
        page.locator(".card").first.wait_for()
        first.append(page.evaluate(_AFTER_FILES))
    _show("first list after the page's files", sorted(first)[ROUNDS // 2], "ms", "<= 200")
    frames = [page.evaluate(_FRAMES_TO_FILTER, letter) for letter in "71"]
    _show("a keystroke to the filtered grid", max(frames), "frames", "<= 2")
    _measure_frames(page, address)
    css = ("a { background: url(https://a.example/x.png); color: #123456 }\n" * 5000)[:262_144]
    took = sorted(page.evaluate(_OPEN_EDITOR, css) for _ in range(ROUNDS))
    _show("opening 256 KB of CSS", took[ROUNDS // 2], "ms", "")


def _measure_frames(page: Page, address: str) -> None:
    """Print frame rates, with those of an idle page and of a plain page that scrolls: the upper bounds for any list."""
    reference = page.context.new_page()
    reference.set_content("<body style='height: 160000px; background: linear-gradient(red, blue)'>")
    reference.bring_to_front()
    _show("(frames of a page at rest)", reference.evaluate(_FRAMES_A_SECOND, 1), "frames/s", "")
    bare = reference.evaluate(_FRAMES_A_SECOND, 0)
    reference.close()
    page.goto(f"{address}/console/logos")
    page.locator(".card").first.wait_for()
    _show("(scrolling through as much of nothing)", bare, "frames/s", "")
    _show("scrolling through all", page.evaluate(_FRAMES_A_SECOND, 0), "frames/s", ">= 55")
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(500)
    _show("scrolling three screens a second", page.evaluate(_FRAMES_A_SECOND, 2400), "frames/s", ">= 55")


def _kilobytes(chromium: Browser, address: str, path: str) -> float:
    """Return the kilobytes that the first visit of a view transfers, without records."""
    with chromium.new_context() as context:
        page = context.new_page()
        _sign_in(page, address)
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        urls: dict[str, str] = {}
        sizes: dict[str, float] = {}
        session.on(
            "Network.requestWillBeSent", lambda event: urls.update({event["requestId"]: event["request"]["url"]})
        )
        session.on(
            "Network.loadingFinished", lambda event: sizes.update({event["requestId"]: event["encodedDataLength"]})
        )
        page.goto(f"{address}/console/{path}")
        page.wait_for_timeout(2000)
        return sum(size for request, size in sizes.items() if "/console/" in urls.get(request, "")) / 1024


def _sign_in(page: Page, address: str) -> None:
    page.goto(f"{address}/console/")
    page.locator("input").nth(0).fill("admin")
    page.locator("input[type=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.locator("nav a").first.wait_for()


def _show(name: str, value: float, unit: str, mark: str) -> None:
    print(f"{name:40} {value:8.1f} {unit:9} {mark}", flush=True)


@contextmanager
def _served(directory: Path) -> Iterator[str]:
    file = GALLERY_FILE or directory / "gallery.jsonl"
    if GALLERY_FILE is None:
        write_gallery(file, logos=LOGOS, themes=131)
    database = f"sqlite:///{directory / 'console.db'}"
    import_gallery(file, database)
    # With the bundle that make bench-console has built.
    (wheel,) = WheelBuilder(".").build(directory=str(directory), versions=["standard"])
    with ZipFile(wheel) as archive:
        archive.extractall(directory)
    environment: dict[str, Any] = {**os.environ, "LOGOADMIN_DATABASE": database, "LOGOADMIN_ADMIN_PASSWORD": PASSWORD}
    environment["PYTHONPATH"] = str(directory)
    command = [sys.executable, "-m", "logoadmin", "serve", "--port", "0"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("The console is at "):
                yield line.split()[-1].removesuffix("/console/")
                break
    finally:
        process.terminate()
        process.communicate()


if __name__ == "__main__":
    main()
