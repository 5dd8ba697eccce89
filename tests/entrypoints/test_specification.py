"""The specification as it is written: each of its twelve endpoints, its errors and its rules, over HTTP in memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import logoadmin
from tests.asgi import AppClient

ANN = {"user_id": 7, "username": "Ann", "avatar": "https://a.example/ann.png", "password": "s3cret"}
AUTHOR = {"author_id": 1, "user_id": 7, "username": "Ann"}
LOGO = {"name": "Winter", "preview_url": "https://a.example/w.png", "target": "forum", "custom_css": "", "active": True}
OUTSIDE = ("-1", "2147483648", "one")


@contextmanager
def opened() -> Iterator[AppClient]:
    """Yield a client of a new gallery in memory, under the policy ``open``, with a logo and a theme of one author."""
    with logoadmin.connect(access="open", admin_password="first password") as gallery:
        client = AppClient(logoadmin.asgi(gallery), "http://127.0.0.1:8000")
        tokens = client.post("/api/auth/token", json={"username": "admin", "password": "first password"}).json()
        client.headers["authorization"] = f"Bearer {tokens['access_token']}"
        assert client.post("/api/authors", json={"user_id": 7, "username": "Ann"}).status_code == 201
        for kind in ("logos", "themes"):
            assert client.post(f"/api/{kind}", json=LOGO).status_code == 201
            assert client.post(f"/api/{kind}/1/authors", json={"author_id": 1}).status_code in (200, 201)
        yield client


@pytest.fixture
def client() -> Iterator[AppClient]:
    """A client of a gallery that the test may change."""
    with opened() as client:
        yield client


@pytest.fixture(scope="module")
def unchanged() -> Iterator[AppClient]:
    """A client of a gallery that no request of these tests changes."""
    with opened() as client:
        yield client


def answered(client: AppClient, method: str, path: str, body: Any = None, *, token: bool = False) -> tuple[int, Any]:
    """Return status and body; nothing is compared that time alone decides."""
    headers = {"authorization": client.headers["authorization"]} if token else {}
    kept = client.headers.pop("authorization")
    try:
        response = client.request(method, path, json=body, headers=headers)
    finally:
        client.headers["authorization"] = kept
    return response.status_code, without_times(response.json())


def without_times(body: Any) -> Any:
    """Return a body without ``created_at``, each of which is an integer."""
    if isinstance(body, list):
        return [without_times(each) for each in body]
    if isinstance(body, dict):
        assert isinstance(body.get("created_at", 0), int)
        return {name: without_times(value) for name, value in body.items() if name != "created_at"}
    return body


@pytest.mark.rule("spec §Endpoints 1", "spec §Endpoints 2", "spec §Endpoints 3", "spec §Endpoints 4")
def test_users(client: AppClient) -> None:
    ann = {"user_id": 7, "username": "Ann", "avatar": ANN["avatar"], "role_id": 1}
    assert answered(client, "POST", "/api/users", ANN, token=True) == (201, ann)
    assert answered(client, "GET", "/api/users/7") == (200, ann)
    status, users = answered(client, "GET", "/api/users")
    assert (status, ann in users) == (200, True)
    assert answered(client, "DELETE", "/api/users/7/avatar", token=True) == (200, {"avatar": ANN["avatar"]})
    assert answered(client, "GET", "/api/users/7") == (200, {**ann, "avatar": None})


@pytest.mark.rule("spec §Endpoints 5", "spec §Endpoints 6", "spec §Endpoints 7", "spec §Rules 2", "spec §Errors 400")
def test_roles_and_authors(client: AppClient) -> None:
    assert answered(client, "PATCH", "/api/roles/1", {"name": "guest"})[1]["name"] == "guest"
    assert answered(client, "PATCH", "/api/roles/1", {})[0] == 200
    duplicate = {"detail": "Duplicate entry 'admin' for key 'name'"}
    assert answered(client, "PATCH", "/api/roles/1", {"name": "admin"}) == (400, duplicate)
    ben = {"author_id": 2, "user_id": 8, "username": "Ben"}
    assert answered(client, "POST", "/api/authors", {"user_id": 8, "username": "Ben"}) == (201, ben)
    assert answered(client, "PATCH", "/api/authors/2", {"username": "Bob"}) == (200, {**ben, "username": "Bob"})
    assert answered(client, "PATCH", "/api/authors/2", {}) == (200, {**ben, "username": "Bob"})
    duplicate = {"detail": "Duplicate entry '7' for key 'user_id'"}
    assert answered(client, "PATCH", "/api/authors/2", {"user_id": 7}) == (400, duplicate)


@pytest.mark.rule("spec §Endpoints 8", "spec §Endpoints 9", "spec §Endpoints 10", "spec §Endpoints 11")
@pytest.mark.rule("spec §Endpoints 12", "spec §Rules 4", "spec §Rules 5", "spec §Rules 6")
def test_logos_and_links(client: AppClient) -> None:
    assert answered(client, "DELETE", "/api/themes/1/authors", {"author_id": 1}) == (
        200,
        {"theme_id": 1, "author_id": 1},
    )
    status, logo = answered(client, "GET", "/api/logos/1")
    assert (status, logo["name"], logo["authors"]) == (200, "Winter", [AUTHOR])
    assert answered(client, "GET", "/api/logos/1/authors") == (200, [AUTHOR])
    answered(client, "POST", "/api/authors", {"user_id": 8, "username": "Ben"})
    link = {"logo_author_id": 2, "logo_id": 1, "author_id": 2}
    assert answered(client, "POST", "/api/logos/1/authors", {"author_id": 2}) == (200, link)
    assert answered(client, "DELETE", "/api/logos/1") == (200, {"logo_id": 1})


@pytest.mark.rule("spec §Authentication 1", "spec §Authentication 2", "spec §Authentication 3")
@pytest.mark.rule("spec §Authentication 4", "spec §Errors 401", "spec §Errors 403")
@pytest.mark.parametrize(("method", "path"), [("POST", "/api/users"), ("DELETE", "/api/users/2000000000/avatar")])
def test_two_endpoints_need_a_token(unchanged: AppClient, method: str, path: str) -> None:
    body = ANN if method == "POST" else None
    assert answered(unchanged, method, path, body) == (403, {"detail": "Not authenticated"})
    response = unchanged.request(method, path, json=body, headers={"authorization": "Bearer x.y.z"})
    assert (response.status_code, response.json()) == (401, {"detail": "Couldn't validate credentials"})


@pytest.mark.rule("spec §Rules 1", "spec §Errors 422", "spec §Limits")
@pytest.mark.parametrize("id_", OUTSIDE)
@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("PATCH", "/api/roles/{}", "role_id"),
        ("PATCH", "/api/authors/{}", "author_id"),
        ("DELETE", "/api/themes/{}/authors", "theme_id"),
        ("DELETE", "/api/logos/{}", "logo_id"),
    ],
)
def test_path_parameters_have_bounds(unchanged: AppClient, method: str, path: str, name: str, id_: str) -> None:
    body = {"author_id": 1} if "themes" in path else {} if method == "PATCH" else None
    status, answer = answered(unchanged, method, path.format(id_), body)
    (problem,) = answer["detail"]
    assert (status, problem["loc"], problem.keys()) == (422, ["path", name], {"loc", "msg", "type"})


@pytest.mark.rule("spec §Rules 3", "spec §Rules 4", "spec §Limits")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, None) for name in ("user_id", "username", "password")),
        *(("user_id", -1), ("user_id", 2147483648), ("username", "x" * 65), ("avatar", "x" * 4097)),
        ("password", "x" * 257),
    ],
)
def test_input_of_users_has_bounds(unchanged: AppClient, name: str, value: object) -> None:
    given = {key: each for key, each in {**ANN, name: value}.items() if each is not None}
    status, answer = answered(unchanged, "POST", "/api/users", given, token=True)
    assert (status, [problem["loc"] for problem in answer["detail"]]) == (422, [["body", name]])
    assert answered(unchanged, "DELETE", "/api/themes/1/authors", {})[1]["detail"][0]["loc"] == ["body", "author_id"]
