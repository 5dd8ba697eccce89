"""Asking the running service as people reach it, through its proxy (contract K4)."""

import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urlsplit

from logoadmin.domain.model.access import is_loopback
from logoadmin.domain.model.checks import Result, Verdict, ok, warning, wrong
from logoadmin.domain.model.errors import LogoAdminError
from logoadmin.entrypoints.cli.http_client import HttpResponse, http_get

if TYPE_CHECKING:
    from logoadmin.settings import Settings

_TIMEOUT: Final = 5.0
# What a caller may write; a proxy puts its own in the place of it, or behind it. The address is nobody's (RFC 5737).
_CLAIMED: Final = {"X-Forwarded-For": "203.0.113.77", "X-Forwarded-Proto": "claimed"}
_PORTS: Final = {"http": 80, "https": 443}
# By OpenSSL's codes for why a certificate is refused (x509_vfy.h).
_UNTRUSTED: Final = "have the proxy send the intermediate certificates, or trust the issuer on this machine"
_TLS_CURES: Final = {
    9: "check the clocks of this machine and of the issuer",
    10: "renew the certificate of the proxy",
    **dict.fromkeys((18, 19, 20, 21), _UNTRUSTED),
    **dict.fromkeys((62, 64), "give the proxy a certificate for the name in the URL"),
}
_PREFIX_CURE: Final = "let the proxy take the prefix off: in nginx, proxy_pass ends with a slash, as location does"


@dataclass(frozen=True, slots=True)
class _ReceivedRequest:
    """A request as it arrived at the service: see :mod:`logoadmin.entrypoints.http_api.doctor_endpoint`."""

    client: str | None
    scheme: str
    host: list[str]
    root_path: str
    forwarded_for: list[str]
    forwarded_proto: list[str]

    @property
    def is_believed(self) -> bool:
        """Whether the client is one that a proxy named."""
        return self.client in self.forwarded_for


def check_proxy(settings: "Settings", url: str) -> Iterator[Result]:
    """Check what arrives at the service of what is asked at a URL."""
    try:
        parts = urlsplit(url.rstrip("/"))
    except ValueError:
        parts = urlsplit("")
    reached = _reached(parts)
    yield reached
    if reached.verdict is Verdict.WRONG:
        return
    if _is_plain(parts):
        text = "what arrives is not asked for: it takes a token, which others could read without TLS"
        yield warning("proxy", text, "give an https:// URL, or ask on the machine of the proxy")
        return
    try:
        received = _ask_what_arrives(settings, parts)
    except _Refused as error:
        yield error.result
        return
    yield _prefix(received, parts)
    yield _host(received, parts)
    yield _client(received)
    yield _scheme(received, parts)
    yield _versions(parts)


class _Refused(Exception):
    """The service does not say what arrives; ``result`` says why."""

    def __init__(self, result: Result) -> None:
        self.result = result
        super().__init__(result.text)


def _reached(parts: SplitResult) -> Result:
    """Whether the service answers through the URL."""
    url = parts.geturl()
    if parts.scheme not in _PORTS or not parts.hostname or parts.query or parts.username:
        return wrong("url", "it is not a URL such as https://gallery.example/gallery", "give one with --url")
    try:
        answer = http_get(f"{url}/livez", timeout=_TIMEOUT)
    except ssl.SSLError as error:
        reason = getattr(error, "verify_message", None) or error.strerror
        cure = _TLS_CURES.get(
            getattr(error, "verify_code", 0), "check the certificate and the TLS settings of the proxy"
        )
        return wrong("url", f"TLS fails: {reason}", cure)
    except socket.gaierror:
        cure = "correct the name, or its entry in DNS"
        return wrong("url", f"the name {parts.hostname} cannot be resolved", cure)
    except OSError as error:
        cure = "check that the proxy is running, and its port"
        return wrong("url", f"no response from {parts.netloc}: {error}", cure)
    if answer.is_well:
        if _is_plain(parts):
            return warning("url", f"{url} leads to logoadmin, without TLS", "have the proxy speak TLS")
        return ok("url", f"{url} leads to logoadmin")
    return _led_astray(answer)


def _is_plain(parts: SplitResult) -> bool:
    """Tell whether those on the way can read what is asked."""
    return parts.scheme == "http" and not is_loopback(parts.hostname or "")


def _led_astray(answer: HttpResponse) -> Result:
    """Say where a URL leads that does not lead to the service."""
    if answer.status in (502, 503, 504):
        text = f"the proxy answers {answer.status}, and does not reach the service"
        return wrong("url", text, "look whether the service runs where the proxy looks for it")
    if 300 <= answer.status < 400:
        text = f"it leads on to {answer.headers.get('location', 'nowhere')}"
        return wrong("url", text, "give the URL that people have at the end")
    return wrong("url", f"no logoadmin answers there, but {answer.status}", _PREFIX_CURE)


def _ask_what_arrives(settings: "Settings", parts: SplitResult) -> _ReceivedRequest:
    """Ask the service what arrives.

    Raises:
        _Refused: it does not say.
    """
    from logoadmin.maintenance import doctor_token

    try:
        token = doctor_token(settings)
    except LogoAdminError as error:
        raise _Refused(warning("proxy", f"what arrives cannot be asked for: {error}", "see above")) from None
    try:
        answer = http_get(
            f"{parts.geturl()}/doctor", {**_CLAIMED, "Authorization": f"Bearer {token}"}, timeout=_TIMEOUT
        )
        if answer.status == 200:
            return _ReceivedRequest(**answer.json)
    except (OSError, TypeError) as error:
        text = f"what arrives was not told ({type(error).__name__})"
        raise _Refused(warning("proxy", text, "ask again; look at the log of the proxy")) from None
    if answer.status == 421:
        cure = "let the proxy pass Host on (proxy_set_header Host $host), and name it in hosts"
        raise _Refused(wrong("Host", "the service is asked for a name that is none of its own", cure))
    cure = "run doctor with the settings of the service; let the proxy pass Authorization on"
    raise _Refused(wrong("proxy", "the service does not know the key that is named here", cure))


def _prefix(received: _ReceivedRequest, parts: SplitResult) -> Result:
    """Whether the service knows the prefix that the proxy takes off."""
    path = parts.path.rstrip("/")
    if received.root_path == path:
        return ok("prefix", path or "none")
    text = f"people have {path or 'none'}, and the service {received.root_path or 'none'}: links lead elsewhere"
    return wrong("prefix", text, f'set root_path = "{path}"')


def _host(received: _ReceivedRequest, parts: SplitResult) -> Result:
    """Whether the name that people ask for arrives."""
    asked, got = _name(parts.netloc, parts.scheme), [_name(host, parts.scheme) for host in received.host]
    if got == [asked]:
        return ok("Host", asked)
    text = f"people ask for {asked}, and the proxy for {', '.join(got) or 'none'}"
    return warning("Host", text, "proxy_set_header Host $host")


def _name(host: str, scheme: str) -> str:
    return host.lower().removesuffix(f":{_PORTS[scheme]}")


def _client(received: _ReceivedRequest) -> Result:
    """Whether the service counts each caller for themselves, and takes nobody at their word."""
    check, cure = "X-Forwarded-For", "behind a proxy: proxy_set_header X-Forwarded-For $remote_addr"
    others = [address for address in received.forwarded_for if address != _CLAIMED[check]]
    if others and received.client == _CLAIMED[check]:
        return ok(check, "the caller's address is told; this machine is trusted, and may claim any")
    if others and received.is_believed:
        return ok(check, f"this request counts for {received.client}")
    if others:
        text = f"all callers count as {received.client}, which is the proxy: it is not trusted"
        return wrong(check, text, f"add {received.client} to trusted_proxies")
    if received.is_believed:
        return wrong(check, "callers may claim any address: what they write is passed on, and believed", cure)
    return warning(check, f"nobody on the way says who the caller is; this request counts for {received.client}", cure)


def _scheme(received: _ReceivedRequest, parts: SplitResult) -> Result:
    """Whether the service knows that people come by TLS."""
    check, cure = "X-Forwarded-Proto", "proxy_set_header X-Forwarded-Proto $scheme"
    if received.is_believed and _CLAIMED[check] in received.forwarded_proto[-1:]:
        return wrong(check, "what the caller wrote is passed on, and believed", cure)
    if received.scheme == parts.scheme:
        return ok(check, f"the service takes requests for {received.scheme}")
    if parts.scheme in received.forwarded_proto:
        text = f"the proxy says {parts.scheme}, and is not believed"
        return wrong(check, text, "add its address to trusted_proxies")
    return wrong(check, f"people come by {parts.scheme}, and the service takes it for {received.scheme}", cure)


def _versions(parts: SplitResult) -> Result:
    """Whether versions pass through as they are, or else nobody can change what they saw."""
    try:
        answer = http_get(f"{parts.geturl()}/api/logos?limit=50", {"Accept-Encoding": "gzip"}, timeout=_TIMEOUT)
    except OSError:
        answer = HttpResponse(0, {}, "")
    tag = answer.headers.get("etag", "")
    if answer.status != 200:
        return warning("ETag", f"a list is answered {answer.status or 'not at all'}", "look at the log of the proxy")
    if not tag or tag.startswith("W/"):
        text = "it is taken away or made weak on the way, so that If-Match is always 412"
        return wrong("ETag", text, "gzip off; the service compresses by itself")
    return ok("ETag", "versions pass through as they are")
