"""The URL of the service as browsers see it (contract O8)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin.domain.public_url import LOCAL, PublicUrl, local_public_url, public_url

pytestmark = pytest.mark.rule("contract O8")

IS_URL = "should be the URL that browsers open"
HAS_TLS = "should begin with https://"


@pytest.mark.parametrize(
    ("text", "origin", "host", "path"),
    [
        ("https://gallery.example", "https://gallery.example", "gallery.example", ""),
        ("HTTPS://Gallery.Example:443/", "https://gallery.example", "gallery.example", ""),
        ("https://gallery.example./Gallery/", "https://gallery.example", "gallery.example", "/Gallery"),
        ("https://www.example:8443/a/b", "https://www.example:8443", "www.example", "/a/b"),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example", "xn--bcher-kva.example", ""),
        ("https://gallery", "https://gallery", "gallery", ""),
        ("http://localhost", "http://localhost", "localhost", ""),
        ("http://localhost:80/x", "http://localhost", "localhost", "/x"),
        ("http://localhost:00443", "http://localhost:443", "localhost", ""),
        ("https://localhost:80", "https://localhost:80", "localhost", ""),
        ("http://gallery.localhost:8000", "http://gallery.localhost:8000", "gallery.localhost", ""),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000", "127.0.0.1", ""),
        ("http://[0:0::1]:8000/a", "http://[::1]:8000", "::1", "/a"),
        ("https://192.0.2.1", "https://192.0.2.1", "192.0.2.1", ""),
        ("https://[2001:DB8::1]", "https://[2001:db8::1]", "2001:db8::1", ""),
    ],
)
def test_a_public_url_has_one_canonical_form(text: str, origin: str, host: str, path: str) -> None:
    found = public_url(text)
    assert found == PublicUrl(origin, host, path)
    assert found.base == origin + path
    assert public_url(found.base) == found
    assert found.is_address == (host[0].isdigit() or ":" in host)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "https:", "https://", "//gallery.example", "gallery.example", "gallery.example:443", "/gallery"),
        *("ftp://gallery.example", "ws://localhost", "javascript:alert(1)", "file:///x", "https:gallery.example"),
        *("https://a?", "https://a?b=c", "https://a/?b", "https://a#", "https://a/#b", "https://a/b?c#d"),
        *("https://u@a", "https://u:p@a", "https://@a", "https://a@b/", "https://a\\@b", "https://a\\b"),
        *("https://a:", "https://a:0", "https://a:65536", "https://a:99999999", "https://a:+1", "https://a:\u0661"),
        "https://a:8 ",
        *("https://*", "https://*.example", "https://a,https://b", "https://a b", " https://a", "https://a\n"),
        "https://a\t",
        *("https://a..b", "https://.a", "https://bücher.example", "https://%61", "https://a%2fb", "https://0x7f.1"),
        *("https://127.1", "https://2130706433", "https://017700000001", "http://0", "https://[::1", "https://::1"),
        *("https://[127.0.0.1]", "https://[a]", "https://[::1]a", "https://[fe80::1%25lo]", "https://[fe80::1%lo]"),
        *("https://a//", "https://a//b", "https://a/b//", "https://a/.", "https://a/../b", "https://a/b c"),
        "https://a/%2e",
        *("https://a/é", "https://a/b;c", f"https://{'a' * 64}", "https://a/\0"),
    ],
)
def test_an_invalid_public_url_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=IS_URL):
        public_url(text)


@pytest.mark.parametrize(
    "host", ["gallery.example", "localhost.example", "192.0.2.1", "[2001:db8::1]", "0.0.0.0", "notlocalhost"]
)
def test_only_localhost_is_allowed_without_tls(host: str) -> None:
    assert public_url(f"https://{host}")
    with pytest.raises(ValueError, match=HAS_TLS):
        public_url(f"http://{host}:8000/gallery")


def test_the_default_public_url_is_localhost() -> None:
    assert local_public_url(8000) == LOCAL == public_url("http://localhost:8000")
    assert local_public_url(80, "/gallery").base == "http://localhost/gallery"
    assert not LOCAL.is_address


@given(st.text() | st.from_regex(re.compile(r"https?://[a-z0-9.:\[\]@%\\-]{1,12}(:[0-9]{0,6})?(/[a-z.~%]*)*", re.I)))
def test_an_accepted_url_is_canonical(text: str) -> None:
    try:
        found = public_url(text)
    except ValueError:
        return
    assert public_url(found.base) == found
    assert re.fullmatch(r"https?://[a-z0-9.:\[\]_-]+", found.origin)
    assert found.base.isascii()
    assert not set(found.base) & set("?#@\\% \n\t")
