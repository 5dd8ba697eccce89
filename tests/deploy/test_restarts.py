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


# HAProxy is tested in test_haproxy.
@pytest.mark.parametrize(
    ("front", "workers", "restart"),
    [
        ("direct", 1, Services.start_again),
        pytest.param("direct", 2, Services.replace_workers, marks=pytest.mark.release),
        pytest.param("direct", 2, Services.start_again, marks=pytest.mark.release),
        ("nginx", 2, Services.replace_workers),
        pytest.param("nginx", 2, Services.start_again, marks=pytest.mark.release),
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
