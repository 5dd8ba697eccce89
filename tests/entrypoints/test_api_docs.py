"""The page at /docs: what is sent, and that it works in Chromium, with no network and under a strict policy."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import ConsoleMessage, Error, Page, Route, expect, sync_playwright
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp

from logoadmin.entrypoints.operations import OPERATIONS
from tests.asgi import ask
from tests.gallery import ADMIN_PASSWORD

ROOT = Path(__file__).parents[2]
VENDORED = ROOT / "src/logoadmin/entrypoints/http_api/swagger_ui"
TYPES = {
    "/docs": "text/html; charset=utf-8",
    "/docs/initializer.js": "text/javascript; charset=utf-8",
    "/docs/swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "/docs/swagger-ui.css": "text/css; charset=utf-8",
}
EVERY_FILE = pytest.mark.parametrize("path", TYPES)
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "img-src": "'self' data:",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}


@EVERY_FILE
def test_every_file_comes_with_strict_headers(app: ASGIApp, path: str) -> None:
    answered = ask(app, "GET", path)
    assert (answered.status_code, answered.header("content-type")) == (200, TYPES[path])
    assert answered.header("content-length") == str(len(answered.body))
    policy = answered.header("content-security-policy") or ""
    assert dict(directive.split(maxsplit=1) for directive in policy.split(";")) == POLICY
    assert answered.header("x-content-type-options") == "nosniff"
    assert answered.header("referrer-policy") == "no-referrer"


@EVERY_FILE
@pytest.mark.rule("contract F2")
def test_the_page_is_not_kept_and_what_it_loads_is_asked_for_again(app: ASGIApp, path: str) -> None:
    kept = ask(app, "GET", path).header("cache-control")
    assert kept == ("no-store" if path == "/docs" else "no-cache")


@EVERY_FILE
def test_a_browser_need_not_load_a_file_twice(app: ASGIApp, path: str) -> None:
    first = ask(app, "GET", path)
    etag = first.header("etag") or ""
    for known in (etag, f'"x", W/{etag}'):
        again = ask(app, "GET", path, headers=[("if-none-match", known)])
        assert (again.status_code, again.body, again.header("etag")) == (304, b"", etag)
    assert ask(app, "GET", path, headers=[("if-none-match", '"x"')]).body == first.body


@EVERY_FILE
@pytest.mark.rule("contract A21")
def test_the_page_is_read_only(app: ASGIApp, path: str) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        answered = ask(app, method, path)
        assert (answered.status_code, answered.header("allow")) == (405, "GET, HEAD")
        assert answered.json() == {"detail": "Method Not Allowed"}
    get, head = ask(app, "GET", path), ask(app, "HEAD", path)
    assert (head.status_code, head.headers, head.body) == (200, get.headers, b"")


@pytest.mark.rule("contract A21")
@pytest.mark.parametrize(
    "name",
    [
        *("", "index.html", "README.md", "LICENSE", "NOTICE", "swagger-ui.css/", "swagger-ui.css%0A", "Swagger-UI.css"),
        *("../api_docs.py", "..%2Fapi_docs.py", "%2e%2e/api_docs.py", "./swagger-ui.css", "/swagger-ui.css", "x"),
    ],
)
def test_no_other_file_is_served(app: ASGIApp, name: str) -> None:
    answered = ask(app, "GET", f"/docs/{name}")
    assert (answered.status_code, answered.json()) == (404, {"detail": "Not Found"})


def test_the_page_is_found_under_a_prefix(app: ASGIApp) -> None:
    host = Starlette(routes=[Mount("/gallery", app)])
    for path in TYPES:
        assert ask(host, "GET", f"/gallery{path}").body == ask(app, "GET", path).body
    assert ask(host, "GET", "/docs").status_code == 404


def test_swagger_ui_is_as_it_was_published() -> None:
    listed = re.findall(r"^\| `(.+)` \| `(\w+)` \|$", (VENDORED / "README.md").read_text(), re.MULTILINE)
    assert len(listed) == 2
    for name, digest in listed:
        assert hashlib.sha256((VENDORED / name).read_bytes()).hexdigest() == digest


# In Chromium.


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the browser."""
    found = shutil.which("chromium")
    if found is not None:
        return found
    if os.environ.get("LOGOADMIN_REQUIRE_CHROMIUM") == "1":
        pytest.fail("chromium is not installed")
    pytest.skip("chromium is not installed")


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
def watched(chromium: str, address: str) -> Iterator[Watched]:
    """Start the browser, for which no name leads anywhere."""
    nowhere = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    expect.set_options(timeout=20_000)
    with sync_playwright() as playwright:
        # The sandbox does not start for root, and no page but ours is loaded.
        browser = playwright.chromium.launch(executable_path=chromium, args=[nowhere], chromium_sandbox=False)
        yield Watched(browser.new_page(), address)
        browser.close()


@pytest.mark.rule("contract C1", "contract H6")
@pytest.mark.parametrize(("kind", "prefix"), [("gallery", ""), ("mounted", "/gallery"), ("behind a proxy", "/gallery")])
def test_the_page_signs_in_and_calls_in_a_browser(chromium: str, kind: str, prefix: str) -> None:
    with served(kind) as address, watched(chromium, address) as seen:
        page = seen.page
        page.goto(f"{address}{prefix}/docs")
        expect(page.locator(".opblock")).to_have_count(len(OPERATIONS))
        methods = page.locator(".opblock-summary-method").all_inner_texts()
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


def test_operations_and_schemas_open_under_the_policy(chromium: str) -> None:
    logos = [operation for operation in OPERATIONS if operation.path.startswith("/api/logos")]
    with served("gallery") as address, watched(chromium, address) as seen:
        seen.page.goto(f"{address}/docs")
        for what in (".opblock-summary-control", ".try-out__btn"):
            buttons = seen.page.locator(f"[id^=operations-logos-] {what}")
            expect(buttons).to_have_count(len(logos))
            buttons.evaluate_all("all => all.forEach(each => each.click())")
        expect(seen.page.locator(".opblock.is-open .execute")).to_have_count(len(logos))
        seen.page.locator("section.models .json-schema-2020-12-accordion").last.click()
        expect(seen.page.locator("section.models .json-schema-2020-12-property").first).to_be_visible()
        assert seen.complaints == []


def test_a_violation_of_the_policy_would_be_seen(chromium: str) -> None:
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
