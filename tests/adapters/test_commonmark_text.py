"""The texts of artworks are rendered as safe HTML in linear time (contract S1)."""

import re
import time
from html.parser import HTMLParser
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it.ruler import Ruler

from logoadmin.adapters.commonmark_text import CommonmarkText
from logoadmin.domain.kernel.limits import MAX_TEXT

pytestmark = pytest.mark.rule("contract S1")

TEXT: Final = CommonmarkText()
ALLOWED: Final = {
    **{tag: {"dir"} for tag in ("p", "li", "h3", "h4", "h5", "h6")},
    **{tag: set[str]() for tag in ("em", "strong", "blockquote", "ul", "pre", "hr", "br")},
    "code": {"class"},
    "ol": {"start"},
    "a": {"href", "rel", "title"},
}
FRAGMENTS: Final = (
    *("[", "]", "(", ")", "<", ">", "*", "_", "`", "!", "#", "\n", "\n\n", " ", "    ", "\t", "- ", "1. ", "> "),
    *("~~~", "&#106;", "&Tab;", "javascript:", "data:text/html,", "vbscript:", "https://a.example/", "mailto:a@b.c"),
    *("<script>", "<img src=x onerror=alert(1)>", "[a]:", '"', "'", "\\", "\0", "\u202e", "\u0627", "e\u0301", "=\n"),
)
REFUSED: Final = (
    "javascript:alert(1)", "JaVaScRiPt:alert(1)", "java&#115;cript:alert(1)", "&#x6a;avascript:alert(1)",
    "&#1;javascript:alert(1)", "java&Tab;script:alert(1)", "java&NewLine;script:alert(1)", "\\javascript:alert(1)",
    "javascript&colon;alert(1)", "javascript%3Aalert(1)", "vbscript:x", "data:text/html,<script>alert(1)</script>",
    "file:///etc/passwd", "//evil.example", "/console/", "#x", "https:", "https:///", "http:evil", "blob:https://a/b",
)  # fmt: skip
COSTLY: Final = (
    *("[", "]", "`", "*", "_", "![", "[a](", "](", "[[a]", "[a][b]", "x[*", "**a ", "*_", "*a_ ", "`` ` ", "e`", "<a"),
    *("<!--", "> ", "- ", "- a\n", "   - a\n", "[x]: a\n", "[b]: c 'd\n", "&", "\\", "<https://a", "[a](<b", "[a](((("),
    *("# a\n", "~~~\n", "> a\n\n", "1. ", "\0", "e\u0301\u0323"),
)


class Checked(HTMLParser):
    """Reads HTML and finds what should not be in it."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert given.keys() <= ALLOWED[tag], (tag, given)
        if tag == "a" and given:
            assert re.match(r"(?:https?://|mailto:)[^/]", given["href"] or "", re.IGNORECASE)
            assert given["rel"] == "nofollow ugc noopener"
            assert "a" not in self.open
            self.links.append(given["href"] or "")
        if tag not in ("hr", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("hr", "br"):
            assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)


def checked(text: str) -> tuple[str, list[str]]:
    """Return a text as HTML, which is safe, and its links."""
    parser, html = Checked(), TEXT.html(text)
    parser.feed(html)
    parser.close()
    assert not parser.open
    return html, parser.links


@given(st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=5), max_size=40).map("".join))
def test_any_text_is_safe_html(text: str) -> None:
    checked(text)


def test_rules_are_compiled_before_texts_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_rules(_: Ruler[Any]) -> None:
        raise AssertionError("another text may find these while they are incomplete")

    monkeypatch.setattr(Ruler, "__compile__", compile_rules)
    assert "<em>a</em>" in TEXT.html("*a*")


@pytest.mark.parametrize("url", ["", *REFUSED])
@pytest.mark.parametrize("form", ["[a]({})", "[a](<{}>)", "<{}>", "[a]\n\n[a]: {}", "[![b]({})](https://a.example)"])
def test_other_links_are_text(url: str, form: str) -> None:
    assert {*checked(form.format(url))[1]} <= {"https://a.example"}


@pytest.mark.parametrize("url", ["https://a.example/b?c#d", "HTTP://a.example", "mailto:a@b.example"])
def test_links_to_sites_and_people_are_links(url: str) -> None:
    assert checked(f"[a]({url}) <{url}> [a]\n\n[a]: {url}")[1] == [url] * 3


def test_html_and_pictures_are_text() -> None:
    html, links = checked('<b>x</b> <!-- c --> ![a "b"](https://a.example/p.png) ![r]\n\n[r]: https://a.example/r.png')
    assert not links
    assert "&lt;b&gt;x&lt;/b&gt; &lt;!-- c --&gt; ![a &quot;b&quot;](https://a.example/p.png)" in html
    assert "![r](https://a.example/r.png)" in html


def test_headings_are_below_those_of_the_page_and_skip_no_level() -> None:
    html, _ = checked("# a\n\n#### b\n\nc\n===\n\n" + "".join(f"{'#' * level} d\n" for level in range(1, 7)))
    assert re.findall(r"<h(\d)", html) == [*"343", *"345666"]


def test_paragraphs_do_not_change_each_others_direction() -> None:
    html, _ = checked("שלום \u202e\n\nb\n\n- c")
    assert html.count('dir="auto"') == 3


@pytest.mark.slow("it measures the time of the processor")
@pytest.mark.parametrize("part", COSTLY)
def test_rendering_takes_linear_time(part: str) -> None:
    text = (part * MAX_TEXT)[:MAX_TEXT]
    began = time.process_time()
    html = TEXT.html(text)
    assert time.process_time() - began < 2
    assert len(html) < 200 * MAX_TEXT
