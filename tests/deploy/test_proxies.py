"""nginx and HAProxy with the configurations of deploy/, including TLS, in front of real services."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tests.certificates import make_certificate
from tests.deploy.nginx import PASSWORD, Front, nginx, placed
from tests.deploy.services import import_gallery, under_load
from tests.mariadb import free_port, search_path
from tests.options import skip_without
from tests.services import ask, comes_true, service

pytestmark = [pytest.mark.slow("proxies and services are started and stopped"), pytest.mark.rule("contract K6")]

ROOT: Final = Path(__file__).parents[2]
# As in the comment of deploy/haproxy.cfg.
SETTINGS: Final = {
    "LOGOADMIN_ACCESS": "guarded",
    "LOGOADMIN_HOSTS": "gallery.example",
    "LOGOADMIN_TRUSTED_PROXIES": "127.0.0.1",
    "LOGOADMIN_DRAIN_SECONDS": "5",
    "LOGOADMIN_ADMIN_PASSWORD": PASSWORD,
}


class Balanced(NamedTuple):
    """HAProxy in front of two services with the same records."""

    proxy: Front
    services: "list[subprocess.Popen[str]]"


@pytest.fixture
def balanced(tmp_path: Path) -> Iterator[Balanced]:
    program = shutil.which("haproxy", path=search_path())
    if program is None:
        skip_without("HAPROXY", "haproxy is not installed")
    database = {"LOGOADMIN_DATABASE": f"sqlite:///{tmp_path / 'gallery.db'}"}
    import_gallery(tmp_path, **SETTINGS, **database)
    certificate = make_certificate(tmp_path)
    pem = tmp_path / "gallery.example.pem"
    pem.write_text(certificate.read_text() + certificate.with_suffix(".key").read_text())
    with ExitStack() as ended:
        services = []
        for number in range(2):
            log = ended.enter_context((tmp_path / f"log{number}").open("w"))
            services.append(ended.enter_context(service(tmp_path, log=log, **SETTINGS, **database)))
        places = {f"192.0.2.{21 + number}:8000": f"127.0.0.1:{each.port}" for number, each in enumerate(services)}
        https, plain = free_port(), free_port()
        places |= {"bind :443": f"bind 127.0.0.1:{https}", "bind :80": f"bind 127.0.0.1:{plain}"}
        places["/etc/haproxy/tls/gallery.example.pem"] = str(pem)
        (tmp_path / "haproxy.cfg").write_text(placed((ROOT / "deploy/haproxy.cfg").read_text("utf-8"), places))
        proxy = subprocess.Popen([program, "-db", "-f", str(tmp_path / "haproxy.cfg")], stderr=subprocess.DEVNULL)
        ended.callback(stop, proxy)
        front = Front(https, plain, certificate)
        comes_true(lambda: front.ask("GET", "/readyz").status == 200, despite=(OSError,))
        yield Balanced(front, [each.process for each in services])


def stop(process: "subprocess.Popen[Any]") -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


@pytest.mark.rule("contract K5")
def test_haproxy_alters_nothing_and_no_request_fails_when_one_of_two_services_stops(balanced: Balanced) -> None:
    front = balanced.proxy
    status, headers, _ = front.ask("GET", "/api/logos", Accept_Encoding="gzip")
    assert (status, headers["Content-Encoding"], headers["Vary"]) == (200, "gzip", "Accept-Encoding")
    assert headers["ETag"].startswith('"')
    again = front.ask("GET", "/api/logos", Accept_Encoding="gzip", If_None_Match=headers["ETag"])
    assert (again[0], again[2]) == (304, b"")
    # Headers of the largest size that the service accepts.
    assert front.ask("GET", "/api/logos?limit=1", X_Large="x" * 30_000)[0] == 200
    front.redirects_to_tls()
    front.knows_its_peer()

    def stopped() -> None:
        balanced.services[0].terminate()
        assert balanced.services[0].wait(60) == 0

    under_load(front.address, front.sign_in().split()[1], stopped)
    stop(balanced.services[1])
    status, headers, body = front.ask("GET", "/api/logos/1001")
    assert (status, json.loads(body)) == (503, {"detail": "The service is unreachable"})
    assert (headers["Content-Type"], headers["Retry-After"]) == ("application/json", "1")


# nginx in front of one service.

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
