"""The ASGI application: a route for each path of the operations (contract A19 to A21, H6)."""

import functools
import json
from collections.abc import Callable, Collection, Mapping, Sequence

from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.access import Policy
from logoadmin.entrypoints.http_api.api_docs import ReadOnlyEndpoint, Redirect, docs_routes
from logoadmin.entrypoints.http_api.compression import SHORT, accepts_gzip, in_gzip
from logoadmin.entrypoints.http_api.cors import Cors
from logoadmin.entrypoints.http_api.data_version import DataVersion
from logoadmin.entrypoints.http_api.dispatch import Dispatch
from logoadmin.entrypoints.http_api.doctor_endpoint import doctor_route
from logoadmin.entrypoints.http_api.endpoints import AppContext, Endpoint
from logoadmin.entrypoints.http_api.health import health_routes
from logoadmin.entrypoints.http_api.hosts import Hosts, misdirected
from logoadmin.entrypoints.http_api.limits import ClientLimits
from logoadmin.entrypoints.http_api.media_types import JSON
from logoadmin.entrypoints.http_api.metrics import Measured
from logoadmin.entrypoints.http_api.openapi import openapi_document
from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from logoadmin.entrypoints.http_api.parts import new_part_cache
from logoadmin.entrypoints.http_api.response_cache import ResponseCache
from logoadmin.entrypoints.http_api.router import PathRouter


def http_application(
    gallery: LogoAdmin,
    *,
    origins: Collection[str] = (),
    cache_seconds: int = 60,
    hosts: Collection[str] | None = None,
    pages: Sequence[Route] = (),
    home: str = "docs",
) -> ASGIApp:
    """Return the ASGI application of a gallery; it can be served, or mounted under a prefix in another one.

    Args:
        gallery: what is served.
        origins: the origins whose pages may use all of it, such as ``https://admin.example``; those of others may
            only read what is public (contract F2).
        cache_seconds: how long public reads may be kept without asking again.
        hosts: the names that are answered to, beside those of loopback; None for any (contract A22).
        pages: routes to serve besides the interface.
        home: the path to which ``/`` redirects.
    """
    dispatch = Dispatch(gallery)
    data_version = DataVersion(gallery, dispatch)
    context = AppContext(gallery, dispatch, data_version, new_part_cache(), Cors(frozenset(origins)), cache_seconds)
    paths = {path: Endpoint(context, operations) for path, operations in _operations_by_path().items()}
    documents = [*health_routes(gallery, dispatch), *_documents(gallery), *docs_routes(), doctor_route(gallery)]
    documents += [Route("/", Redirect(home)), *pages]
    router = PathRouter(paths, documents)
    measured = functools.partial(Measured, metrics=gallery.metrics) if gallery.metrics.enabled else _not_measured
    # The response cache counts what it answers by itself: to pass through one layer more would take longer than that.
    cached = ResponseCache(measured(router), data_version, gallery.metrics)
    return ClientLimits(cached if hosts is None else Hosts(cached, hosts, measured(misdirected)))


def _not_measured(app: ASGIApp) -> ASGIApp:
    return app


def _documents(gallery: LogoAdmin) -> list[Route]:
    # Others may keep the keys for so long that a new one, which is published before it signs, is known in time.
    keys = JsonDocument(lambda _: _public_keys(gallery), {"cache-control": "public, max-age=300"})
    return [Route("/openapi.json", JsonDocument(_openapi(gallery.access))), Route("/.well-known/jwks.json", keys)]


def _operations_by_path() -> dict[str, list[Operation]]:
    paths: dict[str, list[Operation]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, []).append(operation)
    return paths


class JsonDocument(ReadOnlyEndpoint):
    """A path outside the table of operations: JSON that everybody may read."""

    def __init__(self, text: Callable[[str], bytes], headers: Mapping[str, str] | None = None) -> None:
        """Answer with the text that is right under a prefix, and with more headers."""
        self._text = text
        self._in_gzip = functools.lru_cache(1)(in_gzip)
        self._headers = {"cache-control": "no-store", "vary": "Accept-Encoding", **(headers or {})}

    def response(self, scope: Scope) -> Response:
        """Return the text for the prefix of the request, in gzip where it is taken and worth it."""
        text, headers = self._text(scope.get("root_path", "")), self._headers
        if len(text) > SHORT and accepts_gzip(scope):
            text, headers = self._in_gzip(text), {**headers, "content-encoding": "gzip"}
        return Response(text, 200, headers, JSON)


def _openapi(access: Policy) -> Callable[[str], bytes]:
    """Return what makes the OpenAPI document under an access policy, when it is first asked for."""
    return functools.lru_cache(1)(lambda root_path: json.dumps(openapi_document(access, root_path)).encode())


def _public_keys(gallery: LogoAdmin) -> bytes:
    """Return the keys that verify access tokens, as a JWK Set (RFC 7517 §5, contract C2)."""
    return json.dumps({"keys": [dict(key) for key in gallery.sessions.public_keys()]}).encode()
