"""Pages, orders and filters of lists over HTTP (contract E2 to E6)."""

import itertools
import re
from dataclasses import replace
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp

from logoadmin.domain.gallery.artworks import CreateLogo, CreateTheme, LinkLogoAuthor, LinkThemeAuthor
from logoadmin.domain.gallery.authors import AmendAuthor, CreateAuthor
from logoadmin.domain.identity.roles import CreateRole
from logoadmin.domain.identity.users import AmendUser, CreateUser
from logoadmin.domain.kernel.lists import search_form
from logoadmin.domain.logo_admin import LogoAdmin
from tests.asgi import AppClient
from tests.entrypoints.conftest import Headers
from tests.entrypoints.test_operations import types_of
from tests.gallery import ADMIN_ID, ARTWORK, NOW, FrozenClock
from tests.sample_requests import SAMPLES

LINK: Final = re.compile(r'<([!#-;=?-Z\[\]_a-z~%]+)>; rel="next"')

PAGED: Final = ("limit", "after", "order")
SORTED: Final = (*PAGED, "sort", "versions")
# Every list that takes parameters, and which.
LISTS: Final = {
    # And `id`, which is never alone.
    "/api/acts": (*PAGED, "kind", "user_id", "action", "request_id", "since", "until"),
    "/api/changes": (*PAGED, "kind", "user_id", "action", "request_id", "since", "until"),
    "/api/proposals": (*PAGED, "user_id"),
    "/api/users": (*SORTED, "q", "role_id"),
    "/api/roles": (*SORTED, "q"),
    "/api/authors": (*SORTED, "q", "user_id"),
    "/api/authors/1/logos": (*SORTED, "q", "target", "active"),
    "/api/authors/1/themes": (*SORTED, "q", "target", "active"),
    "/api/themes": (*SORTED, "q", "target", "active", "author_id"),
    "/api/logos": (*SORTED, "q", "target", "active", "author_id"),
}
PARAMETERS: Final = (
    *("limit", "after", "order", "sort", "versions", "q", "role_id", "user_id", "target", "active", "author_id"),
    *("kind", "action", "request_id", "since", "until"),
)
EACH: Final = pytest.mark.parametrize("path", LISTS)
NAMES: Final = ("Straße", "STRASSE", "100%", "a_b", "Ann & Co. = <\"'>", "ångström", "back\\slash", "plus + plus", "😀")


WRONG: Final = (
    *(("limit", value, "greater_than_equal") for value in ("0", "-1", "-9999999999999999999")),
    *(("limit", value, "less_than_equal") for value in ("1001", "9" * 5000)),
    ("after", "-1", "greater_than_equal"),
    ("after", "2147483648", "less_than_equal"),
    *(
        (name, value, "bool_parsing")
        for name in ("active", "versions")
        for value in ("", "1", "0", "True", "yes", "null", "true ")
    ),
    *(("order", value, "literal_error") for value in ("", "DESC", "up", "1")),
    *(("sort", value, "literal_error") for value in ("", "NAME", "version", "username")),
    *(("kind", value, "enum") for value in ("", "Logo", "logos", "x" * 5000)),
    *((name, value, "string_too_short") for name in ("action", "request_id") for value in ("",)),
    *((name, "-1", "greater_than_equal") for name in ("since", "until")),
    *((name, "", "int_parsing") for name in ("limit", "after", "since", "until", "role_id", "user_id", "author_id")),
    *((name, "2147483648", "less_than_equal") for name in ("role_id", "user_id", "author_id")),
    *(("q", "", "string_too_short"), ("q", "x" * 129, "string_too_long"), ("q", "a\0", "string_pattern_mismatch")),
    ("target", "", "string_too_short"),
    ("target", "x" * 65, "string_too_long"),
    ("target", "\0", "string_pattern_mismatch"),
)


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


def whole(client: AppClient, path: str, headers: Headers, **query: Any) -> list[dict[str, Any]]:
    answer = client.get(path, headers=headers, params=query)
    assert answer.status_code == 200, answer.text
    assert "link" not in answer.headers
    records: list[dict[str, Any]] = answer.json()
    return records


# Pages and filters.

# Each list as it is, and each filter once; how a filter decides is proved in tests/domain and tests/contracts.
QUERIES: Final[list[tuple[str, dict[str, Any]]]] = [
    *((path, {}) for path in LISTS),
    *((path, {"q": q}) for path in LISTS if "q" in LISTS[path] for q in ("a", "%", "S", "straẞ", *NAMES)),
    *((path, {"target": "a&b=c d+ä"}) for path in LISTS if "target" in LISTS[path]),
    *((path, {"active": "false", "target": "forum"}) for path in LISTS if "active" in LISTS[path]),
    ("/api/users", {"role_id": 3}),
    ("/api/authors", {"user_id": 502}),
    ("/api/logos", {"author_id": 2, "active": "true"}),
    ("/api/themes", {"author_id": 2}),
    ("/api/changes", {"kind": "logo"}),
    ("/api/changes", {"kind": "theme", "id": 2}),
    ("/api/changes", {"user_id": ADMIN_ID, "action": "role.created"}),
    ("/api/changes", {"request_id": "request 3"}),
    ("/api/changes", {"since": NOW, "until": NOW}),
    ("/api/changes", {"since": NOW + 10**9}),
]


def meets(record: dict[str, Any], name: str, value: Any) -> bool:
    """Return whether a record is one of those that a filter is for."""
    if name == "q":
        return search_form(value) in search_form(str(record.get("username", record.get("name"))))
    if name == "author_id":
        return value in [author["author_id"] for author in record["authors"]]
    if name in ("since", "until"):
        return bool(record["at"] >= value if name == "since" else record["at"] <= value)
    return str(record[name]).lower() == str(value).lower() if name == "active" else bool(record[name] == value)


@pytest.mark.rule("contract E2", "contract E3", "contract E4", "contract G3")
def test_pages_that_are_followed_to_the_end_are_the_records_that_the_filters_leave(
    varied: AppClient, admin: Headers
) -> None:
    lists = {path: whole(varied, path, admin) for path in LISTS}
    for path, query in QUERIES:
        records = [record for record in lists[path] if all(meets(record, *given) for given in query.items())]
        assert whole(varied, path, admin, **query) == records, (path, query)
        for order, expected in (("asc", records), ("desc", records[::-1])):
            for limit in {1 + len(records) // 6, max(len(records), 1), 1000}:
                asked = {**query, "order": order, "limit": limit}
                pages = followed(varied, f"{path}?{urlencode(asked)}", admin)
                assert list(itertools.chain(*pages)) == expected
                assert [len(page) for page in pages[:-1]] == [limit] * (len(pages) - 1)
                assert pages[-1] or not records  # only a list without records has an empty page


@pytest.mark.rule("contract G3")
def test_an_id_without_a_kind_and_an_unknown_kind_are_named(client: AppClient, admin: Headers) -> None:
    for query, found in (
        ("id=1", [(["query", "id"], "value_error")]),
        ("kind=logos", [(["query", "kind"], "enum")]),
        ("kind=logos&id=1", [(["query", "kind"], "enum")]),
        ("kind=logo&id=-1", [(["query", "id"], "greater_than_equal")]),
        ("id=x&until=-1", [(["query", "id"], "int_parsing"), (["query", "until"], "greater_than_equal")]),
    ):
        assert types_of(client.get(f"/api/changes?{query}", headers=admin)) == found


@pytest.mark.rule("contract G3", "contract F1")
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
def test_a_link_keeps_the_query_in_its_order_and_replaces_after(varied: AppClient, admin: Headers) -> None:
    target = "a&b=c d+ä"
    query = urlencode([("target", target), ("after", "0"), ("limit", "1"), ("author_id", "2")])
    answer = varied.get(f"/api/logos?{query}", headers=admin)
    last = id_of(answer.json()[-1])
    expected = urlencode([("target", target), ("limit", "1"), ("author_id", "2"), ("after", last)])
    assert answer.headers["link"] == f'</api/logos?{expected}>; rel="next"'
    assert answer.links["next"]["url"] == f"/api/logos?{expected}"


@pytest.mark.rule("contract E2", "contract H6")
@pytest.mark.parametrize("prefix", ["/gallery", "/a/b", "/gal%20lery", "/api", "/%C3%A4"])
def test_links_are_right_under_a_prefix(app: ASGIApp, varied: AppClient, admin: Headers, prefix: str) -> None:
    name = prefix.replace("%20", " ").replace("%C3%A4", "ä")
    with AppClient(Starlette(routes=[Mount(name, app)])) as mounted:
        for path in LISTS:
            records = whole(varied, path, admin)
            assert list(itertools.chain(*followed(mounted, f"{prefix}{path}?limit=4", admin))) == records


@pytest.mark.rule("contract E2", "contract F1")
def test_a_cached_page_has_the_link_of_who_asks(app: ASGIApp, varied: AppClient) -> None:
    varied.get("/api/logos?limit=2")
    again = varied.get("/api/logos?%6Cimit=2&after=0")
    assert again.headers["link"].startswith("</api/logos?limit=2&after=")
    with AppClient(Starlette(routes=[Mount("/gallery", app)])) as mounted:
        assert mounted.get("/gallery/api/logos?limit=2").headers["link"].startswith("</gallery/api/logos?limit=2&")
    assert varied.get("/api/logos?limit=2").headers["link"].startswith("</api/logos?limit=2&")


# What is wrong.


@pytest.mark.rule("contract E2", "contract E3", "contract A5")
@EACH
def test_a_wrong_parameter_is_named(client: AppClient, admin: Headers, path: str) -> None:
    for name, value, type_ in WRONG:
        expected = type_ if name in LISTS[path] else "extra_forbidden"
        answer = client.get(path, params={name: value}, headers=admin)
        assert types_of(answer) == [(["query", name], expected)], (name, value)
        assert len(value) < 10 or value not in answer.text


@pytest.mark.rule("contract E2", "contract E3")
@EACH
def test_a_parameter_is_given_once(client: AppClient, admin: Headers, path: str) -> None:
    good = {"limit": 5, "order": "desc", "sort": "name", "q": "a", "target": "forum", "active": "true"}
    good |= {"versions": "true", "kind": "logo"}
    for name in LISTS[path]:
        value = good.get(name, 1)
        assert client.get(f"{path}?{name}={value}", headers=admin).status_code == 200
        found = types_of(client.get(f"{path}?{name}={value}&{name}={value}", headers=admin))
        assert found == [(["query", name], "value_error")]


@pytest.mark.rule("contract A4", "contract A5")
@EACH
def test_all_that_is_wrong_is_said_at_once(client: AppClient, admin: Headers, path: str) -> None:
    found = types_of(client.get(f"{path}?limit=0&after=x&nope=1&Limit=3&q%5B%5D=a&limit=2", headers=admin))
    assert sorted(loc[1] for loc, _ in found) == ["Limit", "after", "limit", "nope", "q[]"]
    assert {loc[0] for loc, _ in found} == {"query"}


@pytest.mark.rule("contract E2", "contract A4")
@pytest.mark.parametrize(
    "path",
    # Events and pictures are lists without versions, see test_events and test_pictures.
    [row.path for row in SAMPLES if row.is_read and row.path not in {*LISTS, "/api/auth/events", "/api/pictures"}],
)
def test_what_is_no_list_of_any_length_takes_no_parameters(client: AppClient, admin: Headers, path: str) -> None:
    for name in (*PARAMETERS, path.split("/")[-2][:-1] + "_id"):
        assert types_of(client.get(f"{path}?{name}=1", headers=admin)) == [(["query", name], "extra_forbidden")]
    assert client.get(f"{path}?", headers=admin).status_code == 200


# Sorted lists.

SORTABLE: Final = [path for path in LISTS if "sort" in LISTS[path]]


@pytest.mark.rule("contract E5", "contract A9")
@pytest.mark.parametrize("path", SORTABLE)
def test_a_sorted_list_does_not_start_after_a_record_that_is_gone(varied: AppClient, admin: Headers, path: str) -> None:
    name = path.rpartition("/")[2].removesuffix("s").capitalize()
    for query in ("sort=name", "sort=changed&limit=1", "sort=name&order=desc&limit=1"):
        answer = varied.get(f"{path}?{query}&after=999", headers=admin)
        assert (answer.status_code, answer.json()) == (404, {"detail": f"{name} 999 not found"})
    assert varied.get(f"{path}?sort=id&after=999", headers=admin).status_code == 200


# Versions.


@pytest.mark.rule("contract E6")
@pytest.mark.parametrize("path", SORTABLE)
def test_records_have_their_versions_where_these_are_asked_for(
    varied: AppClient, gallery: LogoAdmin, clock: FrozenClock, admin: Headers, path: str
) -> None:
    clock.time = NOW + 60
    gallery.authors.amend(AmendAuthor(author_id=1, username="Ann B."))
    plain = whole(varied, path, admin)
    records = whole(varied, path, admin, versions="true")
    kind = "/api/" + path.rpartition("/")[2]
    assert records
    for record, same in zip(records, plain, strict=True):
        etag = varied.get(f"{kind}/{id_of(record)}", headers=admin).headers["etag"]
        assert etag.startswith(f'"{record["version"]}')
        assert record["changed_at"] in (NOW, NOW + 60)
        assert {name: record[name] for name in same} == same
        assert {*record} - {*same} == {"version", "changed_at"}
    for sort in ("name", "changed"):
        pages = followed(varied, f"{path}?limit=4&sort={sort}&versions=true", admin)
        assert [*itertools.chain(*pages)] == whole(varied, path, admin, sort=sort, versions="true")
    assert whole(varied, path, admin, versions="false") == plain
