"""The command line (contract H1 to H3, I).

Slow imports happen inside the commands that need them, so that the others, and ``--help``, are quick.
"""

from logoadmin.entrypoints.cli.commands import cli, main

__all__ = ["cli", "main"]
