"""The OpenAPI 3.1 document, made from the operations and the types of their commands and answers."""

import inspect
from http import HTTPStatus
from importlib.metadata import version
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from logoadmin.domain.access import PUBLIC, Need, Policy
from logoadmin.domain.command import Command
from logoadmin.domain.records import Author, Logo, NewServiceKey, Role, Theme, User
from logoadmin.domain.repeats import MAX_KEY
from logoadmin.entrypoints.operations import OPERATIONS, Operation

_JSON: Final = "application/json"
_FORM: Final = "application/x-www-form-urlencoded"
_ID_FIELDS: Final[dict[Any, tuple[str, ...]]] = {
    User: ("user_id",),
    Role: ("role_id",),
    Author: ("author_id",),
    Theme: ("theme_id",),
    Logo: ("logo_id",),
    NewServiceKey: ("key_id",),
}
_REF: Final = "#/components/schemas/{model}"

# What an entry of a 422 and every other error looks like (spec §Errors).
_PROBLEM: Final = {
    "type": "object",
    "required": ["loc", "msg", "type"],
    "properties": {
        "loc": {"type": "array", "items": {"type": ["string", "integer"]}},
        "msg": {"type": "string"},
        "type": {"type": "string"},
    },
    "additionalProperties": False,
}


def _detail(schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["detail"],
        "properties": {"detail": schema},
        "additionalProperties": False,
    }


# Schemas that several operations share, beside those of the records.
_SHARED: Final = {
    "Problem": _PROBLEM,
    "Error": _detail({"type": "string"}),
    "InvalidInput": _detail({"type": "array", "items": {"$ref": _REF.format(model="Problem")}}),
}


def _header(description: str, schema: dict[str, Any], example: object) -> dict[str, Any]:
    return {"description": description, "schema": schema, "example": example}


_TEXT: Final[dict[str, Any]] = {"type": "string"}
_SECONDS: Final[dict[str, Any]] = {"type": "integer", "minimum": 0}
_RESPONSE_HEADERS: Final = {
    "ETag": _header("The version (contract F1).", _TEXT, '"57"'),
    "Link": _header(
        "Where the next page is, if there is one (contract E2).", _TEXT, '</api/users?after=7>; rel="next"'
    ),
    "Cache-Control": _header("Whether it may be kept (contract F2).", _TEXT, "no-store"),
    "X-Request-Id": _header("What the request is known by, in the history, too (contract G).", _TEXT, "8e03978e40d5"),
    "WWW-Authenticate": _header("What a token is sent as (RFC 6750).", _TEXT, "Bearer"),
    "Retry-After": _header("Seconds after which it is worth another try.", _SECONDS, 1),
}
_ALWAYS: Final = ("Cache-Control", "X-Request-Id")
_OF_STATUS: Final = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",)}

_CONDITIONS: Final = {
    "If-None-Match": "Entity tags that the client has already: with one of them, the answer is 304 (contract F1).",
    "If-Match": "Entity tags of which the record must still have one: otherwise the answer is 412 (contract F1).",
}
_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "Sent again with the same key within a day, the request gets its first answer (contract F3).",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_KEY,
        "examples": ["8e03978e-40d5-43dd-bc93-6894a57f9324"],
    },
}

# One value for each field, wherever it is.
_EXAMPLES: Final[dict[str, Any]] = {
    "user_id": 1042,
    "username": "Ann",
    "avatar": "https://example.org/ann.png",
    "password": "correct horse battery staple",
    "role_id": 1,
    "name": "Aurora",
    "scope": ["logos:write", "themes:write"],
    "author_id": 7,
    "theme_id": 3,
    "logo_id": 12,
    "theme_author_id": 4,
    "logo_author_id": 19,
    "preview_url": "https://example.org/aurora.png",
    "target": "forum",
    "custom_css": "body { color: #123 }",
    "active": True,
    "created_at": 1_800_000_000,
    "grant_type": "password",
    "access_token": "eyJhbGciOi...",
    "token_type": "bearer",
    "expires_in": 900,
    "refresh_token": "Zk3v...",
    "key": "lga_7Hq2...",
    "key_id": 2,
    "expires_at": 1_830_000_000,
    "last_used_at": None,
    "ended": True,
    "change_id": 57,
    "at": 1_800_000_000,
    "action": "author.amended",
    "kind": "author",
    "id": 7,
    "before": {"author_id": 7, "user_id": 1042, "username": "Ann", "created_at": 1_800_000_000},
    "after": {"author_id": 7, "user_id": 1042, "username": "Anna", "created_at": 1_800_000_000},
    "request_id": "8e03978e40d5",
    "limit": 100,
    "q": "aur",
    "detail": "Logo 12 not found",
    "loc": ["path", "logo_id"],
    "msg": "Input should be greater than or equal to 0",
    "type": "greater_than_equal",
}


class _Schemas(GenerateJsonSchema):
    """The value that says that a field was not given is no part of the interface."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 (as it is declared)


def openapi_document(access: Policy, root_path: str = "") -> dict[str, Any]:
    """Return the document for a service under an access policy, mounted at a path where one is given."""
    inputs: list[tuple[int, Any, TypeAdapter[Any]]] = [
        (row, "serialization", operation.renderer()) for row, operation in enumerate(OPERATIONS)
    ]
    answers, definitions = TypeAdapter.json_schemas(inputs, ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for row, operation in enumerate(OPERATIONS):
        described = _operation(operation, answers[row, "serialization"], access)
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "logoadmin",
            "version": version("logoadmin"),
            "description": "Administration of a gallery of site logos and themes.",
        },
        "servers": [{"url": root_path or "/"}],
        "paths": paths,
        "components": {
            "schemas": _with_examples({**definitions["$defs"], **_SHARED}),
            "headers": _RESPONSE_HEADERS,
            "securitySchemes": {
                "token": {
                    "type": "oauth2",
                    "flows": {"password": {"tokenUrl": f"{root_path}/api/auth/token", "scopes": {}}},
                }
            },
        },
    }


def _operation(operation: Operation, answer: Any, access: Policy) -> dict[str, Any]:
    kind, _, verb = operation.call.partition(".")
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [kind],
        "summary": f"{verb.replace('_', ' ').capitalize()}: {inspect.getdoc(operation.command)}",
        "description": operation.source,
        "security": _security(operation.command.need, access),
        "responses": {
            str(status): _response(operation, status, answer if status == operation.success else None)
            for status in operation.statuses(access)
        },
    }
    parameters = _parameters(operation)
    if parameters:
        described["parameters"] = parameters
    if operation.takes_body:
        described["requestBody"] = {"required": not operation.bodiless, "content": _contents(operation)}
    return described


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    fields = operation.command.model_json_schema(schema_generator=_Schemas)["properties"]
    found = [
        {"name": name, "in": "path", "required": True, "schema": fields[name], "example": _EXAMPLES[name]}
        for name in operation.path_fields
    ]
    for name in operation.query_fields:
        # What may be left out is null in Python; a query has no such thing.
        (schema,) = [part for part in fields[name]["anyOf"] if part != {"type": "null"}]
        example = _EXAMPLES["change_id"] if name == "after" else _EXAMPLES[name]
        # In the schema: what may be left out, a page for trying out would otherwise send from the start.
        schema = {**schema, "examples": [example]}
        found.append({"name": name, "in": "query", "required": False, "schema": schema})
    for name, counts in (
        ("If-None-Match", operation.method == "GET" and operation.is_versioned),
        ("If-Match", operation.is_conditional),
    ):
        if counts:
            header = {"name": name, "in": "header", "required": False, "description": _CONDITIONS[name]}
            found.append({**header, "schema": {**_TEXT, "examples": ['"57"']}})
    if operation.method == "POST":
        found.append({**_KEY, "required": False})
    return found


def _links(operation: Operation) -> dict[str, Any]:
    """Return where one can go on from a record that was made."""
    id_fields = list(_ID_FIELDS.get(operation.answer, ()))
    return {
        other.name: {"operationId": other.name, "parameters": {name: f"$response.body#/{name}" for name in id_fields}}
        for other in OPERATIONS
        if id_fields and list(other.path_fields) == id_fields
    }


def _security(need: Need, access: Policy) -> list[dict[str, list[str]]]:
    if need == PUBLIC:
        return []
    return [{"token": []}] if need.needs_token(access) else [{}, {"token": []}]


def _response(operation: Operation, status: int, answer: Any | None) -> dict[str, Any]:
    described: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    names = [*_ALWAYS, *_OF_STATUS.get(status, ())]
    if operation.is_versioned and status in (operation.success, HTTPStatus.NOT_MODIFIED):
        names.append("ETag")
    if operation.streams and operation.query_fields and status == operation.success:
        names.append("Link")
    described["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}
    if status == HTTPStatus.NOT_MODIFIED:
        return described
    if answer is None:
        answer = {"$ref": _REF.format(model="InvalidInput" if status == HTTPStatus.UNPROCESSABLE_ENTITY else "Error")}
    described["content"] = {_JSON: {"schema": answer}}
    links = _links(operation) if status == HTTPStatus.CREATED else {}
    return {**described, "links": links} if links else described


def _contents(operation: Operation) -> dict[str, Any]:
    commands = [command for command in (operation.command, operation.refreshes) if command is not None]
    bodies = [_body(command, operation.path_fields) for command in commands]
    schema = bodies[0] if len(bodies) == 1 else {"anyOf": bodies}
    contents = {_JSON: {"schema": schema}}
    if operation.form:
        # What a form says beside that is passed over (RFC 6749 §3.2).
        contents[_FORM] = {"schema": {"anyOf": [{**body, "additionalProperties": True} for body in bodies]}}
    return contents


def _with_examples(schemas: Any) -> Any:
    """Return schemas whose fields have an example each."""
    if isinstance(schemas, list):
        return [_with_examples(part) for part in schemas]
    if not isinstance(schemas, dict):
        return schemas
    made = {name: _with_examples(part) for name, part in schemas.items()}
    if isinstance(made.get("properties"), dict) and made.get("type") == "object":
        made["properties"] = {
            name: {**field, "examples": [_EXAMPLES[name]]} if name in _EXAMPLES and "$ref" not in field else field
            for name, field in made["properties"].items()
        }
    return made


def _body(command: type[Command], path_fields: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema of what a command has beside the fields of its path."""
    schema = command.model_json_schema(schema_generator=_Schemas)
    schema.pop("title")
    schema["properties"] = {name: field for name, field in schema["properties"].items() if name not in path_fields}
    required = [name for name in schema.pop("required", ()) if name not in path_fields]
    described: dict[str, Any] = _with_examples({**schema, "required": required} if required else schema)
    return described
