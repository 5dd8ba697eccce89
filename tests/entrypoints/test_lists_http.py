"""Pages and filters of lists over HTTP (contract E2, E3)."""

import itertools
import re
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from tests.conftest import STORAGES
from tests.entrypoints.conftest import Headers
from tests.gallery import ADMIN_ID, PIECE, WatchedStorage

LINK: Final = re.compile(r'<([!#-;=?-Z\[\]_a-z~%]+)>; rel="next"')

PAGED: Final = ("limit", "after")
# Every list that takes parameters, and which.
LISTS: Final = {
    "/api/changes": PAGED,
    "/api/users": (*PAGED, "q", "role_id"),
    "/api/roles": (*PAGED, "q"),
    "/api/authors": (*PAGED, "q", "user_id"),
    "/api/authors/1/logos": (*PAGED, "q", "target", "active"),
    "/api/authors/1/themes": (*PAGED, "q", "target", "active"),
    "/api/themes": (*PAGED, "q", "target", "active", "author_id"),
    "/api/logos": (*PAGED, "q", "target", "active", "author_id"),
}
PARAMETERS: Final = ("limit", "after", "q", "role_id", "user_id", "target", "active", "author_id")
EACH: Final = pytest.mark.parametrize("path", LISTS)
EVERYWHERE: Final = pytest.mark.parametrize("watched", STORAGES, indirect=True)
NAMES: Final = ("Straße", "STRASSE", "100%", "a_b", "Ann & Co. = <\"'>", "ångström", "back\\slash", "plus + plus", "😀")


WRONG: Final = (
    *(("limit", value, "int_parsing") for value in ("", "x", "1.0", " 1", "1_0", "0x1", "\uff11", "true", "1e3")),
    *(("limit", value, "greater_than_equal") for value in ("0", "-1", "-9999999999999999999")),
    *(("limit", value, "less_than_equal") for value in ("1001", "9" * 5000)),
    *(("after", value, "int_parsing") for value in ("", "last", "1.5")),
    ("after", "-1", "greater_than_equal"),
    ("after", "2147483648", "less_than_equal"),
    *(("active", value, "bool_parsing") for value in ("", "1", "0", "True", "yes", "null", "true ")),
    *((name, "x", "int_parsing") for name in ("role_id", "user_id", "author_id")),
    *((name, "-1", "greater_than_equal") for name in ("role_id", "user_id", "author_id")),
    *((name, "2147483648", "less_than_equal") for name in ("role_id", "user_id", "author_id")),
    *(("q", "", "string_too_short"), ("q", "x" * 129, "string_too_long"), ("q", "a\0", "string_pattern_mismatch")),
    ("target", "", "string_too_short"),
    ("target", "x" * 65, "string_too_long"),
    ("target", "\0", "string_pattern_mismatch"),
)


@pytest.fixture
def watched(request: pytest.FixtureRequest) -> WatchedStorage:
    """The storage that a test asks for, or else memory."""
    return WatchedStorage(request.getfixturevalue(f"{getattr(request, 'param', 'memory')}_storage"))


@pytest.fixture
def varied(client: TestClient, admin: Headers) -> TestClient:
    """A gallery with some of everything, in which every filter finds something and leaves something out."""
    for number, name in enumerate(NAMES):
        assert client.post("/api/authors", json={"user_id": 500 + number, "username": name}).status_code == 201
        user = {"user_id": 20 + number, "username": name, "password": "x"}
        assert client.post("/api/users", json=user, headers=admin).status_code == 201
        assert client.post("/api/roles", json={"name": name, "scope": []}, headers=admin).status_code == 201
        if number % 2:
            client.patch(f"/api/users/{20 + number}", json={"role_id": 3}, headers=admin)
        for kind in ("logos", "themes"):
            artwork = {**PIECE, "name": name, "target": ("forum", "a&b=c d+ä")[number % 2], "active": number % 3 == 0}
            made = client.post(f"/api/{kind}", json=artwork, headers=admin).json()
            for author_id in {1, 2} if number % 4 == 0 else {1 + number % 2}:
                path = f"/api/{kind}/{made[kind[:-1] + '_id']}/authors"
                assert client.post(path, json={"author_id": author_id}, headers=admin).status_code == 200
    return client


def id_of(record: dict[str, Any]) -> int:
    """Return the id of a record, which is its first field."""
    return int(next(iter(record.values())))


def followed(client: TestClient, path: str, headers: Headers) -> list[list[Any]]:
    """Return the pages from a path on, by their links."""
    pages: list[list[Any]] = []
    asked = dict(parse_qsl(urlsplit(path).query))
    while path:
        answer = client.get(path, headers=headers)
        assert answer.status_code == 200, answer.text
        pages.append(answer.json())
        link = answer.headers.get("link")
        if link is None:
            return pages
        found = LINK.fullmatch(link)
        assert found, link
        path = found[1]
        query = parse_qsl(urlsplit(path).query, strict_parsing=True)
        assert len(query) == len(dict(query))
        assert dict(query) == {**asked, "after": str(id_of(pages[-1][-1]))}
    return pages


def whole(client: TestClient, path: str, headers: Headers, **query: Any) -> list[dict[str, Any]]:
    answer = client.get(path, headers=headers, params=query)
    assert answer.status_code == 200, answer.text
    assert "link" not in answer.headers
    records: list[dict[str, Any]] = answer.json()
    return records


def problems(answer: Any) -> list[tuple[list[Any], str]]:
    assert answer.status_code == 422, answer.text
    for entry in answer.json()["detail"]:
        assert set(entry) == {"loc", "msg", "type"}
    return [(entry["loc"], entry["type"]) for entry in answer.json()["detail"]]


# Pages.


@pytest.mark.rule("contract E2")
@EVERYWHERE
def test_pages_that_are_followed_to_the_end_are_the_whole_list(varied: TestClient, admin: Headers) -> None:
    for path in LISTS:
        records = whole(varied, path, admin)
        for limit in (1, 2, 3, len(records) - 1, len(records), len(records) + 1, 1000):
            pages = followed(varied, f"{path}?limit={limit}", admin)
            assert list(itertools.chain(*pages)) == records
            assert [len(page) for page in pages[:-1]] == [limit] * (len(pages) - 1)
            assert 1 <= len(pages[-1]) <= limit  # no page is empty, none promises more than there is


@pytest.mark.rule("contract E2")
@EACH
def test_after_is_where_a_list_goes_on(varied: TestClient, admin: Headers, path: str) -> None:
    records = whole(varied, path, admin)
    for after in (0, id_of(records[0]), id_of(records[-2]), id_of(records[-1]), 2_147_483_647, 13):
        assert whole(varied, path, admin, after=after) == [record for record in records if id_of(record) > after]
    last = id_of(records[-1])
    answer = varied.get(path, params={"limit": 1, "after": last}, headers=admin)
    assert (answer.json(), "link" in answer.headers) == ([], False)


@pytest.mark.rule("contract E2")
def test_a_link_keeps_the_query_in_its_order_and_replaces_after(varied: TestClient, admin: Headers) -> None:
    target = "a&b=c d+ä"
    query = urlencode([("target", target), ("after", "0"), ("limit", "1"), ("author_id", "2")])
    answer = varied.get(f"/api/logos?{query}", headers=admin)
    last = id_of(answer.json()[-1])
    expected = urlencode([("target", target), ("limit", "1"), ("author_id", "2"), ("after", last)])
    assert answer.headers["link"] == f'</api/logos?{expected}>; rel="next"'
    assert answer.links["next"]["url"] == f"/api/logos?{expected}"


@pytest.mark.rule("contract E2", "contract E3")
def test_filtered_lists_come_in_pages_whatever_is_in_the_filter(varied: TestClient, admin: Headers) -> None:
    found = 0
    for path, fields in LISTS.items():
        filters: list[dict[str, str]] = [{"q": "a"}, {"q": "%"}, {"q": "S"}, *({"q": name} for name in NAMES)]
        filters += [{"q": "straẞ"}]
        filters += [{"target": "a&b=c d+ä"}, {"active": "false"}, {"target": "forum", "active": "true", "q": "r"}]
        for query in filters:
            if set(query) <= set(fields):
                records = whole(varied, path, admin, **query)
                pages = followed(varied, f"{path}?{urlencode({**query, 'limit': 1})}", admin)
                assert list(itertools.chain(*pages)) == records
                found += len(records)
    assert found > 100


@pytest.mark.rule("contract E2", "contract H6")
@pytest.mark.parametrize("prefix", ["/gallery", "/a/b", "/gal%20lery", "/api", "/%C3%A4"])
def test_links_are_right_under_a_prefix(app: ASGIApp, varied: TestClient, admin: Headers, prefix: str) -> None:
    name = prefix.replace("%20", " ").replace("%C3%A4", "ä")
    with TestClient(Starlette(routes=[Mount(name, app)])) as mounted:
        for path in LISTS:
            records = whole(varied, path, admin)
            assert list(itertools.chain(*followed(mounted, f"{prefix}{path}?limit=4", admin))) == records


@pytest.mark.rule("contract E2", "contract H6")
@pytest.mark.parametrize("root_path", ["/gallery", "/a", "/ap"])
@pytest.mark.usefixtures("varied")
def test_links_have_the_prefix_that_a_proxy_takes_off(app: ASGIApp, admin: Headers, root_path: str) -> None:
    behind = TestClient(app, root_path=root_path)
    for sent in ("/api/logos?limit=2", f"{root_path}/api/logos?limit=2"):  # servers tell it in both ways
        answer = behind.get(sent, headers=admin)
        assert answer.status_code == 200
        last = id_of(answer.json()[-1])
        assert answer.headers["link"] == f'<{root_path}/api/logos?limit=2&after={last}>; rel="next"'


@pytest.mark.rule("contract E2", "contract A21")
@EACH
def test_head_of_a_page_has_its_link(varied: TestClient, admin: Headers, path: str) -> None:
    got, head = (varied.request(method, f"{path}?limit=1", headers=admin) for method in ("GET", "HEAD"))
    assert (head.status_code, head.content) == (200, b"")
    for name in ("link", "etag", "cache-control", "content-type"):
        assert head.headers[name] == got.headers[name]
    assert problems(varied.get(f"{path}?limit=0", headers=admin)) == [(["query", "limit"], "greater_than_equal")]
    assert varied.head(f"{path}?limit=0", headers=admin).status_code == 422


@pytest.mark.rule("contract E2", "contract F1")
def test_a_remembered_page_has_the_link_of_who_asks(app: ASGIApp, varied: TestClient) -> None:
    varied.get("/api/logos?limit=2")
    again = varied.get("/api/logos?%6Cimit=2&after=0")
    assert again.headers["link"].startswith("</api/logos?limit=2&after=")
    with TestClient(Starlette(routes=[Mount("/gallery", app)])) as mounted:
        assert mounted.get("/gallery/api/logos?limit=2").headers["link"].startswith("</gallery/api/logos?limit=2&")
    assert varied.get("/api/logos?limit=2").headers["link"].startswith("</api/logos?limit=2&")


# Filters.


def by_name(records: Iterable[dict[str, Any]], q: str) -> list[dict[str, Any]]:
    return [record for record in records if q.casefold() in str(record.get("username", record.get("name"))).casefold()]


@pytest.mark.rule("contract E3")
@EVERYWHERE
def test_every_filter_and_all_of_them_together(varied: TestClient, admin: Headers) -> None:
    for path in ("/api/logos", "/api/themes", "/api/authors/1/logos", "/api/authors/2/themes"):
        records = whole(varied, path, admin)
        owned = "/authors/" in path
        sizes = set()
        for q, target, active, author_id in itertools.product(
            (None, "a", "ss", "%"), (None, "forum", "a&b=c d+ä", "for"), (None, True, False), (None, 1, 2, 99)
        ):
            if owned and author_id is not None:
                continue
            asked = {"q": q, "target": target, "active": active, "author_id": author_id}
            given = {
                name: str(value).lower() if name == "active" else value
                for name, value in asked.items()
                if value is not None
            }
            expected = [
                artwork
                for artwork in (records if q is None else by_name(records, q))
                if target in (None, artwork["target"])
                and active in (None, artwork["active"])
                and (author_id is None or author_id in [author["author_id"] for author in artwork["authors"]])
            ]
            found = whole(varied, path, admin, **given)
            assert found == expected, (path, given)
            sizes.add(len(found))
        assert len(sizes) > 3


@pytest.mark.rule("contract E3")
@EVERYWHERE
def test_names_are_found_by_a_part_in_any_case(varied: TestClient, admin: Headers) -> None:
    for path in ("/api/users", "/api/roles", "/api/authors", "/api/logos", "/api/themes"):
        records = whole(varied, path, admin)
        for name in (*NAMES, *(name.upper() for name in NAMES), "ß", "ss", "%", "_", "\\", "Å", "no such"):
            assert whole(varied, path, admin, q=name) == by_name(records, name), (path, name)
        assert len(whole(varied, path, admin, q="strasse")) == 2


@pytest.mark.rule("contract E3")
@EVERYWHERE
def test_users_are_filtered_by_role_and_authors_by_user(varied: TestClient, admin: Headers) -> None:
    users, authors = whole(varied, "/api/users", admin), whole(varied, "/api/authors", admin)
    for role_id in (1, 2, 3, 99, 2_147_483_647):
        assert whole(varied, "/api/users", admin, role_id=role_id) == [u for u in users if u["role_id"] == role_id]
        expected = [user for user in by_name(users, "s") if user["role_id"] == role_id]
        assert whole(varied, "/api/users", admin, role_id=role_id, q="s") == expected
    assert [user["user_id"] for user in whole(varied, "/api/users", admin, role_id=2)] == [ADMIN_ID]
    for user_id in (101, 502, 0):
        expected = [author for author in authors if author["user_id"] == user_id]
        assert whole(varied, "/api/authors", admin, user_id=user_id) == expected
    assert whole(varied, "/api/authors", admin, user_id=101, q="nobody") == []


@pytest.mark.rule("contract E3", "contract D authors")
def test_filters_of_a_missing_author_are_404(client: TestClient) -> None:
    for query in ("", "?limit=1", "?after=5", "?active=true&limit=3&after=9"):
        assert client.get(f"/api/authors/99/logos{query}").status_code == 404
    assert client.get("/api/logos?author_id=99").json() == []


# What is wrong.


@pytest.mark.rule("contract E2", "contract E3", "contract A5")
@EACH
def test_a_wrong_parameter_is_named(client: TestClient, admin: Headers, path: str) -> None:
    for name, value, type_ in WRONG:
        expected = type_ if name in LISTS[path] else "extra_forbidden"
        answer = client.get(path, params={name: value}, headers=admin)
        assert problems(answer) == [(["query", name], expected)], (name, value)
        assert len(value) < 10 or value not in answer.text


@pytest.mark.rule("contract E2", "contract E3")
@EACH
def test_a_parameter_is_given_once(client: TestClient, admin: Headers, path: str) -> None:
    good = {"limit": 5, "after": 0, "q": "a", "target": "forum", "active": "true"}
    for name in LISTS[path]:
        value = good.get(name, 1)
        assert client.get(f"{path}?{name}={value}", headers=admin).status_code == 200
        found = problems(client.get(f"{path}?{name}={value}&{name}={value}", headers=admin))
        assert found == [(["query", name], "value_error")]


@pytest.mark.rule("contract A4", "contract A5")
@EACH
def test_all_that_is_wrong_is_said_at_once(client: TestClient, admin: Headers, path: str) -> None:
    found = problems(client.get(f"{path}?limit=0&after=x&nope=1&Limit=3&q%5B%5D=a&limit=2", headers=admin))
    assert sorted(loc[1] for loc, _ in found) == ["Limit", "after", "limit", "nope", "q[]"]
    assert {loc[0] for loc, _ in found} == {"query"}


@pytest.mark.rule("contract E2", "contract A4")
@pytest.mark.parametrize(
    "path",
    [
        "/api/logos/1/authors",
        "/api/themes/1/authors",
        "/api/logos/1",
        "/api/themes/1",
        "/api/authors/1",
        "/api/users/7",
        "/api/roles/3",
        "/api/auth/me",
        "/api/auth/keys",
    ],
)
def test_what_is_no_list_of_any_length_takes_no_parameters(client: TestClient, admin: Headers, path: str) -> None:
    for name in (*PARAMETERS, path.split("/")[-2][:-1] + "_id"):
        assert problems(client.get(f"{path}?{name}=1", headers=admin)) == [(["query", name], "extra_forbidden")]
    assert client.get(f"{path}?", headers=admin).status_code == 200
