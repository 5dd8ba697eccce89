"""The commands that root pastes from the docs work, in a separate root directory."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest

from logoadmin.settings import Settings

ROOT: Final = Path(__file__).parents[2]
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

# What a service gets after it is installed: by page, and section.
_LATER: Final = (
    ("backup", "### Every night"),
    ("backup", "### Every night, from a server"),
    ("publish", "### A folder with nginx"),
    ("upgrade", "## A newer version"),
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
    with (ROOT / "pyproject.toml").open("rb") as file:
        version = tomllib.load(file)["project"]["version"]
    done = subprocess.run(
        ["bash", "-eu"],
        input=pasted(tmp_path),
        cwd=tmp_path / "elsewhere",
        env={
            **os.environ,
            "PATH": f"{tmp_path}/usr/local/bin:{programs}:{os.environ['PATH']}",
            "ROOT": str(tmp_path),
            "PROGRAM": str(Path(sys.executable).with_name("logoadmin")),
            "WHEEL": f"dist/logoadmin-{version}-py3-none-any.whl",
        },
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
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
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["server"]]
    names = {re.split(r"[^\w-]", requirement)[0] for requirement in wanted}
    assert names <= served.keys()
    assert served.keys() & {"pytest", "mypy", "sphinx", "playwright"} == set()
