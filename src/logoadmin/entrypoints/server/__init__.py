"""Serving the ASGI application: listening, processes and signals (contract H1, H4, H5)."""

from logoadmin.entrypoints.server.listener import listen, socket_from_systemd, url_of
from logoadmin.entrypoints.server.serving import metrics_served, serve, shared_metrics

__all__ = ["listen", "metrics_served", "serve", "shared_metrics", "socket_from_systemd", "url_of"]
