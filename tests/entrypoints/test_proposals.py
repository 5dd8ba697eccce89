"""Proposals over HTTP: nothing of them leaks, and conditions and errors are those of records (contract R1 to R3)."""

from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from logoadmin.domain.kernel.access import Policy
from logoadmin.domain.logo_admin import LogoAdmin
from tests.asgi import AppClient
from tests.entrypoints.conftest import Headers, bearer
from tests.gallery import ARTWORK, LOOK, PROPOSED, SOME_PASSWORD, WatchedStorage, signed_in
from tests.sample_requests import SAMPLES

SECRET: Final = "Marked by nobody else"
NAMES: Final = st.sampled_from(["Aurora", SECRET])
LISTS: Final = [row.path for row in SAMPLES if row.is_read and row.is_list and row.is_versioned]
SEARCHED: Final = [f"/api/{kind}?q=mark&versions=true&sort=changed" for kind in ("logos", "themes", "authors")]
READS: Final = [
    *(row.path for row in SAMPLES if row.method == "GET" and not row.template.startswith("/api/proposals")),
    *(f"{path}?limit=1000&order=desc" for path in LISTS if path != "/api/proposals"),
    *(*SEARCHED, "/api/logos/2", "/api/themes/2", "/api/authors/3", "/livez"),
]


@pytest.fixture
def access() -> Policy:
    return Policy.GUARDED


def holder(gallery: LogoAdmin, watched: WatchedStorage, user_id: int, *scope: str) -> Headers:
    """Return the header of a new user with some scopes."""
    signed_in(watched, *scope, user_id=user_id)
    return bearer(gallery, f"user {user_id}", SOME_PASSWORD)


@pytest.fixture
def member(gallery: LogoAdmin, watched: WatchedStorage) -> Headers:
    """The header of author 1."""
    return holder(gallery, watched, 101, "proposals:write")


@pytest.fixture
def others(gallery: LogoAdmin, watched: WatchedStorage) -> list[Headers]:
    """Everybody else, with many rights, but not those to apply a change of a logo, a theme and an author."""
    reads = ("users:read", "roles:read", "changes:read", "proposals:write")
    writes = (), ("themes:write", "authors:write", "users:write"), ("logos:write", "authors:write", "roles:write")
    held = [(), *((*reads, *scope) for scope in writes)]
    return [{}, *(holder(gallery, watched, 700 + place, *scope) for place, scope in enumerate(held))]


@pytest.mark.rule("contract R1")
@settings(max_examples=2)
@given(
    name=NAMES, other=NAMES, kind=st.sampled_from(["logo", "theme"]), css=st.sampled_from(["/* */", "a { color: red }"])
)
def test_a_proposal_that_is_not_applied_is_visible_to_nobody_else(
    client: AppClient,
    gallery: LogoAdmin,
    admin: Headers,
    member: Headers,
    others: list[Headers],
    name: str,
    other: str,
    kind: str,
    css: str,
) -> None:
    def seen() -> list[Any]:
        pages = [answer(client, path, headers) for headers in (*others, admin) for path in READS]
        pages += [answer(client, "/api/proposals", headers) for headers in others[:3]]
        # The version of the list counts all proposals for those who could apply some.
        pages += [
            (*page[:2], *page[3:]) for headers in others[3:] for page in [answer(client, "/api/proposals", headers)]
        ]
        publication = gallery.publication.generate()
        return [pages, publication.pointer, sorted(publication.files)]

    before = seen()
    new = [{"kind": each, "create": {**LOOK, "name": name, "custom_css": css}} for each in ("logo", "theme")]
    changed = [{"kind": kind, "id": 1, "version": 99, "set": {"name": other}}]
    author = {"kind": "author", "id": 1, "version": 99, "set": {"username": SECRET}}
    body = {"title": SECRET, "changes": [*new, *changed, author]}
    made = client.post("/api/proposals", json=body, headers=member)
    assert made.status_code == 201
    path = f"/api/proposals/{made.json()['proposal_id']}"
    for headers in others[1:]:
        for end, sent in (("/apply", None), ("/decline", {"reason": "No"}), ("/withdraw", None)):
            refused(client.post(f"{path}{end}", json=sent, headers=headers))
        refused(client.patch(path, json={"title": "Mine"}, headers=headers))
        refused(client.get(path, headers=headers))
    assert seen() == before
    assert client.post(f"{path}/decline", json={"reason": "No"}, headers=admin).status_code == 200
    assert seen() == before


def answer(client: AppClient, path: str, headers: Headers) -> tuple[Any, ...]:
    """Return everything that distinguishes a response for a client."""
    found = client.get(path, headers=headers)
    return path, found.status_code, found.headers.get("etag"), found.headers.get("link"), found.text


def refused(response: Any) -> None:
    """Check that a proposal looks like a missing one."""
    assert response.status_code == 404
    assert response.json()["detail"].endswith(" not found")
    assert SECRET not in response.text


@pytest.mark.rule("contract R1", "contract R2", "contract A5")
def test_problems_of_a_proposal_have_their_locations(client: AppClient, admin: Headers, member: Headers) -> None:
    def places(body: Any) -> Any:
        response = client.post("/api/proposals", json=body, headers=member)
        assert response.status_code == 422
        return [(*problem["loc"][1:], problem["type"]) for problem in response.json()["detail"]]

    long = [("title", "string_too_long"), ("note", "string_too_long"), ("changes", "too_long")]
    assert places({"title": "x" * 201, "note": "x" * 2001, "changes": [PROPOSED] * 21}) == long
    at = ("changes", 0, "create")
    unsound = {"kind": "logo", "create": {**ARTWORK, "target": "", "stars": 5}}
    expected = [(*at, "target", "string_too_short"), (*at, "stars", "extra_forbidden")]
    assert places({"title": "x", "changes": [unsound]}) == expected
    active = {"kind": "logo", "create": ARTWORK}
    assert places({"title": "x", "changes": [active]}) == [(*at, "active", "value_error")]
    declined = client.post("/api/proposals/1/decline", json={"reason": "x" * 1001}, headers=admin)
    assert declined.json()["detail"][0]["loc"] == ["body", "reason"]


@pytest.mark.rule("contract R1", "contract P1", "contract L4")
def test_callers_who_may_propose_may_send_pictures_and_request_verdicts(client: AppClient, member: Headers) -> None:
    asked = client.post("/api/css/verdict", json={"kind": "logo", "custom_css": "color: red"}, headers=member)
    assert asked.status_code == 200
    body = {"title": "Mine", "changes": [{"kind": "logo", "create": {**LOOK, "custom_css": "color: red"}}]}
    made = client.post("/api/proposals?dry_run=true", json=body, headers=member)
    assert (made.status_code, made.json()["changes"][0]["verdict"]) == (201, asked.json())
    assert client.get("/api/proposals", headers=member).json() == []
    stored = client.post("/api/proposals", json=body, headers=member).json()
    (listed,) = client.get("/api/proposals", headers=member).json()
    assert listed == {name: value for name, value in stored.items() if name not in ("changes", "note")}
