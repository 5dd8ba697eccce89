"""The console: one page for every view, its files, and the frame that previews CSS (contract J2)."""

import asyncio
import functools
import hashlib
import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import metadata
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs
from zlib import crc32

from starlette.routing import Route
from starlette.types import Scope

from logoadmin.domain.identity.issuer_users import LIKE
from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.conditions import BEST_LEVEL, accepts, accepts_gzip, conditional, in_gzip
from logoadmin.entrypoints.http_api.documents import ReadOnlyEndpoint, redirect
from logoadmin.entrypoints.http_api.http_error import HttpError
from logoadmin.entrypoints.http_api.operation import JSON
from logoadmin.entrypoints.http_api.request import Request, request_of
from logoadmin.entrypoints.http_api.response import Response, fields_of

DIRECTORY: Final = Path(__file__).parent
_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": JSON,
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
_BROTLI: Final = ".br"


@dataclass(frozen=True)
class Asset:
    """A file of the console.

    Attributes:
        media_type: its media type; for text, with the charset.
        body: its content.
        in_brotli: the body in Brotli at level 11, if a bundle has that file.
    """

    media_type: str
    body: bytes
    in_brotli: bytes | None = None

    @functools.cached_property
    def in_gzip(self) -> bytes:
        """The body compressed with gzip."""
        return in_gzip(self.body, BEST_LEVEL)


class Assets:
    """All files of the console, and its page.

    Attributes:
        digest: the digest of all files, which changes whenever one of them changes.
        by_name: the files by their paths in the folder, without the page.
        page: the page, with placeholders.
    """

    def __init__(self, interface: object) -> None:
        """Read the files of the folder; ``interface`` is the content of ``interface.json``."""
        suffixes = {*_TYPES, _BROTLI}
        files = {
            path.relative_to(DIRECTORY).as_posix(): path.read_bytes()
            for path in sorted(DIRECTORY.rglob("*"))
            if path.suffix in suffixes
        }
        files["interface.json"] = json.dumps(interface, separators=(",", ":")).encode()
        digest = hashlib.sha256()
        for name, body in files.items():
            digest.update(b"%s %d " % (name.encode(), len(body)) + body)
        self.digest = digest.hexdigest()[:16]
        self.page = files.pop("index.html").decode()
        self.by_name = {
            name: Asset(_TYPES[Path(name).suffix], body, files.get(f"{name}{_BROTLI}"))
            for name, body in files.items()
            if not name.endswith(_BROTLI)
        }
        bundle = self.by_name.get("bundle.json")
        # Written by tools/console/bundle.js, if the files are its output.
        self._modules: Mapping[str, Sequence[str]] = json.loads(bundle.body) if bundle else {}

    def preloads(self, path: str) -> Sequence[str]:
        """Return the modules and style sheets that the view at a path needs, so that all of them load at once.

        A bundle lists them in ``bundle.json``. The plain modules of a checkout are discovered one after another.
        """
        view = re.sub(r"\d+", ":", path.rstrip("/"))
        return [*self._modules.get("*", ()), *self._modules.get(view, ())]


# The path of a file contains the digest of all files, so its content never changes and can be cached forever.
_FILE: Final = re.compile(r"~([0-9a-f]+)/(.+)")
_FOREVER: Final = "max-age=31536000, immutable"
_PREVIEW: Final = "preview.html"
# The placeholders of the page, filled when it is served.
_PLACEHOLDER: Final = re.compile(r"\{(files|preloads|title|config)\}")
# The frame has an opaque origin, so its files are cross-origin to it. Firefox does not load them without this header,
# because the frame is embedded without credentials.
_PREVIEW_HEADERS: Final = {"cross-origin-resource-policy": "cross-origin"}
# A host that the frame may contact; it cannot end a directive of the policy.
_ALLOWED_HOST: Final = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?")
_LOOK_TIMEOUT: Final = 1.0  # seconds that a page waits for the database
_RELATIONS: Final = {"js": "modulepreload", "css": "stylesheet"}
_HEADERS: Final = {"x-content-type-options": "nosniff", "vary": "Accept-Encoding"}
_HTML_HEADERS: Final = {
    # Pictures of other hosts are requested without credentials. Otherwise a host on another port or subdomain of the
    # same site could respond with 401, so that the browser shows a password prompt over the console with a text of that
    # host's choice. The frame also has this header, or the page could not embed it.
    "cross-origin-embedder-policy": "credentialless",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}
# Pictures are loaded from the URLs in records (contract J2); pictures that were taken down are fetched with the token
# and shown from memory (contract P5).
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src http: https: blob:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


@dataclass(eq=False)
class Console:
    """Serves everything below ``/console/``; only the look of pages is read from the database.

    Attributes:
        interface: returns the OpenAPI document; called when the page is first requested.
        gallery: the gallery that the console administers; only its description and its look are read here.
        picture_hosts: the hosts from which the preview frame may load pictures.
        has_page: whether the service has the page for visitors.
    """

    interface: Callable[[], Mapping[str, Any]]
    gallery: LogoAdmin
    picture_hosts: Sequence[str]
    has_page: bool
    _look: Mapping[str, str | None] = field(default_factory=dict)
    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    def routes(self) -> list[Route]:
        """Return its routes."""
        return [
            Route("/console", redirect("console/")),
            Route("/console/{path:path}", ReadOnlyEndpoint(self._response)),
        ]

    @functools.cached_property
    def _assets(self) -> Assets:
        # On first use, since building the document takes longer than everything else here.
        return Assets(_form_schemas(self.interface()))

    @functools.cached_property
    def _config(self) -> Mapping[str, Any]:
        about = metadata("logoadmin").json
        return {
            "version": about["version"],
            "license": about.get("license_expression", ""),
            "access": self.gallery.access.value,
            "picture_hosts": self.picture_hosts,
            "public_url": self.gallery.public_url.base,
            "demo": self.gallery.is_demo,
            "page": self.has_page,
            "like": LIKE,
        }

    async def _response(self, scope: Scope) -> Response:
        """Return a file, or the page for any path that does not look like one of a file."""
        request, path = request_of(scope), scope["path_params"]["path"]
        file = _FILE.fullmatch(path)
        if file is not None:
            return self._file(request, file[1], file[2])
        if "." in path.rpartition("/")[2] or path.startswith("~"):
            raise HttpError(404)
        return self._page(request, path, await self._current_look())

    async def _current_look(self) -> Mapping[str, str | None]:
        """Return the look of the gallery, or its last known look if the database is unavailable."""
        look, loop = self.gallery.look, asyncio.get_running_loop()
        with suppress(StorageUnavailable, TimeoutError):
            async with asyncio.timeout(_LOOK_TIMEOUT):
                self._look = await loop.run_in_executor(self._thread, look) if self.gallery.waits else look()
        return self._look

    def _file(self, request: Request, digest: str, name: str) -> Response:
        assets = self._assets
        asset = assets.by_name.get(name)
        if asset is None:
            raise HttpError(404)
        # During an upgrade, a page may get files of another version from another worker; those are not cached.
        is_current = digest == assets.digest
        headers = {"cache-control": _FOREVER if is_current else "no-cache"}
        if name.startswith("preview."):
            headers.update(_PREVIEW_HEADERS)
        if name == _PREVIEW:
            headers["content-security-policy"] = self._preview_policy(request)
        return _asset_response(request, asset, headers, "" if is_current else assets.digest)

    def _page(self, request: Request, path: str, look: Mapping[str, str | None]) -> Response:
        assets = self._assets
        # Relative, so that it is correct under any prefix in the browser, configured here or not.
        root = "../" * path.count("/") or "./"
        here = f"{root}~{assets.digest}/"
        links = "\n".join(
            f'    <link rel="{_RELATIONS[name.rpartition(".")[2]]}" href="{here}{name}">'
            for name in assets.preloads(path)
        )
        config = {**self._config, "look": look}
        values = {
            "files": here,
            "preloads": links,
            "title": html.escape(look.get("gallery_title") or look.get("title") or ""),
            "config": html.escape(json.dumps(config, ensure_ascii=False, separators=(",", ":"))),
        }
        # All at once, since a title may contain the placeholder of another value.
        body = _PLACEHOLDER.sub(lambda place: values[place[1]], assets.page).encode()
        headers = {
            "cache-control": "no-cache",
            "content-security-policy": _POLICY,
            "cross-origin-opener-policy": "same-origin",
        }
        return _asset_response(request, Asset(_TYPES[".html"], body), headers, f"{assets.digest}-{crc32(body):08x}")

    def _preview_policy(self, request: Request) -> str:
        """Return the policy of the frame, in which scripts have an opaque origin and cannot reach the service."""
        named = parse_qs(request.query.decode("latin-1"))
        reached, shown = (
            [value for value in named.get(name, ()) if _ALLOWED_HOST.fullmatch(value)] for name in ("reach", "picture")
        )
        # `data:` is part of the CSS itself and causes no request.
        pictures = " ".join(["data:", *self.picture_hosts, *reached, *shown])
        fonts = " ".join(["data:", *reached])
        sheets = " ".join(reached) or "'none'"
        return (
            f"sandbox allow-scripts; default-src 'none'; script-src 'self'; img-src {pictures}; style-src {sheets}; "
            f"font-src {fonts}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "
            "require-trusted-types-for 'script'; trusted-types 'none'"
        )


def _asset_response(request: Request, asset: Asset, headers: Mapping[str, str], tag: str) -> Response:
    """Return an asset in the best coding that the client accepts; 304 for a client whose cached copy matches the tag.

    An asset that is cached forever needs no tag. Bundles have scripts and style sheets in Brotli, which is a sixth
    smaller.
    """
    coding = ""
    if asset.media_type != _TYPES[".woff2"]:  # already compressed
        coding = "br" if asset.in_brotli and accepts(request, "br") else "gzip" if accepts_gzip(request) else ""
    body = (asset.in_brotli if coding == "br" else asset.in_gzip if coding else None) or asset.body
    html_headers = _HTML_HEADERS if asset.media_type == _TYPES[".html"] else {}
    fields = fields_of({**_HEADERS, **html_headers, **headers, "content-type": asset.media_type}, body)
    if coding:
        fields.append((b"content-encoding", coding.encode()))
    if not tag:
        return Response(200, fields, body)
    etag = (f'"{tag}-{coding}"' if coding else f'"{tag}"').encode()
    return Response(*conditional(request, etag, [*fields, (b"etag", etag)], body))


_FOR_READERS: Final = {"title", "description", "examples"}


def _without_texts(part: dict[str, Any]) -> dict[str, Any]:
    """Return an object of a schema without descriptive texts, which the console has in its own languages."""
    return {name: value for name, value in part.items() if name not in _FOR_READERS or isinstance(value, dict)}


def _form_schemas(interface: Mapping[str, Any]) -> Any:
    """Return the schemas from which forms are built: the bodies of operations, including the schema of the details."""
    schemas = interface["components"]["schemas"]

    def resolved(part: dict[str, Any]) -> Any:
        name = part.get("$ref", "").rpartition("/")[2]
        return json.loads(json.dumps(schemas[name]), object_hook=resolved) if name else _without_texts(part)

    operations = [operation for path in interface["paths"].values() for operation in path.values()]
    contents = {each["operationId"]: each.get("requestBody", {}).get("content", {}) for each in operations}
    bodies = {name: content[JSON]["schema"] for name, content in contents.items() if JSON in content}
    bodies = json.loads(json.dumps(bodies), object_hook=_without_texts)
    for fields in (body["properties"] for body in bodies.values() if "details" in body.get("properties", {})):
        fields["details"] = json.loads(json.dumps(fields["details"]), object_hook=resolved)
    return bodies
