"""The page at /docs works in Chromium, with no network and under a strict policy."""

import json
import re
from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from logoadmin.domain.kernel.access import Policy
from logoadmin.entrypoints.http_api.openapi import openapi_document
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from tests.browser import served, watched
from tests.gallery import ADMIN_PASSWORD

pytestmark = pytest.mark.slow("a browser")

# Rendering all operations takes the page seconds, many on a busy machine.
RENDERED: Final = 90_000  # milliseconds


@pytest.mark.rule("contract C1", "contract H6")
@pytest.mark.parametrize(("kind", "prefix"), [("gallery", ""), ("behind a proxy", "/gallery")])
def test_the_page_signs_in_and_calls_in_a_browser(chromium: Browser, kind: str, prefix: str) -> None:
    with served(kind) as address, watched(chromium, address) as seen:
        page = seen.page
        page.goto(f"{address}{prefix}/docs")
        expect(page.locator(".opblock")).to_have_count(len(OPERATIONS), timeout=RENDERED)
        methods = page.locator(".opblock-summary-method").all_text_contents()
        paths = page.locator(".opblock [data-path]").evaluate_all("all => all.map(each => each.dataset.path)")
        assert sorted(zip(methods, paths, strict=True)) == sorted((each.method, each.path) for each in OPERATIONS)

        page.get_by_role("button", name="Authorize").click()
        dialog = page.locator(".dialog-ux .modal-ux")
        dialog.get_by_label("username").fill("admin")
        dialog.get_by_label("password").fill(ADMIN_PASSWORD)
        dialog.get_by_role("button", name="Apply given OAuth2 credentials").click()
        expect(dialog.get_by_role("button", name="Remove authorization")).to_be_visible()
        dialog.get_by_role("button", name="Close", exact=True).first.click()

        (operation,) = (each for each in OPERATIONS if each.route == "GET /api/roles")
        block = page.locator(f"[id$='-{operation.name}']")
        block.locator(".opblock-summary-control").click()
        block.get_by_role("button", name="Try it out").click()
        block.get_by_role("button", name="Execute").click()
        answer = block.locator(".live-responses-table")
        expect(answer.locator("tbody .response-col_status")).to_have_text("200")
        expect(answer).to_contain_text('"role_id": 1')
        expect(block.locator(".request-url")).to_contain_text(f"{address}{prefix}/api/roles")
        assert seen.complaints == []


@pytest.mark.rule("contract D logos")
def test_the_patterns_of_the_document_match_alike_in_a_browser(chromium: Browser) -> None:
    text = json.dumps(openapi_document(Policy.OPEN))
    patterns = sorted({json.loads(f'"{found}"') for found in re.findall(r'"pattern": "((?:\\.|[^"\\])*)"', text)})
    assert len(patterns) == 14
    tried = [
        *("https://example.org/a.png", "HTTP://x", "http://x/?#a", "http://пример.example/я", "http://x?y"),
        *("", "ftp://x", "http://", "http:///x", "http://a b", "http://a\\b", "//x", "http://x/\x7f", "http://x\n"),
        *("#3355cc", "#35c", "#3355cg", "logos:write", "*", 'a"b', "a b", "a\\b", "a\0b", "~!#", "é"),
        *("i.example", "*.i.example:8443", "i.example:123456", "*.", "i..example", "i.example\n", "I.example"),
        *("logos", "logos?active=no", "logos?q=a b", "/logos", "https://ann@x/", "https://ann:b@x/"),
        *("287082", "28708", "287082\n", "\uff12" * 6, "0a" * 32, "0A" * 32, "Zk3v_-", "Zk3v+/", "a.b~c", "a.b\n"),
        *("a,b", "a\u200bb", "a b", "aurora-17"),
    ]
    with chromium.new_context() as context:
        for flags in ("v", "u", ""):
            found = context.new_page().evaluate(
                """([patterns, flags, tried]) => patterns.map((pattern) => {
                    const compiled = new RegExp(pattern, flags);
                    return tried.map((text) => compiled.test(text));
                })""",
                [patterns, flags, tried],
            )
            # Python's `$` would let a newline follow.
            wanted = [[bool(re.search(p.removesuffix("$") + r"\Z", text)) for text in tried] for p in patterns]
            assert found == wanted, flags
