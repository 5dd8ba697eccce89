"""The client's address and scheme, as trusted proxies forward them (contract C1, H5).

uvicorn's middleware accepts any text in ``X-Forwarded-For`` as an address, and does not recognize a proxy that connects
by IPv4 to a socket of IPv6.
"""

from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from starlette.types import ASGIApp, Receive, Scope, Send

from logoadmin.domain.kernel.access import address_of
from logoadmin.entrypoints.http_api.origins import without_port


class BehindProxies:
    """Gives requests that trusted proxies pass on the client address and the scheme that these name."""

    def __init__(self, app: ASGIApp, trusted: Collection[IPv4Network | IPv6Network]) -> None:
        self._app = app
        self._trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        peer = _address(scope["client"][0]) if scope.get("client") else None
        if peer is not None and self._trusts(peer):
            # A copy, because the server goes on using its own.
            scope = {**scope, "scheme": _scheme(scope)}
            client = self._client(peer, _values(scope, b"x-forwarded-for"))
            if client is not peer:
                scope["client"] = (str(client), 0)
        await self._app(scope, receive, send)

    def _client(self, peer: IPv4Address | IPv6Address, forwarded: list[str]) -> IPv4Address | IPv6Address:
        """Return the right-most address that does not belong to a trusted proxy.

        Each proxy appends the address of its client. Anybody may have sent the text to the left of the client's
        address, or of a text that is not an address.
        """
        client = peer
        for text in reversed(forwarded):
            before = _address(text) if self._trusts(client) else None
            if before is None:
                break
            client = before
        return client

    def _trusts(self, address: IPv4Address | IPv6Address) -> bool:
        return any(address in network for network in self._trusted)


def _scheme(scope: Scope) -> str:
    named = _values(scope, b"x-forwarded-proto")
    return named[-1] if named and named[-1] in ("http", "https") else str(scope["scheme"])


def _values(scope: Scope, name: bytes) -> list[str]:
    """Return the members of all headers with a name, in their order."""
    found = b",".join(value for key, value in scope["headers"] if key == name)
    return [value.strip() for value in found.decode("latin-1").split(",")] if found else []


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        # A zone, behind %, may be any text, and means nothing elsewhere.
        return address_of(without_port(text).partition("%")[0])
    except ValueError:
        return None
