"""Checking whether a service can do its work, and saying what to do where it cannot (contract K4)."""

from logoadmin.entrypoints.cli.doctor.command import doctor

__all__ = ["doctor"]
