"""What artworks say of themselves, over HTTP (contract S1)."""

from typing import Any, Final

import pytest

from tests.asgi import AppClient
from tests.entrypoints.conftest import Headers
from tests.gallery import ARTWORK

DETAILS: Final = {"description": "Northern lights", "licence": "CC0-1.0", "tags": ["dark"], "origin": "aurora-17"}


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
