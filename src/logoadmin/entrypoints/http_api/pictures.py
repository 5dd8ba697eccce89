"""The stored pictures at ``/pictures/``: immutable, for everybody, and never decoded (contract P2, P5)."""

import re
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from logoadmin.domain.gallery.pictures import GetPicture
from logoadmin.domain.kernel.access import Anonymous, Caller
from logoadmin.domain.kernel.errors import LogoAdminError
from logoadmin.domain.kernel.kinds import PICTURE
from logoadmin.entrypoints.http_api.conditions import conditional
from logoadmin.entrypoints.http_api.dispatch import Work
from logoadmin.entrypoints.http_api.endpoints import AppContext
from logoadmin.entrypoints.http_api.errors import HttpError, error_response, note_cause
from logoadmin.entrypoints.http_api.gallery_files import PICTURE_FIELDS
from logoadmin.entrypoints.http_api.request import Request, request_of
from logoadmin.entrypoints.http_api.responses import sendable

_NAME: Final = re.compile(rf"({PICTURE})(-320)?\.webp", re.ASCII)


class PictureFiles:
    """Serves pictures from the database; those that were taken down only to callers who may read users."""

    def __init__(self, context: AppContext) -> None:
        """Serve the pictures of a gallery."""
        self._context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve GET and HEAD."""
        request = request_of(scope)
        try:
            response = await self._response(request, scope["path_params"]["name"])
        except ClientDisconnect:
            return
        except (LogoAdminError, HttpError) as error:
            note_cause(request, error)
            response = error_response(error)
        await sendable(response, scope)(scope, receive, send)

    async def _response(self, request: Request, name: str) -> Response:
        if request.method not in ("GET", "HEAD"):
            raise HttpError(405, headers={"allow": "GET, HEAD"})
        found = _NAME.fullmatch(name)
        if found is None:
            raise HttpError(404)
        gallery, dispatch = self._context.gallery, self._context.dispatch
        command = GetPicture(picture=found[1], thumbnail=bool(found[2]))
        content, is_hidden = await dispatch.run(Work.READING, gallery.pictures.get, command, self._caller(request))
        tag = f'"{name.removesuffix(".webp")}"'.encode()
        cached = b"no-store" if is_hidden else b"public, max-age=31536000, immutable"
        fields = [*PICTURE_FIELDS, (b"cache-control", cached), (b"etag", tag)]
        fields += [(b"content-type", b"image/webp"), (b"content-length", b"%d" % len(content))]
        status, fields, body = conditional(request, tag, fields, content)
        response = Response(body, status)
        response.raw_headers = fields
        return response

    def _caller(self, request: Request) -> Caller:
        scheme, _, token = request.header(b"authorization").partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            return self._context.gallery.sessions.caller(token.strip(), request.id, request.client, "")
        return Anonymous(request.client, request.id)


def picture_route(context: AppContext) -> Route:
    """Return the route of the pictures of a gallery."""
    return Route("/pictures/{name}", PictureFiles(context))
