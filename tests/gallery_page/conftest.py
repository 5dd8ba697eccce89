"""Pages for visitors in a browser that records everything that should not happen."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page

from tests.console.test_accessible import findings

Look = Callable[..., Page]
# Where axe looks: the widths for each language, and the options of a context.
WIDTHS: Final = {"en-GB": 1280, "ru-RU": 320}
SCHEMES: Final = ({"color_scheme": "light"}, {"color_scheme": "dark"}, {"forced_colors": "active"})


def assert_accessible(page: Page, width: int) -> None:
    """Require that axe finds nothing in a page with all its details, and that it does not scroll sideways."""
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true })")
    page.evaluate("Promise.all(document.getAnimations().map(({finished}) => finished)).then(() => undefined)")
    assert findings(page) == [], page.url
    assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url


@pytest.fixture
def look(chromium: Browser) -> Iterator[Look]:
    """Open an address in a new context; no script may fail there, and nothing may break the policy."""
    complaints: list[str] = []

    def opened(address: str, **options: Any) -> Page:
        page = stack.enter_context(chromium.new_context(**{"locale": "en-GB"} | options)).new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if "Policy" in said.text else None)
        page.goto(address)
        return page

    with ExitStack() as stack:
        yield opened
    assert complaints == []
