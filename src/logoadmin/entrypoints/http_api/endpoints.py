"""The paths and their endpoints: check a request in the order of contract A19, call the core, render the response."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Final, cast

from starlette.requests import ClientDisconnect
from starlette.routing import Match, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from logoadmin.domain.changes.import_export import ExportRecords, ImportRecords
from logoadmin.domain.gallery.pictures import SendPicture
from logoadmin.domain.kernel.access import PUBLIC, Anonymous, Caller, SignedIn, network_of, require_token
from logoadmin.domain.kernel.command import Command
from logoadmin.domain.kernel.errors import InvalidInput, InvalidLines, InvalidToken, LogoAdminError, Problem
from logoadmin.domain.kernel.records import Imported
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.background import Background
from logoadmin.entrypoints.http_api.bodies import BodyReader, Uploads, check_head, no_picture
from logoadmin.entrypoints.http_api.commands import command_of, occasion_of
from logoadmin.entrypoints.http_api.conditions import known_tag
from logoadmin.entrypoints.http_api.dispatch import Dispatch, Lane, LongLane, SingleFlight
from logoadmin.entrypoints.http_api.errors import Faults, HttpError, error_response, note_cause
from logoadmin.entrypoints.http_api.gallery import FOLDER, PublishedGallery
from logoadmin.entrypoints.http_api.limits import SLICE, ClientLimits, TimedReader
from logoadmin.entrypoints.http_api.operation import CSV, EXPORTED, SMALL_BODY, Operation
from logoadmin.entrypoints.http_api.origins import Cors
from logoadmin.entrypoints.http_api.request import Request, count_response, request_of
from logoadmin.entrypoints.http_api.response_cache import Answers, DataVersion, ResponseCache, key_of
from logoadmin.entrypoints.http_api.responses import LongList, RenderedResponse, Renderer, error_rendered, sendable
from logoadmin.entrypoints.http_api.spool import SPOOL_SPACE, LongResponses, Spool

# Paths where clients of other services look first, with hints.
_HINTS: Final = {
    "/metrics": "Not Found; metrics have a listener of their own, see the setting metrics_port",
    **dict.fromkeys(("/health", "/healthz"), "Not Found; health checks are at /livez and /readyz"),
}

Respond = Callable[[], RenderedResponse | LongList]


class Paths(Router):
    """The application: Starlette's router, with paths unchanged, and hints for paths that are nearly right.

    Public reads are served from stored responses where these are current, and published files without any route.
    """

    def __init__(
        self,
        context: "AppContext",
        operations: Iterable[Route],
        others: Iterable[Route],
        background: Background,
        published: PublishedGallery | None,
    ) -> None:
        """Serve routes.

        Args:
            context: what their endpoints share.
            operations: the routes of operations, whose endpoints limit slow clients and count responses themselves.
            others: other routes.
            background: the work to do meanwhile.
            published: the published gallery, if it is served.
        """
        metrics = context.gallery.metrics
        self._background, self._published = background, published
        self._cached = ResponseCache(super().__call__, context.data_version, context.answers, metrics)
        self._escaped = ClientLimits(_not_found, metrics)
        others = [*others]
        for route in others:
            route.app = ClientLimits(route.app, metrics)
        default = ClientLimits(self._not_found, metrics)
        super().__init__([*operations, *others], redirect_slashes=False, default=default, lifespan=self._living)
        for route in (*operations, *others):
            # Starlette's `$` also matches before a trailing newline, so a proxy may see another path.
            route.path_regex = re.compile(route.path_regex.pattern.removesuffix("$") + r"\Z")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to what serves its path."""
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        if self._background.loop is not asyncio.get_running_loop():
            self._background.begin()
        serve: ASGIApp
        path, sent = scope["path"], scope.get("raw_path") or b""
        in_folder = FOLDER in path and path.removeprefix(scope.get("root_path", "")).startswith(FOLDER)
        if in_folder and self._published is not None:
            serve = self._published
        # An escaped slash is not a separator (RFC 3986 §2.2), but routes match the decoded path.
        elif b"%" in sent and b"%2f" in sent.lower():
            serve = self._escaped
        else:
            serve = self._cached if scope["method"] in ("GET", "HEAD") else super().__call__
        await serve(scope, receive, send)

    @asynccontextmanager
    async def _living(self, _: object) -> AsyncIterator[None]:
        """Work in the background for as long as the application runs."""
        self._background.begin()
        if self._published is not None:
            self._published.start()
        try:
            yield
        finally:
            if self._published is not None:
                await self._published.close()
            await self._background.end()

    async def _not_found(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _not_found(scope, receive, send, self._hint(scope))

    def _hint(self, scope: Scope) -> str | None:
        """Return a hint for a path that is nearly right; a redirect would lose the body."""
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        if path.startswith("/api/") and path.endswith("/") and self._has({**scope, "path": scope["path"][:-1]}):
            return "Not Found; this path exists without the slash at its end"
        return _HINTS.get(path)

    def _has(self, scope: Scope) -> bool:
        return any(route.matches(scope)[0] is Match.FULL for route in self.routes)


async def _not_found(scope: Scope, receive: Receive, send: Send, hint: str | None = None) -> None:
    if scope["type"] == "http":
        await sendable(error_response(HttpError(404, hint)), scope)(scope, receive, send)
    else:  # a WebSocket, refused before it begins
        await WebSocketClose()(scope, receive, send)


_CHARSET: Final = re.compile(r';\s*charset="?([^\s;"]+)', re.IGNORECASE)


class AppContext:
    """The objects that all endpoints of an application share, such as the gallery and its threads."""

    def __init__(
        self,
        gallery: LogoAdmin,
        origins: Collection[str],
        cache_seconds: int,
        *,
        from_sockets: bool,
        spool_space: int = SPOOL_SPACE,
    ) -> None:
        self.gallery = gallery
        self.dispatch = Dispatch(gallery)
        self.data_version = DataVersion(gallery, self.dispatch, from_sockets=from_sockets)
        self.answers = Answers(gallery.metrics)
        self.cors = Cors(frozenset(origins))
        self.cache_seconds = cache_seconds
        self.faults = Faults()
        self.bodies = BodyReader(gallery.metrics)
        self.flights = SingleFlight()
        self.long_responses = LongResponses[RenderedResponse](spool_space)
        self.uploads = Uploads(self.long_responses, gallery.metrics)
        self.exports = Spool("exports", budget=self.long_responses)
        self.lists = Spool("long responses", budget=self.long_responses)


class Endpoint:
    """Serves all methods of one path of the table of operations; HEAD wherever GET exists."""

    def __init__(self, context: AppContext, operations: Iterable[Operation]) -> None:
        """Serve the operations of the path, one for each method."""
        self._context = context
        self._operations = {operation.method: operation for operation in operations}
        if "GET" in self._operations:
            self._operations["HEAD"] = self._operations["GET"]
        self._cors_fields = {method: context.cors.fixed(operation) for method, operation in self._operations.items()}
        self._renderers = {
            each: Renderer(each, context.gallery, context.cache_seconds, context.lists)
            for operation in self._operations.values()
            for each in (*operation.variants, *operation.by_grant_type.values())
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, with a limit on a client that may be slow to read the response, and count it."""
        request, metrics = request_of(scope), self._context.gallery.metrics
        request.path_params = scope["path_params"]
        operation = request.operation = self._operations.get(request.method)
        status, sent, reader = 0, 0, None
        metrics.request_started()
        try:
            response = await self._response(request, receive, operation)
            if response is None:
                return
            fields = self._cors_fields.get(request.method)
            if fields is None:
                fields = self._context.cors.fields(request, operation)
            fields = [*fields, *request.response_fields, (b"x-request-id", str(request.id).encode())]
            status = response.status
            if response.file is not None or len(response.body) > SLICE:
                send = reader = TimedReader(send)
            await response.send(scope, receive, send, fields, self._context.dispatch)
            sent = 0 if request.method == "HEAD" else len(response.body)
        except Exception:
            status = status or 500
            raise
        finally:
            metrics.request_ended()
            count_response(metrics, request, status, sent if reader is None else reader.sent)

    async def _response(
        self, request: Request, receive: Receive, operation: Operation | None
    ) -> RenderedResponse | None:
        """Return the response to a request, also to one that fails; None if the client went away."""
        try:
            response = (
                self._not_served(request) if operation is None else await self._served(request, receive, operation)
            )
        except ClientDisconnect:
            return None
        except (LogoAdminError, HttpError) as error:
            note_cause(request, error)
            response = error_rendered(error)
        except Exception as error:
            # Methods without an operation cannot fail.
            code = self._context.faults.met(self._operations[request.method], error, str(request.id))
            request.causes.append(code)
            response = error_rendered(HttpError(500))
        else:
            if self._context.faults.lasts and operation is not None:
                self._context.faults.succeeded(operation)
        return response

    async def _served(self, request: Request, receive: Receive, operation: Operation) -> RenderedResponse:
        """Return the response of an operation; its checks are in the order of contract A19."""
        caller = request.caller = self._caller(request, operation)
        if operation.takes_jsonl:
            return await self._imported(request, receive, operation, caller)
        if operation.takes_file:
            return await self._sent(request, receive, operation, caller)
        if operation.attachment:
            return await self._exported(request, operation, caller)
        command = await self._command(request, receive, operation)
        asked = operation.asked_by(command) if operation.has_variants else operation
        respond = partial(self._renderers[asked].response, command, caller, request)
        if operation.is_public_read:
            return await self._shared(request, command, respond)
        if operation.method == "GET":
            return await self._read(request, command, respond)
        if command.judges:
            return await self._judged(request, respond)
        if command.asks_others and operation.permission != PUBLIC:
            response = await self._context.dispatch.asking.run_for(_asker(caller, request), respond)
        else:
            response = await self._writing_lane(command).run(respond)
        if isinstance(response, LongList):
            response = await self._context.dispatch.rendering.run(response.render)
        return response

    def _caller(self, request: Request, operation: Operation) -> Caller:
        """Return the caller that the token identifies (spec §Authentication 1); public operations ignore it.

        Raises:
            InvalidToken: the token is not valid.
            NotAuthenticated: the token is missing.
            InvalidInput: the note of the request is invalid.
        """
        permission = operation.permission
        # Reads do not start sessions, and are no events.
        user_agent = "" if operation.method == "GET" else request.headers.get(b"user-agent", ("",))[0]
        sent = request.headers.get(b"authorization")
        if sent and permission != PUBLIC:
            if len(sent) > 1:
                raise InvalidToken
            scheme, _, token = sent[0].partition(" ")
            if scheme.lower() == "bearer" and token.strip():
                known = self._context.gallery.sessions.caller(token.strip(), request.id, request.client, user_agent)
                return replace(known, occasion=occasion_of(request))
        anonymous = Anonymous(request.client, request.id, user_agent, occasion_of(request))
        require_token(self._context.gallery.access, permission, anonymous)
        return anonymous

    async def _command(self, request: Request, receive: Receive, operation: Operation) -> Command:
        """Return the command of a request; a large body is parsed in a thread."""
        if not operation.takes_body:
            return command_of(request, operation)
        check_head(request, operation)
        body = await self._context.bodies.read(receive, operation.max_body)
        if len(body) <= SMALL_BODY:
            return command_of(request, operation, body)
        return await self._context.dispatch.parsing.run(partial(command_of, request, operation, body))

    def _writing_lane(self, command: Command) -> Lane | LongLane:
        dispatch = self._context.dispatch
        if command.asks_others:
            return dispatch.asking_issuer
        if command.takes_long:
            return dispatch.long_writing
        if command.hashes:
            return dispatch.hashing
        return dispatch.writing

    async def _read(self, request: Request, command: Command, respond: Respond) -> RenderedResponse:
        dispatch = self._context.dispatch
        if command.asks_others:
            return cast(RenderedResponse, await dispatch.asking_issuer.run(respond))  # not a list
        if command.judges:
            return await self._judged(request, respond)
        lane = dispatch.searching if command.searches else dispatch.reading
        response = await lane.run(respond, request.deadline)
        if isinstance(response, LongList):
            response = await dispatch.rendering.run(response.render)
        return response

    async def _judged(self, request: Request, respond: Respond) -> RenderedResponse:
        return cast(RenderedResponse, await self._context.dispatch.judging.run_for(request.client, respond))

    async def _shared(self, request: Request, command: Command, respond: Respond) -> RenderedResponse:
        """Return the response to a public read, shared by all concurrent requests for the same version."""
        context = self._context
        # The version is read first: a response newer than its version is rendered again; an older one would be served.
        version = await context.data_version.of(request)
        key = key_of(request)
        kept = context.long_responses.get(key, version)
        if kept is not None:
            known = known_tag(request, kept.etag)
            return kept if known is None else kept.unmodified(known)

        async def start() -> RenderedResponse:
            response = await self._read(request, command, respond)
            if response.file is not None:
                context.long_responses.keep(key, version, response, response.file.size)
            return response

        response = await context.flights.run((key, version, *request.headers.get(b"if-none-match", ())), start)
        context.answers.keep(request, version, response, context.cors.fields(request, request.operation))
        return response

    async def _imported(
        self, request: Request, receive: Receive, operation: Operation, caller: Caller
    ) -> RenderedResponse:
        """Import the lines of a request; callers without any write scope are refused before the upload."""
        context, dispatch = self._context, self._context.dispatch
        command = cast(ImportRecords, command_of(request, operation))
        check_head(request, operation)
        if request.media_type == CSV and command.kind is None:
            raise InvalidInput([Problem(("query", "kind"), "Field required", "missing")])
        if request.media_type != CSV and command.kind is not None:
            raise HttpError(415, f"Body should be {CSV}")
        sent = _CHARSET.search(request.header(b"content-type"))
        if sent is not None and "charset" not in command.model_fields_set:
            given = {name: getattr(command, name) for name in command.model_fields_set}
            command = ImportRecords(**given, charset=sent[1])
        imports = context.gallery.import_export
        user_id = await dispatch.reading.run(partial(imports.check, command, caller))
        async with context.uploads.received(receive, user_id) as upload:
            command = command.model_copy(update={"lines_hash": upload.digest})
            load = partial(imports.load, command, upload.lines, caller, with_password_hashes=False)
            return await dispatch.long_writing.run(partial(_loaded, load, self._renderers[operation]))

    async def _sent(self, request: Request, receive: Receive, operation: Operation, caller: Caller) -> RenderedResponse:
        """Keep the picture of a request; callers without the right are refused before they send it."""
        context, dispatch = self._context, self._context.dispatch
        command = cast(SendPicture, command_of(request, operation))
        check_head(request, operation)
        if command.source is None and not request.media_type:
            raise no_picture()
        pictures, renderer = context.gallery.pictures, self._renderers[operation]
        await dispatch.reading.run(partial(pictures.check, command, caller))
        content = await context.bodies.read(receive, operation.max_body)
        lane = dispatch.decoding if command.source is None else dispatch.asking
        return await lane.run_for(
            _asker(caller, request), lambda: renderer.short_response(pictures.send(command, content, caller))
        )

    async def _exported(self, request: Request, operation: Operation, caller: Caller) -> RenderedResponse:
        """Return a file with a snapshot of all records; a failure midway is still a 503."""
        context, dispatch = self._context, self._context.dispatch
        command = cast(ExportRecords, command_of(request, operation))
        exports = context.gallery.import_export
        user_id = await dispatch.reading.run(partial(exports.check, command, caller))
        file = context.exports.open(("user", user_id))
        try:
            await dispatch.exporting.run(partial(exports.dump, command, file.write_line, caller))
            media_type, name = _accepted(request), operation.attachment
            if command.format == "csv":
                media_type, name = f"{CSV}; charset=utf-8", f"{command.rows[0].plural}.csv"
            return self._renderers[operation].file_response(file, media_type, name)
        except BaseException:
            file.close()
            raise

    def _not_served(self, request: Request) -> RenderedResponse:
        refusal = HttpError(405, headers={"allow": ", ".join(sorted(self._operations))})
        return self._context.cors.preflight(request, self._operations) or error_rendered(refusal)


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


def _asker(caller: Caller, request: Request) -> Hashable:
    """Return who has other hosts asked: the user, however many addresses they have, if a token names one."""
    return caller.user_id if isinstance(caller, SignedIn) else network_of(request.client)
