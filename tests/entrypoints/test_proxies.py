"""Who is believed to be the client of a request that proxies passed on."""

import asyncio
from ipaddress import ip_network

import pytest
from starlette.types import Message, Receive, Scope, Send

from logoadmin.entrypoints.server.middleware import BehindProxies

PROXY = "10.0.0.1"
TRUSTED = [ip_network(network) for network in ("10.0.0.0/8", "192.0.2.5", "fd00::/8")]


def seen(client: tuple[str, int] | None, *headers: tuple[str, str]) -> Scope:
    """Return the scope that the application gets."""
    scopes: list[Scope] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        scopes.append(scope)

    async def receive() -> Message:
        raise AssertionError

    async def send(_: Message) -> None:
        raise AssertionError

    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    scope: Scope = {"type": "http", "client": client, "scheme": "http", "headers": raw}
    before = dict(scope)
    asyncio.run(BehindProxies(app, TRUSTED)(scope, receive, send))
    assert scope == before
    return scopes[0]


def client(peer: str, *forwarded: str) -> str:
    """Return the address of the client."""
    found: str = seen((peer, 4711), *(("x-forwarded-for", value) for value in forwarded))["client"][0]
    return found


@pytest.mark.rule("contract C1", "contract H5")
@pytest.mark.parametrize(
    ("forwarded", "expected"),
    [
        (("198.51.100.7",), "198.51.100.7"),
        (("203.0.113.9, 198.51.100.7",), "198.51.100.7"),
        (("203.0.113.9,198.51.100.7 , 192.0.2.5,\t10.9.9.9",), "198.51.100.7"),
        (("203.0.113.9", "198.51.100.7"), "198.51.100.7"),
        (("198.51.100.7", "192.0.2.5, 10.9.9.9"), "198.51.100.7"),
        (("198.51.100.7:4711",), "198.51.100.7"),
        (("2001:DB8:0::7",), "2001:db8::7"),
        (("[2001:db8::7]",), "2001:db8::7"),
        (("[2001:db8::7]:4711",), "2001:db8::7"),
        (("::ffff:198.51.100.7",), "198.51.100.7"),
        (("198.51.100.7, ::ffff:10.9.9.9, fd00::1",), "198.51.100.7"),
        (("fe80::7%any text",), "fe80::7"),
        (("10.9.9.9, 10.8.8.8",), "10.9.9.9"),
    ],
)
def test_the_client_is_the_rightmost_address_that_is_not_a_trusted_proxy(
    forwarded: tuple[str, ...], expected: str
) -> None:
    for peer in (PROXY, "fd00::9", f"::ffff:{PROXY}"):
        assert client(peer, *forwarded) == expected


@pytest.mark.rule("contract C1", "contract H5")
@pytest.mark.parametrize(
    "garbage",
    [
        *("", "unknown", "_hidden", "localhost", "*", "1", "198.51.100"),
        *("[", "[x]:1", "x:1", "::1::", "%", "é", "\u0661.1.1.1"),
    ],
)
def test_neither_an_invalid_address_nor_one_to_its_left_is_the_client(garbage: str) -> None:
    garbage = garbage.encode().decode("latin-1")
    assert client(PROXY, garbage) == PROXY
    assert client(PROXY, f"198.51.100.7, {garbage}") == PROXY
    assert client(PROXY, "198.51.100.7", garbage) == PROXY
    assert client(PROXY, f"198.51.100.7, {garbage}, 10.9.9.9") == "10.9.9.9"
    assert client(PROXY, f"{garbage}, 198.51.100.7") == "198.51.100.7"


@pytest.mark.rule("contract C1", "contract H5")
def test_untrusted_proxies_are_ignored() -> None:
    for peer in ("198.51.100.1", "192.0.2.4", "::ffff:198.51.100.1", "2001:db8::1", "a name", ""):
        assert client(peer, "203.0.113.9") == peer
        said = seen((peer, 4711), ("x-forwarded-proto", "https"))
        assert (said["scheme"], said["client"]) == ("http", (peer, 4711))
    headers = ("x-forwarded-for", "203.0.113.9"), ("x-forwarded-proto", "https")
    assert (seen(None, *headers)["client"], seen(None, *headers)["scheme"]) == (None, "http")  # a Unix socket


@pytest.mark.rule("contract H5")
@pytest.mark.parametrize(
    ("sent", "scheme"),
    [((), "http"), (("https",), "https"), (("http", "https"), "https"), (("https, http",), "http")]
    + [((value,), "http") for value in ("", "javascript", "HTTPS://", "wss", "https, x")],
)
def test_the_scheme_is_that_of_the_nearest_proxy(sent: tuple[str, ...], scheme: str) -> None:
    headers = [("x-forwarded-proto", value) for value in sent]
    assert seen((PROXY, 4711), *headers)["scheme"] == scheme
    assert seen((PROXY, 4711), *headers)["client"] == (PROXY, 4711)
