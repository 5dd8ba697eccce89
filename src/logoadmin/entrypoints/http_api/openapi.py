"""The OpenAPI 3.1 document, made from the operations and the types of their commands and answers."""

import inspect
from http import HTTPStatus
from importlib.metadata import version
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from logoadmin.domain.access import PUBLIC, Need, Policy
from logoadmin.domain.command import Command
from logoadmin.entrypoints.operations import OPERATIONS, Operation

_JSON: Final = "application/json"
_FORM: Final = "application/x-www-form-urlencoded"
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

_HEADERS: Final = {
    401: {"WWW-Authenticate": {"schema": {"type": "string"}}},
    429: {"Retry-After": {"schema": {"type": "integer"}}},
    503: {"Retry-After": {"schema": {"type": "integer"}}},
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
            "schemas": {**definitions["$defs"], **_SHARED},
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
            str(status): _response(status, answer if status == operation.success else None)
            for status in operation.statuses(access)
        },
    }
    fields = operation.command.model_json_schema(schema_generator=_Schemas)["properties"]
    if operation.path_fields:
        described["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": fields[name]} for name in operation.path_fields
        ]
    if operation.takes_body:
        described["requestBody"] = {"required": True, "content": _contents(operation)}
    return described


def _security(need: Need, access: Policy) -> list[dict[str, list[str]]]:
    if need == PUBLIC:
        return []
    return [{"token": []}] if need.needs_token(access) else [{}, {"token": []}]


def _response(status: int, answer: Any | None) -> dict[str, Any]:
    described: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    if status in _HEADERS:
        described["headers"] = _HEADERS[status]
    if answer is None:
        answer = {"$ref": _REF.format(model="InvalidInput" if status == HTTPStatus.UNPROCESSABLE_ENTITY else "Error")}
    return {**described, "content": {_JSON: {"schema": answer}}}


def _contents(operation: Operation) -> dict[str, Any]:
    commands = [command for command in (operation.command, operation.refreshes) if command is not None]
    bodies = [_body(command, operation.path_fields) for command in commands]
    schema = bodies[0] if len(bodies) == 1 else {"anyOf": bodies}
    contents = {_JSON: {"schema": schema}}
    if operation.form:
        # What a form says beside that is passed over (RFC 6749 §3.2).
        contents[_FORM] = {"schema": {"anyOf": [{**body, "additionalProperties": True} for body in bodies]}}
    return contents


def _body(command: type[Command], path_fields: tuple[str, ...]) -> dict[str, Any]:
    """Return the schema of what a command has beside the fields of its path."""
    schema = command.model_json_schema(schema_generator=_Schemas)
    schema.pop("title")
    schema["properties"] = {name: field for name, field in schema["properties"].items() if name not in path_fields}
    required = [name for name in schema.pop("required", ()) if name not in path_fields]
    return {**schema, "required": required} if required else schema
