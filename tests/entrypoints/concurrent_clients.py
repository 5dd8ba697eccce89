"""Concurrent requests to applications."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TypeVar

import httpx2

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.app import http_application

Answer = TypeVar("Answer")

Clients = tuple[httpx2.AsyncClient, ...]


def with_clients(galleries: tuple[LogoAdmin, ...], work: Callable[[Clients], Awaitable[Answer]]) -> Answer:
    """Return the result of work with a client of an application for each gallery."""

    async def run() -> Answer:
        async with AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(
                    httpx2.AsyncClient(
                        transport=httpx2.ASGITransport(http_application(gallery)), base_url="http://127.0.0.1:8000"
                    )
                )
                for gallery in galleries
            ]
            return await work(tuple(clients))

    return asyncio.run(run())
