"""Texts, headers, errors and examples of the OpenAPI document (spec §Errors, contract O2)."""

import re
from http import HTTPStatus
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field

from logoadmin.domain.kernel.access import PUBLIC, Policy
from logoadmin.domain.kernel.limits import CHALLENGE_EXAMPLE, MAX_CHANGE_NOTE, MAX_IDEMPOTENCY_KEY, described
from logoadmin.entrypoints.http_api.operation import Operation

ABOUT: Final = """\
Manages the gallery of a community site: its logos and themes, the authors who made them, and the users and roles of the
people who look after it.

Send bodies as `application/json`. Every error is a JSON object whose `detail` describes it: a sentence, or, for 422, an
array with one entry for each problem. Lists are complete unless `limit` is given; then `Link` points to the next page.
To authenticate, send `Authorization: Bearer` with an access token or a service key.
"""

# The tags of operations that are not about a kind of record.
TAGS: Final = {
    "sessions": "Signing in and out, and the signed-in user.",
    "single_sign_on": "The ways to sign in, and the issuer of single sign-on.",
    "preferences": "Preferences that clients store for their user, such as the look of a list.",
    "member_notices": "Notices for users about their submissions and works.",
    "publication": "The published gallery, and the works that are left out of it.",
    "pictures": "The pictures that the service stores.",
    "settings": "The settings shared by all users.",
    "css": "Tools for CSS that is not saved: verdicts, user styles and imports.",
    "text": "Rendering of texts that are not saved.",
    "factors": "Second factors for signing in, and recovery codes.",
    "passkeys": "Passkeys: adding them, and signing in with one alone.",
    "links": "Links that sign in members of the host site.",
    "keys": "Service keys for scripts: long-lived tokens with a scope of their own.",
    "events": "Security events: sign-ins, and changes of passwords, factors and service keys.",
    "changes": "The history: every change of a record, in order, and undoing it.",
    "acts": "The history by request: the changes of each, and whether they can be undone.",
    "proposals": "Changes that wait until a user with the required scopes applies or declines them.",
    "import": "Importing many records from a file.",
    "export": "Exporting many records to a file.",
}

# The meaning of each status, and an example of its `detail`.
STATUSES: Final[dict[int, tuple[str, Any]]] = {
    200: ("Done.", None),
    201: ("Created.", None),
    304: ("The version is still the one in `If-None-Match`.", None),
    400: ("Another record has a value that must be unique.", "Duplicate entry 'Ann' for key 'username'"),
    401: (
        "The token, or the username or password, is not valid, or a recent sign-in or a second step is required.",
        "Couldn't validate credentials",
    ),
    403: ("The token is missing or lacks the scope.", "Not enough permissions"),
    404: ("The record or the link does not exist.", "Logo 12 not found"),
    409: (
        "Another record has a value that must be unique, or the records are in a state that forbids it.",
        "Duplicate entry 'Ann' for key 'username'",
    ),
    412: ("The version is not the one in `If-Match`.", "Logo 12 was changed since"),
    413: ("The body or the whole list is too large.", "Body should have at most 65536 bytes"),
    415: ("The type of the body is not supported, or the body is compressed.", "Body should be application/json"),
    422: (
        "The path, the query, a header or the body is not valid.",
        [{"loc": ["body", "username"], "msg": "Field required", "type": "missing"}],
    ),
    429: (
        "Too many failed sign-ins, refreshes, pictures, new keys, factors or recovery codes in an hour, or concurrent "
        "imports or exports of one user; wait as `Retry-After` indicates.",
        "Too many failed sign-ins",
    ),
    503: (
        "The database is unavailable. The outcome of a write is unknown: retry it, a POST with the same "
        "`Idempotency-Key`.",
        "Cannot connect to the database server at db.example:3306",
    ),
}

# The descriptive keywords of a schema.
_WORDS: Final = ("description", "examples")
_SOURCES: Final = re.compile(r" \((?:spec|contract) [^)]*\)")


def with_examples(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with a description and an example for each field, and for the object.

    The example of the object has all fields, unless the schema has its own examples.
    """
    description = without_sources(schema.get("description", ""))
    described = {**schema, "description": description} if description else schema
    if "properties" not in schema:
        return described
    properties = {name: _field_with_example(field) for name, field in schema["properties"].items()}
    whole = {name: field["examples"][0] for name, field in properties.items()}
    return {**described, "properties": properties, "examples": schema.get("examples", [whole])}


def describe_field(schema: dict[str, Any]) -> tuple[str, Any, dict[str, Any]]:
    """Return the description of a field, its example, and the rest of its schema."""
    bare, own = dict(schema), schema
    if "anyOf" in schema:  # nullable: the description may be in the non-null type
        own = next((part for part in (schema, *schema["anyOf"]) if "description" in part), schema)
        bare["anyOf"] = [{key: value for key, value in part.items() if key not in _WORDS} for part in schema["anyOf"]]
    for word in _WORDS:
        bare.pop(word, None)
    return own["description"], schema["const"] if "const" in schema else own["examples"][0], bare


def without_sources(docstring: str | None) -> str:
    """Return the first paragraph of a docstring in Markdown, without references to the specification and contract."""
    return _SOURCES.sub("", (docstring or "").split("\n\n")[0]).replace("``", "`").replace("\n", " ")


def _field_with_example(field: dict[str, Any]) -> dict[str, Any]:
    description, example, schema = describe_field(field)
    return {**schema, "description": description, "examples": [example]}


def _header(description: str, schema: dict[str, Any], example: object) -> dict[str, Any]:
    return {"description": description, "schema": schema, "example": example}


_TEXT: Final[dict[str, Any]] = {"type": "string"}
_SECONDS: Final[dict[str, Any]] = {"type": "integer", "minimum": 0}
RESPONSE_HEADERS: Final = {
    "ETag": _header("The version of the record or the list; send it as `If-Match` or `If-None-Match`.", _TEXT, '"57"'),
    "Link": _header("A link to the next page, if any.", _TEXT, '</api/users?after=7>; rel="next"'),
    "Cache-Control": _header("Whether browsers and proxies may cache the response.", _TEXT, "no-store"),
    "Idempotency-Replayed": _header(
        "Sent if the response was stored for an earlier request with the same `Idempotency-Key`.",
        {"type": "string", "const": "true"},
        "true",
    ),
    "X-Request-Id": _header("The id of the request in the history and in the log.", _TEXT, "8e03978e40d5"),
    "WWW-Authenticate": _header("The authentication scheme.", _TEXT, "Bearer"),
    "Retry-After": _header("Seconds to wait before retrying.", _SECONDS, 1),
}
_ALWAYS: Final = ("Cache-Control", "X-Request-Id")
_OF_STATUS: Final = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",)}

_IF_NONE_MATCH: Final = "The `ETag` of your cached copy; if it is still current, the response is 304."
_IF_MATCH: Final = (
    'The `ETag` that you read, such as `"57"`: if the record has changed since, the response is 412. `*` matches any '
    "version."
)
_KEY: Final = (
    "A unique text, such as a UUID: a retry with the same key within a day gets the stored response and has no "
    "further effect."
)
_NOTE: Final = "Why you make the change, for the history: UTF-8, percent-encoded."
# Operations with these tags are not in the history, and therefore have no note.
_WITHOUT_HISTORY: Final = frozenset(
    {"links", "sessions", "preferences", "member_notices", "factors", "passkeys", "keys"}
)


def request_headers(operation: Operation) -> list[dict[str, Any]]:
    """Return the request headers of an operation, as parameters."""
    posts, reads = operation.method == "POST", operation.method == "GET"  # a key is ignored if the answer has secrets
    has_note = not reads and operation.tag not in _WITHOUT_HISTORY and operation.permission != PUBLIC
    key_schema = {"minLength": 1, "maxLength": MAX_IDEMPOTENCY_KEY}
    headers: tuple[tuple[bool, str, str, dict[str, int], str], ...] = (
        (reads and operation.is_versioned, "If-None-Match", _IF_NONE_MATCH, {}, '"57"'),
        (operation.is_conditional, "If-Match", _IF_MATCH, {}, "*"),
        (posts, "Idempotency-Key", _KEY, key_schema, "8e03978e-40d5-43dd-bc93-6894a57f9324"),
        (has_note, "X-Change-Note", _NOTE, {"minLength": 1, "maxLength": MAX_CHANGE_NOTE}, "Asked%20for%20by%20Ann"),
    )
    return [
        {"name": name, "in": "header", "required": False, "description": description,
         "schema": {**_TEXT, **schema, "examples": [example]}}
        for counts, name, description, schema, example in headers if counts
    ]  # fmt: skip


def response_headers(operation: Operation, status: int) -> dict[str, Any]:
    """Return the headers of a response, as references to :data:`RESPONSE_HEADERS`."""
    names = [*_ALWAYS, *_OF_STATUS.get(status, ())]
    if operation.is_versioned and status in (operation.success, HTTPStatus.NOT_MODIFIED):
        names.append("ETag")
    if operation.is_repeatable and status == operation.success:
        names.append("Idempotency-Replayed")
    if operation.streams and operation.query_fields and status == operation.success:
        names.append("Link")
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


REF: Final = "#/components/schemas/{model}"


def reference(model: type | str) -> dict[str, str]:
    """Return the reference to the schema of a model."""
    return {"$ref": REF.format(model=model if isinstance(model, str) else model.__name__)}


# The bodies of error responses (spec §Errors).
class _Body(BaseModel, extra="forbid"):
    pass


class Problem(_Body):
    """A problem with a request."""

    loc: Annotated[
        list[str | int],
        described(
            "`path`, `query`, `header` or `body` and the field; in a file `line`, its number and field.",
            ["path", "logo_id"],
        ),
    ]
    msg: Annotated[str, described("The problem as a sentence.", "Input should be greater than or equal to 0")]
    type: Annotated[str, described("The problem as a code, for programs.", "greater_than_equal")]


class Error(_Body):
    """The response to a failed request."""

    detail: Annotated[str, described("A description of the error.", STATUSES[404][1])]


class SecondFactorRequired(_Body):
    """The password is correct, and a second factor is required. The challenge grants no access."""

    detail: Annotated[str, described("A description of the error.", "A second factor is required")]
    challenge: Annotated[
        str,
        described(
            "Identifies this sign-in in the second step. It is not a token and grants no access.", CHALLENGE_EXAMPLE
        ),
    ]
    factors: Annotated[
        list[Literal["totp", "passkey", "recovery_code"]],
        described("The possible second steps; each is also the name of its field.", ["totp", "recovery_code"]),
    ]
    passkey: Annotated[
        dict[str, Any],
        described(
            "For passkeys, the options for `parseRequestOptionsFromJSON`.",
            {"challenge": CHALLENGE_EXAMPLE, "rpId": "gallery.example"},
        ),
    ] = Field(default_factory=dict)


class InvalidInput(_Body):
    """The response to an invalid request, with all of its problems."""

    detail: Annotated[list[Problem], described("A description of the error.", STATUSES[422][1])]


ERRORS: Final = (Error, SecondFactorRequired, InvalidInput)


def error_schema(operation: Operation, status: int) -> dict[str, Any]:
    """Return the schema of an error response of an operation."""
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        return reference(InvalidInput)
    if status == HTTPStatus.UNAUTHORIZED and operation.grants:
        return {"anyOf": [reference(Error), reference(SecondFactorRequired)]}
    return reference(Error)


def errors_of(operation: Operation) -> tuple[int, ...]:
    """Return the error statuses for the content of a request, in ascending order."""
    kind = operation.kind
    followed = {
        # A duplicate value is a bad request when amending a record, and a conflict when creating one.
        400: operation.method == "PATCH" and kind is not None and bool(kind.unique),
        # The record after which a sorted page starts may no longer exist.
        404: bool(operation.path_fields) or "sort" in operation.query_fields,
        409: operation.success == HTTPStatus.CREATED and kind is not None,
    }
    return tuple(sorted({*operation.also} | {status for status, follows in followed.items() if follows}))


def statuses_of(operation: Operation, policy: Policy) -> tuple[int, ...]:
    """Return all statuses that an operation may return under a policy, in ascending order."""
    permission, is_read = operation.permission, operation.method == "GET"
    followed = {
        413: operation.takes_body or (operation.streams and "limit" in operation.query_fields),
        415: operation.takes_body,
        401: permission != PUBLIC,
        # A token limits its caller even if none is required (contract B4).
        403: permission.needs_token(policy) or (permission != PUBLIC and not is_read),
        304: is_read and operation.is_versioned,
        412: operation.is_conditional,
    }
    own = {status for status, follows in followed.items() if follows}
    usual = {operation.success, operation.existing or operation.success, 422, 503}
    return tuple(sorted({*usual, *errors_of(operation), *own}))
