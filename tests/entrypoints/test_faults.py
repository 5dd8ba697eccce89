"""Faults made for real, and the reports of them: the output of commands, doctor, ``/readyz`` and the log.

Each kind of report has its faults here; that each fault has its cause is tested with the storage.
"""

import contextlib
import itertools
import os
import socket
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from logoadmin.adapters.sql_storage.copies import move
from logoadmin.adapters.sql_storage.databases import sqlite
from logoadmin.adapters.sql_storage.tables import VERSION_TABLE
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.gallery.artworks import CreateLogo
from logoadmin.domain.gallery.authors import CreateAuthor
from logoadmin.domain.kernel.access import Owner
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import StorageUnavailable, TooLargeToStore
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.app import http_application
from logoadmin.settings import settings_of
from tests.asgi import AppClient
from tests.entrypoints.conftest import Run, assert_one_line
from tests.mariadb import PASSWORD, MariaDbServer
from tests.privileges import unprivileged
from tests.services import comes_true

pytestmark = [pytest.mark.slow("servers go away"), pytest.mark.own_mariadb, pytest.mark.usefixtures("empty_directory")]

SOON: Final = 10.0


class Place:
    """A database, and what can be done to it; a file, unless its server is asked for."""

    gallery: LogoAdmin

    def __init__(self, request: pytest.FixtureRequest, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._request = request
        self._server: MariaDbServer | None = None
        self.monkeypatch = monkeypatch
        self.file = directory / "gallery.db"
        self.url = f"sqlite:///{self.file}"

    @property
    def server(self) -> MariaDbServer:
        """A server, whose tables are empty when it is asked for the first time."""
        if self._server is None:
            self._server = self._request.getfixturevalue("running")
            self._server.empty()
            self.url = self._server.url
        return self._server


Strike = Callable[[Place], Iterator[None]]


# The faults. Each is a running service, then the fault (at the yield), and the repair.


def in_file(place: Place) -> None:
    """Put the gallery in a file, the default."""


def on_server(place: Place) -> None:
    """Put the gallery on a server."""
    _ = place.server


def in_another(place: Place) -> None:
    """Put the gallery in a separate database on the server."""
    place.url = place.server.url_of(place.server.new_database())


def unknown_database(place: Place) -> Iterator[None]:
    place.server.execute(f"DROP DATABASE {place.url.rpartition('/')[2]}")
    place.server.end_connections()
    yield


_ALL: Final = "ALL ON `gallery%`.* {} 'logoadmin'@'127.0.0.1'"


def executing(*statements: str, undone_by: tuple[str, ...] = (), reconnect: bool = True) -> Strike:
    """Return a strike of statements; with ``reconnect``, open connections are ended after it."""

    def strike(place: Place) -> Iterator[None]:
        place.server.execute(*statements)
        if reconnect:
            place.server.end_connections()
        yield
        for statement in undone_by:
            place.server.execute(statement)

    return strike


_PASSWORD: Final = "ALTER USER 'logoadmin'@'127.0.0.1' IDENTIFIED BY '{}'"
wrong_password = executing(_PASSWORD.format("another"), undone_by=(_PASSWORD.format(PASSWORD),))
_REVOKE, _GRANT = f"REVOKE {_ALL.format('FROM')}", f"GRANT {_ALL.format('TO')}"
no_rights = executing(_REVOKE, undone_by=(_GRANT,))
reading_only = executing(_REVOKE, _GRANT.replace("ALL", "SELECT"), undone_by=(_GRANT,))
read_only_server = executing("SET GLOBAL read_only = 1", reconnect=False)
small_packets = executing("SET GLOBAL max_allowed_packet = 1048576")


def stopped(place: Place) -> Iterator[None]:
    place.server.stop()
    yield


def too_many_connections(place: Place) -> Iterator[None]:
    server = place.server
    server.execute("SET GLOBAL max_connections = 10")
    place.server.end_connections()
    with contextlib.ExitStack() as held:
        with contextlib.suppress(Exception):
            while True:
                held.enter_context(contextlib.closing(server.connect()))
        yield


def read_only_file(place: Place) -> Iterator[None]:
    place.gallery._storage.close()  # what is open stays so
    place.file.chmod(0o444)
    with unprivileged():
        yield


def corrupt(place: Place) -> Iterator[None]:
    place.gallery._storage.close()  # it knows pages by heart
    content = bytearray(place.file.read_bytes())
    content[4096:] = b"rubbish!" * ((len(content) - 4096) // 8)
    place.file.write_bytes(content)
    yield


def corrupt_page(place: Place) -> Iterator[None]:
    place.gallery._storage.close()  # it caches pages
    with contextlib.closing(sqlite3.connect(place.file)) as connection:
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'authors'")
        ((size,),) = connection.execute("PRAGMA page_size")
    with place.file.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"rubbish!" * (size // 8))
    yield


def locked(place: Place) -> Iterator[None]:
    place.monkeypatch.setattr(sqlite, "LONG_WAIT", 0.3)
    with contextlib.closing(sqlite3.connect(place.file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def gone(place: Place) -> Iterator[None]:
    place.file.rename(place.file.with_name("elsewhere.db"))
    yield


def changed(statement: str) -> Strike:
    """Return a strike that changes the tables by hand."""

    def strike(place: Place) -> Iterator[None]:
        with contextlib.closing(sqlite3.connect(place.file, isolation_level=None)) as connection:
            connection.execute(statement)
        yield

    return strike


def tables_of(version: str) -> Strike:
    """Return a strike that marks the tables as those of a version."""
    return changed(f"UPDATE {VERSION_TABLE} SET version_num = '{version}'")


def moved(place: Place) -> Iterator[None]:
    target = place.file.with_name("new.db")
    move(place.url, f"sqlite:///{target}", lambda *_: None)
    yield


_NUMBERS: Final = itertools.count(1)


def add_author(gallery: LogoAdmin) -> None:
    number = next(_NUMBERS)
    gallery.authors.create(CreateAuthor(user_id=number, username=f"Ann {number}"), Owner("test"))


def add_logo(gallery: LogoAdmin) -> None:
    css = "\N{GRINNING FACE}" * 524_288  # four bytes each
    gallery.logos.create(CreateLogo(name="x", preview_url="http://a.example/", target="a", custom_css=css), Owner("r"))


@dataclass(frozen=True)
class Row:
    """A fault, and the reports of it.

    Attributes:
        fault: in words.
        command: what ``init`` or ``serve`` say that cannot do their work: the code of a cause, whose words they print,
            or words. "starts" if both can.
        doctor: the check that fails.
        readyz: the code that is answered, or "ready".
        log: the code in the line that says that it begins.
        strike: makes it so, while a service runs.
        before: what is to be so before the service starts.
        work: what fails meanwhile.
        runs: the commands that cannot do their work.
    """

    fault: str
    command: str
    doctor: str
    readyz: str
    log: str
    strike: Strike
    before: Callable[[Place], None] = on_server
    work: Callable[[LogoAdmin], None] = add_author
    runs: tuple[str, ...] = ("init", "serve")


def of_server(fault: str, code: str, strike: Strike, before: Callable[[Place], None] = on_server) -> Row:
    """Return the row of a server that is of no use at all."""
    return Row(fault, code, "database", code, code, strike, before)


def of_writing(fault: str, code: str, check: str, strike: Strike, before: Callable[[Place], None] = on_server) -> Row:
    """Return the row of a database that can be read: the service is ready."""
    return Row(fault, code, check, "ready", code, strike, before, runs=("init",))


def of_tables(fault: str, code: str, strike: Strike, *runs: str) -> Row:
    """Return the row of tables that do not fit."""
    return Row(fault, code, "tables", code, code, strike, in_file, runs=runs)


ROWS: Final = (
    of_server("the password is wrong", "access_denied", wrong_password),
    of_server("there is no database of that name", "unknown_database", unknown_database, in_another),
    of_server("the user has no rights", "no_rights", no_rights),
    Row("the user may only read", "may not make tables", "writing", "ready", "no_rights", reading_only, runs=("init",)),
    of_server("the server does not run", "out_of_reach", stopped),
    of_server("the server has too many connections", "too_busy", too_many_connections),
    of_writing("the server can only be read", "read_only", "writing", read_only_server),
    Row("its packets are too small", "starts", "packets", "ready", "too_large", small_packets, work=add_logo, runs=()),
    of_writing("the file can only be read", "read_only", "file", read_only_file, in_file),
    of_writing("somebody keeps the file locked", "too_busy", "writing", locked, in_file),
    Row("the pages read at the start are damaged", "corrupt", "database", "corrupt", "corrupt", corrupt, in_file),
    Row("another page of the file is damaged", "starts", "pages", "ready", "corrupt", corrupt_page, in_file, runs=()),
    of_writing("the counters are gone", "corrupt", "schema", changed("DELETE FROM state"), in_file),
    Row("the file is gone", "starts", "file", "gallery_gone", "cannot_open", gone, in_file, runs=()),
    of_tables("the tables are older than the program", "older_tables", tables_of("x0000"), "serve"),
    of_tables("the tables were made before 0.1.0", "prerelease_tables", tables_of("w0008"), "init", "serve"),
    of_tables("the tables are newer than the program", "newer_tables", tables_of("x9000"), "init", "serve"),
    Row("the gallery was moved", "moved", "tables", "moved", "moved", moved, in_file, runs=("init", "serve")),
)
CODES: Final = {cause.code: cause for cause in Cause}


@pytest.fixture
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A directory that other users can also reach; a server only where it is asked for."""
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o777)
        monkeypatch.chdir(directory)
        yield Place(request, Path(directory), monkeypatch)


@contextlib.contextmanager
def struck(row: Row, place: Place) -> Iterator[None]:
    """Let the fault last; things are put right again whatever happens."""
    steps = row.strike(place)
    next(steps)
    try:
        yield
    finally:
        next(steps, None)


@pytest.mark.rule("contract K1", "contract K3", "contract K4")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.fault)
def test_each_fault_is_reported_everywhere(row: Row, place: Place, run: Run, caplog: pytest.LogCaptureFixture) -> None:
    row.before(place)
    settings = settings_of(database=place.url, argon2_memory_kib=8, argon2_passes=1)
    with open_gallery(settings, create="always") as gallery, caplog.at_level("INFO", "logoadmin"):
        place.gallery = gallery
        client = AppClient(http_application(gallery))
        add_author(gallery)
        wait_for_readyz(client, "ready")
        assert not problems(run("doctor", "--database", place.url).out) & {row.doctor}
        caplog.clear()
        with struck(row, place):
            wait_for_readyz(client, row.readyz)
            if row.log not in TABLES:
                with pytest.raises(TooLargeToStore if row.log == "too_large" else StorageUnavailable):
                    row.work(gallery)
            doctor = run("doctor", "--database", place.url)
            ended = [run(name, "--database", place.url) for name in row.runs]
    assert row.doctor in problems(doctor.out)
    if row.log in CODES and row.doctor not in {"file", "schema"}:
        assert CODES[row.log].text in doctor.out
    assert any(f"({row.log}" in message for message in caplog.messages), caplog.messages
    cause = CODES.get(row.command)
    words = [row.command] if cause is None else [cause.cure, *([] if row.command in TABLES else [cause.text])]
    for command in ended:
        assert_one_line(command, 1, *words)
    everything = [*caplog.messages, doctor.out, doctor.err, *(command.err for command in ended)]
    assert not [text for text in everything if PASSWORD in text or "Traceback" in text]


TABLES: Final = {"older_tables", "prerelease_tables", "newer_tables", "moved"}


def wait_for_readyz(client: AppClient, expected: str) -> None:
    """Wait for the expected answer of readyz, which caches its findings for a second."""

    def is_expected() -> bool:
        answer = client.get("/readyz")
        assert PASSWORD not in answer.text
        if answer.status_code == 200:
            return expected == "ready"
        assert CODES[answer.json()["code"]].cure in answer.json()["detail"]
        return bool(answer.json()["code"] == expected)

    comes_true(is_expected, SOON)


def problems(printed: str) -> set[str]:
    return {line[9:27].strip() for line in printed.splitlines()[:-1] if not line.startswith("ok ")}


@pytest.mark.rule("contract K4")
def test_the_cause_of_a_failed_start_is_reported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
        assert_one_line(run("serve", "--port", port), 1, "is in use")
        assert "port" in problems(run("doctor", "--port", port).out)
    monkeypatch.setenv("LOGOADMIN_WORKRES", "2")
    for command in ("init", "serve"):
        assert_one_line(run(command), 2, "unknown setting", "did you mean LOGOADMIN_WORKERS?")
    assert problems(run("doctor").out) == {"settings"}
