"""The upper bound: Starlette routes that return prepared bytes, from one file each in the directory BODIES."""

import os
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

BODIES = Path(os.environ["BODIES"])
LOGO = (BODIES / "logo.json").read_bytes()
LOGOS = (BODIES / "logos.json").read_bytes()


async def one_logo(_: Request) -> Response:
    """Return a fixed logo."""
    return Response(LOGO, media_type="application/json")


async def all_logos(_: Request) -> Response:
    """Return a fixed list of logos."""
    return Response(LOGOS, media_type="application/json")


app = Router([Route("/api/logos/{logo_id}", one_logo), Route("/api/logos", all_logos)])
