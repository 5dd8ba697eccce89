"""Clients that are generated from the OpenAPI document are typed, and do a day's work with a service."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import logoadmin
from logoadmin.domain.kernel.access import Policy
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.openapi import openapi_document
from tests.gallery import ADMIN_PASSWORD, PIXEL
from tests.options import skip_without
from tests.services import in_thread

pytestmark = [
    pytest.mark.rule("contract D", "contract I4", "contract F1", "contract P1", "contract R3"),
    pytest.mark.parametrize("access", [Policy.GUARDED]),
]

ROOT: Final = Path(__file__).parents[2]
DAYS: Final = Path(__file__).with_name("generated_clients")
MODULES: Final = ROOT / "tools/console/node_modules"
NODE: Final = ROOT / ".venv-node/bin/node"
TSC: Final = "--noEmit --strict --noUncheckedIndexedAccess --erasableSyntaxOnly --allowImportingTsExtensions"
DAY_IN_NODE: Final = """
import { readFile } from "node:fs/promises";
import { day } from "./day.ts";
await day(process.argv[1], process.argv[2], new Uint8Array(await readFile("picture.png")));
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the document, a picture, and the days."""
    tmp_path.joinpath("openapi.json").write_text(json.dumps(openapi_document(Policy.GUARDED)), "utf-8")
    tmp_path.joinpath("picture.png").write_bytes(PIXEL)
    return Path(shutil.copytree(DAYS, tmp_path, dirs_exist_ok=True))


@pytest.fixture
def address(gallery: LogoAdmin) -> Iterator[str]:
    with in_thread(logoadmin.asgi(gallery)) as address:
        yield address


def run(folder: Path, *command: str | Path) -> str:
    environment = {**os.environ, "PYTHONPATH": "", "PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.slow("mypy reads 300 modules")
@pytest.mark.release
def test_a_generated_python_client_covers_a_typical_day(folder: Path, address: str) -> None:
    folder.joinpath("config.yml").write_text("post_hooks: []")
    options = ("--path", "openapi.json", "--meta", "none", "--config", "config.yml", "--output-path", "gallery_client")
    printed = run(folder, sys.executable, "-m", "openapi_python_client", "generate", *options)
    # Of several types of one body, octets are left.
    assert printed.count("WARNING") == printed.count("Unsupported content type")
    run(folder, sys.executable, "-m", "mypy", "--strict", "day.py", "gallery_client")
    run(folder, sys.executable, "day.py", address, ADMIN_PASSWORD)


@pytest.mark.slow("Node generates, checks and runs a client")
def test_a_generated_typescript_client_covers_a_typical_day(folder: Path, address: str) -> None:
    if not NODE.exists() or not MODULES.joinpath("openapi-fetch").is_dir():
        skip_without("NODE", "openapi-fetch is not installed: make tools/console/node_modules/ready")
    folder.joinpath("package.json").write_text('{"type": "module"}')
    folder.joinpath("node_modules").symlink_to(MODULES)
    generate = MODULES / "openapi-typescript/bin/cli.js"
    run(folder, NODE, generate, "openapi.json", "--default-non-nullable=false", "--output", "api.d.ts")
    target = ("--target", "es2024", "--lib", "es2024,dom,dom.iterable", "--module", "nodenext")
    run(folder, NODE, MODULES / "typescript/bin/tsc", *TSC.split(), *target, "day.ts")
    run(folder, NODE, "--input-type=module", "--eval", DAY_IN_NODE, address, ADMIN_PASSWORD)
