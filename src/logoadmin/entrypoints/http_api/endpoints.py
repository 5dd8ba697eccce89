"""The endpoints: check a request in the order of contract A19, call the core and render the response."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.access import Caller
from logoadmin.domain.model.command import Command
from logoadmin.domain.model.errors import InvalidLines, LogoAdminError
from logoadmin.domain.model.records import Imported
from logoadmin.domain.services.import_export import ExportRecords, ImportRecords
from logoadmin.entrypoints.http_api.conditions import known_tag
from logoadmin.entrypoints.http_api.cors import Cors
from logoadmin.entrypoints.http_api.dispatch import Dispatch, SingleFlight, deadline_of
from logoadmin.entrypoints.http_api.errors import HttpError, note_cause
from logoadmin.entrypoints.http_api.faults import Faults
from logoadmin.entrypoints.http_api.operation import EXPORTED, Operation
from logoadmin.entrypoints.http_api.requests import (
    BodyReader,
    Request,
    caller_of,
    command_of,
    command_without_body,
    request_of,
)
from logoadmin.entrypoints.http_api.response_cache import DataVersion, key_of
from logoadmin.entrypoints.http_api.responses import LongList, RenderedResponse, Renderer, error_rendered
from logoadmin.entrypoints.http_api.spool import DiskBudget, SharedResponses, Spool
from logoadmin.entrypoints.http_api.uploads import Uploads, check_head

Respond = Callable[[], RenderedResponse | LongList]


@dataclass(frozen=True, slots=True)
class AppContext:
    """The objects that all endpoints of an application share, such as the gallery and its threads."""

    gallery: LogoAdmin
    dispatch: Dispatch
    data_version: DataVersion
    cors: Cors
    cache_seconds: int
    disk: DiskBudget = field(default_factory=DiskBudget)
    faults: Faults = field(default_factory=Faults)
    bodies: BodyReader = field(default_factory=BodyReader)
    uploads: Uploads = field(default_factory=Uploads)
    flights: SingleFlight = field(default_factory=SingleFlight)
    exports: Spool = field(init=False)
    lists: Spool = field(init=False)
    shared: SharedResponses[RenderedResponse] = field(init=False)

    def __post_init__(self) -> None:
        # A frozen dataclass has no other way to set derived attributes.
        object.__setattr__(self, "exports", Spool("exports", budget=self.disk))
        object.__setattr__(self, "lists", Spool("long responses", budget=self.disk))
        object.__setattr__(self, "shared", SharedResponses(self.disk, _size_of))


class Endpoint:
    """Serves all methods of one path of the table of operations; HEAD wherever GET exists."""

    def __init__(self, context: AppContext, operations: Iterable[Operation]) -> None:
        """Serve the operations of the path, one for each method."""
        self._context = context
        self._operations = {operation.method: operation for operation in operations}
        if "GET" in self._operations:
            self._operations["HEAD"] = self._operations["GET"]
        self._renderers = {
            operation: Renderer(operation, context.cache_seconds, context.lists)
            for operation in self._operations.values()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        request = request_of(scope, receive)
        operation = request.state.operation = self._operations.get(scope["method"])
        try:
            response = self._not_served(scope) if operation is None else await self._served(request, operation)
        except ClientDisconnect:
            return
        except (LogoAdminError, HttpError) as error:
            note_cause(scope, error)
            response = error_rendered(error)
        except Exception as error:
            # Methods without an operation cannot fail.
            code = self._context.faults.met(self._operations[scope["method"]], error, request.current_id)
            request.state.causes.append(code)
            response = error_rendered(HttpError(500))
        else:
            if self._context.faults.lasts and operation is not None:
                self._context.faults.succeeded(operation)
        request_id = (b"x-request-id", request.current_id.encode())
        fields = [*self._context.cors.fields(scope, operation), *request.response_fields, request_id]
        await response.send(scope, receive, send, fields, self._context.dispatch)

    async def _served(self, request: Request, operation: Operation) -> RenderedResponse:
        """Return the response of an operation; its checks are in the order of contract A19."""
        caller = request.state.caller = caller_of(request, self._context.gallery, operation)
        if operation.takes_jsonl:
            return await self._imported(request, operation, caller)
        if operation.attachment:
            return await self._exported(request, operation, caller)
        command = await command_of(request, operation, self._context.bodies, self._context.dispatch.parsing)
        perform = partial(operation.use_case(self._context.gallery), command, caller)
        respond = partial(self._renderers[operation].response, perform, request.scope)
        if operation.is_public_read:
            return await self._shared(request, command, respond)
        reads = operation.method == "GET"
        response = await (self._read(request, command, respond) if reads else self._write(command, respond))
        return await self._context.dispatch.rendering(response.render) if isinstance(response, LongList) else response

    def _write(self, command: Command, respond: Respond) -> Awaitable[RenderedResponse | LongList]:
        dispatch = self._context.dispatch
        if command.hashes:
            return dispatch.hashing(respond)
        if command.takes_long:
            return dispatch.long_writing(respond)
        return (dispatch.writing if command.changes_records else dispatch.session_writing)(respond)

    def _read(self, request: Request, command: Command, respond: Respond) -> Awaitable[RenderedResponse | LongList]:
        read = self._context.dispatch.searching if command.searches else self._context.dispatch.reading
        return read(respond, deadline_of(request.state))

    async def _shared(self, request: Request, command: Command, respond: Respond) -> RenderedResponse:
        """Return the response to a public read, shared by all concurrent requests for the same version."""
        context, scope = self._context, request.scope
        # The version is read first: a response newer than its version is rendered again; an older one would be served.
        version = await context.data_version.of(scope)
        key = key_of(scope)
        kept = context.shared.get(key, version)
        if kept is not None:
            known = known_tag(scope, kept.etag)
            return kept if known is None else kept.unmodified(known)

        async def start(_begun: Callable[[], object]) -> RenderedResponse:
            response = await self._read(request, command, respond)
            if isinstance(response, LongList):
                response = await context.dispatch.rendering(response.render)
            if response.file is not None:
                context.shared.put(key, version, response)
            return response

        return await context.flights.run((key, version, *request.headers.get(b"if-none-match", ())), start)

    async def _imported(self, request: Request, operation: Operation, caller: Caller) -> RenderedResponse:
        """Import the lines of a request; callers without any write scope are refused before the upload."""
        context, dispatch = self._context, self._context.dispatch
        command = command_without_body(request, operation, ImportRecords)
        check_head(request)
        imports = context.gallery.import_export
        user_id = await dispatch.reading(partial(imports.check, command, caller))
        async with context.uploads.received(request, user_id) as upload:
            command = command.model_copy(update={"lines_hash": upload.digest})
            load = partial(imports.load, command, upload.lines, caller, with_password_hashes=False)
            return await dispatch.long_writing(partial(_loaded, load, self._renderers[operation]))

    async def _exported(self, request: Request, operation: Operation, caller: Caller) -> RenderedResponse:
        """Return a file with a snapshot of all records; a failure midway is still a 503."""
        context, dispatch = self._context, self._context.dispatch
        command = command_without_body(request, operation, ExportRecords)
        exports = context.gallery.import_export
        user_id = await dispatch.reading(partial(exports.check, command, caller))
        file = context.exports.open(("user", user_id))
        try:
            await dispatch.exporting(partial(exports.dump, command, file.write_line, caller))
            return self._renderers[operation].file_response(file, _accepted(request))
        except BaseException:
            file.close()
            raise

    def _not_served(self, scope: Scope) -> RenderedResponse:
        refusal = HttpError(405, headers={"allow": ", ".join(sorted(self._operations))})
        return self._context.cors.preflight(scope, self._operations) or error_rendered(refusal)


def _size_of(response: RenderedResponse) -> int:
    return 0 if response.file is None else response.file.size


def _accepted(request: Request) -> str:
    """Return the media type of an export: the first, unless the client only accepts another one."""
    accepted = ",".join(request.headers.get(b"accept", ())).lower()
    return next((media_type for media_type in EXPORTED if media_type in accepted), EXPORTED[0])


def _loaded(load: Callable[[], Imported], renderer: Renderer) -> RenderedResponse:
    """Return the response to an import, rendered in the thread because a list of problems may be long."""
    try:
        return renderer.short_response(load().counts)
    except InvalidLines as error:
        return error_rendered(error)
