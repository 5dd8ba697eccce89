"""What a line of the log has, as text and as JSON."""

import json
import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.types import ASGIApp

from logoadmin.entrypoints.http_api import errors
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from logoadmin.entrypoints.server.middleware import JsonFormatter, LineFormatter, LoggedRequests
from tests.asgi import AppClient
from tests.entrypoints.conftest import Headers
from tests.gallery import WatchedStorage

pytestmark = pytest.mark.rule("contract K3")

TRACE: Final = "4bf92f3577b34da6a3ce929d0e0e4736"
DOCS: Final = Path(__file__).parents[2] / "docs" / "watch.md"
OF_REQUESTS: Final = [
    *("request_id", "client", "user_id", "scheme", "host"),
    *("method", "route", "status", "ms", "cause", "trace_id"),
]


@pytest.fixture
def logged(app: ASGIApp, caplog: pytest.LogCaptureFixture) -> Iterator[AppClient]:
    with caplog.at_level(logging.INFO, "logoadmin.access"):
        yield AppClient(LoggedRequests(app), "http://127.0.0.1:8000")


def line_of(caplog: pytest.LogCaptureFixture) -> dict[str, Any]:
    """Return the last line of a request."""
    record = [record for record in caplog.records if record.name == "logoadmin.access"][-1]
    line = JsonFormatter().format(record)
    assert line.isprintable()
    found: dict[str, Any] = json.loads(line)
    assert LineFormatter().format(record).endswith(found["message"])
    return found


def test_a_line_has_caller_request_result(logged: AppClient, ann: Headers, caplog: pytest.LogCaptureFixture) -> None:
    trace = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
    answer = logged.get("/api/auth/me", headers={**ann, **trace})
    line = line_of(caplog)
    assert list(line) == ["time", "level", "process", "logger", "message", *OF_REQUESTS]
    assert line["request_id"] == answer.headers["x-request-id"]
    assert (line["user_id"], line["client"], line["trace_id"]) == (7, "192.0.2.1", TRACE)
    assert (line["method"], line["route"], line["status"]) == ("GET", "/api/auth/me", 200)
    assert line["ms"] >= 0
    assert line["message"].endswith(f" 192.0.2.1 {line['request_id']} http://127.0.0.1:8000")
    assert (line["scheme"], line["host"]) == ("http", "127.0.0.1:8000")
    assert "Bearer" not in str(line)


def test_a_fault_is_one_line_with_its_traceback() -> None:
    try:
        raise ValueError("wrong\n\u2028\x1b[2J")
    except ValueError:
        record = logging.LogRecord("logoadmin.http", logging.ERROR, __file__, 1, "in %r", ("a\nb",), sys.exc_info())
    line = JsonFormatter().format(record)
    assert line.isprintable()
    assert line.isascii()
    assert "ValueError: wrong\n\u2028\x1b[2J" in json.loads(line)["exception"]


def test_the_line_in_the_docs_has_every_field_and_nothing_else() -> None:
    (line,) = re.findall(r'^{"time".*}$', DOCS.read_text(encoding="utf-8"), re.MULTILINE)
    assert list(json.loads(line)) == ["time", "level", "process", "logger", "message", *OF_REQUESTS]


def test_a_recurring_program_error_is_logged_with_one_traceback(
    logged: AppClient, watched: WatchedStorage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def tracebacks() -> list[logging.LogRecord]:
        return [record for record in caplog.records if record.name == "logoadmin.http"]

    def ask(number: int, status: int) -> Any:
        assert logged.get(f"/api/authors/{number}").status_code == status
        return line_of(caplog)["cause"]

    watched.fault = RuntimeError("bug")
    code = ask(1, 500)
    assert re.fullmatch(r"fault-[0-9a-f]{8}", code)
    assert [ask(1, 500), ask(99, 500)] == [code, code]
    (begins,) = tracebacks()
    assert begins.exc_info is not None
    assert begins.getMessage().startswith(f"GET /api/authors/{{author_id}}: {code} begins, with request ")
    watched.fault = None
    assert ask(1, 200) is None
    assert tracebacks() == [begins]  # it may come back at once
    monkeypatch.setattr(errors, "QUIET", 0)
    ask(99, 404)
    assert tracebacks() == [begins]  # that answer was of another kind
    ask(2, 200)
    (_, over) = tracebacks()
    assert re.fullmatch(rf"GET \S+: {code} is over, after \d+ s and 3 requests", over.getMessage())
    ask(3, 404)
    assert len(tracebacks()) == 2


def test_program_errors_are_distinguished_up_to_a_limit(caplog: pytest.LogCaptureFixture) -> None:
    operation = OPERATIONS[0]
    lasting = errors.Faults()

    def met(kind: type[Exception]) -> str:
        try:
            raise kind
        except kind as error:
            return lasting.met(operation, error, "a")

    kinds = [type(f"Fault{number}", (Exception,), {}) for number in range(100)]
    codes = [met(kind) for kind in kinds]
    assert [met(kind) for kind in kinds] == codes
    assert len(set(codes)) == 100
    assert len(caplog.records) == 16
