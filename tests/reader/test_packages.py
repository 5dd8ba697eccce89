"""The readers can be installed without the service: a wheel and an npm archive of the same files (contract L6)."""

import json
import os
import shutil
import subprocess
import tarfile
import tomllib
from email.parser import Parser
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

import pytest
from hatchling.builders.wheel import WheelBuilder

from tests.options import skip_without

pytestmark = pytest.mark.rule("contract L6")

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ROOT / "src/logoadmin/reader"
_NODE: Final = ROOT / ".venv-node/bin"


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    (built,) = WheelBuilder(str(ROOT / "reader/python")).build(directory=str(directory), versions=["standard"])
    with ZipFile(built) as archive:
        archive.extractall(directory)
    return directory


def test_the_wheel_has_the_modules_of_the_service_and_their_types(wheel: Path) -> None:
    modules = {file.name: file.read_bytes() for file in wheel.joinpath("logoadmin_reader").iterdir()}
    assert modules == {"py.typed": b"", **{file.name: file.read_bytes() for file in SOURCE.glob("*.py")}}


def test_the_wheel_has_the_version_and_licence_of_the_service(wheel: Path, project: dict[str, Any]) -> None:
    (info,) = wheel.glob("*.dist-info")
    metadata = Parser().parsestr(info.joinpath("METADATA").read_text("utf-8"))
    assert (metadata["Name"], metadata["Version"]) == ("logoadmin-reader", project["version"])
    assert metadata["Requires-Python"] == project["requires-python"]
    assert metadata["License-Expression"] == project["license"]
    needed = metadata.get_all("Requires-Dist") or []
    assert [each.partition(">=")[0] for each in needed] == ["cryptography", "httpx2"]
    assert {*needed} <= {*project["dependencies"], *project["optional-dependencies"]["client"]}
    assert info.joinpath("licenses/LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.mark.slow("npm packs an archive")
def test_the_npm_archive_has_reader_js_types_and_version(tmp_path: Path, project: dict[str, Any]) -> None:
    path = f"{_NODE}{os.pathsep}{os.environ['PATH']}"
    if shutil.which("npm", path=path) is None:
        skip_without("NODE", "npm is not installed: make tools/console/node_modules/ready")
    subprocess.run([ROOT / "reader/npm/pack", tmp_path], check=True, timeout=120, env={**os.environ, "PATH": path})
    with tarfile.open(tmp_path / f"logoadmin-reader-{project['version']}.tgz") as archive:
        # Python 3.11.0 to 3.11.3 have no filters.
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)
        archive.extractall(tmp_path)
    files = {file.name: file.read_bytes() for file in tmp_path.joinpath("package").iterdir()}
    package = json.loads(files.pop("package.json"))
    assert files == {
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        "README.md": (ROOT / "reader/npm/README.md").read_bytes(),
        "reader.d.ts": (SOURCE / "reader.d.ts").read_bytes(),
        "reader.js": (SOURCE / "reader.js").read_bytes(),
    }
    assert (package["name"], package["version"]) == ("logoadmin-reader", project["version"])
    assert (package["license"], package["type"]) == (project["license"], "module")
    assert package.keys().isdisjoint({"dependencies", "peerDependencies", "optionalDependencies", "scripts"})
