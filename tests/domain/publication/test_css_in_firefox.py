"""Requests of Firefox for CSS, compared with the verdict (contract L4).

Other browsers load no document in a ``data:`` URL together with what it names; Firefox does, out of some properties.
"""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote, urlsplit

import pytest

from logoadmin.domain.publication.css import judge
from tests import firefox
from tests.answering import Answer, Request, answering
from tests.domain.publication.css_samples import PAGE, SHEETS, using
from tests.domain.publication.data_documents import HARMLESS, RISKY

# Set a style sheet, and wait until whatever it needs has been asked for.
APPLY: Final = """const [css, done] = arguments;
  document.body.insertAdjacentHTML("beforeend", "<svg width=9 height=9><rect width=9 height=9 /></svg>");
  document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100)));"""
HOST: Final = "a.example"
ADDRESS: Final = f"http://{HOST}/x"
# What names other files, in the ways of SVG, of XHTML and of the style sheets in them.
INSIDE: Final = (
    *(f"<image {name}='{ADDRESS}'/>" for name in ("href", "xlink:href")),
    *(f"<feImage {name}='{ADDRESS}'/>" for name in ("href", "xlink:href")),
    *(f"<use {name}='{ADDRESS}#x'/>" for name in ("href", "xlink:href")),
    f"<style>@import '{ADDRESS}';</style>",
    f"<style>@font-face{{font-family:f;src:url({ADDRESS})}}text{{font-family:f}}</style><text>t</text>",
    f"<style>*{{background:url({ADDRESS});fill:url({ADDRESS}#f);mask:url({ADDRESS}#m)}}</style><rect/>",
    f"<g style='list-style-image:url({ADDRESS});display:list-item'/>",
    f"<foreignObject><img xmlns='http://www.w3.org/1999/xhtml' src='{ADDRESS}'/></foreignObject>",
    f"<foreignObject><link xmlns='http://www.w3.org/1999/xhtml' rel='stylesheet' href='{ADDRESS}'/></foreignObject>",
    f"<foreignObject><iframe xmlns='http://www.w3.org/1999/xhtml' src='{ADDRESS}'/></foreignObject>",
    f"<image href='data:image/svg+xml,{quote(quote(f'<svg><image href={chr(34)}{ADDRESS}{chr(34)}/></svg>'))}'/>",
    f"<style>@import 'data:text/css,{quote(f'@import url({ADDRESS})')}';</style>",
)
HEAD: Final = "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'>"
SHAPES: Final = "<clipPath id='f'><rect width='9' height='9'/></clipPath><filter id='g'><feFlood/></filter>"
DOCUMENTS: Final = (
    *(f"{HEAD}{SHAPES}{inside}</svg>" for inside in INSIDE),
    f"<?xml-stylesheet href='{ADDRESS}'?>{HEAD}{SHAPES}</svg>",
)
USES: Final = (
    *("clip-path", "filter", "mask", "backdrop-filter", "fill", "stroke", "marker-start", "background", "cursor"),
    *("content", "list-style-image", "border-image-source", "shape-outside"),
)


def _sheets() -> Iterator[str]:
    for number, found in enumerate((*HARMLESS, *RISKY)):
        yield f"b,rect{{position:fixed;{using(found, USES)}}}/*d{number}*/"
    for number, document in enumerate(DOCUMENTS):
        for media_type in ("image/svg+xml", "application/xhtml+xml", "text/xml"):
            properties = ";".join(f'{use}:url("data:{media_type},{quote(document)}#f")' for use in USES)
            yield f"b,rect{{position:fixed;{properties}}}/*{number}*/"
    yield from SHEETS


# The page, and the hosts of Firefox.
FRESH: Final = {"Cache-Control": "no-store"}
OWN: Final = ("page.test", "mozilla", "googleapis")


def answer(request: Request) -> Answer:
    """Respond as any host, one of which has the page."""
    is_own = urlsplit(request.path).netloc == "page.test"
    return Answer(PAGE.encode() if is_own else b"", "text/html" if is_own else "text/css", headers=FRESH)


@pytest.mark.slow("a browser")
@pytest.mark.release
@pytest.mark.rule("contract L4")
def test_firefox_contacts_only_listed_hosts() -> None:
    preferences = {"network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False}
    missed, asked, documents = {}, set(), 0
    with answering(answer) as proxy, firefox.started(f"http://{proxy.host}", preferences) as fox:
        for css in _sheets():
            proxy.asked.clear()
            fox.open("http://page.test/")
            fox.send("WebDriver:ExecuteAsyncScript", {"script": APPLY, "args": [css]})
            asked_for = {urlsplit(url).netloc.rpartition("@")[2] or url for url in proxy.asked}
            hosts = {re.sub(":(80|443)$", "", host) for host in asked_for if not any(own in host for own in OWN)}
            asked |= hosts
            documents += hosts == {HOST} and "data:image/svg" in css
            verdict = judge(css, "sheet")
            # What a document names counts as far as it can be read.
            if not hosts <= {*verdict.hosts} and "document" not in verdict.risk_names:
                missed[css] = (hosts, verdict.hosts)
    assert missed == {}
    # It does ask, also out of documents.
    assert {HOST, "b.example"} <= asked
    assert documents >= 5
