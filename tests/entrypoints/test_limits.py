"""Limits of a body and of slow clients: bytes, values, time, and how little is held for them (contract A21, H4)."""

import asyncio
import re
import selectors
from collections.abc import Coroutine
from json import dumps
from typing import Any, Final, TypeVar

import pytest
from starlette.types import ASGIApp, Message

import logoadmin
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.kernel.limits import MAX_PREFERENCES
from logoadmin.entrypoints.http_api.bodies import BodyReader
from logoadmin.entrypoints.http_api.http_error import HttpError
from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from logoadmin.ports.metrics import Metrics
from tests.asgi import nothing_more, scope_of
from tests.entrypoints.test_operations import JSON_TYPE, LARGEST, LARGEST_WITH_CSS
from tests.gallery import FrozenClock, gallery_on

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        self.now += timeout or 0
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._told = _Selector()
        super().__init__(self._told)

    def time(self) -> float:
        return self._told.now


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a simulated clock: waits of hours take no time."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(main)


class Body:
    """A client that sends a body in parts, at a pace."""

    def __init__(self, size: int, every: float, parts: int, complete: bool = True) -> None:
        self._part, self._every, self._left, self._complete = bytes(size), every, parts, complete

    async def receive(self) -> Message:
        if not self._left:
            await nothing_more()
        await asyncio.sleep(self._every)
        self._left -= 1
        return {"type": "http.request", "body": self._part, "more_body": self._left > 0 or not self._complete}


def sent(path: str, body: Body, media_type: str = "application/json") -> tuple[int, float]:
    """Send a body to the service; return the status of the response and how long it took."""
    app = logoadmin.asgi(gallery_on(MemoryStorage(), FrozenClock()))
    scope = scope_of("POST", path, [("content-type", media_type)])
    statuses: list[int] = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    async def main() -> float:
        await app(scope, body.receive, send)
        return asyncio.get_running_loop().time()

    seconds = run(main())
    (status,) = statuses
    return status, round(seconds, 1)


@pytest.mark.rule("contract H4", "contract H6", "contract A21")
@pytest.mark.parametrize(
    ("body", "status", "seconds"),
    [
        *((Body(1, 0, 1), 422, 0), (Body(100, 4, 14), 422, 56)),
        *((Body(100, 4, 16), 408, 60), (Body(1, 1, 9, False), 408, 60)),
    ],
)
def test_a_body_arrives_within_a_minute_or_is_a_408(body: Body, status: int, seconds: float) -> None:
    assert sent("/api/authors", body) == (status, seconds)


@pytest.mark.rule("contract H4", "contract I4")
@pytest.mark.parametrize(("every", "status", "seconds"), [(9, 200, 540), (11, 408, 600)])
def test_an_import_arrives_within_ten_minutes(every: float, status: int, seconds: float) -> None:
    async def main() -> tuple[int, float]:
        status = 200
        try:
            async with BodyReader(Metrics()).received(Body(1, every, 60).receive, 1) as (file, _):
                assert file.size == 60
        except HttpError as error:
            status = error.status
        return status, round(asyncio.get_running_loop().time(), 1)

    assert run(main()) == (status, seconds)


@pytest.mark.rule("contract H4", "contract A21")
def test_a_body_of_lines_is_not_read_where_none_are_imported() -> None:
    assert sent("/api/authors", Body(1_000, 1, 60), "application/jsonl") == (415, 0)


# The size of a body.


def largest_value(schema: dict[str, Any], parts: dict[str, Any]) -> object:
    """Return the value of a field that takes most bytes as JSON in ASCII; the schema may refer to parts."""
    match schema:
        case {"$ref": reference}:
            return largest_value(parts[reference.rpartition("/")[2]], parts)
        case {"properties": properties}:
            return {name: largest_value(each, parts) for name, each in properties.items()}
        case {"anyOf": [first, *_]}:
            return largest_value(first, parts)
        case {"type": "array"}:
            return [largest_value(schema["items"], parts)] * schema["maxItems"]
        case {"type": "string", "pattern": text, "maxLength": length} if not re.match(text, "\U0001f600" * length):
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
OF_ANY_LENGTH: Final = {"set_preferences": LARGEST} | dict.fromkeys(
    ("apply_changes", "propose_changes", "amend_proposal", "amend_settings"), LARGEST_WITH_CSS
)
TAKING: Final = [row for row in OPERATIONS if row.takes_body and not (row.takes_jsonl or row.takes_file)]
OTHERS: Final = [row for row in TAKING if row.name not in OF_ANY_LENGTH]


@pytest.mark.rule("contract A21", "contract J7", "contract J8")
def test_bulk_changes_preferences_and_proposals_have_a_total_limit() -> None:
    assert {row.name: row.max_body for row in OPERATIONS if row.name in OF_ANY_LENGTH} == OF_ANY_LENGTH
    # Each letter of two bytes may be escaped as six.
    assert OF_ANY_LENGTH["set_preferences"] >= 3 * MAX_PREFERENCES


@pytest.mark.rule("contract A21")
@pytest.mark.parametrize("operation", OTHERS, ids=lambda row: row.name)
def test_every_operation_accepts_the_largest_valid_body(operation: Operation) -> None:
    for made in (operation.command, *(grant.command for grant in operation.grants)):
        whole = made.model_json_schema()
        fields = whole["properties"]
        needed = len(dumps({name: largest_value(schema, whole.get("$defs", {})) for name, schema in fields.items()}))
        assert operation.max_body == (LARGEST_WITH_CSS if {"custom_css", "text"} & fields.keys() else LARGEST)
        assert needed <= operation.max_body


async def statuses_of_unfinished(app: ASGIApp, size: int, count: int) -> list[int | None]:
    """Return the statuses of successive requests; None for one that is not refused."""
    headers = [("authorization", "Bearer lga_" + "a" * 43), *JSON_TYPE.items()]  # an invented service key
    answers: list[dict[str, Any]] = [{} for _ in range(count)]

    async def request(answer: dict[str, Any]) -> None:
        async def send(message: Message) -> None:
            answer.update(message)

        await app(scope_of("POST", "/api/logos", headers), Body(size, 0, 1, complete=False).receive, send)

    tasks = [asyncio.create_task(request(answer)) for answer in answers]
    for _ in range(20):
        await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for refused in filter(None, answers):
        assert dict(refused["headers"])[b"retry-after"] == b"1"
        assert refused["body"] == b'{"detail":"Too many concurrent large bodies; try again later"}'
    return [answer.get("status") for answer in answers]


@pytest.mark.rule("contract A21", "contract H4")
def test_unfinished_large_bodies_hold_no_more_than_64_mib_together(app: ASGIApp) -> None:
    for _ in range(2):  # and what was held is given back
        found = asyncio.run(statuses_of_unfinished(app, 3_500_000, 22))
        assert found == [503] * 3 + [None] * 19
    assert asyncio.run(statuses_of_unfinished(app, LARGEST, 1_100)) == [None] * 1_100
