"""Outgoing requests that carry secrets: forms and tokens for an issuer (contract L8, O7)."""

import logging
import ssl
from collections.abc import Iterator, Mapping

import pytest

from logoadmin.adapters.httpcore_outgoing import GuardedOutgoing
from logoadmin.domain.kernel.errors import OutgoingError
from logoadmin.ports.outgoing import Fetched
from tests.adapters.hostile_server import PRIVATE, PUBLIC, HostileServer, Names, redirect, response, serving

pytestmark = pytest.mark.rule("contract L8")

MOST = 65_536
CONTEXT = ssl.create_default_context()  # one for all tests: loading the certificates of the system is slow
SECRET = "s3cret-of-the-client"
FORM = {"grant_type": "authorization_code", "code": f"{SECRET} &=+\N{SNOWMAN}"}
DENIED = b'{"error": "invalid_grant"}'


@pytest.fixture
def server() -> Iterator[HostileServer]:
    with serving() as started:
        yield started


@pytest.fixture
def outgoing() -> GuardedOutgoing:
    names = Names(styles_test=[[PUBLIC]], other_test=[[PUBLIC]])
    return GuardedOutgoing(["styles.test"], context=CONTEXT, resolve=names)


def send(
    outgoing: GuardedOutgoing, url: str, form: Mapping[str, str] | None = FORM, *, most: int = MOST, seconds: float = 5
) -> Fetched:
    return outgoing.send(url, form=form, headers={"Authorization": f"Basic {SECRET}"}, most=most, seconds=seconds)


def refused(outgoing: GuardedOutgoing, url: str, *, most: int = MOST, seconds: float = 5) -> str:
    with pytest.raises(OutgoingError) as caught:
        send(outgoing, url, most=most, seconds=seconds)
    assert SECRET not in f"{caught.value}{caught.value.__cause__!r}{caught.value.__context__!r}"
    return str(caught.value)


def test_a_form_is_posted_once(server: HostileServer, outgoing: GuardedOutgoing) -> None:
    server.answers["/token"] = response(b"{}", "Content-Type: application/json")
    received = send(outgoing, server.url("/token"))
    assert received == Fetched(server.url("/token"), "application/json", b"{}")
    assert server.bodies == [b"grant_type=authorization_code&code=s3cret-of-the-client+%26%3D%2B%E2%98%83"]
    assert sorted(server.heads[0].lower().splitlines()) == sorted(
        [
            *("post /token http/1.1", f"host: styles.test:{server.port}", "accept: */*", "accept-encoding: gzip"),
            *("connection: close", "user-agent: logoadmin", f"authorization: basic {SECRET}", ""),
            *("content-type: application/x-www-form-urlencoded", f"content-length: {len(server.bodies[0])}"),
        ]
    )


def test_without_a_form_it_is_a_get(server: HostileServer, outgoing: GuardedOutgoing) -> None:
    server.answers["/userinfo"] = response(b"{}")
    assert send(outgoing, server.url("/userinfo"), None).body == b"{}"
    assert server.heads[0].startswith("GET /userinfo ")
    assert "content-" not in server.heads[0].lower()


@pytest.mark.parametrize(
    "status",
    [
        *("400 Bad Request", "401 No", "500 Oops"),
        *("301 Moved", "302 Found", "303 See Other", "307 Same", "308 Permanent"),
    ],
)
def test_any_response_is_returned_and_never_logged(
    server: HostileServer, outgoing: GuardedOutgoing, status: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.answers["/"] = response(DENIED, f"Location: {server.url('/elsewhere')}", status=status)
    received = send(outgoing, server.url())
    assert (received.status, received.body) == (int(status[:3]), DENIED)
    assert not any(text in caplog.text for text in (SECRET, "invalid_grant"))
    assert server.connections == 1


def test_without_tls_only_listed_hosts_are_contacted(server: HostileServer) -> None:
    allowed = GuardedOutgoing([PUBLIC], context=CONTEXT, resolve=Names(styles_test=[[PUBLIC]]))
    expected = "styles.test: is not asked without TLS, because it is not listed in outgoing_hosts"
    assert refused(allowed, server.url()) == expected
    assert server.connections == 0
    assert refused(allowed, "http://nowhere.example/").startswith("nowhere.example: is not asked without TLS")


def test_every_address_is_checked() -> None:
    with serving(PRIVATE) as internal:
        names = Names(styles_test=[[PUBLIC, PRIVATE]], rebound_test=[[PUBLIC], [PRIVATE]])
        outgoing = GuardedOutgoing([PUBLIC], context=CONTEXT, resolve=names)
        secure = internal.url().replace("http:", "https:")
        assert "not public" in refused(outgoing, secure)
        assert "never allowed" in refused(outgoing, "https://169.254.169.254/latest")
        assert "credentials" in refused(outgoing, f"https://user:{SECRET}@styles.test/")
        assert internal.connections == 0


def post(outgoing: GuardedOutgoing, url: str, seconds: float = 5) -> int:
    return outgoing.post(url, b'{"text": "hello"}', seconds=seconds)


@pytest.mark.rule("contract L8", "contract R6")
@pytest.mark.parametrize("status", ["200 OK", "204 No Content", "302 Found", "404 No", "500 Oops"])
def test_json_is_posted_once_and_status_returned(server: HostileServer, outgoing: GuardedOutgoing, status: str) -> None:
    server.answers["/hook"] = redirect("/other") if status.startswith("302") else response(b"x" * 10, status=status)
    assert post(outgoing, server.url("/hook")) == int(status[:3])
    assert server.bodies == [b'{"text": "hello"}']
    head = server.heads[0].lower()
    assert head.startswith("post /hook http/1.1")
    assert "content-type: application/json" in head


@pytest.mark.rule("contract L8", "contract R6")
def test_private_unencrypted_or_hanging_receivers_get_nothing(server: HostileServer, outgoing: GuardedOutgoing) -> None:
    private = GuardedOutgoing([], context=CONTEXT, resolve=Names(hook_test=[[PRIVATE]]))
    with pytest.raises(OutgoingError, match=r"hook\.test"):
        post(private, f"https://hook.test/{SECRET}")
    with pytest.raises(OutgoingError, match="is not asked without TLS") as caught:
        post(outgoing, f"http://other.test:{server.port}/{SECRET}")
    assert SECRET not in str(caught.value)
    server.answers["/slow"] = b""
    with pytest.raises(OutgoingError):
        post(outgoing, server.url("/slow"), seconds=0.5)
