"""The web application of a gallery: the HTTP interface and the console (contract H6, J1)."""

import functools
from collections.abc import Collection

from starlette.routing import Route
from starlette.types import ASGIApp

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.console.routes import Console
from logoadmin.entrypoints.http_api.app import http_application
from logoadmin.entrypoints.http_api.documents import redirect
from logoadmin.entrypoints.http_api.openapi import openapi_document


def web_application(
    gallery: LogoAdmin,
    *,
    origins: Collection[str] = (),
    cache_seconds: int = 60,
    hosts: Collection[str] | None = None,
    console: bool = True,
    picture_hosts: Collection[str] = (),
    published: bool = True,
    from_sockets: bool = False,
) -> ASGIApp:
    """Return the ASGI application of a gallery, which can be served, or mounted under a prefix in another one.

    Args:
        gallery: the gallery to serve.
        origins: as for :func:`http_application`, like the next two.
        cache_seconds: how long clients may cache public reads.
        hosts: the accepted values of ``Host``.
        console: whether to serve the console at ``/console/``, to which ``/`` then redirects (contract J1).
        picture_hosts: the hosts from which previews of CSS in the console may load pictures (contract J2).
        published: whether to publish in the background, and to serve the published gallery at ``/gallery/``.
        from_sockets: as for :func:`http_application`, like the next one.
    """
    interface = functools.partial(openapi_document, gallery.access)
    has_page = published and gallery.publication.rules.page is not None
    pages = Console(interface, gallery, tuple(picture_hosts), has_page).routes() if console else []
    if has_page:
        pages = [*pages, Route("/gallery", redirect("gallery/"))]
    return http_application(
        gallery,
        origins=origins,
        cache_seconds=cache_seconds,
        hosts=hosts,
        pages=pages,
        home="console/" if console else "docs",
        published=gallery.published if published else None,
        from_sockets=from_sockets,
    )
