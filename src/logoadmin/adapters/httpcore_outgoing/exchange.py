"""One request over httpcore2, with or without redirects (contract L8).

A URL is parsed once, for the check and the request. Connections go to checked addresses, and share one deadline and one
limit on received bytes.
"""

import gzip
import io
import re
import socket
import ssl
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlencode

import httpcore2
from httpcore2 import NetworkBackend, NetworkStream
from httpx2 import URL, InvalidURL

from logoadmin.adapters.httpcore_outgoing.guard import Budget, Guard, TooLarge
from logoadmin.domain.kernel.access import MAX_PORT
from logoadmin.domain.kernel.errors import OutgoingError
from logoadmin.domain.public_url import canonical_host
from logoadmin.ports.outgoing import Fetched

_MAX_REDIRECTS: Final = 5
_REDIRECTS: Final = (301, 302, 303, 307, 308)
_MEDIA_TYPE: Final = re.compile(r"[a-z0-9!#$&^_.+-]{1,100}/[a-z0-9!#$&^_.+-]{1,100}", re.ASCII)
_CHARSET: Final = re.compile(r""";\s*charset\s*=\s*["']?([a-z0-9._:-]{1,40})""", re.ASCII)
# Only gzip, whose output can be bounded while it is read. Connections are not reused: each is checked.
_HEADERS: Final = {"Accept": "*/*", "Accept-Encoding": "gzip", "Connection": "close", "User-Agent": "logoadmin"}
# Servers commonly accept no more, and parsing takes time.
_MAX_URL: Final = 8_192  # characters
# A name may have any number of addresses, and each may leave a connection unanswered.
_MAX_TRIED: Final = 4


class Undecodable(Exception):
    """A body is not compressed as its head says, or in an encoding that was not requested."""


class Exchange:
    """Requests one URL; see :class:`~logoadmin.ports.outgoing.Outgoing` for the methods."""

    def __init__(self, budget: Budget, guard: Guard, context: ssl.SSLContext) -> None:
        self._budget, self._guard, self._context = budget, guard, context

    def fetch(self, url: str) -> Fetched:
        target = target_of(url)
        with self._pool() as pool:
            for _ in range(1 + _MAX_REDIRECTS):
                with _explained(target, self._budget):
                    reached = self._request(pool, target)
                if isinstance(reached, Fetched):
                    return reached
                target = reached
        raise OutgoingError(target.host, f"more than {_MAX_REDIRECTS} redirects lead to it")

    def send(self, url: str, form: Mapping[str, str] | None, headers: Mapping[str, str]) -> Fetched:
        method, content, own = "GET", None, dict(headers)
        if form is not None:
            method, content = "POST", urlencode(form).encode()
            own["Content-Type"] = "application/x-www-form-urlencoded"
        with self._confidential(method, url, own, content) as (response, target):
            return _received(response, target, self._budget)

    def post(self, url: str, content: bytes) -> int:
        with self._confidential("POST", url, {"Content-Type": "application/json"}, content) as (response, _):
            return response.status

    @contextmanager
    def _confidential(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | None
    ) -> Iterator[tuple[httpcore2.Response, "Target"]]:
        """Send a request that nobody in between may read, and yield the response."""
        target = target_of(url)
        if not (target.is_secure or self._guard.lists(target.host)):
            raise OutgoingError(target.host, "is not asked without TLS, because it is not listed in outgoing_hosts")
        with (
            self._pool() as pool,
            _explained(target, self._budget),
            pool.stream(method, target.request_url, headers=target.headers(headers), content=content) as response,
        ):
            yield response, target

    def _pool(self) -> httpcore2.ConnectionPool:
        """Return a pool for one request, without the environment's proxies, which would resolve names unchecked."""
        backend = _GuardedBackend(self._guard, self._budget)
        return httpcore2.ConnectionPool(self._context, max_keepalive_connections=0, network_backend=backend)

    def _request(self, pool: httpcore2.ConnectionPool, target: "Target") -> "Fetched | Target":
        """Return the response of a target, or the target to which it redirects."""
        with pool.stream("GET", target.request_url, headers=target.headers()) as response:
            location = _header(response, b"location")
            if response.status in _REDIRECTS and location:
                return redirected(target, location)
            if response.status != 200:
                raise OutgoingError(target.host, f"responds with status {response.status}")
            return _received(response, target, self._budget)


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a request: its URL, with the host as below and without a fragment.

    The host is a name in lower case and ASCII (IDNA), without a trailing dot, or an address.
    """

    url: URL
    host: str
    port: int

    @property
    def is_secure(self) -> bool:
        """Whether the request is encrypted."""
        return self.url.scheme == "https"

    @property
    def request_url(self) -> httpcore2.URL:
        """The URL for the library."""
        return httpcore2.URL(scheme=self.url.raw_scheme, host=self.host, port=self.port, target=self.url.raw_path)

    def headers(self, own: Mapping[str, str] = MappingProxyType({})) -> list[tuple[str | bytes, str | bytes]]:
        """Return the headers of a request."""
        return [("Host", self.url.netloc), *{**_HEADERS, **own}.items()]


def target_of(url: str) -> Target:
    """Return the target of an absolute URL of http or https, without credentials."""
    if len(url) > _MAX_URL:
        raise OutgoingError("", "the URL is too long")
    try:
        return _target(URL(url))
    except (InvalidURL, ValueError):
        raise OutgoingError("", "the URL is invalid") from None


def redirected(target: Target, location: bytes) -> Target:
    """Return the target of a redirect, which must not lead from https to http."""
    if len(location) > _MAX_URL:
        raise OutgoingError(target.host, "redirects to a URL that is too long")
    try:
        following = _target(target.url.join(location.decode()))
    except (InvalidURL, ValueError):
        raise OutgoingError(target.host, "redirects to an invalid URL") from None
    if target.is_secure and not following.is_secure:
        raise OutgoingError(target.host, "redirects from https to http")
    return following


def _target(url: URL) -> Target:
    if url.scheme not in ("http", "https"):
        raise OutgoingError("", "the URL is not an absolute one of http or https")
    host = canonical_host(url.raw_host.decode())
    if host is None:
        raise OutgoingError("", "the host of the URL is invalid")
    if url.userinfo:
        raise OutgoingError(host, "the URL has credentials")
    port = url.port if url.port is not None else 443 if url.scheme == "https" else 80
    if not 1 <= port <= MAX_PORT:
        raise OutgoingError(host, "the port of the URL is invalid")
    return Target(url.copy_with(host=host, fragment=None), host, port)


def _received(response: httpcore2.Response, target: Target, budget: Budget) -> Fetched:
    encoding = _header(response, b"content-encoding").decode("latin-1").lower()
    body = read_body(response.iter_stream(), encoding, budget.most)
    content_type = _header(response, b"content-type").decode("latin-1").lower()
    media_type = content_type.partition(";")[0].strip()
    charset = _CHARSET.search(content_type)
    return Fetched(
        str(target.url),
        media_type if _MEDIA_TYPE.fullmatch(media_type) else "",
        body,
        "" if charset is None else charset[1],
        response.status,
    )


def _header(response: httpcore2.Response, name: bytes) -> bytes:
    """Return the values of a header, as one list (RFC 9110 §5.3)."""
    return b", ".join(value.strip() for sent, value in response.headers if sent.lower() == name)


@contextmanager
def _explained(target: Target, budget: Budget) -> Iterator[None]:
    """Raise every failure as an OutgoingError with the host and the reason, and nothing that was received."""
    try:
        yield
    except TimeoutError:
        reason = f"takes longer than {budget.seconds:g} s"
    except TooLarge:
        reason = f"sends more than {budget.most:,} bytes"
    except Undecodable:
        reason = "sends a body that cannot be decompressed"
    except ssl.SSLCertVerificationError:
        reason = "has a certificate that cannot be verified"
    except ssl.SSLError:
        reason = "does not speak TLS as expected"
    except (httpcore2.LocalProtocolError, httpcore2.RemoteProtocolError):
        reason = "does not speak HTTP as expected"
    except OSError:
        reason = "breaks off the connection"
    else:
        return
    raise OutgoingError(target.host, reason)


def read_body(chunks: Iterable[bytes], encoding: str, most: int) -> bytes:
    """Return a decompressed body of at most ``most`` bytes, before and after decompression.

    Raises TooLarge, or Undecodable if the encoding is neither gzip nor none, or the body is damaged or incomplete.
    """
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        raise Undecodable
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > most:
            raise TooLarge
    return _decompressed(body, most) if encoding.endswith("gzip") else bytes(body)


def _decompressed(body: bytearray, most: int) -> bytes:
    try:
        decompressed = gzip.GzipFile(fileobj=io.BytesIO(body)).read(most + 1)
    except (OSError, EOFError, zlib.error):
        raise Undecodable from None
    if len(decompressed) > most:
        raise TooLarge
    if not body:  # which GzipFile accepts
        raise Undecodable
    return decompressed


class _GuardedBackend(NetworkBackend):
    """Connects to the addresses that the guard checked, without resolving the name again."""

    def __init__(self, guard: Guard, budget: Budget) -> None:
        self._guard = guard
        self._budget = budget

    def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> NetworkStream:
        addresses = self._guard.addresses(host, port, self._budget)[:_MAX_TRIED]
        for number, address in enumerate(addresses):
            share = self._budget.time_left() / (len(addresses) - number)
            try:
                connected = socket.create_connection((str(address), port), share)
            except OSError:
                self._budget.time_left()
                continue
            return _Stream(connected, self._budget)
        raise OutgoingError(host, "cannot be reached")


class _Stream(NetworkStream):
    """A connection with a time limit on every step."""

    def __init__(self, connected: socket.socket, budget: Budget) -> None:
        self._socket = connected
        self._budget = budget

    def read(self, max_bytes: int, *_: Any, **__: Any) -> bytes:
        self._socket.settimeout(self._budget.time_left())
        received = self._socket.recv(max_bytes)
        self._budget.receive(len(received))
        return received

    def write(self, buffer: bytes, *_: Any, **__: Any) -> None:
        self._socket.settimeout(self._budget.time_left())
        self._socket.sendall(buffer)  # only heads, which the system accepts at once

    def close(self) -> None:
        self._socket.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, *_: Any, **__: Any
    ) -> NetworkStream:
        try:
            self._socket.settimeout(self._budget.time_left())
            # The server has to announce the end: otherwise anyone in between could cut a body short. Early versions of
            # Python 3.11 make OpenSSL 3 ignore this; others have no such option.
            ssl_context.options &= ~getattr(ssl, "OP_IGNORE_UNEXPECTED_EOF", 0)
            secured = ssl_context.wrap_socket(self._socket, server_hostname=server_hostname, suppress_ragged_eofs=False)
        except BaseException:
            self.close()
            raise
        return _Stream(secured, self._budget)
