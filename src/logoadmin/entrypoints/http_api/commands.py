"""Builds the command of a request (contract A1, A4, A5, A21)."""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

from logoadmin.domain.kernel.access import BY_INTERFACE, Occasion, Source
from logoadmin.domain.kernel.command import MOST_FIELDS, REQUEST_OPTIONS, Command, Input, strict_json
from logoadmin.domain.kernel.errors import InvalidInput, Problem
from logoadmin.domain.kernel.limits import ChangeNote
from logoadmin.entrypoints.http_api.conditions import if_match, if_none_match
from logoadmin.entrypoints.http_api.errors import KEY_HEADER, NOTE_HEADER, PLACES, option_placed
from logoadmin.entrypoints.http_api.http_error import HttpError
from logoadmin.entrypoints.http_api.operation import FORM, FORM_FIELDS, GRANT_TYPE, JSON, Operation
from logoadmin.entrypoints.http_api.request import Request

_INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
# int() rejects thousands of digits; numbers longer than this are out of bounds anyway.
_LONGEST_INTEGER: Final = 100
_FLAGS: Final = {"true": True, "false": False}
# The problem types for text that cannot be converted.
_PARSING: Final = {
    "int_type": ("Input should be a valid integer, unable to parse string as an integer", "int_parsing"),
    "bool_type": ("Input should be a valid boolean, unable to interpret input", "bool_parsing"),
}
# The value of `X-Requested-With` in requests from the console.
CONSOLE: Final = "logoadmin-console"


def command_of(request: Request, operation: Operation, body: bytes | None = None) -> Command:
    """Return the command in the path, query, headers and body of a request; without a body, it has no fields there."""
    sent = {} if body is None else _fields_of_body(request, operation, body)
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    if isinstance(sent, Problem):
        problems.append(sent)
    elif operation.not_in_body.isdisjoint(sent):
        values = sent
    else:
        values = {name: value for name, value in sent.items() if name not in operation.not_in_body}
        problems += _extra("body", [name for name in sent if name in operation.not_in_body])
    requested = operation
    if operation.grants and GRANT_TYPE in values:
        requested = _of_grant_type(values.pop(GRANT_TYPE), operation, problems)
    if request.query:
        problems += _add_query(values, request.query, operation)
    for name, kind in operation.path_fields.items():
        text = request.path_params[name]
        values[name] = _integer(text) if kind is int else text
    problems += _add_options(values, request, operation)
    try:
        command = requested.command(**values)
    except InvalidInput as error:
        found = [_placed(problem, operation) for problem in error.problems]
        # Missing fields of a missing body are not reported.
        problems += [problem for problem in found if problem.loc[0] != "body" or not isinstance(sent, Problem)]
    if problems:
        raise InvalidInput(sorted(problems, key=lambda problem: PLACES.index(str(problem.loc[0]))))
    return command


def _of_grant_type(grant_type: object, operation: Operation, problems: list[Problem]) -> Operation:
    """Return the operation for a ``grant_type``; add a problem if it is unknown."""
    found = operation.by_grant_type.get(grant_type) if isinstance(grant_type, str) else None
    if found is None:
        known = ", ".join(operation.by_grant_type)
        problems.append(Problem(("body", GRANT_TYPE), f"Input should be one of {known}", "literal_error"))
    return found or operation


def _fields_of_body(request: Request, operation: Operation, body: bytes) -> dict[str, Any] | Problem:
    """Return the fields of the body, or the problem with the body."""
    kind = request.media_type
    if body and not kind:
        raise HttpError(415, f"Body should be {JSON}")
    if kind == FORM:
        return _form(body)
    if not body:
        return {} if operation.bodiless else Problem(("body",), "Field required", "missing")
    try:
        values = strict_json(body, operation.most_marks)
    except ValueError as error:
        return Problem(("body",), f"Invalid JSON: {error}", "json_invalid")
    if not isinstance(values, dict):
        return Problem(("body",), "Input should be a JSON object", "dict_type")
    if operation.whole_body:
        return {operation.whole_body: values}
    return _too_many("body") if len(values) > MOST_FIELDS else values


def _form(body: bytes) -> dict[str, str] | Problem:
    """Return the known fields of an OAuth 2 form, each of which may be there once (RFC 6749 §3.2)."""
    if body.count(b"&") >= MOST_FIELDS:
        return _too_many("body")
    try:
        fields = [(name, value) for name, value in _pairs(body) if name in FORM_FIELDS]
    except UnicodeError:
        return Problem(("body",), "Input should be a form in UTF-8", "value_error")
    values = dict(fields)
    return values if len(values) == len(fields) else Problem(("body",), "Fields should be given once", "value_error")


def _add_query(values: dict[str, Any], query: bytes, operation: Operation) -> list[Problem]:
    """Add the query fields to the values, and return the problems with the query."""
    if query.count(b"&") >= MOST_FIELDS:
        return [_too_many("query")]
    try:
        pairs = _pairs(query)
    except UnicodeError:
        return [Problem(("query",), "Query should be text in UTF-8", "string_unicode")]
    problems = _extra("query", [name for name in dict.fromkeys(dict(pairs)) if name not in operation.query_fields])
    for name, text in pairs:
        kind = operation.query_fields.get(name)
        if kind is None:
            continue  # already a problem
        if name in operation.repeated:
            values.setdefault(name, []).append(text)
            continue
        if name in values:
            problems.append(Problem(("query", name), "Parameter should be given once", "value_error"))
        values[name] = _integer(text) if kind is int else _FLAGS.get(text, text) if kind is bool else text
    return problems


def _add_options(values: dict[str, Any], request: Request, operation: Operation) -> list[Problem]:
    """Add the options in the headers to the values, and return the problems with them."""
    if operation.method == "GET":
        if operation.is_versioned and (versions := if_none_match(request)):
            values["if_none_match"] = versions
    elif operation.is_conditional:
        values["if_match"] = if_match(request)
    if operation.is_repeatable and (keys := request.headers.get(b"idempotency-key")):
        if len(keys) > 1:
            return [Problem(KEY_HEADER, "Header should be given once", "value_error")]
        values |= {"idempotency_key": keys[0], "on_replay": request.mark_replayed}
    return []


class _NoteInput(Input):
    """The reason for a request."""

    note: ChangeNote


def occasion_of(request: Request) -> Occasion:
    """Return the source of a change request, and its note (contract G5).

    Notes are percent-encoded, because headers are limited to Latin-1.
    """
    if request.method == "GET":
        return BY_INTERFACE
    source = Source.CONSOLE if CONSOLE in request.headers.get(b"x-requested-with", ()) else Source.INTERFACE
    sent = request.headers.get(b"x-change-note")
    if not sent:
        return BY_INTERFACE if source is Source.INTERFACE else Occasion(source)
    if len(sent) > 1:
        raise InvalidInput([Problem(NOTE_HEADER, "Header should be given once", "value_error")])
    try:
        note = unquote(sent[0], errors="strict")
    except UnicodeDecodeError:
        raise InvalidInput([Problem(NOTE_HEADER, "Header should be text in UTF-8", "string_unicode")]) from None
    try:
        return Occasion(source, _NoteInput(note=note).note)
    except InvalidInput as error:
        raise InvalidInput([replace(problem, loc=NOTE_HEADER) for problem in error.problems]) from None


def _extra(where: str, names: Collection[str]) -> list[Problem]:
    if len(names) > MOST_FIELDS:
        return [_too_many(where)]
    return [Problem((where, name), "Extra inputs are not permitted", "extra_forbidden") for name in names]


def _too_many(where: str) -> Problem:
    return Problem((where,), f"Input should have at most {MOST_FIELDS} fields", "too_long")


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
    """Return a problem of a command with its place in the request; paths and queries are text that is converted."""
    name = problem.loc[0]
    if name in REQUEST_OPTIONS:
        return option_placed(problem)
    place = "path" if name in operation.path_fields else "query" if name in operation.query_fields else "body"
    msg, type_ = problem.msg, problem.type
    if place != "body":
        msg, type_ = _PARSING.get(type_, (msg, type_))
    loc = problem.loc[1:] if name == operation.whole_body else problem.loc
    return Problem((place, *loc), msg, type_)
