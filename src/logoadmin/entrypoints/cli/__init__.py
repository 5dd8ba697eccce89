"""The command line (contract H1 to H3, I).

What takes time to load is loaded by the commands that need it, so that the others, and ``--help``, are quick.
"""

from logoadmin.entrypoints.cli.commands import cli
from logoadmin.entrypoints.cli.exit_codes import main

__all__ = ["cli", "main"]
