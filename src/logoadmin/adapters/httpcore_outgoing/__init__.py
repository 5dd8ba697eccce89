"""Guarded outgoing requests with httpcore2, an optional package (contract L8)."""

import socket
import ssl
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

from logoadmin.adapters.httpcore_outgoing.guard import Budget, Guard, Resolve
from logoadmin.ports.outgoing import Fetched

if TYPE_CHECKING:
    from logoadmin.adapters.httpcore_outgoing.exchange import Exchange

# The maximum size of a response of which only the head matters, in bytes.
_HEAD: Final = 65_536


class GuardedOutgoing:
    """Contacts public hosts and those that the operator lists; see :class:`~logoadmin.ports.outgoing.Outgoing`."""

    def __init__(
        self,
        hosts: Collection[str] = (),
        *,
        context: ssl.SSLContext | None = None,
        resolve: Resolve = socket.getaddrinfo,
    ) -> None:
        """Prepare requests, without loading the modules for them.

        The ``hosts``, names and addresses, are allowed although they are not public. By default, certificates are
        verified with those that the system trusts.
        """
        self._guard = Guard(hosts, resolve)
        self._custom_context = context

    @cached_property
    def _context(self) -> ssl.SSLContext:
        return self._custom_context or ssl.create_default_context()

    def fetch(self, url: str, *, most: int, seconds: float) -> Fetched:
        return self._exchange(most, seconds).fetch(url)

    def post(self, url: str, content: bytes, *, seconds: float) -> int:
        return self._exchange(_HEAD, seconds).post(url, content)

    def send(
        self, url: str, *, form: Mapping[str, str] | None = None, headers: Mapping[str, str], most: int, seconds: float
    ) -> Fetched:
        return self._exchange(most, seconds).send(url, form, headers)

    def _exchange(self, most: int, seconds: float) -> "Exchange":
        # Imported here: it takes a tenth of a second, and most processes never contact another host.
        from logoadmin.adapters.httpcore_outgoing.exchange import Exchange

        return Exchange(Budget(most, seconds), self._guard, self._context)
