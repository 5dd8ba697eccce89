"""The tests. Their many processes share bytecode, even if Python must not write any next to the source.

With only ``PYTHONDONTWRITEBYTECODE``, each process would compile all its imports, which takes a second or two.
"""

import os
import sys
from pathlib import Path

if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parent.parent / ".pytest_cache" / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
