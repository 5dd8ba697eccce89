"""nginx with the configuration of deploy/, including TLS, in front of a real service."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from gzip import decompress
from pathlib import Path
from typing import Any, Final

import pytest

from tests.deploy.nginx import Nginx, nginx
from tests.deploy.services import Answer, ask, import_gallery
from tests.services import service

pytestmark = [pytest.mark.slow("nginx and a service are started and stopped"), pytest.mark.rule("contract K6")]

ROOT: Final = Path(__file__).parents[2]
PASSWORD: Final = "correct horse battery"
MIB: Final = 2**20


@dataclass(frozen=True)
class Proxied:
    """The service, through nginx and directly."""

    direct: int
    proxy: Nginx

    def ask(self, method: str, path: str, body: Any = None, /, *, direct: bool = False, **headers: str) -> Answer:
        """Send a request to nginx with TLS, or to the service without."""
        port, trusted = (self.direct, None) if direct else (self.proxy.https, self.proxy.certificate)
        return ask(port, trusted, method, path, body, **headers)

    def sign_in(self, **headers: str) -> str:
        """Return the value of the authorization header."""
        credentials = {"username": "admin", "password": PASSWORD}
        signed_in = ask(
            self.proxy.https, self.proxy.certificate, "POST", "/gallery/api/auth/token", credentials, **headers
        )
        assert signed_in.status == 200
        return f"Bearer {json.loads(signed_in.body)['access_token']}"


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    directory = tmp_path_factory.mktemp("nginx")
    environment = {"LOGOADMIN_ADMIN_PASSWORD": PASSWORD, "LOGOADMIN_DATABASE": f"sqlite:///{directory / 'gallery.db'}"}
    import_gallery(directory, **environment)
    options = ["--access", "guarded", "--hosts", "gallery.example", "--trusted-proxies", "127.0.0.1"]
    options += ["--root-path", "/gallery"]
    with service(directory, *options, log=None, **environment) as served, nginx(directory, served.port) as proxy:
        yield Proxied(served.port, proxy)


def test_etags_pass_through_unchanged_with_and_without_compression(proxied: Proxied) -> None:
    for encoding in ("identity", "gzip"):
        through = proxied.ask("GET", "/gallery/api/logos", Accept_Encoding=encoding)
        itself = proxied.ask("GET", "/api/logos", direct=True, Accept_Encoding=encoding)
        assert (through.status, through.body) == (200, itself.body)
        for name in ("ETag", "Vary", "Cache-Control", "Content-Encoding", "Content-Type"):
            assert through.headers[name] == itself.headers[name], name
        assert through.headers["ETag"].startswith('"')
        again = proxied.ask(
            "GET", "/gallery/api/logos", Accept_Encoding=encoding, If_None_Match=through.headers["ETag"]
        )
        assert (again.status, again.body, again.headers["ETag"]) == (304, b"", through.headers["ETag"])
    assert json.loads(decompress(through.body)) == json.loads(proxied.ask("GET", "/gallery/api/logos").body)


@pytest.mark.rule("contract K4")
def test_doctor_finds_nothing_wrong_with_the_recipe(proxied: Proxied) -> None:
    told = [sys.executable, "-m", "logoadmin", "doctor", "--access", "guarded", "--hosts", "gallery.example"]
    told += ["--trusted-proxies", "127.0.0.1"]
    told += ["--root-path", "/gallery", "--port", str(proxied.direct)]
    told += ["--url", f"https://127.0.0.1:{proxied.proxy.https}/gallery"]
    directory = proxied.proxy.certificate.parent
    environment = {**os.environ, "LOGOADMIN_DATABASE": f"sqlite:///{directory / 'gallery.db'}"}
    environment["SSL_CERT_FILE"] = str(proxied.proxy.certificate)
    ended = subprocess.run(told, cwd=directory, env=environment, capture_output=True, text=True, timeout=60)
    lines = {line[9:27].strip(): line[:9].strip() for line in ended.stdout.splitlines()}
    assert (ended.returncode, ended.stderr) == (0, "")
    assert [lines[check] for check in ("port", "url", "gallery")] == ["ok"] * 3


def test_requests_without_tls_are_redirected(proxied: Proxied) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", proxied.proxy.plain, timeout=10)) as connection:
        connection.request("GET", "/gallery/api/logos?limit=1", headers={"Host": "gallery.example"})
        answer = connection.getresponse()
        assert (answer.status, answer.headers["Location"]) == (308, "https://gallery.example/gallery/api/logos?limit=1")
    assert proxied.ask("GET", "/gallery/livez").headers["Strict-Transport-Security"] == "max-age=31536000"


def test_nginx_accepts_the_largest_body_of_the_service(proxied: Proxied) -> None:
    bearer = proxied.sign_in()
    theme: dict[str, Any] = {
        "kind": "theme",
        "name": "t",
        "preview_url": "https://example.org/t.png",
        "target": "forum",
    }
    theme |= {"custom_css": "a { color: red } " * 6000, "active": False, "author_ids": []}
    lines = "".join(json.dumps({**theme, "theme_id": 5000 + n, "name": f"t{n}"}) + "\n" for n in range(100))
    assert len(lines) > 9 * MIB  # more than the configuration allows elsewhere
    imported = proxied.ask(
        "POST", "/gallery/api/import?dry_run=true", lines, Authorization=bearer, Content_Type="application/jsonl"
    )
    assert imported.status == 200, imported.body
    assert json.loads(imported.body)["theme"] == {"created": 100, "amended": 0, "unchanged": 0}
    refused = proxied.ask(
        "POST", "/gallery/api/logos", b" " * (9 * MIB), Authorization=bearer, Content_Type="application/json"
    )
    assert (refused.status, json.loads(refused.body)) == (413, {"detail": "The body is too large"})


def test_the_client_is_the_peer_of_nginx_regardless_of_its_headers(proxied: Proxied) -> None:
    """The address of a session is that of the connection."""
    bearer = proxied.sign_in(X_Forwarded_For="192.0.2.7")
    sessions = proxied.ask("GET", "/gallery/api/auth/sessions", Authorization=bearer).body.decode()
    assert "192.0.2.7" not in sessions
    assert "127.0.0.1" in sessions
