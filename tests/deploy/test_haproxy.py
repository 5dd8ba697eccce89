"""HAProxy with the configuration of deploy/, including TLS, in front of two services; one is stopped under load."""

import http.client
import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.certificates import make_certificate
from tests.deploy.load import Load
from tests.deploy.services import Answer, ask, import_gallery
from tests.mariadb import free_port, search_path
from tests.options import skip_without
from tests.services import comes_true, service

pytestmark = [
    pytest.mark.slow("HAProxy and two services are started and stopped"),
    pytest.mark.rule("contract K5", "contract K6"),
]

ROOT: Final = Path(__file__).parents[2]
RECIPE: Final = ROOT / "deploy" / "haproxy.cfg"
PASSWORD: Final = "correct horse battery"
# As in the comment of deploy/haproxy.cfg.
SETTINGS: Final = {
    "LOGOADMIN_ACCESS": "guarded",
    "LOGOADMIN_HOSTS": "gallery.example",
    "LOGOADMIN_TRUSTED_PROXIES": "127.0.0.1",
    "LOGOADMIN_DRAIN_SECONDS": "5",
    "LOGOADMIN_ADMIN_PASSWORD": PASSWORD,
}


@dataclass(frozen=True)
class Proxied:
    """Two services with the same records behind HAProxy."""

    https: int
    plain: int
    certificate: Path
    services: "list[subprocess.Popen[str]]"

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        return ask(self.https, self.certificate, method, path, body, **headers)

    def token(self) -> str:
        body = {"username": "admin", "password": PASSWORD}
        status, _, answer = self.ask("POST", "/api/auth/token", body)
        assert status == 200, answer
        return str(json.loads(answer)["access_token"])


def recipe(places: dict[str, str]) -> str:
    """Return the configuration with other addresses, all of which must occur in it."""
    text = RECIPE.read_text(encoding="utf-8")
    for example, place in places.items():
        assert example in text
        text = text.replace(example, place)
    return text


@pytest.fixture
def proxied(tmp_path: Path) -> Iterator[Proxied]:
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
        (tmp_path / "haproxy.cfg").write_text(recipe(places))
        proxy = subprocess.Popen([program, "-db", "-f", str(tmp_path / "haproxy.cfg")], stderr=subprocess.DEVNULL)
        ended.callback(stop, proxy)
        made = Proxied(https, plain, certificate, [each.process for each in services])
        comes_true(lambda: made.ask("GET", "/readyz").status == 200, despite=(OSError,))
        yield made


def stop(process: "subprocess.Popen[Any]") -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def test_haproxy_alters_nothing_and_no_request_fails_when_one_of_two_services_stops(proxied: Proxied) -> None:
    bearer = {"Authorization": f"Bearer {proxied.token()}"}
    passes_unaltered(proxied)
    knows_the_client(proxied, bearer)

    def stopped() -> None:
        proxied.services[0].terminate()
        assert proxied.services[0].wait(60) == 0

    load = Load(proxied.https, "", proxied.certificate, bearer["Authorization"].split()[1])
    load.run(stopped)
    load.verify()
    stop(proxied.services[1])
    responds_for_unavailable_services(proxied)


def passes_unaltered(proxied: Proxied) -> None:
    status, headers, _ = proxied.ask("GET", "/api/logos", Accept_Encoding="gzip")
    assert (status, headers["Content-Encoding"], headers["Vary"]) == (200, "gzip", "Accept-Encoding")
    assert headers["ETag"].startswith('"')
    assert headers["Strict-Transport-Security"] == "max-age=31536000"
    again = proxied.ask("GET", "/api/logos", Accept_Encoding="gzip", If_None_Match=headers["ETag"])
    assert (again[0], again[2]) == (304, b"")
    # Headers of the largest size that the service accepts.
    assert proxied.ask("GET", "/api/logos?limit=1", X_Large="x" * 30_000)[0] == 200


def knows_the_client(proxied: Proxied, bearer: dict[str, str]) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", proxied.plain, timeout=30)) as connection:
        connection.request("GET", "/api/logos?limit=1", headers={"Host": "gallery.example"})
        answer = connection.getresponse()
        assert (answer.status, answer.headers["Location"]) == (308, "https://gallery.example/api/logos?limit=1")
    # The address of a session is that of the connection, whatever the client sends.
    _, _, sessions = proxied.ask("GET", "/api/auth/sessions", **bearer, X_Forwarded_For="192.0.2.7")
    assert b"127.0.0.1" in sessions
    assert b"192.0.2.7" not in sessions


def responds_for_unavailable_services(proxied: Proxied) -> None:
    status, headers, body = proxied.ask("GET", "/api/logos/1001")
    assert (status, json.loads(body)) == (503, {"detail": "The service is unreachable"})
    assert (headers["Content-Type"], headers["Retry-After"]) == ("application/json", "1")
