"""The URLs of outgoing requests, parsed once for judging and asking (contract L8)."""

from dataclasses import dataclass
from typing import Final

from httpx2 import URL, InvalidURL

from logoadmin.domain.kernel.access import MAX_PORT
from logoadmin.domain.kernel.errors import OutgoingError
from logoadmin.domain.public_url import canonical_host

# Servers commonly accept no more, and parsing takes time.
_MAX_URL: Final = 8_192  # characters


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes.

    Attributes:
        url: the URL with the host as below, and without a fragment.
        host: a name in lower case and ASCII (IDNA), without a trailing dot, or an address.
        port: the port.
    """

    url: URL
    host: str
    port: int

    @property
    def is_secure(self) -> bool:
        """Whether the request is encrypted."""
        return self.url.scheme == "https"


def target_of(url: str) -> Target:
    """Return the target of an absolute URL.

    Raises:
        OutgoingError: the URL has credentials or an unusual host, or is not an absolute one of http or https.
    """
    if len(url) > _MAX_URL:
        raise OutgoingError("", "the URL is too long")
    try:
        return _target(URL(url))
    except (InvalidURL, ValueError):
        raise OutgoingError("", "the URL is invalid") from None


def redirected(target: Target, location: bytes) -> Target:
    """Return the target of a redirect.

    Raises:
        OutgoingError: as :func:`target_of`, and where the redirect leads from https to http.
    """
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
