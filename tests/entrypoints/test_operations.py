"""The endpoints over HTTP, in the order of the specification, then what all of them have in common."""

import re
import sys
from json import dumps, loads
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest
from httpx2 import Response
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import ASGIApp

import logoadmin
from logoadmin.domain.identity.users import RemoveUser
from logoadmin.domain.kernel.access import Policy
from logoadmin.domain.kernel.limits import MAX_CUSTOM_CSS
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.endpoints import Endpoint
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from tests.asgi import AppClient, ask
from tests.entrypoints.conftest import BOTH, GUARDED, Headers, bearer
from tests.gallery import ADMIN_ID, ANN_PASSWORD, ARTWORK, NOW, WatchedStorage
from tests.sample_requests import READ_ONLY, SAMPLES, SAMPLES_IN_TURN, Sample

ANN_USER = {"user_id": 7, "username": "ann", "avatar": "a.png", "role_id": 1, "created_at": NOW}
ADMIN_USER = {"user_id": ADMIN_ID, "username": "admin", "avatar": None, "role_id": 2, "created_at": NOW}
ANN = {"author_id": 1, "user_id": 101, "username": "Ann", "created_at": NOW}
BEN = {"author_id": 2, "user_id": 102, "username": "Ben", "created_at": NOW}
LOGO = {"logo_id": 1, **ARTWORK, "authors": [ANN], "created_at": NOW}
THEME = {"theme_id": 1, **ARTWORK, "authors": [ANN], "created_at": NOW}

JSON_TYPE = {"content-type": "application/json"}
LARGEST = 65_536
LARGEST_WITH_CSS = 7_340_032
WITH_CSS = {
    *(f"/api/{path}" for path in ("changes", "css/inline", "css/user-style", "css/verdict", "settings", "text/render")),
    *(f"/api/{path}" for path in ("themes", "themes/{theme_id}", "logos", "logos/{logo_id}", "proposals")),
    "/api/proposals/{proposal_id}",
}
# Its body may have any fields.
ANY_FIELDS = "/api/auth/me/preferences"
AWAY = "Cannot connect to the database server at db.example:3306"

# The operations in the order of their samples.
_BY_ROUTE = {(operation.method, operation.path): operation for operation in OPERATIONS}
IN_TURN = [_BY_ROUTE[row.method, row.template] for row in SAMPLES]
ALL = pytest.mark.parametrize("row", SAMPLES, ids=str)
WITH_BODY = [row for row in SAMPLES if row.takes_body]
WITH_NEEDED_BODY = [row for row in WITH_BODY if row.template != "/api/auth/revoke"]
WITH_PATH = [row for row in SAMPLES if "{" in row.template]
# The id of a session, and that of a picture, is a text.
WITH_NUMBER = [row for row in WITH_PATH if row.template.split("{")[1] not in ("session_id}", "picture}")]
# What follows the first field of a path.
LATER_FIELDS = {"author_id": "1", "session_id": "theirs"}


def problem(loc: list[str | int], type_: str, msg: str) -> dict[str, object]:
    return {"loc": loc, "msg": msg, "type": type_}


def types_of(response: Any) -> list[tuple[list[str | int], str]]:
    """Return the locations and types of a 422 whose entries have exactly the three fields."""
    assert response.status_code == 422
    assert list(response.json()) == ["detail"]
    for entry in response.json()["detail"]:
        assert set(entry) == {"loc", "msg", "type"}
        assert all(isinstance(part, str | int) for part in entry["loc"])
        assert entry["msg"] > ""
    return [(entry["loc"], entry["type"]) for entry in response.json()["detail"]]


# Each operation passes the command and the answer on; tests/domain proves what it does.

# fmt: off
ROLES: Final = [
    {"role_id": 1, "name": "member", "scope": ["proposals:write"], "created_at": NOW},
    {"role_id": 2, "name": "admin", "scope": ["*"], "created_at": NOW},
    {"role_id": 3, "name": "painter", "scope": ["logos:write", "themes:write"], "created_at": NOW},
]
CREATED: Final = {**ARTWORK, "authors": [], "created_at": NOW}
VERDICT: Final = {"form": "declarations", "hosts": [], "imports": [], "size": 11, "risks": [], "reason": "",
                  "documents": []}
_SETTINGS: Final[dict[str, Any]] = {
    "picture_hosts": [], "gallery_title": None, "gallery_home": None, "gallery_mark": None, "gallery_accent": None,
    "gallery_targets": {}, "submission_rules": "",
}
# The exact answers to the sample requests for records and links.
ANSWERS: Final[dict[str, Any]] = {
    "GET /api/auth/me": {
        **ADMIN_USER, "user_since": 3, "scope": ["*"], "must_enrol": False, "must_change_password": False,
        "by_link": False, "can_step_up": True,
    },
    "GET /api/users/{user_id}/sessions": [
        {
            "session_id": "theirs", "created_at": NOW, "refreshed_at": None, "expires_at": NOW + 3600, "address": None,
            "user_agent": None, "factor": "password", "current": False,
        }
    ],
    "DELETE /api/users/{user_id}/sessions/{session_id}": {"session_id": "theirs"},
    "GET /api/users/{user_id}/factors": [],
    "DELETE /api/users/{user_id}/factors": {"user_id": 7, "removed": 0},
    "POST /api/css/verdict": {**VERDICT, "form": "sheet", "size": 16},
    "POST /api/text/render": {"html": '<p dir="auto"><em>a</em></p>\n'},
    "POST /api/css/user-style": {
        "name": "Aurora", "authors": [], "details": {"licence": "MIT"}, "documents": ['domain("a.example")'],
        "target": "a.example", "custom_css": '@-moz-document domain("a.example") { a { top: 0 } }',
        "lost": ["@var is not understood and left out."],
    },
    "POST /api/css/inline": {"detail": "Fetching style sheets needs logoadmin[client], which is not installed"},
    "GET /api/publication": {"version": 11, "logos": 1, "themes": 1, "left_out": [], "blocked": [], "risky": []},
    "GET /api/settings": _SETTINGS,
    "PATCH /api/settings": {**_SETTINGS, "picture_hosts": ["i.example"]},
    "GET /api/users": [ANN_USER, ADMIN_USER],
    "POST /api/users": {"user_id": 8, "username": "ben", "avatar": "b.png", "role_id": 1, "created_at": NOW},
    "GET /api/users/{user_id}": ANN_USER,
    "PATCH /api/users/{user_id}": {**ANN_USER, "username": "anna", "avatar": None, "role_id": 3},
    "DELETE /api/users/{user_id}": {"user_id": 7},
    "DELETE /api/users/{user_id}/avatar": {"avatar": "a.png"},
    "PUT /api/users/{user_id}/password": ANN_USER,
    "DELETE /api/users/{user_id}/sessions": {"user_id": 7, "ended": 1},
    "GET /api/roles": ROLES,
    "POST /api/roles": {"role_id": 4, "name": "editor", "scope": ["logos:write"], "created_at": NOW},
    "GET /api/roles/{role_id}": ROLES[2],
    "PATCH /api/roles/{role_id}": {**ROLES[2], "name": "brush", "scope": []},
    "DELETE /api/roles/{role_id}": {"role_id": 3},
    "GET /api/authors": [ANN, BEN],
    "POST /api/authors": {"author_id": 3, "user_id": 103, "username": "Cyd", "created_at": NOW},
    "GET /api/authors/{author_id}": ANN,
    "PATCH /api/authors/{author_id}": {**ANN, "user_id": 104, "username": "Dan"},
    "DELETE /api/authors/{author_id}": {"author_id": 1},
    "GET /api/authors/{author_id}/logos": [LOGO],
    "GET /api/authors/{author_id}/themes": [THEME],
    "GET /api/themes": [THEME],
    "POST /api/themes": {"theme_id": 2, **CREATED},
    "GET /api/themes/{theme_id}": THEME,
    "PATCH /api/themes/{theme_id}": {**THEME, "name": "Boreal"},
    "POST /api/themes/{theme_id}/block": {**THEME, "active": False},
    "DELETE /api/themes/{theme_id}": {"theme_id": 1},
    "GET /api/themes/{theme_id}/authors": [ANN],
    "GET /api/themes/{theme_id}/css": {**VERDICT, "form": "sheet"},
    "POST /api/themes/{theme_id}/authors": {"theme_author_id": 2, "theme_id": 1, "author_id": 2},
    "DELETE /api/themes/{theme_id}/authors": {"theme_id": 1, "author_id": 1},
    "DELETE /api/themes/{theme_id}/authors/{author_id}": {"theme_id": 1, "author_id": 1},
    "GET /api/logos": [LOGO],
    "POST /api/logos": {"logo_id": 2, **CREATED},
    "GET /api/logos/{logo_id}": LOGO,
    "PATCH /api/logos/{logo_id}": {**LOGO, "name": "Boreal"},
    "POST /api/logos/{logo_id}/block": {**LOGO, "active": False},
    "DELETE /api/logos/{logo_id}": {"logo_id": 1},
    "GET /api/logos/{logo_id}/authors": [ANN],
    "GET /api/logos/{logo_id}/css": VERDICT,
    "POST /api/logos/{logo_id}/authors": {"logo_author_id": 2, "logo_id": 1, "author_id": 2},
    "DELETE /api/logos/{logo_id}/authors": {"logo_id": 1, "author_id": 1},
    "DELETE /api/logos/{logo_id}/authors/{author_id}": {"logo_id": 1, "author_id": 1},
}
# fmt: on


@ALL
@pytest.mark.rule("spec §Endpoints 1", "spec §Endpoints 2", "spec §Endpoints 3", "spec §Endpoints 4")
@pytest.mark.rule("spec §Endpoints 5", "spec §Endpoints 6", "spec §Endpoints 7", "spec §Endpoints 8")
@pytest.mark.rule("spec §Endpoints 9", "spec §Endpoints 10", "spec §Endpoints 11", "spec §Endpoints 12")
@pytest.mark.rule("spec §Resources", "spec §Versioning", "contract A21", "contract F1")
@pytest.mark.rule("contract D users", "contract D roles", "contract D authors", "contract D themes", "contract D logos")
def test_a_valid_request_returns_what_was_read_or_changed(client: AppClient, admin: Headers, row: Sample) -> None:
    response = row.send(client, admin)
    assert response.status_code == row.status
    assert response.headers["content-type"] == ("application/jsonl" if row.is_file else "application/json")
    assert response.headers.get("x-content-type-options") == ("nosniff" if row.status < 400 else None)
    assert re.fullmatch(r'"\d+(-gzip)?"' if row.is_versioned else "", response.headers.get("etag") or "")
    if not row.is_public:  # writes, and responses about users, are not cached
        assert response.headers.get("cache-control") == "no-store"
    answer = loads(response.text.partition("\n")[0]) if row.is_file else response.json()
    assert answer == ANSWERS.get(str(row), answer)
    assert isinstance(answer, list) == row.is_list
    for record in answer if row.is_list else [answer]:
        assert tuple(record) == row.fields
    if row.template != "/api/auth/ways":  # whether it is open
        assert '"password":' not in response.text  # the field; a session names what it began with
    assert "argon2" not in response.text
    if str(row) in ANSWERS:
        check_stored(client, admin, row, response)


def check_stored(client: AppClient, admin: Headers, row: Sample, response: Response) -> None:
    """Check that a read returns what the response said."""
    record = re.match(r"/api/\w+/\d+", row.path)
    if row.status == 201 or row.method == "PATCH":
        made = f"/{next(iter(response.json().values()))}" if row.status == 201 else ""
        read = client.get(row.path + made, headers=admin)
        assert (read.json(), read.headers["etag"]) == (response.json(), response.headers.get("etag"))
    elif row.method == "DELETE" and record and record[0] == row.path:
        assert client.get(row.path, headers=admin).status_code == 404
    elif row.template.endswith(("/authors", "/authors/{author_id}")) and record and row.method != "GET":
        linked = [ANN, BEN] if row.method == "POST" else []
        assert client.get(f"{record[0]}/authors").json() == linked


def test_every_operation_on_records_has_its_response_in_the_table() -> None:
    names = ("auth/", "pictures", "changes", "acts", "proposals", "import", "export")
    others = tuple(f"/api/{name}" for name in names)
    expected = {str(row) for row in SAMPLES if not row.template.startswith(others)} | {"GET /api/auth/me"}
    assert set(ANSWERS) == expected


QUOTED: Final = "O'Neil \"😀\" \n' for key 'x'"
BEYOND: Final = {"name": "", "preview_url": "ftp://x", "target": "x" * 65, "custom_css": "x" * (MAX_CUSTOM_CSS + 1)}
# fmt: off
# Each kind of error response; tests/domain proves the rules behind them.
REFUSALS: Final[tuple[tuple[str, object, int, object], ...]] = (
    ("POST /api/users", {"user_id": 7, "username": "ben", "password": "x"}, 409,
        "Duplicate entry '7' for key 'user_id'"),
    ("PATCH /api/authors/1", {"username": QUOTED}, 400, f"Duplicate entry '{QUOTED}' for key 'username'"),
    ("DELETE /api/roles/1", None, 409, "Role 1 is the role of new users"),
    ("POST /api/changes/revert", {"request_id": "unknown"}, 404, "Request unknown not found"),
    ("DELETE /api/themes/1/authors", {"author_id": 99}, 404, "Author 99 not found on theme 1"),
    ("PATCH /api/roles/3", {"role_id": 3, "name": None}, 422,
        [("role_id", "extra_forbidden"), ("name", "string_type")]),
    ("POST /api/logos", {**BEYOND, "active": 1}, 422,
        [("name", "string_too_short"), ("preview_url", "url_parsing"), ("target", "string_too_long"),
         ("custom_css", "string_too_long"), ("active", "bool_type")]),
)
# fmt: on


@pytest.mark.rule("spec §Errors 400", "spec §Errors 422", "contract A3", "contract A7", "contract A8", "contract A9")
@pytest.mark.rule("contract A16", "contract A17")
@pytest.mark.parametrize(("asked", "body", "status", "detail"), REFUSALS)
def test_a_refusal_has_its_status_and_its_reason(
    client: AppClient, admin: Headers, asked: str, body: object, status: int, detail: object
) -> None:
    client.post("/api/authors", json={"user_id": 105, "username": QUOTED})
    response = client.request(*asked.split(), json=body, headers=admin)
    assert response.status_code == status
    if status == 422:
        assert types_of(response) == [(["body", field], type_) for field, type_ in detail]  # type: ignore[attr-defined]  # a list then
    else:
        assert response.json() == {"detail": detail}


# Signing in.


@pytest.mark.rule("contract C1", "contract C3")
@pytest.mark.parametrize("sent_as", ["json", "data"])
def test_a_form_and_json_both_get_tokens(client: AppClient, sent_as: str) -> None:
    def post(**asked: str) -> Any:
        body: dict[str, Any] = {sent_as: asked}
        return client.post("/api/auth/token", **body)

    for grant in ({}, {"grant_type": "password"}):
        answer = post(username="ann", password=ANN_PASSWORD, **grant)
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
        tokens = answer.json()
        assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == ("bearer", 900, "proposals:write")
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    assert client.delete("/api/users/7/avatar", headers=headers).status_code == 200
    again = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    assert post(**again).json()["refresh_token"] != tokens["refresh_token"]
    refused = post(grant_type="refresh_token", refresh_token="unknown")
    assert (refused.status_code, refused.json()) == (401, {"detail": "Couldn't validate credentials"})
    wrong = post(username="ann", password="wrong")
    assert (wrong.status_code, wrong.json()) == (401, {"detail": "Incorrect username or password"})
    assert wrong.headers["www-authenticate"] == "Bearer"


@pytest.mark.rule("contract C1")
def test_a_form_may_have_additional_fields(client: AppClient) -> None:
    asked = {"grant_type": "password", "username": "ann", "password": ANN_PASSWORD, "scope": "", "client_id": "docs"}
    assert client.post("/api/auth/token", data=asked).status_code == 200
    assert types_of(client.post("/api/auth/token", json=asked)) == [
        (["body", "scope"], "extra_forbidden"),
        (["body", "client_id"], "extra_forbidden"),
    ]


@pytest.mark.rule("contract C1", "contract A5")
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, {"username": "missing", "password": "missing"}),
        ({"grant_type": "x", "username": "a", "password": "b"}, {"grant_type": "literal_error"}),
        ({"grant_type": "refresh_token"}, {"refresh_token": "missing"}),
        ({"username": "a\0"}, {"username": "string_pattern_mismatch", "password": "missing"}),
        ({"username": "a", "password": "x" * 257}, {"password": "string_too_long"}),
    ],
)
def test_a_malformed_sign_in_is_refused(client: AppClient, body: dict[str, str], expected: dict[str, str]) -> None:
    form = client.post("/api/auth/token", data=body, headers={"content-type": FORM})
    problems = [(["body", name], type_) for name, type_ in expected.items()]
    assert types_of(client.post("/api/auth/token", json=body)) == types_of(form) == problems


@pytest.mark.rule("contract C1", "contract A21")
@pytest.mark.parametrize(
    "form", [b"username=%ff&password=x", b"username=\xc3\xa9", b"a&" * 200, b"username=ann&username=bob&password=x"]
)
def test_a_malformed_form_is_refused(client: AppClient, form: bytes) -> None:
    assert client.post("/api/auth/token", content=form, headers={"content-type": FORM}).status_code == 422


FORM = "application/x-www-form-urlencoded"


@pytest.mark.rule("contract O2")
@pytest.mark.parametrize("grant_type", ["security_question", None, ["password"]])
def test_a_refused_grant_type_lists_the_supported_ones(client: AppClient, grant_type: object) -> None:
    """ASVS 6.4.2: password hints and security questions are not among them."""
    response = client.post("/api/auth/token", json={"grant_type": grant_type, "username": "ann", "password": "x"})
    known = "password, refresh_token, second_factor, passkey, sign_in_code, link, authorization_code"
    problem = {"loc": ["body", "grant_type"], "msg": f"Input should be one of {known}", "type": "literal_error"}
    assert (response.status_code, response.json()) == (422, {"detail": [problem]})


# Rules of all operations.


@BOTH
@pytest.mark.rule("spec §Authentication 1", "spec §Authentication 3", "spec §Authentication 4", "spec §Errors 403")
@pytest.mark.rule("contract B1", "contract A19")
def test_a_missing_token_is_refused_where_required(client: AppClient, watched: WatchedStorage, access: Policy) -> None:
    for row in SAMPLES_IN_TURN:
        watched.asked.clear()
        response = row.send(client)
        if row.needs_token(access):
            assert (response.status_code, response.json()) == (403, {"detail": "Not authenticated"})
            assert watched.asked == []
        else:
            assert response.status_code == row.status


@BOTH
@pytest.mark.rule("spec §Authentication 2", "spec §Errors 401", "contract A19")
def test_a_bad_token_is_refused_wherever_one_is_accepted(client: AppClient, watched: WatchedStorage) -> None:
    for row in SAMPLES:
        response = row.send(client, {"authorization": "Bearer x.y.z"})
        if row.token == "never":
            assert response.status_code == row.status
        else:
            assert (response.status_code, response.json()) == (401, {"detail": "Couldn't validate credentials"})
            assert response.headers.get("www-authenticate") == "Bearer"
            assert watched.asked == []
        watched.asked.clear()


@GUARDED
@pytest.mark.rule("contract A19", "spec §Authentication 3")
def test_schemes_other_than_bearer_are_ignored(client: AppClient) -> None:
    for row in SAMPLES:
        response = row.send(client, {"authorization": "Basic YW5uOng="})
        if row.token in ("never", "optional"):
            assert response.status_code == row.status, str(row)
            continue
        others = ("Bearer", "Bearer ", "Token x", "Bearerx.y.z", "", "x.y.z")
        for refused in (response, *(row.send(client, {"authorization": header}) for header in others)):
            assert (refused.status_code, refused.json()) == (403, {"detail": "Not authenticated"}), str(row)


@pytest.mark.rule("contract A19")
def test_the_scheme_has_any_case_and_one_header(app: ASGIApp, client: AppClient, admin: Headers) -> None:
    token = admin["authorization"].split()[1]
    for header in (f"bearer {token}", f"BEARER  {token} "):
        assert client.get("/api/roles", headers={"authorization": header}).status_code == 200
    two = [("authorization", f"Bearer {token}"), ("authorization", "Bearer x")]
    for path in ("/api/roles", f"/pictures/{'0' * 64}.webp"):
        assert ask(app, "GET", path, headers=two).status_code == 401, path


@pytest.mark.rule("contract A19", "contract B1", "contract B3", "contract B5")
def test_checks_are_made_in_a_fixed_order(client: AppClient, gallery: LogoAdmin, admin: Headers, ann: Headers) -> None:
    def answers(headers: Headers, content: bytes, type_: str, path: str) -> list[object]:
        response = client.patch(path, headers={**headers, "content-type": type_}, content=content)
        return [response.status_code, response.json()["detail"]]

    nothing_right = (b"{", "text/plain", "/api/users/x?y=1")
    assert answers({}, *nothing_right) == [403, "Not authenticated"]
    assert answers({"authorization": "Bearer bad"}, *nothing_right) == [401, "Couldn't validate credentials"]
    gallery.users.create(logoadmin.CreateUser(user_id=60, username="gone", password="x"))
    gone = bearer(gallery, "gone", "x")
    gallery.users.remove(RemoveUser(user_id=60))
    assert answers(gone, *nothing_right)[0] == 415
    assert answers(gone, b"{}", "application/json", "/api/users/x")[0] == 422
    well_formed = (b"{}", "application/json", "/api/users/12")
    assert answers(gone, *well_formed) == [401, "Couldn't validate credentials"]
    assert answers(ann, *well_formed) == [403, "Not enough permissions"]
    assert answers(admin, *well_formed) == [404, "User 12 not found"]


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
def test_a_path_id_is_an_integer_within_bounds(app: ASGIApp, watched: WatchedStorage, admin: Headers) -> None:
    for row in WITH_NUMBER:
        field = row.template.split("{")[1].split("}")[0]
        template = row.template.format(**(LATER_FIELDS | {field: "{}"}))
        headers = [*admin.items(), *JSON_TYPE.items()]
        # One function reads the ids of all paths: the first shows it all, the others that they use it.
        for text, (type_, msg) in NO_PATH_IDS if row is WITH_NUMBER[0] else NO_PATH_IDS[::6]:
            answered = ask(app, row.method, template.format(text), headers=headers, body=row.content)
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
def test_an_integer_in_a_query_is_ascii_within_bounds(app: ASGIApp, watched: WatchedStorage, admin: Headers) -> None:
    asked = [
        (row, name)
        for row, operation in zip(SAMPLES, IN_TURN, strict=True)
        for name, kind in operation.query_fields.items()
        if kind is int
    ]
    assert len(asked) > 20
    for row, name in asked:
        needed = "&kind=logo" if name == "id" and row.template in ("/api/changes", "/api/acts") else ""
        wrong = (*NO_INTEGERS, "-9", "-" + "9" * 6000, "9" * 30, "9" * 6000)
        # As with paths, the first parameter shows it all.
        for text in wrong if row is asked[0][0] else wrong[::6]:
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


@pytest.mark.rule("contract A1", "contract A9", "spec §Limits")
def test_a_missing_record_is_named_however_its_id_is_written(client: AppClient, admin: Headers) -> None:
    for row in WITH_PATH:
        field = row.template.split("{")[1].split("}")[0]
        zeros, bounds = ("0", "-0", "+0", "0" * 6000), ("2147483647", "+2147483647", "00002147483647", "%32147483647")
        for text in (*zeros, *bounds) if row in WITH_NUMBER else ("12" * 32,):
            response = row.send(client, admin, path=row.template.format(**(LATER_FIELDS | {field: text})))
            id_ = 0 if text in zeros else 2_147_483_647 if text in bounds else text
            kind = field.removesuffix("_id").capitalize()
            assert (response.status_code, response.json()) == (404, {"detail": f"{kind} {id_} not found"})


@pytest.mark.rule("contract A4", "contract A5")
def test_an_unknown_query_parameter_is_refused(client: AppClient, admin: Headers) -> None:
    for row in SAMPLES:
        response = row.send(client, admin, path=f"{row.path}?x=1&x=2&y")
        assert types_of(response) == [(["query", "x"], "extra_forbidden"), (["query", "y"], "extra_forbidden")]


@pytest.mark.rule("contract A5")
def test_all_problems_of_a_request_are_reported_at_once_in_order(client: AppClient, admin: Headers) -> None:
    def problems(path: str, **sent: Any) -> dict[str, str]:
        found = types_of(client.patch(path, headers={**admin, **JSON_TYPE}, **sent))
        return {" ".join(map(str, loc)): type_ for loc, type_ in found}

    body = {"username": "", "user_id": 1, "avatar": 5, "surname": "x"}
    assert [*problems("/api/users/-1?a=1&b=2", json=body).items()] == [
        *(("path user_id", "greater_than_equal"), ("query a", "extra_forbidden"), ("query b", "extra_forbidden")),
        *(("body user_id", "extra_forbidden"), ("body username", "string_too_short"), ("body avatar", "string_type")),
        ("body surname", "extra_forbidden"),
    ]
    expected = {"path user_id": "int_parsing", "query a": "extra_forbidden", "body": "json_invalid"}
    assert problems("/api/users/x?a=1", content=b"{") == expected


# fmt: off
NO_OBJECTS = (
    *((content, "dict_type") for content in (b"null", b"[]", b'"x"', b"5")),
    *((content, "json_invalid") for content in (
        b"{", b"{} {}", b"{'a': 1}", b'{"a": NaN}', b'{"a": Infinity}', b'{"a": "\xff"}', b'{"a": "\\ud800"}',
        b'\xef\xbb\xbf{"a": 1}', b"[" * 60_000, b'{"a":' * 10_000, b"9" * 60_000, b'{"a": 1, "a": 2}',
        '{"a": 1}'.encode("utf-16"), b'{"a": ' + b"1" * 5000 + b"}", b"\x00", b"\xff\xfe{\x00}\x00", b'"\xed\xa0\x80"',
    )),
)
# fmt: on


@pytest.mark.rule("contract A5", "contract A21", "contract A19", "contract A4")
def test_a_body_that_is_not_a_json_object_is_refused_before_storage_is_asked(
    client: AppClient, watched: WatchedStorage, admin: Headers
) -> None:
    for row in WITH_BODY:
        for content, type_ in (*NO_OBJECTS, (b"", "missing")) if row in WITH_NEEDED_BODY else NO_OBJECTS:
            response = row.send(client, {**admin, **JSON_TYPE}, body=content)
            assert types_of(response) == [(["body"], type_)], (str(row), content[:20])
    assert watched.asked == []


@pytest.mark.rule("contract A21")
def test_another_media_type_or_coding_is_refused_at_once(
    client: AppClient, app: ASGIApp, watched: WatchedStorage, admin: Headers
) -> None:
    others = ("text/plain;charset=utf-8", "application/jsonp", "multipart/form-data; boundary=x", "*/*", FORM)
    for row in WITH_BODY:
        types = others[:-1] if row.template == "/api/auth/token" else others
        codings = [{**JSON_TYPE, "content-encoding": each} for each in ("gzip", "br", "deflate", "identity, gzip")]
        for sent in (*({"content-type": type_} for type_ in types), *codings):
            response = row.send(client, {**admin, **sent}, body=row.content)
            assert (response.status_code, list(response.json())) == (415, ["detail"]), sent
        assert ask(app, row.method, row.path, headers=admin.items(), body=row.content).status_code == 415
    assert watched.asked == []


@pytest.mark.rule("contract A21")
def test_a_body_over_the_limit_is_refused_at_once(app: ASGIApp, watched: WatchedStorage, admin: Headers) -> None:
    for row in WITH_BODY:
        headers = [*admin.items(), *JSON_TYPE.items()]
        limit = LARGEST_WITH_CSS if row.template in WITH_CSS else LARGEST
        length = [("content-length", str(limit + 1))]
        refused = [ask(app, row.method, row.path, headers=[*headers, *length], body=b"{}")]
        if limit == LARGEST or row.template == "/api/logos":  # one of the large ones, which take long
            refused.append(ask(app, row.method, row.path, headers=headers, body=[b" " * limit, b" "]))
            largest = ask(app, row.method, row.path, headers=headers, body=[b" " * (limit - 1), b"x"])
            assert largest.status_code == 422, str(row)
        for answered in refused:
            assert answered.status_code == 413, str(row)
            assert answered.json() == {"detail": f"Body should have at most {limit} bytes"}
    assert watched.asked == []


@pytest.mark.rule("contract A21")
def test_the_largest_body_is_accepted_however_its_type_is_written(client: AppClient, admin: Headers) -> None:
    types = ("application/json; charset=utf-8", "APPLICATION/JSON", "application/json ;x=y")
    for number, type_ in enumerate(types, start=5):
        author = b'{"user_id": %d, "username": "%d"}' % (number, number)
        response = client.post("/api/authors", content=author.ljust(LARGEST), headers={"content-type": type_})
        assert response.status_code == 201
    logo = dumps({**ARTWORK, "custom_css": "\U0001f600" * MAX_CUSTOM_CSS}).encode()
    created = client.post("/api/logos", content=logo.ljust(LARGEST_WITH_CSS), headers={**JSON_TYPE, **admin})
    assert (created.status_code, created.json().get("custom_css")) == (201, "\U0001f600" * MAX_CUSTOM_CSS)


@pytest.mark.rule("contract A21")
def test_a_wrong_method_gets_a_405_with_the_allowed_ones(app: ASGIApp) -> None:
    for template in sorted({row.template for row in SAMPLES}):
        rows = [row for row in SAMPLES if row.template == template]
        right = {row.method for row in rows} | ({"HEAD"} if any(row.method == "GET" for row in rows) else set())
        methods = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get", "\u1234"}
        for method in methods - right:
            answered = ask(app, method, rows[0].path)
            assert answered.status_code == 405
            assert set((answered.header("allow") or "").split(", ")) == right
            if method != "HEAD":
                assert answered.json() == {"detail": "Method Not Allowed"}


@pytest.mark.rule("contract A21", "contract C2", "contract J1", "contract K1")
@pytest.mark.parametrize("path", READ_ONLY)
def test_paths_that_are_not_operations_are_read_only(app: ASGIApp, path: str) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        refused = ask(app, method, path)
        assert (refused.status_code, refused.header("allow")) == (405, "GET, HEAD")
        assert refused.json() == {"detail": "Method Not Allowed"}
    get, head = ask(app, "GET", path), ask(app, "HEAD", path)
    assert get.status_code in (200, 307)
    assert (head.status_code, head.headers, head.body) == (get.status_code, get.headers, b"")


@pytest.mark.rule("contract C2")
def test_public_keys_are_cacheable_for_five_minutes_and_shared_ones_are_not_among_them(client: AppClient) -> None:
    answer = client.get("/.well-known/jwks.json")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert (answer.headers["cache-control"], answer.json()) == ("public, max-age=300", {"keys": []})


@pytest.mark.rule("contract A21")
def test_an_unknown_path_is_not_found(app: ASGIApp) -> None:
    paths = (
        *("/api", "/api/", "/api/users//", "/api/users/7/x/", "/api//users", "//api/users", "/metrics/", "/healthy"),
        *("/api/changes/7", "/api/changes/%20", "/api/changes/x", "/api/auth", "/api/auth/sessions/x/y"),
        *("/API/users", "/api/artists", "/api/users/7/avatar/x", "/docs/x/", "//", "/redoc", "/favicon.ico"),
        *("/api/logos/1%2Fauthors/x/y", "/api/./users", "/api/../api/users", "/openapi.json/", "/%00", "/api/users%00"),
        *("/api/users%0A", "/openapi.json%0A", "/api%2Flogos", "/api/logos%2f1", "/%2Fapi/logos", "/api/logos/1%2F"),
        *("/api%2Flogos/", "/api/logos%2F"),
    )
    for path in paths:
        for method in ("GET", "POST", "DELETE"):
            answered = ask(app, method, path)
            assert (answered.status_code, answered.json()) == (404, {"detail": "Not Found"}), path
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
def test_a_nearly_correct_path_is_not_found_with_a_hint(app: ASGIApp, paths: tuple[str, ...], hint: str) -> None:
    for path in paths:
        for method in ("GET", "POST"):
            answered = ask(app, method, path)
            assert (answered.status_code, answered.json()) == (404, {"detail": f"Not Found; {hint}"})
            assert answered.header("location") is None
    assert ask(app, "GET", "/api/%6cogos/%31").json() == LOGO  # needless escapes


@pytest.mark.rule("contract A21", "contract E2")
def test_head_responds_like_get_without_the_body(app: ASGIApp, admin: Headers) -> None:
    nobody = {"user_id": 9, "role_id": 9, "author_id": 9, "theme_id": 9, "logo_id": 9, "proposal_id": 9}
    for row in (row for row in SAMPLES if row.method == "GET"):
        for path in (row.path, row.path + "?limit=1", row.path + "?x=1", row.template.format(**nobody)):
            headers = {**admin, "x-request-id": "both"}.items()
            get, head = (ask(app, method, path, headers=headers) for method in ("GET", "HEAD"))
            assert (head.status_code, head.headers, head.body) == (get.status_code, get.headers, b"")


# The sign-in methods are known without a database.
OF_STORAGE = [row for row in SAMPLES if row.template != "/api/auth/ways"]


@pytest.mark.rule("spec §Errors 503", "contract A20")
def test_every_endpoint_reports_a_database_away(client: AppClient, watched: WatchedStorage, admin: Headers) -> None:
    for row in OF_STORAGE:
        watched.go_away()
        response = row.send(client, admin)
        assert (response.status_code, response.json()) == (503, {"detail": AWAY})
        assert int(response.headers.get("retry-after") or 0) >= 1
        assert watched.asked
        watched.asked.clear()
    watched.come_back()
    assert client.get("/api/logos/1").json() == LOGO


@pytest.mark.rule("spec §Errors 503", "contract A20", "contract H6")
@pytest.mark.parametrize("waits", [False, True])
def test_a_blocking_storage_runs_in_threads_with_the_same_responses(
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
def test_an_unexpected_error_is_a_500_without_details(
    client: AppClient, watched: WatchedStorage, admin: Headers, caplog: pytest.LogCaptureFixture
) -> None:
    for row in OF_STORAGE:
        watched.fault = RuntimeError("secret detail")
        response = row.send(client, admin)
        assert (response.status_code, response.json()) == (500, {"detail": "Internal Server Error"})
    assert "secret detail" in caplog.text  # the log has it, without secrets of a request
    for secret in (ANN_PASSWORD, admin["authorization"].split()[1]):
        assert secret not in caplog.text


@pytest.mark.rule("contract F1", "contract F3", "contract A4")
def test_values_of_headers_are_not_accepted_in_the_body_or_query(client: AppClient, admin: Headers) -> None:
    for row in SAMPLES:
        for name, value in (("if_match", [1]), ("if_none_match", [1]), ("idempotency_key", "x")):
            if row.takes_body and row.template != ANY_FIELDS:
                answered = row.send(client, admin, body={**(row.body or {}), name: value})
                assert types_of(answered) == [(["body", name], "extra_forbidden")], str(row)
            if row.method == "GET":
                answered = row.send(client, admin, path=f"{row.path}?{name}=1")
                assert types_of(answered) == [(["query", name], "extra_forbidden")], str(row)


@pytest.mark.rule("contract A5")
def test_a_flood_of_unknown_fields_is_one_problem(client: AppClient) -> None:
    many = {str(number): 1 for number in range(4_000)}
    response = client.post("/api/authors", json=many)
    expected = {"loc": ["body"], "msg": "Input should have at most 100 fields", "type": "too_long"}
    assert (response.status_code, response.json()) == (422, {"detail": [expected]})
    query = "&".join(f"{number}=1" for number in range(1000))
    assert client.get(f"/api/users?{query}").json() == {"detail": [{**expected, "loc": ["query"]}]}
    scope = ["two words"] * 4_000
    assert len(client.patch("/api/roles/3", json={"scope": scope}).content) < 20_000


@pytest.mark.rule("contract A21", "contract A5")
@given(
    row=st.sampled_from([row for row in SAMPLES if row.body is not None]),
    body=st.binary(max_size=60) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")),
    type_=st.sampled_from(sorted({row.media_type for row in SAMPLES} | {FORM, "", "text/plain"})),
)
def test_any_bytes_get_a_known_status(client: AppClient, admin: Headers, row: Sample, body: bytes, type_: str) -> None:
    """Schemathesis tries any JSON."""
    response = row.send(client, {**admin, "content-type": type_}, body=body)
    assert response.status_code in row.answers(Policy.OPEN), response.text
    assert response.headers["content-type"] == "application/json"
    if response.status_code == 422:
        types_of(response)
    elif response.status_code >= 400:
        assert [type(value) for value in response.json().values()] == [str]


def test_at_most_three_functions_are_between_an_endpoint_and_its_use_case(app: ASGIApp) -> None:
    package = Path(logoadmin.__file__).parent
    use_case: Any = _BY_ROUTE["GET", "/api/logos/{logo_id}"].use_case
    between: list[str] = []

    def look(frame: FrameType, event: str, _: object) -> None:
        caller = frame.f_back if event == "call" and frame.f_code is use_case.__code__ else None
        while caller is not None and caller.f_code is not Endpoint.__call__.__code__:
            if Path(caller.f_code.co_filename).is_relative_to(package):
                between.append(caller.f_code.co_qualname)
            caller = caller.f_back

    sys.setprofile(look)
    try:
        assert ask(app, "GET", "/api/logos/1").json() == LOGO
    finally:
        sys.setprofile(None)
    assert 0 < len(between) <= 3
    assert not any("<" in name for name in between), "neither lambdas nor functions in functions"


def test_the_paths_are_in_the_source_as_the_specification_writes_them() -> None:
    rows = (Path(logoadmin.__file__).parent / "entrypoints/http_api/operations").glob("*.py")
    text = "".join(path.read_text("utf-8") for path in rows)
    assert [operation.route for operation in OPERATIONS if f'"{operation.route}"' not in text] == []
