"""One request, with its redirects or without any, over httpcore2 (contract L8)."""

import re
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode

import httpcore2

from logoadmin.adapters.httpcore_outgoing.budget import Budget, TooLarge, Undecodable, read_body
from logoadmin.adapters.httpcore_outgoing.connections import GuardedBackend
from logoadmin.adapters.httpcore_outgoing.guard import Guard
from logoadmin.adapters.httpcore_outgoing.targets import Target, redirected, target_of
from logoadmin.domain.kernel.errors import OutgoingError
from logoadmin.ports.outgoing import Fetched

_MAX_REDIRECTS: Final = 5
_REDIRECTS: Final = (301, 302, 303, 307, 308)
_MEDIA_TYPE: Final = re.compile(r"[a-z0-9!#$&^_.+-]{1,100}/[a-z0-9!#$&^_.+-]{1,100}", re.ASCII)
_CHARSET: Final = re.compile(r""";\s*charset\s*=\s*["']?([a-z0-9._:-]{1,40})""", re.ASCII)
# Only gzip, whose output can be bounded while it is read. No connection is used twice: each has its own judgement.
_HEADERS: Final = {"Accept": "*/*", "Accept-Encoding": "gzip", "Connection": "close", "User-Agent": "logoadmin"}


def fetch(url: str, budget: Budget, guard: Guard, context: ssl.SSLContext) -> Fetched:
    """Return the response to a GET, see :class:`~logoadmin.ports.outgoing.Outgoing`."""
    target = target_of(url)
    with _pool(budget, guard, context) as pool:
        for _ in range(1 + _MAX_REDIRECTS):
            with _explained(target, budget):
                reached = _ask(pool, target, budget)
            if isinstance(reached, Fetched):
                return reached
            target = reached
    raise OutgoingError(target.host, f"more than {_MAX_REDIRECTS} redirects lead to it")


def send(
    url: str,
    form: Mapping[str, str] | None,
    headers: Mapping[str, str],
    budget: Budget,
    guard: Guard,
    context: ssl.SSLContext,
) -> Fetched:
    """Return the response to one request with secrets, see :class:`~logoadmin.ports.outgoing.Outgoing`."""
    target = _confidential(url, guard)
    method, content, own = "GET", None, dict(headers)
    if form is not None:
        method, content = "POST", urlencode(form).encode()
        own["Content-Type"] = "application/x-www-form-urlencoded"
    with (
        _pool(budget, guard, context) as pool,
        _explained(target, budget),
        pool.stream(method, _asked(target), headers=_headers(target, own), content=content) as response,
    ):
        return _received(response, target, budget)


def post(url: str, content: bytes, budget: Budget, guard: Guard, context: ssl.SSLContext) -> int:
    """Return the status of the response, see :class:`~logoadmin.ports.outgoing.PostingOutgoing`."""
    target = _confidential(url, guard)
    headers = _headers(target, {"Content-Type": "application/json"})
    with (
        _pool(budget, guard, context) as pool,
        _explained(target, budget),
        pool.stream("POST", _asked(target), headers=headers, content=content) as response,
    ):
        return response.status


def _confidential(url: str, guard: Guard) -> Target:
    """Return the target of a URL, which nobody on the way may read along."""
    target = target_of(url)
    if not (target.is_secure or guard.lists(target.host)):
        raise OutgoingError(target.host, "is not asked without TLS, because it is not listed in outgoing_hosts")
    return target


def _pool(budget: Budget, guard: Guard, context: ssl.SSLContext) -> httpcore2.ConnectionPool:
    """Return a pool for one request, without the environment's proxies, which would resolve names unjudged."""
    backend = GuardedBackend(guard, budget)
    return httpcore2.ConnectionPool(context, max_keepalive_connections=0, network_backend=backend)


def _asked(target: Target) -> httpcore2.URL:
    return httpcore2.URL(scheme=target.url.raw_scheme, host=target.host, port=target.port, target=target.url.raw_path)


def _headers(target: Target, own: Mapping[str, str] = MappingProxyType({})) -> list[tuple[str | bytes, str | bytes]]:
    return [("Host", target.url.netloc), *{**_HEADERS, **own}.items()]


def _ask(pool: httpcore2.ConnectionPool, target: Target, budget: Budget) -> Fetched | Target:
    """Return the response of a target, or the target to which it redirects."""
    with pool.stream("GET", _asked(target), headers=_headers(target)) as response:
        location = _head(response, b"location")
        if response.status in _REDIRECTS and location:
            return redirected(target, location)
        if response.status != 200:
            raise OutgoingError(target.host, f"responds with status {response.status}")
        return _received(response, target, budget)


def _received(response: httpcore2.Response, target: Target, budget: Budget) -> Fetched:
    encoding = _head(response, b"content-encoding").decode("latin-1").lower()
    body = read_body(response.iter_stream(), encoding, budget.most)
    content_type = _head(response, b"content-type").decode("latin-1").lower()
    media_type = content_type.partition(";")[0].strip()
    charset = _CHARSET.search(content_type)
    return Fetched(
        str(target.url),
        media_type if _MEDIA_TYPE.fullmatch(media_type) else "",
        body,
        "" if charset is None else charset[1],
        response.status,
    )


def _head(response: httpcore2.Response, name: bytes) -> bytes:
    """Return the values of a head, as one list (RFC 9110 §5.3)."""
    return b", ".join(value.strip() for sent, value in response.headers if sent.lower() == name)


@contextmanager
def _explained(target: Target, budget: Budget) -> Iterator[None]:
    """Raise every failure as an OutgoingError that names the host and the reason, and nothing that was received."""
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
