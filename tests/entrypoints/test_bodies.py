"""Limits of a body: its bytes, its values, and the time that others wait for it (contract A21)."""

import asyncio
import re
from json import dumps
from typing import Any, Final

import pytest
from starlette.types import ASGIApp, Message

from logoadmin.domain.kernel.limits import MAX_PREFERENCES
from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from tests.asgi import scope_of
from tests.entrypoints.test_operations import JSON_TYPE, LARGEST, LARGEST_WITH_CSS


def largest(schema: dict[str, Any], parts: dict[str, Any]) -> object:
    """Return the value of a field that takes most bytes as JSON in ASCII; the schema may refer to parts."""
    match schema:
        case {"$ref": reference}:
            return largest(parts[reference.rpartition("/")[2]], parts)
        case {"properties": properties}:
            return {name: largest(each, parts) for name, each in properties.items()}
        case {"anyOf": [first, *_]}:
            return largest(first, parts)
        case {"type": "array"}:
            return [largest(schema["items"], parts)] * schema["maxItems"]
        case {"type": "string", "pattern": pattern, "maxLength": length} if not re.match(
            pattern, "\U0001f600" * length
        ):
            return "a" * length
        case {"type": "string", "pattern": "^[0-9]{6}$"}:
            return "0" * 6
        case {"type": "string", "maxLength": length}:
            return "\U0001f600" * length
        case {"type": "integer"}:
            return -(2**31)
        case {"type": "boolean"}:
            return False
        case {"enum": names}:
            return max(names, key=len)
    return schema["const"]


# Bodies whose fields have no limit of their own.
OF_ANY_LENGTH: Final = {
    "apply_changes": LARGEST_WITH_CSS,
    "propose_changes": LARGEST_WITH_CSS,
    "amend_proposal": LARGEST_WITH_CSS,
    "amend_settings": LARGEST_WITH_CSS,
    "set_preferences": LARGEST,
}


@pytest.mark.rule("contract A21", "contract J7", "contract J8")
def test_bulk_changes_preferences_and_proposals_have_a_total_limit() -> None:
    assert {row.name: row.max_body for row in OPERATIONS if row.name in OF_ANY_LENGTH} == OF_ANY_LENGTH
    # Each letter of two bytes may be escaped as six.
    assert OF_ANY_LENGTH["set_preferences"] >= 3 * MAX_PREFERENCES


@pytest.mark.rule("contract A21")
@pytest.mark.filterwarnings("ignore::pydantic.json_schema.PydanticJsonSchemaWarning")  # of defaults, not of lengths
@pytest.mark.parametrize(
    "operation",
    [
        row
        for row in OPERATIONS
        if row.takes_body and not (row.takes_jsonl or row.takes_file) and row.name not in OF_ANY_LENGTH
    ],
    ids=lambda row: row.name,
)
def test_every_operation_accepts_the_largest_valid_body(operation: Operation) -> None:
    for made in (operation.command, *(grant.command for grant in operation.grants)):
        whole = made.model_json_schema()
        fields = whole["properties"]
        needed = len(dumps({name: largest(schema, whole.get("$defs", {})) for name, schema in fields.items()}))
        assert operation.max_body == (LARGEST_WITH_CSS if {"custom_css", "text"} & fields.keys() else LARGEST)
        assert needed <= operation.max_body


class Unfinished:
    """A request with an invented service key and an endless body."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.comes = True
        self.answer: dict[str, Any] = {}

    async def receive(self) -> Message:
        if not self.comes:
            await asyncio.Event().wait()
        self.comes = False
        return {"type": "http.request", "body": bytes(self.size), "more_body": True}

    async def send(self, message: Message) -> None:
        self.answer.update(message)


async def statuses_of_unfinished(app: ASGIApp, size: int, count: int) -> list[int | None]:
    """Return the status that each of some requests gets that come one after the other, None where it may go on."""
    requests = [Unfinished(size) for _ in range(count)]
    headers = [("authorization", "Bearer lga_" + "a" * 43), *JSON_TYPE.items()]
    scopes = [scope_of("POST", "/api/logos", headers) for _ in requests]
    tasks = [asyncio.ensure_future(app(s, r.receive, r.send)) for s, r in zip(scopes, requests, strict=True)]
    for _ in range(20):
        await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    for refused in (request.answer for request in requests if request.answer):
        assert dict(refused["headers"])[b"retry-after"] == b"1"
        assert refused["body"] == b'{"detail":"Too many concurrent large bodies; try again later"}'
    await asyncio.gather(*tasks, return_exceptions=True)
    return [request.answer.get("status") for request in requests]


@pytest.mark.rule("contract A21", "contract H4")
def test_unfinished_large_bodies_hold_no_more_than_64_mib_together(app: ASGIApp) -> None:
    for _ in range(2):  # and what was held is given back
        found = asyncio.run(statuses_of_unfinished(app, 3_500_000, 22))
        assert found == [503] * 3 + [None] * 19
    assert asyncio.run(statuses_of_unfinished(app, LARGEST, 1_100)) == [None] * 1_100
