"""The page at /docs works in Chromium, with no network and under a strict policy.

Playwright keeps an event loop in the thread of these tests for as long as the browser runs: tests that bring one of
their own are in other modules.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Route, expect, sync_playwright

from logoadmin.domain.model.access import Policy
from logoadmin.entrypoints.http_api.openapi import openapi_document
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from tests.conftest import LONG
from tests.gallery import ADMIN_PASSWORD

pytestmark = pytest.mark.slow("a browser")

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The browser, for which no name leads anywhere."""
    found = shutil.which("chromium")
    if found is None and os.environ.get("LOGOADMIN_REQUIRE_CHROMIUM") == "1":
        pytest.fail("chromium is not installed")
    if found is None:
        pytest.skip("chromium is not installed")
    nowhere = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    expect.set_options(timeout=20_000)
    with sync_playwright() as playwright:
        # The sandbox does not start for root, and no page but ours is loaded.
        browser = playwright.chromium.launch(executable_path=found, args=[nowhere], chromium_sandbox=False)
        yield browser
        browser.close()


@contextmanager
def served(kind: str) -> Iterator[str]:
    """Serve a gallery in another process and yield the address."""
    command = [sys.executable, "-m", "tests.entrypoints.served", kind, "1", "warning", "127.0.0.1", "", ""]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.communicate(timeout=20)


class Watched:
    """A page, that can reach one address only, and all that it complains of."""

    def __init__(self, page: Page, address: str) -> None:
        """Watch a page before anything is loaded.

        Attributes:
            complaints: errors and warnings, violations of the policy, and requests to other addresses.
        """
        self._address = address
        self.page = page
        self.complaints: list[str] = []
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.expose_function("complain", lambda text: self.complaints.append(text))
        page.add_init_script(
            """addEventListener("securitypolicyviolation", (event) =>
                 complain(`${event.violatedDirective}: ${event.blockedURI} ${event.sample}`))"""
        )
        page.route("**/*", self._requested)

    def _said(self, message: ConsoleMessage) -> None:
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


@pytest.mark.rule("contract C1", "contract H6")
@pytest.mark.parametrize(("kind", "prefix"), [("gallery", ""), ("mounted", "/gallery"), ("behind a proxy", "/gallery")])
def test_the_page_signs_in_and_calls_in_a_browser(chromium: Browser, kind: str, prefix: str) -> None:
    with served(kind) as address, watched(chromium, address) as seen:
        page = seen.page
        page.goto(f"{address}{prefix}/docs")
        expect(page.locator(".opblock")).to_have_count(len(OPERATIONS))
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


@pytest.mark.rule("contract C5")
def test_the_page_takes_a_service_key(chromium: Browser) -> None:
    with served("gallery") as address, watched(chromium, address) as seen:
        page = seen.page
        key = service_key(address, "roles:read")
        page.goto(f"{address}/")
        assert page.url == f"{address}/docs"
        page.get_by_role("button", name="Authorize").click()
        dialog = page.locator(".dialog-ux .modal-ux")
        dialog.get_by_label("auth-bearer-value").fill(key)
        dialog.get_by_role("button", name="Apply credentials").click()
        dialog.get_by_role("button", name="Close", exact=True).first.click()
        block = page.locator("[id$='-list_roles']")
        block.locator(".opblock-summary-control").click()
        block.get_by_role("button", name="Try it out").click()
        block.get_by_role("button", name="Execute").click()
        answer = block.locator(".live-responses-table")
        expect(answer.locator("tbody .response-col_status")).to_have_text("200")
        expect(answer).to_contain_text('"role_id": 1')
        assert seen.complaints == []


def service_key(address: str, *scope: str) -> str:
    """Return a new service key of the administrator."""

    def posted(path: str, body: dict[str, object], token: str = "") -> dict[str, str]:
        headers = {"content-type": "application/json", **({"authorization": f"Bearer {token}"} if token else {})}
        request = urllib.request.Request(f"{address}{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request) as answer:
            found: dict[str, str] = json.load(answer)
        return found

    tokens = posted("/api/auth/token", {"username": "admin", "password": ADMIN_PASSWORD})
    return posted("/api/auth/keys", {"name": "a page", "scope": scope}, tokens["access_token"])["key"]


@pytest.mark.rule("contract D logos")
def test_the_patterns_of_the_document_mean_the_same_in_a_browser(chromium: Browser) -> None:
    text = json.dumps(openapi_document(Policy.OPEN))
    patterns = sorted({json.loads(f'"{found}"') for found in re.findall(r'"pattern": "((?:\\.|[^"\\])*)"', text)})
    assert len(patterns) == 3
    tried = [
        *("https://example.org/a.png", "HTTP://x", "http://x/?#a", "http://пример.example/я", "http://x?y"),
        *("", "ftp://x", "http://", "http:///x", "http://a b", "http://a\\b", "//x", "http://x/\x7f", "http://x\n"),
        *("logos:write", "*", 'a"b', "a b", "a\\b", "a\0b", "~!#", "é"),
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


def test_operations_and_schemas_open_under_the_policy(chromium: Browser) -> None:
    # A list with its filters, bodies, ids: the other operations show nothing else, and each takes the page a second.
    paths = r"/api/logos.*" if LONG else r"/api/logos(/\{logo_id\})?"
    logos = [operation for operation in OPERATIONS if re.fullmatch(paths, operation.path)]
    with served("gallery") as address, watched(chromium, address) as seen:
        seen.page.goto(f"{address}/docs")
        for what in (".opblock-summary-control", ".try-out__btn"):
            buttons = seen.page.locator(", ".join(f"[id$='-{operation.name}'] {what}" for operation in logos))
            expect(buttons).to_have_count(len(logos))
            buttons.evaluate_all("all => all.forEach(each => each.click())")
        expect(seen.page.locator(".opblock.is-open .execute")).to_have_count(len(logos))
        seen.page.locator("section.models .json-schema-2020-12-accordion").last.click()
        expect(seen.page.locator("section.models .json-schema-2020-12-property").first).to_be_visible()
        assert seen.complaints == []


def test_a_violation_of_the_policy_would_be_seen(chromium: Browser) -> None:
    with served("gallery") as address, watched(chromium, address) as seen:
        seen.page.goto(f"{address}/docs")
        seen.page.evaluate("""() => {
            document.body.setAttribute("style", "color: red");
            document.body.append(Object.assign(document.createElement("script"), { text: "0" }));
            return fetch("http://example.org/").catch(() => 0);
        }""")
        expect(seen.page.locator(".opblock")).to_have_count(len(OPERATIONS))
        violated = {complaint.split(":")[0] for complaint in seen.complaints}
        assert violated >= {"style-src-attr", "script-src-elem", "connect-src"}
        with pytest.raises(Error):
            seen.page.goto("http://127.0.0.1:1/")
        assert "request to http://127.0.0.1:1/" in seen.complaints
