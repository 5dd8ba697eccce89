"""nginx for a published gallery, with the configuration of deploy/: names, header fields, and what it never serves."""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from logoadmin.entrypoints.http_api.gallery import PAGE_POLICY, PICTURE_FIELDS
from tests.deploy.nginx import Front, nginx_for_folder
from tests.services import Answer

pytestmark = [pytest.mark.slow("nginx is started"), pytest.mark.rule("contract K6", "contract L2")]

INDEX: Final = b'{"logos":[%s]}' % b",".join(b'{"logo_id":%d}' % number for number in range(500))
SHEET: Final = ".käse { color: red }".encode()
HASH: Final = "0123456789abcdef"
IMMUTABLE: Final = "public, max-age=31536000, immutable"
BRIEFLY: Final = "public, max-age=300"
# Every kind of file, with its content and its header fields.
FILES: Final = {
    "latest.json": (b'{"payload":"a"}', "application/json", "public, max-age=60, stale-if-error=604800"),
    f"12-{HASH}.json": (INDEX, "application/json", IMMUTABLE),
    f"withdrawn-{HASH}.json": (b"{}", "application/json", IMMUTABLE),
    f"css/{HASH * 4}.css": (SHEET, "text/css; charset=utf-8", IMMUTABLE),
    f"pictures/{HASH * 4}.webp": (b"RIFF", "image/webp", IMMUTABLE),
    f"pictures/{HASH * 4}-320.webp": (b"RIFF", "image/webp", IMMUTABLE),
    "reader.js": (b"export {}", "text/javascript; charset=utf-8", "public, max-age=86400"),
    "index.html": (b"<title>Gallery</title>", "text/html; charset=utf-8", BRIEFLY),
    "page.js": (b"export {}", "text/javascript; charset=utf-8", BRIEFLY),
    "page-list.js": (b"export {}", "text/javascript; charset=utf-8", BRIEFLY),
    "page.css": (SHEET, "text/css; charset=utf-8", BRIEFLY),
    "page-face.woff2": (b"wOF2", "font/woff2", BRIEFLY),
    "page-face-accented.woff2": (b"wOF2", "font/woff2", BRIEFLY),
    "feed.xml": (b"<feed/>", "application/atom+xml", BRIEFLY),
    "sitemap.xml": (b"<urlset/>", "application/xml", BRIEFLY),
    "logos/12.user.css": (SHEET, "text/css; charset=utf-8", BRIEFLY),
    "themes/12.user.css": (SHEET, "text/css; charset=utf-8", BRIEFLY),
}
# The folders of pages.
PAGES: Final = ("themes/12", "logos/crown-1.2", "authors/3", "checks")
# Files next to them that must not be served, and names of missing files.
HIDDEN: Final = (
    *(".publication.json", f".12-{HASH}.json.x7", "notes.json", "css/a.css", f"css/.{HASH * 4}.css", "12-0.json"),
    *("logos/a.user.css", "themes/.12.user.css.x7", "pictures/a.webp", f"pictures/.{HASH * 4}.webp.x7"),
)
NONE: Final = (
    *("css/", "%2e%2e/secret.json", "..%2fsecret.json", "latest.json/", "LATEST.JSON", "latest.json%00"),
    *("themes/7", "themes/7/", "themes/12%0d%0aX-A:b", "authors/3/a", "themes/.12/"),
    *(f"12-{HASH}.json/css", "css/..%2flatest.json%2f", "logos/", "index.html/"),
    "a" * 3000,
)


@dataclass(frozen=True)
class Static:
    """A folder, and nginx in front of it."""

    folder: Path
    proxy: Front

    def ask(self, path: str, method: str = "GET", /, **headers: str) -> Answer:
        return self.proxy.ask(method, f"/{path}", **headers)


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Static]:
    root = tmp_path_factory.mktemp("published")
    (root / "secret.json").write_text("{}")
    folder = root / "gallery"
    for name in ("css", "pictures", *PAGES):
        (folder / name).mkdir(parents=True)
    texts = {f"{name}/index.html": f"<title>{name}</title>".encode() for name in PAGES}
    bodies = {name: body for name, (body, *_) in FILES.items()} | dict.fromkeys(HIDDEN, b"{}")
    for name, content in {**bodies, **texts}.items():
        (folder / name).write_bytes(content)
    with nginx_for_folder(tmp_path_factory.mktemp("nginx"), folder) as proxy:
        yield Static(folder, proxy)


@pytest.mark.parametrize("name", FILES)
def test_each_file_has_its_media_type_and_is_cacheable_for_its_lifetime(static: Static, name: str) -> None:
    body, media_type, cache_control = FILES[name]
    got = static.ask(name)
    assert (got.status, got.body) == (200, body)
    names = ("Content-Type", "Access-Control-Allow-Origin", "X-Content-Type-Options")
    assert [got.headers[name] for name in names] == [media_type, "*", "nosniff"]
    assert got.headers.get_all("Cache-Control") == [cache_control]
    unchanged = static.ask(name, If_None_Match=got.headers["ETag"])
    assert (unchanged.status, unchanged.body, unchanged.headers["Cache-Control"]) == (304, b"", cache_control)
    head = static.ask(name, "HEAD")
    assert (head.status, head.body, head.headers["ETag"]) == (200, b"", got.headers["ETag"])


@pytest.mark.rule("contract Q2")
def test_the_page_has_the_policy_of_the_service(static: Static) -> None:
    page = static.ask("")
    assert (page.status, page.body) == (200, FILES["index.html"][0])
    names = ("Cache-Control", "Content-Security-Policy", "Referrer-Policy")
    assert [page.headers[name] for name in names] == [BRIEFLY, PAGE_POLICY, "no-referrer"]
    assert static.ask("index.html").headers["Content-Security-Policy"] == PAGE_POLICY
    assert static.ask("latest.json").headers["Content-Security-Policy"] is None


@pytest.mark.rule("contract Q1")
@pytest.mark.parametrize("name", PAGES)
def test_works_and_authors_have_pages_with_the_policy_of_the_service(static: Static, name: str) -> None:
    page = static.ask(f"{name}/")
    assert (page.status, page.body) == (200, f"<title>{name}</title>".encode())
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert (page.headers["Cache-Control"], page.headers["Content-Security-Policy"]) == (BRIEFLY, PAGE_POLICY)
    assert static.ask(f"{name}/", If_None_Match=page.headers["ETag"]).status == 304
    if "." not in name:
        moved = static.ask(name)
        assert (moved.status, moved.headers["Location"]) == (307, f"/gallery/{name}/")


@pytest.mark.rule("contract P2")
def test_a_picture_has_the_fields_of_the_service(static: Static) -> None:
    picture = static.ask(f"pictures/{HASH * 4}.webp")
    for name in ("Content-Security-Policy", "Cross-Origin-Resource-Policy"):
        assert picture.headers[name] == dict(PICTURE_FIELDS)[name.lower().encode()].decode()


def test_the_index_is_compressed_and_can_be_revalidated_by_its_etag(static: Static) -> None:
    name = f"12-{HASH}.json"
    got = static.ask(name, Accept_Encoding="gzip")
    assert (got.headers["Content-Encoding"], got.headers["Vary"]) == ("gzip", "Accept-Encoding")
    assert gzip.decompress(got.body) == INDEX
    assert static.ask(name, Accept_Encoding="gzip", If_None_Match=got.headers["ETag"]).status == 304


@pytest.mark.parametrize("path", [*HIDDEN, *NONE])
def test_nothing_else_is_served_or_cached(static: Static, path: str) -> None:
    refused = static.ask(path)
    assert refused.status in {400, 404}
    assert b"{}" not in refused.body
    if refused.status == 404:  # the rest is not HTTP to nginx
        assert refused.headers["Cache-Control"] == "no-store"
        assert (refused.headers["Content-Type"], refused.body) == ("application/json", b'{"detail": "Not Found"}')


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_written(static: Static, method: str) -> None:
    assert static.ask("latest.json", method).status == 405
    assert (static.folder / "latest.json").read_bytes() == FILES["latest.json"][0]


def test_other_origins_may_send_an_etag(static: Static) -> None:
    asked = static.ask("latest.json", "OPTIONS", Origin="https://a.example", Access_Control_Request_Method="GET")
    assert asked.status == 204
    allowed = ("Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers")
    assert [asked.headers[name] for name in allowed] == ["*", "GET, HEAD", "If-None-Match"]
    assert static.ask("latest.json").headers["Access-Control-Allow-Methods"] is None
