"""HAProxy with the configuration of deploy/, including TLS, in front of two services; one is stopped under load."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tests.certificates import make_certificate
from tests.deploy.nginx import PASSWORD, Front, placed
from tests.deploy.services import Load, import_gallery
from tests.mariadb import free_port, search_path
from tests.options import skip_without
from tests.services import comes_true, service

pytestmark = [
    pytest.mark.slow("HAProxy and two services are started and stopped"),
    pytest.mark.rule("contract K5", "contract K6"),
]

ROOT: Final = Path(__file__).parents[2]
RECIPE: Final = ROOT / "deploy" / "haproxy.cfg"
# As in the comment of deploy/haproxy.cfg.
SETTINGS: Final = {
    "LOGOADMIN_ACCESS": "guarded",
    "LOGOADMIN_HOSTS": "gallery.example",
    "LOGOADMIN_TRUSTED_PROXIES": "127.0.0.1",
    "LOGOADMIN_DRAIN_SECONDS": "5",
    "LOGOADMIN_ADMIN_PASSWORD": PASSWORD,
}


class Proxied(NamedTuple):
    """HAProxy in front of two services with the same records."""

    proxy: Front
    services: "list[subprocess.Popen[str]]"


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
        (tmp_path / "haproxy.cfg").write_text(placed(RECIPE.read_text("utf-8"), places))
        proxy = subprocess.Popen([program, "-db", "-f", str(tmp_path / "haproxy.cfg")], stderr=subprocess.DEVNULL)
        ended.callback(stop, proxy)
        front = Front(https, plain, certificate)
        comes_true(lambda: front.ask("GET", "/readyz").status == 200, despite=(OSError,))
        yield Proxied(front, [each.process for each in services])


def stop(process: "subprocess.Popen[Any]") -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def test_haproxy_alters_nothing_and_no_request_fails_when_one_of_two_services_stops(proxied: Proxied) -> None:
    front = proxied.proxy
    passes_unaltered(front)
    front.redirects_to_tls()
    front.knows_its_peer()

    def stopped() -> None:
        proxied.services[0].terminate()
        assert proxied.services[0].wait(60) == 0

    load = Load(front.https, "", front.certificate, front.sign_in().split()[1])
    load.run(stopped)
    load.verify()
    stop(proxied.services[1])
    status, headers, body = front.ask("GET", "/api/logos/1001")
    assert (status, json.loads(body)) == (503, {"detail": "The service is unreachable"})
    assert (headers["Content-Type"], headers["Retry-After"]) == ("application/json", "1")


def passes_unaltered(front: Front) -> None:
    status, headers, _ = front.ask("GET", "/api/logos", Accept_Encoding="gzip")
    assert (status, headers["Content-Encoding"], headers["Vary"]) == (200, "gzip", "Accept-Encoding")
    assert headers["ETag"].startswith('"')
    again = front.ask("GET", "/api/logos", Accept_Encoding="gzip", If_None_Match=headers["ETag"])
    assert (again[0], again[2]) == (304, b"")
    # Headers of the largest size that the service accepts.
    assert front.ask("GET", "/api/logos?limit=1", X_Large="x" * 30_000)[0] == 200
