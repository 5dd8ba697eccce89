"""Pages and filters of lists over HTTP (contract E2, E3)."""

import itertools
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.services.artworks import CreateLogo, CreateTheme, LinkLogoAuthor, LinkThemeAuthor
from logoadmin.domain.services.authors import CreateAuthor
from logoadmin.domain.services.roles import CreateRole
from logoadmin.domain.services.users import AmendUser, CreateUser
from tests.asgi import AppClient
from tests.conftest import STORAGES
from tests.entrypoints.conftest import Headers
from tests.gallery import ADMIN_ID, ARTWORK, WatchedStorage

LINK: Final = re.compile(r'<([!#-;=?-Z\[\]_a-z~%]+)>; rel="next"')

PAGED: Final = ("limit", "after", "order")
# Every list that takes parameters, and which.
LISTS: Final = {
    # And `id`, which is never alone.
    "/api/changes": (*PAGED, "kind", "user_id", "action", "request_id", "since", "until"),
    "/api/users": (*PAGED, "q", "role_id"),
    "/api/roles": (*PAGED, "q"),
    "/api/authors": (*PAGED, "q", "user_id"),
    "/api/authors/1/logos": (*PAGED, "q", "target", "active"),
    "/api/authors/1/themes": (*PAGED, "q", "target", "active"),
    "/api/themes": (*PAGED, "q", "target", "active", "author_id"),
    "/api/logos": (*PAGED, "q", "target", "active", "author_id"),
}
PARAMETERS: Final = (
    *("limit", "after", "order", "q", "role_id", "user_id", "target", "active", "author_id"),
    *("kind", "action", "request_id", "since", "until"),
)
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
    *(("order", value, "literal_error") for value in ("", "DESC", "up", "1")),
    *(("kind", value, "enum") for value in ("", "Logo", "logos", "x" * 5000)),
    *((name, value, "string_too_short") for name in ("action", "request_id") for value in ("",)),
    *((name, value, "int_parsing") for name in ("since", "until") for value in ("", "now", "1.5")),
    *((name, "-1", "greater_than_equal") for name in ("since", "until")),
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
def varied(client: AppClient, gallery: LogoAdmin, admin: Headers) -> AppClient:
    """A gallery with some of everything, in which every filter finds something and leaves something out."""
    signed_in = gallery.sessions.caller(admin["authorization"].split()[1])

    def fill(gallery: LogoAdmin) -> None:
        for number, name in enumerate(NAMES):
            caller = replace(signed_in, request_id=f"request {number}")
            gallery.authors.create(CreateAuthor(user_id=500 + number, username=name))
            gallery.users.create(CreateUser(user_id=20 + number, username=name, password="x"), caller)
            gallery.roles.create(CreateRole(name=name, scope=()), caller)
            if number % 2:
                gallery.users.amend(AmendUser(user_id=20 + number, role_id=3), caller)
            target = ("forum", "a&b=c d+ä")[number % 2]
            artwork = {**ARTWORK, "name": name, "target": target, "active": number % 3 == 0}
            logo_id = gallery.logos.create(CreateLogo(**artwork), caller).logo_id
            theme_id = gallery.themes.create(CreateTheme(**artwork), caller).theme_id
            for author_id in {1, 2} if number % 4 == 0 else {1 + number % 2}:
                gallery.logos.link(LinkLogoAuthor(logo_id=logo_id, author_id=author_id), caller)
                gallery.themes.link(LinkThemeAuthor(theme_id=theme_id, author_id=author_id), caller)

    gallery.atomic(fill)
    return client


def id_of(record: dict[str, Any]) -> int:
    """Return the id of a record, which is its first field."""
    return int(next(iter(record.values())))


def followed(client: AppClient, path: str, headers: Headers) -> list[list[Any]]:
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


def smallest(records: list[dict[str, Any]]) -> int:
    """Return how few records the pages of a list have here: one, or as many as make a dozen pages of a long list."""
    return 1 + len(records) // 12


def whole(client: AppClient, path: str, headers: Headers, **query: Any) -> list[dict[str, Any]]:
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
def test_pages_that_are_followed_to_the_end_are_the_whole_list(varied: AppClient, admin: Headers) -> None:
    for path in LISTS:
        records = whole(varied, path, admin)
        for limit in (smallest(records), 3, len(records) - 1, len(records), len(records) + 1, 1000):
            pages = followed(varied, f"{path}?limit={limit}", admin)
            assert list(itertools.chain(*pages)) == records
            assert [len(page) for page in pages[:-1]] == [limit] * (len(pages) - 1)
            assert 1 <= len(pages[-1]) <= limit  # no page is empty, none promises more than there is


@pytest.mark.rule("contract E4")
@EVERYWHERE
def test_descending_pages_that_are_followed_to_the_end_are_the_list_turned_round(
    varied: AppClient, admin: Headers
) -> None:
    for path in LISTS:
        records = whole(varied, path, admin, order="asc")
        assert records == whole(varied, path, admin)
        assert whole(varied, path, admin, order="desc") == records[::-1]
        for limit in (smallest(records), len(records), 1000):
            pages = followed(varied, f"{path}?order=desc&limit={limit}", admin)
            assert list(itertools.chain(*pages)) == records[::-1]
        named = {} if path == "/api/changes" else {"q": "a"}
        expected = whole(varied, path, admin, **named)[::-1]
        pages = followed(varied, f"{path}?{urlencode({'limit': 2, 'order': 'desc', **named})}", admin)
        assert list(itertools.chain(*pages)) == expected


@pytest.mark.rule("contract G3")
@EVERYWHERE
def test_changes_are_filtered_and_their_pages_keep_the_filter(varied: AppClient, admin: Headers) -> None:
    changes = whole(varied, "/api/changes", admin)
    some = changes[len(changes) // 2]
    for query in (
        {"kind": some["kind"]},
        {"kind": some["kind"], "id": some["id"]},
        {"user_id": ADMIN_ID},
        {"action": some["action"]},
        {"request_id": some["request_id"]},
        {"kind": some["kind"], "user_id": ADMIN_ID, "action": some["action"]},
    ):
        expected = [change for change in changes if query.items() <= change.items()]
        assert expected
        assert whole(varied, "/api/changes", admin, **query) == expected
        pages = followed(varied, f"/api/changes?{urlencode({**query, 'order': 'desc', 'limit': 2})}", admin)
        assert list(itertools.chain(*pages)) == expected[::-1]
    at = some["at"]
    assert whole(varied, "/api/changes", admin, since=at, until=at) == [each for each in changes if each["at"] == at]
    assert whole(varied, "/api/changes", admin, since=at + 10**9) == []


@pytest.mark.rule("contract G3")
def test_an_id_without_a_kind_and_a_kind_that_is_none_are_named(client: AppClient, admin: Headers) -> None:
    for query, found in (
        ("id=1", [(["query", "id"], "value_error")]),
        ("kind=logos", [(["query", "kind"], "enum")]),
        ("kind=logos&id=1", [(["query", "kind"], "enum")]),
        ("kind=logo&id=-1", [(["query", "id"], "greater_than_equal")]),
        ("id=x&until=-1", [(["query", "id"], "int_parsing"), (["query", "until"], "greater_than_equal")]),
    ):
        assert problems(client.get(f"/api/changes?{query}", headers=admin)) == found


@pytest.mark.rule("contract G3", "contract F1")
@EVERYWHERE
def test_the_changes_of_a_record_or_a_kind_keep_their_version_while_nothing_happens_to_it(
    varied: AppClient, admin: Headers
) -> None:
    asked = ("kind=logo", "kind=logo&id=1", "kind=logo&order=desc&limit=1", "kind=theme", "kind=logo&id=2", "user_id=7")
    tags = [varied.get(f"/api/changes?{query}", headers=admin).headers["etag"] for query in asked]
    varied.patch("/api/logos/1", json={"name": "Another"}, headers=admin)
    for query, tag, is_kept in zip(asked, tags, (False, False, False, True, True, False), strict=True):
        again = varied.get(f"/api/changes?{query}", headers={**admin, "if-none-match": tag})
        assert (again.status_code == 304) == is_kept, query


@pytest.mark.rule("contract E2")
@EACH
def test_after_is_where_a_list_goes_on(varied: AppClient, admin: Headers, path: str) -> None:
    records = whole(varied, path, admin)
    for after in (0, id_of(records[0]), id_of(records[-2]), id_of(records[-1]), 2_147_483_647, 13):
        assert whole(varied, path, admin, after=after) == [record for record in records if id_of(record) > after]
    last = id_of(records[-1])
    answer = varied.get(path, params={"limit": 1, "after": last}, headers=admin)
    assert (answer.json(), "link" in answer.headers) == ([], False)


@pytest.mark.rule("contract E2")
def test_a_link_keeps_the_query_in_its_order_and_replaces_after(varied: AppClient, admin: Headers) -> None:
    target = "a&b=c d+ä"
    query = urlencode([("target", target), ("after", "0"), ("limit", "1"), ("author_id", "2")])
    answer = varied.get(f"/api/logos?{query}", headers=admin)
    last = id_of(answer.json()[-1])
    expected = urlencode([("target", target), ("limit", "1"), ("author_id", "2"), ("after", last)])
    assert answer.headers["link"] == f'</api/logos?{expected}>; rel="next"'
    assert answer.links["next"]["url"] == f"/api/logos?{expected}"


@pytest.mark.rule("contract E2", "contract E3")
def test_filtered_lists_come_in_pages_whatever_is_in_the_filter(varied: AppClient, admin: Headers) -> None:
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
def test_links_are_right_under_a_prefix(app: ASGIApp, varied: AppClient, admin: Headers, prefix: str) -> None:
    name = prefix.replace("%20", " ").replace("%C3%A4", "ä")
    with AppClient(Starlette(routes=[Mount(name, app)])) as mounted:
        for path in LISTS:
            records = whole(varied, path, admin)
            assert list(itertools.chain(*followed(mounted, f"{prefix}{path}?limit=4", admin))) == records


@pytest.mark.rule("contract E2", "contract H6")
@pytest.mark.parametrize("root_path", ["/gallery", "/a", "/ap"])
@pytest.mark.usefixtures("varied")
def test_links_have_the_prefix_that_a_proxy_takes_off(app: ASGIApp, admin: Headers, root_path: str) -> None:
    behind = AppClient(app, root_path=root_path)
    for sent in ("/api/logos?limit=2", f"{root_path}/api/logos?limit=2"):  # servers tell it in both ways
        answer = behind.get(sent, headers=admin)
        assert answer.status_code == 200
        last = id_of(answer.json()[-1])
        assert answer.headers["link"] == f'<{root_path}/api/logos?limit=2&after={last}>; rel="next"'


@pytest.mark.rule("contract E2", "contract A21")
@EACH
def test_head_of_a_page_has_its_link(varied: AppClient, admin: Headers, path: str) -> None:
    got, head = (varied.request(method, f"{path}?limit=1", headers=admin) for method in ("GET", "HEAD"))
    assert (head.status_code, head.content) == (200, b"")
    for name in ("link", "etag", "cache-control", "content-type"):
        assert head.headers[name] == got.headers[name]
    assert problems(varied.get(f"{path}?limit=0", headers=admin)) == [(["query", "limit"], "greater_than_equal")]
    assert varied.head(f"{path}?limit=0", headers=admin).status_code == 422


@pytest.mark.rule("contract E2", "contract F1")
def test_a_cached_page_has_the_link_of_who_asks(app: ASGIApp, varied: AppClient) -> None:
    varied.get("/api/logos?limit=2")
    again = varied.get("/api/logos?%6Cimit=2&after=0")
    assert again.headers["link"].startswith("</api/logos?limit=2&after=")
    with AppClient(Starlette(routes=[Mount("/gallery", app)])) as mounted:
        assert mounted.get("/gallery/api/logos?limit=2").headers["link"].startswith("</gallery/api/logos?limit=2&")
    assert varied.get("/api/logos?limit=2").headers["link"].startswith("</api/logos?limit=2&")


# Filters.


def by_name(records: Iterable[dict[str, Any]], q: str) -> list[dict[str, Any]]:
    return [record for record in records if q.casefold() in str(record.get("username", record.get("name"))).casefold()]


@pytest.mark.rule("contract E3")
@EVERYWHERE
def test_every_filter_and_all_of_them_together(varied: AppClient, admin: Headers) -> None:
    for path in ("/api/logos", "/api/themes", "/api/authors/1/logos", "/api/authors/2/themes"):
        records = whole(varied, path, admin)
        owned = "/authors/" in path
        sizes = set()
        for q, target, active, author_id in (
            *itertools.product((None, "a", "ss"), (None, "a&b=c d+ä"), (None, True, False), (None, 1)),
            *itertools.product(("%",), ("forum",), (True, False), (None, 2)),
            *((None, "for", None, None), (None, None, True, 99)),
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
def test_names_are_found_by_a_part_in_any_case(varied: AppClient, admin: Headers) -> None:
    for path in ("/api/users", "/api/roles", "/api/authors", "/api/logos", "/api/themes"):
        records = whole(varied, path, admin)
        for name in (*NAMES, *(name.upper() for name in NAMES), "ß", "ss", "%", "_", "\\", "Å", "no such"):
            assert whole(varied, path, admin, q=name) == by_name(records, name), (path, name)
        assert len(whole(varied, path, admin, q="strasse")) == 2


@pytest.mark.rule("contract E3")
@EVERYWHERE
def test_users_are_filtered_by_role_and_authors_by_user(varied: AppClient, admin: Headers) -> None:
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
def test_filters_of_a_missing_author_are_404(client: AppClient) -> None:
    for query in ("", "?limit=1", "?after=5", "?active=true&limit=3&after=9"):
        assert client.get(f"/api/authors/99/logos{query}").status_code == 404
    assert client.get("/api/logos?author_id=99").json() == []


# What is wrong.


@pytest.mark.rule("contract E2", "contract E3", "contract A5")
@EACH
def test_a_wrong_parameter_is_named(client: AppClient, admin: Headers, path: str) -> None:
    for name, value, type_ in WRONG:
        expected = type_ if name in LISTS[path] else "extra_forbidden"
        answer = client.get(path, params={name: value}, headers=admin)
        assert problems(answer) == [(["query", name], expected)], (name, value)
        assert len(value) < 10 or value not in answer.text


@pytest.mark.rule("contract E2", "contract E3")
@EACH
def test_a_parameter_is_given_once(client: AppClient, admin: Headers, path: str) -> None:
    good = {"limit": 5, "after": 0, "order": "desc", "q": "a", "target": "forum", "active": "true", "kind": "logo"}
    for name in LISTS[path]:
        value = good.get(name, 1)
        assert client.get(f"{path}?{name}={value}", headers=admin).status_code == 200
        found = problems(client.get(f"{path}?{name}={value}&{name}={value}", headers=admin))
        assert found == [(["query", name], "value_error")]


@pytest.mark.rule("contract A4", "contract A5")
@EACH
def test_all_that_is_wrong_is_said_at_once(client: AppClient, admin: Headers, path: str) -> None:
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
def test_what_is_no_list_of_any_length_takes_no_parameters(client: AppClient, admin: Headers, path: str) -> None:
    for name in (*PARAMETERS, path.split("/")[-2][:-1] + "_id"):
        assert problems(client.get(f"{path}?{name}=1", headers=admin)) == [(["query", name], "extra_forbidden")]
    assert client.get(f"{path}?", headers=admin).status_code == 200
