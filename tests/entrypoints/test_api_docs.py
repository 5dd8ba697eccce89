"""The page at /docs as served, and vendored files: as the manifest says, and the manifest as the locks say."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any
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
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@pytest.mark.parametrize("path", TYPES)
def test_every_file_comes_with_strict_headers_and_can_be_revalidated(app: ASGIApp, path: str) -> None:
    first = ask(app, "GET", path)
    assert (first.status_code, first.header("content-type")) == (200, TYPES[path])
    assert first.header("content-length") == str(len(first.body))
    assert first.header("content-security-policy") == POLICY
    assert first.header("x-content-type-options") == "nosniff"
    assert first.header("referrer-policy") == "no-referrer"
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
@pytest.mark.parametrize("path", ["/docs/", "/docs/?x=1"])
def test_the_page_is_found_with_a_slash_under_any_prefix(app: ASGIApp, path: str) -> None:
    for method in ("GET", "HEAD"):
        answered = ask(app, method, path)
        assert (answered.status_code, answered.header("location"), answered.body) == (307, "../docs", b"")
    for prefix in ("", "/gallery"):
        assert urljoin(f"https://host.example{prefix}{path}", "../docs") == f"https://host.example{prefix}/docs"


def test_swagger_ui_is_unmodified() -> None:
    listed = re.findall(r"^\| `(.+)` \| `(\w+)` \|$", (VENDORED / "README.md").read_text(), re.MULTILINE)
    assert len(listed) == 2
    for name, digest in listed:
        assert hashlib.sha256((VENDORED / name).read_bytes()).hexdigest() == digest


# The third-party files of the console.

VENDOR = ROOT / "src/logoadmin/entrypoints/console/vendor"
SWAGGER_README = ROOT / "src/logoadmin/entrypoints/http_api/swagger_ui/README.md"
NOTICE = (ROOT / "NOTICE").read_text(encoding="utf-8")
MANIFEST: dict[str, Any] = json.loads((VENDOR / "manifest.json").read_text(encoding="utf-8"))
LOCK: dict[str, Any] = json.loads((ROOT / "tools/console/package-lock.json").read_text(encoding="utf-8"))["packages"]


def test_the_manifest_has_every_module() -> None:
    assert set(MANIFEST) == {path.name for path in VENDOR.iterdir() if path.suffix in {".js", ".woff2"}}


@pytest.mark.parametrize("name", MANIFEST)
def test_a_vendored_module_is_unmodified(name: str) -> None:
    assert hashlib.sha512((VENDOR / name).read_bytes()).hexdigest() == MANIFEST[name]["sha512"], "run make vendor"


@pytest.mark.parametrize("name", MANIFEST)
def test_a_vendored_module_lists_its_packages_and_licences(name: str) -> None:
    licences = (VENDOR / name).with_suffix(".LICENSE.txt").read_text(encoding="utf-8")
    assert MANIFEST[name]["packages"]
    for package in MANIFEST[name]["packages"]:
        locked = LOCK[f"node_modules/{package['name']}"]
        assert package == {"name": package["name"], **{key: locked[key] for key in ("version", "license", "integrity")}}
        assert re.search(rf"(^|, ){re.escape(package['name'])} {re.escape(package['version'])}(,|$)", licences, re.M)


def test_packages_are_verified_by_hash_from_any_source() -> None:
    locked = {name: package for name, package in LOCK.items() if name}
    assert [name for name, package in locked.items() if "resolved" in package or "integrity" not in package] == []


def test_the_notice_lists_all_third_party_code_in_the_wheel() -> None:
    vendored = [
        (f"entrypoints/console/vendor/{module}", f"{package['name']} {package['version']}", package["license"])
        for module, entry in MANIFEST.items()
        for package in entry["packages"]
    ]
    swagger = re.search(r"swagger-ui-dist`? ([0-9.]+)", SWAGGER_README.read_text(encoding="utf-8"))
    assert swagger
    vendored.append(("entrypoints/http_api/swagger_ui/", f"swagger-ui-dist {swagger[1]}", "Apache-2.0"))
    vendored.append(("domain/identity/common_passwords.txt", "Django 5.2.19, list of passwords", "BSD-3-Clause"))
    vendored.append(("domain/identity/common_passwords.txt", "zxcvbn 4.5.0, list of passwords", "MIT"))
    listed = [tuple(re.split(r" {2,}", line)) for line in NOTICE.splitlines() if line.startswith(("entry", "domain/"))]
    assert sorted(listed) == sorted(vendored)
    assert all((ROOT / "src/logoadmin" / place).exists() for place, _, _ in vendored)
