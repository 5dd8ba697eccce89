"""``logoadmin notify``, and receivers that check what the documentation of theirs asks for (contract R6)."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
from starlette.requests import Request
from starlette.responses import Response

from tests.entrypoints.command_line import Run
from tests.services import in_thread

pytestmark = [pytest.mark.rule("contract R6"), pytest.mark.server("a web server in a thread")]

# What the documentation of incoming webhooks says; unknown fields are ignored by all of them.
ACCEPTS: Final[dict[str, Callable[[dict[str, Any]], bool]]] = {
    "/discord": lambda body: isinstance(body.get("content"), str) and 0 < len(body["content"]) <= 2_000,
    "/slack": lambda body: isinstance(body.get("text"), str) and 0 < len(body["text"]) <= 40_000,
    "/mattermost": lambda body: isinstance(body.get("text"), str) and 0 < len(body["text"]) <= 16_383,
}


@dataclass
class StandIn:
    """The receivers at one address."""

    address: str = ""
    got: list[tuple[str, str | None, dict[str, Any]]] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        path, body = request.url.path, json.loads(await request.body())
        self.got.append((path, request.headers.get("content-type"), body))
        accepts = ACCEPTS.get(path)
        await Response(status_code=404 if accepts is None else 204 if accepts(body) else 400)(scope, receive, send)

    def urls(self, *paths: str) -> str:
        return ",".join(f"{self.address}{path}" for path in paths)


@pytest.fixture
def receivers(initialised: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    del initialised
    monkeypatch.setenv("LOGOADMIN_OUTGOING_HOSTS", "127.0.0.1")
    found = StandIn()
    with in_thread(found) as address:
        found.address = address
        yield found


def test_a_trial_reaches_each_receiver(run: Run, receivers: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGOADMIN_NOTIFY_URLS", receivers.urls(*ACCEPTS))
    result = run("notify")
    assert (result.code, result.err) == (0, "")
    assert result.out == "URL 1: accepted\nURL 2: accepted\nURL 3: accepted\n"
    assert [path for path, _, _ in receivers.got] == [*ACCEPTS]
    assert {kind for _, kind, _ in receivers.got} == {"application/json"}
    assert all(body["event"] == "trial" for _, _, body in receivers.got)


def test_what_fails_is_named_by_number_and_no_url_is_printed(
    run: Run, receivers: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGOADMIN_NOTIFY_URLS", receivers.urls("/gone/T0KEN", "/slack"))
    result = run("notify")
    assert result.code == 1
    assert result.out == "URL 2: accepted\n"
    assert result.err == "URL 1: it responds with status 404\n"
    for shown in (run("config"),):
        assert "T0KEN" not in f"{shown.out}{shown.err}"
        assert "notify_urls" in shown.out


def test_without_urls_it_says_so(run: Run, initialised: None) -> None:
    del initialised
    result = run("notify")
    assert (result.code, result.out) == (1, "")
    assert "notify_urls names no URL" in result.err
