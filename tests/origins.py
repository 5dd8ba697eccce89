"""Other hosts for tests: an ``Outgoing`` with contents from the test, which records the requested URLs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from logoadmin.domain.kernel.errors import OutgoingError
from logoadmin.ports.outgoing import Fetched


@dataclass
class Origins:
    """Other hosts, by URL.

    Attributes:
        sheets: their contents: text in UTF-8, a response, or an error.
        asked: the requested URLs, in order.
        before: called before each response, to simulate concurrent events.
    """

    sheets: dict[str, str | bytes | Fetched | OutgoingError] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    before: Callable[[str], object] = lambda _: None

    def fetch(self, url: str, *, most: int, seconds: float) -> Fetched:
        """Return the content of a URL, within these limits."""
        assert seconds > 0
        self.asked.append(url)
        self.before(url)
        found = self.sheets.get(url, OutgoingError(urlsplit(url).hostname or "", "status 404"))
        if isinstance(found, OutgoingError):
            raise found
        if isinstance(found, str):
            found = found.encode()
        if isinstance(found, bytes):
            found = Fetched(url, "text/css", found)
        if len(found.body) > most:
            raise OutgoingError(urlsplit(url).hostname or "", f"more than {most} bytes")
        return found
