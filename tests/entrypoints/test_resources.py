"""The history, events, details, proposals and pictures over HTTP (contract G, O9, P, R1, S1)."""

import re
import time
from typing import Any, Final

import pytest
from starlette.types import ASGIApp

import logoadmin
from logoadmin.domain.gallery.artworks import BlockLogo, CreateLogo
from logoadmin.domain.gallery.picture_commands import SendPicture
from logoadmin.domain.identity.sessions import SignIn
from logoadmin.domain.kernel.errors import SignInRefused, TooManySignIns
from logoadmin.domain.kernel.limits import MAX_PICTURE
from logoadmin.domain.logo_admin import LogoAdmin
from tests.asgi import AppClient, ask
from tests.entrypoints.conftest import GUARDED, Headers, bearer
from tests.entrypoints.test_operations import types_of
from tests.gallery import (
    ARTWORK,
    LOOK,
    PIXEL,
    SOME_PASSWORD,
    STOCKED_PICTURE,
    FrozenClock,
    WatchedStorage,
    drawing,
    signed_in,
)
from tests.sample_requests import SAMPLES

pytestmark = pytest.mark.rule("contract G", "contract O9")

# The history.


def history(client: AppClient, admin: Headers, after: int = 0) -> Any:
    return client.get(f"/api/changes?after={after}", headers=admin).json()


@pytest.mark.parametrize(
    ("sent", "is_taken"),
    [
        *((text, True) for text in ("a", "A.b-c_9", "x" * 64)),
        *((text, False) for text in ("x" * 65, "", "a b", "a\tb", "<script>", "a,b", "ä")),
    ],
)
def test_the_history_has_the_id_of_the_response(client: AppClient, admin: Headers, sent: str, is_taken: bool) -> None:
    last = history(client, admin)[-1]["change_id"]
    headers = [(b"x-request-id", sent.encode("latin-1"))]
    answer = client.post("/api/authors", json={"user_id": 5, "username": "x"}, headers=headers)
    (entry,) = history(client, admin, last)
    assert (entry["user_id"], entry["request_id"]) == (None, answer.headers["x-request-id"])
    assert (entry["request_id"] == sent) is is_taken
    assert re.fullmatch("[A-Za-z0-9._-]{1,64}", entry["request_id"])


@pytest.mark.rule("contract G4")
def test_a_request_id_identifies_one_request_of_one_caller(client: AppClient, admin: Headers) -> None:
    last = history(client, admin)[-1]["change_id"]
    same = {**admin, "x-request-id": "same"}
    answers = [client.patch("/api/authors/1", json={"username": name}, headers=same) for name in ("a", "b", "c")]
    ids = [answer.headers["x-request-id"] for answer in answers]
    assert (ids[0], len(set(ids))) == ("same", 3)
    assert [entry["request_id"] for entry in history(client, admin, last)] == ids
    # Undoing a request does not reuse its id.
    answer = client.post("/api/changes/revert", json={"request_id": ids[2]}, headers={**admin, "x-request-id": ids[2]})
    assert (answer.status_code, answer.headers["x-request-id"] in ids) == (200, False)


@pytest.mark.rule("contract G5")
def test_the_history_has_the_source_and_the_note_of_a_request(client: AppClient, admin: Headers) -> None:
    noted = {**admin, "x-request-id": "noted", "x-requested-with": "logoadmin-console"}
    noted |= {"x-change-note": "%D0%9F%D0%BE%20%D0%BF%D1%80%D0%BE%D1%81%D1%8C%D0%B1%D0%B5 Ann"}
    assert client.post("/api/authors", json={"user_id": 9, "username": "Dee"}, headers=noted).status_code == 201
    (act,) = client.get("/api/acts?request_id=noted", headers=admin).json()
    assert (act["origin"], act["note"], act["names"]) == ("console", "По просьбе Ann", ["Dee"])
    (change,) = client.get("/api/changes?request_id=noted", headers=admin).json()
    assert (change["source"], change["note"]) == ("console", "По просьбе Ann")


# Requests, with the location and the type of their problem.
INVALID: Final[tuple[tuple[str, Headers, list[str], str], ...]] = (
    ("PATCH /api/roles/3?dry_run=1", {}, ["query", "dry_run"], "bool_parsing"),
    ("POST /api/pictures?from=https://img.example/a.png", {}, ["query", "from"], "value_error"),
    ("POST /api/pictures?from=ftp://img.example/a.png", {}, ["query", "from"], "url_parsing"),
    ("GET /api/pictures?after=7", {}, ["query", "after"], "string_pattern_mismatch"),
    ("PATCH /api/authors/1", {"x-change-note": "x" * 201}, ["header", "X-Change-Note"], "string_too_long"),
    ("PATCH /api/authors/1", {"x-change-note": "%ff"}, ["header", "X-Change-Note"], "string_unicode"),
    ("PATCH /api/authors/1", {"x-change-note": "%00"}, ["header", "X-Change-Note"], "string_pattern_mismatch"),
    ("PATCH /api/authors/1", {"x-change-note": "%20"}, ["header", "X-Change-Note"], "string_pattern_mismatch"),
)


@pytest.mark.rule("contract G5", "contract J7", "contract P3", "contract E2")
@pytest.mark.parametrize(("asked", "headers", "loc", "type_"), INVALID)
def test_an_invalid_parameter_or_note_is_named(
    client: AppClient, admin: Headers, asked: str, headers: Headers, loc: list[str], type_: str
) -> None:
    body: Headers | None = {} if "PATCH" in asked else None
    assert types_of(client.request(*asked.split(), json=body, headers={**admin, **headers})) == [(loc, type_)]


# Events.


@pytest.mark.rule("contract C1")
@pytest.mark.parametrize("watched", ["sqlite"], indirect=True)
def test_a_flood_beyond_the_limits_empties_the_cache_once_a_minute(gallery: LogoAdmin, clock: FrozenClock) -> None:
    def flood() -> bool:
        before = gallery.data_version()
        for _ in range(20):
            with pytest.raises((SignInRefused, TooManySignIns)):
                gallery.sessions.sign_in(SignIn(username="ann", password="wrong"))
        return gallery.data_version() == before

    assert gallery.data_version() is None  # it connects
    assert [flood(), flood(), flood()] == [False, True, True]
    clock.pass_by(60)
    assert [flood(), flood()] == [False, True]


# Proposals.

SECRET: Final = "Marked by nobody else"
READS: Final = [
    *(row.path for row in SAMPLES if row.method == "GET" and not row.template.startswith("/api/proposals")),
    *(f"/api/{kind}?q=mark&versions=true&sort=changed" for kind in ("logos", "themes", "authors")),
    *("/api/logos/2", "/api/themes/2", "/api/authors/3"),
]


def holder(gallery: LogoAdmin, watched: WatchedStorage, user_id: int, *scope: str) -> Headers:
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
    scopes = [(), reads, (*reads, "themes:write", "authors:write", "users:write")]
    return [{}, *(holder(gallery, watched, 700 + place, *scope) for place, scope in enumerate(scopes))]


@GUARDED
@pytest.mark.rule("contract R1")
def test_a_proposal_that_is_not_applied_is_visible_to_nobody_else(
    client: AppClient, gallery: LogoAdmin, admin: Headers, member: Headers, others: list[Headers]
) -> None:
    def seen() -> list[Any]:
        pages = [answer(client, path, headers) for headers in (*others, admin) for path in READS]
        # The version of the list of proposals counts all of them for those who could apply some.
        pages += [answer(client, "/api/proposals", headers) for headers in others[:3]]
        publication = gallery.publication.generate()
        return [pages, publication.pointer, sorted(publication.files)]

    before = seen()
    new = [{"kind": kind, "create": {**LOOK, "name": SECRET}} for kind in ("logo", "theme")]
    names = {"logo": "name", "theme": "name", "author": "username"}.items()
    changed = [{"kind": kind, "id": 1, "version": 99, "set": {name: SECRET}} for kind, name in names]
    body = {"title": SECRET, "changes": [*new, *changed]}
    made = client.post("/api/proposals", json=body, headers=member)
    assert made.status_code == 201
    path = f"/api/proposals/{made.json()['proposal_id']}"
    for headers in others[1:]:
        for end, sent in (("/apply", None), ("/decline", {"reason": "No"}), ("/withdraw", None)):
            seems_missing(client.post(f"{path}{end}", json=sent, headers=headers))
        seems_missing(client.patch(path, json={"title": "Mine"}, headers=headers))
        seems_missing(client.get(path, headers=headers))
    assert seen() == before
    assert client.post(f"{path}/decline", json={"reason": "No"}, headers=admin).status_code == 200
    assert seen() == before


def answer(client: AppClient, path: str, headers: Headers) -> tuple[Any, ...]:
    """Return everything that distinguishes a response for a client."""
    found = client.get(path, headers=headers)
    return path, found.status_code, found.headers.get("etag"), found.headers.get("link"), found.text


def seems_missing(response: Any) -> None:
    assert (response.status_code, SECRET in response.text) == (404, False)
    assert response.json()["detail"].endswith(" not found")


# Pictures.

WIDE: Final = (640, 400)
PICTURED: Final = ARTWORK | {"preview_url": f"https://gallery.example/pictures/{STOCKED_PICTURE}.webp"}
FOREVER: Final = "public, max-age=31536000, immutable"


def upload(client: AppClient, sender: Headers, content: bytes, kind: str = "image/png") -> tuple[int, Any]:
    response = client.post("/api/pictures", content=content, headers={**sender, "content-type": kind})
    return response.status_code, response.json()


@pytest.fixture
def sender(gallery: LogoAdmin, watched: WatchedStorage) -> Headers:
    """The header of somebody who may change themes."""
    return holder(gallery, watched, 500, "themes:write")


@pytest.mark.rule("contract P1")
def test_a_picture_is_sent_and_sent_again(client: AppClient, sender: Headers) -> None:
    status, first = upload(client, sender, drawing(size=WIDE))
    assert status == 201
    assert (first["width"], first["height"]) == (640, 400)
    # The content alone determines the type.
    assert upload(client, sender, drawing(size=WIDE), "application/octet-stream") == (200, first)
    assert upload(client, sender, drawing(size=WIDE), "image/jpeg") == (200, first)


@pytest.mark.rule("contract P1", "contract A21")
@pytest.mark.parametrize(
    ("content", "kind", "status", "text"),
    [
        (bytes(MAX_PICTURE + 1), "image/png", 413, "Body should have at most 8388608 bytes"),
        (b"{}", "application/json", 415, "Body should be a picture, as image/png or application/octet-stream"),
        (b"<svg/>", "image/svg+xml", 422, "Convert SVG to PNG or WebP first"),
        (b"", "image/png", 422, "Field required"),
    ],
)
def test_another_body_is_refused(
    client: AppClient, sender: Headers, content: bytes, kind: str, status: int, text: str
) -> None:
    found, body = upload(client, sender, content, kind)
    assert found == status
    assert text in repr(body)


@pytest.mark.rule("contract P1", "contract A19")
def test_callers_without_the_right_send_no_file(app: ASGIApp, gallery: LogoAdmin, watched: WatchedStorage) -> None:
    headers = [*holder(gallery, watched, 501, "authors:write").items(), ("content-type", "image/png")]
    assert ask(app, "POST", "/api/pictures", headers=headers, body=[bytes(MAX_PICTURE), PIXEL]).status_code == 403


@pytest.mark.rule("contract P2")
def test_pictures_are_public_and_cacheable_for_a_year(client: AppClient, watched: WatchedStorage) -> None:
    response = client.get(f"/pictures/{STOCKED_PICTURE}.webp")
    assert (response.status_code, response.content[:4]) == (200, b"RIFF")
    expected = {
        "access-control-allow-origin": "*",
        "cache-control": FOREVER,
        "content-length": str(len(response.content)),
        "content-security-policy": "default-src 'none'; sandbox",
        "content-type": "image/webp",
        "cross-origin-resource-policy": "cross-origin",
        "etag": f'"{STOCKED_PICTURE}"',
        "x-content-type-options": "nosniff",
    }
    assert {name: response.headers.get(name) for name in expected} == expected
    assert not {"write", "try_write"} & {*watched.asked}
    kept = client.get(f"/pictures/{STOCKED_PICTURE}.webp", headers={"if-none-match": f'"{STOCKED_PICTURE}"'})
    assert (kept.status_code, kept.content, kept.headers["cache-control"]) == (304, b"", FOREVER)
    small = client.get(f"/pictures/{STOCKED_PICTURE}-320.webp")
    assert (small.status_code, small.headers["etag"]) == (200, f'"{STOCKED_PICTURE}-320"')
    head = client.head(f"/pictures/{STOCKED_PICTURE}.webp")
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(response.content)))


@pytest.mark.rule("contract P2")
@pytest.mark.parametrize("name", [f"{'0' * 64}.webp", f"{STOCKED_PICTURE}.png", f"{STOCKED_PICTURE}-321.webp", "x"])
def test_other_names_are_not_found(client: AppClient, name: str) -> None:
    response = client.get(f"/pictures/{name}")
    assert (response.status_code, response.headers["cache-control"]) == (404, "no-store")
    assert client.post(f"/pictures/{name}").status_code == 405


@pytest.mark.rule("contract P5")
def test_a_picture_taken_down_is_served_only_to_callers_who_may_read_users(
    client: AppClient, gallery: LogoAdmin, watched: WatchedStorage, admin: Headers
) -> None:
    blocked = gallery.logos.create(CreateLogo(**PICTURED))
    gallery.logos.block(BlockLogo(logo_id=blocked.logo_id, reason="not theirs"))
    path = f"/pictures/{STOCKED_PICTURE}.webp"
    gone = client.get(path)
    assert (gone.status_code, gone.text) == (410, '{"detail":"This picture was removed"}')
    assert gone.headers["cache-control"] == "no-store"
    reader = holder(gallery, watched, 501, "users:read")
    shown = client.get(path, headers=reader)
    assert (shown.status_code, shown.headers["cache-control"]) == (200, "no-store")
    assert client.get(path, headers={"authorization": "Bearer nonsense"}).status_code == 401
    removed = client.delete(f"/api/pictures/{STOCKED_PICTURE}", headers=admin)
    assert (removed.status_code, removed.json()) == (200, {"picture": STOCKED_PICTURE})
    assert client.get(path, headers=reader).status_code == 410
    assert client.delete(f"/api/pictures/{STOCKED_PICTURE}", headers=admin).status_code == 404


@pytest.mark.rule("contract P4", "contract E2")
def test_the_list_of_pictures_links_to_its_next_page(client: AppClient, gallery: LogoAdmin, admin: Headers) -> None:
    gallery.pictures.send(SendPicture(), drawing(9, WIDE))
    first = client.get("/api/pictures?limit=1", headers=admin)
    (listed,) = first.json()
    (other,) = client.get(first.links["next"]["url"], headers=admin).json()
    assert [listed["picture"], other["picture"]] == list(gallery.pictures.stored())


@pytest.mark.rule("contract P5", "contract L1")
def test_a_removed_picture_is_gone_from_both_addresses_at_once(gallery: LogoAdmin, admin: Headers) -> None:
    gallery.logos.create(CreateLogo(**PICTURED))
    with AppClient(logoadmin.asgi(gallery)) as client:
        folders = ("/pictures", "/gallery/pictures")
        paths = [f"{folder}/{STOCKED_PICTURE}{small}.webp" for folder in folders for small in ("", "-320")]
        while {client.get(path).status_code for path in (*paths, "/gallery/latest.json")} != {200}:
            time.sleep(0.05)
        client.delete(f"/api/pictures/{STOCKED_PICTURE}", headers=admin)
        for method in ("HEAD", "GET"):
            assert [client.request(method, path).status_code for path in paths] == [410, 410, 404, 404]
