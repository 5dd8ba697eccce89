"""Restarts under the load of clients that keep their connections: no request fails, no acknowledged write is lost."""

import http.client
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.deploy.services import Services, import_gallery, reached, services, start_with, under_load
from tests.services import Service

pytestmark = [pytest.mark.slow("services are started and stopped under load"), pytest.mark.rule("contract K5")]

Restart = Callable[[Services], None]


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with a gallery, as a template."""
    directory = tmp_path_factory.mktemp("gallery")
    import_gallery(directory)
    return directory / "logoadmin.db"


# HAProxy is tested in test_proxies.
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
    front: str, workers: int, restart: Restart, gallery: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(gallery, tmp_path)
    with services(tmp_path, workers) as served, reached(front, tmp_path, served.port, monkeypatch) as address:
        served.start()
        under_load(address, "", partial(restart, served))
        served.stop()


# Socket activation by the protocol of systemd.


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def get(connection: http.client.HTTPConnection) -> int:
    connection.request("GET", "/api/logos")
    answer = connection.getresponse()
    answer.read()
    return answer.status


@pytest.mark.parametrize("workers", ["2", pytest.param("1", marks=pytest.mark.release)])
def test_connections_wait_during_a_restart(workers: str, listener: socket.socket, tmp_path: Path) -> None:
    port = listener.getsockname()[1]
    running: list[Service] = []
    try:
        running.append(start_with([listener], tmp_path, "--workers", workers, "--port", "1"))
        assert running[-1].address == f"http://127.0.0.1:{port}"
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
            assert get(connection) == 200
        running[-1].stop()
        # No service runs, and no connection is refused.
        waiting = [http.client.HTTPConnection("127.0.0.1", port, timeout=60) for _ in range(20)]
        for connection in waiting:
            connection.connect()
        running.append(start_with([listener], tmp_path, "--workers", workers))
        assert [get(connection) for connection in waiting] == [200] * len(waiting)
        for connection in waiting:
            connection.close()
        running[-1].stop()
    finally:
        for each in running:
            each.kill()


def refusal(sockets: list[socket.socket], directory: Path) -> str:
    process = start_with(sockets, directory).process
    _, said = process.communicate(timeout=60)
    assert process.returncode != 0
    return said


def test_only_one_listening_tcp_socket_is_accepted(listener: socket.socket, tmp_path: Path) -> None:
    assert "systemd hands over 2 sockets" in refusal([listener, listener], tmp_path)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams, socket.socket(socket.AF_UNIX) as local:
        assert "not one that listens for TCP" in refusal([datagrams], tmp_path)
        assert "not one that listens for TCP" in refusal([local], tmp_path)
    with socket.socket() as deaf:
        assert "not one that listens for TCP" in refusal([deaf], tmp_path)


def test_the_address_of_the_socket_determines_the_access_policy(tmp_path: Path) -> None:
    """Like `host`: a socket must not open the gallery to other machines (contract B2)."""
    with socket.create_server(("0.0.0.0", 0)) as everywhere:
        assert "Others can reach 0.0.0.0" in refusal([everywhere], tmp_path)
