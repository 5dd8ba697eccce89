"""The endpoints: a request is judged in the order of contract A19, and the core does what it asks for."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.errors import LogoAdminError
from logoadmin.entrypoints.http_api.bodies import Bodies
from logoadmin.entrypoints.http_api.conditions import header_values, is_unmodified
from logoadmin.entrypoints.http_api.cors import Cors
from logoadmin.entrypoints.http_api.data_version import DataVersion
from logoadmin.entrypoints.http_api.dispatch import Dispatch, deadline_of
from logoadmin.entrypoints.http_api.errors import HttpError, note_cause
from logoadmin.entrypoints.http_api.operations import Operation
from logoadmin.entrypoints.http_api.parts import Parts, Within
from logoadmin.entrypoints.http_api.requests import Request, caller_of, command_of, request_id_of
from logoadmin.entrypoints.http_api.response_cache import key_of
from logoadmin.entrypoints.http_api.responses import Call, Rendered, Renderer, refused

log = logging.getLogger("logoadmin.http")


@dataclass(frozen=True, slots=True)
class Service:
    """What all endpoints share."""

    gallery: LogoAdmin
    bodies: Bodies
    dispatch: Dispatch
    data_version: DataVersion
    parts: Parts
    cors: Cors
    cache_seconds: int


class Endpoint:
    """One path."""

    def __init__(self, service: Service, operations: Iterable[Operation]) -> None:
        """Serve the operations of the path, of which each has another method."""
        self._service = service
        self._operations = {operation.method: operation for operation in operations}
        if "GET" in self._operations:
            self._operations["HEAD"] = self._operations["GET"]
        self._renderers = {
            operation: Renderer(operation, service.cache_seconds) for operation in self._operations.values()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever it is."""
        request = Request(scope, receive, request_id_of(scope))
        operation = self._operations.get(scope["method"])
        try:
            response = self._not_served(scope) if operation is None else await self._served(request, operation)
        except ClientDisconnect:
            return
        except (LogoAdminError, HttpError) as error:
            note_cause(scope, error)
            response = refused(error)
        except Exception:
            log.exception("Unexpected fault in %s %r, request %s", scope["method"], scope["path"], request.id)
            response = refused(HttpError(500))
        fields = [*self._service.cors.fields(scope, operation), (b"x-request-id", request.id.encode())]
        await response.send(scope, receive, send, fields)

    async def _served(self, request: Request, operation: Operation) -> Rendered:
        service, dispatch = self._service, self._service.dispatch
        caller = caller_of(request, service.gallery, operation)
        command = await command_of(request, operation, service.bodies, dispatch.parsing)
        run = dispatch.searching if command.searches else dispatch.reading
        within = Within(service.parts, service.data_version, run)
        call = Call(partial(operation.perform, service.gallery, command, caller), request.scope, within)
        respond = partial(self._renderers[operation].response, call)
        if operation.is_public_read:
            return await self._shared(call, self._renderers[operation])
        if command.hashes:
            return await dispatch.hashing(respond)
        return await (run if operation.method == "GET" else dispatch.writing)(respond)

    async def _shared(self, call: Call, renderer: Renderer) -> Rendered:
        """Answer all who ask at once for what everybody may read; what is long is shared for longer, in parts."""
        scope, parts, of = call.scope, self._service.parts, key_of(call.scope)
        # First the version: an answer that is newer than its version is made again, one that is older is not.
        version = await self._service.data_version.of(scope)
        long: Rendered | None = parts.get((of, version))
        if long is not None:
            return long.unmodified() if is_unmodified(scope, long.etag) else long
        call = replace(call, within=replace(call.within, of=of, version=version))
        asked = of, version, *header_values(scope, b"if-none-match")
        made: Rendered = await call.within.run(partial(renderer.response, call), deadline_of(scope), asked)
        if made.chunks is not None:
            parts.put((of, version), made, 0)
        return made

    def _not_served(self, scope: Scope) -> Rendered:
        refusal = HttpError(405, headers={"allow": ", ".join(sorted(self._operations))})
        return self._service.cors.preflight(scope, self._operations) or refused(refusal)
