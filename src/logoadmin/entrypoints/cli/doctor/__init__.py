"""The command ``doctor``, which finds problems and suggests remedies (contract K4)."""

from logoadmin.entrypoints.cli.doctor.command import doctor

__all__ = ["doctor"]
