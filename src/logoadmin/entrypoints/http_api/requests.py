"""Makes the command of a request (contract A1, A4, A5, A19, A21)."""

import asyncio
import random
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.access import PUBLIC, Anonymous, Caller, SentRequestId, require_token
from logoadmin.domain.model.command import MOST_FIELDS, MOST_MARKS, REQUEST_OPTIONS, Command, strict_json
from logoadmin.domain.model.errors import InvalidInput, InvalidToken, Problem
from logoadmin.entrypoints.http_api.conditions import header_values, if_match, if_none_match
from logoadmin.entrypoints.http_api.errors import KEY_HEADER, HttpError, option_placed, too_busy
from logoadmin.entrypoints.http_api.operation import FORM, JSON, SMALL_BODY, Operation
from logoadmin.entrypoints.http_api.request_state import RequestState, state_of

AnyCommand = TypeVar("AnyCommand", bound=Command)

RunInThread = Callable[[Callable[[], Command]], Awaitable[Command]]

_INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
# int() refuses thousands of digits; longer numbers than this are out of bounds anyway.
_LONGEST_INTEGER: Final = 100
_FLAGS: Final = {"true": True, "false": False}
# The types of problems with text that cannot be converted.
_PARSING: Final = {
    "int_type": ("Input should be a valid integer, unable to parse string as an integer", "int_parsing"),
    "bool_type": ("Input should be a valid boolean, unable to interpret input", "bool_parsing"),
}
_REQUEST_ID: Final = re.compile("[A-Za-z0-9._-]{1,64}", re.ASCII)
_REPLAYED: Final = (b"idempotency-replayed", b"true")
_PLACES: Final = ("path", "query", "header", "body")
_NOT_SENT: Final = ("",)
# The memory limit of all unfinished large bodies. Anyone can start one: service keys are only checked later.
_MAX_HELD: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    """An ASGI request.

    Attributes:
        scope: the ASGI scope.
        receive: receives its body.
        id: its id in the log and the history.
        headers: the values of each header, in the order in which they were sent.
        state: what the layers of the request share.
        response_fields: header fields that the use case adds to the response.
    """

    scope: Scope
    receive: Receive
    id: str | SentRequestId
    headers: Mapping[bytes, Sequence[str]]
    state: RequestState
    response_fields: set[tuple[bytes, bytes]] = field(default_factory=set)

    @property
    def current_id(self) -> str:
        """The current id."""
        return self.id if isinstance(self.id, str) else self.id.text


def request_of(scope: Scope, receive: Receive) -> Request:
    """Return a request with the client's id, unless the history has it already, or a random one."""
    headers: dict[bytes, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name, []).append(value.decode("latin-1"))
    made_up = _made_up_id()
    sent = headers.get(b"x-request-id", _NOT_SENT)[0]
    id_ = SentRequestId(sent, made_up) if _REQUEST_ID.fullmatch(sent) else made_up
    return Request(scope, receive, id_, headers, state_of(scope))


def request_id_of(scope: Scope) -> str:
    """Return the id of a request that changes nothing: the client's, or a random one."""
    sent = next(iter(header_values(scope, b"x-request-id")), "")
    return sent if _REQUEST_ID.fullmatch(sent) else _made_up_id()


def _made_up_id() -> str:
    # Ids are not secret; reading the system's randomness would release the interpreter lock.
    return f"{random.getrandbits(64):016x}"


def caller_of(request: Request, gallery: LogoAdmin, operation: Operation) -> Caller:
    """Return the caller that the token identifies; public operations ignore it.

    Raises:
        InvalidToken: the token is not valid.
        NotAuthenticated: the token is missing.
    """
    permission = operation.command.permission
    if permission != PUBLIC:
        sent = request.headers.get(b"authorization", _NOT_SENT)
        if len(sent) > 1:
            raise InvalidToken
        scheme, _, token = sent[0].partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            return gallery.sessions.caller(token.strip(), request.id)
    client = request.scope.get("client")
    # Reads do not start sessions.
    user_agent = "" if operation.method == "GET" else request.headers.get(b"user-agent", _NOT_SENT)[0]
    anonymous = Anonymous(client[0] if client else "", request.id, user_agent)
    require_token(gallery.access, permission, anonymous)
    return anonymous


class BodyReader:
    """Reads bodies, within a memory limit for the whole process.

    At the limit, the oldest large body is refused, not the newest one: clients that never finish their bodies would
    otherwise block everyone else.
    """

    def __init__(self) -> None:
        self._large: dict[asyncio.Timeout, int] = {}  # sizes, in the order in which they became large

    async def read(self, request: Request, most: int) -> bytes:
        """Return the body of a request.

        Raises:
            HttpError: it is too large, or had to make room for others.
            ClientDisconnect: the client went away before the end of the body.
        """
        check_length(request, most)
        body = bytearray()  # one, however small the parts in which it arrives
        more = True
        place = asyncio.timeout(None)
        try:
            async with place:
                while more:
                    message = await request.receive()
                    if message["type"] == "http.disconnect":
                        raise ClientDisconnect
                    body += message.get("body", b"")
                    more = message.get("more_body", False)
                    if len(body) > most:
                        raise too_large(most)
                    if more and len(body) > SMALL_BODY:
                        self._hold(place, len(body))
        except TimeoutError:
            raise too_busy("large bodies") from None
        finally:
            self._large.pop(place, None)
        return bytes(body)

    def _hold(self, place: asyncio.Timeout, size: int) -> None:
        self._large[place] = size
        while sum(self._large.values()) > _MAX_HELD:
            first = next(iter(self._large))
            del self._large[first]
            first.reschedule(0)
        if place not in self._large:
            raise TimeoutError


def check_length(request: Request, most: int) -> None:
    """Raise HttpError if the head of a request announces a body that is too large."""
    length = request.headers.get(b"content-length", ("0",))[0]
    if not length.isdecimal() or int(length[:20]) > most:
        raise too_large(most)


def too_large(most: int) -> HttpError:
    """Return the refusal of a body with more bytes than it may have."""
    return HttpError(413, f"Body should have at most {most} bytes")


def is_compressed(request: Request) -> bool:
    """Return whether the body of a request is compressed."""
    return request.headers.get(b"content-encoding", ("identity",))[0].strip().lower() != "identity"


async def command_of(request: Request, operation: Operation, bodies: BodyReader, run_in_thread: RunInThread) -> Command:
    """Return the command in the path, query, body and headers of a request.

    Args:
        request: the request.
        operation: its operation.
        bodies: reads its body.
        run_in_thread: runs a call in a thread, so that large bodies do not block the event loop.

    Raises:
        HttpError: its body is too large, of another type, or one of too many.
        InvalidInput: the request is not valid; has all its problems.
    """
    if not operation.takes_body:
        return _command(request, operation, None)
    _check_media_type(request, operation)  # before the body, whose time limit depends on it
    sent = await bodies.read(request, operation.max_body)
    if len(sent) > SMALL_BODY:
        return await run_in_thread(lambda: _command(request, operation, sent))
    return _command(request, operation, sent)


def command_without_body(request: Request, operation: Operation, of: type[AnyCommand]) -> AnyCommand:
    """Return the command in the query and the headers of a request that imports or exports a file."""
    made = _command(request, operation, None)
    if not isinstance(made, of):
        raise TypeError(f"{operation.name} makes a command of another type")
    return made


def _command(request: Request, operation: Operation, sent: bytes | None) -> Command:
    body = {} if sent is None else _body(request, operation, sent)
    asked, problems = _query(request, operation) if request.scope["query_string"] else ({}, [])
    values: dict[str, Any] = {}
    if isinstance(body, Problem):
        problems.append(body)
    elif operation.not_in_body.isdisjoint(body):
        values = body
    else:
        values = {name: value for name, value in body.items() if name not in operation.not_in_body}
        problems += _strangers("body", [name for name in body if name in operation.not_in_body])
    refreshes = values.get("grant_type") == "refresh_token"
    values.update(asked)
    for name, kind in operation.path_fields.items():
        text = request.scope["path_params"][name]
        values[name] = _integer(text) if kind is int else text
    values.update(_request_options(request, operation, problems))
    try:
        made = (operation.refreshes if operation.refreshes and refreshes else operation.command)(**values)
    except InvalidInput as error:
        found = [_placed(problem, operation) for problem in error.problems]
        # Missing fields of a missing body are not reported.
        problems += [problem for problem in found if problem.loc[0] != "body" or not isinstance(body, Problem)]
    if problems:
        raise InvalidInput(sorted(problems, key=lambda problem: _PLACES.index(str(problem.loc[0]))))
    return made


def _request_options(request: Request, operation: Operation, problems: list[Problem]) -> dict[str, Any]:
    """Return the options in the headers of a request."""
    scope = request.scope
    if operation.method == "GET":
        had = if_none_match(scope)
        return {"if_none_match": had} if had else {}
    if operation.is_conditional:
        return {"if_match": if_match(scope)}
    keys = request.headers.get(b"idempotency-key", ())
    if len(keys) > 1:
        problems.append(Problem(KEY_HEADER, "Header should be given once", "value_error"))
    if len(keys) != 1:
        return {}
    return {"idempotency_key": keys[0], "on_replay": partial(request.response_fields.add, _REPLAYED)}


def _query(request: Request, operation: Operation) -> tuple[dict[str, Any], list[Problem]]:
    """Return the fields of the query, and its problems."""
    sent = request.scope["query_string"]
    if sent.count(b"&") >= MOST_FIELDS:
        return {}, [_too_many("query")]
    try:
        given = _pairs(sent)
    except UnicodeError:
        return {}, [Problem(("query",), "Query should be text in UTF-8", "string_unicode")]
    values: dict[str, Any] = {}
    problems = _strangers("query", [name for name in dict.fromkeys(dict(given)) if name not in operation.query_fields])
    for name, text in given:
        if name in operation.repeated:
            values.setdefault(name, []).append(text)
            continue
        if name in values:
            problems.append(Problem(("query", name), "Parameter should be given once", "value_error"))
        kind = operation.query_fields.get(name)
        if kind is not None:
            values[name] = _integer(text) if kind is int else _FLAGS.get(text, text) if kind is bool else text
    return values, problems


def _strangers(where: str, names: Collection[str]) -> list[Problem]:
    if len(names) > MOST_FIELDS:
        return [_too_many(where)]
    return [Problem((where, name), "Extra inputs are not permitted", "extra_forbidden") for name in names]


def _too_many(where: str) -> Problem:
    return Problem((where,), f"Input should have at most {MOST_FIELDS} fields", "too_long")


def _body(request: Request, operation: Operation, body: bytes) -> dict[str, Any] | Problem:
    """Return the fields of the body, or the problem with it."""
    kind = _check_media_type(request, operation, has_body=bool(body))
    if is_compressed(request):
        raise HttpError(415, "Body should not be compressed")
    if kind == FORM:
        return _form(body)
    if not body and operation.bodiless:
        return {}
    if not body:
        return Problem(("body",), "Field required", "missing")
    try:
        values = strict_json(body, MOST_MARKS)
    except ValueError as error:
        return Problem(("body",), f"Invalid JSON: {error}", "json_invalid")
    if not isinstance(values, dict):
        return Problem(("body",), "Input should be a JSON object", "dict_type")
    return _too_many("body") if len(values) > MOST_FIELDS else values


def _check_media_type(request: Request, operation: Operation, *, has_body: bool = False) -> str:
    """Return the media type of a body, which only a request without a body may leave out."""
    kind = request.headers.get(b"content-type", _NOT_SENT)[0].partition(";")[0].strip().lower()
    if kind != JSON and (has_body or kind) and not (kind == FORM and operation.form):
        raise HttpError(415, f"Body should be {JSON}")
    return kind


def _form(body: bytes) -> dict[str, str] | Problem:
    """Return the known fields of an OAuth 2 form; others are ignored (RFC 6749 §3.2)."""
    try:
        fields = _pairs(body)
    except ValueError:
        return Problem(("body",), "Input should be a form in UTF-8", "value_error")
    ours = ("grant_type", "username", "password", "refresh_token")
    return {name: value for name, value in fields if name in ours}


def _pairs(sent: bytes) -> list[tuple[str, str]]:
    """Return the names and values of a query or a form, decoded as UTF-8."""
    return parse_qsl(sent.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)


def _integer(text: str) -> int | str:
    if _INTEGER.fullmatch(text) is None:
        return text
    sign = "-" if text.startswith("-") else ""
    digits = text.lstrip("+-").lstrip("0") or "0"
    return int(sign + digits[:_LONGEST_INTEGER])


def _placed(problem: Problem, operation: Operation) -> Problem:
    """Return a command's problem with its place in the request; values in paths and queries are converted from text."""
    name = problem.loc[0]
    if name in REQUEST_OPTIONS:
        return option_placed(problem)
    place = "path" if name in operation.path_fields else "query" if name in operation.query_fields else "body"
    msg, type_ = problem.msg, problem.type
    if place != "body":
        msg, type_ = _PARSING.get(type_, (msg, type_))
    return Problem((place, *problem.loc), msg, type_)
