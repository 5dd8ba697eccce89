"""The console: the page for people, its modules, and how they are served (contract J1, J2)."""

from logoadmin.entrypoints.console.routes import console_routes

__all__ = ["console_routes"]
