"""The files of deploy/ are well-formed and restrict the service, and the commands that install them work."""

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import promql_parser as promql
import pytest
import yaml  # type: ignore[import-untyped]  # its types are another package

from logoadmin.entrypoints.cli import cli
from logoadmin.entrypoints.http_api.operation import MAX_UPLOAD
from logoadmin.settings import Settings
from tests.mariadb import search_path
from tests.options import skip_without
from tests.series import all_series

pytestmark = pytest.mark.rule("contract K6", "contract K2")

ROOT: Final = Path(__file__).parents[2]
PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DEPLOY: Final = ROOT / "deploy"
UNITS: Final = sorted(path.name for path in DEPLOY.iterdir() if path.suffix in (".service", ".socket", ".timer"))
REPORT: Final = "logoadmin-failed@.service"
PROGRAM: Final = "/opt/logoadmin/bin/logoadmin"
MOST_EXPOSURE: Final = 2.0


def unit(name: str) -> configparser.RawConfigParser:
    # A directive may occur several times; the last one is used here.
    parsed = configparser.RawConfigParser(strict=False, delimiters="=")
    parsed.optionxform = str  # type: ignore[assignment, method-assign]  # as its docs ask for
    parsed.read_string((DEPLOY / name).read_text(encoding="utf-8"))
    return parsed


def systemd_analyze(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Let systemd read all units, with an existing program in place of ours."""
    program = shutil.which("systemd-analyze", path=search_path())
    if program is None:
        skip_without("SYSTEMD", "systemd-analyze is not installed")
    for name in UNITS:
        (directory / name).write_text((DEPLOY / name).read_text(encoding="utf-8").replace(PROGRAM, "/bin/true"))
    command = [program, *arguments]
    return subprocess.run(command, cwd=directory, check=False, capture_output=True, text=True, timeout=60)


def test_systemd_reports_nothing_about_the_units(tmp_path: Path) -> None:
    assert "logoadmin.service" in UNITS
    verified = systemd_analyze(tmp_path, "verify", "--man=no", *(f"./{name}" for name in UNITS))
    of_ours = [line for line in verified.stderr.splitlines() if "logoadmin" in line]
    assert (verified.returncode, of_ours) == (0, [])


@pytest.mark.parametrize("name", [name for name in UNITS if name.endswith(".service")])
def test_the_units_restrict_the_service(name: str, tmp_path: Path) -> None:
    judged = systemd_analyze(tmp_path, "security", "--offline=true", "--no-pager", f"./{name}")
    exposure = re.search(r"Overall exposure level for \S+: ([\d.]+)", judged.stdout)
    assert exposure is not None, judged.stderr
    assert float(exposure[1]) <= MOST_EXPOSURE


def test_a_failed_unit_is_reported() -> None:
    """systemd knows no failure of a service that it restarts, so OnFailure= is not enough for it."""
    for name in ("logoadmin.service", "logoadmin-backup.service", "logoadmin-publish.service"):
        section, key = ("Service", "ExecStopPost") if "Restart" in unit(name)["Service"] else ("Unit", "OnFailure")
        assert "logoadmin-failed@%n.service" in unit(name)[section][key]
    assert REPORT in UNITS


@pytest.mark.parametrize("name", [name for name in UNITS if name.endswith(".service") and name != REPORT])
def test_the_units_run_existing_commands_as_a_system_user(name: str) -> None:
    service = unit(name)["Service"]
    command = re.search(rf"{PROGRAM} (\w+)", service["ExecStart"])
    assert command is not None
    assert command[1] in cli.commands
    assert service["User"] == "logoadmin"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return read


def test_the_settings_secrets_and_networks_of_compose_exist(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        assert service.keys() >= {"mem_limit", "cpus", "pids_limit"}
        own = {name for name in service.get("environment", ()) if name.startswith("LOGOADMIN_")}
        assert own <= {f"LOGOADMIN_{name.upper()}" for name in Settings.model_fields} | {"LOGOADMIN_SECRETS_DIR"}
        wanted = [entry if isinstance(entry, str) else entry["source"] for entry in service["secrets"]]
        assert set(wanted) <= set(compose["secrets"])
        assert set(service["networks"]) <= set(compose["networks"])
        assert set(service.get("depends_on", ())) <= set(compose["services"])
    gateway = compose["networks"]["outside"]["ipam"]["config"][0]["gateway"]
    served = compose["services"]["logoadmin"]
    assert served["environment"]["LOGOADMIN_TRUSTED_PROXIES"] == gateway
    assert [secret["target"] for secret in served["secrets"]] == ["logoadmin_database"]
    assert all(port.startswith("127.0.0.1:") for port in served["ports"])


def test_the_container_is_unprivileged_and_its_root_read_only(compose: dict[str, Any]) -> None:
    lines = (DEPLOY / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    instructions = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    arguments = dict(each.split("=") for name, each in instructions if name == "ARG")
    assert re.search(r":\d+\.\d+\.\d+-|@sha256:", arguments["PYTHON_IMAGE"]), "pinned by version or digest"
    assert {each.split()[0] for name, each in instructions if name == "FROM"} == {"${PYTHON_IMAGE}"}
    last = max(number for number, (name, _) in enumerate(instructions) if name == "FROM")
    of_last = dict(instructions[last:])
    assert of_last["USER"] == "10001"
    assert of_last["HEALTHCHECK"].endswith('CMD ["logoadmin", "healthcheck"]')
    assert "healthcheck" in cli.commands
    copied = [source for name, each in instructions[:last] if name == "COPY" for source in each.split()[:-1]]
    assert copied == ["deploy/requirements.txt", "dist/logoadmin-*.whl"]
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert ignored[1:] == ["*", "!deploy/requirements.txt", "!dist/*.whl"]
    for name in ("init", "logoadmin"):
        service = compose["services"][name]
        (memory,) = re.findall(r"^/tmp:size=(\d+)m$", "\n".join(service["tmpfs"]))
        assert MAX_UPLOAD < int(memory) * 2**20 < 2**30 / 2
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
        assert service["build"]["dockerfile"] == "deploy/Containerfile"


def test_the_database_of_compose_is_pinned_and_dumped_by_the_shipped_script(compose: dict[str, Any]) -> None:
    database, backup = compose["services"]["database"], compose["services"]["backup"]
    assert re.search(r":\d+\.\d+\.\d+}|@sha256:", database["image"]), "pinned by version or digest"
    assert backup["image"] == database["image"]
    assert "./logoadmin-dump:/usr/local/bin/logoadmin-dump:ro" in backup["volumes"]
    assert f"logoadmin-dump {database['environment']['MARIADB_DATABASE']} /backups 14 " in backup["command"][0]
    assert {volume.partition(":")[0] for volume in backup["volumes"]} & set(compose["volumes"]) == {"backups"}
    checked = subprocess.run(["bash", "-n"], input=backup["command"][0].replace("$$", "$"), text=True, check=False)
    assert checked.returncode == 0


# The dashboard and the alerts.

# Placeholders for times in a dashboard; those for labels are quoted already.
TIMES: Final = {"[$__rate_interval]": "[5m]", "[$__range]": "[1h]"}
# The labels of each series; ``up`` is Prometheus's own.
LABELS: Final = all_series() | {"up": set()}


@pytest.fixture(scope="module")
def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((DEPLOY / "prometheus-rules.yaml").read_text(encoding="utf-8"))["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def selectors(expression: str) -> Iterator[tuple[str, promql.VectorSelector]]:
    """Parse an expression, and yield its selectors, each with the name of its series."""
    for name, time in TIMES.items():
        expression = expression.replace(name, time)
    found: list[Any] = []

    def take(node: Any) -> bool:
        found.append(node)
        return True

    promql.walk(promql.parse(expression), take)
    for node in found:
        if isinstance(node, promql.VectorSelector):
            yield re.sub(r"_(?:bucket|sum|count)$", "", node.name or ""), node


def used(expression: str) -> set[str]:
    """Return the series of an expression, which must have the labels by which it selects."""
    for name, selector in selectors(expression):
        wanted = {matcher.name for matcher in selector.matchers.matchers}
        assert wanted <= LABELS[name] | {"job", "instance", "le"}, expression
    return {name for name, _ in selectors(expression)}


def test_the_dashboard_uses_every_series_and_no_other() -> None:
    dashboard = json.loads((DEPLOY / "grafana.json").read_text(encoding="utf-8"))
    targets = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert set().union(*map(used, targets)) == LABELS.keys()


def test_alerts_use_existing_series_and_describe_the_remedy(rules: list[dict[str, Any]]) -> None:
    for rule in rules:
        assert used(rule["expr"]), rule["alert"]
        # An alert compares a value with a threshold.
        assert isinstance(promql.parse(rule["expr"]), promql.BinaryExpr), rule["alert"]
        said = rule["annotations"]
        assert said["summary"].endswith(".")
        assert len(said["description"]) > len(said["summary"])


def test_the_docs_list_exactly_the_alerts(rules: list[dict[str, Any]]) -> None:
    docs = (ROOT / "docs/watch.md").read_text("utf-8")
    lists = re.findall(r"^- (critical|warning): ((?:`Logoadmin\w+`[,;.]\s+)+)", docs, re.MULTILINE)
    listed = {(name, severity) for severity, names in lists for name in re.findall(r"\w+", names)}
    assert listed == {(rule["alert"], rule["labels"]["severity"]) for rule in rules}


def test_prometheus_loads_the_rules_and_scrapes_their_job(rules: list[dict[str, Any]]) -> None:
    configuration = yaml.safe_load((DEPLOY / "prometheus.yaml").read_text(encoding="utf-8"))
    assert configuration["rule_files"] == ["prometheus-rules.yaml"]
    used = [selector for rule in rules for _, selector in selectors(rule["expr"])]
    jobs = {each.value for selector in used for each in selector.matchers.matchers if each.name == "job"}
    assert {scrape["job_name"] for scrape in configuration["scrape_configs"]} == jobs


# The commands that root pastes from the docs, in a separate root directory.

_BLOCKS: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Stand-ins for programs that need root or a network. Each fails where the real one would.
_STAND_INS: Final = {
    "useradd": 'touch "$ROOT/made-user"',
    "systemctl": """
for unit; do case $unit in *.service | *.socket | *.timer) test -f "$ROOT/etc/systemd/system/$unit" ;; esac; done""",
    "runuser": 'test -f "$ROOT/made-user"; test "$1 $2 $3" = "-u logoadmin --"; shift 3; exec "$@"',
    "install": """
given=
while [ $# -gt 0 ]; do
    case $1 in
        -o | -g) test -f "$ROOT/made-user"; shift ;;
        *) given="$given $1" ;;
    esac
    shift
done
exec /usr/bin/install $given""",
    "python3": """
test "$1 $2" = "-m venv"; mkdir -p "$3/bin"
ln -s "$PROGRAM" "$3/bin/logoadmin"
ln -s "$ROOT/bin/pip" "$3/bin/pip" """,
    "pip": """
test "$1" = install; shift
for word; do case $word in deploy/*) test -f "$word" ;; *.whl) test "$word" = "$WHEEL" ;; esac; done""",
}

# Steps after the installation: the page and the section of each.
_LATER: Final = (
    *(("backup", "### Every night"), ("backup", "### Every night, from a server")),
    *(("publish", "### A folder with nginx"), ("upgrade", "## A newer version")),
)


def blocks(language: str, page: str = "install", section: str = "## As a service") -> list[str]:
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8").partition(f"\n{section}\n")[2]
    text = re.split(rf"\n#{{2,{section.count('#')}}} ", text)[0]
    return [body for found, body in _BLOCKS.findall(text) if found == language]


def pasted(root: Path) -> str:
    """Return the commands that root pastes, with everything outside the source directory below ``root``."""
    scripts = [block for block in blocks("sh") if "make build" not in block]
    for page, section in _LATER:
        scripts += blocks("sh", page, section)
    script = "\n".join(scripts).replace("/usr/bin/python3", "python3").replace("NEW", "logoadmin-0.1.0")
    return re.sub(r"(?<![\w.])/(opt|etc|var|usr/local|srv)/", rf"{root}/\1/", script)


@pytest.mark.server("programs are started")
@pytest.mark.rule("contract K6")
def test_the_documented_commands_install_what_the_units_run(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    made = ("bin", "opt", "etc/systemd/system", "etc/nginx/conf.d", "var/lib", "var/backups", "usr/local/bin", "srv")
    for directory in (*made, "elsewhere"):
        (tmp_path / directory).mkdir(parents=True)
    shutil.copytree(ROOT / "deploy", tmp_path / "elsewhere/deploy")
    settings = tmp_path / "elsewhere/deploy/logoadmin.toml"
    settings.write_text(settings.read_text().replace("/var/lib/", f"{tmp_path}/var/lib/"))
    for name, body in _STAND_INS.items():
        (programs / name).write_text(f"#!/bin/sh\nset -eu\n{body}\n")
        (programs / name).chmod(0o755)
    version = PROJECT["version"]
    variables = {
        "PATH": f"{tmp_path}/usr/local/bin:{programs}:{os.environ['PATH']}",
        "ROOT": str(tmp_path),
        "PROGRAM": str(Path(sys.executable).with_name("logoadmin")),
        "WHEEL": f"dist/logoadmin-{version}-py3-none-any.whl",
    }
    given: Any = {"input": pasted(tmp_path), "cwd": tmp_path / "elsewhere", "env": {**os.environ, **variables}}
    done = subprocess.run(["bash", "-eu"], **given, check=False, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert "admin" in done.stdout
    for unit in ("logoadmin.service", "logoadmin.socket", "logoadmin-backup.timer", "logoadmin-publish.service"):
        assert (tmp_path / "etc/systemd/system" / unit).read_bytes() == (ROOT / "deploy" / unit).read_bytes()
    assert (tmp_path / "opt/logoadmin/bin/logoadmin").exists()
    assert (tmp_path / "var/lib/logoadmin/logoadmin.db").is_file()


@pytest.mark.rule("contract K6")
def test_the_documented_settings_match_the_shipped_file() -> None:
    shipped = (ROOT / "deploy/logoadmin.toml").read_text(encoding="utf-8")
    (shown,) = blocks("toml")
    assert shipped.endswith(f"\n\n{shown}")
    assert set(tomllib.loads(shipped)) <= set(Settings.model_fields)


def pins(path: str) -> dict[str, str]:
    """Return the entries of a lock by their names: version, markers and hashes."""
    lock = re.sub(r"^ +#.*\n", "", (ROOT / path).read_text(encoding="utf-8"), flags=re.MULTILINE)
    entries = re.split(r"\n(?=\S)", lock.strip())
    return {entry.partition("==")[0]: re.sub(r" ;[^\\]+", "", entry).strip() for entry in entries}


def test_the_lock_file_of_the_server_pins_the_tested_packages() -> None:
    tested, served = pins("requirements.txt"), pins("deploy/requirements.txt")
    assert {name: tested[name] for name in served} == served
    assert all("--hash=sha256:" in entry for entry in served.values())
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["server"]]
    names = {re.split(r"[^\w-]", requirement)[0] for requirement in wanted}
    assert names <= served.keys()
    assert served.keys() & {"pytest", "mypy", "sphinx", "playwright"} == set()
