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
from logoadmin.settings import Settings


def web_application(
    gallery: LogoAdmin, settings: Settings, *, hosts: Collection[str] | None = None, from_sockets: bool = False
) -> ASGIApp:
    """Return the ASGI application of a gallery; for ``hosts`` and ``from_sockets``, see :func:`http_application`."""
    interface = functools.partial(openapi_document, gallery.access)
    has_page = settings.gallery and gallery.publication.rules.page is not None
    pages = Console(interface, gallery, settings.picture_hosts, has_page).routes() if settings.console else []
    if has_page:
        pages = [*pages, Route("/gallery", redirect("gallery/"))]
    return http_application(
        gallery,
        origins=settings.origins,
        cache_seconds=settings.cache_seconds,
        hosts=hosts,
        pages=pages,
        home="console/" if settings.console else "docs",
        published=gallery.published if settings.gallery else None,
        from_sockets=from_sockets,
    )
