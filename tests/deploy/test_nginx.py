"""nginx with the configuration of deploy/, including TLS, in front of a real service."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tests.deploy.nginx import PASSWORD, Front, nginx
from tests.deploy.services import import_gallery
from tests.services import ask, service

pytestmark = [pytest.mark.slow("nginx and a service are started and stopped"), pytest.mark.rule("contract K6")]

ROOT: Final = Path(__file__).parents[2]
OPTIONS: Final = (
    *("--access", "guarded", "--hosts", "gallery.example", "--trusted-proxies", "127.0.0.1"),
    *("--root-path", "/gallery"),
)
MIB: Final = 2**20


class Proxied(NamedTuple):
    """The service's own port, and nginx in front of it."""

    direct: int
    proxy: Front


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    directory = tmp_path_factory.mktemp("nginx")
    environment = {"LOGOADMIN_ADMIN_PASSWORD": PASSWORD, "LOGOADMIN_DATABASE": f"sqlite:///{directory / 'gallery.db'}"}
    import_gallery(directory, **environment)
    with service(directory, *OPTIONS, log=None, **environment) as served, nginx(directory, served.port) as proxy:
        yield Proxied(served.port, proxy)


def test_etags_pass_through_unchanged_with_and_without_compression(proxied: Proxied) -> None:
    for encoding in ("identity", "gzip"):
        through = proxied.proxy.ask("GET", "/api/logos", Accept_Encoding=encoding)
        itself = ask(proxied.direct, None, "GET", "/api/logos", Accept_Encoding=encoding)
        assert (through.status, through.body) == (200, itself.body)
        for name in ("ETag", "Vary", "Cache-Control", "Content-Encoding", "Content-Type"):
            assert through.headers[name] == itself.headers[name], name
        tag = through.headers["ETag"]
        again = proxied.proxy.ask("GET", "/api/logos", Accept_Encoding=encoding, If_None_Match=tag)
        assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tag)


@pytest.mark.rule("contract K4")
def test_doctor_finds_nothing_wrong_with_the_recipe(proxied: Proxied) -> None:
    told = [sys.executable, "-m", "logoadmin", "doctor", *OPTIONS, "--port", str(proxied.direct)]
    told += ["--url", f"https://127.0.0.1:{proxied.proxy.https}/gallery"]
    directory = proxied.proxy.certificate.parent
    environment = {**os.environ, "LOGOADMIN_DATABASE": f"sqlite:///{directory / 'gallery.db'}"}
    environment["SSL_CERT_FILE"] = str(proxied.proxy.certificate)
    ended = subprocess.run(told, cwd=directory, env=environment, capture_output=True, text=True, timeout=60)
    lines = {line[9:27].strip(): line[:9].strip() for line in ended.stdout.splitlines()}
    assert (ended.returncode, ended.stderr) == (0, "")
    assert [lines[check] for check in ("port", "url", "gallery")] == ["ok"] * 3


def test_requests_without_tls_are_redirected_and_the_client_is_the_peer(proxied: Proxied) -> None:
    proxied.proxy.redirects_to_tls()
    proxied.proxy.knows_its_peer()


def test_nginx_accepts_the_largest_body_of_the_service(proxied: Proxied) -> None:
    theme: dict[str, Any] = {"kind": "theme", "name": "t", "preview_url": "https://example.org/t.png"}
    theme |= {"target": "forum", "custom_css": "a { color: red } " * 6000, "active": False, "author_ids": []}
    lines = "".join(json.dumps({**theme, "theme_id": 5000 + n, "name": f"t{n}"}) + "\n" for n in range(100))
    assert len(lines) > 9 * MIB  # more than the configuration allows elsewhere
    sent = partial(proxied.proxy.ask, "POST", Authorization=proxied.proxy.sign_in())
    imported = sent("/api/import?dry_run=true", lines, Content_Type="application/jsonl")
    assert imported.status == 200, imported.body
    assert json.loads(imported.body)["theme"] == {"created": 100, "amended": 0, "unchanged": 0}
    refused = sent("/api/logos", b" " * (9 * MIB), Content_Type="application/json")
    assert (refused.status, json.loads(refused.body)) == (413, {"detail": "The body is too large"})
