"""Chromium for the tests: a service that it opens, and the errors and warnings of pages."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, ConsoleMessage, Page, Route, expect, sync_playwright

from tests.options import skip_without
from tests.services import start_application


@contextmanager
def started() -> Iterator[Browser]:
    """Start the browser, in which no name resolves; without one, skip the test, or fail it if it is required.

    Debian has a variant without windows, which opens a page in a fifth of the time.

    Playwright keeps an event loop in the thread for as long as it runs, so tests with their own event loop are in other
    modules.
    """
    found = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if found is None:
        skip_without("CHROMIUM", "chromium is not installed")
    nowhere = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
    expect.set_options(timeout=20_000)
    with sync_playwright() as playwright:
        # The sandbox does not start for root, and only our own pages are loaded.
        browser = playwright.chromium.launch(executable_path=found, args=[nowhere], chromium_sandbox=False)
        yield browser
        browser.close()


@contextmanager
def served(kind: str) -> Iterator[str]:
    """Serve a gallery in another process, and yield the address."""
    served = start_application(kind)
    try:
        yield served.address
    finally:
        served.kill()  # it would wait for connections that the browser keeps open


class Watched:
    """A page that can reach only one address, with its complaints."""

    def __init__(self, page: Page, address: str) -> None:
        """Watch a page before anything is loaded.

        Attributes:
            complaints: errors and warnings, violations of the policy, and requests to other addresses.
        """
        self._address = address
        self.page = page
        self.complaints: list[str] = []
        page.on("console", self._logged)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.expose_function("complain", lambda text: self.complaints.append(text))
        page.add_init_script(
            """addEventListener("securitypolicyviolation", (event) =>
                 complain(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`))"""
        )
        page.route("**/*", self._requested)

    def _logged(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _requested(self, route: Route) -> None:
        url = route.request.url
        if url.startswith((f"{self._address}/", "data:")):
            route.continue_()
        else:
            self.complaints.append(f"request to {url}")
            route.abort()


@contextmanager
def watched(chromium: Browser, address: str) -> Iterator[Watched]:
    """Open a page in a new context, which shares nothing with any other."""
    with chromium.new_context() as context:
        yield Watched(context.new_page(), address)
