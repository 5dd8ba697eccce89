"""Whose name the service answers to (contract A22)."""

from collections.abc import Collection
from contextlib import suppress
from functools import lru_cache
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from logoadmin.domain.model.access import address_of, is_loopback
from logoadmin.entrypoints.http_api.conditions import header_values
from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.http_api.health import is_health_check
from logoadmin.entrypoints.http_api.responses import sendable

# So many names that were asked for lately are known, ours or not.
_LATELY: Final = 32


class Hosts:
    """Refuses requests for a name that is not ours.

    A page of another site may have its name lead to this machine (DNS rebinding). For the browser it is then the page's
    own site that it asks, so the page may send and read whatever it likes, and only ``Host`` still tells.
    """

    def __init__(self, app: ASGIApp, names: Collection[str], refuse: ASGIApp) -> None:
        """Serve an application under some names, and under those of loopback in any case; ``*`` is any name.

        Args:
            app: the application.
            names: the names.
            refuse: answers who asks for another one, as :func:`misdirected` does.
        """
        self._app = app
        self._refuse = refuse
        self._names = frozenset(map(_name_of, names))
        # Nearly all requests are for one name, and to take an address apart takes longer than many an answer.
        self._is_known = lru_cache(_LATELY)(self._is_name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is for one of the names, and have the rest refused."""
        is_passed_on = scope["type"] != "http" or "*" in self._names or self._is_ours(scope)
        await (self._app if is_passed_on else self._refuse)(scope, receive, send)

    def _is_ours(self, scope: Scope) -> bool:
        """Return whether a request is for us; one without any name comes from no browser."""
        names = header_values(scope, b"host")
        # Those that ask whether the service is well do not know its name.
        return all(map(self._is_known, names)) or is_health_check(scope)

    def _is_name(self, host: str) -> bool:
        name = _name_of(host)
        return name in self._names or is_loopback(name)


async def misdirected(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request for another name."""
    refusal = HttpError(421, "The service has another name than the one in Host: see the setting hosts")
    await sendable(error_response(refusal), scope)(scope, receive, send)


def without_port(host: str) -> str:
    """Return the name or address in ``a``, ``a:80``, ``192.0.2.1:80``, ``2001:db8::1`` or ``[2001:db8::1]:80``."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0] if host.count(":") == 1 else host


def _name_of(host: str) -> str:
    name = without_port(host).lower().removesuffix(".")
    if ":" in name:  # of IPv6, where an address may be written in several ways
        with suppress(ValueError):
            return str(address_of(name))
    return name
