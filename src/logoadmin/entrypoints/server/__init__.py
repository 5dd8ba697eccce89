"""Serving the ASGI application: listening, processes and signals (contract H1, H4, H5)."""

from logoadmin.entrypoints.server.listener import listen, socket_from_systemd, url_of
from logoadmin.entrypoints.server.metrics import MetricsServer
from logoadmin.entrypoints.server.serving import Options, serve

__all__ = ["MetricsServer", "Options", "listen", "serve", "socket_from_systemd", "url_of"]
