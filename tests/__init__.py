"""The tests. Their many processes share what Python compiled, even where it is told to keep nothing beside the source.

``PYTHONDONTWRITEBYTECODE`` would have each of them compile all that it imports, libraries, too: a second or two each.
"""

import os
import sys
from pathlib import Path

if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parent.parent / ".pytest_cache" / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
