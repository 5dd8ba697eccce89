"""The ASGI application: a route for each path of the operations (contract A19 to A21, H6)."""

from collections.abc import Collection, Mapping, Sequence

from starlette.routing import Route
from starlette.types import ASGIApp

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.background import REGULAR_WORK, Background, BackgroundWork, background_publisher
from logoadmin.entrypoints.http_api.documents import Redirect, document_routes
from logoadmin.entrypoints.http_api.endpoints import AppContext, Endpoint, Paths
from logoadmin.entrypoints.http_api.gallery import PublishedGallery
from logoadmin.entrypoints.http_api.health import Readiness, health_routes
from logoadmin.entrypoints.http_api.long_responses import MAX_LIST
from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from logoadmin.entrypoints.http_api.origins import Hosts, misdirected
from logoadmin.entrypoints.http_api.pictures import picture_route
from logoadmin.entrypoints.http_api.published_folder import PublishedFolder
from logoadmin.entrypoints.http_api.sending import CountedRequests
from logoadmin.ports.publication.gallery_files import GalleryFiles


def http_application(
    gallery: LogoAdmin,
    *,
    origins: Collection[str] = (),
    cache_seconds: int = 60,
    hosts: Collection[str] | None = None,
    pages: Sequence[Route] = (),
    home: str = "docs",
    published: GalleryFiles | None = None,
    from_sockets: bool = False,
    max_list: int = MAX_LIST,
    work: Mapping[BackgroundWork, float] = REGULAR_WORK,
) -> ASGIApp:
    """Return the ASGI application of a gallery; it can be served, or mounted under a prefix in another one.

    Args:
        gallery: the gallery.
        origins: the origins whose pages may call every operation, such as ``https://admin.example``; pages of other
            origins may only make public reads (contract F2).
        cache_seconds: how long clients may use a cached public read without revalidating it.
        hosts: the host names to accept besides those of loopback and of the public URL; None for any (contract A22).
        pages: routes to serve besides the interface.
        home: the path to which ``/`` redirects.
        published: the files into which to publish, and to serve at ``/gallery/``; None for neither (contract L1).
        from_sockets: whether all requests come from sockets, and none from this process itself.
        max_list: the bytes of the longest list without ``limit``, before compression.
        work: what to do in the background, each after some seconds.
    """
    context = AppContext(gallery, origins, cache_seconds, from_sockets=from_sockets, max_list=max_list)
    operations = [Route(path, Endpoint(context, operations)) for path, operations in _operations_by_path().items()]
    others = [*health_routes(Readiness(gallery, context.dispatch)), *document_routes(gallery), picture_route(context)]
    others += [Route("/", Redirect(home)), *pages]
    folder: PublishedGallery | None = None
    if published is not None:
        publisher = background_publisher(gallery, published, context.dispatch)
        folder = PublishedGallery(PublishedFolder(published), publisher, gallery.metrics)
    app = Paths(context, operations, others, Background(gallery, context.dispatch, work), folder)
    if hosts is None:
        return app
    return Hosts(app, {*hosts, gallery.public_url.host}, CountedRequests(misdirected, gallery.metrics))


def _operations_by_path() -> dict[str, list[Operation]]:
    paths: dict[str, list[Operation]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, []).append(operation)
    # Literal paths come before templates that would also match them.
    return dict(sorted(paths.items(), key=lambda path: path[0].count("{")))
