"""A published folder behind nginx and the service answer alike: the same bytes, types and caching (contract L1)."""

import base64
import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from tests.deploy.nginx import Nginx, nginx_for_folder
from tests.deploy.services import Answer, ask, import_gallery
from tests.services import ROOT, comes_true, service

pytestmark = [pytest.mark.slow("nginx and a service are started"), pytest.mark.rule("contract L1", "contract L2")]

PASSWORD: Final = "correct horse battery"
ALIKE: Final = ("Content-Type", "Cache-Control", "Access-Control-Allow-Origin", "X-Content-Type-Options")
# The times of a pointer depend on when it was issued, and its signatures on its times.
TIMES: Final = ("issued", "expires")


@dataclass(frozen=True)
class Copies:
    """One gallery: from the service, and from a folder behind nginx."""

    folder: Path
    environment: dict[str, str]
    port: int
    proxy: Nginx

    def publish(self) -> int:
        """Publish into the folder; return the exit code."""
        command = [sys.executable, "-m", "logoadmin", "publish", str(self.folder)]
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), **self.environment}
        return subprocess.run(command, env=environment, check=False, timeout=120, stderr=subprocess.DEVNULL).returncode

    def both(self, name: str, method: str = "GET", **headers: str) -> tuple[Answer, Answer]:
        """Return the response of the service, and that of nginx."""
        path = f"/gallery/{name}"
        return (
            ask(self.port, None, method, path, **headers),
            ask(self.proxy.https, self.proxy.certificate, method, path, **headers),
        )

    def names(self) -> set[str]:
        """Return the names of the published files."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)) for path in files if not path.name.startswith(".")}

    def pointers(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the content of both pointers."""
        served, copied = (json.loads(each.body) for each in self.both("latest.json"))
        assert [key(each) for each in served["signatures"]] == [key(each) for each in copied["signatures"]]
        return payload(served), payload(copied)


def key(signature: dict[str, str]) -> Any:
    """Return the header of a signature, which names its key."""
    return json.loads(base64.urlsafe_b64decode(signature["protected"] + "=="))


def payload(pointer: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(pointer["payload"] + "=="))
    return found


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copies]:
    directory = tmp_path_factory.mktemp("served")
    environment = {
        "LOGOADMIN_ADMIN_PASSWORD": PASSWORD,
        "LOGOADMIN_DATABASE": f"sqlite:///{directory / 'gallery.db'}",
        "LOGOADMIN_PIN_IMPORTS": "false",
    }
    import_gallery(directory, **environment)
    folder = tmp_path_factory.mktemp("published") / "gallery"
    folder.parent.chmod(0o755)
    proxied = nginx_for_folder(tmp_path_factory.mktemp("nginx"), folder)
    with service(directory, log=None, **environment) as served, proxied as proxy:
        yield Copies(folder, environment, served.port, proxy)


def are_of_one_version(copies: Copies) -> bool:
    served, copied = copies.pointers()
    return bool(served["version"] == copied["version"])


def assert_alike(copies: Copies) -> None:
    comes_true(partial(are_of_one_version, copies), despite=(KeyError,))
    served, copied = copies.pointers()
    assert {name: value for name, value in served.items() if name not in TIMES} == {
        name: value for name, value in copied.items() if name not in TIMES
    }
    for pointer in (served, copied):
        assert pointer["expires"] - pointer["issued"] == 30 * 86400
    for name in copies.names() - {"latest.json"}:
        for coding in ("identity", "gzip"):
            one, other = copies.both(name, Accept_Encoding=coding)
            assert one.status == other.status == 200, name
            assert one.headers["Content-Encoding"] == other.headers["Content-Encoding"], name
            unpacked = [
                gzip.decompress(each.body) if coding in each.headers.values() else each.body for each in (one, other)
            ]
            assert unpacked[0] == unpacked[1] == (copies.folder / name).read_bytes(), name
            assert [one.headers[field] for field in ALIKE] == [other.headers[field] for field in ALIKE], name


def test_both_answer_alike_before_and_after_changes(copies: Copies) -> None:
    assert copies.publish() == 0
    assert_alike(copies)
    assert copies.publish() == 3
    before = copies.names()
    credentials = {"username": "admin", "password": PASSWORD}
    token = json.loads(ask(copies.port, None, "POST", "/api/auth/token", credentials).body)["access_token"]
    logos = json.loads(ask(copies.port, None, "GET", "/api/logos?active=true&limit=3").body)
    for number, logo in enumerate(logos):
        body = {"name": f"renamed {number}"} if number else {"active": False}
        path = f"/api/logos/{logo['logo_id']}"
        assert ask(copies.port, None, "PATCH", path, body, Authorization=f"Bearer {token}").status == 200
        assert copies.publish() == 0
        comes_true(partial(are_of_one_version, copies))
    served, _ = copies.pointers()
    assert len(served["deltas"]) == len(logos)
    assert before < copies.names()
    assert_alike(copies)
