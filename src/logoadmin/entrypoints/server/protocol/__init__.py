"""HTTP/1.1 as the server speaks it: uvicorn's, with bounds on what a client may take (contract A21, H4)."""

from logoadmin.entrypoints.server.protocol.connection import BoundedProtocol

__all__ = ["BoundedProtocol"]
