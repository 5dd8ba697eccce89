"""Everything that is not the service: the host of the pictures, and whatever else a browser asks for.

A browser context uses it as its proxy: no request leaves unseen, and requests to the service itself go their usual way,
with the cache of the browser.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from tests.answering import Answer, Answering, Request, answering

PICTURES: Final = "i.example"
# Requests that Chromium makes on its own, for any page.
_OF_THE_BROWSER: Final = "content-autofill.googleapis.com:443"
_PICTURE: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 80" width="160" height="80">'
    '<rect x="8" y="8" width="144" height="64" rx="32" fill="hsl({hue} 62% 46%)"/>'
    '<circle cx="44" cy="40" r="18" fill="hsl({hue} 62% 82%)"/>'
    '<path d="M76 30h56M76 50h36" stroke="#fff" stroke-width="8" stroke-linecap="round"/></svg>'
)


@dataclass
class ExternalHosts:
    """What browsers asked of others than the service.

    Attributes:
        pictures: the requests for pictures.
    """

    _server: Answering
    pictures: list[Request] = field(default_factory=list)

    @property
    def proxy(self) -> str:
        """The address, for a context of the browser."""
        return f"http://{self._server.host}"

    @property
    def strays(self) -> list[str]:
        """The addresses and hosts that nobody should have asked for."""
        own = f"http://{PICTURES}/", _OF_THE_BROWSER
        return [asked for asked in self._server.asked if not asked.startswith(own)]

    def forget(self) -> None:
        """Forget what was asked so far."""
        self._server.asked.clear()


@contextmanager
def external_hosts() -> Iterator[ExternalHosts]:
    """Serve, in a thread of this process."""

    def answer(request: Request) -> Answer:
        """Respond with a picture whose colour depends on its address."""
        if not request.path.startswith(f"http://{PICTURES}/"):
            return Answer(status=404)
        found.pictures.append(request)
        body = _PICTURE.format(hue=sum(map(ord, request.path)) * 47 % 360).encode()
        return Answer(body, "image/svg+xml", headers={"Cache-Control": "max-age=3600"})

    with answering(answer) as server:
        found = ExternalHosts(server)
        yield found
