"""Outgoing requests: the only way in which the core contacts other hosts (contract L8)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Fetched:
    """A response.

    Attributes:
        url: the URL of the response, a different one after a redirect.
        media_type: such as ``text/css``, in lower case and without parameters; empty if the response names none.
        body: the decompressed body.
        charset: the parameter ``charset`` of the media type; empty if it has none.
        status: 200, except in the response to :meth:`ConfidentialOutgoing.send`.
    """

    url: str
    media_type: str
    body: bytes
    charset: str = ""
    status: int = 200


class Outgoing(Protocol):
    """Sends requests to public hosts and to hosts that the operator listed. Safe to use from several threads."""

    def fetch(self, url: str, *, most: int, seconds: float) -> Fetched:
        """Return the response to a GET.

        Args:
            url: http or https, absolute; a fragment is not sent.
            most: the maximum body size, in bytes, compressed and decompressed.
            seconds: the limit for everything: resolving, connecting, redirects and the body.

        Raises:
            OutgoingError: must be raised for anything but a whole response with status 200.
        """


class PostingOutgoing(Protocol):
    """Sends JSON to receivers whose URLs are secrets (contract R6)."""

    def post(self, url: str, content: bytes, *, seconds: float) -> int:
        """Send JSON, and return the status of the response; its body is not read, and no redirect is followed.

        Args:
            url: https, or http to a host that the operator listed.
            seconds: the limit for resolving, connecting, sending and the head of the response.

        Raises:
            OutgoingError: must be raised without a response; the message has the host and nothing else of the URL.
        """


class ConfidentialOutgoing(Outgoing, Protocol):
    """Also sends requests that carry secrets (contract O7)."""

    def send(
        self, url: str, *, form: Mapping[str, str] | None = None, headers: Mapping[str, str], most: int, seconds: float
    ) -> Fetched:
        """Return the response to one request with secrets, whatever its status; no redirect is followed.

        The limits are those of :meth:`~Outgoing.fetch`.

        Args:
            url: https, or http to a host that the operator listed.
            form: the fields of a POST; None for a GET.
            headers: additional headers of the request, which may replace the usual ones.

        Raises:
            OutgoingError: must be raised for anything but a whole response, without any part of the secrets.
        """
