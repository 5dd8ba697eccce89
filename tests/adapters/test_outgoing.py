"""Outgoing requests against a hostile server (contract L8)."""

import gzip
import logging
import socket
import ssl
import sys
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from logoadmin.adapters.httpcore_outgoing import GuardedOutgoing
from logoadmin.adapters.httpcore_outgoing.exchange import read_body
from logoadmin.adapters.httpcore_outgoing.guard import TooLarge
from logoadmin.bootstrap import open_gallery
from logoadmin.domain.kernel.errors import OutgoingError
from logoadmin.ports.outgoing import Fetched, Outgoing
from logoadmin.settings import settings_of
from tests.adapters.hostile_server import PRIVATE, PUBLIC, Answer, HostileServer, Names, redirect, response, serving
from tests.certificates import make_certificate

pytestmark = [pytest.mark.server("a server on a socket"), pytest.mark.rule("contract L8")]

MOST = 65_536
CSS = b"a { color: red }"
CONTEXT = ssl.create_default_context()  # one for all tests: loading the certificates of the system is slow
SECRET = "k3y-of-the-vault"
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
EARLY = b"HTTP/1.1 103 Early Hints\r\n"
TOO_SLOW = "takes longer than 0.3 s"


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """Import in advance what the first request imports, which is slow on a busy machine."""
    import_module("logoadmin.adapters.httpcore_outgoing.exchange")


def gzipped(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)  # without the time, which would be in the names of tests


@pytest.fixture
def server() -> Iterator[HostileServer]:
    """A server at the address that the tests list, as if it were public."""
    with serving() as started:
        yield started


@pytest.fixture
def internal(server: HostileServer) -> Iterator[HostileServer]:
    """A server at a private address and the same port, which nothing may reach."""
    with serving(PRIVATE, server.port) as started:
        started.answers["/"] = response(SECRET.encode())
        yield started
        assert started.connections == 0


def fetch(
    url: str, names: Names | None = None, *, hosts: tuple[str, ...] = (PUBLIC,), seconds: float = 5, most: int = MOST
) -> Fetched:
    resolve = names or Names(styles_test=[[PUBLIC]])
    return GuardedOutgoing(hosts, context=CONTEXT, resolve=resolve).fetch(url, most=most, seconds=seconds)


def refused(url: str, names: Names | None = None, *, seconds: float = 5, most: int = MOST) -> str:
    """Return the text of the error, which has no part of the path, the query, the credentials and the body."""
    started = time.monotonic()
    with pytest.raises(OutgoingError) as caught:
        fetch(url, names, seconds=seconds, most=most)
    assert time.monotonic() - started < seconds + 1
    error = caught.value
    assert SECRET not in f"{error}{error.__cause__!r}{error.__context__!r}"
    assert str(error) == (f"{error.host}: {error.reason}" if error.host else error.reason)
    return str(error)


# What comes back


def test_a_sheet_is_fetched(server: HostileServer) -> None:
    server.answers["/a.css?b"] = response(CSS, "Content-Type: Text/CSS; charset=utf-8")
    assert fetch(server.url("/a.css?b#c")) == Fetched(server.url("/a.css?b"), "text/css", CSS, "utf-8")
    (head,) = server.heads
    assert sorted(head.lower().splitlines()) == sorted(
        [
            *("get /a.css?b http/1.1", f"host: styles.test:{server.port}", "accept: */*", "accept-encoding: gzip"),
            *("connection: close", "user-agent: logoadmin", ""),
        ]
    )


GZIP = "Content-Encoding: gzip"
ODD_TYPES = ("", "text", "text/css\x80", f"text/{'c' * 200}", "text/<script>")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        # The length is the maximum, also when decompressed.
        (response(gzipped(b"a" * MOST), GZIP), ("", b"a" * MOST, "")),
        (response(gzipped(b"a" * 5) + gzipped(b"a" * (MOST - 5)), "Content-Encoding: x-GZIP"), ("", b"a" * MOST, "")),
        (response(b"a" * MOST, "Content-Encoding: identity"), ("", b"a" * MOST, "")),
        # The body arrives in every usual way.
        (
            CHUNKED + b"6\r\na { co\r\na\r\nlor: red }\r\n0\r\n\r\n",
            ("", CSS, ""),
        ),
        (b"HTTP/1.0 200 OK\r\n\r\n" + CSS, ("", CSS, "")),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + EARLY + b"Link: </b>\r\n\r\n" + response(CSS), ("", CSS, "")),
        (response(CSS) + SECRET.encode(), ("", CSS, "")),  # after the announced length
        # The media type has a charset.
        *((response(CSS, f"Content-Type: {odd}"), ("", CSS, "")) for odd in ODD_TYPES),
        *((response(CSS, f"Content-Type: text/css; charset={odd}"), ("text/css", CSS, "")) for odd in ("", "\x80")),
        (response(CSS, 'Content-Type: text/css;charset="Windows-1252"'), ("text/css", CSS, "windows-1252")),
        (response(CSS, "Content-Type: text/css; a=b ; charset = koi8-r; c"), ("text/css", CSS, "koi8-r")),
    ],
    ids=lambda value: repr(value[:60]) if isinstance(value, bytes) else "",
)
def test_a_response_is_read(server: HostileServer, answer: bytes, expected: tuple[str, bytes, str]) -> None:
    server.answers["/"] = answer
    assert fetch(server.url()) == Fetched(server.url(), *expected)


def test_the_system_resolves_names() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://localhost:{closed.getsockname()[1]}/"
        with pytest.raises(OutgoingError, match="localhost: has an address that is not public"):
            GuardedOutgoing(context=CONTEXT).fetch(url, most=MOST, seconds=5)
        with pytest.raises(OutgoingError, match="localhost: cannot be reached"):
            GuardedOutgoing(["localhost"], context=CONTEXT).fetch(url, most=MOST, seconds=5)


# Where it may go


@pytest.mark.usefixtures("internal")
def test_the_checked_address_is_contacted_even_if_the_name_changes(server: HostileServer) -> None:
    names = Names(styles_test=[[PUBLIC], [PRIVATE]])
    server.answers["/"] = response(CSS)
    assert fetch(server.url(), names).body == CSS
    assert names.asked == ["styles.test"]
    assert refused(server.url(), names) == (
        "styles.test: has an address that is not public, and is not listed in outgoing_hosts"
    )
    server.answers["/there"] = redirect("/")  # judged again
    assert "not public" in refused(server.url("/there"), Names(styles_test=[[PUBLIC], [PRIVATE]]))


@pytest.mark.parametrize("addresses", [[PUBLIC, PRIVATE], [PRIVATE, PUBLIC], ["1.1.1.1", "::1"], [PUBLIC, "10.0.0.1"]])
@pytest.mark.usefixtures("internal")
def test_a_name_with_one_forbidden_address_is_refused(server: HostileServer, addresses: list[str]) -> None:
    assert "not public" in refused(server.url(), Names(styles_test=[addresses]))
    assert server.connections == 0


@pytest.mark.parametrize(
    ("location", "text"),
    [
        ("http://169.254.169.254/latest", "169.254.169.254: has an address that is never allowed"),
        ("http://[fe80::1]/", "fe80::1: has an address that is never allowed"),
        ("http://[::ffff:169.254.169.254]/", "has an address that is never allowed"),
        ("http://[::ffff:127.0.0.1]:PORT/", "has an address that is not public"),
        ("http://127.0.0.3:PORT/", "127.0.0.3: has an address that is not public"),
        ("//127.0.0.3.:PORT/", "127.0.0.3: has an address that is not public"),
        ("//127\N{IDEOGRAPHIC FULL STOP}0.0.3:PORT/", "127.0.0.3: has an address that is not public"),
        ("http://localhost.:PORT/", "localhost: has an address that is not public"),
        ("http://0x7f.3:PORT/", "the host of the URL is invalid"),
        ("http://2130706435:PORT/", "the host of the URL is invalid"),
        ("http://017700000003:PORT/", "the host of the URL is invalid"),
        ("http://127.3:PORT/", "the host of the URL is invalid"),
        ("http://0177.0.0.3:PORT/", "redirects to an invalid URL"),
        ("http://[fe80::1%25lo]/", "the host of the URL is invalid"),
        (f"http://user:{SECRET}@styles.test:PORT/", "styles.test: the URL has credentials"),
        (f"http://{SECRET}@styles.test:PORT/", "styles.test: the URL has credentials"),
        ("file:///etc/passwd", "the URL is not an absolute one of http or https"),
        ("gopher://127.0.0.3:PORT/", "the URL is not an absolute one of http or https"),
        ("http://styles.test:0/", "styles.test: the port of the URL is invalid"),
        ("http://styles.test:99999/", "styles.test: the port of the URL is invalid"),
        ("http://styles.test:PORT\\@127.0.0.3/", "127.0.0.3: the URL has credentials"),
        (f"http://{'a' * 64}.test/", "the host of the URL is invalid"),
        ("http://nowhere.test/", "nowhere.test: cannot be resolved"),
        (f"/{'a' * 9_000}", "styles.test: redirects to a URL that is too long"),
        ("/\udcff", "styles.test: redirects to an invalid URL"),
    ],
)
@pytest.mark.usefixtures("internal")
def test_redirects_are_checked(server: HostileServer, location: str, text: str) -> None:
    names = Names(styles_test=[[PUBLIC]], localhost=[["127.0.0.3"]])
    server.answers[f"/{SECRET}?{SECRET}"] = redirect(location.replace("PORT", str(server.port)))
    assert text in refused(server.url(f"/{SECRET}?{SECRET}"), names)
    assert server.connections == 1


@pytest.mark.parametrize("name", ["styles.test.", "STYLES.test", "styles\N{IDEOGRAPHIC FULL STOP}test"])
def test_all_spellings_of_a_name_are_equal(server: HostileServer, name: str) -> None:
    server.answers["/"] = response(CSS)
    assert fetch(server.url(host=name), hosts=("styles.test",)) == Fetched(server.url(), "", CSS)


def test_a_listed_name_may_have_any_address_that_is_not_forbidden(server: HostileServer) -> None:
    server.answers["/"] = response(CSS)
    outgoing = GuardedOutgoing(["styles.test"], resolve=Names(styles_test=[[PUBLIC], ["169.254.169.254"]]))
    assert outgoing.fetch(server.url(), most=MOST, seconds=5).body == CSS
    with pytest.raises(OutgoingError, match="never allowed"):
        outgoing.fetch(server.url(), most=MOST, seconds=5)
    listed = GuardedOutgoing(["169.254.169.254", "fe80::1", "168.63.129.16"])
    for address in ("169.254.169.254", "[fe80::1]", "168.63.129.16"):
        with pytest.raises(OutgoingError, match="never allowed"):
            listed.fetch(f"http://{address}/", most=MOST, seconds=5)


@pytest.mark.usefixtures("internal")
def test_a_listed_address_allows_names_with_only_that_address(server: HostileServer) -> None:
    server.answers["/"] = response(CSS)
    assert fetch(server.url(host=PUBLIC)).body == CSS
    assert "not public" in refused(server.url(host=PRIVATE))


def test_an_ipv6_address_is_put_in_brackets() -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    with serving("::1") as server:
        server.answers["/"] = response(CSS)
        assert fetch(server.url(host="[0:0::1]"), hosts=("::1",)) == Fetched(server.url(host="[::1]"), "", CSS)
        assert f"\r\nhost: [::1]:{server.port}\r\n" in server.heads[0].lower()


def test_five_redirects_are_followed_and_share_the_time(server: HostileServer) -> None:
    def slowly(connection: socket.socket) -> None:
        time.sleep(0.12)
        connection.sendall(redirect("/slow"))

    server.answers |= {f"/{step}": redirect(f"/{step + 1}", "308 Permanent") for step in range(6)}
    server.answers |= {"/6": response(CSS), "/slow": slowly}
    assert fetch(server.url("/1")) == Fetched(server.url("/6"), "", CSS)
    assert not any("cookie" in head.lower() or "referer" in head.lower() for head in server.heads)
    assert refused(server.url("/0")) == "styles.test: more than 5 redirects lead to it"
    assert refused(server.url("/slow"), seconds=0.3) == f"styles.test: {TOO_SLOW}"


@pytest.mark.usefixtures("internal")
def test_proxies_of_the_environment_are_not_used(server: HostileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://{PRIVATE}:{server.port}")
        monkeypatch.setenv(name.upper(), f"http://{PRIVATE}:{server.port}")
    server.answers["/"] = response(CSS)
    assert fetch(server.url()).body == CSS


@pytest.mark.usefixtures("internal")
def test_received_content_is_never_logged(server: HostileServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    server.answers["/"] = response(SECRET.encode(), status=f"500 {SECRET}")
    server.answers["/there"] = redirect(server.url(f"/{SECRET}", host=PRIVATE))
    refused(server.url())
    refused(server.url("/there"))
    assert [record.getMessage() for record in caplog.records] == [
        f"{PRIVATE} has the address {PRIVATE}, which is not public"
    ]


def test_a_compression_bomb_uses_no_memory() -> None:
    bomb = gzipped(b"\0" * 50_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            read_body([bomb], "gzip", MOST)
        assert tracemalloc.get_traced_memory()[1] < 10 * MOST
    finally:
        tracemalloc.stop()


# What is no URL


@given(st.text(max_size=40), st.sampled_from(["", "http://", "https://a/", "http://a@", "http://[", "//", "http://a:"]))
def test_any_url_gives_an_error_or_a_host(rest: str, start: str) -> None:
    url = f"{start}{rest}"
    with pytest.raises(OutgoingError) as caught:
        fetch(url, Names())
    assert str(caught.value).isprintable()


def test_a_long_url_is_refused_at_once() -> None:
    for url in ("http://" + "@" * 60_000 + "a", "http://a/" + "\N{EURO SIGN}" * 60_000):
        assert refused(url) == "the URL is too long"
    assert refused("http://a.test/" + "\U0001f600" * 8_000) == "the URL is invalid"


# Bad responses: their statuses, compressions, sizes, times and bytes


def endless(first: bytes, again: bytes) -> Callable[[socket.socket], None]:
    def send(connection: socket.socket) -> None:
        connection.sendall(first)
        while True:
            connection.sendall(again)

    return send


def drip(first: bytes, again: bytes) -> Callable[[socket.socket], None]:
    def send(connection: socket.socket) -> None:
        connection.sendall(first)
        for _ in range(50):
            connection.sendall(again)
            time.sleep(0.02)

    return send


STATUSES = ("204 No Content", "206 Partial Content", "304 Not Modified", "404 Oops", "500 No", "302 Found")
NO_GZIP: list[tuple[str, bytes]] = [
    *(("gzip", CSS), ("gzip", gzipped(CSS)[:-9]), ("gzip", gzipped(CSS)[:-1]), ("gzip", gzipped(CSS) + b"rest")),
    *(("gzip", zlib.compress(CSS)), ("br", CSS), ("deflate", zlib.compress(CSS))),
    *(("gzip, gzip", gzipped(gzipped(CSS))), ("identity\r\nContent-Encoding: gzip", gzipped(CSS)), ("\x80", CSS)),
]
LARGE: tuple[Answer, ...] = (
    *(response(b"a" * (MOST + 1)), response(gzipped(b"a" * (MOST + 1)), "Content-Encoding: gzip")),
    response(gzipped(b"\0" * 100_000_000), "Content-Encoding: gzip"),
    response(gzipped(b"a" * 40_000) * 2, "Content-Encoding: gzip"),
    *(endless(OK + b"\r\n", b"a" * 1024), endless(OK + b"Content-Length: 999999999999\r\n\r\n", b"a" * 1024)),
    *(endless(CHUNKED, b"1000\r\n" + b"a" * 4096 + b"\r\n"), endless(CHUNKED, b"1\r\na\r\n" * 1000)),
    endless(CHUNKED, b"1;" + b"x" * 4096 + b"\r\na\r\n"),  # extensions of chunks
    endless(OK + b"Content-Encoding: gzip\r\n\r\n", gzipped(b"")),
    endless(b"", (EARLY + b"Link: </a>\r\n\r\n") * 100),
)
SLOW: tuple[Answer, ...] = (
    *(drip(b"", b""), drip(OK, b"a: b\r\n"), drip(OK + b"Content-Length: 999\r\n\r\n", b"a")),
    *(drip(CHUNKED, b"1\r\na\r\n"), drip(b"", EARLY + b"\r\n")),
)
BROKEN: tuple[Answer, ...] = (
    *(b"", b"\0" * 100, b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 2000 OK\r\n\r\n", OK + b" a: b\r\n\r\n"),
    *(OK + b"a b: c\r\n\r\n", OK + b"Content-Length: 99\r\n\r\n" + CSS, OK + b"Content-Length: -1\r\n\r\n" + CSS),
    OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n" + CSS,
    OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n" + CSS,
    OK + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
    *(OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n", CHUNKED + b"ffffffffffffffffffffff\r\na"),
    *(CHUNKED + b"-1\r\na", CHUNKED + b"5\r\nab"),
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    *(endless(OK, b"a: " + b"b" * 1000 + b"\r\n"), endless(OK + b"a: ", b"b" * 1000)),
)
NO_HTTP = ("does not speak HTTP as expected", "breaks off the connection", "responds with status 101")


@pytest.mark.parametrize(
    ("answer", "seconds", "reasons"),
    [
        *((response(SECRET.encode(), status=each), 5, [f"responds with status {each[:3]}"]) for each in STATUSES),
        *(
            (response(body, f"Content-Encoding: {encoding}"), 5, ["sends a body that cannot be decompressed"])
            for encoding, body in NO_GZIP
        ),
        *((answer, 30, ["sends more than 65,536 bytes"]) for answer in LARGE),
        *((answer, 0.3, [TOO_SLOW]) for answer in SLOW),
        *((answer, 5, NO_HTTP) for answer in BROKEN),
    ],
    ids=lambda value: repr(value[:60]) if isinstance(value, bytes) else None,
)
def test_bad_responses_are_refused(
    server: HostileServer, answer: Answer, seconds: float, reasons: Sequence[str]
) -> None:
    server.answers["/"] = answer
    assert refused(server.url(), seconds=seconds).removeprefix("styles.test: ") in reasons


HEAD = st.sampled_from(
    [
        *(b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 302 X\r\n", b"HTTP/1.1 100 X\r\n", b"Location: //%00/\r\n", b"\r\n"),
        *(b"0\r\n\r\n", b"Transfer-Encoding: chunked\r\n", b"Content-Length: 3\r\n", b"Content-Encoding: gzip\r\n"),
        b"Location: \xff\r\n",
        *(b"Content-Type: \xff/\r\n", b"3\r\nabc\r\n", b"Connection: close\r\n", gzipped(b"abc")),
        b"Location: http://[\r\n",
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(st.lists(HEAD | st.binary(max_size=20), max_size=8))
def test_any_bytes_give_a_response_or_an_error(server: HostileServer, parts: list[bytes]) -> None:
    server.answers["/"] = b"".join(parts)
    with suppress(OutgoingError):
        assert len(fetch(server.url()).body) <= MOST


# TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("certificates"), "styles.test")


@pytest.fixture
def secure(certificate: Path) -> Iterator[HostileServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    with serving(context=context) as started:
        started.answers["/"] = response(CSS)
        yield started


NAMES = {"styles_test": [[PUBLIC]], "other_test": [[PUBLIC]]}


@pytest.fixture
def trusting(certificate: Path) -> GuardedOutgoing:
    context = ssl.create_default_context(cafile=str(certificate))
    return GuardedOutgoing([PUBLIC], context=context, resolve=Names(**NAMES))


def test_a_trusted_certificate_is_accepted(secure: HostileServer, trusting: GuardedOutgoing) -> None:
    assert trusting.fetch(secure.url(), most=MOST, seconds=5).body == CSS
    assert trusting.fetch(secure.url(host="styles.test."), most=MOST, seconds=5).body == CSS


def test_an_untrusted_or_wrong_certificate_is_refused(secure: HostileServer, trusting: GuardedOutgoing) -> None:
    assert refused(secure.url()) == "styles.test: has a certificate that cannot be verified"
    for host in ("other.test", PUBLIC):
        with pytest.raises(OutgoingError, match="certificate"):
            trusting.fetch(secure.url(host=host), most=MOST, seconds=5)
    assert secure.heads == []


def test_redirects_never_leave_https(server: HostileServer, secure: HostileServer, trusting: GuardedOutgoing) -> None:
    server.answers["/"] = redirect(secure.url())
    assert trusting.fetch(server.url(), most=MOST, seconds=5) == Fetched(secure.url(), "", CSS)
    secure.answers["/back"] = redirect(server.url())
    with pytest.raises(OutgoingError, match=r"styles\.test: redirects from https to http"):
        trusting.fetch(secure.url("/back"), most=MOST, seconds=5)
    assert server.connections == 1


def test_by_default_the_certificates_of_the_system_are_trusted(
    secure: HostileServer, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = secure.url()
    with pytest.raises(OutgoingError, match="certificate"):
        GuardedOutgoing([PUBLIC], resolve=Names(**NAMES)).fetch(url, most=MOST, seconds=5)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert GuardedOutgoing([PUBLIC], resolve=Names(**NAMES)).fetch(url, most=MOST, seconds=5).body == CSS


def test_a_silent_handshake_times_out(trusting: GuardedOutgoing) -> None:
    with socket.create_server((PUBLIC, 0)) as silent:
        url = f"https://styles.test:{silent.getsockname()[1]}/"
        with pytest.raises(OutgoingError, match=r"takes longer than 0\.3 s"):
            trusting.fetch(url, most=MOST, seconds=0.3)


def test_a_body_truncated_within_tls_is_refused(secure: HostileServer, trusting: GuardedOutgoing) -> None:
    head = b"HTTP/1.1 200 OK\r\n\r\n"

    def announced(connection: socket.socket) -> None:
        assert isinstance(connection, ssl.SSLSocket)
        connection.sendall(head + CSS)
        connection.unwrap()

    secure.answers |= {"/whole": announced, "/cut": head + CSS}
    assert trusting.fetch(secure.url("/whole"), most=MOST, seconds=5).body == CSS
    with pytest.raises(OutgoingError, match="TLS"):
        trusting.fetch(secure.url("/cut"), most=MOST, seconds=5)


# Whether there is one


def test_outgoing_requests_depend_on_settings_and_installed_packages(
    monkeypatch: pytest.MonkeyPatch, server: HostileServer
) -> None:
    def outgoing(**given: object) -> Outgoing | None:
        with open_gallery(settings_of(database="memory:", **given)) as gallery:
            return gallery._ports.outgoing

    server.answers["/"] = response(CSS)
    allowed, other = outgoing(outgoing_hosts=[PUBLIC]), outgoing()
    assert allowed is not None
    assert other is not None
    assert allowed.fetch(server.url(host=PUBLIC), most=MOST, seconds=5).body == CSS
    with pytest.raises(OutgoingError, match="not public"):
        other.fetch(server.url(host=PUBLIC), most=MOST, seconds=5)
    monkeypatch.setitem(sys.modules, "httpx2", None)
    assert outgoing() is None
