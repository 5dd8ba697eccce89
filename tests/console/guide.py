"""The pictures in the docs, all from the demo: ``make pictures`` takes them again, into docs/pictures (contract Q4).

Their contents are drawn by code, and the same each time; fonts are those of the machine.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, expect

from tests import browser
from tests.services import ROOT, service

FOLDER: Final = ROOT / "docs/pictures"
# Those that also exist in dark mode, as NAME-dark.png.
DARK: Final = ("page", "review")
_PASSWORD: Final = "a password for pictures"


def take(page: Page, address: str) -> None:
    """Take the pictures."""

    def shown(name: str, path: str, ready: str, then: Callable[[], object] = lambda: None) -> None:
        page.goto(f"{address}/{path}")
        expect(page.locator(ready).first).to_be_visible()
        then()
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(1000)  # pictures in frames and backgrounds have no load event
        page.screenshot(path=FOLDER / f"{name}.png")
        if name in DARK:
            page.emulate_media(color_scheme="dark")
            page.wait_for_timeout(1000)
            page.screenshot(path=FOLDER / f"{name}-dark.png")
            page.emulate_media(color_scheme="light")

    def sign_in() -> None:
        form = page.locator(".sign-in form")
        form.locator("[name=username]").fill("admin")
        form.locator("[name=password]").fill(_PASSWORD)
        form.locator("[name=password]").press("Enter")
        expect(page.locator(".sidebar")).to_be_visible()

    shown("page", "gallery/", ".cards img")
    shown("work", "gallery/themes/3/", "h1:visible")
    shown("logos", "console/logos", ".sign-in form", sign_in)
    shown("logo", "console/logos/1", ".sidebar")
    shown("review", "console/submissions/3", ".preview-frame")
    shown("history", "console/history", ".disclosure-head")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        demo = service(Path(place), "--demo", LOGOADMIN_ADMIN_PASSWORD=_PASSWORD)
        with demo as found, browser.started() as chromium, chromium.new_context(locale="en-GB") as context:
            opened = context.new_page()
            opened.set_viewport_size({"width": 1120, "height": 720})
            take(opened, found.address.replace("127.0.0.1", "localhost"))
