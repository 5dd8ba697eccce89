"""Settings: sources, values, refusals, and how they are printed (contract K4)."""

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import pytest

import logoadmin
from logoadmin.adapters.oauth_issuer.github import GitHubIssuer
from logoadmin.bootstrap import issuer_of, open_gallery
from logoadmin.domain.changes.csv_lines import CSV_KINDS
from logoadmin.domain.kernel.errors import OutgoingError, SettingsError, StartError
from logoadmin.domain.kernel.kinds import KINDS
from logoadmin.entrypoints.cli import cli
from logoadmin.ports.issuer import Authorization
from logoadmin.settings import Settings, load_settings, settings_of
from logoadmin.settings.rules import sign_in_rules
from tests.entrypoints.conftest import Run, assert_one_line
from tests.issuer import fake_issuer
from tests.privileges import unprivileged

pytestmark = [pytest.mark.usefixtures("empty_directory"), pytest.mark.rule("contract K4")]


@pytest.fixture
def secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of secrets, named in the environment."""
    directory = tmp_path / "secrets"
    directory.mkdir()
    monkeypatch.setenv("LOGOADMIN_SECRETS_DIR", str(directory))
    return directory


def shown(out: str) -> dict[str, tuple[str, str]]:
    """Return the value and the origin of each setting that was printed."""
    lines = [re.fullmatch(r"(\w+) {2,}(.+?) {2,}(.+)", line) for line in out.splitlines()]
    return {line[1]: (line[2], line[3]) for line in lines if line is not None}


@pytest.mark.rule("contract H1", "contract I4")
def test_options_have_the_limits_of_their_settings() -> None:
    """The command line repeats limits whose modules would delay its help."""
    commands = cli.commands.items()
    types: dict[Any, Any] = {(name, each.name): each.type for name, command in commands for each in command.params}
    settings = Settings.model_json_schema()["properties"]
    limits = settings["workers"]
    workers = types["serve", "workers"]
    assert (workers.min, workers.max) == (limits["minimum"], limits["maximum"])
    assert limits["description"].endswith(f"up to {limits['maximum']}")
    assert list(types["serve", "log_level"].choices) == settings["log_level"]["enum"]
    assert types["export", "kinds"].choices == tuple(KINDS)
    assert types["import", "kind"].choices == CSV_KINDS


@pytest.mark.rule("contract H1")
def test_each_setting_is_printed_with_its_source(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, secrets: Path
) -> None:
    Path("logoadmin.toml").write_text('hosts = ["a.example", "b.example"]\nworkers = 9\nport = 9\n')
    (secrets / "logoadmin_session_days").write_text("7\n")
    (secrets / "logoadmin_workers").write_text("8\n")
    (secrets / "others").write_text("left alone")
    monkeypatch.setenv("LOGOADMIN_WORKERS", "2")
    monkeypatch.setenv("LOGOADMIN_ACCESS", "open")
    monkeypatch.setenv("LOGOADMIN_LOG_FORMAT", "JSON")
    ended = run("config", "--access", "guarded", "--trusted-proxies", "10.0.0.0/8,::1")
    assert (ended.code, ended.err) == (0, "")
    found = shown(ended.out)
    assert [*found] == [*Settings.model_fields]
    assert {name: line for name, line in found.items() if line[1] != "default"} == {
        "port": ("0", "LOGOADMIN_PORT"),
        "access": ("guarded", "--access"),
        "workers": ("2", "LOGOADMIN_WORKERS"),
        "trusted_proxies": ("10.0.0.0/8,::1/128", "--trusted-proxies"),
        "session_days": ("7", str(secrets / "logoadmin_session_days")),
        "hosts": ("a.example,b.example", str(tmp_path / "logoadmin.toml")),
        "argon2_memory_kib": ("8", "LOGOADMIN_ARGON2_MEMORY_KIB"),
        "argon2_passes": ("1", "LOGOADMIN_ARGON2_PASSES"),
        "log_format": ("json", "LOGOADMIN_LOG_FORMAT"),
    }
    assert found["database"] == ("sqlite:///logoadmin.db", "default")
    assert found["token_key"] == ("none", "default")
    assert not Path("logoadmin.db").exists()


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("mysql+pymysql://ann:hidden@db:3306/gallery", "mysql+pymysql://***@db:3306/gallery"),
        ("mysql://ann:hid@den@db/gallery", "mysql://***@db/gallery"),
        ("mysql://ann:hid/den@[::1]:3306/gallery", "mysql://***@[::1]:3306/gallery"),
        ("mysql://ann@db/x?password=hidden&ssl=true&passwd=hidden", "mysql://***@db/x"),
        ("mysql://ann:hidden", "***"),
        ("mysql://db/gallery?user=ann&password=hidden", "***"),
        ("mysql:///ann:hidden@db/gallery", "mysql://***@db/gallery"),
        ("mysql://db?user=ann&password=hidden@99", "***"),
        ("mysql://db/gallery?user=ann&password=hid@hidden", "***"),
        ("mysql://ann:x@y?hidden=1@db/gallery", "***"),
        ("mysql://ann:hid?den@db/gallery", "***"),
        ("mysql://ann@db:hidden/gallery", "***"),
        ("mysql://ann@db/x?hidden&ssl=true", "mysql://***@db/x"),
        ("mysql:///gallery", "***"),
        ("ann:hidden@db", "***"),
        ("hidden", "***"),
        ("sqlite:////srv/gallery.db", "sqlite:////srv/gallery.db"),
        ("sqlite:////srv/a@b/c@d.db", "sqlite:////srv/a@b/c@d.db"),
        ("sqlite:///gallery.db?key=hidden", "***"),
        ("memory:", "memory:"),
    ],
)  # fmt: skip
def test_no_secret_is_shown(run: Run, monkeypatch: pytest.MonkeyPatch, url: str, written: str) -> None:
    given = {"database": url, "token_key": "hidden" * 6, "admin_password": "hidden", "token_key_files": "/a.pem,/b.pem"}
    for name, value in given.items():
        monkeypatch.setenv(f"LOGOADMIN_{name.upper()}", value)
    ended = run("config")
    assert ended.code == 0
    found, printed = shown(ended.out), {**given, "database": written, "token_key": "***", "admin_password": "***"}
    assert {name: found[name] for name in given} == {n: (text, f"LOGOADMIN_{n.upper()}") for n, text in printed.items()}
    assert "hidden" not in ended.out + ended.err
    monkeypatch.setenv("LOGOADMIN_WORKERS", "hidden")
    refused = run("config")
    assert_one_line(refused, 2, "workers (LOGOADMIN_WORKERS)")
    assert "hidden" not in refused.err


def test_control_characters_are_printed_as_escapes(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGOADMIN_GALLERY_DIR", "a\x1b[2Jb\n")
    out = run("config").out
    assert (r"a\x1b[2Jb\n" in out, "\x1b" in out) == (True, False)
    monkeypatch.setenv("LOGOADMIN_\x1b[2J", "1")
    assert_one_line(run("config"), 2, r"LOGOADMIN_\x1b[2J")


def test_a_misspelt_name_is_refused_in_every_source(run: Run, monkeypatch: pytest.MonkeyPatch, secrets: Path) -> None:
    Path("logoadmin.toml").write_text("databse = 'sqlite:///x.db'\n")
    (secrets / "logoadmin_tokenkey").write_text("k" * 32)
    monkeypatch.setenv("LOGOADMIN_PROT", "8000")
    monkeypatch.setenv("LOGOADMIN_SECRET_DIR", "x")
    monkeypatch.setenv("LOGOADMIN_ZZZZ", "x")
    assert_one_line(
        run("openapi"),
        2,
        "logoadmin.toml: unknown setting databse, did you mean database?",
        f"{secrets}: unknown setting logoadmin_tokenkey, did you mean logoadmin_token_key?",
        "unknown setting LOGOADMIN_PROT, did you mean LOGOADMIN_PORT?",
        "unknown setting LOGOADMIN_SECRET_DIR, did you mean LOGOADMIN_SECRETS_DIR?",
        "unknown setting LOGOADMIN_ZZZZ",
    )


@pytest.mark.rule("contract H1")
def test_wrong_settings_have_sources(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, secrets: Path) -> None:
    Path("logoadmin.toml").write_text("session_days = 0\n")
    (secrets / "logoadmin_cache_seconds").write_text("soon")
    monkeypatch.setenv("LOGOADMIN_WORKERS", "65")
    assert_one_line(
        run("config", "--hosts", "a b"),
        2,
        f"session_days ({tmp_path / 'logoadmin.toml'}): ",
        f"cache_seconds ({secrets / 'logoadmin_cache_seconds'}): ",
        "workers (LOGOADMIN_WORKERS): ",
        "hosts (--hosts): should be names or addresses",
    )


TCP: Final = "tcp://10.0.0.1:80"
# Lines of the file, variables and options, with the expected results.
REFUSED: Final[tuple[tuple[str, dict[str, str], str, tuple[str, ...]], ...]] = (
    *(
        (line, {}, "", (f"{line.split()[0]} (", "should be a whole number"))
        for line in ("port = true", "workers = 2.0", "metrics_port = false", "session_days = 1e2")
    ),
    *(
        ("", {name: TCP}, "", (f"{name}: set by Kubernetes", "enableServiceLinks: false"))
        for name in ("LOGOADMIN_PORT", "LOGOADMIN_METRICS_PORT", "LOGOADMIN_DB_PORT_3306_TCP")
    ),
    ("", {"LOGOADMIN_METRICS_PORT": "8000"}, "--port 8000", ("metrics_port must not be port",)),
    ("port = ", {}, "", ("logoadmin.toml cannot be read", "line 1")),
    ("", {"LOGOADMIN_SECRETS_DIR": "secrets"}, "", ("secrets", "UTF-8")),
    ("", {"LOGOADMIN_CONFIG": "nowhere.toml"}, "", ("LOGOADMIN_CONFIG", "nowhere.toml")),
)


@pytest.mark.rule("contract H1", "contract K2")
@pytest.mark.parametrize(("line", "variables", "options", "words"), REFUSED)
def test_an_impossible_setting_is_refused(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    variables: dict[str, str],
    options: str,
    words: tuple[str, ...],
) -> None:
    monkeypatch.delenv("LOGOADMIN_PORT")
    Path("secrets").mkdir()
    Path("secrets/logoadmin_token_key").write_bytes(b"\xff" * 32)
    if line:
        Path("logoadmin.toml").write_text(f"{line}\n")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert_one_line(run("config", *options.split()), 2, *words)


@pytest.mark.rule("contract K2")
def test_an_unusable_metrics_address_is_blamed_on_its_setting(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGOADMIN_METRICS_PORT", "0")
    monkeypatch.setenv("LOGOADMIN_METRICS_HOST", "no such host")
    assert_one_line(run("serve"), 1, "metrics_host, metrics_port: Cannot resolve host 'no such host'")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--host", "0.0.0.0"), "--access guarded"),
        (("--database", "nonsense"), "database URL"),
        (("--workers", "2", "--database", "memory:"), "--workers 1"),
    ],
)
def test_settings_that_serve_would_refuse_are_marked(run: Run, arguments: tuple[str, ...], words: str) -> None:
    ended = run("config", *arguments)
    assert ended.code == 0
    assert ended.err.startswith("logoadmin: serve refuses these settings: ")
    assert words in ended.err
    assert shown(ended.out)


def test_variables_that_kubernetes_sets_for_a_service_of_the_name_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    of_service = {"SERVICE_HOST": "10.0.0.1", "SERVICE_PORT": "80", "SERVICE_PORT_HTTP": "80"}
    for name, value in {**of_service, "PORT_80_TCP": TCP, "PORT_80_TCP_PROTO": "tcp"}.items():
        monkeypatch.setenv(f"LOGOADMIN_{name}", value)
    assert load_settings().port == 0


@pytest.mark.rule("contract H1")
@pytest.mark.parametrize("forbidden", ["logoadmin.toml", "secrets/logoadmin_token_key", "secrets", "."])
@pytest.mark.parametrize("variable", [None, "LOGOADMIN_CONFIG"])
def test_unreadable_settings_files_are_named(
    run: Run, monkeypatch: pytest.MonkeyPatch, forbidden: str, variable: str | None
) -> None:
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        monkeypatch.chdir(place)
        Path("secrets").mkdir()
        for file in ("logoadmin.toml", "secrets/logoadmin_token_key"):
            Path(file).touch()
        monkeypatch.setenv("LOGOADMIN_SECRETS_DIR", f"{place}/secrets")
        if variable is not None:
            monkeypatch.setenv(variable, f"{place}/logoadmin.toml")
        Path(forbidden).chmod(0)
        with unprivileged():
            ended = run("config")
        os.chmod(place, 0o755)
        Path(forbidden).chmod(0o755)
        unreadable = "logoadmin.toml" if forbidden == "." else forbidden
        assert_one_line(ended, 2, f"{unreadable} cannot be read: Permission denied")


PEM: Final = ("/keys/e 1.pem", "f.pem")
# Settings that are lists or a path: the default, then texts of the file and of everything else, with their values.
# fmt: off
WRITTEN: Final[tuple[tuple[str, object, dict[str, object], dict[str, object]], ...]] = (
    ("trusted_proxies", (),
        dict.fromkeys(('["127.0.0.1", "fd00::/8"]', '"127.0.0.1 ,fd00::/8,"'), ("127.0.0.1/32", "fd00::/8")),
        {"::1": ("::1/128",), "10.0.0.0/8": ("10.0.0.0/8",), " ": ()}),
    ("hosts", (), {'["gallery.example"]': ("gallery.example",)}, {" a.example,fd00::1 ,": ("a.example", "fd00::1")}),
    ("origins", (), {'["https://a.example"]': ("https://a.example",)},
        {" https://a.example,https://a.example ,": ("https://a.example",) * 2}),
    ("outgoing_hosts", (), {'["Styles.internal"]': ("styles.internal",)},
        {" A.internal.,10.0.0.5,[FD00::0:1] ,": ("a.internal", "10.0.0.5", "fd00::1"), "": ()}),
    ("root_path", "", {'"/gallery"': "/gallery"},
        {path: path for path in ("/a", "/a/b-c_d.e~f/..g", "/.well-known", "")}),
    ("public_url", None, {'"https://Gallery.example/"': "https://gallery.example"},
        {"http://LOCALHOST:8000/a/": "http://localhost:8000/a", "https://[::1]": "https://[::1]"}),
    ("token_key_files", (), {'["a.pem", "b,c.pem"]': ("a.pem", "b,c.pem"), '"a.pem, b.pem"': ("a.pem", "b.pem")},
        {"/keys/e 1.pem ,f.pem,": PEM, " ": ()}),
)
# fmt: on


def value(name: str, settings: Settings) -> object:
    found = getattr(settings, name)
    return tuple(map(str, found)) if isinstance(found, tuple) else found


@pytest.mark.rule(
    "contract H1", "contract H5", "contract A22", "contract F2", "contract C2", "contract L8", "contract O8"
)
@pytest.mark.parametrize(("name", "default", "in_file", "elsewhere"), WRITTEN)
def test_lists_and_paths_are_read_from_every_source(
    monkeypatch: pytest.MonkeyPatch,
    secrets: Path,
    name: str,
    default: object,
    in_file: dict[str, object],
    elsewhere: dict[str, object],
) -> None:
    assert value(name, load_settings()) == default
    for text, expected in in_file.items():
        Path("logoadmin.toml").write_text(f"{name} = {text}\n")
        assert value(name, load_settings()) == expected
    for text, expected in elsewhere.items():
        (secrets / f"logoadmin_{name}").write_text(f"{text}\n")
        assert value(name, load_settings()) == expected, text
    for text, expected in elsewhere.items():
        monkeypatch.setenv(f"LOGOADMIN_{name.upper()}", text)
        assert value(name, load_settings()) == expected, text
    monkeypatch.setenv(f"LOGOADMIN_{name.upper()}", "!")
    for text, expected in elsewhere.items():
        assert value(name, load_settings(**{name: text})) == expected, text


@pytest.mark.rule("contract H6")
def test_an_embedding_program_sets_the_sign_in_rules_by_name() -> None:
    with logoadmin.connect(second_factor="required", min_password_length=12, access="guarded"):
        pass
    with pytest.raises(SettingsError, match=r"^Settings are wrong: factor_key: should have at least 32 characters$"):
        logoadmin.connect(factor_key="short")
    with pytest.raises(TypeError, match=r"^connect\(\) got unexpected arguments: second_facter$"):
        logoadmin.connect(second_facter="required")  # type: ignore[call-arg]  # misspelt
    with pytest.raises(TypeError, match=r"^connect\(\) needs the database as a text, such as sqlite:///gallery.db$"):
        logoadmin.connect(None)  # type: ignore[arg-type]  # as of a variable that is not set


@pytest.mark.rule("contract O8")
@pytest.mark.parametrize(
    ("given", "base"),
    [
        ({}, "http://localhost:8000"),
        ({"port": 80, "host": "192.0.2.1", "hosts": ["gallery.example"]}, "http://localhost"),
        ({"port": 9, "root_path": "/gallery"}, "http://localhost:9/gallery"),
        ({"port": 9, "root_path": "/gallery", "public_url": "https://A.example/b/"}, "https://a.example/b"),
    ],
)
def test_the_public_url_comes_from_the_settings_alone(given: dict[str, Any], base: str) -> None:
    assert settings_of(**given).effective_public_url.base == base


@pytest.mark.rule("contract H1")
def test_a_directory_or_dangling_link_in_place_of_the_settings_file_is_an_error(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "logoadmin.toml"
    file.mkdir()
    assert_one_line(run("config"), 2, "logoadmin.toml cannot be read: Is a directory")
    with monkeypatch.context() as named:
        named.setenv("LOGOADMIN_CONFIG", str(file))
        assert_one_line(run("config"), 2, "logoadmin.toml cannot be read: Is a directory")
    file.rmdir()
    file.symlink_to(tmp_path / "moved.toml")
    assert_one_line(run("config"), 2, "logoadmin.toml cannot be read: No such file or directory")


# Values.

CLIENT: dict[str, Any] = {"oidc_issuer": "https://login.example", "oidc_client_id": "a", "oidc_client_secret": "s3cret"}
ROLES: dict[str, Any] = {"oidc_roles": "editors=member"}
WHOLE: dict[str, Any] = CLIENT | ROLES | {"outgoing_hosts": ["idp.internal"]}
SUBMIT: Final = "https://site.example/submit?a"
# Accepted values, with their converted form if it differs.
# fmt: off
TAKEN: Final[tuple[tuple[str, tuple[Any, ...], dict[Any, Any]], ...]] = (
    ("gallery_home", ("https://a.example", "http://a.example:8/b?c#d", "HTTPS://ä.example/ä", ""), {}),
    ("gallery_submit", (False, SUBMIT), {"true": True, "false": False}),
    ("gallery_report", ("", "https://a.example/report?page={url}", "MAILTO:us@a.example?body={url}"), {}),
    # Unchanged, because it is compared.
    ("oidc_issuer", (
        *("https://login.example", "https://login.example/", "https://login.example:8443/realms/a", "https://[::1]/x"),
        *("http://localhost:8080/realms/a", "http://127.0.0.1:9", "http://[::1]:9", "http://idp.internal/x"),
    ), {}),
)
# fmt: on
ISSUER: Final = "should be the URL of the issuer"
GROUPS: Final = "should be groups with their roles"
NETWORKS: Final = "should be IP addresses and networks, separated by commas, such as 127.0.0.1,10.0.0.0/8,fd00::/8"
NAMES: Final = "should be names or addresses without ports, separated by commas, such as styles.internal,10.0.0.5"
PREFIX: Final = "should begin with / and not end with it, such as /gallery; between them are letters, digits and"
NO_PROXIES: Final[tuple[Any, ...]] = ("*", "localhost", "10.0.0.1/8", "127.0.0.1 ::1", "127.0.0.1:80", "1", [1], 1)
NO_NAMES: Final[tuple[Any, ...]] = ("a/b", "gallery.example:80!", "a b", "u@a", ["a,b"], [1], 1, {}, [None])
# Settings that are refused, with a part of the message; for values of another type it is pydantic's.
BAD_VALUES: Final[tuple[tuple[str, str, tuple[Any, ...]], ...]] = (
    *((name, "should be a name or an address alone", ("", "[::1]", "http://gallery.example", "gallery.example/"))
        for name in ("host", "metrics_host")),
    ("admin_password", "must not be empty; without it, a password is generated", ("",)),
    ("admin_password", "must not be longer than 256 characters", ("x" * 257,)),
    ("gallery_title", "", ("", " ", "a\nb", "\ud800", "x" * 101)),
    ("gallery_home", "should be an http or https URL", (
        *("javascript:alert(1)", "//a.example", "a.example", "https://", "https://u:p@a.example", "https://a b"),
        "https://a\n",
    )),
    ("gallery_submit", "", ("javascript:alert(1)", "", "maybe", "https://u:p@a.example", "mailto:a@b.example")),
    ("gallery_report", "should be an http or https URL", (
        *("javascript:{url}", "mailto:", "mailto:a b@c.example", "data:text/html,x", "{url}"),
    )),
    ("oidc_issuer", ISSUER, (
        *("", "login.example", "ftp://login.example", "https://", "https:///x", "https://u:p@login.example"),
        *("https://login.example/?a", "https://login.example/#a", "https://login.example/a b", "https://a..b"),
        *("https://login.example/\n", "https://login.example:99999", "javascript:alert(1)", "https://0x7f.1"),
        "https://login.example/" + "x" * 2048,
    )),
    ("oidc_client_id", "", ("", "a\nb", "a\0")),
    ("oidc_client_secret", "", ("", "a\nb", "a\0")),
    ("oidc_roles", GROUPS, (
        *("a", "=x", "a=", "a=x,b", {"a": ""}, {"": "x"}, {"a": None}, {"a": ["x"]}, {"a": 1.5}, 5, ["a"], [5]),
        *({"a": True}, "a\nb=x", f"{'a' * 256}=x", ["a=x"] * 1_001),
    )),
    ("trusted_proxies", NETWORKS, (*NO_PROXIES, *([wrong] for wrong in (*NO_PROXIES, {}, None)))),
    ("hosts", "should be names or addresses", NO_NAMES),
    ("origins", "should be", NO_NAMES),
    ("outgoing_hosts", NAMES, (
        *(*NO_NAMES, "a:80", "*", "*.a", "http://a", "10.0.0.0/8", "127.1", "0x7f.1", "017700000001", "fe80::1%lo"),
        *("a..b", "é", f"{'a' * 64}.b", "a." * 127 + "b"),
    )),
    ("notify_urls", "should be URLs that begin with https://", (
        *("hook", "ftp://a/b", "https://", "https://u:p@a/b", "https://a/b#c", "https://a/b c"),
        f"https://a/{'b' * 2048}",
    )),
    ("root_path", PREFIX, (
        *("/", "gallery", "/a/", "//a", "/a//b", "/a?b", "/a#b", "/a b", "/a%20b", "/é", "/a\n", "/.", "/a/../b"),
        "http://a/b",
    )),
    ("public_url", "should be", (
        *("gallery.example", "https://a?b", "https://a#b", "https://u:p@a", "ftp://a", "http://a", "http://192.0.2.1"),
        *("https://a/..", "https://a/b//", "https://", "https://a:0", "null", "*", ""),
    )),
)  # fmt: skip


def refused(**given: Any) -> str:
    with pytest.raises(SettingsError) as caught:
        settings_of(**given)
    assert "s3cret" not in str(caught.value)
    return str(caught.value)


@pytest.mark.rule("contract O7", "contract Q2")
@pytest.mark.parametrize(("name", "values", "others"), TAKEN)
def test_valid_values_are_accepted(
    name: str, values: tuple[Any, ...], others: dict[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for given, kept in [*zip(values, values, strict=True), *others.items()]:
        assert getattr(settings_of(**WHOLE | {name: given}), name) == kept
    monkeypatch.setenv("LOGOADMIN_GALLERY_SUBMIT", SUBMIT)
    assert load_settings().gallery_submit == SUBMIT


@pytest.mark.rule("contract O7", "contract Q2", "contract H1", "contract H5", "contract A22", "contract F2")
@pytest.mark.rule("contract L8", "contract O8", "contract H3")
@pytest.mark.parametrize(("name", "words", "values"), BAD_VALUES)
def test_invalid_values_are_refused_with_an_explanation(name: str, words: str, values: tuple[Any, ...]) -> None:
    for value in values:
        text = refused(**WHOLE | {name: value})
        assert text.startswith(f"Settings are wrong: {name}: "), value
        assert words in text or "Input should be" in text, text


@pytest.mark.rule("contract O7")
@pytest.mark.parametrize("host", ["login.example", "10.0.0.1", "localhost.example"])
def test_only_listed_hosts_are_allowed_without_tls(host: str) -> None:
    given = CLIENT | ROLES | {"oidc_issuer": f"http://{host}/x"}
    assert "oidc_issuer should begin with https://" in refused(**given)
    assert settings_of(**given, outgoing_hosts=[host]).oidc_issuer


@pytest.mark.rule("contract O7")
def test_the_settings_of_the_client_are_required_together() -> None:
    for missing in CLIENT:
        given = {name: value for name, value in CLIENT.items() if name != missing}
        assert f"{missing} must be set as well" in refused(**given, **ROLES)
    expected = "oidc_issuer, oidc_client_id, oidc_client_secret must be set as well"
    assert expected in refused(**ROLES)
    assert expected in refused(oidc_default_role="1")
    assert "oidc_roles or oidc_default_role must be set" in refused(**CLIENT)
    assert settings_of(**CLIENT, oidc_default_role="1").oidc_default_role == "1"


@pytest.mark.rule("contract O7")
def test_github_has_no_groups() -> None:
    for url in ("https://github.com", "https://GitHub.com/"):
        given = CLIENT | {"oidc_issuer": url}
        settings = settings_of(**given, oidc_default_role="member", database="memory:")
        assert settings.oidc_issuer == "https://github.com"
        for roles_given in ({}, ROLES, ROLES | {"oidc_default_role": "member"}):
            expected = "oidc_default_role must be set, and oidc_roles must not: GitHub has no groups"
            assert expected in refused(**given, **roles_given)


@pytest.mark.rule("contract O7")
def test_the_recipe_for_github_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs/people.md").read_text(encoding="utf-8")
    found = re.search(r"### GitHub\n.*?`(https:[^`]*/console/)`.*?```toml\n(.*?)```", page, re.DOTALL)
    assert found is not None
    callback, recipe = found.groups()
    (tmp_path / "logoadmin.toml").write_text(recipe)
    monkeypatch.setenv("LOGOADMIN_OIDC_CLIENT_SECRET", "s3cret")
    issuer = issuer_of(load_settings())
    assert isinstance(issuer, GitHubIssuer)
    assert issuer.return_url == callback
    assert issuer.authorization() == Authorization(
        *("https://github.com/login/oauth/authorize", "", "https://github.com/login/oauth"), iss_in_response=False
    )


@pytest.mark.rule("contract O7")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (" b = y , a=x,", (("b", "y"), ("a", "x"))),
        ("cn=editors=Editor", (("cn=editors", "Editor"),)),
        ({"b, c": "y", "a=1": 2}, (("b, c", "y"), ("a=1", "2"))),
        (["/community/editors=3"], (("/community/editors", "3"),)),
        ("", ()),
    ],
)
def test_roles_of_groups_keep_their_order(given: object, expected: tuple[tuple[str, str], ...]) -> None:
    settings = settings_of(**CLIENT, oidc_roles=given, oidc_default_role="1")
    assert sign_in_rules(settings).single_sign_on.roles == expected


@pytest.mark.rule("contract O7")
def test_roles_come_from_a_table_and_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "logoadmin.toml").write_text(
        'oidc_issuer = "https://login.example"\noidc_client_id = "a"\noidc_client_secret = "s"\noidc_default_role = 1\n'
        '[oidc_roles]\n"community/staff, all" = "admin"\neditors = 3\n'
    )
    settings = load_settings()
    assert sign_in_rules(settings).single_sign_on.roles == (("community/staff, all", "admin"), ("editors", "3"))
    assert sign_in_rules(settings).single_sign_on.named == ("admin", "3", "1")
    monkeypatch.setenv("LOGOADMIN_OIDC_ROLES", "x=y")
    assert sign_in_rules(load_settings()).single_sign_on.roles == (("x", "y"),)


@pytest.mark.rule("contract O7")
def test_a_private_issuer_is_allowed_but_style_sheets_on_it_are_not() -> None:
    """The issuer's host counts as listed, for the issuer alone (contract L8)."""
    with fake_issuer() as fake:
        settings = settings_of(**CLIENT | ROLES | {"oidc_issuer": fake.url}, database="memory:")
        issuer = issuer_of(settings)
        assert issuer is not None
        assert issuer.authorization().endpoint == f"{fake.url}/authorize"
        with open_gallery(settings) as gallery:
            outgoing = gallery._ports.outgoing
            assert outgoing is not None
            with pytest.raises(OutgoingError, match="not public"):
                outgoing.fetch(f"{fake.url}/keys", most=1_000, seconds=5)


@pytest.mark.rule("contract O7")
def test_without_httpx2_an_issuer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_of(**CLIENT, **ROLES, database="memory:")
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(StartError, match=r"needs httpx2; "):
        open_gallery(settings)
