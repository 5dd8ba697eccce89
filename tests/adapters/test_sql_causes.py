"""Causes of database failures: derived from real faults, logged when they begin and end."""

import contextlib
import logging
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from logoadmin import Cause, Change, Kind, TooLargeToStore
from logoadmin.adapters.sql_storage import SqlStorage, open_sql_storage
from logoadmin.adapters.sql_storage.failures import FailureLog
from logoadmin.domain.kernel.limits import MAX_CUSTOM_CSS
from logoadmin.ports.gallery_storage import StoredPicture
from logoadmin.ports.pictures import MAX_STORED, MAX_THUMBNAIL
from logoadmin.ports.storage import UnitOfWork
from tests.adapters.test_sql_faults import add, opened, read, refused
from tests.certificates import make_certificate
from tests.mariadb import MariaDbServer
from tests.privileges import unprivileged

pytestmark = [
    pytest.mark.rule("contract K3"),
    pytest.mark.slow("servers go away, hang, and are waited for"),
    pytest.mark.own_mariadb,
]


def picture_of(size: int, thumbnail: int = 1) -> Callable[[SqlStorage], object]:
    """Return work that stores a picture of bytes that must be escaped, which doubles them."""
    name = f"{size:064x}"

    def work(uow: UnitOfWork) -> None:
        uow.pictures.add(StoredPicture(name, name, 0, 1, 1, 1, size, "light"), bytes(size), bytes(thumbnail))

    return lambda storage: storage.write(work)


def change_of(css: str) -> Callable[[SqlStorage], object]:
    row = {"logo_id": 1, "custom_css": css}

    def work(uow: UnitOfWork) -> None:
        uow.changes.add([Change(1, 0, None, "logo.amended", Kind.LOGO, 1, row, row, "r", None, None, None, None, None)])

    return lambda storage: storage.write(work)


@pytest.mark.rule("contract P1")
def test_the_largest_rows_fit_into_the_default_packet(running: MariaDbServer) -> None:
    running.empty()
    with contextlib.closing(open_sql_storage(running.url)) as storage:
        picture_of(MAX_STORED, MAX_THUMBNAIL)(storage)
        change_of("\1" * MAX_CUSTOM_CSS)(storage)


@pytest.mark.parametrize("packet", [2**20, 2**22])
def test_an_oversized_row_is_not_an_unreachable_server(
    running: MariaDbServer, packet: int, caplog: pytest.LogCaptureFixture
) -> None:
    running.empty()
    running.execute(f"SET GLOBAL max_allowed_packet = {packet}")
    with contextlib.closing(open_sql_storage(running.url)) as storage:
        read(storage)
        for _ in range(3):
            with pytest.raises(TooLargeToStore) as caught:
                picture_of(MAX_STORED)(storage)
            assert caught.value.cause is Cause.TOO_LARGE
        # Writes of others that share its transaction are stored.
        with ThreadPoolExecutor(8) as threads:
            large = [threads.submit(picture_of(MAX_STORED + more), storage) for more in range(4)]
            small = [threads.submit(picture_of(more), storage) for more in range(4)]
        assert all(isinstance(each.exception(), TooLargeToStore) for each in large)
        assert [each.exception() for each in small] == [None] * 4
    assert "too_large" in caplog.text
    assert "out_of_reach" not in caplog.text


def test_faults_of_a_url_are_distinguished(mariadb: MariaDbServer) -> None:
    # Names that need nobody to be asked: parts are at most 63 characters long, and none is empty.
    for name in ("x" * 64, "db..example"):
        with opened(f"mysql://u:p@{name}/gallery") as storage:
            refused(storage, cause=Cause.UNKNOWN_HOST)
    with opened(f"{mariadb.url}?ssl=true") as storage:
        refused(storage, cause=Cause.TLS_REFUSED)


def test_the_certificate_of_another_host_is_refused(running: MariaDbServer) -> None:
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)  # the server may run as another user
        certificate = make_certificate(Path(directory))
        running.stop()
        running.start(f"--ssl-cert={certificate}", f"--ssl-key={certificate.with_suffix('.key')}")
        elsewhere = running.url.replace("127.0.0.1", "localhost")
        trusting = f"ssl_ca={certificate}"
        for url in (f"{running.url}?ssl=true", f"{elsewhere}?{trusting}"):
            with opened(url) as storage:
                refused(storage, cause=Cause.TLS_REFUSED)
        for url in (
            f"{running.url}?ssl_ca={certificate}",
            f"{elsewhere}?ssl_ca={certificate}&ssl_check_hostname=false",
        ):
            with opened(url) as storage:
                storage.check()


@pytest.fixture
def shared(sqlite_file: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "gallery.db"
        shutil.copy(sqlite_file, file)
        yield file
        os.chmod(directory, 0o700)


@pytest.mark.parametrize(
    ("file_mode", "directory_mode", "work", "cause"),
    [
        (0o444, 0o777, add, Cause.READ_ONLY),
        (0o666, 0o555, read, Cause.READ_ONLY),
        (0o000, 0o777, read, Cause.CANNOT_OPEN),
        (0o666, 0o000, read, Cause.CANNOT_OPEN),
    ],
)
def test_a_forbidden_file_is_recognised(
    shared: Path, file_mode: int, directory_mode: int, work: Callable[[SqlStorage], object], cause: Cause
) -> None:
    shared.chmod(file_mode)
    shared.parent.chmod(directory_mode)
    with unprivileged(), opened(f"sqlite:///{shared}") as storage:
        refused(storage, work, cause)


def test_a_full_file_system_is_a_full_disk(shared: Path) -> None:
    limited = (
        "import resource, signal, sys\n"
        "from tests.adapters.test_sql_faults import Cause, add, opened, refused\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))\n"
        "with opened(sys.argv[1]) as storage:\n"
        "    refused(storage, add, Cause.DISK_FULL)\n"
    )
    subprocess.run([sys.executable, "-c", limited, f"sqlite:///{shared}"], check=True)


@pytest.fixture
def log_lines(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[str]]]:
    """Return a function that returns the lines logged since its last call."""

    def say() -> list[str]:
        messages = caplog.messages
        caplog.clear()
        return messages

    with caplog.at_level(logging.INFO, "logoadmin"):
        yield say


@pytest.mark.parametrize(
    "cause", [Cause.TOO_BUSY, Cause.DISK_FULL, Cause.READ_ONLY, Cause.NO_RIGHTS, Cause.IO_ERROR, Cause.TOO_LARGE]
)
def test_intermittent_failures_are_logged_once(cause: Cause, log_lines: Callable[[], list[str]]) -> None:
    now = [0.0]
    failure_log = FailureLog("db.example:3306", lambda: now[0])
    failure_log.record_success(writing=False)
    for _ in range(9):
        failure_log.record_failure(cause, 1040, in_writing=False)
        now[0] += 4
        failure_log.record_success(writing=False)
    assert len(log_lines()) == 1
    now[0] += 1
    failure_log.record_success(writing=False)
    assert log_lines() == [f"db.example:3306: {cause.code} is over, after 37 s"]


def test_damage_is_logged_once_and_never_as_ended(log_lines: Callable[[], list[str]]) -> None:
    now = [0.0]
    failure_log = FailureLog("gallery.db", lambda: now[0])
    failure_log.record_success(writing=True)
    for _ in range(9):
        failure_log.record_failure(Cause.CORRUPT, 11, in_writing=False)
        now[0] += 1000
        failure_log.record_success(writing=True)
    (line,) = log_lines()
    assert "(corrupt, 11)" in line


def test_a_timeout_and_the_late_failure_of_its_call_are_one_outage(
    sqlite_storage: SqlStorage, tmp_path: Path, log_lines: Callable[[], list[str]]
) -> None:
    read(sqlite_storage)
    assert sqlite_storage.timed_out(writing=True).cause is Cause.TOO_BUSY
    with contextlib.closing(sqlite3.connect(tmp_path / "gallery.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        refused(sqlite_storage, add, Cause.TOO_BUSY)
    (line,) = log_lines()
    assert "(too_busy, late)" in line
