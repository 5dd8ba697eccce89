"""How the console is served: one page for every view, its files, and the frame for other people's CSS (contract J2)."""

import functools
import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import metadata
from typing import Any, Final
from urllib.parse import parse_qsl
from zlib import crc32

from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.console.assets import Asset, AssetFolder
from logoadmin.entrypoints.http_api.api_docs import ReadOnlyEndpoint, Redirect
from logoadmin.entrypoints.http_api.compression import SUFFIX, accepts_gzip
from logoadmin.entrypoints.http_api.conditions import known_tag
from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.http_api.media_types import JSON

# Whatever is below it is the program of one version, so it can be kept for good.
_FILE: Final = re.compile(r"~([0-9a-f]+)/(.+)")
_KEPT: Final = "public, max-age=31536000, immutable"
_PREVIEW: Final = "preview.html"
# What a person lets the frame reach, by a click that names it; nothing in it can end a directive.
_REACHED: Final = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?")
_RELATIONS: Final = {"js": "modulepreload", "css": "stylesheet"}
_HEADERS: Final = {"x-content-type-options": "nosniff"}
# What a page does, but no module or sheet.
_PAGE_HEADERS: Final = {
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}
# Pictures come from the addresses that records name (contract J2).
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src http: https:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


def console_routes(
    interface: Callable[[], Mapping[str, Any]], gallery: LogoAdmin, picture_hosts: Sequence[str]
) -> list[Route]:
    """Return the routes of the console.

    Args:
        interface: makes the OpenAPI document, when the page is first asked for.
        gallery: what is administered; nothing is asked of it but what it is.
        picture_hosts: where the frame for other people's CSS may get pictures from.
    """
    pages = _Console(interface, gallery, picture_hosts)
    return [Route("/console", Redirect("console/")), Route("/console/{path:path}", pages)]


class _Console(ReadOnlyEndpoint):
    """Everything below ``/console/``; it asks nothing of the database."""

    def __init__(
        self, interface: Callable[[], Mapping[str, Any]], gallery: LogoAdmin, picture_hosts: Sequence[str]
    ) -> None:
        self._interface = interface
        self._gallery = gallery
        self._picture_hosts = picture_hosts

    @functools.cached_property
    def _asset_folder(self) -> AssetFolder:
        # Not before somebody looks: to make the document takes longer than all else that a start does here.
        document = self._interface()
        told = {
            "version": document["info"]["version"],
            "license": metadata("logoadmin").json.get("license_expression", ""),
            "database": self._gallery.product,
            "access": self._gallery.access.value,
            "picture_hosts": self._picture_hosts,
        }
        made = {"interface.json": _described(document), "told.json": told}
        return AssetFolder({name: json.dumps(each, separators=(",", ":")).encode() for name, each in made.items()})

    def response(self, scope: Scope) -> Response:
        """Return a file, or the page for any path that looks like no file."""
        path: str = scope["path_params"]["path"]
        file = _FILE.fullmatch(path)
        if file is not None:
            return self._asset(scope, file[1], file[2])
        if "." in path.rpartition("/")[2] or path.startswith("~"):
            return error_response(HttpError(404))
        return self._page(scope, path)

    def _asset(self, scope: Scope, digest: str, name: str) -> Response:
        assets = self._asset_folder.assets()
        file = assets.by_name.get(name)
        if file is None or name == "index.html":
            return error_response(HttpError(404))
        # While one version replaces another, a page may meet the files of its neighbour: they are not kept.
        headers = {"cache-control": _KEPT if digest == assets.digest else "no-cache"}
        if name == _PREVIEW:
            headers["content-security-policy"] = self._preview_policy(scope)
        return _sent(scope, file, headers, f'"{assets.digest}"')

    def _page(self, scope: Scope, path: str) -> Response:
        assets = self._asset_folder.assets()
        # Relative, so that it is right under whatever prefix the browser knows, told to us or not.
        root = "../" * path.count("/") or "./"
        page = assets.by_name["index.html"].body.decode()
        here = f"{root}~{assets.digest}/"
        links = "\n".join(
            f'    <link rel="{_RELATIONS[name.rpartition(".")[2]]}" href="{here}{name}">'
            for name in assets.needed(path)
        )
        page = (
            page.replace("{files}", here)
            .replace("{needed}", links)
            .replace("{told}", _escaped(assets.by_name["told.json"]))
        )
        headers = {
            "cache-control": "no-cache",
            "content-security-policy": _POLICY,
            "cross-origin-opener-policy": "same-origin",
        }
        body = page.encode()
        return _sent(scope, Asset("text/html", body), headers, f'"{assets.digest}-{crc32(body):08x}"')

    def _preview_policy(self, scope: Scope) -> str:
        """Return the policy of the frame, in which scripts have no origin and nothing reaches the service."""
        asked = parse_qsl(scope["query_string"].decode("latin-1"))
        let = [value for name, value in asked if name == "reach" and _REACHED.fullmatch(value)]
        # What is written in the CSS itself, as `data:`, asks nobody for anything.
        pictures = " ".join(["data:", *self._picture_hosts, *let])
        fonts = " ".join(["data:", *let])
        sheets = " ".join(let) or "'none'"
        return (
            f"sandbox allow-scripts; default-src 'none'; script-src 'self'; img-src {pictures}; style-src {sheets}; "
            f"font-src {fonts}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "
            "require-trusted-types-for 'script'; trusted-types 'none'"
        )


def _escaped(file: Asset) -> str:
    return html.escape(file.body.decode())


def _sent(scope: Scope, file: Asset, headers: Mapping[str, str], etag: str) -> Response:
    """Return a file, compressed if the client takes that, or that the client has it."""
    is_compressed = accepts_gzip(scope)
    tag = f'{etag[:-1]}{SUFFIX}"' if is_compressed else etag
    of_page = _PAGE_HEADERS if file.media_type == "text/html" else {}
    fields = {**_HEADERS, **of_page, **headers, "etag": tag, "vary": "Accept-Encoding"}
    known = known_tag(scope, tag.encode())
    if known is not None:
        return Response(status_code=304, headers={**fields, "etag": known.decode()})
    if is_compressed:
        fields["content-encoding"] = "gzip"
    return Response(file.compressed if is_compressed else file.body, headers=fields, media_type=file.media_type)


def _described(interface: Mapping[str, Any]) -> dict[str, Any]:
    """Return what forms and filters are made of: of each operation its filters and its fields, with their limits."""
    return {
        operation["operationId"]: {
            "query": {
                each["name"]: _bare(each["schema"]) for each in operation.get("parameters", ()) if _in_query(each)
            },
            "body": _bare(_body_of(operation)),
        }
        for path in interface["paths"].values()
        for operation in path.values()
    }


def _in_query(parameter: Mapping[str, Any]) -> bool:
    return parameter.get("in") == "query"


def _body_of(operation: Mapping[str, Any]) -> Any:
    content = operation.get("requestBody", {}).get("content", {})
    return content.get(JSON, {}).get("schema")


def _bare(schema: Any) -> Any:
    """Return a schema without the words for readers of the document, which the console has in more languages."""
    if isinstance(schema, list):
        return [_bare(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _bare(each) for name, each in schema.items() if name not in _FOR_READERS or isinstance(each, dict)}


_FOR_READERS: Final = {"title", "description", "examples"}
