"""A gallery behind HTTP, on the storage that ``LOGOADMIN_TEST_HTTP_ON`` names: memory, sqlite or mariadb."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from logoadmin.adapters.sql_storage import open_sql_storage
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.access import Policy
from logoadmin.domain.services.keys import CreateKey
from logoadmin.domain.services.sessions import SignIn
from logoadmin.entrypoints.http_api.app import http_application
from tests.conftest import STORAGES
from tests.gallery import ADMIN_PASSWORD, ANN_PASSWORD, StandingClock, WatchedStorage, gallery_on, stock

Headers = dict[str, str]


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


@pytest.fixture
def watched(request: pytest.FixtureRequest) -> WatchedStorage:
    """The storage behind the gallery."""
    name = os.environ.get("LOGOADMIN_TEST_HTTP_ON", "memory")
    return WatchedStorage(request.getfixturevalue(f"{name}_storage"))


@pytest.fixture
def access() -> Policy:
    """The access policy; parametrise to have another one."""
    return Policy.OPEN


@pytest.fixture
def gallery(watched: WatchedStorage, clock: StandingClock, access: Policy) -> LogoAdmin:
    """A gallery with a little of everything, see :func:`tests.gallery.stock`."""
    made = gallery_on(watched, clock, access)
    stock(made)
    watched.asked.clear()
    return made


class InTurn:
    """Galleries, one at a time, behind the same application: making one takes longer than most tests."""

    def __init__(self, first: LogoAdmin) -> None:
        self.gallery = first
        self._turn = 0

    def take(self, gallery: LogoAdmin) -> None:
        """Go on with another gallery, to which no answer of those before it is known."""
        self.gallery = gallery
        self._turn += 1

    def data_version(self) -> int:
        version = self.gallery.data_version()
        return self._turn * 10**12 + (self.gallery.changes.version() if version is None else version)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.gallery, name)


@pytest.fixture(scope="session")
def applications() -> Iterator[dict[Policy, tuple[InTurn, TestClient]]]:
    """The application of each policy that was needed so far, with a client that keeps its event loop."""
    made: dict[Policy, tuple[InTurn, TestClient]] = {}
    yield made
    for _, client in made.values():
        client.__exit__(None, None, None)


@pytest.fixture
def client(applications: dict[Policy, tuple[InTurn, TestClient]], gallery: LogoAdmin, access: Policy) -> TestClient:
    """A client of the gallery."""
    if access not in applications:
        in_turn = InTurn(gallery)
        application = http_application(cast(LogoAdmin, in_turn))
        applications[access] = in_turn, TestClient(application, base_url="http://127.0.0.1:8000").__enter__()
    in_turn, client = applications[access]
    in_turn.take(gallery)
    client.cookies.clear()
    return client


@pytest.fixture
def app(client: TestClient) -> ASGIApp:
    """The application of the gallery."""
    return client.app


@pytest.fixture(params=STORAGES)
def workers(
    request: pytest.FixtureRequest, clock: StandingClock, access: Policy, tmp_path: Path
) -> Iterator[tuple[LogoAdmin, LogoAdmin]]:
    """Two galleries on each storage in turn, stocked, as two processes have them; memory can only be had once."""
    first = gallery_on(request.getfixturevalue(f"{request.param}_storage"), clock, access)
    stock(first)
    if request.param == "memory":
        yield first, first
        return
    mariadb = request.param == "mariadb"
    url = request.getfixturevalue("mariadb").url if mariadb else f"sqlite:///{tmp_path / 'gallery.db'}"
    storage = open_sql_storage(url)
    yield first, gallery_on(storage, clock, access, started=False)
    storage.close()


def bearer(gallery: LogoAdmin, username: str, password: str) -> Headers:
    """Sign in and return the header that proves it."""
    tokens = gallery.sessions.sign_in(SignIn(username=username, password=password))
    return {"authorization": f"Bearer {tokens.access_token}"}


@pytest.fixture
def admin(gallery: LogoAdmin, watched: WatchedStorage) -> Headers:
    """The header of somebody who may do everything and has the service key 1."""
    headers = bearer(gallery, "admin", ADMIN_PASSWORD)
    caller = gallery.sessions.caller(headers["authorization"].split()[1])
    gallery.keys.create(CreateKey(name="spare", scope=()), caller)
    watched.asked.clear()
    return headers


@pytest.fixture
def ann(gallery: LogoAdmin, watched: WatchedStorage) -> Headers:
    """The header of user 7, who holds no scope."""
    headers = bearer(gallery, "ann", ANN_PASSWORD)
    watched.asked.clear()
    return headers
