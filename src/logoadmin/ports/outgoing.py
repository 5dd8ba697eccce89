"""Outgoing requests: the only way in which the core asks other hosts for something (contract L8)."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Fetched:
    """A response with status 200.

    Attributes:
        url: the URL it came from, which is another one after a redirect.
        media_type: such as ``text/css``, in lower case and without parameters; empty if the response names none.
        body: the decompressed body.
        charset: the parameter ``charset`` of the media type; empty if it has none.
    """

    url: str
    media_type: str
    body: bytes
    charset: str = ""


class Outgoing(Protocol):
    """Sends requests to public hosts and to those that the operator listed. Safe to use from several threads."""

    def fetch(self, url: str, *, most: int, seconds: float) -> Fetched:
        """Return the response to a GET.

        Args:
            url: http or https, absolute; a fragment is not sent.
            most: the largest body, in bytes, compressed and decompressed.
            seconds: for everything: resolving, connecting, redirects and the body.

        Raises:
            OutgoingError: must be raised for anything else than a whole response with status 200.
        """
