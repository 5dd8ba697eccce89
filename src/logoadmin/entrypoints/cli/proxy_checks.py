"""Checks of the service as people reach it, through its proxy (contract K4)."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from logoadmin.domain.model.access import is_loopback
from logoadmin.domain.model.checks import Result, Verdict, ok, warning, wrong
from logoadmin.domain.model.errors import LogoAdminError
from logoadmin.entrypoints.cli.http_get import http_get
from logoadmin.entrypoints.http_api.doctor_endpoint import proof

if TYPE_CHECKING:
    from logoadmin.settings import Settings

_TIMEOUT: Final = 5.0
# A client may write these; a good proxy replaces them, or adds its own behind them. The address is nobody's (RFC 5737).
_CLAIMED: Final = {"X-Forwarded-For": "203.0.113.77", "X-Forwarded-Proto": "claimed"}
_PORTS: Final = {"http": ":80", "https": ":443"}


class _Received(NamedTuple):
    """A request as the service received it: see :mod:`logoadmin.entrypoints.http_api.doctor_endpoint`."""

    client: str | None
    scheme: str
    host: list[str]
    root_path: str
    forwarded_for: list[str]
    forwarded_proto: list[str]


def check_proxy(settings: "Settings", url: str) -> Iterator[Result]:
    """Check what the service receives of a request to a URL."""
    try:
        parts = urlsplit(url.rstrip("/"))
    except ValueError:
        parts = urlsplit("")
    reached = _reached(parts)
    yield reached
    if reached.verdict is Verdict.WRONG:
        return
    received = _received(settings, parts)
    if isinstance(received, Result):
        yield received
        return
    yield from (_prefix(received, parts), _host(received, parts), _client(received), _scheme(received, parts))
    yield _versions(parts)


def _reached(parts: SplitResult) -> Result:
    """Whether the URL leads to a logoadmin service."""
    url = parts.geturl()
    if parts.scheme not in _PORTS or not parts.hostname or parts.query or parts.username:
        return wrong("url", "it is not a URL such as https://gallery.example/gallery", "correct --url")
    try:
        response = http_get(f"{url}/livez", timeout=_TIMEOUT)
    except OSError as error:
        reason = getattr(error, "verify_message", None) or error.strerror or error
        text = f"no response from {parts.netloc}: {reason}"
        return wrong("url", text, "check the name, and that the proxy is running, with a valid certificate")
    if response.is_well:
        return ok("url", f"{url} leads to logoadmin")
    if response.status in (502, 503, 504):
        text = f"the proxy responds with {response.status} and does not reach the service"
        return wrong("url", text, "check that the service runs at the address that the proxy uses")
    if 300 <= response.status < 400:
        return wrong("url", f"it redirects to {response.headers.get('location', 'nowhere')}", "use the final URL")
    cure = "have the proxy strip the prefix: in nginx, end proxy_pass with a slash, as location does"
    return wrong("url", f"the response is not from logoadmin, status {response.status}", cure)


def _received(settings: "Settings", parts: SplitResult) -> _Received | Result:
    """Return the request as the service received it, or why that is unknown."""
    from logoadmin.maintenance import doctor_keys

    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        text = "the headers are not checked: others could read the proof that the request needs, without TLS"
        return warning("proxy", text, "set up TLS in the proxy, or run doctor on its machine")
    try:
        authorization = proof(doctor_keys(settings), int(time.time()))
        response = http_get(f"{parts.geturl()}/doctor", {**_CLAIMED, "Authorization": authorization}, timeout=_TIMEOUT)
        if response.status == 200:
            return _Received(**response.json)
    except (LogoAdminError, OSError, TypeError) as error:
        return warning("proxy", f"the headers cannot be checked: {error}", "see above; check the log of the proxy")
    if response.status == 421:
        cure = "have the proxy pass Host on (proxy_set_header Host $host), and add the name to hosts"
        return wrong("Host", "the service receives a name that is not its own", cure)
    cure = "run doctor with the settings of the service; have the proxy pass Authorization on"
    return wrong("proxy", "the service does not know the keys of these settings", cure)


def _prefix(received: _Received, parts: SplitResult) -> Result:
    """Whether the service knows the prefix that the proxy strips."""
    path = parts.path.rstrip("/")
    if received.root_path == path:
        return ok("prefix", path or "none")
    text = f"the URL has the prefix {path or 'none'}, the service has {received.root_path or 'none'}: links are wrong"
    return wrong("prefix", text, f'set root_path = "{path}"')


def _host(received: _Received, parts: SplitResult) -> Result:
    """Whether the name in the URL reaches the service."""
    asked, *got = (name.lower().removesuffix(_PORTS[parts.scheme]) for name in (parts.netloc, *received.host))
    if got == [asked]:
        return ok("Host", asked)
    text = f"the URL has {asked}, the service receives {', '.join(got) or 'none'}"
    return warning("Host", text, "proxy_set_header Host $host")


def _client(received: _Received) -> Result:
    """Whether the service knows the address of each client, and accepts it from the proxy alone."""
    check, cure = "X-Forwarded-For", "behind a proxy: proxy_set_header X-Forwarded-For $remote_addr"
    is_believed = received.client in received.forwarded_for
    if {*received.forwarded_for} - {_CLAIMED[check]}:
        if received.client == _CLAIMED[check]:
            return ok(check, "the client's address arrives; this machine is trusted, and may claim any address")
        if is_believed:
            return ok(check, f"this request counts for {received.client}")
        text = f"all clients count as {received.client}, the proxy, which is not trusted"
        return wrong(check, text, f"add {received.client} to trusted_proxies")
    if is_believed:
        return wrong(check, "clients may claim any address: the proxy passes on what they write", cure)
    return warning(check, f"no proxy names the client; this request counts for {received.client}", cure)


def _scheme(received: _Received, parts: SplitResult) -> Result:
    """Whether the service knows that clients use TLS."""
    check, cure = "X-Forwarded-Proto", "have a trusted proxy replace it: proxy_set_header X-Forwarded-Proto $scheme"
    if received.client in received.forwarded_for and _CLAIMED[check] in received.forwarded_proto[-1:]:
        return wrong(check, "the proxy passes on what the client wrote", cure)
    if received.scheme == parts.scheme:
        return ok(check, received.scheme)
    return wrong(check, f"clients use {parts.scheme}, the service assumes {received.scheme}", cure)


def _versions(parts: SplitResult) -> Result:
    """Whether entity tags pass through unchanged; a weak one never matches If-Match."""
    try:
        response = http_get(f"{parts.geturl()}/api/logos?limit=50", {"Accept-Encoding": "gzip"}, timeout=_TIMEOUT)
    except OSError as error:
        return warning("ETag", f"a list cannot be read: {error}", "check the log of the proxy")
    if response.status != 200:
        return warning("ETag", f"a list is answered with {response.status}", "check the log of the proxy")
    if response.headers.get("etag", "W/").startswith("W/"):
        text = "the proxy drops or weakens it, so that every If-Match is a 412"
        return wrong("ETag", text, "gzip off; the service compresses its responses")
    return ok("ETag", "passes through unchanged")
