"""Versions over HTTP: entity tags, conditions, and public responses that are never stale (contract E1, F1, F2)."""

import itertools
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final, cast

import pytest

from logoadmin.domain.kernel.access import PUBLIC
from logoadmin.domain.kernel.errors import Conflict, NotFound, Outdated
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.app import http_application
from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.entrypoints.http_api.operations import OPERATIONS
from tests.asgi import AppClient, ask, clients_of
from tests.entrypoints.conftest import Headers, bearer
from tests.gallery import ADMIN_PASSWORD, ARTWORK, ASKED
from tests.gallery import ask as perform
from tests.sample_requests import SAMPLES, Sample

pytestmark = pytest.mark.rule("contract F1", "contract F2")

STRONG: Final = re.compile(r'"(\d+)(-gzip)?"')

PUBLIC_LISTS: Final = ("/api/authors", "/api/logos", "/api/themes", "/api/authors/1/logos", "/api/authors/1/themes")

READS: Final = [row for row in SAMPLES if row.method == "GET" and row.is_versioned]
OF_LOGOS: Final = [row for row in SAMPLES if row.template.startswith("/api/logos/")]
CONDITIONAL: Final = [row for row in OF_LOGOS if row.method in ("PATCH", "DELETE")]


def tag(client: AppClient, path: str, headers: Headers | None = None) -> int:
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200, answer.text
    return int(version_in(answer.headers["etag"]))


def version_in(etag: str) -> str:
    """Return the version in a strong entity tag, of a response in gzip or not."""
    found = STRONG.fullmatch(etag)
    assert found is not None
    return found[1]


def several(name: str, values: Iterable[str], headers: Headers | None = None) -> list[tuple[bytes, bytes]]:
    sent = [*(headers or {}).items(), *((name, value) for value in values)]
    return [(name.encode(), value.encode("latin-1")) for name, value in sent]


# Reading on a condition.

# Values of If-None-Match for a response with some tag and number: current copies, and others.
CURRENT: Final = [["{tag}"], ["W/{tag}"], ["*"], ['"x", {tag}'], ['"x"', "{tag}"], [' , "a",,W/"b" , {tag},']]
OTHERS: Final = (
    *(['"{before}", "{after}"'], ['"0"'], ['""'], ['"0{number}"'], ['"-{number}"'], ['"{number} "'], ["{number}"]),
    *(['"{number}'], ["w/{tag}"], ["{tag} {tag}"], ["{tag}, rubbish"], ["*, {tag}"], ["**"], [""], [","]),
    *(['"' + "9" * 5000 + '"'], ['"\xb2"']),
)


def test_a_read_is_a_304_for_a_current_copy_and_complete_for_any_other(client: AppClient, admin: Headers) -> None:
    client.patch("/api/settings", json={"picture_hosts": ["i.example"]}, headers=admin)  # before, their version is 0
    for row in READS:
        answer = client.get(row.path, headers=admin)
        etag = answer.headers["etag"]
        number = int(version_in(etag))
        names = {"tag": etag, "number": number, "before": number - 1, "after": number + 1}
        for sent in (*CURRENT, *OTHERS):
            headers = several("if-none-match", [value.format(**names) for value in sent], admin)
            again = client.get(row.path, headers=headers)
            if sent not in CURRENT:
                assert (again.status_code, again.content) == (200, answer.content), (str(row), sent)
                assert again.headers["etag"] == etag
                continue
            for unchanged in (again, client.head(row.path, headers=headers)):
                assert (unchanged.status_code, unchanged.content) == (304, b""), (str(row), sent)
                assert unchanged.headers["etag"] in {etag, etag.replace("-gzip", "") if sent == ["*"] else etag}
                assert unchanged.headers["cache-control"] == answer.headers["cache-control"]
                assert "content-type" not in unchanged.headers


def test_a_conditional_read_of_a_missing_record_is_a_404(client: AppClient, admin: Headers) -> None:
    lists = ("/api/authors/99/logos", "/api/authors/99/themes", "/api/logos/99/authors")
    for path in ("/api/authors/99", "/api/logos/99", "/api/themes/99", "/api/users/99", *lists):
        for sent in ("*", '"1"', "rubbish", client.get("/api/logos").headers["etag"]):
            assert client.get(path, headers={**admin, "if-none-match": sent}).status_code == 404
    assert client.get("/api/roles/3", headers={"if-none-match": "*"}).status_code == 403


# Changing on a condition.


@pytest.mark.parametrize("row", CONDITIONAL, ids=str)
def test_a_change_is_made_only_in_the_expected_version(client: AppClient, admin: Headers, row: Sample) -> None:
    """The domain tries every command (contract F1)."""
    record = "/api/logos/1"
    version = tag(client, record)
    for other in (version - 1, version + 1):
        answer = row.send(client, {**admin, "if-match": f'"{other}"'})
        assert (answer.status_code, "was changed since" in answer.json()["detail"]) == (412, True)
        assert answer.headers["cache-control"] == "no-store"
    assert row.send(client, {**admin, "if-match": "*"}, row.path.replace("1", "99", 1)).status_code == 404
    assert tag(client, record) == version
    assert row.send(client, {**admin, "if-match": f'"{version}"'}).status_code == row.status


@pytest.mark.parametrize(
    ("status", "sent"),
    [
        *((200, sent) for sent in (["*"], ['"x", "{}"'], ['"x"', '"{}"'], ['  "{}",'], ['W/"1","{}"'])),
        *((412, sent) for sent in (['W/"{}"'], ['"x", W/"{}", "0"'], ["{}"], ['"{}'], ['"{}" rubbish'], [""])),
        *((412, sent) for sent in (['"{}"', "rubbish"], ["rubbish"], ["*, *"])),
    ],
)
def test_a_change_takes_a_list_of_tags_or_star(client: AppClient, admin: Headers, status: int, sent: list[str]) -> None:
    version = tag(client, "/api/logos/1")
    values = [value.replace("{}", str(version)) for value in sent]
    answer = client.patch("/api/logos/1", json={"name": "new"}, headers=several("if-match", values, admin))
    assert answer.status_code == status
    assert (tag(client, "/api/logos/1") == version) == (status == 412)


@pytest.mark.parametrize("path", ["/api/auth/keys/1", "/api/auth/sessions/spare", "/api/users/7/sessions/theirs"])
def test_keys_and_sessions_have_no_etag(client: AppClient, admin: Headers, path: str) -> None:
    for sent, status in (('"1"', 412), ("rubbish", 412), ("*", 200), ("*", 404)):
        answer = client.delete(path, headers={**admin, "if-match": sent})
        assert answer.status_code == status


@pytest.mark.rule("contract F1", "contract O9")
def test_events_have_no_etag_and_raise_no_version(client: AppClient, admin: Headers) -> None:
    events, users = "/api/auth/events", client.get("/api/users", headers=admin).headers["etag"]
    listed = client.get(events, headers={**admin, "if-none-match": "*"})
    assert (listed.status_code, "etag" in listed.headers) == (200, False)
    client.post("/api/auth/token", json={"username": "ann", "password": "wrong"})
    assert client.get("/api/users", headers={**admin, "if-none-match": users}).status_code == 304
    assert len(client.get(events, headers=admin).json()) == len(listed.json()) + 1


def test_if_match_is_ignored_by_reads_and_creations(client: AppClient, admin: Headers) -> None:
    old = {**admin, "if-match": '"0"'}
    assert client.get("/api/logos/1", headers=old).status_code == 200
    assert client.post("/api/logos", json=ARTWORK, headers=old).status_code == 201


# Responses from the response cache.


@pytest.mark.rule("contract E1")
async def test_a_cached_response_is_never_stale(workers: tuple[LogoAdmin, LogoAdmin]) -> None:
    async with clients_of(*workers) as (here, there):
        admin = bearer(workers[0], "admin", ADMIN_PASSWORD)
        lists = (*PUBLIC_LISTS, "/api/logos?q=aur", "/api/logos?limit=1", "/api/themes?active=true&after=0")
        paths = (*lists, "/api/authors/1", "/api/logos/1", "/api/themes/1", "/api/logos/1/authors")
        for number in range(2):
            for path in paths:  # all of them cached, in both
                for client in (here, there):
                    assert (await client.get(path)).status_code == 200
            changed = await there.patch("/api/authors/1", json={"username": f"Ann {number}"})
            artwork = {"name": f"aurora {number}"}
            assert (await there.patch("/api/logos/1", json=artwork, headers=admin)).status_code == 200
            assert (await there.patch("/api/themes/1", json=artwork, headers=admin)).status_code == 200
            for path in paths:
                one, other = await here.get(path), await there.get(path)
                assert (one.content, one.headers["etag"]) == (other.content, other.headers["etag"])
                (shown,) = one.json()[:1] if isinstance(one.json(), list) else [one.json()]
                assert shown.get("authors", [shown])[0] == changed.json()
                if "authors" in shown:
                    assert shown["name"] == f"aurora {number}"


# Public responses are always current, even those that are not a record.

PUBLIC_READS = [row for row in OPERATIONS if row.method == "GET" and row.permission == PUBLIC]
# Removals go last, links before the records they join. Many changes at once go first: they name versions.
CHANGES = sorted(
    (each for each in OPERATIONS if each.method != "GET" and not each.path.startswith("/api/auth/")),
    key=lambda operation: (operation.method == "DELETE", operation.service != "bulk", -operation.path.count("/")),
)


class Forgetful:
    """A gallery in which everything seems to have changed."""

    def __init__(self, gallery: LogoAdmin) -> None:
        self._gallery = gallery
        self._versions = itertools.count()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gallery, name)

    def data_version(self) -> int:
        return next(self._versions)


def changed(gallery: LogoAdmin) -> Iterator[str]:
    """Make every possible change, one after the other, and yield it."""
    for operation in CHANGES:
        with suppress(NotFound, Conflict, Outdated):  # removed or changed a moment ago, by another path
            perform(gallery, operation.command(**ASKED[operation.command][1]))
            yield operation.name


@pytest.mark.rule("contract E1")
@pytest.mark.parametrize("read", PUBLIC_READS, ids=lambda operation: operation.name)
def test_a_public_response_is_never_stale(gallery: LogoAdmin, read: Operation) -> None:
    application, forgetful = http_application(gallery), http_application(cast(LogoAdmin, Forgetful(gallery)))
    path = read.path.format(**ASKED[read.command][1])
    for what in changed(gallery):
        answered = ask(application, "GET", path)
        uncached = ask(forgetful, "GET", path)
        assert (answered.status_code, answered.body) == (uncached.status_code, uncached.body), what
        assert answered.header("etag") == uncached.header("etag"), what
