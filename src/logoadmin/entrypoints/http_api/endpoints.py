"""The endpoints of operations: check a request in the order of contract A19, call the core, render the response."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final, cast
from weakref import WeakValueDictionary

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from logoadmin.domain.changes.import_export import ExportRecords, ImportRecords
from logoadmin.domain.gallery.picture_commands import SendPicture
from logoadmin.domain.kernel.access import PUBLIC, Anonymous, Caller, SignedIn, network_of, require_token
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import InvalidInput, InvalidLines, LogoAdminError
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.bodies import BodyReader, TemporaryFile, TemporaryFiles, check_head, no_picture
from logoadmin.entrypoints.http_api.commands import command_of, occasion_of
from logoadmin.entrypoints.http_api.conditions import known_tag
from logoadmin.entrypoints.http_api.dispatch import Dispatch, Work
from logoadmin.entrypoints.http_api.errors import Faults, error_response, note_cause
from logoadmin.entrypoints.http_api.http_error import HttpError
from logoadmin.entrypoints.http_api.operation import CSV, EXPORTED, SMALL_BODY, Operation
from logoadmin.entrypoints.http_api.origins import Cors
from logoadmin.entrypoints.http_api.renderer import MAX_LIST, LongList, LongResponses, Renderer
from logoadmin.entrypoints.http_api.request import Request, count_response, request_of
from logoadmin.entrypoints.http_api.response import Response
from logoadmin.entrypoints.http_api.response_cache import DataVersion, ResponseCache, key_of

Responder = Callable[[Request, Receive, Operation], Awaitable[Response]]

_CHARSET: Final = re.compile(r';\s*charset="?([^\s;"]+)', re.IGNORECASE)


@dataclass(eq=False)
class Flight:
    """A public read shared by concurrent requests: the first one makes it while the others wait for the lock."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    response: Response | None = None


class AppContext:
    """The objects that all endpoints of an application share, such as the gallery and its threads."""

    def __init__(
        self,
        gallery: LogoAdmin,
        origins: Collection[str],
        cache_seconds: int,
        *,
        from_sockets: bool,
        max_list: int = MAX_LIST,
    ) -> None:
        self.gallery = gallery
        self.dispatch = Dispatch(gallery)
        self.data_version = DataVersion(gallery, self.dispatch, from_sockets=from_sockets)
        self.response_cache = ResponseCache(self.data_version, gallery.metrics)
        self.cors = Cors(frozenset(origins))
        self.cache_seconds = cache_seconds
        self.faults = Faults()
        self.bodies = BodyReader(gallery.metrics)
        self.long_responses = LongResponses(max_list)
        self.exports = TemporaryFiles("exports")
        self.flights: WeakValueDictionary[Hashable, Flight] = WeakValueDictionary()


class Endpoint:
    """Serves all methods of one path in the table of operations, and HEAD wherever GET exists."""

    def __init__(self, context: AppContext, operations: Iterable[Operation]) -> None:
        self._context = context
        self._operations = {operation.method: operation for operation in operations}
        if "GET" in self._operations:
            self._operations["HEAD"] = self._operations["GET"]
        self._renderers = {
            each: Renderer(each, context.gallery, context.cache_seconds, context.long_responses)
            for operation in self._operations.values()
            for each in (*operation.variants, *operation.by_grant_type.values())
        }
        self._responders = {method: self._responder(operation) for method, operation in self._operations.items()}

    def _responder(self, operation: Operation) -> Responder:
        if operation.takes_jsonl:
            return self._import
        if operation.takes_file:
            return self._store_picture
        return self._export if operation.attachment else self._respond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, and count it."""
        request, metrics = request_of(scope), self._context.gallery.metrics
        request.path_params = scope["path_params"]
        operation = request.operation = self._operations.get(request.method)
        status = sent = 0
        metrics.request_started()
        try:
            try:
                if operation is None:
                    response = self._method_not_allowed(request)
                else:
                    response = await self._responders[request.method](request, receive, operation)
            except ClientDisconnect:
                return
            except Exception as error:
                response = self._error_response(request, error)
            else:
                if operation is not None:
                    self._context.faults.succeeded(operation)
            fields = self._context.cors.fields(request, operation)
            fields = [*fields, *request.response_fields, (b"x-request-id", request.id.text.encode())]
            status = response.status
            sent = await response.send(send, fields, is_head=request.method == "HEAD")
        except Exception:
            status = status or 500
            raise
        finally:
            metrics.request_ended()
            count_response(metrics, request, status, sent)

    def _error_response(self, request: Request, error: Exception) -> Response:
        if isinstance(error, LogoAdminError | HttpError):
            note_cause(request, error)
            return error_response(error)
        # Methods without an operation cannot fail.
        request.causes.append(self._context.faults.met(self._operations[request.method], error, str(request.id)))
        return error_response(HttpError(500))

    async def _respond(self, request: Request, receive: Receive, operation: Operation) -> Response:
        """Call the use case, and return its response; the checks are in the order of contract A19."""
        context = self._context
        caller = request.caller = self._caller(request, operation)
        command = await self._command(request, receive, operation)
        key, version, flight = None, None, Flight()
        if operation.is_public_read:
            # Before the records: a response newer than its version is merely rendered again, an older one is served.
            key, version = key_of(request), await context.data_version.of(request)
            stored = context.long_responses.get(key, version)
            if stored is not None:
                known = known_tag(request, stored.etag)
                return stored if known is None else stored.unmodified(known)
            flight = context.flights.setdefault((key, version, *request.headers.get(b"if-none-match", ())), flight)
        work, deadline = _work(operation, command, request)
        async with flight.lock:
            shared = flight.response
            if shared is None:
                response = await context.dispatch.run(
                    work,
                    self._renderers[operation.asked_by(command)].response,
                    command,
                    caller,
                    request,
                    deadline=deadline,
                    turn=_turn(command, caller, request) if work is Work.SLOW else None,
                )
                if isinstance(response, LongList):
                    response = await context.dispatch.run(Work.SLOW, response.render, key, version, turn="lists")
                shared = flight.response = response
        if operation.is_public_read:
            context.long_responses.keep(key, version, shared)
            context.response_cache.keep(request, version, shared, context.cors.fields(request, operation))
        return shared

    def _caller(self, request: Request, operation: Operation) -> Caller:
        """Return the caller that the token identifies (spec §Authentication 1); public operations ignore it."""
        permission = operation.permission
        # Reads neither start sessions nor are logged as events.
        user_agent = "" if operation.method == "GET" else request.headers.get(b"user-agent", ("",))[0]
        if permission != PUBLIC and (token := request.bearer_token()):
            known = self._context.gallery.sessions.caller(token, request.id, request.client, user_agent)
            occasion = occasion_of(request)
            return known if occasion is known.occasion else replace(known, occasion=occasion)
        anonymous = Anonymous(request.client, request.id, user_agent, occasion_of(request))
        require_token(self._context.gallery.access, permission, anonymous)
        return anonymous

    async def _command(self, request: Request, receive: Receive, operation: Operation) -> Command:
        """Return the command of a request; large bodies are parsed in a thread, one at a time."""
        if not operation.takes_body:
            return command_of(request, operation)
        check_head(request, operation)
        body = await self._context.bodies.read(receive, operation.max_body)
        if len(body) <= SMALL_BODY:
            return command_of(request, operation, body)
        return await self._context.dispatch.run(Work.SLOW, command_of, request, operation, body, turn="bodies")

    async def _import(self, request: Request, receive: Receive, operation: Operation) -> Response:
        """Import the lines of a request; callers without any write scope are rejected before the upload."""
        context, dispatch = self._context, self._context.dispatch
        caller = request.caller = self._caller(request, operation)
        command = cast(ImportRecords, command_of(request, operation))
        check_head(request, operation)
        if request.media_type == CSV and command.kind is None:
            raise InvalidInput.of("Field required", "query", "kind", type_="missing")
        if request.media_type != CSV and command.kind is not None:
            raise HttpError(415, f"Body should be {CSV}")
        sent = _CHARSET.search(request.header(b"content-type"))
        if sent is not None and "charset" not in command.model_fields_set:
            values = {name: getattr(command, name) for name in command.model_fields_set}
            command = ImportRecords(**values, charset=sent[1])
        user_id = await dispatch.run(Work.READING, context.gallery.import_export.check, command, caller)
        async with context.bodies.received(receive, ("user", user_id)) as (lines, digest):
            command = command.model_copy(update={"lines_hash": digest})
            turn = _turn(command, caller, request)
            return await dispatch.run(Work.SLOW, self._load, operation, command, lines, caller, turn=turn)

    def _load(self, operation: Operation, command: ImportRecords, lines: TemporaryFile, caller: Caller) -> Response:
        """Import the lines, and render the response in the same thread, since its list of problems may be long."""
        load = self._context.gallery.import_export.load
        try:
            counts = load(command, lines, caller, with_password_hashes=False).counts
        except InvalidLines as error:
            return error_response(error)
        return self._renderers[operation].short_response(counts)

    async def _store_picture(self, request: Request, receive: Receive, operation: Operation) -> Response:
        """Store the picture of a request; callers without permission are rejected before the upload."""
        context, dispatch = self._context, self._context.dispatch
        caller = request.caller = self._caller(request, operation)
        command = cast(SendPicture, command_of(request, operation))
        check_head(request, operation)
        if command.source is None and not request.media_type:
            raise no_picture()
        pictures = context.gallery.pictures
        await dispatch.run(Work.READING, pictures.check, command, caller)
        content = await context.bodies.read(receive, operation.max_body)
        # An upload does not wait for a picture that is being fetched for the same caller.
        turn = _asker(caller, request), command.source is None
        picture = await dispatch.run(Work.PICTURES, pictures.send, command, content, caller, turn=turn)
        return self._renderers[operation].short_response(picture)

    async def _export(self, request: Request, _: Receive, operation: Operation) -> Response:
        """Return a snapshot of all records as a file, so that a failure midway is still a 503."""
        context, dispatch = self._context, self._context.dispatch
        caller = request.caller = self._caller(request, operation)
        command = cast(ExportRecords, command_of(request, operation))
        exports = context.gallery.import_export
        user_id = await dispatch.run(Work.READING, exports.check, command, caller)
        file = context.exports.open(("user", user_id))
        try:
            await dispatch.run(Work.SLOW, exports.dump, command, file.write_line, caller, turn="exports")
            media_type, name = _export_type(request), operation.attachment
            if command.format == "csv":
                media_type, name = f"{CSV}; charset=utf-8", f"{command.rows[0].plural}.csv"
            return self._renderers[operation].file_response(file, media_type, name)
        except BaseException:
            file.close()
            raise

    def _method_not_allowed(self, request: Request) -> Response:
        refusal = HttpError(405, headers={"allow": ", ".join(sorted(self._operations))})
        return self._context.cors.preflight(request, self._operations) or error_response(refusal)


def _work(operation: Operation, command: Command, request: Request) -> tuple[Work, float | None]:
    """Return the type of work for a command, and its deadline unless the default of that type applies."""
    if command.asks_others or command.judges or command.takes_long:
        return Work.SLOW, None
    if operation.method == "GET":
        return Work.SLOW if command.searches else Work.READING, request.deadline
    return Work.HASHING if command.hashes else Work.WRITING, None


def _turn(command: Command, caller: Caller, request: Request) -> Hashable:
    """Return the turn of a slow call: its caller's, or that of all long writes, which storage makes one at a time."""
    return "long writes" if command.takes_long else _asker(caller, request)


def _export_type(request: Request) -> str:
    """Return the media type of an export: the first, unless the client only accepts another one."""
    accepted = ",".join(request.headers.get(b"accept", ())).lower()
    return next((media_type for media_type in EXPORTED if media_type in accepted), EXPORTED[0])


def _asker(caller: Caller, request: Request) -> Hashable:
    """Return whose slow calls run one at a time: the signed-in user, whatever their address, or else the network."""
    return caller.user_id if isinstance(caller, SignedIn) else network_of(request.client)
