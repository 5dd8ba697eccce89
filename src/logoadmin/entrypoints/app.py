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
    """Return the ASGI application of a gallery; see :func:`logoadmin.asgi` and :func:`http_application`.

    With ``console``, ``/`` redirects to it (contract J1); with ``published``, the application also publishes.
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
