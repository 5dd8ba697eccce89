"""The document: paths and operations, bodies and answers."""

from collections.abc import Collection
from http import HTTPStatus
from importlib.metadata import version
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from logoadmin.domain.model.access import PUBLIC, Permission, Policy
from logoadmin.domain.model.command import Command
from logoadmin.domain.model.kinds import KINDS
from logoadmin.entrypoints.http_api.media_types import FORM, JSON, JSON_LINES
from logoadmin.entrypoints.http_api.openapi.examples import describe_field, with_examples, without_sources
from logoadmin.entrypoints.http_api.openapi.headers import RESPONSE_HEADERS, request_headers, response_headers
from logoadmin.entrypoints.http_api.openapi.texts import ABOUT, STATUSES, TAGS
from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.entrypoints.http_api.operations import OPERATIONS

_LINES: Final = '{"kind": "author", "author_id": 1, "user_id": 7, "username": "Ann"}\n'
_REF: Final = "#/components/schemas/{model}"

# What an entry of a 422 and every other error looks like (spec §Errors).
_PROBLEM: Final = {
    "type": "object",
    "required": ["loc", "msg", "type"],
    "properties": {
        "loc": {
            "type": "array",
            "items": {"type": ["string", "integer"]},
            "description": "`path`, `query`, `header` or `body` and the field; of a file `line`, its number and field.",
            "examples": [["path", "logo_id"]],
        },
        "msg": {
            "type": "string",
            "description": "The problem in words.",
            "examples": ["Input should be greater than or equal to 0"],
        },
        "type": {
            "type": "string",
            "description": "The same as a fixed word, for programs.",
            "examples": ["greater_than_equal"],
        },
    },
    "additionalProperties": False,
}


def _detail(schema: dict[str, Any], status: int) -> dict[str, Any]:
    described = {**schema, "description": "What is wrong.", "examples": [STATUSES[status][1]]}
    return {
        "type": "object",
        "required": ["detail"],
        "properties": {"detail": described},
        "additionalProperties": False,
    }


# Schemas that several operations share, beside those of the records.
_SHARED: Final = {
    "Problem": _PROBLEM,
    "Error": _detail({"type": "string"}, 404),
    "InvalidInput": _detail({"type": "array", "items": {"$ref": _REF.format(model="Problem")}}, 422),
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
            "description": ABOUT,
        },
        "servers": [{"url": root_path or "/"}],
        "tags": _tags(),
        "paths": paths,
        "components": {
            "schemas": {
                title: with_examples(title, schema) for title, schema in {**definitions["$defs"], **_SHARED}.items()
            },
            "headers": RESPONSE_HEADERS,
            "securitySchemes": _security_schemes(root_path),
        },
    }


def _operation(operation: Operation, answer: Any, access: Policy) -> dict[str, Any]:
    scope = operation.command.permission.scope
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": f"{operation.description} Takes the scope `{scope}`." if scope else operation.description,
        "x-source": operation.source,
        "security": _security(operation.command.permission, access),
        "responses": {
            str(status): _response(operation, status, answer if status == operation.status else None)
            for status in operation.statuses(access)
        },
    }
    parameters = _parameters(operation)
    if parameters:
        described["parameters"] = parameters
    if operation.takes_body:
        described["requestBody"] = {"required": not operation.bodiless, "content": _contents(operation)}
    return described


def _tags() -> list[dict[str, str]]:
    """Return what operations are listed under; of a kind of record, what such records are."""
    kinds = {kind.plural: kind for kind in KINDS.values()}
    return [
        {"name": tag, "description": without_sources(kinds[tag].record.__doc__) if tag in kinds else TAGS[tag]}
        for tag in dict.fromkeys(operation.tag for operation in OPERATIONS)
    ]


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    fields = operation.command.model_json_schema(ref_template=_REF, schema_generator=_Schemas)["properties"]
    found = []
    for name in operation.path_fields:
        description, example, schema = describe_field(fields[name])
        described = {"name": name, "in": "path", "required": True, "description": description}
        found.append({**described, "schema": schema, "example": example})
    for name in operation.query_fields:
        description, example, schema = describe_field(fields[name])
        # What may be left out is null in Python; a query has no such thing.
        (schema,) = [part for part in schema.get("anyOf", [schema]) if part != {"type": "null"}]
        described = {"name": name, "in": "query", "required": False, "description": description}
        # In the schema: what may be left out, a page for trying out would otherwise send from the start.
        found.append({**described, "schema": {**schema, "examples": [example]}})
    return found + request_headers(operation)


def _links(operation: Operation) -> dict[str, Any]:
    """Return where one can go on from a record that was made."""
    id_field = operation.kind.id_field if operation.kind else "key_id"
    return {
        other.name: {"operationId": other.name, "parameters": {id_field: f"$response.body#/{id_field}"}}
        for other in OPERATIONS
        if tuple(other.path_fields) == (id_field,)
    }


def _security(permission: Permission, access: Policy) -> list[dict[str, list[str]]]:
    if permission == PUBLIC:
        return []
    ways: list[dict[str, list[str]]] = [{name: []} for name in _security_schemes("")]
    return ways if permission.needs_token(access) else [{}, *ways]


def _security_schemes(root_path: str) -> dict[str, Any]:
    """Return the ways of proving who one is: a token by signing in, or one that is there, such as a service key."""
    password = {"tokenUrl": f"{root_path}/api/auth/token", "refreshUrl": f"{root_path}/api/auth/token", "scopes": {}}
    return {
        "password": {
            "type": "oauth2",
            "description": "With a username and a password. Leave `client_id` and `client_secret` empty.",
            "flows": {"password": password},
        },
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "description": "With a service key, or an access token that you have.",
        },
    }


def _response(operation: Operation, status: int, answer: Any | None) -> dict[str, Any]:
    description, detail = STATUSES[status]
    described: dict[str, Any] = {
        "description": description,
        "headers": response_headers(operation, status),
    }
    if status == HTTPStatus.NOT_MODIFIED:
        return described
    if answer is None:
        model = "InvalidInput" if status == HTTPStatus.UNPROCESSABLE_ENTITY else "Error"
        content = {"schema": {"$ref": _REF.format(model=model)}, "example": {"detail": detail}}
    else:
        content = {"schema": answer}
    described["content"] = {JSON: content}
    if operation.attachment and answer is not None:
        described["content"] = {JSON_LINES[0]: {**content, "example": _LINES}}
    links = _links(operation) if status == HTTPStatus.CREATED else {}
    return {**described, "links": links} if links else described


def _contents(operation: Operation) -> dict[str, Any]:
    commands = [command for command in (operation.command, operation.refreshes) if command is not None]
    bodies = [_body(command, operation.path_fields) for command in commands]
    schema = bodies[0] if len(bodies) == 1 else {"anyOf": bodies}
    contents = {JSON: {"schema": schema}}
    if operation.takes_jsonl:
        return {media_type: {"schema": {"type": "string"}, "example": _LINES} for media_type in JSON_LINES}
    if operation.form:
        # What a form says beside that is passed over (RFC 6749 §3.2).
        contents[FORM] = {"schema": {"anyOf": [{**body, "additionalProperties": True} for body in bodies]}}
    return contents


def _body(command: type[Command], path_fields: Collection[str]) -> dict[str, Any]:
    """Return the schema of what a command has beside the fields of its path."""
    schema = command.model_json_schema(schema_generator=_Schemas)
    title = schema.pop("title")
    schema.pop("description")  # the operation's own says it for everybody
    schema["properties"] = {name: field for name, field in schema["properties"].items() if name not in path_fields}
    required = [name for name in schema.pop("required", ()) if name not in path_fields]
    return with_examples(title, {**schema, "required": required} if required else schema)
