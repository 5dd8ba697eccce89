"""Serving the ASGI application: listening, processes and signals (contract H1, H4, H5)."""

from logoadmin.entrypoints.server.listener import listen
from logoadmin.entrypoints.server.serving import serve

__all__ = ["listen", "serve"]
