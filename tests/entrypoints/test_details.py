"""What artworks say of themselves, over HTTP (contract S1)."""

from typing import Any, Final

import pytest

from tests.asgi import AppClient
from tests.entrypoints.conftest import Headers
from tests.gallery import ARTWORK, NOW

DETAILS: Final = {"description": "Northern lights", "licence": "CC0-1.0", "tags": ["dark"], "origin": "aurora-17"}
# As the endpoints of the specification answered before there were details, byte for byte.
ANN: Final = f'{{"author_id":1,"user_id":101,"username":"Ann","created_at":{NOW}}}'
PLAIN: Final = (
    '{"logo_id":1,"name":"Aurora","preview_url":"https://example.org/aurora.png","target":"forum",'
    f'"custom_css":"color: #123","active":true,"authors":[{ANN}],"created_at":{NOW}}}'
)
# In a stocked gallery; the others are about users and roles.
SPECIFIED: Final = (
    ("GET", "/api/logos/1", None, PLAIN),
    ("GET", "/api/logos/1/authors", None, f"[{ANN}]"),
    ("POST", "/api/logos/1/authors", {"author_id": 1}, '{"logo_author_id":1,"logo_id":1,"author_id":1}'),
    ("DELETE", "/api/themes/1/authors", {"author_id": 1}, '{"theme_id":1,"author_id":1}'),
    ("DELETE", "/api/logos/1", None, '{"logo_id":1}'),
)


@pytest.mark.rule("contract S1", "spec §Resources")
def test_a_record_without_details_is_exactly_that_of_the_specification(client: AppClient, admin: Headers) -> None:
    for method, path, body, expected in SPECIFIED:
        response = client.request(method, path, json=body, headers=admin)
        assert response.status_code == 200, path
        assert b"details" not in response.content
        assert response.text == expected, path


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
