"""What ``logoadmin doctor`` finds: each check against the fault itself, and the remedy for a missing extra."""

import contextlib
import json
import os
import shutil
import socket
import sqlite3
import ssl
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from logoadmin.adapters.fernet_encryption import FernetEncryption
from logoadmin.adapters.sql_storage.databases import sqlite_checks
from logoadmin.bootstrap import open_gallery
from logoadmin.checks import Verdict
from logoadmin.entrypoints.cli.checks import check_ports
from logoadmin.entrypoints.http_api.app import http_application
from logoadmin.extras import install_extra
from logoadmin.maintenance import token_of_nobody
from logoadmin.settings import settings_of
from tests.answering import Answer, Request, answering
from tests.asgi import ask
from tests.entrypoints.conftest import CommandResult, Run, remove_module
from tests.privileges import unprivileged

pytestmark = [pytest.mark.usefixtures("empty_directory"), pytest.mark.rule("contract K4")]

SECRET: Final = "a-secret-that-nobody-may-see-of-32-bytes"
# Harmless warnings: this machine may have an older SQLite.
ALWAYS: Final = {"SQLite"}


@pytest.fixture
def gallery(sqlite_file: Path, tmp_path: Path) -> Path:
    """A file with all tables, in the directory of the test, for its owner alone."""
    file = tmp_path / "logoadmin.db"
    shutil.copy(sqlite_file, file)
    file.chmod(0o600)
    return file


@pytest.fixture
def started(gallery: Path) -> Path:
    """The same file, after a first start."""
    open_gallery(settings_of(database=f"sqlite:///{gallery}", admin_password=SECRET), create="always").close()
    return gallery


def said(ended: CommandResult) -> dict[str, tuple[str, str]]:
    """Return the verdict and text of each printed check, and check the exit code."""
    *lines, summary = ended.out.splitlines()
    assert ended.err == ""
    assert SECRET not in ended.out
    found = {line[9:27].strip(): (line[:9].strip(), line[27:]) for line in lines}
    verdicts = [line[:9].strip() for line in lines]
    assert {verdict.value for verdict in Verdict} >= set(verdicts)
    warnings = "1 warning" if verdicts.count("warning") == 1 else f"{verdicts.count('warning')} warnings"
    assert summary == f"{verdicts.count('wrong')} wrong, {warnings}, {verdicts.count('ok')} ok"
    assert ended.code == (1 if "wrong" in verdicts else 0)
    return found


def problems(ended: CommandResult) -> dict[str, str]:
    return {check: text for check, (verdict, text) in said(ended).items() if verdict != "ok" and check not in ALWAYS}


@pytest.mark.usefixtures("gallery")
def test_in_a_healthy_installation_every_check_passes(run: Run) -> None:
    ended = run("doctor")
    assert problems(ended) == {}
    assert list(said(ended)) == [
        *("settings", "keys", "access", "public_url", "packages", "temporary files"),
        *("gallery_dir", "port", "SQLite", "directory", "disk", "file system", "file", "database", "tables"),
        *("pages", "schema", "writing", "administrators", "factor_key"),
    ]


Make = Callable[[Path], object]


def wrote(name: str, text: str, mode: int = 0o600) -> Make:
    """Return a function that writes a file of this mode into a directory."""

    def write(place: Path) -> None:
        (place / name).write_text(text)
        (place / name).chmod(mode)

    return write


def ran(*statements: str) -> Make:
    """Return a function that runs statements in the database of a directory."""

    def run(place: Path) -> None:
        with contextlib.closing(sqlite3.connect(place / "logoadmin.db")) as connection, connection:
            for statement in statements:
                connection.execute(statement)

    return run


def replaced(make: Make) -> Make:
    """Return a function that puts something else in the place of the database."""

    def replace(place: Path) -> None:
        (place / "logoadmin.db").unlink()
        make(place / "logoadmin.db")

    return replace


def opened_to_all(place: Path) -> None:
    (place / "logoadmin.db").chmod(0o644)
    place.chmod(0o777)


def key_of_mode(mode: int) -> Make:
    def write(place: Path) -> None:
        pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        wrote("key.pem", pem.decode(), mode)(place)
        wrote("logoadmin.toml", KEY_FILE)(place)

    return write


KEY_FILE: Final = 'token_key_files = "key.pem"\n'
TOKEN_KEY: Final = f'token_key = "{SECRET}"\n'
BEHIND: Final = "--access guarded --trusted-proxies 127.0.0.1,::1"
OTHERS: Final = "--host 0.0.0.0"
NOT_NAMED: Final = {"public_url": "warning"}
STRAY: Final = "INSERT INTO users (user_id, username, role_id, created_at, name_casefold) VALUES (1, 'a', 99, 0, 'a')"
CHANGED_TABLES: Final = (
    "DROP TABLE sign_in_attempts",
    "ALTER TABLE users DROP COLUMN avatar",
    "DROP INDEX ix_changes_at",
)
# Options, a change of the directory, and the checks that are then not ok, with their verdict and words of their text.
# fmt: off
FAULTS: Final[tuple[tuple[str, Make, dict[str, str]], ...]] = (
    ("--database memory:", id, {"database": "warning"}),
    *((f"--database {url}", id, {"database": "wrong"})
        for url in ("nonsense", "sqlite://", "mysql://u:hidden@h", "mysql://u:hidden@h/n?compress=true")),
    *(("", wrote("logoadmin.toml", TOKEN_KEY, mode), {}) for mode in (0o600, 0o640)),
    *(("", wrote("logoadmin.toml", TOKEN_KEY, mode), {"secrets": "wrong ; chmod o-rwx "}) for mode in (0o644, 0o602)),
    ("", wrote("logoadmin.toml", 'token_key = "short"'), {"keys": "wrong too short"}),
    ("", wrote("logoadmin.toml", KEY_FILE), {"keys": "wrong cannot be read"}),
    ("", key_of_mode(0o600), {}),
    ("", key_of_mode(0o644),
        {"keys": "wrong every user of this machine may read or write key.pem; chmod o-rwx key.pem"}),
    ("", wrote("logoadmin.toml", 'gallery_dir = "missing/gallery"'),
        {"gallery_dir": "wrong missing is not a folder with write access: nothing can be published; create it"}),
    ("", wrote("logoadmin.toml", 'gallery_dir = "missing/gallery"\ngallery = false'), {}),
    (OTHERS, id, {"access": "wrong", **NOT_NAMED}),
    (f"{OTHERS} --access open", id, {"access": "wrong", **NOT_NAMED}),
    (f"{OTHERS} --access open --hosts *", id, {"access": "warning", **NOT_NAMED}),
    ("--access guarded", id, {}),
    (f"{BEHIND} --root-path /gallery", id, NOT_NAMED),
    (f"{BEHIND} --root-path /gallery --public-url https://a.example/gallery", id, {}),
    (f"{BEHIND} --public-url https://a.example", id, {}),
    (f"{BEHIND} --public-url https://a.example/gallery", id, {"public_url": "wrong"}),
    (f"{BEHIND} --root-path /a --public-url https://a.example", id, {"public_url": "wrong"}),
    (f"{BEHIND} --public-url https://192.0.2.1", id, {"public_url": "warning"}),
    ("--public-url http://127.0.0.1:8000", id, {"public_url": "warning"}),
    ("--hosts *", id, {"access": "warning"}),
    ("--root-path /gallery", id, {"access": "wrong", **NOT_NAMED}),
    *((f"--url {url}", id, {"url": "wrong"})
        for url in ("gallery.example", "https://", "ftp://a.example", "https://u:p@a.example", "http://[x/")),
    *(("", replaced(make), {"database": "wrong"})
        for make in (Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/null"))),
    ("", opened_to_all, {"file": "warning chmod 600", "directory": "warning"}),
    ("", ran(STRAY), {"pages": "wrong"}),
    ("", ran(*CHANGED_TABLES),
        {"writing": "warning",
         "schema": "wrong missing or changed: ix_changes_at, ix_sign_in_attempts_ends_at, sign_in_attempts, users."}),
    ("--database sqlite:///link.db", lambda place: (place / "link.db").symlink_to(place / "logoadmin.db"), {}),
    ("--database sqlite:///link.db", lambda place: (place / "link.db").symlink_to("/nowhere/at/all.db"),
        {"directory": "wrong this user finds no directory /nowhere/at"}),
)
# fmt: on


@pytest.mark.rule("contract L1", "contract O8")
@pytest.mark.parametrize(("options", "make", "found"), FAULTS)
def test_faults_of_settings_and_files_are_reported(
    run: Run, gallery: Path, options: str, make: Make, found: dict[str, str]
) -> None:
    make(gallery.parent)
    ended = run("doctor", *options.split())
    gallery.parent.chmod(0o700)
    assert "hidden" not in ended.out
    told = {check: each for check, each in said(ended).items() if each[0] != "ok" and check not in ALWAYS}
    expected = {check: text.partition(" ") for check, text in found.items()}
    assert {check: each[0] for check, each in told.items()} == {check: each[0] for check, each in expected.items()}
    assert all(words in told[check][1] for check, (_, _, words) in expected.items())


def test_before_the_first_start_only_the_missing_file_is_reported(run: Run, tmp_path: Path) -> None:
    (text,) = problems(run("doctor")).values()
    assert text.startswith(f"there is no file {tmp_path}/logoadmin.db yet; ")
    assert list(tmp_path.iterdir()) == []


# Administrators

FACTOR: Final = (
    "INSERT INTO factors (factor_id, user_id, kind, name, created_at, secret, credential, counter, confirmed)"
    " VALUES (1, 2000000000, '{}', 'Phone', 1, {}, 'c', 0, 1)"
)


@pytest.mark.rule("contract B4", "contract O4", "contract O8")
def test_an_administrator_locked_out_by_the_settings_is_wrong(run: Run, gallery: Path) -> None:
    """Settings cannot be refused in a transaction, so that ``doctor`` fails."""

    def administrators(*arguments: str) -> str:
        verdict, text = said(run("doctor", *arguments))["administrators"]
        assert verdict == "ok" or text.startswith("nobody who may do everything can sign in; logoadmin user code NAME")
        return verdict

    assert administrators() == "ok"  # the first start will create one
    assert run("init").code == 0
    assert administrators() == "ok"
    (gallery.parent / "logoadmin.toml").write_text("password_sign_in = false\n")
    assert administrators() == "wrong"
    ran(FACTOR.format("passkey", "''"))(gallery.parent)
    assert administrators() == "ok"
    assert administrators("--public-url", "http://127.0.0.1:8000") == "wrong"
    client = 'oidc_client_id = "x"\noidc_client_secret = "x"\noidc_default_role = "1"\n'
    (gallery.parent / "logoadmin.toml").write_text(f'oidc_issuer = "https://issuer.test"\n{client}')
    assert administrators("--public-url", "http://127.0.0.1:8000") == "wrong"  # the password leads to the passkey
    ran("INSERT INTO identities VALUES ('x', 'https://issuer.test', 'ann', 2000000000, '[]', 0)")(gallery.parent)
    assert administrators("--public-url", "http://127.0.0.1:8000") == "ok"


@pytest.mark.rule("contract O7", "contract K4")
def test_an_issuer_whose_users_get_no_role_is_wrong(run: Run, started: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGOADMIN_OIDC_CLIENT_SECRET", SECRET)
    settings = started.parent / "logoadmin.toml"

    def issuer(role: str) -> tuple[str, str]:
        settings.write_text(f'oidc_issuer = "https://github.com"\noidc_client_id = "x"\n{role}')
        found = said(run("doctor"))
        return found.get("issuer", found["settings"])

    assert issuer('oidc_default_role = "member"') == ("ok", "the roles for users of https://github.com exist")
    text = "users of https://github.com cannot get the role members, which does not exist; create it, or correct "
    assert issuer('oidc_default_role = "members"') == ("wrong", f"{text}oidc_roles and oidc_default_role")
    text = "everybody with an account at GitHub gets *; set oidc_default_role to a role that may only submit works"
    assert issuer('oidc_default_role = "admin"') == ("warning", f"{text}, such as member")
    verdict, text = issuer("")
    assert verdict == "wrong"
    assert "oidc_default_role must be set" in text


# Ports


@contextlib.contextmanager
def answering_at(bodies: dict[str, tuple[int, object]]) -> Iterator[int]:
    """Answer paths on a port, and yield the port."""

    def answer(asked: Request) -> Answer:
        status, body = bodies.get(asked.path, (404, {}))
        return Answer(body if isinstance(body, bytes) else json.dumps(body).encode(), status=status)

    with answering(answer) as server:
        yield server.server_port


WELL: Final = (200, {"status": "ok"})


@pytest.mark.server("a server in a thread")
@pytest.mark.usefixtures("started")
@pytest.mark.parametrize(
    ("bodies", "verdict", "words"),
    [
        ({"/livez": WELL, "/api/changes?limit=none": (422, {})}, "ok", "logoadmin runs at"),
        ({"/livez": WELL, "/api/changes?limit=none": (401, {})}, "wrong", "another gallery is served at"),
        ({"/livez": WELL}, "wrong", "a request with a token gets status 404"),
        ({}, "wrong", "is in use"),
        ({"/livez": (200, b"\xff hello")}, "wrong", "is in use"),
    ],
    ids=["this gallery", "another gallery", "unknown", "another one", "nonsense"],
)
def test_a_port_in_use_is_reported_with_its_owner(
    run: Run, bodies: dict[str, tuple[int, object]], verdict: str, words: str
) -> None:
    with answering_at(bodies) as port:
        found = said(run("doctor", "--port", str(port)))["port"]
    assert found[0] == verdict
    assert words in found[1]


def test_a_silent_owner_of_a_port_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        (found,) = check_ports(settings_of(port=silent.getsockname()[1]), timeout=0.2)
    assert (found.check, found.verdict) == ("port", Verdict.WRONG)


@pytest.mark.server("a server in a thread")
@pytest.mark.usefixtures("started")
def test_a_metrics_port_in_use_is_wrong(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGOADMIN_METRICS_PORT", "0")
    assert said(run("doctor"))["metrics_port"][0] == "ok"
    metrics: dict[str, tuple[int, object]] = {"/metrics": (200, b"logoadmin_build_info 1")}
    with answering_at(metrics) as port:
        monkeypatch.setenv("LOGOADMIN_METRICS_PORT", str(port))
        assert said(run("doctor"))["metrics_port"][0] == "ok"
    with answering_at({}) as port:
        monkeypatch.setenv("LOGOADMIN_METRICS_PORT", str(port))
        found = said(run("doctor"))["metrics_port"]
    assert (found[0], "; set metrics_port to a free port" in found[1]) == ("wrong", True)


# This machine


@pytest.mark.usefixtures("gallery")
@pytest.mark.parametrize(
    ("module", "settings", "verdict"),
    [
        ("uvicorn", {}, "wrong"),
        ("prometheus_client", {"LOGOADMIN_METRICS_PORT": "0"}, "wrong"),
        ("prometheus_client", {}, "ok"),
        ("httpx2", {}, "ok"),
        ("httpx2", {"LOGOADMIN_NOTIFY_URLS": "https://hooks.example/1"}, "wrong"),
        ("fido2", {}, "warning"),
    ],
)
def test_a_missing_package_is_reported(
    run: Run, monkeypatch: pytest.MonkeyPatch, module: str, settings: dict[str, str], verdict: str
) -> None:
    remove_module(monkeypatch, module)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    found = said(run("doctor"))["packages"]
    assert found[0] == verdict
    if verdict != "ok":
        assert module.replace("_", "-") in found[1]
        assert "; run pip install" in found[1]


@pytest.mark.usefixtures("gallery")
def test_a_full_temporary_directory_is_wrong(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(run("doctor"))["temporary files"][0] == "ok"
    real, temporary = tempfile.TemporaryFile, Path(tempfile.gettempdir())

    def full(**given: Any) -> Any:
        # Doctor closes it.
        return Path("/dev/full").open("r+b", buffering=0) if given["dir"] == temporary else real(**given)

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    verdict, text = said(run("doctor"))["temporary files"]
    assert (verdict, "No space left" in text) == ("wrong", True)


def test_a_lost_file_is_wrong(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with monkeypatch.context() as shipped:
        shipped.setenv("LOGOADMIN_CREATE", "false")
        (text,) = (text for check, text in problems(run("doctor")).items() if check == "database")
        assert text.startswith("logoadmin.db does not exist, but should; check that its disk is mounted")
        (tmp_path / "logoadmin.db").touch()
        assert problems(run("doctor"))["tables"].startswith("its gallery is gone; ")
        (tmp_path / "logoadmin.db").unlink()
    (tmp_path / "logoadmin.db-wal").touch()
    file = tmp_path / "logoadmin.db"
    assert problems(run("doctor"))["file"].startswith(f"{file} is gone, but its log {file}-wal exists; ")


def test_a_factor_key_that_decrypts_nothing_is_wrong(run: Run, monkeypatch: pytest.MonkeyPatch, started: Path) -> None:
    secret = FernetEncryption().encrypt("JBSWY3DPEHPK3PXP", f"second factor of 2000000000 {SECRET}")
    ran(FACTOR.format("totp", f"'{secret}'"))(started.parent)
    assert problems(run("doctor"))["factor_key"].startswith("not set: the secrets of 1 of 1 authenticator apps")
    monkeypatch.setenv("LOGOADMIN_FACTOR_KEY", "another-key-of-32-bytes-or-more-.")
    assert problems(run("doctor"))["factor_key"].startswith("another one: the secrets of 1 of 1 authenticator apps")
    monkeypatch.setenv("LOGOADMIN_FACTOR_KEY", f"another-key-of-32-bytes-or-more-.,{SECRET}")
    assert problems(run("doctor")) == {}


@pytest.mark.parametrize("closed", ["above", "above/data"])
def test_closed_folders_are_named(run: Run, monkeypatch: pytest.MonkeyPatch, sqlite_file: Path, closed: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        monkeypatch.chdir(place)
        os.makedirs("above/data")
        shutil.copy(sqlite_file, "above/data/gallery.db")
        monkeypatch.setenv("LOGOADMIN_GALLERY_DIR", f"{place}/above/data/published")
        os.chmod(closed, 0)
        run("doctor")  # loads modules that other users may not be able to read
        with unprivileged():
            found = problems(run("doctor", "--database", "sqlite:///above/data/gallery.db"))
        os.chmod(closed, 0o755)
    assert {"directory", "gallery_dir"} <= found.keys() <= {"directory", "gallery_dir", "temporary files"}
    assert f"{place}/above/data" in found["directory"]
    assert f"{place}/above/data" in found["gallery_dir"]


@pytest.mark.usefixtures("gallery")
def test_little_space_and_network_disks_are_reported(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2**20))
    mounts, place = tmp_path / "mounts", tmp_path.resolve() / "Фото café"
    place.mkdir()
    escaped = str(place).replace(" ", "\\040")
    mounts.write_text(f"none / ext4 rw 0 0\nserver:/gallery {escaped} nfs4 rw 0 0\n", "utf-8")
    monkeypatch.setattr(sqlite_checks, "MOUNTS", mounts)
    found = problems(run("doctor", "--database", f"sqlite:///{place.name}/gallery.db"))
    assert ({*found}, "nfs4" in found["file system"]) == ({"disk", "file system", "file"}, True)


@pytest.mark.parametrize(
    ("version", "verdict"),
    [
        *((version, "warning") for version in ((3, 40, 1), (3, 44, 5), (3, 45, 9), (3, 50, 6), (3, 51, 2))),
        *((version, "ok") for version in ((3, 44, 6), (3, 50, 7), (3, 51, 3), (3, 53, 0))),
    ],
    ids=str,
)
def test_versions_of_sqlite_with_the_wal_bug_are_recognised(version: tuple[int, ...], verdict: str) -> None:
    assert sqlite_checks._library(version).verdict.value == verdict


def test_control_characters_in_a_name_are_escaped(run: Run, tmp_path: Path) -> None:
    ended = run("doctor", "--database", f"sqlite:///{tmp_path}/a\x1b[31m.db")
    assert "\x1b" not in ended.out
    assert r"\x1b[31m" in ended.out


# Through a proxy

PROBE: Final = "/gallery/api/changes?limit=none"
HERE: Final = "127.0.0.1"


@pytest.mark.server("a server in a thread")
@pytest.mark.parametrize(
    ("bodies", "host", "verdict", "words"),
    [
        ({"/gallery/livez": WELL, PROBE: (422, {})}, HERE, {"url": "ok", "gallery": "ok"}, "has the keys"),
        ({"/livez": WELL}, HERE, {"url": "wrong"}, "strips the prefix"),
        ({"/gallery/livez": (502, {})}, HERE, {"url": "wrong"}, "status 502"),
        ({"/gallery/livez": WELL, PROBE: (421, {})}, HERE, {"url": "ok", "gallery": "wrong"}, "status 421"),
        ({"/gallery/livez": WELL, PROBE: (403, {})}, HERE, {"url": "ok", "gallery": "wrong"}, "status 403"),
        # Without TLS, no token is sent.
        ({"/gallery/livez": WELL}, "0.0.0.0", {"url": "ok", "gallery": "warning"}, "not encrypted"),
    ],
    ids=["well", "prefix", "gateway", "host", "no authorization", "no TLS"],
)
def test_faults_of_a_proxy_are_reported_and_nothing_is_changed(
    run: Run,
    started: Path,
    bodies: dict[str, tuple[int, object]],
    host: str,
    verdict: dict[str, str],
    words: str,
) -> None:
    before = started.read_bytes()
    with answering_at(bodies) as port:
        ended = run("doctor", "--port", "0", "--url", f"http://{host}:{port}/gallery")
    assert "eyJ" not in ended.out
    found = {check: found for check, found in said(ended).items() if check in verdict}
    assert {check: each for check, (each, _) in found.items()} == verdict
    assert words in [*found.values()][-1][1]
    assert started.read_bytes() == before


def test_the_token_sent_by_doctor_is_invalid(started: Path) -> None:
    settings = settings_of(database=f"sqlite:///{started}")
    headers = [("authorization", f"Bearer {token_of_nobody(settings)}")]
    with open_gallery(settings) as gallery:
        service = http_application(gallery)
        for path in ("/api/auth/me", "/api/changes", "/api/users"):
            assert ask(service, "GET", path, headers=headers).status_code == 401
        # What identifies this gallery: other galleries have other keys.
        for end, status in (("", 422), ("x", 401)):
            headers = [("authorization", f"Bearer {token_of_nobody(settings)}{end}")]
            assert ask(service, "GET", PROBE.removeprefix("/gallery"), headers=headers).status_code == status


def _untrusted() -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_message = "the reason"
    return error


@pytest.mark.usefixtures("gallery")
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (_untrusted(), "the certificate of g.example is refused: the reason; renew it"),
        (ssl.SSLError(1, "WRONG_VERSION_NUMBER"), "WRONG_VERSION_NUMBER"),
        (socket.gaierror(-2, "Name or service not known"), "no response from g.example: Name or service not known"),
    ],
)
def test_an_unreachable_url_has_a_reason(run: Run, monkeypatch: pytest.MonkeyPatch, error: OSError, words: str) -> None:
    def fails(*_given: object, **_named: object) -> None:
        raise error

    monkeypatch.setattr(socket, "create_connection", fails)
    assert words in said(run("doctor", "--url", "https://g.example"))["url"][1]


# A missing extra.

NO_PLACE = "install logoadmin again, from its wheel or its source directory, with the extra [server]"


def cure(monkeypatch: pytest.MonkeyPatch, direct_url: object) -> str:
    """Return the cure for an installation with the installer's record of its source."""
    files = {"direct_url.json": direct_url if isinstance(direct_url, str | None) else json.dumps(direct_url)}
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: SimpleNamespace(read_text=files.get))
    return install_extra("server")


@pytest.mark.rule("contract K4")
def test_the_cure_installs_from_where_logoadmin_came_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wheel = tmp_path / "it's here" / "logoadmin-0.1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.touch()
    direct_url: dict[str, Any] = {"url": tmp_path.as_uri(), "dir_info": {}}
    assert cure(monkeypatch, direct_url) == f"run pip install '{tmp_path}[server]'"
    direct_url["dir_info"]["editable"] = True
    assert cure(monkeypatch, direct_url) == f"run pip install --editable '{tmp_path}[server]'"
    quoted = str(wheel).replace("'", "'\"'\"'")
    assert cure(monkeypatch, {"url": wheel.as_uri(), "archive_info": {}}) == f"run pip install '{quoted}[server]'"
    repository = {"url": "https://git.example/logoadmin", "vcs_info": {"vcs": "git", "commit_id": "abc"}}
    expected = "run pip install 'logoadmin[server] @ git+https://git.example/logoadmin@abc'"
    assert cure(monkeypatch, repository) == expected


@pytest.mark.parametrize(
    "direct_url", [None, "", "no JSON", {}, {"url": "file:///gone/logoadmin.whl", "archive_info": {}}]
)
def test_the_cure_names_no_source_that_is_gone(monkeypatch: pytest.MonkeyPatch, direct_url: object) -> None:
    assert cure(monkeypatch, direct_url) == NO_PLACE
