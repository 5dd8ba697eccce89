"""The command line in an empty directory, and a gallery behind HTTP.

It is on the storage that ``LOGOADMIN_TEST_HTTP_ON`` names: memory, sqlite or mariadb.
"""

import io
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final

import pytest
from starlette.types import ASGIApp

from logoadmin.adapters.fernet_encryption import FernetEncryption
from logoadmin.adapters.sql_storage import open_sql_storage
from logoadmin.domain.identity.roles import AmendRole
from logoadmin.domain.identity.service_keys import CreateKey
from logoadmin.domain.identity.sessions import SignIn
from logoadmin.domain.identity.totp import TotpFactors
from logoadmin.domain.kernel.access import Policy
from logoadmin.domain.kernel.records import DEFAULT_ROLE_ID
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints import app as app_module
from logoadmin.entrypoints.app import web_application
from logoadmin.entrypoints.cli import main
from logoadmin.entrypoints.http_api import documents
from logoadmin.entrypoints.http_api.openapi import openapi_document
from logoadmin.ports.identity_storage import Session
from logoadmin.settings import settings_of
from tests.asgi import AppClient
from tests.conftest import STORAGES
from tests.gallery import (
    ADMIN_ID,
    ADMIN_PASSWORD,
    ANN_PASSWORD,
    NOW,
    SPARE_SECRET,
    FrozenClock,
    WatchedStorage,
    gallery_on,
    stock,
)
from tests.options import OPTIONS

Headers = dict[str, str]

# Tests under another access policy than open, or under each.
GUARDED: Final = pytest.mark.parametrize("access", [Policy.GUARDED])
BOTH: Final = pytest.mark.parametrize("access", list(Policy))


@pytest.fixture(scope="session", autouse=True)
def _described_once() -> Iterator[None]:
    """Share the descriptions of the interface, each of which takes half a second."""
    shared = lru_cache(8)(openapi_document)
    with pytest.MonkeyPatch.context() as patch:
        for module in (app_module, documents):
            patch.setattr(module, "openapi_document", shared)
        yield


@pytest.fixture
def watched(request: pytest.FixtureRequest) -> WatchedStorage:
    """The storage behind the gallery; parametrise to have another one."""
    name = getattr(request, "param", OPTIONS.get("LOGOADMIN_TEST_HTTP_ON", "memory"))
    return WatchedStorage(request.getfixturevalue(f"{name}_storage"))


@pytest.fixture
def access() -> Policy:
    """The access policy; parametrise to have another one."""
    return Policy.OPEN


@pytest.fixture
def gallery(watched: WatchedStorage, clock: FrozenClock, access: Policy) -> LogoAdmin:
    """A gallery with a little of everything, see :func:`tests.gallery.stock`."""
    made = gallery_on(watched, clock, access)
    stock(made)
    watched.asked.clear()
    return made


@pytest.fixture
def client(gallery: LogoAdmin) -> AppClient:
    return AppClient(web_application(gallery, settings_of()), "http://127.0.0.1:8000")


@pytest.fixture
def app(client: AppClient) -> ASGIApp:
    return client.app


@pytest.fixture(params=STORAGES)
def workers(
    request: pytest.FixtureRequest, clock: FrozenClock, access: Policy, tmp_path: Path
) -> Iterator[tuple[LogoAdmin, LogoAdmin]]:
    """Two galleries on each storage in turn, stocked, as two processes have them; memory can only be had once."""
    first = gallery_on(request.getfixturevalue(f"{request.param}_storage"), clock, access)
    stock(first)
    if request.param == "memory":
        yield first, first
        return
    mariadb = request.param == "mariadb"
    url = request.getfixturevalue("mariadb").url if mariadb else f"sqlite:///{tmp_path / 'gallery.db'}"
    storage = open_sql_storage(url)
    yield first, gallery_on(storage, clock, access, started=False)
    storage.close()


def bearer(gallery: LogoAdmin, username: str, password: str) -> Headers:
    """Sign in and return the authorization header."""
    tokens = gallery.sessions.sign_in(SignIn(username=username, password=password))
    return {"authorization": f"Bearer {tokens.access_token}"}


@pytest.fixture
def admin(gallery: LogoAdmin, watched: WatchedStorage) -> Headers:
    """The header of somebody who may do everything, and has the service key 1, a session ``spare`` and a factor 1.

    User 7 has a session ``theirs``. The factor waits for its confirmation.
    """
    headers = bearer(gallery, "admin", ADMIN_PASSWORD)
    caller = gallery.sessions.caller(headers["authorization"].split()[1])
    gallery.keys.create(CreateKey(name="spare", scope=()), caller)
    watched.write(lambda uow: uow.identity.sessions.add(Session("spare", ADMIN_ID, NOW, NOW + 3600)))
    watched.write(lambda uow: uow.identity.sessions.add(Session("theirs", 7, NOW, NOW + 3600)))
    apps = TotpFactors(FernetEncryption(), ())
    watched.write(lambda uow: apps.add(uow, ADMIN_ID, "spare", SPARE_SECRET, NOW))
    watched.asked.clear()
    return headers


@pytest.fixture
def ann(gallery: LogoAdmin, watched: WatchedStorage) -> Headers:
    """The header of user 7, who holds no scope: the role of new users has lost its own."""
    gallery.roles.amend(AmendRole(role_id=DEFAULT_ROLE_ID, scope=()))
    headers = bearer(gallery, "ann", ANN_PASSWORD)
    watched.asked.clear()
    return headers


@dataclass(frozen=True)
class CommandResult:
    """The result of a command; the request ID it printed is kept apart, since it differs every time."""

    code: int
    out: str
    err: str
    request: str = field(default="", compare=False)


Run = Callable[..., CommandResult]


def assert_one_line(result: CommandResult, code: int, *parts: str) -> None:
    assert result.code == code, result
    assert result.out == ""
    assert result.err.count("\n") == 1, result.err
    assert result.err.startswith("logoadmin: ")
    for part in parts:
        assert part in result.err, result.err
    assert "Traceback" not in result.err


def remove_module(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    """Make a package seem not to be installed, and the server not to be imported yet."""
    for name in [name for name in sys.modules if re.match(r"(uvicorn|logoadmin\.entrypoints\.server)(\.|$)", name)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("logoadmin.entrypoints.server", raising=False)
    monkeypatch.setitem(sys.modules, module, None)


# A command, its standard input, and its output, or its exit code and words of its error.
Step = tuple[str, str | None, str | tuple[int, str]]


def check(run: Run, *steps: Step) -> None:
    """Run commands one after the other, and compare their results."""
    for command, stdin, expected in steps:
        ended = run(*command.split(), stdin=stdin)
        if isinstance(expected, str):
            assert (ended.code, ended.out, ended.err) == (0, expected, ""), command
        else:
            assert_one_line(ended, *expected)


@pytest.fixture
def empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in an empty directory, with an environment that wants quick hashing and any port, and says nothing else."""
    for name in [name for name in os.environ if name.startswith("LOGOADMIN_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LOGOADMIN_ARGON2_MEMORY_KIB", "8")
    monkeypatch.setenv("LOGOADMIN_ARGON2_PASSES", "1")
    monkeypatch.setenv("LOGOADMIN_PORT", "0")  # the default port may be in use: by `make run`, or another test
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def initialised(initialised_file: Path, empty_directory: Path) -> None:
    """Be where ``logoadmin init`` was run, in a directory that was empty."""
    shutil.copy(initialised_file, empty_directory)


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def run(*arguments: str, stdin: str | None = "") -> CommandResult:
        monkeypatch.setattr(sys, "argv", ["logoadmin", *arguments])
        sent = None if stdin is None else io.TextIOWrapper(io.BytesIO(stdin.encode()), newline="\n")
        monkeypatch.setattr(sys, "stdin", sent)
        capfd.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capfd.readouterr()
        request = re.search(r"^Request ([0-9a-f]{16})(; logoadmin revert --request \1 undoes it)?\n", err, re.MULTILINE)
        if request is None:
            return CommandResult(int(stopped.value.code or 0), out, err)
        return CommandResult(int(stopped.value.code or 0), out, err.replace(request[0], ""), request[1])

    return run
