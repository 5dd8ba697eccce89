"""The OpenAPI document: paths and operations, request bodies and responses."""

from collections.abc import Collection, Mapping
from dataclasses import fields
from http import HTTPStatus
from importlib.metadata import metadata
from typing import Any, Final

from pydantic import TypeAdapter

from logoadmin.domain.kernel.access import PUBLIC, Permission, Policy
from logoadmin.domain.kernel.act_log import AUTHORS_FIELD, BLOCKED_FIELD
from logoadmin.domain.kernel.command import Command, fields_of
from logoadmin.domain.kernel.kinds import ARTWORK_KINDS, AUTHORS, KINDS, RECORDED_KINDS, AnyArtworkKind
from logoadmin.domain.kernel.limits import BlockReason
from logoadmin.entrypoints.http_api import openapi_texts as texts
from logoadmin.entrypoints.http_api.operation import (
    CSV,
    EXPORTED,
    FORM,
    FORM_FIELDS,
    IMPORTED,
    JSON,
    OCTETS,
    PICTURES,
    Grant,
    Operation,
)
from logoadmin.entrypoints.http_api.operations import OPERATIONS

_LINES: Final = '{"kind": "author", "author_id": 1, "user_id": 7, "username": "Ann"}\n'
_CSV: Final = "author_id,user_id,username,created_at\r\n1,7,Ann,1800000000\r\n"
_BINARY: Final = {"type": "string", "format": "binary"}


def _schema_of(command: type[Command]) -> dict[str, Any]:
    return command.model_json_schema(ref_template=texts.REF)


def openapi_document(access: Policy, root_path: str = "") -> dict[str, Any]:
    """Return the OpenAPI document for a service under an access policy, mounted at ``root_path``."""
    answers = [(str(row.answer), row.renderer()) for operation in OPERATIONS for row in operation.variants]
    errors = [(error.__name__, TypeAdapter(error)) for error in texts.ERRORS]
    found, definitions = TypeAdapter.json_schemas(
        [(name, "serialization", adapter) for name, adapter in dict([*answers, *errors]).items()],
        ref_template=texts.REF,
    )
    schemas = {**_parts_of_bodies(), **definitions["$defs"]}
    snapshots = _snapshots(schemas)
    for name in ("before", "after"):
        either = [*map(texts.reference, snapshots), {"type": "null"}]
        schemas["Change"]["properties"][name]["anyOf"] = either
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        either = [found[str(row.answer), "serialization"] for row in operation.variants]
        answer = either[0] if len(either) == 1 else {"anyOf": either}
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, answer, access)
    return {
        "openapi": "3.1.0",
        "info": _info(),
        "servers": [{"url": root_path or "/"}],
        "tags": _tags(),
        "paths": paths,
        "components": {
            "schemas": {
                **{title: texts.with_examples(schema) for title, schema in {**schemas, **snapshots}.items()},
                **_named_bodies(),
            },
            "headers": texts.RESPONSE_HEADERS,
            "securitySchemes": _security_schemes(root_path),
        },
    }


def _info() -> dict[str, Any]:
    """Return the document's title, version, description and licence."""
    about = metadata("logoadmin").json
    licence = about["license_expression"]
    return {
        "title": "logoadmin",
        "version": about["version"],
        "description": texts.ABOUT,
        "license": {"name": licence, "identifier": licence},
    }


def _operation(operation: Operation, answer: Any, access: Policy) -> dict[str, Any]:
    permission = operation.permission
    scopes = [f"`{scope}`" for scope in (permission.scope, *permission.or_else) if scope]
    requires = f" Requires {'one of the scopes' if scopes[1:] else 'the scope'} {', '.join(scopes)}." if scopes else ""
    requires += " Requires a sign-in at most 10 minutes old." if operation.permission.recent else ""
    described: dict[str, Any] = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": operation.description + requires,
        "x-source": operation.source,
        "security": _security(operation.permission, access),
        "responses": {
            str(status): _response(operation, status, answer if status < HTTPStatus.MULTIPLE_CHOICES else None)
            for status in texts.statuses_of(operation, access)
        },
    }
    parameters = _parameters(operation)
    if parameters:
        described["parameters"] = parameters
    if operation.takes_body:
        described["requestBody"] = {"required": not operation.bodiless, "content": _contents(operation)}
    return described


def _tags() -> list[dict[str, str]]:
    """Return the tags of operations; the docstring of a kind's record class describes its tag."""
    of_kinds = {kind.plural: texts.without_sources(kind.record.__doc__) for kind in KINDS.values()}
    described = {**of_kinds, **texts.TAGS}
    return [
        {"name": tag, "description": described[tag]} for tag in dict.fromkeys(operation.tag for operation in OPERATIONS)
    ]


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    fields = _schema_of(operation.command)["properties"]
    found = []
    for name in operation.path_fields:
        description, example, schema = texts.describe_field(fields[name])
        described = {"name": name, "in": "path", "required": True, "description": description}
        found.append({**described, "schema": schema, "example": example})
    for name in operation.query_fields:
        description, example, schema = texts.describe_field(fields[name])
        # Optional fields may be null in Python, but not in a query.
        (schema,) = [part for part in schema.get("anyOf", [schema]) if part != {"type": "null"}]
        described = {"name": name, "in": "query", "required": False, "description": description}
        # The example is in the schema, since interactive docs would otherwise prefill optional parameters.
        found.append({**described, "schema": {**schema, "examples": [example]}})
    return found + texts.request_headers(operation)


def _response_links(operation: Operation) -> dict[str, Any]:
    """Return the links from a created record to further operations."""
    id_field = next(iter(fields(operation.answer))).name
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
    """Return the ways to authenticate: signing in, or an existing token such as a service key."""
    password = {"tokenUrl": f"{root_path}/api/auth/token", "refreshUrl": f"{root_path}/api/auth/token", "scopes": {}}
    return {
        "password": {
            "type": "oauth2",
            "description": "A username and a password. Leave `client_id` and `client_secret` empty.",
            "flows": {"password": password},
        },
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "description": "A service key, or an access token that you have.",
        },
    }


def _response(operation: Operation, status: int, answer: Any | None) -> dict[str, Any]:
    description, detail = texts.STATUSES[status]
    described: dict[str, Any] = {
        "description": description,
        "headers": texts.response_headers(operation, status),
    }
    if status == HTTPStatus.NOT_MODIFIED:
        return described
    if answer is None:
        content = {"schema": texts.error_schema(operation, status), "example": {"detail": detail}}
    else:
        content = {"schema": answer}
    described["content"] = {JSON: content}
    if operation.attachment and answer is not None:
        described["content"] = {media_type: {**content, "example": _LINES} for media_type in EXPORTED}
        described["content"][CSV] = {**content, "example": _CSV}
    links = _response_links(operation) if status == HTTPStatus.CREATED else {}
    return {**described, "links": links} if links else described


def _contents(operation: Operation) -> dict[str, Any]:
    if operation.takes_jsonl:
        # Without the format, generated clients cannot send octets.
        schemas = {each: _BINARY if each == OCTETS else {"type": "string"} for each in IMPORTED}
        return {each: {"schema": schemas[each], "example": _CSV if each == CSV else _LINES} for each in IMPORTED}
    if operation.takes_file:
        return {media_type: {"schema": _BINARY} for media_type in PICTURES}
    if not operation.grants:
        schema = _body(operation.command, operation.not_in_body)
        del schema["description"]  # the operation has its own
        return {JSON: {"schema": schema["properties"][operation.whole_body] if operation.whole_body else schema}}
    forms = [texts.reference(f"{command.__name__}Form") for command in _form_commands(operation)]
    return {
        JSON: {"schema": {"anyOf": [*map(texts.reference, _commands(operation))]}},
        FORM: {"schema": {"anyOf": forms}},
    }


def _commands(operation: Operation) -> tuple[type[Command], ...]:
    return tuple(grant.command for grant in operation.grants) or (operation.command,)


def _form_commands(operation: Operation) -> tuple[type[Command], ...]:
    """Return the commands that a form can express, by RFC 6749 §4.3 and §6."""
    return tuple(command for command in _commands(operation) if fields_of(command).keys() <= FORM_FIELDS)


def _named_bodies() -> dict[str, Any]:
    """Return named schemas for operations with several bodies, so that generated clients have a class for each."""
    found: dict[str, Any] = {}
    for operation in OPERATIONS:
        if operation.grants:
            found |= {grant.command.__name__: _body(grant.command, (), grant) for grant in operation.grants}
            # Other fields of a form are ignored (RFC 6749 §3.2).
            forms = [command.__name__ for command in _form_commands(operation)]
            found |= {f"{name}Form": {**found[name], "additionalProperties": True} for name in forms}
    return found


def _snapshots(records: Mapping[str, Any]) -> dict[str, Any]:
    """Return the snapshot schema of each kind: the record's fields, the ids of its links, and its block."""
    found: dict[str, Any] = {}
    for kind in RECORDED_KINDS.values():
        of_answers = records.get(kind.record.__name__)
        fields = (of_answers or TypeAdapter(kind.record).json_schema(ref_template=texts.REF))["properties"]
        properties = {name: fields[name] for name in kind.stored_fields}
        for artwork in ARTWORK_KINDS:
            if kind is artwork:
                properties[AUTHORS_FIELD] = _links(records, kind, "author_id")
                properties[BLOCKED_FIELD] = TypeAdapter(BlockReason).json_schema()
            elif kind is AUTHORS:  # the author may have been removed
                properties[artwork.plural] = _links(records, artwork, artwork.id_field)
        # Changes that are older than a field lack it.
        required = [name for name in (kind.id_field, "created_at") if name in properties]
        found[f"{kind.name}Snapshot"] = {
            "type": "object",
            "description": f"The {kind.kind} as recorded in the history.",
            "properties": properties,
            "required": required,
        }
    return found


def _links(records: Mapping[str, Any], kind: AnyArtworkKind, other_id: str) -> dict[str, Any]:
    fields = records[f"{kind.name}Author"]["properties"]
    names = (kind.link_id_field, other_id)
    link = {"type": "object", "properties": {name: fields[name] for name in names}, "required": [*names]}
    described = texts.with_examples(link)
    return {
        "type": "array",
        "items": described,
        "description": "The links of the record, in the order they were made.",
        "examples": [described["examples"]],
    }


def _body(command: type[Command], path_fields: Collection[str], grant: Grant | None = None) -> dict[str, Any]:
    """Return the schema of a body, from a command without its path fields, and from its grant."""
    schema = _schema_of(command) if grant is None else grant.described(_schema_of(command))
    schema.pop("$defs", None)
    del schema["title"]
    schema["properties"] = {name: field for name, field in schema["properties"].items() if name not in path_fields}
    required = [name for name in schema.pop("required", ()) if name not in path_fields]
    return texts.with_examples({**schema, "required": required} if required else schema)


def _parts_of_bodies() -> dict[str, Any]:
    """Return the schemas that bodies refer to."""
    parts: dict[str, Any] = {}
    for command in (command for operation in OPERATIONS for command in _commands(operation)):
        parts |= _schema_of(command).get("$defs", {})
    return {name: texts.with_examples(part) if "properties" in part else part for name, part in parts.items()}
