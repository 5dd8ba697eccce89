"""Imported style sheets, fetched and decoded as browsers do, with absolute URLs (contract L5)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from typing import Any, Final

from tinycss2.ast import StringToken
from tinycss2.bytes import decode_stylesheet_bytes

from logoadmin.domain.kernel.errors import OutgoingError
from logoadmin.domain.publication.css.addresses import Use
from logoadmin.domain.publication.css.data_urls import data_url
from logoadmin.domain.publication.css.structure import structure_of
from logoadmin.domain.publication.css.tokens import Edit, Tokens, edited, tokenize
from logoadmin.domain.publication.css.urls import absolute, address_of, host_of
from logoadmin.ports.environment import Clock
from logoadmin.ports.outgoing import Fetched, Outgoing

MAX_SHEET: Final = 1024 * 1024
MAX_LEVELS: Final = 3
MAX_SHEETS: Final = 20
# For all sheets of a text, and for one of them.
SECONDS: Final = 20.0
SECONDS_PER_SHEET: Final = 10.0
_CSS: Final = "text/css"


@dataclass(frozen=True, slots=True)
class Sheet:
    """A style sheet, its text as browsers read it, and the URLs of the sheets through which it is imported."""

    url: str
    base: str | None  # of its relative URLs, which differs from `url` after a redirect; None for `data:`
    body: bytes = field(repr=False)
    text: str = field(repr=False)
    encoding: Any = field(repr=False)  # the default for sheets that it imports
    importers: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its URL; for `data:`, without the content."""
        return self.url if self.base else self.url.partition(",")[0].partition(";")[0]

    @property
    def host(self) -> str:
        """Its host; empty for `data:`."""
        return host_of(self.base) if self.base else ""

    @property
    def sha256(self) -> str:
        """The SHA-256 of its bytes."""
        return sha256(self.body).hexdigest()


class SheetFetcher:
    """Fetches the sheets that one text imports, within the limits on their number and time."""

    def __init__(self, outgoing: Outgoing, clock: Clock) -> None:
        self._outgoing, self._clock = outgoing, clock
        self._deadline = clock.elapsed() + SECONDS
        self._fetched: dict[str, Fetched] = {}

    def fetch(self, url: str, importer: Sheet | None) -> Sheet:
        """Return a sheet that another sheet imports, or the text itself; each URL is requested once.

        Raises:
            OutgoingError: it cannot be fetched, or is not a style sheet.
        """
        importers = () if importer is None else (*importer.importers, importer.url)
        found = data_url(url)
        if found is not None:
            where, base, media_type, charset, body = url, None, found.media_type, found.charset, found.content
        else:
            where = address_of(url, None if importer is None else importer.base)
            response = self._request(where, importers)
            base, media_type, charset, body = response.url, response.media_type, response.charset, response.body
        if len(importers) >= MAX_LEVELS:
            raise OutgoingError(host_of(where), f"sheets import each other over more than {MAX_LEVELS} levels")
        # Browsers accept a sheet without a media type, but not in a data: URL.
        if body is None or media_type not in ((_CSS,) if base is None else ("", _CSS)):
            raise OutgoingError(host_of(base or ""), f"the media type of the response is not {_CSS}")
        text, encoding = decode_stylesheet_bytes(body, charset or None, None if importer is None else importer.encoding)
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}")
        return Sheet(where, base, body, text, encoding, importers)

    def _request(self, url: str, importers: tuple[str, ...]) -> Fetched:
        host = host_of(url)
        if url in importers:
            raise OutgoingError(host, "sheets import each other in a circle")
        if url not in self._fetched:
            if len(self._fetched) >= MAX_SHEETS:
                raise OutgoingError(host, f"the CSS imports more than {MAX_SHEETS} sheets, directly or not")
            left = self._deadline - self._clock.elapsed()
            if left <= 0:
                raise OutgoingError(host, f"the imported sheets did not arrive within {SECONDS:.0f} s")
            self._fetched[url] = self._outgoing.fetch(url, most=MAX_SHEET, seconds=min(left, SECONDS_PER_SHEET))
        return self._fetched[url]


# Every character that might end a string or url(), or be read as white space.
_ESCAPED: Final = {chr(code): f"\\{code:x} " for code in (*range(1, 0x21), *b"\"'()\\\x7f")}
# A character, or an escape with the white space that ends it.
_CHARACTER: Final = r"\\(?:[0-9a-fA-F]{1,6}(?:\r\n|[ \t\r\n\f])?|.?)|[^\\]"
# The URL in a string, and in url(), whose name may have escapes.
_IN_STRING: Final = re.compile(rf"([\"'])((?:(?!\1)(?:{_CHARACTER}))*)", re.DOTALL)
_IN_URL: Final = re.compile(
    rf"(?:(?!\()(?:{_CHARACTER}))*(\()[ \t\r\n\f]*((?:(?![) \t\r\n\f])(?:{_CHARACTER}))*)", re.DOTALL
)
# A line break after a backslash is not an escape: tinycss2 reads this as a url(), browsers do not.
_BROKEN: Final = frozenset(("\\", line_break) for line_break in "\r\n\f")


def with_absolute_urls(css: str, base: str) -> str:
    """Return a style sheet with absolute URLs and no other change; this is idempotent."""
    return edited(css, _absolute_urls(css, tokenize(css), base))


def _absolute_urls(css: str, tokens: Tokens, base: str) -> Iterator[Edit]:
    for address in structure_of(tokens, "sheet").addresses():
        url = address.url if address.use is Use.PERHAPS else absolute(address.url, base)
        if url != address.url:
            is_string = isinstance(address.token, StringToken)
            found = (_IN_STRING if is_string else _IN_URL).match(css, tokens.offset(address.token))
            if found is not None and (is_string or _BROKEN.isdisjoint(pairwise(found[2]))):
                yield *found.span(2), "".join(_ESCAPED.get(character, character) for character in url)
