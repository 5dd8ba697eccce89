"""Restarts under the load of clients that keep their connections: no request fails, no acknowledged write is lost."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.deploy.services import Services, behind, import_gallery, load_on, services

pytestmark = [pytest.mark.slow("services are started and stopped under load"), pytest.mark.rule("contract K5")]


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with a gallery, as a template."""
    directory = tmp_path_factory.mktemp("gallery")
    import_gallery(directory)
    return directory / "logoadmin.db"


# HAProxy and upgrades are tested in test_haproxy and test_upgrade_served.
@pytest.mark.parametrize(
    ("front", "workers", "restart"),
    [
        ("direct", 1, Services.start_again),
        ("direct", 2, Services.replace_workers),
        ("direct", 2, Services.start_again),
        ("nginx", 2, Services.replace_workers),
        ("nginx", 2, Services.start_again),
    ],
)
def test_no_request_fails_over_a_restart_and_no_write_is_lost(
    front: str,
    workers: int,
    restart: Callable[[Services], None],
    gallery: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    behind(front, monkeypatch)
    shutil.copy(gallery, tmp_path)
    with services(tmp_path, workers=workers) as served, load_on(front, tmp_path, served.port) as load:
        served.start()
        load.run(partial(restart, served))
        load.verify()
        served.stop()


@pytest.mark.rule("contract H5")
def test_one_of_two_services_behind_nginx_is_stopped_and_then_the_other(
    mariadb_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in docs/upgrade.md for several machines: restart the next one when this one is ready."""
    behind("nginx", monkeypatch)
    monkeypatch.setenv("LOGOADMIN_DRAIN_SECONDS", "5")
    monkeypatch.setenv("LOGOADMIN_DATABASE", mariadb_url)
    import_gallery(tmp_path)
    with services(tmp_path, handed_over=False) as one, services(tmp_path, handed_over=False) as two:

        def start_again() -> None:
            one.start_again()
            two.start_again()

        one.start()
        two.start()
        with load_on("nginx", tmp_path, one.port, two.port) as load:
            load.run(start_again)
            load.verify()
