"""The application inside another one (contract H6)."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from urllib.parse import urljoin

import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient
from starlette.types import ASGIApp
from starlette.websockets import WebSocketDisconnect

from logoadmin.domain.gallery.authors import CreateAuthor
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from tests.asgi import AppClient
from tests.gallery import NOW
from tests.sample_requests import READ_ONLY

pytestmark = pytest.mark.rule("contract H6", "spec §Versioning")

ANN = {"author_id": 1, "user_id": 101, "username": "Ann", "created_at": NOW}


def in_starlette(app: ASGIApp) -> ASGIApp:
    return Starlette(routes=[Mount("/gallery", app), Route("/", lambda _: PlainTextResponse("host"))])


def in_fastapi(app: ASGIApp) -> ASGIApp:
    host = FastAPI()
    host.mount("/gallery", app)
    host.add_api_route("/", lambda: PlainTextResponse("host"))
    return host


@pytest.mark.rule("contract A5")
def test_a_command_can_be_the_body_of_a_fastapi_route(gallery: LogoAdmin) -> None:
    host = FastAPI()

    @host.post("/authors")
    def create(command: CreateAuthor) -> int:
        return gallery.authors.create(command).author_id

    with TestClient(host) as client:
        refused = client.post("/authors", json={"user_id": "7", "x": 1})
        assert refused.status_code == 422
        assert [(*entry["loc"], entry["type"]) for entry in refused.json()["detail"]] == [
            ("body", "user_id", "int_type"),
            ("body", "username", "missing"),
            ("body", "x", "extra_forbidden"),
        ]
        assert client.post("/authors", json={"user_id": 7, "username": "Eve"}).json() == 3


@pytest.fixture(params=[in_starlette, in_fastapi], ids=["starlette", "fastapi"])
def mounted(request: pytest.FixtureRequest, app: ASGIApp) -> Iterator[TestClient]:
    with TestClient(request.param(app)) as client:
        yield client


def test_every_path_is_under_the_prefix(mounted: TestClient) -> None:
    assert mounted.get("/gallery/api/authors/1").json() == ANN
    assert mounted.post("/gallery/api/authors", json={"user_id": 5, "username": "x"}).status_code == 201
    assert mounted.get("/").text == "host"
    assert mounted.get("/api/authors/1").status_code == 404


def test_the_document_has_the_prefix_of_the_paths(mounted: TestClient) -> None:
    document = mounted.get("/gallery/openapi.json").json()
    assert set(document["paths"]) == {operation.path for operation in OPERATIONS}
    assert [server["url"] for server in document["servers"]] == ["/gallery"]
    scheme = document["components"]["securitySchemes"]["password"]
    # A URL there counts from where the document is (OpenAPI 3.1, Relative References in URLs).
    sign_in = urljoin("http://host/gallery/openapi.json", scheme["flows"]["password"]["tokenUrl"])
    assert sign_in == "http://host/gallery/api/auth/token"


def test_other_pages_are_found_and_those_of_the_host_are_kept(app: ASGIApp, mounted: TestClient) -> None:
    assert mounted.get("/").text == "host"
    for path in READ_ONLY[1:]:  # the document names the prefix
        found, itself = mounted.get(f"/gallery{path}"), AppClient(app).get(path, follow_redirects=True)
        assert (found.status_code, found.content) == (200, itself.content), path
        assert found.url.path == f"/gallery{itself.url.path}"
    assert mounted.get("/livez").status_code == 404


def test_the_host_keeps_its_lifespan(app: ASGIApp) -> None:
    began: list[str] = []

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        began.append("began")
        yield
        began.append("ended")

    host = Starlette(routes=[Mount("/gallery", app)], lifespan=lifespan)
    with TestClient(host) as client:
        assert client.get("/gallery/api/authors/1").status_code == 200
    assert began == ["began", "ended"]


def test_a_websocket_is_refused(app: ASGIApp, mounted: TestClient) -> None:
    for client, path in ((mounted, "/gallery/api/logos"), (TestClient(app), "/api/logos"), (TestClient(app), "/x")):
        with pytest.raises(WebSocketDisconnect), client.websocket_connect(path):
            pass
