"""The specification to the letter: its twelve endpoints, errors and rules, over HTTP."""

from typing import Any, Final

import pytest

from tests.asgi import AppClient
from tests.entrypoints.conftest import Headers
from tests.gallery import ADMIN_ID, NOW

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
BEN: Final[dict[str, Any]] = {"user_id": 8, "username": "ben", "password": "ben's password"}
# One after the other: the number of the endpoint, a request, and the status and the body of its response.
ENDPOINTS: Final[tuple[tuple[int, str, Any, int, str], ...]] = (
    (1, "GET /api/users", None, 200, f"[{USER_7},{ADMIN}]"),
    (2, "POST /api/users", BEN, 201, USER_8),
    (3, "GET /api/users/7", None, 200, USER_7),
    (4, "DELETE /api/users/7/avatar", None, 200, '{"avatar":"a.png"}'),
    (3, "GET /api/users/7", None, 200, USER_7.replace('"a.png"', "null")),
    (5, "PATCH /api/roles/3", {"name": "brush"}, 200, BRUSH),
    (5, "PATCH /api/roles/3", {}, 200, BRUSH),
    (6, "POST /api/authors", {"user_id": 103, "username": "Cyd"}, 201, CYD),
    (7, "PATCH /api/authors/2", {"username": "Bob"}, 200, BOB),
    (7, "PATCH /api/authors/2", {}, 200, BOB),
    (8, "DELETE /api/themes/1/authors", {"author_id": 1}, 200, '{"theme_id":1,"author_id":1}'),
    (9, "GET /api/logos/1", None, 200, AURORA),
    (11, "GET /api/logos/1/authors", None, 200, f"[{ANN}]"),
    (12, "POST /api/logos/1/authors", {"author_id": 2}, 200, '{"logo_author_id":2,"logo_id":1,"author_id":2}'),
    (10, "DELETE /api/logos/1", None, 200, '{"logo_id":1}'),
)
WITH_TOKEN: Final = ("POST /api/users", "DELETE /api/users/7/avatar")
OUTSIDE: Final = ("-1", "2147483648", "one")
LONGEST: Final = {"username": 64, "avatar": 4096, "password": 256}
# Refused requests with their problem: a sentence, or the location of a value.
REFUSED: Final[tuple[tuple[str, Any, int, Any], ...]] = (
    ("PATCH /api/roles/1", {"name": "admin"}, 400, "Duplicate entry 'admin' for key 'name'"),
    ("PATCH /api/authors/2", {"user_id": 101}, 400, "Duplicate entry '101' for key 'user_id'"),
    ("DELETE /api/themes/1/authors", {}, 422, ["body", "author_id"]),
    *((f"PATCH /api/roles/{id_}", {}, 422, ["path", "role_id"]) for id_ in OUTSIDE),
    *((f"PATCH /api/authors/{id_}", {}, 422, ["path", "author_id"]) for id_ in OUTSIDE),
    *((f"DELETE /api/themes/{id_}/authors", {"author_id": 1}, 422, ["path", "theme_id"]) for id_ in OUTSIDE),
    *((f"DELETE /api/logos/{id_}", None, 422, ["path", "logo_id"]) for id_ in OUTSIDE),
    *(("POST /api/users", {key: BEN[key] for key in BEN if key != name}, 422, ["body", name]) for name in BEN),
    *(("POST /api/users", {**BEN, "user_id": id_}, 422, ["body", "user_id"]) for id_ in (-1, 2147483648)),
    *(("POST /api/users", {**BEN, name: "x" * most + "x"}, 422, ["body", name]) for name, most in LONGEST.items()),
)


def headers_of(asked: str, admin: Headers) -> Headers:
    """Return the header of the administrator where the specification requires a token."""
    return admin if asked in WITH_TOKEN else {}


@pytest.mark.rule("spec §Endpoints 1", "spec §Endpoints 2", "spec §Endpoints 3", "spec §Endpoints 4")
@pytest.mark.rule("spec §Endpoints 5", "spec §Endpoints 6", "spec §Endpoints 7", "spec §Endpoints 8")
@pytest.mark.rule("spec §Endpoints 9", "spec §Endpoints 10", "spec §Endpoints 11", "spec §Endpoints 12")
@pytest.mark.rule("spec §Rules 5", "spec §Rules 6", "spec §Resources", "contract S1")
def test_the_endpoints_respond_as_specified_byte_for_byte(client: AppClient, admin: Headers) -> None:
    for number, asked, body, status, expected in ENDPOINTS:
        response = client.request(*asked.split(), json=body, headers=headers_of(asked, admin))
        assert (response.status_code, response.text) == (status, expected), number


@pytest.mark.rule("spec §Authentication 1", "spec §Authentication 2", "spec §Authentication 3")
@pytest.mark.rule("spec §Authentication 4", "spec §Errors 401", "spec §Errors 403")
@pytest.mark.parametrize("asked", WITH_TOKEN)
def test_two_endpoints_need_a_token(client: AppClient, asked: str) -> None:
    missing, bad = (403, "Not authenticated"), (401, "Couldn't validate credentials")
    for header, expected in (({}, missing), ({"authorization": "Bearer x.y.z"}, bad)):
        response = client.request(*asked.split(), json=BEN if "POST" in asked else None, headers=header)
        assert (response.status_code, response.json()["detail"]) == expected


@pytest.mark.rule("spec §Rules 1", "spec §Rules 2", "spec §Rules 3", "spec §Rules 4", "spec §Limits")
@pytest.mark.rule("spec §Errors 400", "spec §Errors 422")
@pytest.mark.parametrize(("asked", "body", "status", "reason"), REFUSED)
def test_requests_that_break_a_rule_are_refused(
    client: AppClient, admin: Headers, asked: str, body: Any, status: int, reason: Any
) -> None:
    response = client.request(*asked.split(), json=body, headers=headers_of(asked, admin))
    detail = response.json()["detail"]
    if status == 422:
        (problem,) = detail
        assert problem.keys() == {"loc", "msg", "type"}
        detail = problem["loc"]
    assert (response.status_code, detail) == (status, reason)
