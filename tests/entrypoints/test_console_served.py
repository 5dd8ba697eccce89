"""How the console is served; tests/console opens it in a browser."""

import gzip
import html
import itertools
import json
import os
import re
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin
from zipfile import ZipFile

import brotli
import pytest
from hatchling.builders.wheel import WheelBuilder
from starlette.types import ASGIApp

import logoadmin
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.publication.publication_records import Page
from logoadmin.domain.publication.shared_settings import AmendSettings
from logoadmin.entrypoints.console import routes
from tests.asgi import AppResponse, ask
from tests.bundle import write_bundle
from tests.gallery import FrozenClock, WatchedStorage, gallery_on

ROOT = Path(__file__).parents[2]
CONSOLE = ROOT / "src/logoadmin/entrypoints/console"
PAGES = ("/console/", "/console/logos", "/console/logos/12", "/console/logos/", "/console/such/a/view/is/not?q=a.b")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src http: https: blob:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


def directives(answered: AppResponse) -> dict[str, str]:
    policy = answered.header("content-security-policy") or ""
    return dict(directive.strip().split(maxsplit=1) for directive in policy.split(";"))


def files(app: ASGIApp) -> str:
    found = re.search(r'src="\./(~[0-9a-f]+/)app\.js"', ask(app, "GET", "/console/").text)
    assert found is not None
    return f"/console/{found[1]}"


@pytest.mark.rule("contract J2")
@pytest.mark.parametrize("path", PAGES)
def test_the_page_comes_with_a_strict_policy(app: ASGIApp, path: str) -> None:
    page = ask(app, "GET", path)
    assert (page.status_code, page.header("content-type")) == (200, "text/html; charset=utf-8")
    names = ("content-security-policy", "referrer-policy", "x-content-type-options", "set-cookie")
    assert [page.header(name) for name in names] == [POLICY, "no-referrer", "nosniff", None]
    cross_origin = [page.header(f"cross-origin-{name}-policy") for name in ("opener", "embedder")]
    assert cross_origin == ["same-origin", "credentialless"]


@pytest.mark.rule("contract J1")
def test_every_view_finds_the_files_under_any_prefix(app: ASGIApp) -> None:
    found = set()
    for path in PAGES:
        named = re.findall(r'(?:href|src)="([^"]+)"', ask(app, "GET", path).text)
        assert len(named) >= 3
        for prefix, reference in itertools.product(("", "/gallery", "/a/b"), named):
            address = urljoin(f"http://host.example{prefix}{path}", reference)
            assert address.startswith(f"http://host.example{prefix}/console/~"), (path, prefix)
            found.add(address.removeprefix(f"http://host.example{prefix}"))
    for address in found:
        assert ask(app, "GET", address).status_code == 200, address


@pytest.mark.rule("contract J5")
def test_the_page_preloads_its_typeface_which_is_already_compressed(app: ASGIApp) -> None:
    page = ask(app, "GET", "/console/logos")
    (link,) = re.findall(r'<link rel="preload" as="font" type="font/woff2" crossorigin href="([^"]+)">', page.text)
    face = ask(app, "GET", urljoin("/console/logos", link), headers=[("accept-encoding", "gzip, br")])
    assert (face.status_code, face.header("content-type"), face.header("content-encoding")) == (200, "font/woff2", None)
    assert face.body.startswith(b"wOF2")


@pytest.mark.rule("contract J1", "contract A21")
def test_paths_that_are_neither_files_nor_views_are_not_found(app: ASGIApp) -> None:
    here = files(app)
    for path in (
        *(f"{here}missing.js", f"{here}index.html", f"{here}routes.py", f"{here}../app.js", f"{here}", here[:-1]),
        *("/console/app.js", "/console/pages/artworks.js", "/console/~0/missing.js", "/console/%2e%2e/routes.py"),
    ):
        missing = ask(app, "GET", path)
        assert (missing.status_code, missing.json()) == (404, {"detail": "Not Found"}), path


@pytest.mark.rule("contract J1")
def test_a_new_version_is_seen_at_once_and_loaded_once(app: ASGIApp) -> None:
    page = ask(app, "GET", "/console/logos")
    assert page.header("cache-control") == "no-cache"
    again = ask(app, "GET", "/console/logos", headers=[("if-none-match", page.header("etag") or "")])
    assert (again.status_code, again.body) == (304, b"")
    file = ask(app, "GET", f"{files(app)}app.js")
    kept = (file.header("cache-control"), file.header("content-type"))
    assert kept == ("max-age=31536000, immutable", "text/javascript; charset=utf-8")
    # Under the address of another version, it is not cached: that may be of a worker about to be replaced.
    other = ask(app, "GET", "/console/~0123456789abcdef/app.js")
    assert (other.status_code, other.header("cache-control")) == (200, "no-cache")


@pytest.mark.rule("contract J5")
@pytest.mark.parametrize("path", ["/console/", "app.js", "interface.json", "style/tokens.css"])
def test_files_are_sent_compressed_to_clients_that_accept_it(app: ASGIApp, path: str) -> None:
    path = path if path.startswith("/") else files(app) + path
    plain = ask(app, "GET", path)
    assert (plain.header("content-encoding"), plain.header("vary")) == (None, "Accept-Encoding")
    tags = {plain.header("etag")}
    for taken, coding in (
        ("gzip, deflate", "gzip"),
        ("gzip, br;q=0", "gzip"),
        ("gzip, br", "gzip"),
        ("br", None),
    ):
        sent = ask(app, "GET", path, headers=[("accept-encoding", taken)])
        assert sent.header("content-encoding") == coding
        assert (gzip.decompress(sent.body) if coding else sent.body) == plain.body
        tags.add(sent.header("etag"))
        head = ask(app, "HEAD", path, headers=[("accept-encoding", taken)])
        assert (head.status_code, head.headers, head.body) == (200, sent.headers, b"")
    assert len(tags) == (2 if path == "/console/" else 1)
    for refused in ("zstd", "gzip;q=0", "gzip; q=0.0, br;q=0"):
        assert ask(app, "GET", path, headers=[("accept-encoding", refused)]).header("content-encoding") is None


@pytest.mark.rule("contract J1")
def test_the_console_is_served_without_the_database(app: ASGIApp, watched: WatchedStorage) -> None:
    watched.go_away()
    of_files = [f"{files(app)}{name}" for name in ("app.js", "interface.json", "preview.html")]
    watched.asked.clear()
    assert [ask(app, "GET", path).status_code for path in of_files] == [200, 200, 200]
    assert watched.asked == []
    # A page reads only the look.
    assert {ask(app, "GET", path).status_code for path in PAGES} == {200}
    assert watched.asked == ["read"] * len(PAGES)


@pytest.mark.rule("contract J1")
def test_the_console_can_be_turned_off(gallery: LogoAdmin) -> None:
    without = logoadmin.asgi(gallery, console=False)
    for path in ("/console", *PAGES):
        assert ask(without, "GET", path).status_code == 404
    assert ask(without, "GET", "/").header("location") == "docs"


@pytest.mark.rule("contract J1")
def test_the_root_and_the_path_without_a_slash_redirect_to_the_console(app: ASGIApp) -> None:
    for path in ("/", "/?x=1", "/console"):
        led = ask(app, "GET", path)
        assert (led.status_code, led.header("location"), led.body) == (307, "console/", b"")
    assert urljoin("https://host.example/gallery/console", "console/") == "https://host.example/gallery/console/"


@pytest.mark.rule("contract J8", "contract A20")
def test_a_page_has_the_look_of_the_gallery_even_without_the_database() -> None:
    watched = WatchedStorage(MemoryStorage())
    watched.waits = True
    home, submit = "https://site.example/", "https://site.example/submit"
    gallery = gallery_on(watched, FrozenClock(), page=Page("Gallery", home), submit=submit)
    app = logoadmin.asgi(gallery)

    def look() -> Any:
        page = ask(app, "GET", "/console/").text
        (config,) = re.findall(r'name="logoadmin" content="([^"]*)"', page)
        known = json.loads(html.unescape(config))["look"]
        assert f"<title>{html.escape(known['gallery_title'] or known['title'])}</title>" in page
        return known

    usual = look()
    names = ("gallery_title", "gallery_mark", "gallery_accent")
    assert usual == {"title": "Gallery", "home": home, "submit": submit} | dict.fromkeys(names)
    gallery.settings.amend(AmendSettings(gallery_title='"<b>{config}', gallery_home="", gallery_accent="#3355cc"))
    known = look()
    assert known == usual | {"gallery_title": '"<b>{config}', "home": "", "gallery_accent": "#3355cc"}
    watched.fault = StorageUnavailable(watched.server)
    assert look() == known


@pytest.mark.rule("contract J2")
def test_the_preview_reaches_only_the_hosts_that_are_named(gallery: LogoAdmin) -> None:
    app = logoadmin.asgi(gallery, picture_hosts=["i.example", "*.img.example:8443"])
    preview = f"{files(app)}preview.html"
    # Its frame has no origin.
    assert ask(app, "GET", preview).header("cross-origin-resource-policy") == "cross-origin"
    policy = directives(ask(app, "GET", preview))
    assert (policy["sandbox"], policy["img-src"]) == ("allow-scripts", "data: i.example *.img.example:8443")
    assert (policy["default-src"], policy["style-src"], policy["frame-ancestors"]) == ("'none'", "'none'", "'self'")
    assert "connect-src" not in policy
    let = directives(ask(app, "GET", f"{preview}?reach=https://fonts.example&reach=http://a.example:8080"))
    assert let["style-src"] == "https://fonts.example http://a.example:8080"
    assert let["font-src"] == f"data: {let['style-src']}"
    seen = directives(ask(app, "GET", f"{preview}?picture=https://a.example"))
    assert seen == {**policy, "img-src": f"{policy['img-src']} https://a.example"}
    for hostile in (
        *("https://a;script-src", "*", "data:", "https://a%20'unsafe-inline'", "https://a%0d%0ax", "'self'"),
        # A policy cannot have IPv6 addresses: browsers would report them and block everything.
        *("http://[::1]:8000", "https://[2001:db8::1]", "https://under_score.example", "ftp://a.example"),
    ):
        assert directives(ask(app, "GET", f"{preview}?reach={hostile}&picture={hostile}")) == policy


@pytest.mark.rule("contract J1")
def test_forms_have_the_fields_and_limits_of_the_interface(app: ASGIApp) -> None:
    described = json.loads(ask(app, "GET", f"{files(app)}interface.json").body)
    document = json.loads(ask(app, "GET", "/openapi.json").body)
    ids = {operation["operationId"] for path in document["paths"].values() for operation in path.values()}
    assert {"create_logo", "amend_theme"} < set(described) < ids  # those without a body are left out
    assert all(described.values())
    body = described["create_logo"]
    assert {*body["required"]} >= {"name", "preview_url"}
    assert body["properties"]["name"]["maxLength"] == 128
    assert "The title of the page" not in json.dumps(described)  # descriptions are only for the documents


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The console's folder as it is in the wheel."""
    return write_bundle(tmp_path_factory.mktemp("bundle") / "console")


@pytest.fixture(scope="module")
def application() -> ASGIApp:
    """One application for all tests of the bundle, which reads and compresses all files."""
    return logoadmin.asgi(gallery_on(MemoryStorage(), FrozenClock()))


@pytest.fixture
def bundled_app(application: ASGIApp, bundle: Path, monkeypatch: pytest.MonkeyPatch) -> ASGIApp:
    """An application that serves the console of the wheel."""
    monkeypatch.setattr(routes, "DIRECTORY", bundle)
    return application


def in_the_wheel(project: Path) -> dict[str, bytes]:
    """Return the files of the console in the wheel of a project, by name, without the modules in Python."""
    (wheel,) = WheelBuilder(str(project)).build(directory=str(project / "dist"), versions=["standard"])
    place = "logoadmin/entrypoints/console/"
    with ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith(place)]
        assert len(names) == len(set(names))
        return {name.removeprefix(place): archive.read(name) for name in names if not name.endswith(".py")}


@pytest.mark.rule("contract J1")
def test_the_wheel_has_the_bundle_or_else_the_plain_modules(tmp_path: Path) -> None:
    for name in ("hatch_build.py", "pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copy2(ROOT / name, tmp_path)
    console = tmp_path / CONSOLE.relative_to(ROOT)
    shutil.copytree(CONSOLE, console)
    (tmp_path / "src/logoadmin/__init__.py").touch()
    kept = [path for path in console.rglob("*.*") if path.suffix in routes._TYPES]
    plain = {path.relative_to(console).as_posix(): path.read_bytes() for path in kept}
    assert len(plain) > 100
    assert in_the_wheel(tmp_path) == plain
    bundle = tmp_path / "build/console"
    bundle.joinpath("pages").mkdir(parents=True)
    made = {"index.html": b"<title>Bundle</title>", "app.js": b"1", "pages/roles.js": b"2", "bundle.json": b"{}"}
    for name, body in made.items():
        bundle.joinpath(name).write_bytes(body)
    assert in_the_wheel(tmp_path) == made
    os.utime(bundle / "app.js", (0, 0))
    with pytest.raises(RuntimeError, match="older than the console"):
        in_the_wheel(tmp_path)


@pytest.mark.slow("the console is bundled")
@pytest.mark.rule("contract J1", "contract J2", "contract J5")
def test_the_bundle_is_served_like_the_plain_modules(bundled_app: ASGIApp, bundle: Path) -> None:
    here = files(bundled_app)
    for path in PAGES:
        page = ask(bundled_app, "GET", path)
        assert (page.status_code, page.header("content-security-policy")) == (200, POLICY)
        for reference in re.findall(r'(?:href|src)="([^"]+)"', page.text):
            file = ask(bundled_app, "GET", urljoin(path, reference))
            assert (file.status_code, file.header("cache-control")) == (200, "max-age=31536000, immutable"), reference
    names = [path.relative_to(bundle).as_posix() for path in bundle.rglob("*.*") if path.suffix != ".br"]
    for name in names:
        file = ask(bundled_app, "GET", f"{here}{name}")
        assert file.status_code == (404 if name == "index.html" else 200), name
        of_the_frame = "cross-origin" if name.startswith("preview.") else None
        assert file.header("cross-origin-resource-policy") == of_the_frame, name
    for missing in ("chunk-MISSING.js", "app.js.br"):
        assert ask(bundled_app, "GET", f"{here}{missing}").status_code == 404
    modules = {name: bundle.joinpath(name).read_text("utf-8") for name in names if name.endswith(".js")}
    for name, text in modules.items():
        imported = {urljoin(name, each) for each in re.findall(r'(?:from|import\(?)"(\.[^"]+)"', text)}
        assert imported <= modules.keys(), name
        assert "/**" not in text, name
    # The frame has no origin, so its script cannot be a module.
    assert not re.search(r"^(?:import|export)\b", modules["preview.js"], re.MULTILINE)
    # Scripts and style sheets are also there in brotli (contract J5).
    for each in (each for each in bundle.rglob("*.*") if each.suffix in {".js", ".css"}):
        sent = ask(bundled_app, "GET", f"{here}{each.relative_to(bundle)}", headers=[("accept-encoding", "br")])
        assert sent.body == Path(f"{each}.br").read_bytes()
        assert brotli.decompress(sent.body) == each.read_bytes()


@pytest.mark.slow("the console is bundled")
@pytest.mark.rule("contract J5")
@pytest.mark.parametrize(
    ("view", "module", "sheet"),
    [
        ("logos", "pages/artworks.js", "lists"),
        ("logos/12", "pages/artwork.js", "artwork"),
        ("roles", "pages/roles.js", "people"),
    ],
)
def test_the_page_of_a_bundle_preloads_only_its_view(bundled_app: ASGIApp, view: str, module: str, sheet: str) -> None:
    page = ask(bundled_app, "GET", f"/console/{view}").text
    assert f'{module}">' in page
    sheets = re.findall(r"style/(\w+)\.css", page)
    assert sheet in sheets
    assert ("lists" in sheets) == (view == "logos")
    assert re.findall(r"pages/\w+\.js", page) == [module]
    assert "css_code" not in page


def weight(answer: AppResponse) -> int:
    assert answer.status_code == 200
    return len(answer.body) + sum(len(name) + len(value) + 4 for name, value in answer.headers) + 50


def visited(app: ASGIApp, bundle: Path, weights: dict[str, int], view: str, *more: str) -> list[int]:
    """Return how many bytes each file of a first visit takes, compressed, with the heads of its response.

    ``more`` is loaded besides what the page of the view names; ``weights`` caches the sizes.
    """
    page = ask(app, "GET", f"/console/{view}", headers=[("accept-encoding", "gzip, br")])
    named = re.findall(r'(?:href|src)="((?:\./|\.\./)+~[^"]+)"', gzip.decompress(page.body).decode())
    here = files(app)
    names = dict.fromkeys(urljoin(f"/console/{view}", name).removeprefix(here) for name in named)
    waiting = list(more)
    while waiting:
        name = waiting.pop()
        names[name] = None
        if name.endswith(".js"):
            imported = re.findall(r'(?:from|import)"(\.[^"]+)"', bundle.joinpath(name).read_text("utf-8"))
            waiting += [each for each in (urljoin(name, path) for path in imported) if each not in names]
    for name in names.keys() - weights.keys():
        weights[name] = weight(ask(app, "GET", here + name, headers=[("accept-encoding", "gzip, br")]))
    return [weight(page), *(weights[name] for name in names)]


KIB: Final = 1024
LISTS: Final = ("logos", "themes", "authors", "users", "roles")
EDITORS: Final = ("logos/1", "themes/new")
CODE: Final = ("parts/css/css_code.js", "parts/css/css_verdict.js", "interface.json", "preview.html", "preview.js")


@pytest.mark.slow("the console is bundled")
@pytest.mark.rule("contract J5")
@pytest.mark.parametrize("language", ["en", "ru"])
def test_lists_and_editors_are_light(bundled_app: ASGIApp, bundle: Path, language: str) -> None:
    weights: dict[str, int] = {}
    words = [f"texts/{language}/lists.js", f"texts/{language}/others.js"]
    for view in LISTS:
        sizes = visited(bundled_app, bundle, weights, view, words[0])
        assert sum(sizes) <= 60 * KIB, view
        assert len(sizes) <= 12, view
    for view in EDITORS:  # with everything that they import
        assert sum(visited(bundled_app, bundle, weights, view, *words, *CODE)) <= 240 * KIB, view


SHEETS: Final = {path.stem: path.read_text("utf-8") for path in sorted((CONSOLE / "style").glob("*.css"))}
# Those of all views come first, in this order; views load the others, which stay.
_FIRST: Final = ("tokens", "base", "shell", "parts")
_COMMENT: Final = re.compile(r"/\*.*?\*/", re.DOTALL)


def selectors(sheet: str) -> list[str]:
    """Return all selectors of a sheet, each in one line; a list of them ends without a comma."""
    found = re.findall(r"([^{}]*)\{", _COMMENT.sub("", sheet))
    return [" ".join(each.split()) for text in found if not text.strip().startswith("@") for each in text.split(",")]


@pytest.mark.rule("contract J5")
def test_no_css_rule_is_invalid_or_depends_on_the_order_of_views() -> None:
    where = defaultdict(set)
    for name, sheet in SHEETS.items():
        bare = _COMMENT.sub("", sheet)
        assert bare.count("{") == bare.count("}"), name
        assert not re.search(r",\s*[{}]", bare), name
        for selector in selectors(sheet):
            if name not in _FIRST and selector not in ("from", "to"):
                where[selector].add(name)
    brought = re.findall(r"(?:styles:|STYLES =) \[([^\]]*)\]", (CONSOLE / "views.js").read_text("utf-8"))
    # A part that is loaded when first shown can load its own sheet.
    modules = [module.read_text("utf-8") for module in CONSOLE.rglob("*.js")]
    parts = {name for text in modules for name in re.findall(r'loadStyle\("(\w+)"\)', text)}
    together = {frozenset(re.findall(r"\w+", names)) for names in [*brought, *parts]}
    apart = {each: names for each, names in where.items() if not any(names <= those for those in together)}
    assert apart == {}
