"""Pictures over HTTP: receiving and serving them (contract P1, P2, P5)."""

import io
import time
from typing import Final

import pytest
from PIL import Image

import logoadmin
from logoadmin.domain.gallery.artworks import BlockLogo, CreateLogo
from logoadmin.domain.gallery.picture_commands import SendPicture
from logoadmin.domain.identity.roles import CreateRole
from logoadmin.domain.identity.sessions import SignIn
from logoadmin.domain.identity.users import AmendUser, CreateUser
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.published_files import PublishedFile
from tests.asgi import AppClient
from tests.gallery import ARTWORK, PIXEL, STOCKED_PICTURE, WatchedStorage

FOREVER: Final = "public, max-age=31536000, immutable"


def png(shade: int = 7) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (640, 400), (shade, 0, 0)).save(file, "PNG")
    return file.getvalue()


def send(client: AppClient, token: str, content: bytes, kind: str = "image/png", query: str = "") -> tuple[int, object]:
    headers = {"authorization": f"Bearer {token}", "content-type": kind}
    response = client.post(f"/api/pictures{query}", content=content, headers=headers)
    return response.status_code, response.json()


def token_for(gallery: LogoAdmin, scope: str, user_id: int = 500) -> str:
    """Return the access token of a new user whose role has a scope."""
    role = gallery.roles.create(CreateRole(name=f"role of {user_id}", scope=(scope,)))
    name, password = f"user {user_id}", "correct horse battery"
    user = CreateUser(user_id=user_id, username=name, password=password)
    gallery.users.create(user)
    gallery.users.amend(AmendUser(user_id=user_id, role_id=role.role_id))
    return gallery.sessions.sign_in(SignIn(username=name, password=password)).access_token


@pytest.fixture
def token(gallery: LogoAdmin) -> str:
    return token_for(gallery, "themes:write")


@pytest.mark.rule("contract P1")
def test_a_picture_is_sent_and_sent_again(client: AppClient, token: str) -> None:
    status, first = send(client, token, png())
    assert status == 201
    assert isinstance(first, dict)
    assert [*first] == ["picture", "url", "thumbnail_url", "width", "height", "frames", "size", "ground"]
    assert (first["width"], first["height"]) == (640, 400)
    # The content alone determines the type.
    assert send(client, token, png(), "application/octet-stream") == (200, first)
    assert send(client, token, png(), "image/jpeg") == (200, first)


@pytest.mark.rule("contract P1", "contract A21")
@pytest.mark.parametrize(
    ("content", "kind", "status", "text"),
    [
        (bytes(8 * 1024 * 1024 + 1), "image/png", 413, "Body should have at most 8388608 bytes"),
        (b"{}", "application/json", 415, "Body should be a picture, as image/png or application/octet-stream"),
        (b"<svg/>", "image/svg+xml", 422, "Convert SVG to PNG or WebP first"),
        (b"", "image/png", 422, "Field required"),
    ],
)
def test_another_body_is_refused(
    client: AppClient, token: str, content: bytes, kind: str, status: int, text: str
) -> None:
    found, body = send(client, token, content, kind)
    assert found == status
    assert text in repr(body)


@pytest.mark.rule("contract P1", "contract A19")
def test_callers_without_the_right_are_refused_before_they_send_the_file(client: AppClient, gallery: LogoAdmin) -> None:
    poor = token_for(gallery, "authors:write", user_id=501)
    assert send(client, poor, b"") == (403, {"detail": "Not enough permissions"})
    assert client.post("/api/pictures", content=PIXEL).status_code == 403


@pytest.mark.rule("contract P3")
def test_a_problem_with_the_address_is_placed_in_the_query(client: AppClient, token: str) -> None:
    status, body = send(client, token, b"", query="?from=https://img.example/a.png")
    assert (status, body["detail"][0]["loc"]) == (422, ["query", "from"])  # type: ignore[index]  # it is an object
    status, body = send(client, token, b"", query="?from=ftp://img.example/a.png")
    assert (status, body["detail"][0]["loc"]) == (422, ["query", "from"])  # type: ignore[index]  # it is an object
    assert send(client, token, b"", query="?source=https://img.example/a.png")[0] == 422


@pytest.mark.rule("contract P2")
def test_pictures_are_public_and_cacheable_for_a_year(client: AppClient, watched: WatchedStorage) -> None:
    watched.asked.clear()
    response = client.get(f"/pictures/{STOCKED_PICTURE}.webp")
    assert response.status_code == 200
    assert response.content.startswith(b"RIFF")
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
    client: AppClient, gallery: LogoAdmin
) -> None:
    url = f"https://gallery.example/pictures/{STOCKED_PICTURE}.webp"
    blocked = gallery.logos.create(CreateLogo(**{**ARTWORK, "preview_url": url}))
    gallery.logos.block(BlockLogo(logo_id=blocked.logo_id, reason="not theirs"))
    path = f"/pictures/{STOCKED_PICTURE}.webp"
    gone = client.get(path)
    assert (gone.status_code, gone.json()) == (410, {"detail": "This picture was removed"})
    assert gone.headers["cache-control"] == "no-store"
    reader = {"authorization": f"Bearer {token_for(gallery, 'users:read', user_id=501)}"}
    shown = client.get(path, headers=reader)
    assert (shown.status_code, shown.headers["cache-control"]) == (200, "no-store")
    assert client.get(path, headers={"authorization": "Bearer nonsense"}).status_code == 401
    boss = {"authorization": f"Bearer {token_for(gallery, '*', user_id=502)}"}
    removed = client.delete(f"/api/pictures/{STOCKED_PICTURE}", headers=boss)
    assert (removed.status_code, removed.json()) == (200, {"picture": STOCKED_PICTURE})
    assert client.get(path, headers=reader).status_code == 410
    assert client.delete(f"/api/pictures/{STOCKED_PICTURE}", headers=boss).status_code == 404


@pytest.mark.rule("contract P4", "contract E2")
def test_the_list_of_pictures_links_to_its_next_page(client: AppClient, gallery: LogoAdmin) -> None:
    reader = {"authorization": f"Bearer {token_for(gallery, 'users:read', user_id=503)}"}
    gallery.pictures.send(SendPicture(), png(9))
    first = client.get("/api/pictures?limit=1", headers=reader)
    (listed,) = first.json()
    path = first.headers["link"].partition(">")[0].removeprefix("<")
    (other,) = client.get(path, headers=reader).json()
    assert [listed["picture"], other["picture"]] == list(gallery.pictures.stored())
    assert client.get("/api/pictures?after=7", headers=reader).status_code == 422


@pytest.mark.rule("contract P5", "contract L1")
def test_a_removed_picture_is_gone_from_both_addresses_at_once(gallery: LogoAdmin) -> None:
    url = f"https://gallery.example/pictures/{STOCKED_PICTURE}.webp"
    gallery.logos.create(CreateLogo(**{**ARTWORK, "preview_url": url}))
    boss = {"authorization": f"Bearer {token_for(gallery, '*', user_id=502)}"}
    with AppClient(logoadmin.asgi(gallery)) as client:
        paths = [
            f"{of}/{STOCKED_PICTURE}{small}.webp" for of in ("/pictures", "/gallery/pictures") for small in ("", "-320")
        ]
        while {client.get(path).status_code for path in (*paths, "/gallery/latest.json")} != {200}:
            time.sleep(0.05)
        client.delete(f"/api/pictures/{STOCKED_PICTURE}", headers=boss)
        for method in ("HEAD", "GET"):
            assert [client.request(method, path).status_code for path in paths] == [410, 410, 404, 404]


@pytest.mark.rule("contract P2", "contract L2")
def test_the_published_gallery_has_copies() -> None:
    content = b"RIFF" + bytes(5000)
    file = PublishedFile(f"pictures/{STOCKED_PICTURE}.webp", content)
    fields = {name.decode(): value.decode() for name, value in file.fields}
    assert fields["content-type"] == "image/webp"
    assert fields["cache-control"] == FOREVER
    assert fields["cross-origin-resource-policy"] == "cross-origin"
    assert fields["content-security-policy"] == "default-src 'none'; sandbox"
    assert file.size == len(content)
