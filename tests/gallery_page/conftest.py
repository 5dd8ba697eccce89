"""Pages for visitors in a browser that records everything that should not happen."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

Look = Callable[..., Page]


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
