"""The statuses of operations, and the schemas of error responses (spec §Errors, contract O2)."""

from http import HTTPStatus
from typing import Any, Final

from logoadmin.domain.kernel.access import PUBLIC, Policy
from logoadmin.domain.kernel.limits import CHALLENGE_EXAMPLE
from logoadmin.entrypoints.http_api.openapi.texts import STATUSES
from logoadmin.entrypoints.http_api.operation import Operation

REF: Final = "#/components/schemas/{model}"

# The schemas of 422 problems and of all other errors (spec §Errors).
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
            "description": "The problem as a sentence.",
            "examples": ["Input should be greater than or equal to 0"],
        },
        "type": {
            "type": "string",
            "description": "The problem as a code, for programs.",
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


# The response to the right password of a user with a second factor (contract O2).
_CODE: Final = _detail({"type": "string"}, 401)
_SECOND_FACTOR_REQUIRED: Final = {
    **_CODE,
    "required": ["detail", "challenge", "factors"],
    "properties": {
        "detail": {**_CODE["properties"]["detail"], "examples": ["A second factor is required"]},
        "challenge": {
            "type": "string",
            "description": "Names this sign-in in its second step. It is not a token: it opens nothing.",
            "examples": [CHALLENGE_EXAMPLE],
        },
        "factors": {
            "type": "array",
            "items": {"enum": ["totp", "passkey", "recovery_code"]},
            "description": "What the second step can be, which is also the name of its field.",
            "examples": [["totp", "recovery_code"]],
        },
        "passkey": {
            "type": "object",
            "description": "With passkeys, the options for `parseRequestOptionsFromJSON`.",
            "examples": [{"challenge": CHALLENGE_EXAMPLE, "rpId": "gallery.example"}],
        },
    },
}

ERROR_SCHEMAS: Final = {
    "Problem": _PROBLEM,
    "Error": _detail({"type": "string"}, 404),
    "SecondFactorRequired": _SECOND_FACTOR_REQUIRED,
    "InvalidInput": _detail({"type": "array", "items": {"$ref": REF.format(model="Problem")}}, 422),
}


def error_schema(operation: Operation, status: int) -> dict[str, Any]:
    """Return the schema of an error response of an operation."""
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        return {"$ref": REF.format(model="InvalidInput")}
    error = {"$ref": REF.format(model="Error")}
    if status == HTTPStatus.UNAUTHORIZED and operation.grants:
        return {"anyOf": [error, {"$ref": REF.format(model="SecondFactorRequired")}]}
    return error


def errors_of(operation: Operation) -> tuple[int, ...]:
    """Return the statuses of errors in the request itself, in ascending order."""
    kind = operation.kind
    followed = {
        # A duplicate value is a bad request when amending a record, and a conflict when creating one.
        400: operation.method == "PATCH" and kind is not None and bool(kind.unique),
        # The record that a sorted list starts after may be gone.
        404: bool(operation.path_fields) or "sort" in operation.query_fields,
        409: operation.success == HTTPStatus.CREATED and kind is not None,
    }
    return tuple(sorted({*operation.also} | {status for status, follows in followed.items() if follows}))


def statuses_of(operation: Operation, policy: Policy) -> tuple[int, ...]:
    """Return every status that an operation itself may return under a policy, in ascending order."""
    permission, is_read = operation.permission, operation.method == "GET"
    followed = {
        413: operation.takes_body or (operation.streams and "limit" in operation.query_fields),
        415: operation.takes_body,
        401: permission != PUBLIC,
        # A token limits its caller even where none is required (contract B4).
        403: permission.needs_token(policy) or (permission != PUBLIC and not is_read),
        304: is_read and operation.is_versioned,
        412: operation.is_conditional,
    }
    own = {status for status, follows in followed.items() if follows}
    usual = {operation.success, operation.existing or operation.success, 422, 503}
    return tuple(sorted({*usual, *errors_of(operation), *own}))
