"""Requests of browsers for CSS, compared with the verdict and the rewriting (contract L4, L5)."""

import random
import re
from collections.abc import Iterator
from itertools import product
from typing import Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Route
from pydantic import TypeAdapter, ValidationError

from logoadmin.domain.kernel.limits import NewPreviewUrl
from logoadmin.domain.publication.css import judge
from logoadmin.domain.publication.css.urls import absolute, hosts_of, trimmed
from tests import firefox
from tests.answering import Answer, Request, answering
from tests.domain.publication.css_samples import PAGE, SHEETS, A, using
from tests.domain.publication.data_documents import HARMLESS, RISKY
from tests.options import LONG

pytestmark = [pytest.mark.slow("a browser"), pytest.mark.rule("contract L4")]

# Set a style sheet, and wait until whatever it needs has been asked for.
APPLY: Final = """async (css) => {
  document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
  const frame = () => new Promise(requestAnimationFrame);
  await frame(); await frame(); await new Promise((done) => setTimeout(done, 30));
}"""
READ: Final = """([urls, base]) => urls.map((url) => {
  try {
    const { href, host, protocol } = new URL(url, base);
    return [href, ["http:", "https:", "ws:", "wss:", "ftp:", "file:"].includes(protocol) ? host : ""];
  } catch { return ["", ""]; }
})"""

PARTS: Final = (
    *("https:", "http:", "HTTP:", "/", "//", "\\", "@", ":", "80", "443", "444", "a", "b.c", "%41", "%2e", "%00", "%"),
    *("[::1]", "[", "]", "1", "0x7f", "256", ".", "..", "?", "#", " ", "\t", "\x01", "\u00e9", "\u00df", "\u3002"),
    *("file:", "ws:", "ftp:", "data:", "x:", "-", "_", "\u00ad", "1.2.3.4", "0", "|", "^", "`", "{", '"', "<"),
)


def requests_of(page: Page, origin: str, css: str) -> list[str]:
    """Return the URLs that Chromium requests for a page of this origin with this CSS, except those of the page."""
    asked: list[str] = []

    def answer(route: Route) -> None:
        if route.request.url == f"{origin}/":
            route.fulfill(content_type="text/html", body=PAGE)
        else:
            asked.append(route.request.url)
            route.fulfill(content_type="text/css", body="")

    page.route("**/*", answer)
    page.goto(f"{origin}/")
    page.evaluate(APPLY, css)
    page.unroute("**/*")
    return asked


def _hosts(urls: list[str]) -> set[str]:
    return {urlsplit(url).netloc.rpartition("@")[2] for url in urls} - {"page.test"}


@pytest.mark.parametrize("scheme", ["http", "https"] if LONG else ["https"])
def test_chromium_contacts_only_listed_hosts(chromium: Browser, scheme: str) -> None:
    missed, asked = {}, set()
    with chromium.new_context() as context:
        page = context.new_page()
        for css in SHEETS:
            hosts = _hosts(requests_of(page, f"{scheme}://page.test", css))
            asked |= hosts
            if not hosts <= {*judge(css, "sheet").hosts}:
                missed[css] = (hosts, judge(css, "sheet").hosts)
    assert missed == {}
    # It does ask, also for spellings that are far from the host.
    assert {"a.example", "b.example", "d.example", "127.0.0.1", "[1:0:0:2::3]", "xn--4ca.example"} <= asked


USES: Final = ("clip-path", "filter", "mask", "background", "cursor", "content", "list-style-image", "border-image")


def test_chromium_contacts_only_listed_hosts_for_documents_without_risks(chromium: Browser) -> None:
    asked: dict[str, set[str]] = {}
    with chromium.new_context() as context:
        page = context.new_page()
        for document in (*HARMLESS, *RISKY):
            css = f"b{{display:list-item;{using(document, USES)}}}"
            hosts = _hosts(requests_of(page, "https://page.test", css))
            if hosts and "document" not in judge(css, "sheet").risk_names:
                asked[document] = hosts
    assert asked == {}


@pytest.mark.parametrize("base", ["http://base.example/d/e?f#g", "https://base.example"][: 1 + LONG])
def test_chromium_reads_urls_in_the_same_way(chromium: Browser, base: str) -> None:
    choice = random.Random(20)
    urls = ["".join(choice.choices(PARTS, k=choice.randint(1, 9))) for _ in range(30_000 if LONG else 10_000)]
    # Each character that Python's tables know, but the asterisk, which this Chromium escapes.
    urls += [f"https://a{chr(code)}b.example/" for code in range(0x2B, 0xA000) if not 0x1C89 <= code <= 0x1C8A]
    with chromium.new_context() as context:
        page = context.new_page()
        read = page.evaluate(READ, [urls, base])
        again = page.evaluate(READ, [[absolute(url, base) for url in urls], "about:blank"])
    own = urlsplit(base).netloc
    missed = {
        url: host
        for url, (_, host) in zip(urls, read, strict=True)
        if host not in ("", own) and host not in hosts_of(url)
    }
    assert missed == {}
    changed = {
        url: (before, after)
        for url, (before, _), (after, _) in zip(urls, read, again, strict=True)
        if before != after and trimmed(url)[:1] not in ("#", "")
    }
    assert changed == {}


@pytest.mark.rule("contract D logos", "contract D themes")
def test_chromium_accepts_every_url_that_a_preview_may_have(chromium: Browser) -> None:
    choice, preview = random.Random(21), TypeAdapter(NewPreviewUrl)
    urls = [f"http://{''.join(choice.choices(PARTS, k=choice.randint(1, 6)))}" for _ in range(20_000)]

    def is_accepted(url: str) -> bool:
        try:
            return preview.validate_python(url) == url
        except ValidationError:
            return False

    accepted = [url for url in urls if is_accepted(url)]
    with chromium.new_context() as context:
        refused = context.new_page().evaluate("(urls) => urls.filter((url) => !URL.canParse(url))", accepted)
    assert (len(accepted) > 1000, refused) == (True, [])


# Firefox loads documents in ``data:`` URLs together with what they name, out of some of these properties.
APPLY_IN_FIREFOX: Final = """const [css, done] = arguments;
  document.body.insertAdjacentHTML("beforeend", "<svg width=9 height=9><rect width=9 height=9 /></svg>");
  document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100)));"""
USES_IN_FIREFOX: Final = (*USES, "backdrop-filter", "fill", "stroke", "marker-start", "shape-outside")
XML: Final = ("data:image/svg+xml,", "data:application/xhtml+xml,", "data:text/xml,")


def _sheets() -> Iterator[str]:
    typed = (document.replace(XML[0], kind) for document, kind in product(RISKY, XML) if document.startswith(XML[0]))
    for document in dict.fromkeys((*HARMLESS, *RISKY, *typed)):
        yield f"b,rect{{position:fixed;{using(f'{document}#f', USES_IN_FIREFOX)}}}"
    yield from SHEETS


def _as_any_host(request: Request) -> Answer:
    is_own = urlsplit(request.path).netloc == "page.test"
    fresh = {"Cache-Control": "no-store"}
    return Answer(PAGE.encode() if is_own else b"", "text/html" if is_own else "text/css", headers=fresh)


@pytest.mark.release
def test_firefox_contacts_only_listed_hosts() -> None:
    preferences = {"network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False}
    missed, asked, documents = {}, set(), 0
    with answering(_as_any_host) as proxy, firefox.started(f"http://{proxy.host}", preferences) as fox:
        for css in _sheets():
            proxy.asked.clear()
            fox.open("http://page.test/")
            fox.send("WebDriver:ExecuteAsyncScript", {"script": APPLY_IN_FIREFOX, "args": [css]})
            asked_for = {urlsplit(url).netloc.rpartition("@")[2] or url for url in proxy.asked}
            own = ("page.test", "mozilla", "googleapis")
            hosts = {re.sub(":(80|443)$", "", host) for host in asked_for if not any(each in host for each in own)}
            asked |= hosts
            documents += hosts == {A} and "svg" in css
            verdict = judge(css, "sheet")
            # What a document names counts as far as it can be read.
            if not hosts <= {*verdict.hosts} and "document" not in verdict.risk_names:
                missed[css] = (hosts, verdict.hosts)
    assert missed == {}
    # It does ask, also out of documents.
    assert {A, "b.example"} <= asked
    assert documents >= 5
