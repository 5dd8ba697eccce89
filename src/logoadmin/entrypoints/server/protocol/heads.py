"""What is wanted of the head of a request before the application hears of it (contract A21, H4)."""

import re
from typing import Final

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from logoadmin.entrypoints.http_api.errors import HttpError
from logoadmin.entrypoints.server.protocol.bounds import Bounds

_VERSIONS: Final = ("1.1", "1.0")
# What the parser says of versions that it does not know, and of the preface of HTTP/2.
_OTHER_VERSIONS: Final = ("Invalid HTTP version", "Pause on PRI/Upgrade")
# A name or an address, and a port perhaps (RFC 9110 §7.2); no list, which others would take for its first or last name.
_HOST: Final = re.compile(rb"([A-Za-z0-9._~%-]*|\[[0-9A-Fa-f:.]+\])(:[0-9]*)?")
_ABSOLUTE: Final = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*://([^/?#]*)")


def refusal_of(error: httptools.HttpParserError) -> HttpError:
    """Return the refusal of a request that the parser, or a check of its head, did not take."""
    why = error.__context__
    if isinstance(why, HttpError):
        return why
    return _unknown_version() if str(error) in _OTHER_VERSIONS else HttpError(400, "Invalid HTTP request")


def _unknown_version() -> HttpError:
    return HttpError(505, "Only HTTP/1.1 and HTTP/1.0 are spoken here")


class CheckedHeads(Bounds, HttpToolsProtocol):
    """uvicorn's protocol, with heads that are bounded and offer nothing else than HTTP/1.1.

    Attributes:
        part_bytes: of what has come last.
        begun_head: the scope of the head that did not come all at once.
    """

    part_bytes = 0
    begun_head: object = None

    def feed(self, data: bytes) -> None:
        """Let the parser take what has come.

        A request that offers an upgrade, such as to HTTP/2, is taken for one that does not (RFC 9110 §7.8). The parser
        loses its body, and takes it for another protocol or another request; Java's client and ``curl --http2`` send
        their first POST like this.

        Raises:
            httptools.HttpParserError: it is not HTTP, or else the HttpError in its context says what is wrong.
        """
        self.part_bytes = len(data)
        while True:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                data = self._head_without_offer() + data[offer.args[0] :]
            else:
                return
            self.parser = httptools.HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)

    def _head_without_offer(self) -> bytes:
        method, headers = self.scope["method"].encode(), self.scope["headers"]
        if method == b"CONNECT":
            raise httptools.HttpParserError
        version = self.parser.get_http_version().encode()
        fields = (b"%b: %b\r\n" % (name, value) for name, value in headers if name != b"upgrade")
        return b"".join((method, b" ", self.url, b" HTTP/", version, b"\r\n", *fields, b"\r\n"))

    def _should_upgrade(self) -> bool:
        # With this uvicorn holds back every request that offers an upgrade, until feed brings it again.
        return True

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field; white space around its value is not part of it (RFC 9112 §5).

        This stands in for uvicorn's method, since a browser sends some fifteen of them.
        """
        name, value = name.lower(), value.strip(b" \t")
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Check the head; the parser hands an error on to whoever feeds it."""
        version = self.parser.get_http_version()
        if version not in _VERSIONS:
            raise _unknown_version()
        # A head that came at once, with no more than the limit, is seldom worth counting.
        in_parts = self.begun_head is self.scope
        if self.part_bytes > self.head_bytes or in_parts or len(self.headers) > self.head_fields:
            self._count()
        self._check_host(version)
        self._check_framing(version)
        if len(self.pipeline) >= self.pipelined:
            raise HttpError(429, "Too many requests without waiting for an answer")
        super().on_headers_complete()
        # Trailers are no headers (RFC 9110 §6.5.1); uvicorn would add them to the scope while the application runs.
        self.headers = []

    def _check_host(self, version: str) -> None:
        hosts = [value for name, value in self.headers if name == b"host"]
        if len(hosts) != 1 and (hosts or version != "1.0"):
            raise HttpError(400, "Exactly one Host header is required")
        named = None if self.url.startswith(b"/") else _ABSOLUTE.match(self.url)
        if named is not None:  # a target that names the host itself counts instead (RFC 9112 §3.2.2)
            hosts = [named[1]]
            self.headers[:] = [(name, named[1] if name == b"host" else value) for name, value in self.headers]
        if not all(map(_HOST.fullmatch, hosts)):
            raise HttpError(400, "Host should be one name or address, with a port perhaps")

    def _check_framing(self, version: str) -> None:
        codings = [value.lower() for name, value in self.headers if name == b"transfer-encoding"]
        if version == "1.0":
            self.expect_100_continue = False  # such a client takes what comes first for the answer (RFC 9110 §10.1.1)
            if codings:
                raise HttpError(400, "HTTP/1.0 has no Transfer-Encoding")
        if codings and codings != [b"chunked"]:
            raise HttpError(501, "No other Transfer-Encoding than chunked is known here")

    def _count(self) -> None:
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self.head_bytes or len(self.headers) > self.head_fields:
            raise self.head_too_large()

    def head_too_large(self) -> HttpError:
        """Return how a head over the limit is refused."""
        return HttpError(431, f"The head of the request has more than {self.head_bytes} bytes or too many fields")
