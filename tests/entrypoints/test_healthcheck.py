"""Asking with a command whether the service is well."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from tests.entrypoints.conftest import Run, assert_one_line
from tests.services import service

pytestmark = [
    pytest.mark.server("sockets, and services that do not answer"),
    pytest.mark.usefixtures("empty_directory"),
    pytest.mark.rule("contract K4"),
]

WELL = b'{"status": "ok"}'


def answer(status: str, body: bytes) -> bytes:
    return b"HTTP/1.1 %s\r\ncontent-length: %d\r\n\r\n%s" % (status.encode(), len(body), body)


@contextmanager
def answering(say: Callable[[socket.socket], None], host: str = "127.0.0.1") -> Iterator[str]:
    """Respond to the first connection from a thread; yield the port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET

    def serve() -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            with closing(connection):
                connection.settimeout(20)
                connection.recv(4096)
                say(connection)

    with socket.create_server((host, 0), family=family) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        yield str(listener.getsockname()[1])
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(20)


def saying(text: bytes) -> Callable[[socket.socket], None]:
    return lambda connection: connection.sendall(text)


def silently(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.recv(1)  # until the other side gives up


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for longer than two seconds, of which a busy machine may need one or the other for something else."""
    monkeypatch.setattr("logoadmin.entrypoints.cli.doctor.TIMEOUT", 60.0)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("host", "asked"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]"), ("::", "[::1]")]
)
def test_a_service_listening_on_all_addresses_is_checked_on_loopback(
    run: Run, monkeypatch: pytest.MonkeyPatch, host: str, asked: str
) -> None:
    monkeypatch.setenv("LOGOADMIN_HOST", host)
    with answering(saying(answer("200 OK", WELL)), asked.strip("[]")) as port:
        monkeypatch.setenv("LOGOADMIN_PORT", port)
        ended = run("healthcheck")
    assert (ended.code, ended.out, ended.err) == (0, f"http://{asked}:{port}/readyz: ok\n", "")


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("say", "said"),
    [
        (saying(answer("503 Service Unavailable", b'{"detail": "Away: do this"}')), "/readyz: 503 Away: do this"),
        (saying(answer("503 Service Unavailable", b'{"detail": "\\u001b[2J\\n"}')), r"/readyz: 503 \x1b[2J\n"),
        (saying(answer("200 OK", b"<html>")), "/readyz: 200 from something that is not logoadmin"),
        (saying(answer("404 Not Found", b"[1]")), "/readyz: 404 from something that is not logoadmin"),
        (saying(b"220 mail.example ESMTP\r\n"), "/readyz: the response is not HTTP"),
        (saying(b""), "/readyz: "),
    ],
)
def test_an_unhealthy_service_is_reported_on_one_line(
    run: Run, say: Callable[[socket.socket], None], said: str
) -> None:
    with answering(say) as port:
        assert_one_line(run("healthcheck", "--port", port), 1, f"http://127.0.0.1:{port}{said}")


def test_a_healthcheck_waits_at_most_two_seconds(run: Run) -> None:
    with answering(silently) as port:
        ended = run("healthcheck", "--port", port, "--live")
    assert_one_line(ended, 1, "/livez: no response within 2 seconds")


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
