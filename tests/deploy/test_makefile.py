"""The Makefile names what to install where it cannot set up its environment."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

MAKEFILE: Final = Path(__file__).parents[2] / "Makefile"


@pytest.mark.parametrize(
    ("module", "source", "sentence"),
    [
        (
            "sitecustomize",
            "import sys; sys.version_info = (3, 10, 12)",
            "logoadmin needs Python 3.11 or newer, but python3 is 3.10: install a newer one",
        ),
        ("venv", "raise ImportError", "logoadmin needs the module venv: install it; on Debian it is in python3-venv"),
        ("pip", "raise ImportError", "logoadmin needs pip for python3: install it; on Debian it is in python3-pip"),
        (
            "pip",
            "__version__ = '22.2b1'",
            "logoadmin needs pip 22.3 or newer, but pip is 22.2b1: python3 -m pip install --upgrade pip",
        ),
        (None, "", "logoadmin needs Python 3.11 or newer: install python3"),
    ],
)
def test_make_reports_in_one_sentence_what_to_install(
    tmp_path: Path, module: str | None, source: str, sentence: str
) -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    for prerequisite in ("requirements.txt", "pyproject.toml"):
        (tmp_path / prerequisite).touch()
    (tmp_path / "bin").mkdir()
    if module is not None:
        (tmp_path / "bin" / "python3").symlink_to(sys.executable)
        (tmp_path / f"{module}.py").write_text(source)
    (tmp_path / "bin" / "sh").symlink_to("/bin/sh")
    environment = os.environ | {"PATH": str(tmp_path / "bin"), "PYTHONPATH": str(tmp_path), "LC_ALL": "C"}
    ended = subprocess.run(
        [make, "--no-print-directory", "-f", str(MAKEFILE), "run"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    said = (ended.stdout + ended.stderr).splitlines()
    assert (ended.returncode, said[0]) == (2, sentence)
    assert "Error 1" in said[1]
    assert len(said) == 2
    assert not (tmp_path / ".venv").exists()
