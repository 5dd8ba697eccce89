"""Pages, orders and filters of lists over HTTP (contract E2 to E6)."""

import itertools
import re
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp

from logoadmin.domain.gallery.artworks import CreateLogo, CreateTheme, LinkLogoAuthor, LinkThemeAuthor
from logoadmin.domain.gallery.authors import AmendAuthor, CreateAuthor
from logoadmin.domain.identity.roles import CreateRole
from logoadmin.domain.identity.users import CreateUser
from logoadmin.domain.logo_admin import LogoAdmin
from tests.asgi import AppClient
from tests.entrypoints.conftest import Headers
from tests.entrypoints.test_operations import types_of
from tests.gallery import ARTWORK, NOW, FrozenClock

LINK: Final = re.compile(r'<([!#-;=?-Z\[\]_a-z~%]+)>; rel="next"')

PAGED: Final = ("limit", "after", "order")
SORTED: Final = (*PAGED, "sort", "versions")
# Every list that takes parameters, and which.
LISTS: Final = {
    # And `id`, which is never alone.
    "/api/acts": (*PAGED, "kind", "user_id", "action", "request_id", "since", "until"),
    "/api/changes": (*PAGED, "kind", "user_id", "action", "request_id", "since", "until"),
    "/api/proposals": (*PAGED, "user_id"),
    "/api/auth/events": (*PAGED, "user_id"),
    "/api/users": (*SORTED, "q", "role_id"),
    "/api/roles": (*SORTED, "q"),
    "/api/authors": (*SORTED, "q", "user_id"),
    "/api/authors/1/logos": (*SORTED, "q", "target", "active", "tag"),
    "/api/authors/1/themes": (*SORTED, "q", "target", "active", "tag"),
    "/api/themes": (*SORTED, "q", "target", "active", "author_id", "tag"),
    "/api/logos": (*SORTED, "q", "target", "active", "author_id", "tag"),
}
EACH: Final = pytest.mark.parametrize("path", LISTS)
NAMES: Final = ("Straße", "STRASSE", "100%", "a_b", "Ann & Co. = <\"'>", "ångström", "back\\slash", "plus + plus", "😀")

# Parameters with wrong values; integers of any parameter are tried in test_operations.
WRONG: Final = (
    *(("limit", value, "greater_than_equal") for value in ("0", "-1", "-9999999999999999999")),
    *(("limit", value, "less_than_equal") for value in ("1001", "9" * 5000)),
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
    *((name, "2147483648", "less_than_equal") for name in ("after", "role_id", "user_id", "author_id")),
    *(("q", "", "string_too_short"), ("q", "x" * 129, "string_too_long"), ("q", "a\0", "string_pattern_mismatch")),
    ("target", "", "string_too_short"),
    ("target", "x" * 65, "string_too_long"),
    ("target", "\0", "string_pattern_mismatch"),
)


@pytest.fixture
def varied(client: AppClient, gallery: LogoAdmin) -> AppClient:
    """A gallery with some of everything, whose names and targets need escaping in a URL."""

    def fill(gallery: LogoAdmin) -> None:
        for number, name in enumerate(NAMES):
            gallery.authors.create(CreateAuthor(user_id=500 + number, username=name))
            gallery.users.create(CreateUser(user_id=20 + number, username=name, password="x"))
            gallery.roles.create(CreateRole(name=name, scope=()))
            artwork = {**ARTWORK, "name": name, "target": ("forum", "a&b=c d+ä")[number % 2]}
            logo_id = gallery.logos.create(CreateLogo(**artwork)).logo_id
            theme_id = gallery.themes.create(CreateTheme(**artwork)).theme_id
            gallery.logos.link(LinkLogoAuthor(logo_id=logo_id, author_id=1 + number % 2))
            gallery.themes.link(LinkThemeAuthor(theme_id=theme_id, author_id=1 + number % 2))

    gallery.atomic(fill)
    return client


def id_of(record: dict[str, Any]) -> int:
    """Return the id of a record, which is its first field."""
    return int(next(iter(record.values())))


def followed(client: AppClient, path: str, headers: Headers) -> list[list[Any]]:
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


@pytest.mark.rule("contract E2")
def test_a_next_link_keeps_the_query_and_replaces_after(varied: AppClient, admin: Headers) -> None:
    target = "a&b=c d+ä"
    query = urlencode([("target", target), ("after", "0"), ("limit", "1"), ("author_id", "2")])
    answer = varied.get(f"/api/logos?{query}", headers=admin)
    last = id_of(answer.json()[-1])
    expected = urlencode([("target", target), ("limit", "1"), ("author_id", "2"), ("after", last)])
    assert answer.headers["link"] == f'</api/logos?{expected}>; rel="next"'
    assert answer.links["next"]["url"] == f"/api/logos?{expected}"


@pytest.mark.rule("contract E2", "contract H6")
@pytest.mark.parametrize("prefix", ["/gallery", "/a/b%20c", "/%C3%A4"])
def test_links_are_right_under_a_prefix(app: ASGIApp, varied: AppClient, admin: Headers, prefix: str) -> None:
    name = prefix.replace("%20", " ").replace("%C3%A4", "ä")
    with AppClient(Starlette(routes=[Mount(name, app)])) as mounted:
        for path in LISTS:
            records = whole(varied, path, admin)
            assert list(itertools.chain(*followed(mounted, f"{prefix}{path}?limit=4", admin))) == records


@pytest.mark.rule("contract E2", "contract F1")
def test_a_cached_page_has_the_link_for_its_caller(app: ASGIApp, varied: AppClient) -> None:
    varied.get("/api/logos?limit=2")
    again = varied.get("/api/logos?%6Cimit=2&after=0")
    assert again.headers["link"].startswith("</api/logos?limit=2&after=")
    with AppClient(Starlette(routes=[Mount("/gallery", app)])) as mounted:
        assert mounted.get("/gallery/api/logos?limit=2").headers["link"].startswith("</gallery/api/logos?limit=2&")
    assert varied.get("/api/logos?limit=2").headers["link"].startswith("</api/logos?limit=2&")


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
def test_a_repeated_parameter_is_refused(client: AppClient, admin: Headers, path: str) -> None:
    good = {"limit": 5, "order": "desc", "sort": "name", "q": "a", "target": "forum", "active": "true"}
    good |= {"versions": "true", "kind": "logo"}
    for name in LISTS[path]:
        value = good.get(name, 1)
        assert client.get(f"{path}?{name}={value}", headers=admin).status_code == 200
        found = types_of(client.get(f"{path}?{name}={value}&{name}={value}", headers=admin))
        assert found == [(["query", name], "value_error")]


SORTABLE: Final = [path for path in LISTS if "sort" in LISTS[path]]


@pytest.mark.rule("contract E6")
@pytest.mark.parametrize("path", SORTABLE)
def test_records_include_their_versions_on_request(
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
