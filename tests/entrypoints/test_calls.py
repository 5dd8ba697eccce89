"""Calls can be followed: few functions are between an endpoint and its use case, and an editor finds both."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import logoadmin
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.entrypoints.http_api.endpoints import Endpoint
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from tests.asgi import ask
from tests.entrypoints.conftest import bearer
from tests.gallery import ADMIN_PASSWORD, ARTWORK, FrozenClock, gallery_on, stock

PACKAGE = Path(logoadmin.__file__).parent
MOST_BETWEEN = 3
BY_ROUTE = {operation.route: operation for operation in OPERATIONS}


def between(work: Callable[[], object], use_case: Any) -> list[str]:
    """Return the functions of the package that were called on the way from the endpoint to a use case."""
    found: list[list[str]] = []

    def look(frame: FrameType, event: str, _: object) -> None:
        if event != "call" or frame.f_code is not use_case.__code__:
            return
        way: list[str] = []
        caller = frame.f_back
        while caller is not None and caller.f_code is not Endpoint.__call__.__code__:
            if Path(caller.f_code.co_filename).is_relative_to(PACKAGE):
                way.append(caller.f_code.co_qualname)
            caller = caller.f_back
        assert caller is not None
        found.append(way)

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    (way,) = found
    return way


@pytest.mark.rule("contract H6")
@pytest.mark.parametrize(
    ("route", "path", "body"),
    [
        ("GET /api/logos/{logo_id}", "/api/logos/1", None),
        ("GET /api/logos", "/api/logos", None),
        ("POST /api/logos", "/api/logos", ARTWORK),
    ],
)
def test_at_most_three_functions_are_between_an_endpoint_and_its_use_case(route: str, path: str, body: Any) -> None:
    gallery = gallery_on(MemoryStorage(), FrozenClock())
    stock(gallery)
    app, operation = logoadmin.asgi(gallery), BY_ROUTE[route]
    sent = [("content-type", "application/json"), *bearer(gallery, "admin", ADMIN_PASSWORD).items()]
    statuses: list[int] = []

    def request() -> None:
        content = b"" if body is None else json.dumps(body).encode()
        statuses.append(ask(app, operation.method, path, headers=sent, body=content).status_code)

    way = between(request, operation.use_case)
    assert statuses == [operation.success]
    assert len(way) <= MOST_BETWEEN, way
    assert not any("<" in name for name in way), way  # neither lambdas nor functions in functions


def test_the_paths_are_in_the_source_as_the_specification_writes_them() -> None:
    text = "".join(path.read_text("utf-8") for path in (PACKAGE / "entrypoints/http_api/operations").glob("*.py"))
    assert [operation.route for operation in OPERATIONS if f'"{operation.route}"' not in text] == []
