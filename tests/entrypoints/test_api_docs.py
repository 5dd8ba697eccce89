"""The page at /docs as served; test_browser opens it in a browser."""

import hashlib
import re
from pathlib import Path
from urllib.parse import urljoin

import pytest
from starlette.types import ASGIApp

from tests.asgi import ask

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
def test_a_browser_can_revalidate_a_file(app: ASGIApp, path: str) -> None:
    first = ask(app, "GET", path)
    etag = first.header("etag") or ""
    for known in (etag, f'"x", W/{etag}'):
        again = ask(app, "GET", path, headers=[("if-none-match", known)])
        assert (again.status_code, again.body, again.header("etag")) == (304, b"", etag)
    assert ask(app, "GET", path, headers=[("if-none-match", '"x"')]).body == first.body


@pytest.mark.rule("contract A21")
@pytest.mark.parametrize(
    "name",
    [
        *("index.html", "README.md", "LICENSE", "NOTICE", "swagger-ui.css/", "swagger-ui.css%0A", "Swagger-UI.css"),
        *("../documents.py", "..%2Fdocuments.py", "%2e%2e/documents.py", "./swagger-ui.css", "/swagger-ui.css", "x"),
    ],
)
def test_no_other_file_is_served(app: ASGIApp, name: str) -> None:
    answered = ask(app, "GET", f"/docs/{name}")
    assert (answered.status_code, answered.json()) == (404, {"detail": "Not Found"})


@pytest.mark.rule("contract A21", "contract H6")
@pytest.mark.parametrize(("path", "location"), [("/docs/", "../docs"), ("/docs/?x=1", "../docs")])
def test_the_page_is_found_with_a_slash_under_any_prefix(app: ASGIApp, path: str, location: str) -> None:
    for method in ("GET", "HEAD"):
        answered = ask(app, method, path)
        assert (answered.status_code, answered.header("location"), answered.body) == (307, location, b"")
    assert urljoin(f"https://host.example{path}", location) == "https://host.example/docs"
    assert urljoin(f"https://host.example/gallery{path}", location) == "https://host.example/gallery/docs"


def test_swagger_ui_is_unmodified() -> None:
    listed = re.findall(r"^\| `(.+)` \| `(\w+)` \|$", (VENDORED / "README.md").read_text(), re.MULTILINE)
    assert len(listed) == 2
    for name, digest in listed:
        assert hashlib.sha256((VENDORED / name).read_bytes()).hexdigest() == digest
