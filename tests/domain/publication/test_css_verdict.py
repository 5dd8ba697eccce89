"""The verdict on CSS: its hosts, imports and size, for any text whatsoever (contract L4, docs/works.md)."""

import base64
import time
from typing import Final, Never, get_args
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logoadmin.domain.kernel.kinds import CssForm
from logoadmin.domain.publication.css import MAX_BLOCKS, judge
from logoadmin.domain.publication.css import judging as verdict
from logoadmin.domain.publication.css.tokens import MAX_LEVELS
from tests.strategies import css_texts

pytestmark = pytest.mark.rule("contract L4")

A, B = "a.example", "b.example:8080"

SHEETS: Final[dict[str, list[str]]] = {
    "a{background: url(https://a.example/x.png) center}": [A],
    "a{background: url( 'https://a.example' ), url(//b.example:8080/)}": [A, B],
    'a { b: URL("https://a.example") }': [A],
    "a{b:u\\72l('https://a.example')}": [A],
    "a{b:\\75 RL(  https://a.example/\\29 )}": [A],
    "a{b:url(\\68 ttps://a.example)}": [A],
    "a{b:url('h\\\nttps://a.example')}": [A],
    "a{b:image-set('https://a.example' 1x, url(https://b.example:8080) 2x type('image/png'))}": [A, B],
    "a{b:-webkit-image-set('https://a.example' 1x)}": [A],
    "a{b:src('https://a.example');c:image('//b.example:8080')}": [A, B],
    "a{b:-webkit-cross-fade(url(https://a.example), url(https://b.example:8080), 50%)}": [A, B],
    "a{--x:'https://a.example';b:image-set(var(--x))}": [A],
    "a{--x:url(https://a.example)}": [A],
    "a{b:image-set(var(--x, 'https://a.example') 1x)}": [A],
    "@property --x{syntax:'*';initial-value:'https://a.example'}": [A],
    "@function --x(--y:'https://b.example:8080'){result:'https://a.example'}": [A, B],
    "a{b:--x('https://a.example')}": [A],
    "@font-face{font-family:x;src:local('no'),url(https://a.example/f.woff2) format('woff2')}": [A],
    "a{b{&:hover{c:url(https://a.example)}}@media print{d:url(https://b.example:8080)}}": [A, B],
    "a{b:url(https://a.example": [A],
    "a{b:url('https://a.example": [A],
    "} } b{c:url(https://a.example)}": [A],
    "a{b:(;url(https://a.example)": [A],
    'a{b:url(no"t) ; c:url(https://a.example)}': [A],
    'a{b:url(x"\\\\)}c{d:url(https://a.example)}': [A],
    "a{b:" + "1" * 5000 + " url(https://a.example)}": [A],
    "a{b:red\u00a0url(https://a.example)}": [A],
    "@namespace x [;] ; a{b:url(https://a.example)}": [A],
    "@namespace x {} a{b:url(https://a.example)}": [A],
    "a{--x:@namespace url(https://a.example)}": [A],
    # These contact nobody.
    "a{content:'https://no.example';font-family:url}": [],
    "a[href^='https://no.example']{}": [],
    "/* url(https://no.example) */": [],
    "a{b:url(https://no .example)}": [],
    "a{b:10url(https://no.example);c:#url(https://no.example)}": [],
    "@namespace svg url(https://no.example);": [],
    "@-moz-document url(https://no.example), url-prefix('https://no.example') {}": [],
    "a{b:url(x.png) url(/x) url(?x) url(#x) url() url('')}": [],
}

IMPORTS: Final = {
    "@import 'https://a.example/x';": ["https://a.example/x"],
    '@import "https://a.example/x"': ["https://a.example/x"],
    "@IMPORT/**/url( https://a.example/x )layer(y) supports(z:url(//b.example:8080)) print": ["https://a.example/x"],
    "@\\69mport url('https://a.example/\\78')": ["https://a.example/x"],
    "@import src('https://a.example/x') layer": ["https://a.example/x"],
    "@charset 'utf-8';@layer a,b;@import'//a.example/x';<!--@import url(y)-->": ["//a.example/x", "y"],
    # A browser ignores them, or so it seems.
    "a{}@import 'https://a.example/x';": ["https://a.example/x"],
    "a{@import 'https://a.example/x';}": ["https://a.example/x"],
    "@import 'https://a.example/x' {}": ["https://a.example/x"],
    "@import 'https://a.example/x": ["https://a.example/x"],
    "@media all{@import 'https://a.example/x'}": ["https://a.example/x"],
    "foo;@import 'https://a.example/x';": ["https://a.example/x"],
    "@import 'x\n;@import 'y';": ["y"],
    "@import print 'https://a.example/x'; @import;": [],
}

# Each URL with its hosts: the URL Standard as browsers implement it.
URLS: Final[dict[str, list[str]]] = {
    "HTTPS://A.Example:443/": [A],
    "http://a.example:80": [A],
    "https://a.example:80": ["a.example:80"],
    "//a.example:443": [A, "a.example:443"],
    "https://a.example:0080": ["a.example:80"],
    "https://u:p@no.example@a.example": [A],
    "https://a.example\\@no.example": [A],
    "\\\\a.example": [A],
    "/\\a.example": [A],
    "///a.example": [A],
    "https:\\\\a.example": [A],
    "https:a.example": [A],
    "https:/a.example": [A],
    "ht\ttps:/\n/a.exa\rmple": [A],
    "\x01 https://a.example ": [A],
    "https://%61.ex\u00e4mple": ["a.xn--exmple-cua"],
    "https://\uff41\u3002example": [A],
    "https://a\u00ad.exam\u2060ple": [A],
    "https://fa\u00df.example": ["xn--fa-hia.example"],
    "https://\U0001ccd6.example": [A],
    "http://0x7f.1": ["127.0.0.1"],
    "http://2130706433:8080": ["127.0.0.1:8080"],
    "http://[0:0::1]:8000/x": ["[::1]:8000"],
    "https://[2001:DB8::FFFF:1.2.3.4]": ["[2001:db8::ffff:102:304]"],
    "wss://a.example": [A],
    "ftp://a.example": [A],
    "file://a.example/x": [A],
    # These contact nobody.
    "data:image/png;base64,xx": [],
    "about:blank": [],
    "blob:https://no.example/1": [],
    "javascript:1": [],
    "foo://no.example": [],
    "#https://no.example": [],
    "https:": [],
    "https://": [],
    "https://no.example:65536": [],
    "https://no<.example": [],
    "https://1.2.3.256": [],
    "https://[::1": [],
    "x//no.example": [],
}

# Each is repeated; none may take more than time in proportion.
PIECES: Final = (
    *("{", "(", "[", "a(", "url(", "a{", "@a{", "@a{position:fixed;", "\\", "'", '"\\', "/*", "*/", "}", ")"),
    *("a{b:c}", "a,", "a{position:fixed}", "@import ", "@import 'x';", "@import url(data:,", "--x:{", "a[b^=c]{--x:y}"),
    *("a{&{position:fixed}", "x:var(", "a{b:src(attr(", "u+1-", "\u00e9", "\r\n", "<!--", "url(//\u00e9."),
)


@pytest.mark.parametrize("css", SHEETS)
def test_every_host_that_a_browser_would_contact_is_listed_once(css: str) -> None:
    assert list(judge(css, "sheet").hosts) == SHEETS[css]
    assert list(judge(css.replace("\n", "\r\n"), "sheet").hosts) == SHEETS[css]


@pytest.mark.parametrize(
    "css", ["a:url(//a.example)", "} b{c:url(//a.example)}", "@x url(//a.example);", "{url(//a.example"]
)
def test_hosts_count_where_a_list_of_declarations_cannot_have_them(css: str) -> None:
    assert judge(css, "declarations").hosts == (A,)


@pytest.mark.parametrize("css", IMPORTS)
def test_imports_are_listed_wherever_they_are(css: str) -> None:
    for form in ("sheet", "declarations"):
        verdict = judge(css, form)
        assert list(verdict.import_urls) == IMPORTS[css]
        assert (A in verdict.hosts) == any(A in url for url in IMPORTS[css])


@pytest.mark.parametrize("url", URLS)
def test_urls_are_read_as_browsers_read_them(url: str) -> None:
    escaped = "".join(f"\\{ord(character):x} " for character in url)
    assert list(judge(f"a{{b:url({escaped})}}", "sheet").hosts) == URLS[url]


def test_the_sheets_in_data_urls_count() -> None:
    inner = f"@import '//a.example';c{{d:url(//{B})}}"
    nested = f"@import 'data:text/css,{quote(inner)}'"
    for url in (
        f"data:text/css,{quote(inner)}",
        f" da\\9 ta:,{quote(inner)}#x",
        f"data:text/css;base64,{base64.b64encode(inner.encode()).decode()}",
        f"data:;charset=UTF-16le,{quote(inner.encode('utf-16-le'))}",
        f"data:text/css,{quote(inner.encode('utf-16'))}",
        f"data:text/css,{quote(nested)}",
    ):
        verdict = judge(f"@import url({url})", "sheet")
        assert (verdict.hosts, len(verdict.imports)) == ((A, B), 1)
    for _ in range(4):
        nested = f"@import 'data:text/css,{quote(nested)}'"
    (risk,) = judge(f"\n{nested}", "sheet").risks
    assert (risk.risk, risk.line, risk.column) == ("invalid", 2, 1)


def test_the_size_is_in_bytes() -> None:
    assert judge("\u00e9\U0001f600", "sheet").size == 6


@given(css_texts(), st.sampled_from(["sheet", "declarations"]))
def test_any_text_has_a_verdict(css: str, form: CssForm) -> None:
    verdict = judge(css, form)
    assert list(verdict.hosts) == sorted({host.lower() for host in verdict.hosts})
    lines = css.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").split("\n")
    for risk in verdict.risks:
        assert 1 <= risk.column <= len(lines[risk.line - 1])


@pytest.mark.parametrize("css", ["{" * (MAX_BLOCKS + 1), "[" * 262_144, "a{}" * (MAX_BLOCKS + 1), "f(" * 100_001])
def test_a_text_with_too_many_blocks_is_invalid_without_being_read(css: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_css: str) -> Never:
        raise AssertionError("it is read")

    monkeypatch.setattr(verdict, "tokenize", read)
    for form in get_args(CssForm):
        found = judge(css, form)
        assert (found.hosts, found.imports, found.size) == ((), (), len(css))
        assert [(risk.risk, risk.line, risk.column) for risk in found.risks] == [("invalid", 1, 1)]


@pytest.mark.parametrize("block", ["a{", "[", "(", "f(", "@media{"])
def test_blocks_inside_more_than_64_others_are_invalid(block: str) -> None:
    ends = {"{": "}", "[": "]", "(": ")"}[block[-1]]
    deep, deepest = ("a{}" + block * levels + ends * levels for levels in (MAX_LEVELS, MAX_LEVELS + 1))
    # Where the block itself begins, for a function its name.
    column = 4 + len(block) * MAX_LEVELS + (0 if block == "f(" else len(block) - 1)
    for css, is_too_deep in ((deep, False), (deepest, True)):
        places = [risk.column for risk in judge(css, "sheet").risks if risk.risk == "invalid"]
        assert (column in places) is is_too_deep, css


def _seconds(css: str) -> float:
    began = time.process_time()
    judge(css, "sheet")
    return time.process_time() - began


@pytest.mark.parametrize("piece", PIECES)
def test_a_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    # With the square of the length, it would be 64 times.
    assert _seconds(piece * 4000) < 24 * max(_seconds(piece * 500), 0.005)


@pytest.mark.slow("hundreds of thousands of blocks")
@pytest.mark.parametrize("css", ["{" * 60_000, "a{" * 60_000, "(" * 2**18, "\\\\" * 2**19])
def test_any_depth_is_survived(css: str) -> None:
    assert {each.risk for each in judge(css, "sheet").risks} <= {"invalid"}
