"""The endpoints: a request is judged in the order of contract A19, and the core does what it asks for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.access import Caller
from logoadmin.domain.model.errors import InvalidLines, LogoAdminError
from logoadmin.domain.model.records import Imported
from logoadmin.entrypoints.http_api.bodies import BodyReader
from logoadmin.entrypoints.http_api.conditions import header_values, known_tag
from logoadmin.entrypoints.http_api.cors import Cors
from logoadmin.entrypoints.http_api.data_version import DataVersion
from logoadmin.entrypoints.http_api.dispatch import Dispatch, deadline_of
from logoadmin.entrypoints.http_api.errors import HttpError, note_cause, note_code
from logoadmin.entrypoints.http_api.faults import Faults
from logoadmin.entrypoints.http_api.media_types import EXPORTED
from logoadmin.entrypoints.http_api.metrics import OPERATION
from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.entrypoints.http_api.parts import PartCache, RenderContext
from logoadmin.entrypoints.http_api.requests import (
    CALLER,
    Request,
    caller_of,
    command_of,
    export_command,
    import_command,
    request_of,
)
from logoadmin.entrypoints.http_api.response_cache import key_of
from logoadmin.entrypoints.http_api.responses import Call, RenderedResponse, Renderer, error_rendered
from logoadmin.entrypoints.http_api.spool import Spool
from logoadmin.entrypoints.http_api.uploads import Uploads, check_head


@dataclass(frozen=True, slots=True)
class AppContext:
    """What the endpoints of one application share: the gallery, its threads, and what they keep and count together."""

    gallery: LogoAdmin
    dispatch: Dispatch
    data_version: DataVersion
    parts: PartCache
    cors: Cors
    cache_seconds: int
    faults: Faults = field(default_factory=Faults)
    bodies: BodyReader = field(default_factory=BodyReader)
    uploads: Uploads = field(default_factory=Uploads)
    downloads: Spool = field(default_factory=partial(Spool, "exports"))


class Endpoint:
    """What answers on one path of the table of operations, whatever the method; HEAD where there is GET."""

    def __init__(self, context: AppContext, operations: Iterable[Operation]) -> None:
        """Serve the operations of the path, of which each has another method."""
        self._context = context
        self._operations = {operation.method: operation for operation in operations}
        if "GET" in self._operations:
            self._operations["HEAD"] = self._operations["GET"]
        self._renderers = {
            operation: Renderer(operation, context.cache_seconds) for operation in self._operations.values()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever it is."""
        request = request_of(scope, receive)
        operation = scope[OPERATION] = self._operations.get(scope["method"])
        try:
            response = self._not_served(scope) if operation is None else await self._served(request, operation)
        except ClientDisconnect:
            return
        except (LogoAdminError, HttpError) as error:
            note_cause(scope, error)
            response = error_rendered(error)
        except Exception as error:
            # Of methods that are not served, there is nothing that could fail.
            note_code(scope, self._context.faults.met(self._operations[scope["method"]], error, request.current_id))
            response = error_rendered(HttpError(500))
        else:
            if self._context.faults.lasts and operation is not None:
                self._context.faults.succeeded(operation)
        request_id = (b"x-request-id", request.current_id.encode())
        fields = [*self._context.cors.fields(scope, operation), *request.response_fields, request_id]
        await response.send(scope, receive, send, fields)

    async def _served(self, request: Request, operation: Operation) -> RenderedResponse:
        context, dispatch = self._context, self._context.dispatch
        caller = request.scope[CALLER] = caller_of(request, context.gallery, operation)
        if operation.takes_jsonl:
            return await self._imported(request, operation, caller)
        if operation.attachment:
            return await self._exported(request, operation, caller)
        command = await command_of(request, operation, context.bodies, dispatch.parsing)
        run = dispatch.searching if command.searches else dispatch.finding if operation.kind else dispatch.reading
        rendering = RenderContext(context.parts, context.data_version, run)
        call = Call(partial(operation.perform, context.gallery, command, caller), request.scope, rendering)
        respond = partial(self._renderers[operation].response, call)
        if operation.is_public_read:
            return await self._shared(call, self._renderers[operation])
        if command.hashes:
            return await dispatch.hashing(respond)
        if command.takes_long:
            return await dispatch.long_writing(respond)
        if operation.method == "GET":
            return await run(respond)
        return await (dispatch.writing if command.changes_records else dispatch.session_writing)(respond)

    async def _imported(self, request: Request, operation: Operation, caller: Caller) -> RenderedResponse:
        """Answer a request with lines to import, which are not received for those who may import nothing."""
        context, dispatch = self._context, self._context.dispatch
        command = import_command(request, operation)
        check_head(request)
        imports = context.gallery.import_export
        user_id = await dispatch.reading(partial(imports.check, command, caller))
        async with context.uploads.received(request, user_id) as upload:
            command = command.model_copy(update={"lines_hash": upload.digest})
            load = partial(imports.load, command, upload.lines, caller, with_password_hashes=False)
            return await dispatch.long_writing(partial(_loaded, load, self._renderers[operation]))

    async def _exported(self, request: Request, operation: Operation, caller: Caller) -> RenderedResponse:
        """Answer with a file of what there is at one moment: a database that fails midway is a 503 still."""
        context, dispatch = self._context, self._context.dispatch
        command = export_command(request, operation)
        exports = context.gallery.import_export
        user_id = await dispatch.reading(partial(exports.check, command, caller))
        file = context.downloads.open(user_id)
        try:
            await dispatch.long_reading(partial(exports.dump, command, file.write_line, caller))
            return self._renderers[operation].file_response(file, _accepted(request))
        except BaseException:
            file.close()
            raise

    async def _shared(self, call: Call, renderer: Renderer) -> RenderedResponse:
        """Answer all who ask at once for what everybody may read; what is long is shared for longer, in parts."""
        scope, parts, of = call.scope, self._context.parts, key_of(call.scope)
        # First the version: an answer that is newer than its version is made again, one that is older is not.
        version = await self._context.data_version.of(scope)
        long: RenderedResponse | None = parts.get((of, version))
        if long is not None:
            known = known_tag(scope, long.etag)
            return long if known is None else long.unmodified(known)
        call = replace(call, context=replace(call.context, of=of, version=version))
        asked = of, version, *header_values(scope, b"if-none-match")
        made: RenderedResponse = await call.context.run(partial(renderer.response, call), deadline_of(scope), asked)
        if made.chunks is not None:
            parts.put((of, version), made, 0)
        return made

    def _not_served(self, scope: Scope) -> RenderedResponse:
        refusal = HttpError(405, headers={"allow": ", ".join(sorted(self._operations))})
        return self._context.cors.preflight(scope, self._operations) or error_rendered(refusal)


def _accepted(request: Request) -> str:
    """Return the media type of an export: the first unless the client names another one of them alone."""
    accepted = ",".join(header_values(request.scope, b"accept")).lower()
    return next((media_type for media_type in EXPORTED if media_type in accepted), EXPORTED[0])


def _loaded(load: Callable[[], Imported], renderer: Renderer) -> RenderedResponse:
    """Return the answer to an import; what is wrong with ten thousand lines is no short text either."""
    try:
        return renderer.short_response(load().counts)
    except InvalidLines as error:
        return error_rendered(error)
