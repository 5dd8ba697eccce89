"""The console: its page and modules, and how they are served (contract J1, J2)."""

from logoadmin.entrypoints.console.routes import console_routes

__all__ = ["console_routes"]
