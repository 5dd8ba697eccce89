"""Asking with a command whether the service is well."""

import socket
from pathlib import Path
from typing import Final

import pytest

from tests.adapters.hostile_server import response, serving
from tests.entrypoints.conftest import Run, assert_one_line, check
from tests.services import service

pytestmark = [
    pytest.mark.server("sockets, and services that do not answer"),
    pytest.mark.usefixtures("empty_directory"),
    pytest.mark.rule("contract K4"),
]


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for longer than two seconds, of which a busy machine may need one or the other for something else."""
    monkeypatch.setattr("logoadmin.entrypoints.cli.doctor.TIMEOUT", 60.0)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("host", "asked"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]"), ("::", "[::1]")]
)
def test_any_address_is_checked_on_loopback(run: Run, monkeypatch: pytest.MonkeyPatch, host: str, asked: str) -> None:
    monkeypatch.setenv("LOGOADMIN_HOST", host)
    with serving(asked.strip("[]")) as server:
        server.answers["/readyz"] = response(b'{"status": "ok"}')
        monkeypatch.setenv("LOGOADMIN_PORT", str(server.port))
        check(run, ("healthcheck", "", f"http://{asked}:{server.port}/readyz: ok\n"))


AWAY: Final = "503 Service Unavailable"


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (response(b'{"detail": "Away: do this"}', status=AWAY), "503 Away: do this"),
        (response(b'{"detail": "\\u001b[2J\\n"}', status=AWAY), r"503 \x1b[2J\n"),
        (response(b"<html>"), "200 from something that is not logoadmin"),
        (response(b"[1]", status="404 Not Found"), "404 from something that is not logoadmin"),
        (b"220 mail.example ESMTP\r\n", "the response is not HTTP"),
        (b"", ""),
    ],
)
def test_an_unhealthy_service_is_reported_on_one_line(run: Run, answer: bytes, said: str) -> None:
    with serving("127.0.0.1") as server:
        server.answers["/readyz"] = answer
        check(run, (f"healthcheck --port {server.port}", "", (1, f"http://127.0.0.1:{server.port}/readyz: {said}")))


def test_a_healthcheck_waits_at_most_two_seconds(run: Run) -> None:
    with serving("127.0.0.1") as server:
        server.answers["/livez"] = lambda connection: connection.recv(1)  # until the other side gives up
        command = f"healthcheck --port {server.port} --live"
        check(run, (command, "", (1, "/livez: no response within 2 seconds")))


@pytest.mark.usefixtures("patient")
def test_a_missing_service_and_wrong_settings_also_exit_with_1(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Container platforms reserve 2."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert_one_line(run("healthcheck", "--port", str(port)), 1, f"http://127.0.0.1:{port}/readyz: ", "refused")
    assert_one_line(run("healthcheck", "--port", "0"), 1, "--port")
    for name in ("a..b", "a b", "a\nb"):
        assert_one_line(run("healthcheck", "--port", "1", "--host", name), 1, "the URL is not valid")
    for name in ("[::1]", "http://gallery.example", "[a"):
        assert_one_line(run("healthcheck", "--port", "1", "--host", name), 1, "host (--host): should be a name")
    monkeypatch.setenv("LOGOADMIN_WORKERS", "none")
    assert_one_line(run("healthcheck"), 1, "workers")


@pytest.mark.usefixtures("patient")
@pytest.mark.slow("a service is started and stopped")
def test_the_service_is_checked_under_any_prefix_and_host_names(run: Run, tmp_path: Path) -> None:
    names = ("--hosts", "gallery.example", "--root-path", "/gallery")
    with service(tmp_path, "--host", "0.0.0.0", "--access", "guarded", *names) as served:
        port = str(served.port)
        for path, options in (("/readyz", ()), ("/livez", ("--live",))):
            ended = run("healthcheck", "--port", port, *options)
            assert (ended.code, ended.out) == (0, f"http://127.0.0.1:{port}{path}: ok\n")
    assert_one_line(run("healthcheck", "--port", port), 1, "refused")
