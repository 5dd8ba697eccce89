"""The bundled console, as in the wheel, built with the Node that checks the console."""

import subprocess
from pathlib import Path
from typing import Final

from tests.options import OPTIONS, skip_without

# Whether the browser tests use the bundle instead of the plain modules of the checkout.
BUNDLED: Final = OPTIONS.get("LOGOADMIN_TEST_BUNDLE") == "1"
_ROOT: Final = Path(__file__).parents[1]
_NODE: Final = _ROOT / ".venv-node/bin/node"
_TOOLS: Final = _ROOT / "tools/console"


def write_bundle(folder: Path, *opened: str) -> Path:
    """Bundle the console into a folder, where the modules ``opened`` keep their names, and return the folder."""
    if not _NODE.exists() or not (_TOOLS / "node_modules/esbuild").exists():
        skip_without("NODE", "node is not installed: make tools/console/node_modules/ready")
    command = [str(_NODE), str(_TOOLS / "bundle.js"), str(folder), *opened]
    completed = subprocess.run(command, timeout=120, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr
    return folder
