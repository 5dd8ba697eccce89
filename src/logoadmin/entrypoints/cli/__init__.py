"""The command line (contract H1 to H3, I).

Slow imports are inside the commands that need them, so that other commands and ``--help`` are fast.
"""

from logoadmin.entrypoints.cli.commands import cli, main

__all__ = ["cli", "main"]
