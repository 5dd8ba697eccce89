"""Import and export over HTTP, and their temporary files (contract H4, I4)."""

import io
import json
import re
from contextlib import closing
from itertools import count, groupby
from typing import Any

import pytest
from starlette.types import ASGIApp

from logoadmin.domain.changes.import_export import ExportRecords
from logoadmin.domain.kernel.command import MAX_JSON
from logoadmin.domain.kernel.kinds import KINDS
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api import bodies
from logoadmin.entrypoints.http_api.bodies import TemporaryFiles
from logoadmin.entrypoints.http_api.http_error import HttpError
from logoadmin.entrypoints.http_api.operation import MAX_UPLOAD
from tests.asgi import AppClient, ask
from tests.entrypoints.conftest import Headers
from tests.entrypoints.test_operations import types_of
from tests.gallery import ARTWORK, CHEAP_PASSWORDS, WatchedStorage

pytestmark = pytest.mark.rule("contract I4")

AUTHOR = {"kind": "author", "author_id": 9, "user_id": 109, "username": "Ida"}
LOGO = {"kind": "logo", "logo_id": 9, **ARTWORK, "author_ids": [9, 1]}
MADE = {"created": 1, "amended": 0, "unchanged": 0}


def written(*lines: object) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def load(client: AppClient, headers: Headers, *lines: object, media_type: str = "application/jsonl") -> Any:
    sent = {**headers, "content-type": media_type}
    return client.post("/api/import", content=written(*lines), headers=sent)


@pytest.mark.rule("contract A5", "contract I2")
def test_every_bad_line_is_named_with_its_number_and_nothing_is_written(client: AppClient, admin: Headers) -> None:
    long = {**AUTHOR, "username": "x" * 65, "surplus": "a secret"}
    answer = load(client, admin, AUTHOR, long, {**LOGO, "author_ids": [77]}, "text", {**AUTHOR, "kind": "x"})
    of_line_2 = [(["line", 2, "username"], "string_too_long"), (["line", 2, "surplus"], "extra_forbidden")]
    others = {("line", 3, "author_ids"): "value_error", ("line", 4): "dict_type", ("line", 5, "kind"): "literal_error"}
    assert types_of(answer) == [*of_line_2, *(([*loc], type_) for loc, type_ in others.items())]
    assert "a secret" not in answer.text
    assert client.get("/api/authors/9").status_code == 404


def test_password_hashes_are_not_imported_over_http(client: AppClient, admin: Headers) -> None:
    user = {"kind": "user", "user_id": 9, "username": "ida", "avatar": None, "role_id": 1}
    stored = CHEAP_PASSWORDS.hash("whatever").hash
    answer = load(client, admin, {**user, "password_hash": stored})
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["line", 1, "password_hash"])
    assert stored not in answer.text
    assert load(client, admin, user).json()["user"] == MADE


@pytest.mark.rule("contract A19")
def test_callers_who_may_import_nothing_are_refused_before_the_lines_are_read(
    client: AppClient, watched: WatchedStorage, ann: Headers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "TemporaryFile", None)
    watched.asked.clear()
    assert load(client, {}, AUTHOR).status_code == 403
    assert load(client, {"authorization": "Bearer x"}, AUTHOR).status_code == 401
    assert watched.asked == []
    assert load(client, ann, AUTHOR).status_code == 403


@pytest.mark.rule("contract A21")
def test_another_type_is_refused_by_its_headers(client: AppClient, watched: WatchedStorage, admin: Headers) -> None:
    for media_type in ("application/json", "text/plain", "application/x-www-form-urlencoded", ""):
        answer = load(client, admin, AUTHOR, media_type=media_type)
        expected = {"detail": "Body should be application/jsonl or application/x-ndjson or text/csv"}
        assert (answer.status_code, answer.json()) == (415, expected)
    packed = load(client, {**admin, "content-encoding": "gzip"}, AUTHOR)
    assert (packed.status_code, packed.json()) == (415, {"detail": "Body should not be compressed"})
    for length in ("67108865", "9" * 5000, "-1", "x"):
        headers = {**admin, "content-type": "application/jsonl", "content-length": length}
        assert ask(client.app, "POST", "/api/import", headers=headers.items()).status_code == 413
    assert watched.asked == []


@pytest.mark.rule("contract A21")
@pytest.mark.parametrize(("limit", "unit"), [("MAX_UPLOAD", "bytes"), ("_MAX_LINES", "lines")])
def test_bytes_or_lines_beyond_the_limit_are_refused_on_arrival(
    app: ASGIApp, admin: Headers, monkeypatch: pytest.MonkeyPatch, limit: str, unit: str
) -> None:
    assert MAX_UPLOAD == 64 * 1024 * 1024
    monkeypatch.setattr(bodies, limit, 1000)
    headers = [*admin.items(), ("content-type", "application/jsonl")]
    answer = ask(app, "POST", "/api/import", headers=headers, body=[b"\n" * 600, b"\n" * 401, b"never read"])
    assert (answer.status_code, answer.json()) == (413, {"detail": f"Body should have at most 1000 {unit}"})
    assert ask(app, "POST", "/api/import", headers=headers, body=[b"\n" * 600, b"\n" * 400]).status_code == 200


# Export.


@pytest.mark.rule("contract I1")
def test_an_export_has_the_lines_of_the_command_line(client: AppClient, gallery: LogoAdmin, admin: Headers) -> None:
    lines: list[str] = []
    gallery.import_export.dump(ExportRecords(), lines.append)
    answer = client.get("/api/export", headers=admin)
    assert (answer.status_code, answer.content) == (200, "".join(lines).encode())
    names = ("content-type", "content-disposition", "cache-control", "content-length")
    expected = ["application/jsonl", 'attachment; filename="gallery.jsonl"', "no-store", str(len(answer.content))]
    assert [answer.headers[name] for name in names] == expected
    assert not re.search("password|argon2", answer.text)


def test_kinds_are_selected_without_repetition(client: AppClient, admin: Headers) -> None:
    for query, kinds in (
        ("kind=logo", ["logo"]),
        ("kind=logo&kind=author&kind=logo", ["author", "logo"]),
        ("&".join(f"kind={kind}" for kind in KINDS), list(KINDS)),
        ("", list(KINDS)),
    ):
        lines = client.get(f"/api/export?{query}", headers=admin).text.splitlines()
        assert [kind for kind, _ in groupby(json.loads(line)["kind"] for line in lines)] == kinds
    for query, loc in (
        ("kind=logo&kind=x", ["query", "kind", 1]),
        ("kind=", ["query", "kind", 0]),
        ("with_password_hashes=true", ["query", "with_password_hashes"]),
    ):
        answer = client.get(f"/api/export?{query}", headers=admin)
        assert (answer.status_code, [each["loc"] for each in answer.json()["detail"]]) == (422, [loc])


@pytest.mark.rule("contract A19", "contract B3", "contract H4")
def test_an_export_requires_a_token_with_the_scopes_to_read_its_content(
    client: AppClient, watched: WatchedStorage, admin: Headers, ann: Headers, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without:
        without.setattr(bodies, "TemporaryFile", None)  # they do not use up the limit (contract H4)
        assert client.get("/api/export", headers=ann).status_code == 403
    watched.asked.clear()
    assert client.get("/api/export?kind=logo").status_code == 403
    assert client.get("/api/export?kind=logo", headers={"authorization": "Bearer x"}).status_code == 401
    assert watched.asked == []
    assert client.get("/api/export?kind=logo&kind=theme&kind=author", headers=ann).status_code == 200
    for scope, kinds in ([], []), (["users:read"], ["user"]), (["users:read", "roles:read"], ["user", "role"]):
        client.patch("/api/roles/1", json={"scope": scope}, headers=admin)
        for kind in ("user", "role"):
            answer = client.get(f"/api/export?kind=logo&kind={kind}", headers=ann)
            assert answer.status_code == (200 if kind in kinds else 403)
        assert client.get("/api/export", headers=ann).status_code == (200 if len(kinds) == 2 else 403)


@pytest.mark.rule("contract A20")
def test_a_database_failure_midway_is_a_503_and_not_half_a_file(
    client: AppClient, admin: Headers, monkeypatch: pytest.MonkeyPatch, watched: WatchedStorage
) -> None:
    written = count()
    write_line = bodies.TemporaryFile.write_line

    def fail_later(file: bodies.TemporaryFile, line: str) -> None:
        if next(written) == 3:
            raise watched.timed_out(writing=False)
        write_line(file, line)

    monkeypatch.setattr(bodies.TemporaryFile, "write_line", fail_later)
    answer = client.get("/api/export", headers=admin)
    assert (answer.status_code, list(answer.json())) == (503, ["detail"])
    for _ in range(3):  # more than one user may have at once
        assert client.get("/api/export", headers=admin).status_code == 200


@pytest.mark.parametrize("query", ["kind=author&charset=cp1251", "kind=author"])
def test_csv_has_its_kind_and_encoding_in_the_request(client: AppClient, admin: Headers, query: str) -> None:
    def send(content: bytes, query: str, media_type: str) -> Any:
        return client.post(f"/api/import?{query}", content=content, headers={**admin, "content-type": media_type})

    content = "username;user_id\r\nЁжик;501\r\nёж;x\r\n".encode("cp1251")
    bad = send(content, query, "text/csv; charset=windows-1251")
    assert [problem["loc"] for problem in bad.json()["detail"]] == [["line", 3, "user_id"]]
    assert send(content[:28], query, "text/csv; charset=windows-1251").json()["author"] == MADE
    assert send(content, "", "text/csv").json()["detail"][0]["loc"] == ["query", "kind"]
    assert send(content, "kind=user", "text/csv").status_code == 422
    assert send(content, "kind=author&charset=none", "text/csv").json()["detail"][0]["loc"] == ["query", "charset"]
    assert send(b"", "kind=author", "application/jsonl").status_code == 415


# Temporary files: a few for each user.


@pytest.mark.rule("contract H4")
def test_at_most_eight_files_and_two_per_user_are_open() -> None:
    imports = TemporaryFiles("imports")
    opened = [imports.open(number // 2) for number in range(8)]
    with pytest.raises(HttpError, match="Too many concurrent imports; try again later"):
        imports.open(4)
    opened[0].close()
    opened[0].close()  # a second call has no effect
    with closing(imports.open(0)), pytest.raises(HttpError, match="Too many of your imports") as caught:
        imports.open(1)
    assert (caught.value.status, caught.value.headers) == (429, {"retry-after": "1"})
    opened[0] = imports.open(0)
    for file in opened:
        file.close()


@pytest.mark.rule("contract A21", "contract I2")
def test_only_the_beginning_of_an_overlong_line_is_read() -> None:
    most = MAX_JSON + 1
    with closing(TemporaryFiles("imports").open(1)) as file:
        file.write(b"x" * (most * 7 // 2) + b"\n" + b"y" * (most - 1) + b"\n" + b"z" * most + b"\nlast")
        for _ in range(2):
            assert list(file) == [b"x" * most, b"y" * (most - 1) + b"\n", b"z" * most, b"last"]


def test_written_data_is_read_back_from_disk_and_from_memory() -> None:
    with closing(TemporaryFiles("exports").open(1)) as file:
        lines = [f"{number:08} é{'x' * 10_000}\n" for number in range(200)]
        for line in lines:
            file.write_line(line)
        content = b"".join(file.chunks(65_536))
        assert (content, len(content)) == ("".join(lines).encode(), file.size)


@pytest.mark.rule("contract A20")
def test_a_full_disk_is_a_503(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.BytesIO):
        def write(self, _: Any) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(bodies, "SpooledTemporaryFile", lambda _: Full())
    full = pytest.raises(HttpError, match="Too many concurrent exports")
    with closing(TemporaryFiles("exports").open(1)) as file, full:
        file.write_line("line")
