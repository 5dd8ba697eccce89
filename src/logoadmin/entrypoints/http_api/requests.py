"""From a request to a command (contract A1, A4, A5, A19, A21)."""

import re
from collections.abc import Collection
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.requests import Request

from logoadmin.domain.access import PUBLIC, Anonymous, Caller, admit
from logoadmin.domain.command import Command, strict_json
from logoadmin.domain.errors import InvalidInput, InvalidToken, Problem
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.errors import HttpError
from logoadmin.entrypoints.operations import Operation

MAX_BODY: Final = 2 * 1024 * 1024

# No command has more than ten fields: naming each of 200,000 others would take seconds.
_MOST_FIELDS: Final = 100

_JSON: Final = "application/json"
_FORM: Final = "application/x-www-form-urlencoded"
_INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
# int() refuses text of thousands of digits; what is longer than this is out of any bounds anyway.
_LONGEST_INTEGER: Final = 100
_NOT_AN_INTEGER: Final = "Input should be a valid integer, unable to parse string as an integer"


def caller_of(request: Request, gallery: LogoAdmin, operation: Operation) -> Caller:
    """Return who asks, by the token alone; public operations do not look at it.

    Raises:
        InvalidToken: there is one and it is no good.
        NotAuthenticated: there is none where one is needed.
    """
    need = operation.command.need
    anonymous = Anonymous(request.client.host if request.client else "")
    if need == PUBLIC:
        return anonymous
    sent = request.headers.getlist("authorization")
    if len(sent) > 1:
        raise InvalidToken
    scheme, _, token = (sent[0] if sent else "").partition(" ")
    caller = gallery.sessions.caller(token.strip()) if scheme.lower() == "bearer" and token.strip() else anonymous
    admit(gallery.access, need, caller)
    return caller


async def command_of(request: Request, operation: Operation) -> Command:
    """Return the command that a request makes.

    Raises:
        HttpError: its body is too large, or not of a type that is taken.
        InvalidInput: with everything that is wrong with path, query and body.
    """
    path_fields = operation.path_fields
    body = await _body(request, operation) if operation.takes_body else {}
    values = body if isinstance(body, dict) else {}
    command = operation.command
    if operation.refreshes is not None and values.get("grant_type") == "refresh_token":
        command = operation.refreshes
    problems = _strangers("query", dict.fromkeys(request.query_params)) if request.scope["query_string"] else []
    if isinstance(body, Problem):
        problems.append(body)
    else:
        problems += _strangers("body", [name for name in path_fields if name in values])
    try:
        made = command(**{**values, **{name: _integer(request.path_params[name]) for name in path_fields}})
    except InvalidInput as error:
        found = [_placed(problem, path_fields) for problem in error.problems]
        # Without a body there is nothing to say of what it lacks.
        problems += [problem for problem in found if problem.loc[0] == "path" or body is values]
    if problems:
        raise InvalidInput(sorted(problems, key=lambda problem: ("path", "query", "body").index(str(problem.loc[0]))))
    return made


def _strangers(where: str, names: Collection[str]) -> list[Problem]:
    if len(names) > _MOST_FIELDS:
        return [_too_many(where)]
    return [Problem((where, name), "Extra inputs are not permitted", "extra_forbidden") for name in names]


def _too_many(where: str) -> Problem:
    return Problem((where,), f"Input should have at most {_MOST_FIELDS} fields", "too_long")


async def _body(request: Request, operation: Operation) -> dict[str, Any] | Problem:
    """Return what the body says, or the problem with it."""
    body = await _bytes(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _JSON and (body or kind) and not (kind == _FORM and operation.form):
        raise HttpError(415, f"Body should be {_JSON}")
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise HttpError(415, "Body should not be compressed")
    if kind == _FORM:
        return _form(body)
    if not body:
        return Problem(("body",), "Field required", "missing")
    try:
        values = strict_json(body)
    except ValueError as error:
        return Problem(("body",), f"Invalid JSON: {error}", "json_invalid")
    if not isinstance(values, dict):
        return Problem(("body",), "Input should be a JSON object", "dict_type")
    return _too_many("body") if len(values) > _MOST_FIELDS else values


async def _bytes(request: Request) -> bytes:
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length[:20]) > MAX_BODY:
        raise HttpError(413, f"Body should have at most {MAX_BODY} bytes")
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > MAX_BODY:
            raise HttpError(413, f"Body should have at most {MAX_BODY} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


def _form(body: bytes) -> dict[str, str] | Problem:
    """Return the fields of an OAuth 2 form that mean something here; the others are passed over (RFC 6749 §3.2)."""
    try:
        fields = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=100)
    except ValueError:
        return Problem(("body",), "Input should be a form in UTF-8", "value_error")
    ours = ("grant_type", "username", "password", "refresh_token")
    return {name: value for name, value in fields if name in ours}


def _integer(text: str) -> int | str:
    if _INTEGER.fullmatch(text) is None:
        return text
    sign = "-" if text.startswith("-") else ""
    digits = text.lstrip("+-").lstrip("0") or "0"
    return int(sign + digits[:_LONGEST_INTEGER])


def _placed(problem: Problem, path_fields: tuple[str, ...]) -> Problem:
    """Say where in the request a command's problem is; all that paths hold are integers."""
    if problem.loc[0] not in path_fields:
        return Problem(("body", *problem.loc), problem.msg, problem.type)
    if problem.type == "int_type":
        return Problem(("path", *problem.loc), _NOT_AN_INTEGER, "int_parsing")
    return Problem(("path", *problem.loc), problem.msg, problem.type)
