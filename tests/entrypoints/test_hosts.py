"""The host names of the service, and the addresses of clients behind proxies (contract A22, H5)."""

import asyncio
from ipaddress import ip_network
from typing import Any, Final

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import logoadmin
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.server.middleware import BehindProxies
from tests.asgi import ask
from tests.entrypoints.conftest import Headers

FOREIGN = {"detail": "Host is not a name of this service: see the setting hosts"}
LOOPBACK = [
    *("localhost", " localhost\t", "localhost:8000", "LOCALHOST.", "127.0.0.1", "127.9.9.9:1", "[::1]", "[::1]:8000"),
    *("[::ffff:127.0.0.1]", "[::FFFF:7f00:1]:8000", "[0:0:0:0:0:0:0:1]"),
]
OTHERS = [
    *("attacker.example", "attacker.example:8000", "localhost.attacker.example", "127.0.0.1.attacker.example"),
    *("192.0.2.1", "[::ffff:192.0.2.1]", "0.0.0.0:8000", "[2001:db8::1]", "[::1::]", "", ":8000", "127.0.0.1:8000:1"),
    *("localhost:80@evil", "localhost@evil", "evil@localhost", "localhost:80/evil", "[::1]evil", "[::1]:80@evil"),
]


def status(app: ASGIApp, *hosts: str, method: str = "GET", path: str = "/api/logos/1") -> int:
    answered = ask(app, method, path, headers=[("host", host) for host in hosts])
    if answered.status_code == 421:
        assert answered.header("content-type") == "application/json"
        assert method == "HEAD" or answered.json() == FOREIGN
    return answered.status_code


NAMED = ["gallery.example", "GALLERY.Example:443", "gallery.example.", "[FD00::1]:8000"]
NOT_NAMED = [*(f"x{host}" for host in NAMED), "www.gallery.example"]
IN_IPV6 = ["[fd00::1]", "[FD00:0::0001]:8000", "[fd00:0:0:0:0:0:0:1]", "[::ffff:192.0.2.1]"]


@pytest.mark.rule("contract A22")
@pytest.mark.parametrize(
    ("hosts", "ours", "others"),
    [
        ((), LOOPBACK, OTHERS),
        (("gallery.example",), LOOPBACK, OTHERS),
        (("Gallery.example", "fd00::1"), NAMED, NOT_NAMED),
        (["gallery.example", "[fd00::1]"], NAMED, NOT_NAMED),
        (("fd00::1", "192.0.2.1"), IN_IPV6, ["[fd00::2]"]),
        (("[FD00:0:0::0:1]", "192.0.2.1"), IN_IPV6, ["[fd00::2]"]),
        (["*"], [*LOOPBACK, *OTHERS], []),
        (None, OTHERS, []),
    ],
)
def test_another_name_is_a_421(gallery: LogoAdmin, hosts: list[str] | None, ours: list[str], others: list[str]) -> None:
    app = logoadmin.asgi(gallery, hosts=hosts)
    for host in ours:
        assert status(app, host) == 200, host
    for host in others:
        assert status(app, host) == 421, host
        assert status(app, "localhost", host) == status(app, host, "localhost") == 421, host
    for host in others[:1]:
        for path in ("/api/roles/1", "/openapi.json", "/docs", "/.well-known/jwks.json", "/nothing"):
            for method in ("GET", "HEAD", "PATCH", "OPTIONS"):
                assert status(app, host, method=method, path=path) == 421, path


@pytest.mark.rule("contract A22", "contract O8")
def test_the_host_of_the_public_url_is_a_name_of_the_service() -> None:
    with logoadmin.connect(access="open", public_url="https://Gallery.example:8443/a") as gallery:
        app = logoadmin.asgi(gallery, hosts=())
        for host in ("gallery.example:8443", "GALLERY.example", *LOOPBACK):
            assert status(app, host, path="/api/authors") == 200, host
        for host in (*OTHERS, "www.gallery.example", "gallery.example.attacker.example", "example"):
            assert status(app, host, path="/api/authors") == 421, host


LIES: Final = [
    *(("host", "attacker.example"), ("x-forwarded-host", "attacker.example"), ("x-forwarded-port", "666")),
    *(("x-forwarded-proto", "gopher"), ("forwarded", "host=attacker.example;proto=https")),
    *(("x-original-host", "attacker.example"), ("origin", "https://attacker.example")),
    ("referer", "https://attacker.example/"),
]


@pytest.mark.rule("contract O8")
@pytest.mark.parametrize("path", ["/console/", "/console/users/7", "/openapi.json", "/docs", "/", "/api/authors"])
def test_no_response_repeats_the_host_header(path: str) -> None:
    """The public URL comes only from the settings, never from ``Host`` or ``X-Forwarded-Host``."""
    with logoadmin.connect(access="open", public_url="https://gallery.example") as gallery:
        app = logoadmin.asgi(gallery)  # the embedding application checks host names
        honest = ask(app, "GET", path, headers=[("host", "gallery.example")])
        for lies in (LIES, LIES[1:], [*LIES, ("host", "gallery.example")]):
            lied = ask(app, "GET", path, headers=lies)
            assert (lied.status_code, lied.body) == (honest.status_code, honest.body)
            assert b"attacker" not in b"".join([lied.body, *(value for pair in lied.headers for value in pair)])
        if path.startswith("/console"):
            assert b"&quot;public_url&quot;:&quot;https://gallery.example&quot;" in honest.body


@pytest.mark.rule("contract A22")
def test_health_checks_accept_any_host_and_requests_need_none(gallery: LogoAdmin) -> None:
    app = logoadmin.asgi(gallery, hosts=())
    assert [status(app, "192.0.2.1:8000", path=path) for path in ("/livez", "/readyz")] == [200, 200]
    assert status(app) == 200


@pytest.mark.rule("contract A5")
@pytest.mark.parametrize("query", [b"q=%ff", b"q=%c3", b"q=a%ed%a0%80", b"%ff=1", b"limit=1&q=%e9t%e9", b"q=\xff"])
def test_a_query_that_is_not_utf_8_is_a_422(app: ASGIApp, admin: Headers, query: bytes) -> None:
    problem = {"loc": ["query"], "msg": "Query should be text in UTF-8", "type": "string_unicode"}
    for path in (b"/api/authors?", b"/api/users?"):
        answered = ask(app, "GET", path + query, headers=admin.items())
        assert (answered.status_code, answered.json()) == (422, {"detail": [problem]})


LIST: Final = "{} should be a list of texts"


@pytest.mark.rule("contract H6")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"hosts": "gallery.example"}, LIST),
        ({"origins": "https://admin.example"}, LIST),
        ({"hosts": ""}, LIST),
        ({"origins": ["https://admin.example/"]}, "{}"),
        ({"origins": ["*"]}, "{}"),
        ({"hosts": ["http://gallery.example"]}, "{}"),
        ({"cache_seconds": -1}, "{}"),
        ({"picture_hosts": ["a; script-src *"]}, "{}"),
    ],
)
def test_values_invalid_as_settings_are_refused_as_arguments(gallery: LogoAdmin, given: Any, words: str) -> None:
    with pytest.raises(logoadmin.SettingsError, match=words.format(*given)):
        logoadmin.asgi(gallery, **given)


@pytest.mark.rule("contract B1", "contract H6")
def test_a_gallery_without_an_explicit_policy_is_not_served() -> None:
    with logoadmin.connect() as gallery:
        assert gallery.access == "open"
        with pytest.raises(logoadmin.SettingsError, match=r"^Choose who may do what before a gallery is served: "):
            logoadmin.asgi(gallery)
    for access in ("open", "guarded"):
        with logoadmin.connect(access=access) as gallery:
            assert callable(logoadmin.asgi(gallery))
    with pytest.raises(TypeError, match=r"^asgi\(\) needs a gallery that connect\(\) returned, not NoneType$"):
        logoadmin.asgi(None)  # type: ignore[arg-type]  # as of a gallery that is not open yet


# Proxies.

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
        (("203.0.113.9, 198.51.100.7",), "198.51.100.7"),
        (("203.0.113.9,198.51.100.7 , 192.0.2.5,\t10.9.9.9",), "198.51.100.7"),
        (("203.0.113.9", "198.51.100.7"), "198.51.100.7"),
        (("198.51.100.7", "192.0.2.5, 10.9.9.9"), "198.51.100.7"),
        *(((text,), "2001:db8::7") for text in ("2001:DB8:0::7", "[2001:db8::7]", "[2001:db8::7]:4711")),
        *(((text,), "198.51.100.7") for text in ("198.51.100.7", "198.51.100.7:4711", "::ffff:198.51.100.7")),
        (("198.51.100.7, ::ffff:10.9.9.9, fd00::1",), "198.51.100.7"),
        (("fe80::7%any text",), "fe80::7"),
        (("10.9.9.9, 10.8.8.8",), "10.9.9.9"),
    ],
)
def test_the_client_is_the_rightmost_untrusted_address(forwarded: tuple[str, ...], expected: str) -> None:
    for peer in (PROXY, "fd00::9", f"::ffff:{PROXY}"):
        assert client(peer, *forwarded) == expected


@pytest.mark.rule("contract C1", "contract H5")
@pytest.mark.parametrize(
    "garbage",
    ["", "unknown", "_hidden", "localhost", "*", "1", "198.51.100", "[", "[x]:1", "x:1", "::1::", "%", "é", "\u0661.1"],
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
