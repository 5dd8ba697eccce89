"""The modules of the console in an empty page, and the whole console with a person who uses it."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints import app
from logoadmin.entrypoints.console import routes
from logoadmin.entrypoints.http_api.openapi import openapi_document
from tests import browser
from tests.bundle import BUNDLED, write_bundle
from tests.console.driver import Person, looking
from tests.console.service import Served, admit, served

CONSOLE = Path(__file__).parents[2] / "src/logoadmin/entrypoints/console"
PLACE = "http://127.0.0.1:1"
# The names that tests import from the page.
OPENED = (
    *("client.js", "router.js", "texts.js", "vendor/codemirror.js", "vendor/preact.js"),
    *("parts/css/css_editor.js", "parts/css/css_hosts.js", "parts/css/css_preview.js"),
    "parts/factors/enrolment.js",
)

# Calls an exported function by the names of the module and function, with arguments.
Module = Callable[[str, str, Any], Any]


def _answer(route: Route) -> None:
    path = urlsplit(route.request.url).path
    if path == "/":
        route.fulfill(content_type="text/html", body="<!doctype html><title>Modules</title>")
    else:
        route.fulfill(path=CONSOLE / path[1:], content_type="text/javascript")


@pytest.fixture(scope="package", autouse=True)
def _form(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Serve the console as a bundle if ``LOGOADMIN_TEST_BUNDLE`` says so, or else as plain modules."""
    with pytest.MonkeyPatch.context() as patch:
        # Each test has its own service; all have the same interface, and describing it takes half a second.
        patch.setattr(app, "openapi_document", lru_cache(4)(openapi_document))
        if BUNDLED:
            patch.setattr(routes, "DIRECTORY", write_bundle(tmp_path_factory.mktemp("bundle") / "console", *OPENED))
        yield


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser for all these tests: each has a window that shares nothing with any other."""
    with browser.started() as found:
        yield found


@pytest.fixture(scope="module")
def module(chromium: Browser) -> Iterator[Module]:
    """Call functions of modules with values; no service is needed for that."""
    with chromium.new_context() as context:
        page = context.new_page()
        page.route("**/*", _answer)
        page.goto(f"{PLACE}/")
        source = "async ([path, name, values]) => (await import(path))[name](...values)"
        yield lambda path, name, values: page.evaluate(source, [f"/{path}", name, values])


@pytest.fixture
def service() -> Iterator[Served]:
    """A guarded gallery with sample records, which the test may change as it likes."""
    with served() as found:
        yield found


@pytest.fixture
def gallery(service: Served) -> LogoAdmin:
    """The gallery of the service, with a member."""
    admit(service.gallery)
    return service.gallery


@pytest.fixture
def console(chromium: Browser, service: Served) -> Iterator[Person]:
    """An empty window; at the end, it checks for complaints."""
    with looking(chromium, service) as person:
        yield person


@pytest.fixture
def page(console: Person) -> Page:
    """The page in the window."""
    return console.page
