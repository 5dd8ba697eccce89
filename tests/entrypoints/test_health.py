"""The answers to probes of platforms and load balancers."""

import logging
import signal
import threading
from inspect import signature
from typing import Any, Final

import pytest
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

import logoadmin
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import StorageUnavailable, TablesMissing
from logoadmin.entrypoints.http_api.dispatch import Dispatch
from logoadmin.entrypoints.http_api.documents import STOPPING, Readiness, health_routes
from logoadmin.entrypoints.server.middleware import LoggedRequests
from logoadmin.entrypoints.server.serving import Stoppable
from tests.asgi import AppClient, ask
from tests.gallery import FrozenClock, WatchedStorage, gallery_on
from tests.services import comes_true

pytestmark = pytest.mark.rule("contract K1")

PATHS: Final = ("/livez", "/readyz")
OK: Final = (200, {"status": "ok"})
LONG: Final = 10.0


class Watched(WatchedStorage):
    """A storage that is called in threads, and may block checks."""

    def __init__(self) -> None:
        super().__init__(MemoryStorage())
        self.waits = True
        self.may_answer = threading.Event()
        self.may_answer.set()

    def check(self) -> None:
        super().check()
        assert self.may_answer.wait(LONG)


@pytest.fixture
def storage() -> Watched:
    return Watched()


def checked(storage: Watched, **seconds: float) -> ASGIApp:
    gallery = gallery_on(storage, FrozenClock())
    storage.asked.clear()
    return Router(health_routes(Readiness(gallery, Dispatch(gallery), **seconds)))


@pytest.fixture
def app(storage: Watched) -> ASGIApp:
    """Return a service whose checks are soon out of date."""
    return checked(storage, valid=0.1)


def told(app: ASGIApp, path: str) -> tuple[int, Any]:
    answer = ask(app, "GET", path)
    assert answer.header("cache-control") == "no-store"
    return answer.status_code, answer.json()


def test_a_healthy_service_reports_so_and_is_live_without_its_database(app: ASGIApp, storage: Watched) -> None:
    assert [told(app, path) for path in PATHS] == [OK, OK]
    storage.asked.clear()
    storage.go_away()
    assert (told(app, "/livez"), storage.asked) == (OK, [])


def test_concurrent_checks_query_the_database_once(storage: Watched) -> None:
    app = checked(storage)
    assert {ask(app, "GET", "/readyz").status_code for _ in range(50)} == {200}
    # Two, should a second have passed meanwhile.
    assert len(storage.asked) <= 2


AWAY: Final = f"The database at db.example:3306 cannot be used: {Cause.OUT_OF_REACH.text}; {Cause.OUT_OF_REACH.cure}"
GONE: Final = f"File a.db does not exist, but should; {Cause.GALLERY_GONE.cure}"


@pytest.mark.parametrize(
    ("fault", "why", "code", "log"),
    [
        (StorageUnavailable("db.example:3306"), AWAY, "out_of_reach", []),  # the storage logs it
        (TablesMissing("a.db"), GONE, "gallery_gone", [f"{GONE} (gallery_gone)"]),
    ],
)
def test_a_service_is_not_ready_while_its_database_is_away_or_does_not_fit(
    app: ASGIApp, storage: Watched, caplog: pytest.LogCaptureFixture, fault: Exception, why: str, code: str, log: Any
) -> None:
    storage.fault = fault
    assert told(app, "/readyz") == (503, {"detail": why, "code": code})
    assert caplog.messages == log
    storage.come_back()
    comes_true(lambda: ask(app, "GET", "/readyz").status_code == 200, LONG)
    assert caplog.messages[len(log) :] == [f"The tables fit this program again: {code} is over" for _ in log]


def test_a_check_ends_while_the_previous_result_is_still_valid() -> None:
    given = signature(Readiness).parameters
    assert given["timeout"].default < given["valid"].default <= 1


def test_an_unresponsive_database_is_not_waited_for(storage: Watched) -> None:
    app = checked(storage, timeout=0.1)
    storage.may_answer.clear()
    try:
        assert told(app, "/readyz")[0] == 503
    finally:
        storage.may_answer.set()


def test_a_stopping_service_is_not_ready(app: ASGIApp, storage: Watched) -> None:
    async def stopping(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "state": {STOPPING: True}}, receive, send)

    assert told(stopping, "/readyz") == (503, {"detail": "The service is stopping"})
    assert told(stopping, "/livez") == OK
    assert storage.asked == []


@pytest.mark.rule("contract K5")
def test_the_stop_signal_of_the_server_is_noticed_and_passed_on(app: ASGIApp) -> None:
    received: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: received.append(number))
    try:
        stoppable = Stoppable(app)
        assert told(stoppable, "/readyz")[0] == 200
        signal.raise_signal(signal.SIGTERM)
        assert received == [signal.SIGTERM]
        assert told(stoppable, "/readyz")[0] == 503
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("prefix", ["", "/gallery"])
def test_health_checks_are_logged_to_debug(storage: Watched, prefix: str, caplog: pytest.LogCaptureFixture) -> None:
    app = logoadmin.asgi(gallery_on(storage, FrozenClock()))
    client = AppClient(LoggedRequests(app), root_path=prefix)
    with caplog.at_level(logging.INFO):
        for path in (*PATHS, "/docs"):
            assert client.get(f"{prefix}{path}").status_code == 200
    own = [record for record in caplog.records if record.name.startswith("logoadmin")]
    assert [record.getMessage().split()[1] for record in own] == [f"{prefix}/docs"]
    with caplog.at_level(logging.DEBUG, "logoadmin"):
        client.get(f"{prefix}/livez")
    assert "/livez" in caplog.text
