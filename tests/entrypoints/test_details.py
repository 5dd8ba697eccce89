"""What artworks say of themselves, over HTTP (contract S1)."""

from typing import Any, Final

import pytest

from tests.asgi import AppClient
from tests.entrypoints.conftest import Headers
from tests.gallery import ADMIN_ID, ARTWORK, NOW

DETAILS: Final = {"description": "Northern lights", "licence": "CC0-1.0", "tags": ["dark"], "origin": "aurora-17"}
# As the twelve endpoints of the specification responded before there were details, byte for byte, in a stocked gallery.
ADMIN: Final = f'{{"user_id":{ADMIN_ID},"username":"admin","avatar":null,"role_id":2,"created_at":{NOW}}}'
USER_7: Final = f'{{"user_id":7,"username":"ann","avatar":"a.png","role_id":1,"created_at":{NOW}}}'
USER_8: Final = f'{{"user_id":8,"username":"ben","avatar":null,"role_id":1,"created_at":{NOW}}}'
BRUSH: Final = f'{{"role_id":3,"name":"brush","scope":["logos:write","themes:write"],"created_at":{NOW}}}'
ANN: Final = f'{{"author_id":1,"user_id":101,"username":"Ann","created_at":{NOW}}}'
BOB: Final = f'{{"author_id":2,"user_id":102,"username":"Bob","created_at":{NOW}}}'
CYD: Final = f'{{"author_id":3,"user_id":103,"username":"Cyd","created_at":{NOW}}}'
AURORA: Final = (
    '{"logo_id":1,"name":"Aurora","preview_url":"https://example.org/aurora.png","target":"forum",'
    f'"custom_css":"color: #123","active":true,"authors":[{ANN}],"created_at":{NOW}}}'
)
# With their numbers; the logo is removed last.
SPECIFIED: Final = (
    (1, "GET", "/api/users", None, 200, f"[{USER_7},{ADMIN}]"),
    (2, "POST", "/api/users", {"user_id": 8, "username": "ben", "password": "ben's password"}, 201, USER_8),
    (3, "GET", "/api/users/7", None, 200, USER_7),
    (4, "DELETE", "/api/users/7/avatar", None, 200, '{"avatar":"a.png"}'),
    (5, "PATCH", "/api/roles/3", {"name": "brush"}, 200, BRUSH),
    (6, "POST", "/api/authors", {"user_id": 103, "username": "Cyd"}, 201, CYD),
    (7, "PATCH", "/api/authors/2", {"username": "Bob"}, 200, BOB),
    (8, "DELETE", "/api/themes/1/authors", {"author_id": 1}, 200, '{"theme_id":1,"author_id":1}'),
    (9, "GET", "/api/logos/1", None, 200, AURORA),
    (11, "GET", "/api/logos/1/authors", None, 200, f"[{ANN}]"),
    (12, "POST", "/api/logos/1/authors", {"author_id": 2}, 200, '{"logo_author_id":2,"logo_id":1,"author_id":2}'),
    (10, "DELETE", "/api/logos/1", None, 200, '{"logo_id":1}'),
)


@pytest.mark.rule("contract S1", "spec §Resources")
def test_bodies_without_details_are_exactly_those_of_the_specification(client: AppClient, admin: Headers) -> None:
    for number, method, path, body, status, expected in SPECIFIED:
        response = client.request(method, path, json=body, headers=admin)
        assert (response.status_code, response.text) == (status, expected), number


@pytest.mark.rule("contract S1")
def test_details_are_created_merged_and_removed(client: AppClient, admin: Headers) -> None:
    created = client.post("/api/themes", json={**ARTWORK, "details": {**DETAILS, "text": ""}}, headers=admin)
    assert (created.status_code, created.json()["details"]) == (201, DETAILS)
    path = f"/api/themes/{created.json()['theme_id']}"

    def patch(details: Any) -> Any:
        response = client.patch(path, json={"details": details}, headers=admin)
        assert response.status_code == 200
        assert client.get(path).json() == response.json()
        return response.json().get("details")

    assert patch({"licence": None, "tags": ["Light"]}) == {
        "description": "Northern lights",
        "tags": ["light"],
        "origin": "aurora-17",
    }
    assert [each["name"] for each in client.get("/api/themes?tag=LIGHT").json()] == ["Aurora"]
    assert client.get("/api/themes?tag=dark").json() == []
    assert patch(None) is None


@pytest.mark.rule("contract S1", "contract A5", "contract A8")
def test_problems_name_the_member_and_origins_are_unique(client: AppClient, admin: Headers) -> None:
    wrong = {"tags": ["a", "b", "c", "d,e"], "screenshots": [{"url": "nowhere"}], "description": None, "license": "MIT"}
    refused = client.patch("/api/logos/1", json={"details": wrong}, headers=admin)
    assert refused.status_code == 422
    assert [problem["loc"] for problem in refused.json()["detail"]] == [
        ["body", "details", "tags", 3],
        ["body", "details", "screenshots", 0, "url"],
        ["body", "details", "license"],
    ]
    assert client.patch("/api/logos/1", json={"details": {"origin": "x"}}, headers=admin).status_code == 200
    taken = {"detail": "Duplicate entry 'x' for key 'details.origin'"}
    conflict = client.post("/api/logos", json={**ARTWORK, "details": {"origin": "x"}}, headers=admin)
    assert (conflict.status_code, conflict.json()) == (409, taken)
    other = client.post("/api/logos", json=ARTWORK, headers=admin).json()["logo_id"]
    duplicate = client.patch(f"/api/logos/{other}", json={"details": {"origin": "x"}}, headers=admin)
    assert (duplicate.status_code, duplicate.json()) == (400, taken)
