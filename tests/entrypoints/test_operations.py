"""The endpoints over HTTP, in the order of the specification, then what all of them have in common."""

from json import JSONDecodeError, dumps, loads
from typing import Any

import pytest
from starlette.types import ASGIApp

import logoadmin
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.access import Policy
from logoadmin.domain.model.kinds import AUTHORS, LOGOS
from logoadmin.domain.model.records import Author, Logo
from logoadmin.domain.services.artworks import LinkLogoAuthor
from logoadmin.domain.services.authors import CreateAuthor
from logoadmin.domain.services.users import AmendUser, RemoveUser
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from tests.asgi import AppClient, AppResponse, ask
from tests.entrypoints.conftest import Headers, bearer
from tests.gallery import ADMIN_ID, ANN_PASSWORD, ARTWORK, NOW, WatchedStorage, recorded
from tests.sample_requests import SAMPLES, Sample

ANN_USER = {"user_id": 7, "username": "ann", "avatar": "a.png", "role_id": 1, "created_at": NOW}
ADMIN_USER = {"user_id": ADMIN_ID, "username": "admin", "avatar": None, "role_id": 2, "created_at": NOW}
ANN = {"author_id": 1, "user_id": 101, "username": "Ann", "created_at": NOW}
BEN = {"author_id": 2, "user_id": 102, "username": "Ben", "created_at": NOW}
LOGO = {"logo_id": 1, **ARTWORK, "authors": [ANN], "created_at": NOW}
THEME = {"theme_id": 1, **ARTWORK, "authors": [ANN], "created_at": NOW}

JSON_TYPE = {"content-type": "application/json"}
LARGEST = 65_536
LARGEST_WITH_CSS = 3_670_016
WITH_CSS = {"/api/themes", "/api/themes/{theme_id}", "/api/logos", "/api/logos/{logo_id}"}
AWAY = "Cannot connect to the database server at db.example:3306"

ALL = pytest.mark.parametrize("row", SAMPLES, ids=str)
WITH_BODY = [row for row in SAMPLES if row.takes_body]
WITH_NEEDED_BODY = [row for row in WITH_BODY if row.template != "/api/auth/revoke"]
WITH_PATH = [row for row in SAMPLES if "{" in row.template]
# The id of a session is a text.
WITH_NUMBER = [row for row in WITH_PATH if "{session_id}" not in row.template]
GUARDED = pytest.mark.parametrize("access", [Policy.GUARDED])
BOTH = pytest.mark.parametrize("access", list(Policy))


def send(
    client: AppClient,
    row: Sample,
    headers: Headers | None = None,
    *,
    path: str | None = None,
    json: object = ...,
    content: bytes | None = None,
) -> AppResponse:
    """Send a row's good request, or one that differs from it, without a word that is not given here."""
    body = row.body if json is ... else json
    sent = dict(headers or {})
    if content is None and body is not None:
        content = dumps(body).encode()
        sent.setdefault("content-type", row.media_type)
    return ask(client.app, row.method, row.path if path is None else path, headers=sent.items(), body=content or b"")


def needs_token(row: Sample, access: Policy) -> bool:
    return row.token == "always" or (row.token == "guarded" and access is Policy.GUARDED)


def problem(loc: list[str | int], type_: str, msg: str) -> dict[str, object]:
    return {"loc": loc, "msg": msg, "type": type_}


def types_of(response: Any) -> list[tuple[list[str | int], str]]:
    """Return where and what is wrong, of a 422 whose entries have exactly the three fields."""
    assert response.status_code == 422
    assert list(response.json()) == ["detail"]
    for entry in response.json()["detail"]:
        assert set(entry) == {"loc", "msg", "type"}
        assert all(isinstance(part, str | int) for part in entry["loc"])
        assert isinstance(entry["msg"], str)
        assert entry["msg"]
    return [(entry["loc"], entry["type"]) for entry in response.json()["detail"]]


# The twelve endpoints of the specification.


@pytest.mark.rule("spec §Endpoints 1", "contract A18")
def test_1_users_are_listed(client: AppClient) -> None:
    response = client.get("/api/users")
    assert (response.status_code, response.json()) == (200, [ANN_USER, ADMIN_USER])


@pytest.mark.rule("spec §Endpoints 2", "contract A12")
def test_2_a_user_is_created(client: AppClient, admin: Headers) -> None:
    body = {"user_id": 8, "username": "ben", "avatar": "b.png", "password": "pw"}
    response = client.post("/api/users", json=body, headers=admin)
    created = {"user_id": 8, "username": "ben", "avatar": "b.png", "role_id": 1, "created_at": NOW}
    assert (response.status_code, response.json()) == (201, created)
    assert client.get("/api/users/8").json() == created
    for user_id, more in ((9, {}), (10, {"avatar": None})):
        response = client.post(
            "/api/users", json={"user_id": user_id, "username": f"u{user_id}", "password": "x", **more}, headers=admin
        )
        assert (response.status_code, response.json()["avatar"]) == (201, None)


@pytest.mark.rule("spec §Endpoints 2", "spec §Rules 3", "contract A5")
@pytest.mark.parametrize("missing", ["user_id", "username", "password"])
def test_2_a_user_without_a_required_field_is_refused(client: AppClient, admin: Headers, missing: str) -> None:
    body = {"user_id": 8, "username": "ben", "password": "pw"}
    del body[missing]
    response = client.post("/api/users", json=body, headers=admin)
    assert response.status_code == 422
    assert response.json() == {"detail": [problem(["body", missing], "missing", "Field required")]}


@pytest.mark.rule("spec §Rules 3", "spec §Limits", "spec §Errors 422", "contract A3")
@pytest.mark.parametrize(
    ("field", "value", "type_"),
    [
        ("user_id", -1, "greater_than_equal"),
        ("user_id", 2_147_483_648, "less_than_equal"),
        ("username", "x" * 65, "string_too_long"),
        ("avatar", "x" * 4097, "string_too_long"),
        ("password", "x" * 257, "string_too_long"),
    ],
)
def test_2_a_user_beyond_a_limit_is_refused(
    client: AppClient, admin: Headers, field: str, value: object, type_: str
) -> None:
    body = {"user_id": 8, "username": "ben", "avatar": "", "password": "pw", field: value}
    assert types_of(client.post("/api/users", json=body, headers=admin)) == [(["body", field], type_)]


@pytest.mark.rule("spec §Rules 3", "spec §Limits", "contract A3")
def test_2_a_user_at_every_limit_is_created(client: AppClient, admin: Headers) -> None:
    body = {"user_id": 2_147_483_647, "username": "😀" * 64, "avatar": "é" * 4096, "password": "😀" * 256}
    response = client.post("/api/users", json=body, headers=admin)
    assert response.status_code == 201
    assert response.json()["username"] == "😀" * 64
    sign_in = {"username": body["username"], "password": body["password"]}
    assert client.post("/api/auth/token", json=sign_in).status_code == 200
    assert client.post("/api/users", json={**body, "user_id": 0, "username": "x"}, headers=admin).status_code == 201


@pytest.mark.rule("contract A8", "contract A6")
def test_2_a_taken_id_or_name_is_refused(client: AppClient, admin: Headers) -> None:
    for user_id, username, text in (
        (7, "ben", "Duplicate entry '7' for key 'user_id'"),
        (8, "ann", "Duplicate entry 'ann' for key 'username'"),
        (7, "ann", "Duplicate entry '7' for key 'user_id'"),
    ):
        body = {"user_id": user_id, "username": username, "password": "pw"}
        response = client.post("/api/users", json=body, headers=admin)
        assert (response.status_code, response.json()) == (409, {"detail": text})
    for number, username in enumerate(("Ann", "ánn", "ann "), start=20):
        body = {"user_id": number, "username": username, "password": "pw"}
        assert client.post("/api/users", json=body, headers=admin).status_code == 201


@pytest.mark.rule("spec §Endpoints 3")
def test_3_a_user_is_read(client: AppClient) -> None:
    response = client.get("/api/users/7")
    assert (response.status_code, response.json()) == (200, ANN_USER)


@pytest.mark.rule("spec §Endpoints 4", "contract A13")
def test_4_an_avatar_is_removed(client: AppClient, admin: Headers) -> None:
    for avatar in ("a.png", ""):
        response = client.delete("/api/users/7/avatar", headers=admin)
        assert (response.status_code, response.json()) == (200, {"avatar": avatar})
        assert client.get("/api/users/7").json()["avatar"] is None


@pytest.mark.rule("spec §Endpoints 4", "contract B3")
def test_4_everybody_may_remove_their_own_avatar_and_no_other(client: AppClient, ann: Headers) -> None:
    assert client.delete("/api/users/7/avatar", headers=ann).json() == {"avatar": "a.png"}
    response = client.delete(f"/api/users/{ADMIN_ID}/avatar", headers=ann)
    assert (response.status_code, response.json()) == (403, {"detail": "Not enough permissions"})


@pytest.mark.rule("spec §Endpoints 5", "spec §Rules 2")
def test_5_a_role_is_changed(client: AppClient) -> None:
    role = {"role_id": 3, "name": "painter", "scope": ["logos:write", "themes:write"], "created_at": NOW}
    for change in ({}, {"name": "brush"}, {"scope": ["b", "a"]}, {"name": "pen", "scope": []}):
        role |= change
        response = client.patch("/api/roles/3", json=change)
        assert (response.status_code, response.json()) == (200, role)


@pytest.mark.rule("spec §Endpoints 5", "spec §Rules 2", "spec §Errors 400", "contract A7")
def test_5_a_taken_role_name_is_refused(client: AppClient) -> None:
    response = client.patch("/api/roles/3", json={"name": "admin"})
    assert (response.status_code, response.json()) == (400, {"detail": "Duplicate entry 'admin' for key 'name'"})


@pytest.mark.rule("contract A11", "spec §Limits")
def test_5_a_role_beyond_a_limit_is_refused(client: AppClient) -> None:
    for change, expected in (
        ({"name": "x" * 65}, (["body", "name"], "string_too_long")),
        ({"name": ""}, (["body", "name"], "string_too_short")),
        ({"name": None}, (["body", "name"], "string_type")),
        ({"scope": None}, (["body", "scope"], "list_type")),
        ({"scope": ["ok", "not ok"]}, (["body", "scope", 1], "string_pattern_mismatch")),
        ({"scope": [str(n) for n in range(65)]}, (["body", "scope"], "too_long")),
        ({"role_id": 3}, (["body", "role_id"], "extra_forbidden")),
    ):
        assert types_of(client.patch("/api/roles/3", json=change)) == [expected]


@pytest.mark.rule("spec §Endpoints 6", "contract A14")
def test_6_an_author_is_created(client: AppClient) -> None:
    response = client.post("/api/authors", json={"user_id": 0, "username": "Cyd"})
    created = {"author_id": 3, "user_id": 0, "username": "Cyd", "created_at": NOW}
    assert (response.status_code, response.json()) == (201, created)
    assert client.get("/api/authors/3").json() == created


@pytest.mark.rule("spec §Endpoints 6", "contract A14", "contract A8", "contract A2")
def test_6_an_author_without_a_field_or_beyond_a_limit_or_taken_is_refused(client: AppClient) -> None:
    assert types_of(client.post("/api/authors", json={})) == [
        (["body", "user_id"], "missing"),
        (["body", "username"], "missing"),
    ]
    assert types_of(client.post("/api/authors", json={"user_id": 2_147_483_648, "username": "x" * 65})) == [
        (["body", "user_id"], "less_than_equal"),
        (["body", "username"], "string_too_long"),
    ]
    for body, text in (
        ({"user_id": 101, "username": "x"}, "Duplicate entry '101' for key 'user_id'"),
        ({"user_id": 5, "username": "Ann"}, "Duplicate entry 'Ann' for key 'username'"),
    ):
        response = client.post("/api/authors", json=body)
        assert (response.status_code, response.json()) == (409, {"detail": text})


@pytest.mark.rule("spec §Endpoints 7", "spec §Rules 2")
def test_7_an_author_is_changed(client: AppClient) -> None:
    author = dict(ANN)
    for change in ({}, {"username": "Anna"}, {"user_id": 0}, {"user_id": 2_147_483_647, "username": "x" * 64}):
        author |= change
        response = client.patch("/api/authors/1", json=change)
        assert (response.status_code, response.json()) == (200, author)
    assert client.get("/api/authors/1").json() == author


@pytest.mark.rule("spec §Endpoints 7", "spec §Rules 2", "spec §Errors 400", "contract A7")
def test_7_a_taken_number_or_name_is_refused(client: AppClient) -> None:
    for change, text in (
        ({"user_id": 102}, "Duplicate entry '102' for key 'user_id'"),
        ({"username": "Ben"}, "Duplicate entry 'Ben' for key 'username'"),
        ({"username": "Ben", "user_id": 102}, "Duplicate entry '102' for key 'user_id'"),
    ):
        response = client.patch("/api/authors/1", json=change)
        assert (response.status_code, response.json()) == (400, {"detail": text})
    assert client.get("/api/authors/1").json() == ANN


@pytest.mark.rule("contract A7")
def test_7_a_duplicate_names_the_value_as_it_was_asked_for(client: AppClient) -> None:
    name = "O'Neil \"😀\" \n' for key 'x'"
    client.post("/api/authors", json={"user_id": 5, "username": name})
    response = client.patch("/api/authors/1", json={"username": name})
    assert response.json() == {"detail": f"Duplicate entry '{name}' for key 'username'"}


@pytest.mark.rule("spec §Endpoints 8", "spec §Rules 4")
def test_8_an_author_is_taken_off_a_theme(client: AppClient) -> None:
    response = client.request("DELETE", "/api/themes/1/authors", json={"author_id": 1})
    assert (response.status_code, response.json()) == (200, {"theme_id": 1, "author_id": 1})
    assert client.get("/api/themes/1/authors").json() == []


@pytest.mark.rule("spec §Endpoints 8", "spec §Rules 4", "contract A17", "spec §Limits")
def test_8_what_is_not_linked_or_not_said_is_refused(client: AppClient) -> None:
    def take_off(theme_id: int, body: object) -> Any:
        return client.request("DELETE", f"/api/themes/{theme_id}/authors", json=body)

    assert types_of(take_off(1, {})) == [(["body", "author_id"], "missing")]
    assert types_of(client.request("DELETE", "/api/themes/1/authors")) == [(["body"], "missing")]
    assert types_of(take_off(1, {"author_id": -1})) == [(["body", "author_id"], "greater_than_equal")]
    for theme_id, author_id, text in (
        (1, 2, "Author 2 not found on theme 1"),
        (1, 99, "Author 99 not found on theme 1"),
        (12, 1, "Theme 12 not found"),
    ):
        response = take_off(theme_id, {"author_id": author_id})
        assert (response.status_code, response.json()) == (404, {"detail": text})


@pytest.mark.rule("spec §Endpoints 9", "spec §Rules 6", "spec §Resources")
def test_9_a_logo_is_read_with_its_authors(client: AppClient, gallery: LogoAdmin) -> None:
    response = client.get("/api/logos/1")
    assert (response.status_code, response.json()) == (200, LOGO)
    assert list(response.json()) == list(LOGO)
    gallery.logos.link(LinkLogoAuthor(logo_id=1, author_id=2))
    assert client.get("/api/logos/1").json()["authors"] == [ANN, BEN]


@pytest.mark.rule("spec §Endpoints 10", "contract A15")
def test_10_a_logo_is_removed_with_its_links(client: AppClient) -> None:
    response = client.delete("/api/logos/1")
    assert (response.status_code, response.json()) == (200, {"logo_id": 1})
    for path in ("/api/logos/1", "/api/logos/1/authors"):
        assert client.get(path).json() == {"detail": "Logo 1 not found"}
    assert client.get("/api/authors/1/logos").json() == []
    assert client.delete("/api/logos/1").status_code == 404


@pytest.mark.rule("spec §Endpoints 11", "contract A18")
def test_11_the_authors_of_a_logo_are_listed_as_they_were_linked(client: AppClient) -> None:
    assert client.get("/api/logos/1/authors").json() == [ANN]
    client.post("/api/logos/1/authors", json={"author_id": 2})
    response = client.get("/api/logos/1/authors")
    assert (response.status_code, response.json()) == (200, [ANN, BEN])


@pytest.mark.rule("spec §Endpoints 12", "spec §Rules 5", "contract A16")
def test_12_an_author_is_linked_as_often_as_it_is_asked(client: AppClient) -> None:
    for _ in range(2):
        response = client.post("/api/logos/1/authors", json={"author_id": 2})
        assert (response.status_code, response.json()) == (200, {"logo_author_id": 2, "logo_id": 1, "author_id": 2})
    assert client.get("/api/logos/1/authors").json() == [ANN, BEN]


@pytest.mark.rule("spec §Endpoints 12", "contract A16", "contract A9", "contract A2")
def test_12_what_is_not_there_is_not_linked(client: AppClient) -> None:
    for path, author_id, text in (
        ("/api/logos/1/authors", 99, "Author 99 not found"),
        ("/api/logos/12/authors", 1, "Logo 12 not found"),
        ("/api/logos/12/authors", 99, "Logo 12 not found"),
    ):
        response = client.post(path, json={"author_id": author_id})
        assert (response.status_code, response.json()) == (404, {"detail": text})
    assert types_of(client.post("/api/logos/1/authors", json={})) == [(["body", "author_id"], "missing")]
    assert types_of(client.post("/api/logos/1/authors", json={"author_id": 2**31})) == [
        (["body", "author_id"], "less_than_equal")
    ]


# The operations that contract D adds.


@pytest.mark.rule("contract D users")
def test_a_user_is_changed_and_removed(client: AppClient, admin: Headers) -> None:
    user = dict(ANN_USER)
    for change in ({}, {"username": "anna"}, {"avatar": None}, {"avatar": "x"}, {"role_id": 3}):
        user |= change
        response = client.patch("/api/users/7", json=change, headers=admin)
        assert (response.status_code, response.json()) == (200, user)
    response = client.patch("/api/users/7", json={"username": "admin"}, headers=admin)
    assert (response.status_code, response.json()) == (400, {"detail": "Duplicate entry 'admin' for key 'username'"})
    response = client.patch("/api/users/7", json={"role_id": 99}, headers=admin)
    assert (response.status_code, response.json()) == (404, {"detail": "Role 99 not found"})
    response = client.delete("/api/users/7", headers=admin)
    assert (response.status_code, response.json()) == (200, {"user_id": 7})
    assert client.get("/api/users/7").status_code == 404


@pytest.mark.rule("contract D users", "contract B5", "contract C3")
def test_a_new_password_takes_effect_at_once(client: AppClient, gallery: LogoAdmin, ann: Headers) -> None:
    other = bearer(gallery, "ann", ANN_PASSWORD)
    response = client.put("/api/users/7/password", json={"password": "new"}, headers=ann)
    assert (response.status_code, response.json()) == (200, ANN_USER)
    assert client.get("/api/users/7", headers=ann).status_code == 200
    assert client.get("/api/users/7", headers=other).status_code == 401
    for password, status in ((ANN_PASSWORD, 401), ("new", 200)):
        sign_in = {"username": "ann", "password": password}
        assert client.post("/api/auth/token", json=sign_in).status_code == status


@pytest.mark.rule("contract D roles")
def test_roles_are_listed_created_read_and_removed(client: AppClient, admin: Headers) -> None:
    created = {"role_id": 4, "name": "editor", "scope": ["x", "y"], "created_at": NOW}
    response = client.post("/api/roles", json={"name": "editor", "scope": ["x", "y", "x"]}, headers=admin)
    assert (response.status_code, response.json()) == (201, created)
    assert client.get("/api/roles/4", headers=admin).json() == created
    assert [role["role_id"] for role in client.get("/api/roles", headers=admin).json()] == [1, 2, 3, 4]
    response = client.post("/api/roles", json={"name": "editor", "scope": []}, headers=admin)
    assert (response.status_code, response.json()) == (409, {"detail": "Duplicate entry 'editor' for key 'name'"})
    response = client.delete("/api/roles/4", headers=admin)
    assert (response.status_code, response.json()) == (200, {"role_id": 4})
    for role_id, text in ((1, "Role 1 is the role of new users"), (2, "Role 2 is the role of a user")):
        response = client.delete(f"/api/roles/{role_id}", headers=admin)
        assert (response.status_code, response.json()) == (409, {"detail": text})


@pytest.mark.rule("contract D authors")
def test_authors_are_listed_read_and_removed_with_their_links(client: AppClient, admin: Headers) -> None:
    assert client.get("/api/authors").json() == [ANN, BEN]
    assert client.get("/api/authors/1").json() == ANN
    assert client.get("/api/authors/1/logos").json() == [LOGO]
    assert client.get("/api/authors/1/themes").json() == [THEME]
    assert client.get("/api/authors/2/themes").json() == []
    response = client.delete("/api/authors/1", headers=admin)
    assert (response.status_code, response.json()) == (200, {"author_id": 1})
    assert client.get("/api/logos/1").json()["authors"] == []
    assert client.get("/api/themes/1/authors").json() == []


@pytest.mark.rule("contract D logos", "contract D themes")
@pytest.mark.parametrize(("kind", "record"), [("logo", LOGO), ("theme", THEME)])
def test_artworks_are_listed_created_changed_and_removed(
    client: AppClient, admin: Headers, kind: str, record: dict[str, object]
) -> None:
    path = f"/api/{kind}s"
    asked = {name: value for name, value in ARTWORK.items() if name != "active"}
    created = {**record, f"{kind}_id": 2, "active": False, "authors": []}
    response = client.post(path, json=asked, headers=admin)
    assert (response.status_code, response.json()) == (201, created)
    assert list(response.json()) == list(record)
    assert client.get(path).json() == [record, created]
    for change in ({}, {"name": "x" * 128}, {"active": True}, {"target": "t", "custom_css": ""}):
        created |= change
        response = client.patch(f"{path}/2", json=change, headers=admin)
        assert (response.status_code, response.json()) == (200, created)
    response = client.delete(f"{path}/2", headers=admin)
    assert (response.status_code, response.json()) == (200, {f"{kind}_id": 2})
    assert client.get(f"{path}/2").status_code == 404


@pytest.mark.rule("contract D logos", "contract D themes")
@pytest.mark.parametrize("kind", ["logo", "theme"])
def test_authors_are_linked_and_taken_off_in_both_ways(client: AppClient, admin: Headers, kind: str) -> None:
    path = f"/api/{kind}s/1/authors"
    response = client.post(path, json={"author_id": 2}, headers=admin)
    assert (response.status_code, response.json()) == (200, {f"{kind}_author_id": 2, f"{kind}_id": 1, "author_id": 2})
    assert client.get(path).json() == [ANN, BEN]
    response = client.delete(f"{path}/1", headers=admin)
    assert (response.status_code, response.json()) == (200, {f"{kind}_id": 1, "author_id": 1})
    response = client.request("DELETE", path, json={"author_id": 2}, headers=admin)
    assert (response.status_code, response.json()) == (200, {f"{kind}_id": 1, "author_id": 2})
    assert client.get(path).json() == []
    assert client.delete(f"{path}/2", headers=admin).json() == {"detail": f"Author 2 not found on {kind} 1"}


@pytest.mark.rule("contract D logos", "contract D themes", "contract A3")
def test_an_artwork_beyond_its_limits_is_refused(client: AppClient, admin: Headers) -> None:
    body = {"name": "", "preview_url": "ftp://x", "target": "x" * 65, "custom_css": "x" * 262_145, "active": 1}
    assert types_of(client.post("/api/logos", json=body, headers=admin)) == [
        (["body", "name"], "string_too_short"),
        (["body", "preview_url"], "url_parsing"),
        (["body", "target"], "string_too_long"),
        (["body", "custom_css"], "string_too_long"),
        (["body", "active"], "bool_type"),
    ]
    longest = {**ARTWORK, "name": "😀" * 128, "target": "x" * 64, "custom_css": "é" * 262_144}
    assert client.post("/api/logos", json=longest, headers=admin).status_code == 201


# Signing in.


def post_as(client: AppClient, form: bool, asked: dict[str, str]) -> Any:
    """Ask for tokens with a form or with JSON."""
    path = "/api/auth/token"
    return client.post(path, data=asked) if form else client.post(path, json=asked)


@pytest.mark.rule("contract C1")
@pytest.mark.parametrize("form", [False, True])
@pytest.mark.parametrize("more", [{}, {"grant_type": "password"}])
def test_signing_in_gives_a_token_that_works(client: AppClient, form: bool, more: dict[str, str]) -> None:
    asked = {"username": "ann", "password": ANN_PASSWORD, **more}
    response = post_as(client, form, asked)
    assert response.status_code == 200
    answer = response.json()
    assert list(answer) == ["access_token", "token_type", "expires_in", "refresh_token", "scope"]
    assert (answer["token_type"], answer["expires_in"], answer["scope"]) == ("bearer", 900, "")
    assert response.headers["cache-control"] == "no-store"
    headers = {"Authorization": f"Bearer {answer['access_token']}"}
    assert client.delete("/api/users/7/avatar", headers=headers).status_code == 200


@pytest.mark.rule("contract C1")
def test_a_form_may_say_more_than_is_asked(client: AppClient) -> None:
    asked = {"grant_type": "password", "username": "ann", "password": ANN_PASSWORD, "scope": "", "client_id": "docs"}
    assert client.post("/api/auth/token", data=asked).status_code == 200
    assert types_of(client.post("/api/auth/token", json=asked)) == [
        (["body", "scope"], "extra_forbidden"),
        (["body", "client_id"], "extra_forbidden"),
    ]


@pytest.mark.rule("contract C3")
@pytest.mark.parametrize("form", [False, True])
def test_a_refresh_token_works_once(client: AppClient, form: bool) -> None:
    first = client.post("/api/auth/token", json={"username": "ann", "password": ANN_PASSWORD}).json()
    asked = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}

    def refresh() -> Any:
        return post_as(client, form, asked)

    second = refresh()
    assert second.status_code == 200
    assert second.json()["refresh_token"] != first["refresh_token"]
    again = refresh()
    assert (again.status_code, again.json()) == (401, {"detail": "Couldn't validate credentials"})
    headers = {"Authorization": f"Bearer {second.json()['access_token']}"}
    assert client.delete("/api/users/7/avatar", headers=headers).status_code == 401


@pytest.mark.rule("contract C1")
def test_a_wrong_name_and_a_wrong_password_are_answered_alike(client: AppClient) -> None:
    answers = set()
    for username, password in (("ann", "wrong"), ("nobody", ANN_PASSWORD)):
        response = client.post("/api/auth/token", json={"username": username, "password": password})
        assert response.headers["www-authenticate"] == "Bearer"
        answers.add((response.status_code, response.text))
    assert answers == {(401, '{"detail":"Incorrect username or password"}')}


@pytest.mark.rule("contract C1")
def test_too_many_failures_are_refused(client: AppClient) -> None:
    for _ in range(10):
        assert client.post("/api/auth/token", json={"username": "ann", "password": "x"}).status_code == 401
    response = client.post("/api/auth/token", json={"username": "ann", "password": ANN_PASSWORD})
    assert (response.status_code, response.json()) == (429, {"detail": "Too many failed sign-ins"})
    assert 1 <= int(response.headers["retry-after"]) <= 300
    assert client.post("/api/auth/token", json={"username": "ben", "password": "x"}).status_code == 401


TOO_MUCH = [(["body", "username"], "string_pattern_mismatch"), (["body", "password"], "string_too_long")]


@pytest.mark.rule("contract C1", "contract A5")
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, [(["body", "username"], "missing"), (["body", "password"], "missing")]),
        ({"grant_type": "x", "username": "a", "password": "b"}, [(["body", "grant_type"], "literal_error")]),
        ({"grant_type": "refresh_token"}, [(["body", "refresh_token"], "missing")]),
        ({"username": "a\0", "password": "x" * 257}, TOO_MUCH),
    ],
)
def test_a_sign_in_of_the_wrong_form_is_refused(client: AppClient, body: dict[str, str], expected: object) -> None:
    assert types_of(client.post("/api/auth/token", json=body)) == expected
    assert types_of(client.post("/api/auth/token", data=body, headers={"content-type": FORM})) == expected


FORM = "application/x-www-form-urlencoded"


@pytest.mark.rule("contract C1", "contract A21")
@pytest.mark.parametrize("body", [b"username=%ff&password=x", b"username=\xc3\xa9", b"a&" * 200])
def test_a_form_that_is_no_form_is_refused(client: AppClient, body: bytes) -> None:
    response = client.post("/api/auth/token", content=body, headers={"content-type": FORM})
    assert response.status_code == 422


@pytest.mark.rule("contract A21", "contract C1")
@pytest.mark.parametrize(
    "row", [row for row in SAMPLES if row.takes_body and row.template != "/api/auth/token"], ids=str
)
def test_no_other_endpoint_takes_a_form(client: AppClient, admin: Headers, row: Sample) -> None:
    response = send(client, row, {**admin, "content-type": FORM}, content=b"username=a")
    assert response.status_code == 415


# What all operations have in common.


@pytest.mark.rule("spec §Versioning", "contract D users")
def test_the_operations_are_those_of_the_specification_and_the_contract() -> None:
    assert [(operation.method, operation.path) for operation in OPERATIONS] == [
        (row.method, row.template) for row in SAMPLES
    ]
    assert all(row.template.startswith("/api/") for row in SAMPLES)


@BOTH
@pytest.mark.rule("contract B1", "contract A5")
def test_the_declared_statuses_are_those_that_follow_from_the_contract(
    access: Policy, subtests: pytest.Subtests
) -> None:
    for row in SAMPLES:
        with subtests.test(str(row)):
            (operation,) = [each for each in OPERATIONS if (each.method, each.path) == (row.method, row.template)]
            expected = {row.status, 422, 503, *row.errors}
            expected |= {413, 415} if row.body is not None else set()
            expected |= {401} if row.token != "never" or row.template == "/api/auth/token" else set()
            expected |= {403} if needs_token(row, access) or (row.token != "never" and row.method != "GET") else set()
            is_versioned = not row.template.startswith("/api/auth/") and not row.is_file
            expected |= {304} if row.method == "GET" and is_versioned else set()
            expected |= {412} if row.method in ("PATCH", "PUT", "DELETE") else set()
            assert operation.statuses(access) == tuple(sorted(expected))


@ALL
@pytest.mark.rule("contract A21")
@pytest.mark.rule("spec §Resources", "spec §Versioning", "contract D users", "contract D roles", "contract D authors")
@pytest.mark.rule("contract D themes", "contract D logos")
def test_a_good_request_is_answered_with_exactly_its_fields(client: AppClient, admin: Headers, row: Sample) -> None:
    response = send(client, row, admin)
    assert response.status_code == row.status
    assert response.header("content-type") == ("application/jsonl" if row.is_file else "application/json")
    assert response.header("x-content-type-options") == "nosniff"
    answer = loads(response.text.partition("\n")[0]) if row.is_file else response.json()
    assert isinstance(answer, list) == row.is_list
    for record in answer if row.is_list else [answer]:
        assert tuple(record) == row.fields
    assert "password" not in response.text
    assert "argon2" not in response.text
    if row.method != "GET" or row.token != "never":  # writes, and what is about people, are kept nowhere
        assert response.header("cache-control") == "no-store"


@ALL
@BOTH
@pytest.mark.rule("spec §Authentication 1", "spec §Authentication 3", "spec §Authentication 4", "spec §Errors 403")
@pytest.mark.rule("contract B1", "contract A19")
def test_without_a_token(client: AppClient, watched: WatchedStorage, access: Policy, row: Sample) -> None:
    response = send(client, row)
    if needs_token(row, access):
        assert (response.status_code, response.json()) == (403, {"detail": "Not authenticated"})
        assert watched.asked == []
    else:
        assert response.status_code == row.status


@BOTH
@pytest.mark.rule("spec §Authentication 2", "spec §Errors 401", "contract A19")
def test_a_bad_token_is_refused_wherever_one_may_be_shown(
    client: AppClient, watched: WatchedStorage, subtests: pytest.Subtests
) -> None:
    for row in SAMPLES:
        with subtests.test(str(row)):
            response = send(client, row, {"authorization": "Bearer x.y.z"})
            if row.token == "never":
                assert response.status_code == row.status
            else:
                assert (response.status_code, response.json()) == (401, {"detail": "Couldn't validate credentials"})
                assert response.header("www-authenticate") == "Bearer"
                assert watched.asked == []
            watched.asked.clear()


@GUARDED
@pytest.mark.rule("contract A19", "spec §Authentication 3")
@pytest.mark.parametrize("header", ["Basic YW5uOng=", "Bearer", "Bearer ", "Token x", "Bearerx.y.z", "", "x.y.z"])
def test_another_scheme_than_bearer_is_no_token(client: AppClient, header: str) -> None:
    for row in SAMPLES:
        response = send(client, row, {"authorization": header})
        if row.token in ("never", "optional"):
            assert response.status_code == row.status, str(row)
        else:
            assert (response.status_code, response.json()) == (403, {"detail": "Not authenticated"}), str(row)


@pytest.mark.rule("contract A19")
def test_the_scheme_is_read_in_any_case_and_a_second_header_makes_both_doubtful(
    app: ASGIApp, client: AppClient, admin: Headers
) -> None:
    token = admin["authorization"].split()[1]
    for header in (f"bearer {token}", f"BEARER  {token} "):
        assert client.get("/api/roles", headers={"authorization": header}).status_code == 200
    two = [("authorization", f"Bearer {token}"), ("authorization", "Bearer x")]
    assert ask(app, "GET", "/api/roles", headers=two).status_code == 401


@ALL
@GUARDED
@pytest.mark.rule("contract A19", "contract B1", "contract B3")
def test_a_token_without_the_right_is_refused(client: AppClient, gallery: LogoAdmin, ann: Headers, row: Sample) -> None:
    gallery.users.create(logoadmin.CreateUser(user_id=50, username="other", password="x"))
    other = send(client, row, ann, path=row.path.replace("/users/7", "/users/50"))
    own = send(client, row, ann)
    if row.token == "never" or (row.template.startswith("/api/auth/") and row.method != "POST"):
        assert other.status_code in (row.status, 404)  # what was removed at the first try
        return
    if row.token == "optional":
        assert other.status_code == row.status
        return
    assert (other.status_code, other.json()) == (403, {"detail": "Not enough permissions"})
    is_own = str(row) in ("GET /api/users/{user_id}", "DELETE /api/users/{user_id}/avatar")
    assert own.status_code == (200 if is_own or row.template.endswith("/password") else 403)


@pytest.mark.rule("contract A19", "contract B5")
def test_the_order_of_judgement(client: AppClient, gallery: LogoAdmin, admin: Headers, ann: Headers) -> None:
    def answers(headers: Headers, content: bytes, type_: str, path: str) -> list[object]:
        response = client.request("PATCH", path, headers={**headers, "content-type": type_}, content=content)
        return [response.status_code, response.json()["detail"]]

    none: Headers = {}
    bad = {"authorization": "Bearer bad"}
    nothing_right = (b"{", "text/plain", "/api/users/x?y=1")
    assert answers(none, *nothing_right) == [403, "Not authenticated"]
    assert answers(bad, *nothing_right) == [401, "Couldn't validate credentials"]
    gallery.users.create(logoadmin.CreateUser(user_id=60, username="gone", password="x"))
    gone = bearer(gallery, "gone", "x")
    gallery.users.remove(RemoveUser(user_id=60))
    assert answers(gone, *nothing_right)[0] == 415
    assert answers(gone, b"{}", "application/json", "/api/users/x")[0] == 422
    well_formed = (b"{}", "application/json", "/api/users/12")
    assert answers(gone, *well_formed) == [401, "Couldn't validate credentials"]
    assert answers(ann, *well_formed) == [403, "Not enough permissions"]
    assert answers(admin, *well_formed) == [404, "User 12 not found"]


@pytest.mark.rule("contract A11", "contract C2")
def test_who_has_as_many_and_as_long_scopes_as_a_role_can_have_is_let_in(
    client: AppClient, gallery: LogoAdmin, admin: Headers
) -> None:
    scope = [f"{number:064}" for number in range(64)]
    assert client.patch("/api/roles/1", json={"scope": scope}, headers=admin).status_code == 200
    ann = bearer(gallery, "ann", ANN_PASSWORD)
    assert client.get("/api/auth/me", headers=ann).json()["scope"] == scope
    assert 5_000 < len(ann["authorization"]) < 10_000  # well within a head


@BOTH
@pytest.mark.rule("contract A19", "contract B4")
def test_who_goes_beyond_themselves_is_answered_403_whatever_else_is_wrong(
    client: AppClient, gallery: LogoAdmin, admin: Headers
) -> None:
    scope = ["users:write", "roles:write"]
    role_id = client.post("/api/roles", json={"name": "manager", "scope": scope}, headers=admin).json()["role_id"]
    client.patch("/api/users/7", json={"role_id": role_id}, headers=admin)
    gallery.users.create(logoadmin.CreateUser(user_id=60, username="painter", password="x"))
    client.patch("/api/users/60", json={"role_id": 3}, headers=admin)
    client.patch("/api/users/60", json={"username": "renamed"}, headers=admin)
    change_id = list(gallery.changes.list(logoadmin.ListChanges()))[-2].change_id
    manager = bearer(gallery, "ann", ANN_PASSWORD)
    for method, path, body, if_match, otherwise in (
        ("DELETE", "/api/roles/3", None, "*", 409),
        ("PATCH", "/api/roles/3", {"name": "x"}, '"0"', 412),
        ("PATCH", "/api/users/60", {"avatar": None}, '"0"', 412),
        ("PATCH", "/api/users/60", {"role_id": 999}, "*", 404),
        ("POST", f"/api/changes/{change_id}/revert", None, "*", 409),
    ):
        answers = [
            client.request(method, path, json=body, headers={**who, "if-match": if_match}) for who in (manager, admin)
        ]
        assert [answer.status_code for answer in answers] == [403, otherwise]
        assert answers[0].json() == {"detail": "Not enough permissions"}


@BOTH
@pytest.mark.rule("contract A19", "contract A5")
def test_a_request_that_is_refused_for_its_form_never_touches_storage(
    client: AppClient, watched: WatchedStorage, admin: Headers, subtests: pytest.Subtests
) -> None:
    for row in WITH_BODY:
        with subtests.test(str(row)):
            nulls = dict.fromkeys(set(row.body) - {"avatar"})
            bodies: tuple[object, ...] = ([], "x", {"surplus": 1}, nulls)
            for body in bodies:
                assert send(client, row, admin, json=body).status_code == 422
            missing = (b"",) if row in WITH_NEEDED_BODY else ()
            for content in (*missing, b"{", b"\xff", b'{"a": NaN}'):
                assert send(client, row, {**admin, **JSON_TYPE}, content=content).status_code == 422
            assert send(client, row, {**admin, "content-type": "text/plain"}, content=b"{}").status_code == 415
            assert send(client, row, {**admin, **JSON_TYPE}, content=b" " * 3_670_017).status_code == 413
            assert watched.asked == []


TOO_SMALL = ("greater_than_equal", "Input should be greater than or equal to 0")
TOO_LARGE = ("less_than_equal", "Input should be less than or equal to 2147483647")
UNPARSABLE = ("int_parsing", "Input should be a valid integer, unable to parse string as an integer")
# fmt: off
NO_PATH_IDS = (
    *((text, TOO_SMALL) for text in ("-1", "-2147483649", "-" + "9" * 6000)),
    *((text, TOO_LARGE) for text in ("2147483648", "+2147483648", "9" * 6000)),
    *((text, UNPARSABLE) for text in (
        "x", "1.0", "1e3", "%20", "%201", "1%20", "1_0", "0x1", "\uff11", "²", "+", "-", "--1", "+-1", "true", "null",
        "1%00", "%00", "1%0a", "%F0%9F%98%80", "1,0", "~", "%FF",
    )),
)
# fmt: on


@pytest.mark.rule("spec §Rules 1", "spec §Limits", "spec §Errors 422", "contract A1", "contract A2", "contract A5")
def test_a_path_id_is_an_integer_within_bounds(
    app: ASGIApp, watched: WatchedStorage, admin: Headers, subtests: pytest.Subtests
) -> None:
    for row in WITH_NUMBER:
        field = row.template.split("{")[1].split("}")[0]
        template = row.template.replace(f"{{{field}}}", "{}").replace("{author_id}", "1")
        body = b"" if row.body is None else dumps(row.body).encode()
        headers = [*admin.items(), *JSON_TYPE.items()]
        with subtests.test(str(row)):
            for text, (type_, msg) in NO_PATH_IDS:
                answered = ask(app, row.method, template.format(text), headers=headers, body=body)
                assert answered.status_code == 422, text
                assert answered.json() == {"detail": [problem(["path", field], type_, msg)]}, text
    assert watched.asked == []


# fmt: off
NO_INTEGERS = (
    "", "x", "1.0", "1e3", "%20", "%201", "1%20", "+1", "1+", "%09", "1%0a", "%0b", "%c2%a01", "1_0", "0x1", "%00",
    "1%00", "\uff11", "\u0661", "²", "%2b", "-", "--1", "%2b-1", "true", "null", "1,0", "%F0%9F%98%80",
)
# fmt: on


@pytest.mark.rule("contract A1", "contract A2", "contract A5")
def test_an_integer_in_a_query_is_ascii_digits_within_bounds(
    app: ASGIApp, watched: WatchedStorage, admin: Headers, subtests: pytest.Subtests
) -> None:
    asked = [
        (row, name)
        for row, operation in zip(SAMPLES, OPERATIONS, strict=True)
        for name, kind in operation.query_fields.items()
        if kind is int
    ]
    assert len(asked) > 20
    for row, name in asked:
        needed = "&kind=logo" if (row.template, name) == ("/api/changes", "id") else ""
        with subtests.test(f"{row}?{name}"):
            for text in (*NO_INTEGERS, *("-" + "9" * digits for digits in (1, 6000)), "9" * 30, "9" * 6000):
                answered = ask(app, row.method, f"{row.path}?{name}={text}{needed}", headers=admin.items())
                (found,) = types_of(answered)
                assert found[0] == ["query", name], text
                if text in NO_INTEGERS:
                    assert found[1] == "int_parsing", text
                else:
                    assert found[1] == ("greater_than_equal" if text.startswith("-") else "less_than_equal"), text
            for text in ("%2b1", "1", "0" * 6000 + "1"):
                answered = ask(app, row.method, f"{row.path}?{name}={text}{needed}", headers=admin.items())
                assert answered.status_code == 200, text
    assert watched.asked.count("write") == 0


@pytest.mark.rule("contract A1", "spec §Limits")
def test_a_path_id_may_be_written_with_a_sign_or_zeros_and_goes_to_its_bounds(
    client: AppClient, admin: Headers, subtests: pytest.Subtests
) -> None:
    for row in WITH_NUMBER:
        with subtests.test(str(row)):
            field = row.template.split("{")[1].split("}")[0]
            for text in ("0", "-0", "+0", "2147483647", "+2147483647", "0" * 6000, "00002147483647", "%32147483647"):
                others = {"user_id": 7, "role_id": 3, "author_id": 1, "theme_id": 1, "logo_id": 1}
                response = send(client, row, admin, path=row.template.format(**(others | {field: text})))
                number = 0 if set(text) <= set("+-0") else 2_147_483_647
                assert response.status_code == 404
                assert f" {number} not found" in response.json()["detail"]


@pytest.mark.rule("contract A9")
def test_a_record_that_does_not_exist_is_named(client: AppClient, admin: Headers, subtests: pytest.Subtests) -> None:
    for row in WITH_PATH:
        with subtests.test(str(row)):
            field = row.template.split("{")[1].split("}")[0]
            response = send(
                client, row, admin, path=row.template.replace("{author_id}", "1").replace(f"{{{field}}}", "12")
            )
            if field == "author_id":
                response = send(client, row, admin, path=row.template.replace("{author_id}", "12"))
            kind = field.removesuffix("_id").capitalize()
            assert (response.status_code, response.json()) == (404, {"detail": f"{kind} 12 not found"})


@pytest.mark.rule("contract A4", "contract A5")
def test_an_unknown_query_parameter_is_refused(client: AppClient, admin: Headers, subtests: pytest.Subtests) -> None:
    for row in SAMPLES:
        with subtests.test(str(row)):
            response = send(client, row, admin, path=f"{row.path}?x=1&x=2&y")
            assert types_of(response) == [(["query", "x"], "extra_forbidden"), (["query", "y"], "extra_forbidden")]


@pytest.mark.rule("contract A5")
def test_all_problems_of_a_request_are_reported_at_once_in_order(client: AppClient, admin: Headers) -> None:
    body = {"username": "", "user_id": 1, "avatar": 5, "surname": "x"}
    response = client.patch("/api/users/-1?a=1&b=2", json=body, headers=admin)
    assert types_of(response) == [
        (["path", "user_id"], "greater_than_equal"),
        (["query", "a"], "extra_forbidden"),
        (["query", "b"], "extra_forbidden"),
        (["body", "user_id"], "extra_forbidden"),
        (["body", "username"], "string_too_short"),
        (["body", "avatar"], "string_type"),
        (["body", "surname"], "extra_forbidden"),
    ]
    response = client.patch("/api/users/x?a=1", content=b"{", headers={**admin, **JSON_TYPE})
    assert types_of(response) == [
        (["path", "user_id"], "int_parsing"),
        (["query", "a"], "extra_forbidden"),
        (["body"], "json_invalid"),
    ]


@pytest.mark.rule("contract A5", "contract C4")
def test_no_entry_repeats_the_input(client: AppClient, admin: Headers) -> None:
    secret = "hunter2-hunter2"
    for body in (
        {"user_id": 8, "username": "x", "password": secret * 100},
        {"user_id": 8, "username": "x", "password": [secret]},
        {"user_id": secret, "username": {secret: secret}, "password": f"{secret}\0", "avatar": [secret], "x": secret},
        [secret],
        secret,
    ):
        response = client.post("/api/users", json=body, headers=admin)
        assert response.status_code == 422
        assert secret not in response.text
    broken = f'{{"password": "{secret}" {secret}'.encode()
    response = client.post("/api/users", content=broken, headers={**admin, **JSON_TYPE})
    assert response.status_code == 422
    assert secret not in response.text


@pytest.mark.rule("contract A1")
@pytest.mark.parametrize("number", ["true", "false", '"5"', "5.0", "5.5", "1e3", "-0.0", "null", "[5]", "{}"])
def test_an_integer_in_a_body_is_written_as_one(client: AppClient, number: str) -> None:
    body = f'{{"user_id": {number}, "username": "x"}}'.encode()
    response = client.post("/api/authors", content=body, headers=JSON_TYPE)
    assert types_of(response) == [(["body", "user_id"], "int_type")]


@pytest.mark.rule("contract A5", "contract A21")
@pytest.mark.parametrize(
    ("content", "type_"),
    [
        (b"", "missing"),
        (b"null", "dict_type"),
        (b"[]", "dict_type"),
        (b'"x"', "dict_type"),
        (b"5", "dict_type"),
        (b"{", "json_invalid"),
        (b"{} {}", "json_invalid"),
        (b"{'a': 1}", "json_invalid"),
        (b'{"a": NaN}', "json_invalid"),
        (b'{"a": Infinity}', "json_invalid"),
        (b'{"a": "\xff"}', "json_invalid"),
        (b'{"a": "\\ud800"}', "json_invalid"),
        (b'\xef\xbb\xbf{"a": 1}', "json_invalid"),
        ('{"a": 1}'.encode("utf-16"), "json_invalid"),
        (b"[" * 60_000, "json_invalid"),
        (b'{"a":' * 10_000, "json_invalid"),
        (b'{"a": ' + b"1" * 5000 + b"}", "json_invalid"),
    ],
)
def test_a_body_that_is_no_json_object_is_refused(
    client: AppClient, admin: Headers, content: bytes, type_: str
) -> None:
    for row in WITH_BODY if content else WITH_NEEDED_BODY:
        response = send(client, row, {**admin, **JSON_TYPE}, content=content)
        assert types_of(response) == [(["body"], type_)], str(row)


@pytest.mark.rule("contract A21")
def test_a_body_that_is_not_json_by_its_type_is_refused(
    client: AppClient, app: ASGIApp, admin: Headers, subtests: pytest.Subtests
) -> None:
    for row in WITH_BODY:
        with subtests.test(str(row)):
            content = dumps(row.body).encode()
            for type_ in (
                "text/plain",
                "text/plain;charset=utf-8",
                "application/jsonp",
                "multipart/form-data; boundary=x",
                "*/*",
            ):
                response = send(client, row, {**admin, "content-type": type_}, content=content)
                assert (response.status_code, list(response.json())) == (415, ["detail"]), type_
            headers = list(admin.items())
            missing = ask(app, row.method, row.path, headers=headers, body=content)
            assert missing.status_code == 415
            for encoding in ("gzip", "br", "deflate", "identity, gzip"):
                sent = {**admin, **JSON_TYPE, "content-encoding": encoding}
                assert send(client, row, sent, content=content).status_code == 415
            if row in WITH_NEEDED_BODY:
                assert send(client, row, {**admin, "content-type": "application/json"}, content=b"").status_code == 422


@pytest.mark.rule("contract A21")
@pytest.mark.parametrize("type_", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/json ;x=y"])
def test_a_json_type_may_be_written_in_any_way(client: AppClient, type_: str) -> None:
    body = b'{"user_id": 5, "username": "x"}'
    assert client.post("/api/authors", content=body, headers={"content-type": type_}).status_code == 201


@pytest.mark.rule("contract A21")
def test_a_body_over_the_limit_is_refused(app: ASGIApp, admin: Headers, subtests: pytest.Subtests) -> None:
    for row in WITH_BODY:
        with subtests.test(str(row)):
            headers = [*admin.items(), *JSON_TYPE.items()]
            limit = LARGEST_WITH_CSS if row.template in WITH_CSS else LARGEST
            length = [("content-length", str(limit + 1))]
            said_so = ask(app, row.method, row.path, headers=[*headers, *length], body=b"{}")
            chunked = ask(app, row.method, row.path, headers=headers, body=[b" " * limit, b" "])
            for answered in (said_so, chunked):
                assert answered.status_code == 413
                assert answered.json() == {"detail": f"Body should have at most {limit} bytes"}
            assert ask(app, row.method, row.path, headers=headers, body=[b" " * (limit - 1), b"x"]).status_code == 422


@pytest.mark.rule("contract A21")
def test_the_largest_body_is_taken(client: AppClient, admin: Headers) -> None:
    author = b'{"user_id": 5, "username": "x"}'
    assert client.post("/api/authors", content=author.ljust(LARGEST), headers=JSON_TYPE).status_code == 201
    logo = dumps({**ARTWORK, "custom_css": "\U0001f600" * 262_144}).encode()
    created = client.post("/api/logos", content=logo.ljust(LARGEST_WITH_CSS), headers={**JSON_TYPE, **admin})
    assert created.status_code == 201
    assert created.json()["custom_css"] == "\U0001f600" * 262_144


@pytest.mark.rule("contract A21")
def test_a_wrong_method_is_answered_with_those_that_are_right(app: ASGIApp, subtests: pytest.Subtests) -> None:
    for template in sorted({row.template for row in SAMPLES}):
        rows = [row for row in SAMPLES if row.template == template]
        right = {row.method for row in rows} | ({"HEAD"} if any(row.method == "GET" for row in rows) else set())
        methods = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get", "\u1234"}
        for method in methods - right:
            with subtests.test(f"{method} {template}"):
                answered = ask(app, method, rows[0].path)
                assert answered.status_code == 405
                assert set((answered.header("allow") or "").split(", ")) == right
                if method != "HEAD":
                    assert answered.json() == {"detail": "Method Not Allowed"}


@pytest.mark.rule("contract A21")
@pytest.mark.parametrize(
    "path",
    [
        *("/api", "/api/", "/api/users//", "/api/users/7/x/", "/api//users", "//api/users", "/metrics/", "/healthy"),
        *("/api/changes/7", "/api/changes/%20", "/api/changes/x", "/api/auth", "/api/auth/sessions/x/y"),
        *(
            "/API/users",
            "/api/artists",
            "/api/users/7/avatar/x",
            "/docs/x/",
            "//",
            "/redoc",
            "/favicon.ico",
        ),
        *("/api/logos/1%2Fauthors/x/y", "/api/./users", "/api/../api/users", "/openapi.json/", "/%00", "/api/users%00"),
    ],
)
def test_an_unknown_path_is_not_found(app: ASGIApp, path: str) -> None:
    for method in ("GET", "POST", "DELETE"):
        answered = ask(app, method, path)
        assert (answered.status_code, answered.json()) == (404, {"detail": "Not Found"})
        assert answered.header("content-type") == "application/json"


@pytest.mark.rule("contract A21")
@pytest.mark.parametrize(
    ("paths", "hint"),
    [
        (("/api/logos/", "/api/users/7/", "/api/logos/1/authors/"), "this path exists without the slash at its end"),
        (("/health", "/healthz"), "health checks are at /livez and /readyz"),
        (("/metrics",), "metrics have a listener of their own, see the setting metrics_port"),
    ],
)
def test_a_path_that_is_nearly_right_is_not_found_with_a_hint(app: ASGIApp, paths: tuple[str, ...], hint: str) -> None:
    for path in paths:
        for method in ("GET", "POST"):
            answered = ask(app, method, path)
            assert (answered.status_code, answered.json()) == (404, {"detail": f"Not Found; {hint}"})
            assert answered.header("location") is None


@pytest.mark.rule("contract A21")
def test_head_answers_as_get_does_without_the_body(app: ASGIApp, admin: Headers, subtests: pytest.Subtests) -> None:
    nobody = {"user_id": 9, "role_id": 9, "author_id": 9, "theme_id": 9, "logo_id": 9}
    for row in (row for row in SAMPLES if row.method == "GET"):
        for path in (row.path, row.path + "?x=1", row.template.format(**nobody)):
            with subtests.test(f"HEAD {path}"):
                headers = {**admin, "x-request-id": "both"}.items()
                get, head = (ask(app, method, path, headers=headers) for method in ("GET", "HEAD"))
                assert head.status_code == get.status_code
                assert head.headers == get.headers
                assert head.body == b""


@BOTH
@pytest.mark.rule("spec §Errors 503", "contract A20")
def test_a_database_out_of_reach_is_said_to_be_on_every_endpoint(
    client: AppClient, watched: WatchedStorage, admin: Headers, subtests: pytest.Subtests
) -> None:
    for row in SAMPLES:
        with subtests.test(str(row)):
            watched.go_away()
            response = send(client, row, admin)
            assert (response.status_code, response.json()) == (503, {"detail": AWAY})
            assert int(response.header("retry-after") or 0) >= 1
            assert watched.asked
            watched.asked.clear()
    watched.come_back()
    assert client.get("/api/logos/1").json() == LOGO


@pytest.mark.rule("spec §Errors 503", "contract A20", "contract H6")
@pytest.mark.parametrize("waits", [False, True])
def test_a_storage_that_waits_is_asked_elsewhere_with_the_same_answers(
    app: ASGIApp, gallery: LogoAdmin, watched: WatchedStorage, admin: Headers, waits: bool
) -> None:
    gallery.waits = watched.waits = waits
    with AppClient(app) as client:
        assert client.get("/api/logos/1").json() == LOGO
        assert client.post("/api/logos", json=ARTWORK, headers=admin).status_code == 201
        assert client.get("/api/logos/12").status_code == 404
        watched.go_away()
        assert client.get("/api/logos/1").json() == {"detail": AWAY}


@pytest.mark.rule("contract A21")
def test_an_unexpected_fault_is_answered_without_a_word_about_it(
    client: AppClient,
    watched: WatchedStorage,
    admin: Headers,
    caplog: pytest.LogCaptureFixture,
    subtests: pytest.Subtests,
) -> None:
    for row in SAMPLES:
        with subtests.test(str(row)):
            watched.fault = RuntimeError("secret detail")
            response = send(client, row, admin)
            assert (response.status_code, response.json()) == (500, {"detail": "Internal Server Error"})
    assert "secret detail" in caplog.text  # the log has it, and no secret of a request
    for secret in (ANN_PASSWORD, admin["authorization"].split()[1]):
        assert secret not in caplog.text


@pytest.mark.rule("contract A21")
def test_a_log_line_has_no_line_breaks_of_a_stranger(
    app: ASGIApp, watched: WatchedStorage, caplog: pytest.LogCaptureFixture
) -> None:
    watched.fault = RuntimeError("x")
    assert ask(app, "GET", "/api/logos/1").status_code == 500
    assert ask(app, "GET", "/api/logos/%0aFORGED%1b[31m").status_code == 422
    assert all("\n" not in record.getMessage() and "\x1b" not in record.getMessage() for record in caplog.records)


# Lists of any length.


def fill(watched: WatchedStorage, size: int) -> None:
    def work(uow: Any) -> None:
        for id_ in range(3, size + 1):
            uow.records(AUTHORS).add(Author(id_, 1000 + id_, f"author {id_}", NOW))

    watched.write(work)
    watched.asked.clear()


@pytest.mark.rule("contract E1", "contract A18")
@pytest.mark.parametrize("size", [499, 500, 501, 1001])
@pytest.mark.parametrize("waits", [False, True])
def test_a_list_over_several_pages_is_whole(
    app: ASGIApp, gallery: LogoAdmin, watched: WatchedStorage, size: int, waits: bool
) -> None:
    fill(watched, size)
    gallery.waits = waits
    for version in ("2.0", "2.4"):
        answered = ask(app, "GET", "/api/authors", asgi_version=version)
        assert answered.status_code == 200
        assert answered.complete
        assert answered.error is None
        assert [author["author_id"] for author in answered.json()] == list(range(1, size + 1))


@pytest.mark.rule("contract E1", "contract A20")
@pytest.mark.parametrize("answered_calls", [1, 2])
@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("version", ["2.0", "2.4"])
@pytest.mark.parametrize("bug", [False, True])
def test_a_list_whose_database_fails_midway_breaks_off(
    app: ASGIApp, gallery: LogoAdmin, watched: WatchedStorage, answered_calls: int, waits: bool, version: str, bug: bool
) -> None:
    fill(watched, 1501)
    gallery.waits = waits
    watched.go_away(after=1 + answered_calls)  # the first call asks for the version
    if bug:
        watched.fault = RuntimeError("bug")
    answered = ask(app, "GET", "/api/authors", asgi_version=version)
    assert answered.status_code == 200
    assert not answered.complete
    assert answered.error is not None
    with pytest.raises(JSONDecodeError):
        answered.json()


@pytest.mark.rule("contract E1", "contract A20")
def test_a_list_whose_database_is_away_from_the_start_is_503(client: AppClient, watched: WatchedStorage) -> None:
    fill(watched, 1501)
    watched.go_away()
    assert client.get("/api/authors").status_code == 503


@pytest.mark.rule("contract E1", "contract A21")
def test_head_of_a_long_list_fetches_no_more_than_a_page(app: ASGIApp, watched: WatchedStorage) -> None:
    fill(watched, 1501)
    answered = ask(app, "HEAD", "/api/authors")
    assert (answered.status_code, answered.body, answered.complete) == (200, b"", True)
    assert watched.asked == ["read"]  # one page; the version is told on the spot


@pytest.mark.rule("contract E1", "contract D logos")
@pytest.mark.parametrize("size", [49, 50, 51])
def test_lists_of_artworks_are_whole_too(client: AppClient, watched: WatchedStorage, size: int) -> None:
    def work(uow: Any) -> None:
        for id_ in range(2, size + 1):
            uow.records(LOGOS).add(Logo(id_, "n", "http://a", "t", "", False, (), NOW))
            uow.links(LOGOS).add(id_, 1)

    watched.write(recorded(work, NOW))
    for path in ("/api/logos", "/api/authors/1/logos"):
        assert [logo["logo_id"] for logo in client.get(path).json()] == list(range(1, size + 1))


# Reading rights at each request.


@pytest.mark.rule("contract B5", "contract A19")
def test_a_change_of_role_and_a_removal_take_effect_at_once(
    client: AppClient, gallery: LogoAdmin, ann: Headers
) -> None:
    assert client.get("/api/roles", headers=ann).status_code == 403
    gallery.users.amend(AmendUser(user_id=7, role_id=2))
    assert client.get("/api/roles", headers=ann).status_code == 200
    gallery.users.remove(RemoveUser(user_id=7))
    response = client.get("/api/roles", headers=ann)
    assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")


@GUARDED
@pytest.mark.rule("contract B1")
def test_under_guarded_everybody_may_read_themselves(client: AppClient, ann: Headers) -> None:
    assert client.get("/api/users/7", headers=ann).json() == ANN_USER
    assert client.get(f"/api/users/{ADMIN_ID}", headers=ann).status_code == 403
    assert client.get("/api/users/12", headers=ann).status_code == 403  # nor learn who is there


@pytest.mark.rule("contract C2", "contract A19")
def test_an_expired_token_is_refused(client: AppClient, clock: Any, admin: Headers) -> None:
    clock.pass_by(899)
    assert client.get("/api/roles", headers=admin).status_code == 200
    clock.pass_by(1)
    assert client.get("/api/roles", headers=admin).status_code == 401


@pytest.mark.rule("contract H6")
def test_what_http_refuses_the_library_refuses(client: AppClient, gallery: LogoAdmin) -> None:
    response = client.post("/api/authors", json={"user_id": -1, "username": ""})
    with pytest.raises(logoadmin.InvalidInput) as invalid:
        gallery.authors.create(CreateAuthor(user_id=-1, username=""))
    assert response.json() == {
        "detail": [problem(["body", *p.loc], p.type, p.msg) for p in invalid.value.problems],
    }
    response = client.post("/api/authors", json={"user_id": 101, "username": "x"})
    with pytest.raises(logoadmin.DuplicateEntry) as duplicate:
        gallery.authors.create(CreateAuthor(user_id=101, username="x"))
    assert response.json() == {"detail": str(duplicate.value)}


@pytest.mark.rule("contract A21")
@pytest.mark.parametrize("path", ["/api/users%0A", "/api/logos/1%0A", "/openapi.json%0A"])
def test_a_path_that_ends_with_a_newline_is_another_path(client: AppClient, path: str) -> None:
    assert client.get(path).status_code in (404, 422)


@pytest.mark.rule("contract F1", "contract F3", "contract A4")
def test_what_headers_say_is_said_nowhere_else(client: AppClient, admin: Headers) -> None:
    for row in SAMPLES:
        for name, value in (("if_match", [1]), ("if_none_match", [1]), ("idempotency_key", "x")):
            if row.takes_body:
                answered = send(client, row, admin, json={**(row.body or {}), name: value})
                assert types_of(answered) == [(["body", name], "extra_forbidden")], str(row)
            if row.method == "GET":
                answered = send(client, row, admin, path=f"{row.path}?{name}=1")
                assert types_of(answered) == [(["query", name], "extra_forbidden")], str(row)


@pytest.mark.rule("contract A5")
def test_a_flood_of_unknown_fields_is_one_problem(client: AppClient) -> None:
    many = {str(number): 1 for number in range(4_000)}
    response = client.post("/api/authors", json=many)
    assert response.status_code == 422
    expected = {"loc": ["body"], "msg": "Input should have at most 100 fields", "type": "too_long"}
    assert response.json() == {"detail": [expected]}
    query = "&".join(f"{number}=1" for number in range(1000))
    assert client.get(f"/api/users?{query}").json() == {"detail": [{**expected, "loc": ["query"]}]}
    scope = ["two words"] * 4_000
    assert len(client.patch("/api/roles/3", json={"scope": scope}).content) < 20_000


@pytest.mark.rule("contract A4")
def test_a_field_that_is_given_twice_is_refused(client: AppClient) -> None:
    twice = b'{"user_id": 1, "user_id": 2, "username": "x"}'
    response = client.post("/api/authors", content=twice, headers={"content-type": "application/json"})
    assert response.status_code == 422
    expected = {"loc": ["body"], "msg": "Invalid JSON: an object names a field twice", "type": "json_invalid"}
    assert response.json() == {"detail": [expected]}
